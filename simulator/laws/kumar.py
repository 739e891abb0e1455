"""Kumar et al. 2024, "Scaling laws for precision" (arXiv 2411.04330), with the authors' own constants.

A published fit kept beside the penalty the simulator uses (`precision.quantization_penalty`). It was fitted on 3e7 to
2.2e8 parameters and validated up to 1.7e9 parameters and 2.6e10 tokens; the authors warn that the constants do not
transfer, so larger values raise an `ExtrapolationWarning`. At 8e9 parameters and 15e12 tokens it predicts 0.395 nats
for 4 bits, far above what Kurtic et al. 2024 (arXiv 2411.02355) measure.

The exponents are e^(-P/gamma + n): the fits carry an additive offset whose sign the paper does not print. The sign
taken here gives the paper's best precision of about 7 bits; the opposite sign makes 4 bits best.
"""

import numpy as np

from simulator.laws.ranges import positive, warn_beyond
from simulator.laws.units import BITS_PER_BYTE, FloatArray, Numbers

E, A, B, EXPONENT = 2.7648, 4.299e3, 1.806e4, 0.4965
"""Loss without quantization, E + A N^-x + B D^-x, both exponents tied [nats per token]."""
WEIGHT_BITS_SCALE, WEIGHT_OFFSET = 2.6745, 0.3037
ACTIVATION_BITS_SCALE, ACTIVATION_OFFSET = 2.2102, 1.4072
KV_BITS_SCALE, KV_OFFSET = 0.9578, 2.4185
PENALTY_COEFFICIENT, PENALTY_TOKENS_EXPONENT, PENALTY_PARAMETERS_EXPONENT = 0.0598, 0.5068, 0.3439
PENALTY_BITS_SCALE, PENALTY_OFFSET = 0.5907, 1.1277
LARGEST_PARAMETERS, LARGEST_TOKENS = 1.7e9, 26e9
"""Largest model and data with which the authors validated the fit."""

_SOURCE = "Kumar et al. 2024"
_FULL_BITS = 2 * BITS_PER_BYTE


def effective_parameter_share(weight_bits: Numbers, activation_bits: Numbers, kv_bits: Numbers) -> FloatArray:
    """Parameters a model trained in low precision is worth, as a share of N [1].

    Product over weights, activations and cache of 1 - e^(-P/gamma + n); infinity means full precision. Negative
    where training diverges (activations of 3 bits).

    >>> round(float(effective_parameter_share(8, 8, 8)), 5)
    0.82776
    >>> round(float(effective_parameter_share(4, np.inf, np.inf)), 5)
    0.69636
    """
    return (
        _kept(weight_bits, WEIGHT_BITS_SCALE, WEIGHT_OFFSET)
        * _kept(activation_bits, ACTIVATION_BITS_SCALE, ACTIVATION_OFFSET)
        * _kept(kv_bits, KV_BITS_SCALE, KV_OFFSET)
    )


def low_precision_training_flop(n_parameters: Numbers, n_training_tokens: Numbers, bits: Numbers) -> FloatArray:
    """Cost of training all in `bits`, in FLOP of 16 bits, (6/16) N D P [FLOP]."""
    nd = positive("n_parameters", n_parameters) * positive("n_training_tokens", n_training_tokens)
    return 6 / _FULL_BITS * nd * positive("bits", bits)


def low_precision_loss(
    n_parameters: Numbers,
    n_training_tokens: Numbers,
    weight_bits: Numbers,
    activation_bits: Numbers,
    kv_bits: Numbers,
) -> FloatArray:
    """Loss of a model trained in low precision [nats per token]; infinite where training diverges."""
    _warn_if_large(n_parameters, n_training_tokens)
    share = effective_parameter_share(weight_bits, activation_bits, kv_bits)
    trains = share > 0
    n = positive("n_parameters", n_parameters) * np.where(trains, share, 1.0)
    reached = E + A * n**-EXPONENT + B * positive("n_training_tokens", n_training_tokens) ** -EXPONENT
    result: FloatArray = np.where(trains, reached, np.inf)[()]
    return result


def post_training_penalty(n_parameters: Numbers, n_training_tokens: Numbers, bits: Numbers) -> FloatArray:
    """Loss added by quantizing the weights after training, C_T D^gD / N^gN e^(-P/g + b) [nats per token]."""
    _warn_if_large(n_parameters, n_training_tokens)
    size = positive("n_parameters", n_parameters) ** PENALTY_PARAMETERS_EXPONENT
    data = positive("n_training_tokens", n_training_tokens) ** PENALTY_TOKENS_EXPONENT
    return PENALTY_COEFFICIENT * data / size * _lost(bits, PENALTY_BITS_SCALE, PENALTY_OFFSET)


def critical_tokens(n_parameters: Numbers, bits: Numbers) -> FloatArray:
    """Training tokens beyond which more data makes the quantized model worse [tokens].

    [beta B N^gN e^(P/g - b) / (gD C_T)]^(1/(gD + beta)), where the penalty grows as fast as the loss falls.
    """
    warn_beyond("n_parameters", n_parameters, LARGEST_PARAMETERS, _SOURCE)
    size = positive("n_parameters", n_parameters) ** PENALTY_PARAMETERS_EXPONENT
    lost = _lost(bits, PENALTY_BITS_SCALE, PENALTY_OFFSET)
    ratio = EXPONENT * B * size / (PENALTY_TOKENS_EXPONENT * PENALTY_COEFFICIENT * lost)
    return ratio ** (1 / (PENALTY_TOKENS_EXPONENT + EXPONENT))


def _lost(bits: Numbers, scale: float, offset: float) -> FloatArray:
    return np.exp(-positive("bits", bits) / scale + offset)


def _kept(bits: Numbers, scale: float, offset: float) -> FloatArray:
    return 1 - _lost(bits, scale, offset)


def _warn_if_large(n_parameters: Numbers, n_training_tokens: Numbers) -> None:
    warn_beyond("n_parameters", n_parameters, LARGEST_PARAMETERS, _SOURCE)
    warn_beyond("n_training_tokens", n_training_tokens, LARGEST_TOKENS, _SOURCE)
