"""What repeated text is worth: the data limit of Muennighoff et al. 2023 (arXiv 2305.16264).

Up to about four passes over the same tokens cost almost nothing; after some sixteen they are worth nothing more.
Fitted on models up to 9e9 parameters and 9e11 tokens; larger amounts are an extrapolation of the same kind as that of
the loss law and nothing here warns of it. What no repetition is worth is `inf`; amounts below zero are refused.
"""

import numpy as np

from simulator.laws.fits import ScalingFit
from simulator.laws.ranges import not_negative, positive
from simulator.laws.units import FloatArray, Numbers

REPEATED_TOKENS_SCALE = 15.387756
"""R*_D: repetitions after which a further pass is worth 1/e of a fresh one [1]."""
EXCESS_PARAMETERS_SCALE = 5.309743
"""R*_N: the same for parameters beyond what the unique tokens call for [1]."""


def effective_tokens(n_training_tokens: Numbers, unique_tokens: Numbers) -> FloatArray:
    """Fresh tokens that `n_training_tokens` drawn from `unique_tokens` are worth [tokens].

    D_eff = U + U R* (1 - exp(-R/R*)), R = D/U - 1; no change while D <= U. Never above (1 + R*) U = 16.39 U.

    >>> round(float(effective_tokens(4.0, 1.0)), 5)
    3.72567
    """
    d = not_negative("n_training_tokens", n_training_tokens)
    return _worth(d, positive("unique_tokens", unique_tokens), REPEATED_TOKENS_SCALE)


def tokens_for_effective(effective_tokens: Numbers, unique_tokens: Numbers) -> FloatArray:
    """Tokens to train on so that they are worth `effective_tokens`; infinite beyond 16.39 U [tokens].

    >>> round(float(tokens_for_effective(effective_tokens(64.0, 1.0), 1.0)), 9)
    64.0
    """
    worth = not_negative("effective_tokens", effective_tokens)
    return _needed(worth, positive("unique_tokens", unique_tokens), REPEATED_TOKENS_SCALE)


def effective_parameters(n_parameters: Numbers, matched_parameters: Numbers) -> FloatArray:
    """Parameters that `n_parameters` are worth when the data calls for only `matched_parameters` [parameters].

    The same form with R*_N = 5.31; `matched_parameters` is what is compute-optimal for the unique tokens.
    """
    n = positive("n_parameters", n_parameters)
    return _worth(n, positive("matched_parameters", matched_parameters), EXCESS_PARAMETERS_SCALE)


def parameters_for_effective(effective_parameters: Numbers, matched_parameters: Numbers) -> FloatArray:
    """Parameters that are worth `effective_parameters`; infinite beyond 6.31 times the match [parameters]."""
    worth = not_negative("effective_parameters", effective_parameters)
    return _needed(worth, positive("matched_parameters", matched_parameters), EXCESS_PARAMETERS_SCALE)


def matched_parameters(fit: ScalingFit, unique_tokens: Numbers) -> FloatArray:
    """Parameters for which `unique_tokens` are compute-optimal: alpha A N^-alpha = beta B U^-beta [parameters]."""
    u = positive("unique_tokens", unique_tokens)
    return (fit.alpha * fit.a / (fit.beta * fit.b * u**-fit.beta)) ** (1 / fit.alpha)


def _worth(amount: FloatArray, unique: FloatArray, scale: float) -> FloatArray:
    repetitions = np.maximum(amount / unique - 1, 0)
    result: FloatArray = np.where(amount <= unique, amount, unique * (1 - scale * np.expm1(-repetitions / scale)))[()]
    return result


def _needed(worth: FloatArray, unique: FloatArray, scale: float) -> FloatArray:
    used = np.maximum(worth / unique - 1, 0) / scale
    reachable = used < 1
    repetitions = -scale * np.log1p(-np.where(reachable, used, 0.0))
    beyond = np.where(reachable, unique * (1 + repetitions), np.inf)
    result: FloatArray = np.where(worth <= unique, worth, beyond)[()]
    return result
