"""Claims about several models that share the users: three large ones against a giant, and easy questions routed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from simulator.lab.accounts import Use
from simulator.lab.lab import Run
from simulator.lab.portfolio import Portfolio
from simulator.study.claims import EXACT, Claim, accounted, illustrative, published, shown
from simulator.study.shipped import break_even, declared_run, lived, release, saved_percent, spent, with_recipe

NAME = "portfolio"
_TABLE_3 = "Hoffmann et al. 2022 (arXiv 2203.15556), table 3"
_FLOP = "2 N FLOP a token, by shares of the traffic"
_NO_SOURCE = "often said; no source found. Each is asked no more than a 175B gives"
_ROUTELLM = "Ong et al. 2024 (arXiv 2406.18665), as others cite it: 14 % of calls, prices 24.7 and 0.24"
_ASSUMED = "shares, what easy traffic needs and errors are assumptions"
_ROOFLINE = ('serving={ law = "roofline" }', "market.quote.0.accelerator=H200")
_GIANT, _LARGE = {"n_parameters": 520e9, "n_training_tokens": 11.0e12}, {"n_parameters": 175e9}


def _run(name: str, *overrides: str) -> Run:
    return declared_run(NAME, name, *overrides)


def _set(*models: dict[str, float]) -> Run:
    """A portfolio of one's own, in the scenario."""
    recipe = Portfolio.model_validate({"model": models})
    return lived(NAME, with_recipe(NAME, "one-giant", recipe))


def _training_flop(name: str) -> float:
    return release(_run(name)).choice.training_flop


def _ratio(uses: Sequence[Use], name: str, *overrides: str) -> float:
    """Money of one policy / of the giant, on some uses."""
    one, giant = (sum(spent(_run(each, *overrides), use) for use in uses) for each in (name, "one-giant"))
    return one / giant


def _quality_of_each() -> float:
    """Equivalent FLOP of one of the three / of the giant, were it asked what the giant is asked."""
    alone = release(_set(_LARGE | {"n_training_tokens": 3.7e12, "share": 1.0})).reached_flop
    return alone / release(_run("one-giant")).reached_flop


def _routed_by_price() -> float:
    """Serving saved where 86 % of tokens go to a model of the cheaper price [%]."""
    small = {"n_parameters": 520e9 * 0.24 / 24.7, "share": 0.86, "quality": 1e-3}
    run = _set(_GIANT | {"share": 0.14}, small)
    return 100.0 * (1.0 - spent(run, Use.SERVING) / spent(_run("one-giant"), Use.SERVING))


_TRAINING, _SERVING, _BOTH = (Use.TRAINING,), (Use.SERVING,), (Use.TRAINING, Use.SERVING)
_EVEN = 6 * 175e9 * 3.7e12 / (2 * (520e9 - 175e9) * 0.7) / 365.0
"""Where its training costs what it saves in service over the year [tokens a day]."""

CLAIMS: tuple[Claim, ...] = (
    published(NAME, "training of a 520B", _TABLE_3, 3.43e25, partial(_training_flop, "one-giant"), 0.002, "FLOP"),
    published(NAME, "training of a 175B", _TABLE_3, 3.85e24, partial(_training_flop, "one-175b"), 0.01, "FLOP"),
    published(
        NAME,
        "training of three 175B / of one 520B",
        f"{_TABLE_3}: 3 x 3.85e24 / 3.43e25",
        0.3367,
        partial(_ratio, _TRAINING, "three-175b"),
        0.01,
    ),
    illustrative(
        NAME,
        "three 175B cost significantly less than one giant: all they cost / all it costs",
        _NO_SOURCE,
        (0.0, 1.0),
        partial(_ratio, _BOTH, "three-175b"),
    ),
    shown(NAME, "how good each of the three is", "equivalent FLOP / the giant's, BESI", _quality_of_each),
    shown(
        NAME,
        "saved by one 175B for all against three",
        "no user is worse off: all get a 175B either way",
        partial(saved_percent, NAME, "one-175b", "three-175b"),
        "%",
    ),
    published(
        NAME,
        "serving, 70 % to a 175B and 30 % to the giant / the giant alone",
        _FLOP,
        0.3 + 0.7 * 175.0 / 520.0,
        partial(_ratio, _SERVING, "giant-and-175b"),
        EXACT,
    ),
    shown(
        NAME,
        "the same by the roofline",
        "memory and bandwidth of an H200, 0.05 s a token, whole replicas of both",
        partial(_ratio, _SERVING, "giant-and-175b", *_ROOFLINE),
    ),
    published(
        NAME,
        "tokens a day from which the 175B beside the giant pays",
        "training / FLOP saved in a year",
        _EVEN,
        partial(break_even, NAME, ("one-giant", "giant-and-175b"), "demand.tokens_per_day", 1e9, 1e11),
        0.002,
        "tokens",
        is_long=True,
    ),
    accounted(NAME, "serving saved by a router, MT-Bench", f"{_ROUTELLM}: 85 %", 85.0, _routed_by_price, 0.005, "%"),
    *(
        shown(NAME, f"saved by {what}", why, partial(saved_percent, NAME, *pair), "%")
        for what, why, pair in (
            ("routing, against one giant", _ASSUMED, ("routed", "one-giant")),
            ("training longer, against one giant", "a smaller model of equal loss, BESI", ("overtrain", "one-giant")),
            ("routing beside training longer", _ASSUMED, ("overtrain-routed", "overtrain")),
        )
    ),
)
