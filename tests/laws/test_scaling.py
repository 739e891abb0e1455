import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.fits import BESI, HARM, SARD, SCALING_FITS, ScalingFit
from simulator.laws.scaling import (
    compute_optimal,
    equivalent_flop,
    inference_flop,
    lifetime_optimal,
    loss,
    optimal_loss,
    overtraining_floor,
    overtraining_overhead,
    overtraining_tokens_factor,
    parameters_for_loss,
    smallest_parameters,
    tokens_for_loss,
    training_flop,
)

# Properties are tried far beyond what was ever trained.
pytestmark = pytest.mark.filterwarnings("ignore::simulator.laws.ranges.ExtrapolationWarning")

fits = st.sampled_from(SCALING_FITS)
flops = st.floats(18, 30).map(lambda x: 10.0**x)
sizes = st.floats(8, 13).map(lambda x: 10.0**x)
tokens = st.floats(9, 15).map(lambda x: 10.0**x)


@given(fits, flops)
def test_equivalent_flop_inverts_optimal_loss(fit: ScalingFit, flop: float) -> None:
    assert equivalent_flop(fit, optimal_loss(fit, flop)) == pytest.approx(flop, rel=1e-9)


@given(fits, sizes, tokens)
def test_tokens_and_parameters_for_a_loss_invert_the_loss(fit: ScalingFit, n: float, d: float) -> None:
    reached = loss(fit, n, d)
    assert tokens_for_loss(fit, n, reached) == pytest.approx(d, rel=1e-8)
    assert parameters_for_loss(fit, d, reached) == pytest.approx(n, rel=1e-8)


@given(fits, flops, st.floats(0.3, 3.0))
def test_no_other_size_beats_the_compute_optimal_one(fit: ScalingFit, flop: float, factor: float) -> None:
    n, d = compute_optimal(fit, flop)
    assert training_flop(n, d) == pytest.approx(flop)
    assert loss(fit, n * factor, d / factor) >= loss(fit, n, d) - 1e-12


@given(fits, sizes, tokens)
def test_an_off_optimal_run_is_worth_less_than_its_flop(fit: ScalingFit, n: float, d: float) -> None:
    assert equivalent_flop(fit, loss(fit, n, d)) <= training_flop(n, d) * (1 + 1e-9)


@given(fits, flops, st.floats(0.2, 1.0))
def test_overtraining_factor_keeps_the_loss(fit: ScalingFit, flop: float, k: float) -> None:
    n, d = compute_optimal(fit, flop)
    k_d = overtraining_tokens_factor(fit, k)
    if np.isfinite(k_d):
        assert loss(fit, k * n, k_d * d) == pytest.approx(float(loss(fit, n, d)), rel=1e-9)
        assert overtraining_overhead(fit, k) >= -1e-12
    else:
        assert k <= overtraining_floor(fit) * (1 + 1e-12)


@given(fits, flops, st.floats(6, 20), st.floats(1.01, 100))
def test_more_demand_makes_the_model_smaller_and_the_saving_larger(
    fit: ScalingFit, flop: float, log_served: float, factor: float
) -> None:
    n0, d0 = compute_optimal(fit, flop)
    served = np.array([10.0**log_served, 10.0**log_served * factor])
    target = optimal_loss(fit, flop)
    n, d = lifetime_optimal(fit, target, served)
    assert loss(fit, n, d) == pytest.approx(np.full(2, target), rel=1e-9)
    before = training_flop(n0, d0) + inference_flop(n0, served)
    after = training_flop(n, d) + inference_flop(n, served)
    saving = 1 - after / before
    assert n[1] <= n[0] * (1 + 1e-9)
    assert n[1] <= n0 * (1 + 1e-9)
    assert n[1] >= smallest_parameters(fit, target) * (1 - 1e-9)
    assert saving[0] >= -1e-9
    assert saving[1] >= saving[0] - 1e-9


def test_without_demand_the_lifetime_optimum_is_chinchilla() -> None:
    n, d = compute_optimal(BESI, 1e24)
    assert lifetime_optimal(BESI, optimal_loss(BESI, 1e24), 0.0) == (pytest.approx(n), pytest.approx(d))


def test_with_endless_demand_the_size_falls_to_its_floor() -> None:
    n, _ = lifetime_optimal(SARD, 2.0, 1e40)
    assert n == pytest.approx(smallest_parameters(SARD, 2.0), rel=1e-3)


def test_what_cannot_be_reached_is_infinite() -> None:
    assert np.isinf(equivalent_flop(BESI, BESI.e))
    assert np.isinf(smallest_parameters(BESI, 1.0))
    assert np.isinf(tokens_for_loss(BESI, 1e9, 1.9))
    assert np.isinf(parameters_for_loss(BESI, 1e9, 1.9))
    assert np.isinf(lifetime_optimal(BESI, 1.7, 1e12)).all()
    assert np.isinf(overtraining_tokens_factor(HARM, 0.09))
    assert np.isinf(overtraining_overhead(HARM, 0.09))


def test_arrays_are_broadcast_and_floats_stay_scalars() -> None:
    grid = loss(BESI, np.array([[1e9], [1e10]]), np.array([1e11, 1e12, 1e13]))
    assert grid.shape == (2, 3)
    assert loss(BESI, 1e10, 1e12) == grid[1, 1]
    n, d = lifetime_optimal(BESI, np.array([2.0, 2.1]), np.array([[1e11], [1e12], [1e13]]))
    assert n.shape == d.shape == (3, 2)
    assert np.ndim(tokens_for_loss(BESI, 1e10, 2.2)) == 0


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="n_parameters must be greater than 0"):
        loss(BESI, -1.0, 1e12)
    with pytest.raises(ValueError, match="inference_tokens must be 0 or more"):
        lifetime_optimal(BESI, 2.0, -1.0)
