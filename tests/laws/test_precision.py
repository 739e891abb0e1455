from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.chip import Chip, peak_flop_per_second, supported_math
from simulator.laws.fits import BESI, SCALING_FITS, ScalingFit
from simulator.laws.precision import (
    BF16,
    FP4,
    FP8,
    INT4,
    INT8,
    PRECISIONS,
    Math,
    lowest_quantized_loss,
    quantization_penalty,
    tokens_for_loss_quantized,
    weight_bytes,
)
from simulator.laws.scaling import compute_optimal, loss, optimal_loss, tokens_for_loss

# Properties are tried far beyond what was ever trained.
pytestmark = pytest.mark.filterwarnings("ignore::simulator.laws.ranges.ExtrapolationWarning")

sizes = st.floats(8.5, 12.5).map(lambda x: 10.0**x)
penalties = st.sampled_from([0.0005, 0.004, 0.008, 0.05, 0.5])


@given(st.sampled_from(SCALING_FITS), sizes, penalties, st.floats(1e-6, 0.5))
def test_the_quantized_model_reaches_the_loss_with_the_fewest_tokens(
    fit: ScalingFit, n: float, p_ref: float, above: float
) -> None:
    target = float(lowest_quantized_loss(fit, n, p_ref)) + above
    d = tokens_for_loss_quantized(fit, n, target, p_ref)
    assert loss(fit, n, d) + quantization_penalty(p_ref, n, d) == pytest.approx(target, abs=1e-9)
    fewer = 0.99 * d
    assert loss(fit, n, fewer) + quantization_penalty(p_ref, n, fewer) > target
    assert d >= tokens_for_loss(fit, n, target)


@given(sizes, st.floats(1.9, 2.6))
def test_without_penalty_it_is_the_closed_form_exactly(n: float, target: float) -> None:
    assert tokens_for_loss_quantized(BESI, n, target, 0.0) == tokens_for_loss(BESI, n, target)


@given(sizes, st.floats(1.9, 2.6))
def test_a_larger_penalty_never_needs_fewer_tokens(n: float, target: float) -> None:
    needed = [float(tokens_for_loss_quantized(BESI, n, target, p)) for p in (0.0, 1e-9, 0.004, 0.008, 0.1)]
    assert all(a <= b * (1 + 1e-12) for a, b in pairwise(needed))


@given(st.floats(22, 27), st.floats(1.5, 6.0))
def test_overtraining_makes_quantization_dearer_in_quality(log_flop: float, factor: float) -> None:
    n, d = compute_optimal(BESI, 10.0**log_flop)
    small = n / factor
    more = tokens_for_loss(BESI, small, optimal_loss(BESI, 10.0**log_flop))
    assert quantization_penalty(0.008, small, more) > quantization_penalty(0.008, n, d)


def test_unreachable_is_infinite_without_warning() -> None:
    grid = tokens_for_loss_quantized(BESI, np.geomspace(1e8, 1e13, 50)[:, None], np.linspace(1.0, 3.0, 50), 0.008)
    assert grid.shape == (50, 50)
    assert np.isinf(grid[:, 0]).all()
    assert np.isfinite(grid[:, -1]).any()
    assert not np.isnan(grid).any()


def test_a_negative_penalty_is_refused() -> None:
    with pytest.raises(ValueError, match="reference_penalty_nats must be 0 or more"):
        tokens_for_loss_quantized(BESI, 1e10, 2.0, -0.1)


def test_the_formats_a_recipe_may_choose() -> None:
    assert [p.name for p in PRECISIONS] == ["bf16", "fp8", "int8", "int4"]
    assert [p.reference_penalty_nats for p in PRECISIONS] == [0.0, 0.0, 0.004, 0.008]
    assert INT4.math is Math.BF16, "4-bit weights only: the multiplications stay in bf16"


def test_weights_take_their_bits() -> None:
    assert weight_bytes(np.array([8e9, 70e9]), INT8.weight_bits) == pytest.approx([8e9, 70e9])


def test_peak_falls_back_to_bf16() -> None:
    chip = Chip("old", 100.0, 0.0, 200.0, 0.0, 80e9, 2e12)
    assert [peak_flop_per_second(chip, p) for p in (BF16, FP8, INT8, INT4, FP4)] == [100, 100, 200, 100, 100]
    assert supported_math(chip, FP8) is Math.BF16
    assert supported_math(chip, INT8) is Math.INT8


def test_a_chip_without_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="chip empty: memory_bytes must be greater than 0, got 0"):
        Chip("empty", 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
