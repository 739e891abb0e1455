import numpy as np
import pytest

from simulator.laws.fits import SCALING_FITS, ScalingFit
from simulator.laws.scaling import compute_optimal, loss
from simulator.laws.techniques import (
    OVERTRAINING,
    PRUNING,
    SAMPLING_CHEAP,
    SAMPLING_EXPENSIVE,
    TREE_SEARCH,
    combined_span_oom,
    inference_span_oom,
    overtraining_span_oom,
    stacked_oom,
)

# Properties are tried far beyond what was ever trained.
pytestmark = pytest.mark.filterwarnings("ignore::simulator.laws.ranges.ExtrapolationWarning")


def test_spans_add_up_to_a_cap() -> None:
    assert combined_span_oom((OVERTRAINING, TREE_SEARCH)) == pytest.approx(2.3)
    assert combined_span_oom((OVERTRAINING, SAMPLING_CHEAP)) == 3.0
    assert stacked_oom(np.array([1, 2, 3, 9]), 1.2, 3.0) == pytest.approx([1.2, 2.4, 3.0, 3.0])


@pytest.mark.parametrize("pair", [(OVERTRAINING, PRUNING), (TREE_SEARCH, SAMPLING_EXPENSIVE)])
def test_techniques_of_one_mechanism_do_not_combine(pair: tuple) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match="do not combine"):
        combined_span_oom(pair)


def test_three_shapes() -> None:
    training = np.array([0.0, 1.0, 2.0])
    assert inference_span_oom(OVERTRAINING, training, 0.5) == pytest.approx([0.7, 0.7, 0.7])
    assert inference_span_oom(SAMPLING_CHEAP, training, 0.5) == pytest.approx([6.0, 6.75, 7.5])
    assert inference_span_oom(TREE_SEARCH, 0.0, np.array([0.0, 1.0])) == pytest.approx([1.6, 0.0])


@pytest.mark.parametrize("fit", SCALING_FITS, ids=lambda fit: fit.name)
def test_overtraining_span_ends_where_the_rate_is_six(fit: ScalingFit) -> None:
    training, inference = overtraining_span_oom(fit)
    n0, d0 = compute_optimal(fit, 1e24)
    n = n0 * 10**-inference
    d = d0 * 10 ** (training + inference)
    assert loss(fit, n, d) == pytest.approx(float(loss(fit, n0, d0)), rel=1e-9)
    rate = fit.alpha * fit.a * n**-fit.alpha / (fit.beta * fit.b * d**-fit.beta) - 1
    assert rate == pytest.approx(6.0)
