"""Claims of Erdil 2024, "Optimally allocating compute between inference and training", and what it sets aside."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from simulator.lab.accounts import Use
from simulator.lab.altered_forecast import Biased
from simulator.lab.forecast import PerfectForesight
from simulator.lab.lab import Run
from simulator.lab.recipe import Erdil, LeverRecipe, Recipe
from simulator.lab.routes import Lever
from simulator.study.claims import Claim, published, shown
from simulator.study.shipped import declared_run, lived, spent, study, training_share, with_recipe

NAME = "erdil_2024"
_ESSAY = "Erdil 2024 (Epoch)"
_FORM = "closed form of Erdil 2024: T*, I* of least cost along T^a I^b"
_SPANS = "rates of Villalobos & Atkinson 2023 in Erdil's a / (a + b)"
_USED_UP = "Erdil 2024, the trade used up; closed form, clamped"
_ROOFLINE = 'serving={ law = "roofline" }'
_FALL = "market.rental_fall_per_year=0.3"
_EVEN, _LONGER, _AS_IT_IS = Erdil(), LeverRecipe(levers=frozenset({Lever.OVERTRAIN})), LeverRecipe()
_NORMALS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def _plain(*overrides: str) -> Run:
    return declared_run(NAME, "chinchilla", *overrides)


def _run(recipe: Recipe, *overrides: str) -> Run:
    return lived(NAME, with_recipe(NAME, "erdil-1-1", recipe), *overrides)


def _inference_per_training(*overrides: str) -> float:
    run = _plain(*overrides)
    return spent(run, Use.SERVING) / spent(run, Use.TRAINING)


def _users_for(training: float, inference: float) -> str:
    """The override with which inference stands to training as told, before any trade."""
    today = study(NAME).scenario.demand.tokens_per_day
    return f"demand.tokens_per_day={today * inference / training / _inference_per_training()!r}"


def _amount(use: Use, training: float, inference: float, trade: Erdil) -> float:
    """Training or inference after the trade, in the units in which they began."""
    users = _users_for(training, inference)
    return training * spent(_run(trade, users), use) / spent(_plain(users), Use.TRAINING)


def _both(training: float, inference: float, trade: Erdil) -> float:
    return sum(_amount(use, training, inference, trade) for use in (Use.TRAINING, Use.SERVING))


def _share(recipe: Recipe, *overrides: str) -> float:
    return training_share(_run(recipe, *overrides))


def _share_from(training: float, inference: float, trade: Erdil) -> float:
    return _share(trade, _users_for(training, inference))


def _dearer(*overrides: str) -> float:
    """Price of inference with these overrides / without: the same tokens, the same model."""
    terms = [each for each in overrides if each.startswith(("horizon", "roadmap"))]
    return spent(_plain(*overrides), Use.SERVING) / spent(_plain(*terms), Use.SERVING)


def _flop_ratio(*overrides: str) -> float:
    """T / I in FLOP after a 1:1 trade: money over the price of a FLOP, training's being 1."""
    run = _run(_EVEN, *overrides)
    return spent(run, Use.TRAINING) / (spent(run, Use.SERVING) / _dearer(*overrides))


def _unsure(sigma: float, recipe: Recipe, use: Use, *, is_known: bool) -> float:
    """Expected money on one use where demand is lognormal with the declared mean: its levels, weighed [USD].

    Known, the lab plans with the demand that comes; else with the mean, which is that demand / its level.
    """
    expected = 0.0
    for level, weight in zip(np.exp(sigma * _NORMALS - sigma**2 / 2.0), _WEIGHTS, strict=True):
        factor = 1.0 if is_known else float(1.0 / level)
        belief = Biased(base=PerfectForesight(), factor=factor)
        lab = replace(with_recipe(NAME, "erdil-1-1", recipe), forecast=belief)
        users = f"demand.tokens_per_day={study(NAME).scenario.demand.tokens_per_day * float(level)!r}"
        expected += float(weight) * spent(lived(NAME, lab, users), use)
    return expected


def _information(sigma: float) -> float:
    """What it saves to know demand, as a part of the cost of not knowing it."""
    known, unknown = (
        sum(_unsure(sigma, _EVEN, use, is_known=is_known) for use in (Use.TRAINING, Use.SERVING))
        for is_known in (True, False)
    )
    return 1.0 - known / unknown


def _unsure_share(sigma: float, recipe: Recipe, is_known: bool) -> float:
    """Training share of the expected spend."""
    training, serving = (_unsure(sigma, recipe, use, is_known=is_known) for use in (Use.TRAINING, Use.SERVING))
    return training / (training + serving)


_RATIOS = (
    published(
        NAME,
        "inference / training, 100 billion tokens a day",
        f"{_ESSAY}: 36.5 T x 2N over 10 T x 6N",
        1.217,
        _inference_per_training,
        0.001,
    ),
    published(
        NAME,
        "the same, 100 billion words a day",
        "Altman, 9 Feb 2024, in words; 0.75 words a token",
        1.622,
        partial(_inference_per_training, f"demand.tokens_per_day={100e9 / 0.75!r}"),
        0.001,
    ),
)

_SHARES = tuple(
    published(
        NAME, f"training share, a = {a:g}, b = {b:g}", source, share, partial(_share, Erdil(alpha=a, beta=b)), 0.001
    )
    for a, b, share, source in (
        (1.0, 1.0, 0.5, _ESSAY),
        (2.0, 1.0, 0.6667, _FORM),
        (1.0, 2.0, 0.3333, _FORM),
        (0.1, 1.0, 0.09091, _FORM),
        (10.0, 1.0, 0.9091, _FORM),
        (0.7, 1.2, 0.3684, f"overtraining, {_SPANS}"),
        (1.2, 0.7, 0.6316, _FORM),
        (1.0, 1.45, 0.4082, f"sampling, {_SPANS}"),
    )
)

_TRADES = tuple(
    published(NAME, f"{words}, from {t0:g} + {i0:g}, a = {a:g}, b = {b:g}", _FORM, value, ask, 0.001)
    for t0, i0, a, b, training, both in (
        (1.0, 100.0, 1.0, 1.0, 10.0, 20.0),
        (100.0, 1.0, 1.0, 1.0, 10.0, 20.0),
        (1.0, 100.0, 1.2, 0.7, 6.65401, 10.5355),
        (1.0, 100.0, 0.7, 1.2, 13.0411, 35.3974),
        (1.0, 100.0, 2.0, 1.0, 5.84804, 8.77205),
        (1.0, 100.0, 1.0, 2.0, 13.5721, 40.7163),
        (5.0, 5.0, 1.0, 1.0, 5.0, 10.0),
        (1.0, 1.0, 3.0, 1.0, 1.31607, 1.75477),
    )
    for words, value, ask in (
        ("training", training, partial(_amount, Use.TRAINING, t0, i0, Erdil(alpha=a, beta=b))),
        ("training + inference", both, partial(_both, t0, i0, Erdil(alpha=a, beta=b))),
    )
)

_LIMITS = tuple(
    published(
        NAME,
        f"training share from {t0:g} + {i0:g}, a = {a:g}, b = {b:g}, at most {limit:g} OOM",
        _USED_UP,
        share,
        partial(_share_from, t0, i0, Erdil(alpha=a, beta=b, max_oom=limit)),
        0.001,
    )
    for t0, i0, a, b, limit, share in (
        (1.0, 1e4, 1.0, 1.0, 1.0, 0.009901),
        (1.0, 1e4, 1.0, 1.0, 2.0, 0.5),
        (1.0, 1e4, 1.0, 1.0, 3.0, 0.5),
        (1.0, 100.0, 1.0, 1.0, 0.5, 0.09091),
        (1e4, 1.0, 1.0, 1.0, 1.0, 0.9901),
        (1.0, 1e4, 0.7, 1.2, 1.2, 0.007881),
    )
)

_THREE_YEARS = ("horizon_days=1095", "roadmap.service_days=1095")
_SET_ASIDE = (
    published(NAME, "bandwidth: training share of a 1:1 trade", _FORM, 0.5, partial(_share, _EVEN, _ROOFLINE), 0.005),
    shown(NAME, "bandwidth: price of an inference FLOP / by FLOP", "roofline of an H200", partial(_dearer, _ROOFLINE)),
    shown(
        NAME, "bandwidth: T / I in FLOP, 1:1 trade", "the price above, share unmoved", partial(_flop_ratio, _ROOFLINE)
    ),
    shown(NAME, "training share when overtraining, none of these", "Besiroglu's law of loss", partial(_share, _LONGER)),
    shown(NAME, "bandwidth: training share when overtraining", "and the roofline", partial(_share, _LONGER, _ROOFLINE)),
    published(
        NAME,
        "rents fall 30 % a year: price of a year's inference",
        "(1 - e^-dH) / (dH), d = -ln 0.7, H = 1",
        0.8411,
        partial(_dearer, _FALL),
        0.001,
    ),
    published(
        NAME,
        "rents fall 30 % a year: price of three years' inference",
        "(1 - e^-dH) / (dH), H = 3",
        0.6140,
        partial(_dearer, _FALL, *_THREE_YEARS),
        0.001,
    ),
    published(NAME, "rents fall: training share of a 1:1 trade", _FORM, 0.5, partial(_share, _EVEN, _FALL), 0.001),
    published(NAME, "rents fall: T / I in FLOP, 1:1 trade", _FORM, 0.8411, partial(_flop_ratio, _FALL), 0.001),
    shown(NAME, "rents fall: training share, no trade", "cheaper service", partial(_share, _AS_IT_IS, _FALL)),
    shown(NAME, "rents fall: training share when overtraining", "and a larger model", partial(_share, _LONGER, _FALL)),
    *(
        published(
            NAME,
            f"unknown demand, sigma {sigma:g}: worth of knowing it",
            "closed form 1 - exp(-s (1 - s) sigma^2 / 2), s = 1/2",
            worth,
            partial(_information, sigma),
            0.001,
            is_long=True,
        )
        for sigma, worth in ((0.25, 0.007782), (0.5, 0.03077), (1.0, 0.1175))
    ),
    published(
        NAME,
        "unknown demand, sigma 1: training share of a 1:1 trade",
        "of expected spend: only the mean of demand matters",
        0.5,
        partial(_unsure_share, 1.0, _EVEN, False),
        0.001,
        is_long=True,
    ),
    *(
        shown(
            NAME,
            f"unknown demand, sigma 1, overtraining: training share, {words}",
            why,
            partial(_unsure_share, 1.0, _LONGER, is_known),
            is_long=True,
        )
        for words, why, is_known in (
            ("one model", "as where demand is certain: only its mean matters", False),
            ("demand known first", "a model for each demand", True),
        )
    ),
)

CLAIMS: tuple[Claim, ...] = (*_RATIOS, *_SHARES, *_TRADES, *_LIMITS, *_SET_ASIDE)
