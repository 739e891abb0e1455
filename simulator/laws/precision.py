"""Number formats: the bytes they take, and what quality they cost after training.

The penalty used by the simulator has the form of Kumar et al. 2024 (arXiv 2411.04330), which grows with tokens per
parameter, anchored at Llama-3.1-70B, because their constants, fitted on models of 3e7 to 2e8 parameters, do not
transfer: at 8e9 parameters and 15e12 tokens they give 0.4 nats for 4 bits, far above the 1 to 3 % lower accuracy that
Kurtic et al. 2024 (arXiv 2411.02355) measure, which is taken as the more direct evidence. Their own constants are in
`kumar.py`, beside it. The sizes of the penalty are assumptions to be swept; N and D of zero or less are refused.
"""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from simulator.laws.fits import ScalingFit
from simulator.laws.ranges import not_negative, positive
from simulator.laws.scaling import tokens_for_loss
from simulator.laws.units import BITS_PER_BYTE, FloatArray, Numbers

TOKENS_EXPONENT = 0.5068
"""gamma_D of Kumar et al. 2024, table 2 [1]."""
PARAMETERS_EXPONENT = 0.3439
"""gamma_N of Kumar et al. 2024, table 2 [1]."""
REFERENCE_TOKENS = 15e12
"""Training tokens of Llama-3.1-70B, where the reference penalties are stated [tokens]."""
REFERENCE_PARAMETERS = 70.55e9
"""Parameters of Llama-3.1-70B [parameters]."""

_NEWTON_STEPS = 8


class Math(Enum):
    """The number format in which matrices are multiplied."""

    BF16 = auto()
    FP8 = auto()
    INT8 = auto()
    FP4 = auto()


@dataclass(frozen=True, slots=True)
class Precision:
    """A number format a model is served in.

    Attributes
    ----------
    name : str
        Short key a scenario uses.
    weight_bits, kv_bits : float
        Bits of one weight, and of one key or value in the cache [bit].
    math : Math
        Format of the multiplications; weight-only formats keep bf16.
    reference_penalty_nats : float
        Loss added by quantizing Llama-3.1-70B (70.55e9 parameters, 15e12 tokens) after training [nats per token].
    """

    name: str
    weight_bits: float
    kv_bits: float
    math: Math
    reference_penalty_nats: float


BF16 = Precision("bf16", 16, 16, Math.BF16, 0.0)
FP8 = Precision("fp8", 8, 8, Math.FP8, 0.0)
"""Weights, activations and cache in 8-bit floats: lossless in Kurtic et al. 2024 (arXiv 2411.02355)."""
INT8 = Precision("int8", 8, 8, Math.INT8, 0.004)
"""Weights and activations in 8-bit integers. The penalty is an assumption, to be swept."""
INT4 = Precision("int4", 4, 16, Math.BF16, 0.008)
"""4-bit weights only, bf16 elsewhere; scales add 0.1 to 0.3 bit. The penalty is an assumption, to be swept."""
FP4 = Precision("fp4", 4, 8, Math.FP4, 0.008)
"""4-bit float weights and activations, 8-bit cache (Blackwell). The penalty is an assumption (that of int4)."""

PRECISIONS = (BF16, FP8, INT8, INT4)
"""The formats a recipe may choose from; `FP4` exists only on the newest chips and is named beside them."""


def weight_bytes(n_parameters: Numbers, weight_bits: float) -> FloatArray:
    """Memory of the weights, N bits / 8 [byte].

    >>> float(weight_bytes(175e9, 4)) / 1e9
    87.5
    """
    return positive("n_parameters", n_parameters) * (weight_bits / BITS_PER_BYTE)


def quantization_penalty(
    reference_penalty_nats: float, n_parameters: Numbers, n_training_tokens: Numbers
) -> FloatArray:
    """Loss added by quantizing after training [nats per token].

    p_ref (D / 15e12)^0.5068 (70.55e9 / N)^0.3439: Kumar's exponents, anchored at Llama-3.1-70B. The more a model is
    overtrained, the more it loses. `reference_penalty_nats` is that of a `Precision`.

    >>> round(float(quantization_penalty(0.008, 8.03e9, 15e12)), 5)
    0.01689
    """
    n = positive("n_parameters", n_parameters)
    d = positive("n_training_tokens", n_training_tokens)
    per_token = _penalty_coefficient(reference_penalty_nats, n)
    return per_token * d**TOKENS_EXPONENT


def tokens_for_loss_quantized(
    fit: ScalingFit, n_parameters: Numbers, loss: Numbers, reference_penalty_nats: float
) -> FloatArray:
    """Fewest training tokens for which the quantized model reaches `loss`; infinite where none do [tokens].

    The penalty grows with D, so L(N, D) + penalty(N, D) has a minimum in D. Measured from that minimum,
    s = ln(D / D_min), the sum is f_min (w e^(-beta s) + (1 - w) e^(gamma s)) with w = gamma / (beta + gamma): one
    convex function for all points, whose left root a few Newton steps find to machine precision. With a penalty of
    zero the result is exactly `scaling.tokens_for_loss`.

    Parameters
    ----------
    n_parameters, loss : float or array
        Broadcast against each other.
    reference_penalty_nats : float
        See `quantization_penalty`.

    >>> from simulator.laws.fits import BESI
    >>> f"{float(tokens_for_loss_quantized(BESI, 8e9, 2.05, 0.008)):.3e}"
    '4.100e+12'
    """
    closed_form = tokens_for_loss(fit, n_parameters, loss)
    not_negative("reference_penalty_nats", reference_penalty_nats)
    if reference_penalty_nats == 0:
        return closed_form
    n = positive("n_parameters", n_parameters)
    room = np.asarray(loss, dtype=np.float64) - fit.e - fit.a * n**-fit.alpha
    beta, gamma = fit.beta, TOKENS_EXPONENT
    coefficient = _penalty_coefficient(reference_penalty_nats, n)
    log_d_min = np.log(beta * fit.b / (gamma * coefficient)) / (beta + gamma)
    least = fit.b * np.exp(-beta * log_d_min) * (beta + gamma) / gamma
    reachable = room >= least
    depth = np.log(np.where(reachable, room, least) / least)
    d = np.exp(log_d_min + _left_root(depth, beta, gamma))
    result: FloatArray = np.where(reachable, d, np.inf)[()]
    return result


def lowest_quantized_loss(fit: ScalingFit, n_parameters: Numbers, reference_penalty_nats: float) -> FloatArray:
    """Least loss a quantized model of `n_parameters` can reach with any amount of data [nats per token]."""
    n = positive("n_parameters", n_parameters)
    coefficient = _penalty_coefficient(reference_penalty_nats, n)
    beta, gamma = fit.beta, TOKENS_EXPONENT
    d_term = (fit.b**gamma * (coefficient**beta)) ** (1 / (beta + gamma))
    ratio = beta / gamma
    split = ratio ** (-beta / (beta + gamma)) + ratio ** (gamma / (beta + gamma))
    least: FloatArray = fit.e + fit.a * n**-fit.alpha + d_term * split
    return least


def _penalty_coefficient(reference_penalty_nats: float, n: FloatArray) -> FloatArray:
    scale = reference_penalty_nats * REFERENCE_TOKENS**-TOKENS_EXPONENT
    coefficient: FloatArray = scale * (REFERENCE_PARAMETERS / n) ** PARAMETERS_EXPONENT
    return coefficient


def _left_root(depth: FloatArray, beta: float, gamma: float) -> FloatArray:
    """s <= 0 with ln(w e^(-beta s) + (1 - w) e^(gamma s)) = depth >= 0."""
    w = gamma / (beta + gamma)
    # Hoeffding's lemma and the larger exponent both bound |s| from below, the falling term alone from above.
    near = np.maximum(np.sqrt(8 * depth) / (beta + gamma), depth / beta)
    s: FloatArray = -np.minimum(near, (depth - np.log(w)) / beta)
    for _ in range(_NEWTON_STEPS):
        falling, rising = w * np.exp(-beta * s), (1 - w) * np.exp(gamma * s)
        slope = (gamma * rising - beta * falling) / (falling + rising)
        gap = np.log(falling + rising) - depth
        s = np.minimum(s - np.where(slope < 0, gap / np.where(slope < 0, slope, -1.0), 0.0), 0.0)
    return s
