"""The techniques that trade training for inference, and how far each can go.

Villalobos & Atkinson 2023 (Epoch, "Trading off compute in training and inference"), summary table. A span is the
range in which the marginal exchange rate is better than 6:1, in orders of magnitude (OOM) on each side. Outside a
span the trade is used up; a mastery outside 0 to 1 and negative amounts are refused.
"""

from dataclasses import dataclass
from enum import Enum, auto
from itertools import combinations

import numpy as np

from simulator.laws.fits import ScalingFit
from simulator.laws.ranges import between, not_negative, positive
from simulator.laws.units import FloatArray, Numbers

MAX_EXCHANGE_RATE = 6.0
"""OOM paid per OOM gained beyond which the source calls a trade used up."""
COMBINED_CAP_OOM = 3.0
"""Most that techniques together move inference, 2 to 3 OOM; more than two rarely help. The upper end is taken."""
CHEAP_VERIFICATION_CAP_OOM = 6.0


class Shape(Enum):
    """How the span of a technique changes with the scale of the model."""

    SATURATING = auto()
    """Constant span (a constant-elasticity curve)."""
    SHRINKING = auto()
    """Saturating, with a span that goes to zero near perfection (constant elasticity in the logarithm)."""
    GROWING = auto()
    """Not saturating: the span grows with training (hyperbolic)."""


@dataclass(frozen=True, slots=True)
class Technique:
    """One row of the table.

    Attributes
    ----------
    name : str
    training_span_oom, inference_span_oom : float
        Largest span on each side [OOM].
    shape : Shape
    growth_oom_per_training_oom : float
        Growth of both spans per OOM of training compute [OOM/OOM].
    effect_of_scale, models_sit_at : str
        In the source's words.
    mechanism : str
        Techniques of one mechanism do not add up.
    source : str
    """

    name: str
    training_span_oom: float
    inference_span_oom: float
    shape: Shape
    growth_oom_per_training_oom: float
    effect_of_scale: str
    models_sit_at: str
    mechanism: str
    source: str = "Villalobos & Atkinson 2023 (Epoch), summary table"


OVERTRAINING = Technique("overtraining", 1.2, 0.7, Shape.SATURATING, 0.0, "none", "minimal training", "smaller model")
TREE_SEARCH = Technique(
    "Monte Carlo tree search", 1.6, 1.6, Shape.SHRINKING, 0.0, "collapses to 0 near perfect play", "mixed", "search"
)
PRUNING = Technique(
    "iterative magnitude pruning",
    1.0,
    1.0,
    Shape.SATURATING,
    0.08,
    "slightly rising",
    "minimal training",
    "smaller model",
)
SAMPLING_CHEAP = Technique(
    "repeated sampling, cheap verification", 3.0, 6.0, Shape.GROWING, 0.75, "rising", "minimal inference", "search"
)
SAMPLING_EXPENSIVE = Technique(
    "repeated sampling, expensive verification",
    1.0,
    1.45,
    Shape.SATURATING,
    0.0,
    "none",
    "minimal inference",
    "search",
)
CHAIN_OF_THOUGHT = Technique(
    "chain of thought", np.nan, np.nan, Shape.SATURATING, 0.0, "unknown (binary)", "minimal inference", "reasoning"
)
TECHNIQUES = (OVERTRAINING, TREE_SEARCH, PRUNING, SAMPLING_CHEAP, SAMPLING_EXPENSIVE, CHAIN_OF_THOUGHT)
"""The whole table; chain of thought has no span because it is on or off."""


def inference_span_oom(technique: Technique, extra_training_oom: Numbers, mastery: Numbers) -> FloatArray:
    """Span on the inference side for a model trained with `extra_training_oom` more than those of 2023 [OOM].

    Parameters
    ----------
    extra_training_oom : float or array
        Training compute beyond the models of the source; matters where the span grows [OOM].
    mastery : float or array
        0 for a beginner, 1 for perfect play; matters where the span shrinks. The source gives the end points only:
        the straight line between them is an assumption [1].

    >>> float(inference_span_oom(SAMPLING_CHEAP, 2.0, 0.0))
    7.5
    """
    grown = technique.inference_span_oom + technique.growth_oom_per_training_oom * not_negative(
        "extra_training_oom", extra_training_oom
    )
    left = 1 - between("mastery", mastery, 0.0, 1.0)
    return grown * left if technique.shape is Shape.SHRINKING else grown + 0 * left


def combined_span_oom(techniques: tuple[Technique, ...], cap_oom: float = COMBINED_CAP_OOM) -> float:
    """Inference span of several techniques together: additive up to a cap [OOM].

    Refuses two of the same mechanism: overtraining with pruning, tree search with resampling.

    >>> combined_span_oom((OVERTRAINING, SAMPLING_EXPENSIVE))
    2.15
    """
    for one, other in combinations(techniques, 2):
        if one.mechanism == other.mechanism:
            raise ValueError(f"{one.name} and {other.name} do not combine: both work by {one.mechanism}")
    return min(sum(technique.inference_span_oom for technique in techniques), cap_oom)


def stacked_oom(n_techniques: Numbers, oom_each: Numbers, cap_oom: float = COMBINED_CAP_OOM) -> FloatArray:
    """How far `n_techniques` of equal reach move training: additive up to the cap [OOM]."""
    return np.minimum(not_negative("n_techniques", n_techniques) * not_negative("oom_each", oom_each), cap_oom)


def overtraining_span_oom(fit: ScalingFit, max_rate: float = MAX_EXCHANGE_RATE) -> tuple[float, float]:
    """(training, inference) span of overtraining under a scaling law, up to `max_rate` OOM paid per OOM [OOM].

    Along equal loss, d ln T = (x/y - 1) (-d ln N) with x = alpha A N^-alpha and y = beta B D^-beta, equal at the
    optimum: the trade ends at x = (1 + rate) y, in closed form. The source prints 1.2 and 0.7, which the table keeps;
    its own law gives 1.22 and 0.81 with Hoffmann's constants, and 0.99 and 0.68 with the Besiroglu refit.

    >>> from simulator.laws.fits import HOFF
    >>> [round(span, 2) for span in overtraining_span_oom(HOFF)]
    [1.22, 0.81]
    """
    ratio = 1 + float(positive("max_rate", max_rate))
    y = (fit.alpha + fit.beta) / (ratio * fit.beta + fit.alpha)
    more_tokens = -np.log10(y) / fit.beta
    fewer_parameters = np.log10(ratio * y) / fit.alpha
    return float(more_tokens - fewer_parameters), float(fewer_parameters)


def pruning_training_factor(pruned_share_per_round: Numbers, density: Numbers) -> FloatArray:
    """Training compute of iterative pruning over plain training, (1 - (1 - x)^n) / x = (1 - density) / x [1].

    >>> round(float(pruning_training_factor(0.2, 0.1)), 2)
    4.5
    """
    kept = between("density", density, 0.0, 1.0)
    return (1 - kept) / positive("pruned_share_per_round", pruned_share_per_round)
