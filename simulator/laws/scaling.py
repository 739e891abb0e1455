"""What loss a training run reaches, and what it takes to reach a loss.

All functions use the parametric form L(N, D) = E + A N^-alpha + B D^-beta of Hoffmann et al. 2022 (arXiv 2203.15556)
with a published `ScalingFit`, and C = 6 N D. The fits rest on runs of about 4e7 to 2e10 parameters; larger models are
an extrapolation everybody makes, so nothing here warns of it (`labspend laws` does). At thousands of tokens per
parameter the law is likely to promise too much: fits made at usual ratios overrate extra tokens (Sardana et al. 2023).
What cannot be reached is `inf`, never an error, so that a search may evaluate a whole grid; sizes and tokens of zero
or less are refused.

Where Hoffmann et al. contradict themselves (175e9 parameters: 3.85e24 FLOP and 3.7e12 tokens in table 3, 4.41e24 and
4.2e12 in the text), the table is taken: its rows are 6 N D.
"""

import numpy as np

from simulator.laws.fits import ScalingFit
from simulator.laws.ranges import not_negative, positive, warn_a_reader
from simulator.laws.units import (
    FORWARD_FLOP_PER_PARAMETER_TOKEN,
    TRAINING_FLOP_PER_PARAMETER_TOKEN,
    FloatArray,
    Numbers,
)

FITTED_PARAMETERS = (4e7, 2e10)
"""Smallest and largest models, about, that the fits rest on (Hoffmann et al. 2022) [parameters]."""

MOST_TOKENS_PER_PARAMETER = 10_000.0
"""Up to here more tokens still helped (Sardana et al. 2024) [tokens/parameter]."""

_NEWTON_STEPS = 12


def training_flop(n_parameters: Numbers, n_training_tokens: Numbers) -> FloatArray:
    """FLOP of a training run, 6 N D [FLOP].

    Leaves out attention over the context (see `training_speed.attention_share`): 12 % at 8192 tokens and a width of
    8192, less for shorter contexts. Sources that count it differ: Gopher is 5.04e23 here, 5.76e23 in Hoffmann et al.
    2022, 6.31e23 in Epoch's data; 6 N D is taken so that all models are counted alike.

    >>> float(training_flop(70e9, 1.4e12))
    5.88e+23
    """
    n = positive("n_parameters", n_parameters)
    return TRAINING_FLOP_PER_PARAMETER_TOKEN * n * np.asarray(n_training_tokens, dtype=np.float64)


def inference_flop(n_active_parameters: Numbers, n_tokens: Numbers) -> FloatArray:
    """FLOP to serve `n_tokens`, 2 N T [FLOP].

    >>> float(inference_flop(70e9, 1e12))
    1.4e+23
    """
    n = positive("n_active_parameters", n_active_parameters)
    return FORWARD_FLOP_PER_PARAMETER_TOKEN * n * np.asarray(n_tokens, dtype=np.float64)


def loss(fit: ScalingFit, n_parameters: Numbers, n_training_tokens: Numbers) -> FloatArray:
    """Pre-training loss, E + A N^-alpha + B D^-beta [nats per token].

    Parameters
    ----------
    n_parameters, n_training_tokens : float or array
        Broadcast against each other; tokens may be infinite.

    Warns
    -----
    ExtrapolationWarning
        For a single model beyond 10,000 tokens per parameter, the most that Sardana et al. 2024 (arXiv 2401.00448)
        trained; there the law overstates what more tokens give. Arrays, as in a search, are not checked.

    >>> from simulator.laws.fits import BESI
    >>> round(float(loss(BESI, 70e9, 1.4e12)), 5)
    1.97388
    """
    n = positive("n_parameters", n_parameters)
    d = positive("n_training_tokens", n_training_tokens)
    warn_a_reader("tokens per parameter", d / n, MOST_TOKENS_PER_PARAMETER, "no run has been trained on so many")
    return fit.e + fit.a * n**-fit.alpha + fit.b * d**-fit.beta


def compute_optimal(fit: ScalingFit, training_flop: Numbers) -> tuple[FloatArray, FloatArray]:
    """Parameters and tokens with the least loss for `training_flop` ("Chinchilla-optimal").

    Returns
    -------
    n_parameters, n_training_tokens
        N = G (C/6)^(beta/(alpha+beta)), D = (C/6)^(alpha/(alpha+beta)) / G, G = (alpha A/(beta B))^(1/(alpha+beta))
        (Hoffmann et al. 2022, eq. 4).

    >>> from simulator.laws.fits import BESI
    >>> n, d = compute_optimal(BESI, 5.88e23)
    >>> round(float(d / n), 2)
    18.38
    """
    nd = positive("training_flop", training_flop) / TRAINING_FLOP_PER_PARAMETER_TOKEN
    exponents = fit.alpha + fit.beta
    g = (fit.alpha * fit.a / (fit.beta * fit.b)) ** (1 / exponents)
    return g * nd ** (fit.beta / exponents), nd ** (fit.alpha / exponents) / g


def optimal_tokens(fit: ScalingFit, n_parameters: Numbers) -> FloatArray:
    """Tokens with which a model of this size is compute-optimal: alpha A N^-alpha = beta B D^-beta [tokens].

    >>> from simulator.laws.fits import BESI
    >>> n, d = compute_optimal(BESI, 1e25)
    >>> round(float(optimal_tokens(BESI, n) / d), 12)
    1.0
    """
    n = positive("n_parameters", n_parameters)
    return (fit.beta * fit.b / (fit.alpha * fit.a)) ** (1 / fit.beta) * n ** (fit.alpha / fit.beta)


def optimal_loss(fit: ScalingFit, training_flop: Numbers) -> FloatArray:
    """Least loss `training_flop` can reach [nats per token]."""
    return loss(fit, *compute_optimal(fit, training_flop))


def equivalent_flop(fit: ScalingFit, loss: Numbers) -> FloatArray:
    """Training FLOP a compute-optimal run needs for `loss`: the exact inverse of `optimal_loss` [FLOP].

    At the optimum alpha A N^-alpha = beta B D^-beta = y and y (1/alpha + 1/beta) = loss - E, hence N, D and 6ND.
    Infinite where `loss` is at or below the irreducible loss E.

    >>> from simulator.laws.fits import BESI
    >>> f"{float(equivalent_flop(BESI, optimal_loss(BESI, 1e25))):.6e}"
    '1.000000e+25'
    """
    n, d = _optimum_at(fit, loss)
    return TRAINING_FLOP_PER_PARAMETER_TOKEN * n * d


def tokens_for_loss(fit: ScalingFit, n_parameters: Numbers, loss: Numbers) -> FloatArray:
    """Training tokens a model of `n_parameters` needs for `loss`; infinite where it cannot reach it [tokens].

    >>> from simulator.laws.fits import BESI
    >>> f"{float(tokens_for_loss(BESI, 70e9, 1.97388)):.2e}"
    '1.40e+12'
    """
    n = positive("n_parameters", n_parameters)
    room = np.asarray(loss, dtype=np.float64) - fit.e - fit.a * n**-fit.alpha
    return _inverse_power(fit.b, room, fit.beta)


def parameters_for_loss(fit: ScalingFit, n_training_tokens: Numbers, loss: Numbers) -> FloatArray:
    """Parameters a run of `n_training_tokens` needs for `loss`; infinite where it cannot reach it [parameters]."""
    d = positive("n_training_tokens", n_training_tokens)
    room = np.asarray(loss, dtype=np.float64) - fit.e - fit.b * d**-fit.beta
    return _inverse_power(fit.a, room, fit.alpha)


def smallest_parameters(fit: ScalingFit, loss: Numbers) -> FloatArray:
    """The floor of N: below it no amount of data reaches `loss`, (A/(loss-E))^(1/alpha) [parameters].

    >>> from simulator.laws.fits import SARD
    >>> round(float(smallest_parameters(SARD, 2.04528) / 13e9), 4)
    0.0974
    """
    room = np.asarray(loss, dtype=np.float64) - fit.e
    return _inverse_power(fit.a, room, fit.alpha)


def overtraining_tokens_factor(fit: ScalingFit, k_n: Numbers) -> FloatArray:
    """Times more tokens a compute-optimal model needs at equal loss when its size is scaled by `k_n`.

    k_D = [1 - (beta/alpha) (k_N^-alpha - 1)]^(-1/beta), independent of compute (de Vries 2023, "Go smol or go home",
    harmdevries.com). Infinite at and below the floor k_N = (1 + alpha/beta)^(-1/alpha).

    >>> from simulator.laws.fits import HARM
    >>> round(float(overtraining_tokens_factor(HARM, 0.5)), 4)
    2.4156
    """
    k = positive("k_n", k_n)
    return _inverse_power(1.0, 1 - fit.beta / fit.alpha * (k**-fit.alpha - 1), fit.beta)


def overtraining_overhead(fit: ScalingFit, k_n: Numbers) -> FloatArray:
    """Extra training FLOP, as a share of the optimum, of a model scaled by `k_n`: k_N k_D - 1.

    >>> from simulator.laws.fits import HARM
    >>> round(100 * float(overtraining_overhead(HARM, 0.5)), 2)
    20.78
    """
    return positive("k_n", k_n) * overtraining_tokens_factor(fit, k_n) - 1


def overtraining_floor(fit: ScalingFit) -> float:
    """Size, as a share of the optimum, below which no data makes up for the missing parameters."""
    return float((1 + fit.alpha / fit.beta) ** (-1 / fit.alpha))


def lifetime_optimal(fit: ScalingFit, loss: Numbers, inference_tokens: Numbers) -> tuple[FloatArray, FloatArray]:
    """Parameters and tokens that reach `loss` with the least training and inference FLOP, 6 N D + 2 N T.

    Sardana et al. 2023 (arXiv 2401.00448). The first-order condition is one equation in u = ln D,
    ln(alpha B + beta B (1 + T/(3D))) - ln(alpha (loss - E)) - beta u = 0: convex and falling, so Newton from the
    T = 0 solution, which lies left of the root, converges monotonically.

    Parameters
    ----------
    loss : float or array
        Target [nats per token]; at or below E gives infinite N and D.
    inference_tokens : float or array
        Tokens served over the life of the model, T [tokens].

    Returns
    -------
    n_parameters, n_training_tokens

    >>> from simulator.laws.fits import SARD
    >>> n, d = lifetime_optimal(SARD, 2.0452832, 2e12)
    >>> f"{float(n):.3e} {float(d):.3e}"
    '6.969e+09 1.248e+12'
    """
    target, served = np.broadcast_arrays(
        np.asarray(loss, dtype=np.float64), not_negative("inference_tokens", inference_tokens)
    )
    room = target - fit.e
    reachable = room > 0
    room = np.where(reachable, room, 1.0)
    third = served / (TRAINING_FLOP_PER_PARAMETER_TOKEN / FORWARD_FLOP_PER_PARAMETER_TOKEN)
    constant = np.log(fit.alpha * room)
    both, data = fit.b * (fit.alpha + fit.beta), fit.b * fit.beta
    u = (np.log(both) - constant) / fit.beta
    for _ in range(_NEWTON_STEPS):
        late = data * third * np.exp(-u)
        u = u + (np.log(both + late) - constant - fit.beta * u) / (late / (both + late) + fit.beta)
    d = np.exp(u)
    n = (fit.a / (room - fit.b * d**-fit.beta)) ** (1 / fit.alpha)
    return np.where(reachable, n, np.inf)[()], np.where(reachable, d, np.inf)[()]


def _optimum_at(fit: ScalingFit, loss: Numbers) -> tuple[FloatArray, FloatArray]:
    room = np.asarray(loss, dtype=np.float64) - fit.e
    y = room * fit.alpha * fit.beta / (fit.alpha + fit.beta)
    return (
        _inverse_power(fit.alpha * fit.a, y, fit.alpha),
        _inverse_power(fit.beta * fit.b, y, fit.beta),
    )


def _inverse_power(coefficient: float, room: FloatArray, exponent: float) -> FloatArray:
    """x with coefficient * x^-exponent = room; infinite where there is no room left."""
    open_ = room > 0
    power = (coefficient / np.where(open_, room, 1.0)) ** (1 / exponent)
    result: FloatArray = np.where(open_, power, np.inf)[()]
    return result
