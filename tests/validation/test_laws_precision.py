"""Quantization: Kumar et al. 2024 (arXiv 2411.04330) with its own constants, and the memory of published models."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from simulator.laws import kumar
from simulator.laws.fits import BESI
from simulator.laws.precision import (
    INT4,
    INT8,
    lowest_quantized_loss,
    quantization_penalty,
    tokens_for_loss_quantized,
    weight_bytes,
)
from simulator.laws.ranges import ExtrapolationWarning
from simulator.laws.scaling import compute_optimal, loss, tokens_for_loss

pytestmark = pytest.mark.filterwarnings("ignore::simulator.laws.ranges.ExtrapolationWarning")


@pytest.mark.parametrize(
    ("bits", "weights_only", "all_tied"),
    [(4, 0.69636, 0.19099), (5, 0.79108, 0.42706), (6, 0.85625, 0.61129),
     (8, 0.93195, 0.82776), (12, 0.98475, 0.96707), (16, 0.99658, 0.99366)],
)  # fmt: skip
def test_effective_parameters(bits: float, weights_only: float, all_tied: float) -> None:
    """Computed from Kumar's table 2 constants with the offsets inside the exponent."""
    assert kumar.effective_parameter_share(bits, np.inf, np.inf) == pytest.approx(weights_only, abs=1e-5)
    assert kumar.effective_parameter_share(bits, bits, bits) == pytest.approx(all_tied, abs=1e-5)


def test_training_diverges_with_activations_of_3_bits() -> None:
    """Kumar et al. 2024 report it; supports the sign of the offset, which the paper does not print."""
    assert kumar.effective_parameter_share(np.inf, 3, np.inf) < 0
    assert np.isinf(kumar.low_precision_loss(1e9, 16e9, 16, 3, 16))


def test_best_precision_at_equal_bits() -> None:
    """Computed: at equal N x P and 16e9 tokens 8 bits are best; the paper's compute-optimal precision is 7-8 bits."""
    bits = np.array([4.0, 6.0, 8.0, 16.0, 32.0])
    n = np.array([1.76e9, 1.17e9, 880e6, 440e6, 220e6])
    expected = np.array([3.17097, 3.09245, 3.09089, 3.14024, 3.22981])
    assert kumar.low_precision_loss(n, 16e9, bits, bits, bits) == pytest.approx(expected, abs=1e-4)
    found = minimize_scalar(
        lambda p: -float(np.log(kumar.effective_parameter_share(p, p, p))) + np.log(p), bounds=(4, 16), method="bounded"
    )
    assert found.x == pytest.approx(7.002, abs=2e-3)


def test_low_precision_training_costs_its_bits() -> None:
    """(6/16) N D P: 6 N D at 16 bits, half at 8."""
    assert kumar.low_precision_training_flop(1e9, 2e10, np.array([16.0, 8.0])) == pytest.approx([1.2e20, 0.6e20])


# N, D, penalty at 3, 4, 5, 6, 8 bits: computed from C_T D^gD / N^gN e^(-P/g + b)
PENALTIES = [
    (30e6, 26e9, (0.58576, 0.10777, 0.019828, 0.003648, 0.0001235)),
    (220e6, 26e9, (0.29522, 0.054316, 0.009993, 0.001839, 6.22e-5)),
    (8.03e9, 15e12, (2.1489, 0.39535, 0.072739, 0.013383, 0.000453)),
    (70.55e9, 15e12, (1.0178, 0.18725, 0.034451, 0.006338, 0.0002146)),
    (70e9, 1.4e12, (0.30678, 0.056442, 0.010384, 0.001911, 6.47e-5)),
]


@pytest.mark.parametrize(("n", "d", "expected"), PENALTIES)
def test_post_training_penalty(n: float, d: float, expected: tuple[float, ...]) -> None:
    bits = np.array([3.0, 4.0, 5.0, 6.0, 8.0])
    assert kumar.post_training_penalty(n, d, bits) == pytest.approx(np.array(expected), rel=1e-3)


@pytest.mark.parametrize(
    ("n", "bits", "expected"),
    [
        (8.03e9, 4, 1.955e11),
        (8.03e9, 5, 1.057e12),
        (8.03e9, 8, 1.669e14),
        (70.55e9, 4, 4.118e11),
        (70.55e9, 8, 3.515e14),
    ],
)
def test_critical_tokens(n: float, bits: float, expected: float) -> None:
    """Computed from the closed form, and checked as the minimum of loss + penalty."""
    assert kumar.critical_tokens(n, bits) == pytest.approx(expected, rel=1e-3)
    around = np.array([0.99, 1.0, 1.01]) * kumar.critical_tokens(n, bits)
    total = kumar.B * around**-kumar.EXPONENT + kumar.post_training_penalty(n, around, bits)
    assert total[1] <= min(total[0], total[2])


def test_kumar_warns_beyond_its_data() -> None:
    with pytest.warns(ExtrapolationWarning, match=r"n_parameters = 8\.03e\+09 is beyond 1\.7e\+09"):
        kumar.critical_tokens(8.03e9, 4)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (70.55e9, (141.1, 70.55, 35.28)),
        (405.85e9, (811.7, 405.9, 202.9)),
        (8.03e9, (16.06, 8.03, 4.015)),
        (175e9, (350, 175, 87.5)),
    ],
)
def test_memory_of_weights(n: float, expected: tuple[float, ...]) -> None:
    """N bits / 8 for Llama 3 and GPT-3, in GB at 16, 8 and 4 bits."""
    for bits, gigabytes in zip((16, 8, 4), expected, strict=True):
        assert weight_bytes(n, bits) / 1e9 == pytest.approx(gigabytes, rel=3e-4)


def test_qlora_memory() -> None:
    """QLoRA (arXiv 2305.14314): 65B at 4.127 bits is 33.5 GB, so it fits one 48 GB GPU."""
    assert weight_bytes(65e9, 4.127) / 1e9 == pytest.approx(33.5, abs=0.05)


def test_penalty_is_anchored_at_llama_3_1_70b() -> None:
    """The stated assumption: 0.008 nats for int4 at 70.55e9 parameters and 15e12 tokens, Kumar's exponents around."""
    assert quantization_penalty(INT4.reference_penalty_nats, 70.55e9, 15e12) == pytest.approx(0.008)
    ratio = quantization_penalty(0.008, 8.03e9, 15e12) / quantization_penalty(0.008, 70.55e9, 15e12)
    assert ratio == pytest.approx(0.39535 / 0.18725, rel=1e-3)  # the same ratio as in Kumar's own law


def test_an_overtrained_model_loses_more_than_a_chinchilla_one() -> None:
    """Kumar et al. 2024, headline: at equal training compute the overtrained model is hurt more."""
    n, d = compute_optimal(BESI, 1e24)
    assert quantization_penalty(0.004, n / 4, d * 4) > 2 * quantization_penalty(0.004, n, d)


def test_tokens_for_a_quantized_loss_agree_with_brentq() -> None:
    n = np.geomspace(2e9, 5e11, 40)
    for p_ref in (INT8.reference_penalty_nats, INT4.reference_penalty_nats, 0.08):
        for target in (1.95, 2.05, 2.3):
            ours = tokens_for_loss_quantized(BESI, n, target, p_ref)
            for size, tokens in zip(n, ours, strict=True):
                assert tokens == pytest.approx(_by_brentq(float(size), target, p_ref), rel=1e-9)


def test_tokens_near_the_lowest_quantized_loss() -> None:
    """Where the curve is almost flat, the left side of the minimum is still found."""
    lowest = float(lowest_quantized_loss(BESI, 8e9, 0.008))
    for above in (1e-2, 1e-4, 1e-6, 1e-8):
        tokens = float(tokens_for_loss_quantized(BESI, 8e9, lowest + above, 0.008))
        reached = loss(BESI, 8e9, tokens) + quantization_penalty(0.008, 8e9, tokens)
        assert reached - lowest == pytest.approx(above, rel=1e-5)
    assert np.isinf(tokens_for_loss_quantized(BESI, 8e9, lowest - 1e-9, 0.008))


def _by_brentq(n: float, target: float, p_ref: float) -> float:
    def miss(log_d: float) -> float:
        return float(loss(BESI, n, np.exp(log_d)) + quantization_penalty(p_ref, n, np.exp(log_d)) - target)

    left = float(np.log(tokens_for_loss(BESI, n, target)))
    if not np.isfinite(left):
        return np.inf
    valley = minimize_scalar(miss, bounds=(np.log(1e6), np.log(1e24)), method="bounded", options={"xatol": 1e-12})
    return np.inf if valley.fun > 0 else float(np.exp(brentq(miss, left, valley.x, xtol=1e-13)))
