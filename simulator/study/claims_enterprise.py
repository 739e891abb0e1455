"""Claims about an assistant for a firm: hosting, tuning or pre-training, small models or large ones, and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from simulator.lab.accounts import Use
from simulator.lab.given import Given
from simulator.lab.lab import Run
from simulator.study.claims import EXACT, Claim, illustrative, published, shown
from simulator.study.shipped import break_even, declared_run, lived, release, spent, with_recipe

NAME = "enterprise_assistant"
_VIRAL = ("demand.tokens_per_day=2e10",)
_BY_FLOP = ('serving={ law = "flop", utilization = 0.375, target_utilization = 1.0 }',)
_SIX, _TWO = "6 N D FLOP", "2 N FLOP a token"
_AS_GOOD_AS_70B = ("roadmap.target_flop=8.1199e23",)
"""What Llama 2 70B is worth as it is, compute-optimal under BESI."""
_TOKENS_A_REQUEST = 1154.7 + 211.1
_REPLICAS = "whole replicas, one spare, rented all day"


def _run(name: str, *overrides: str) -> Run:
    return declared_run(NAME, name, *overrides)


def _trained(model: str, *overrides: str) -> Run:
    """One model of the scenario, trained from scratch and served."""
    return lived(NAME, with_recipe(NAME, "own-100b", Given(model=model)), *overrides)


def _serving_usd(name: str, *overrides: str) -> float:
    return spent(_run(name, *overrides), Use.SERVING)


def _usd_per_million(name: str, *overrides: str) -> float:
    run = _run(name, *overrides)
    return spent(run, Use.SERVING) / float(run.used.served_tokens.sum()) * 1e6


def _serving_ratio(name: str, other: str, *overrides: str) -> float:
    return _serving_usd(name, *overrides) / _serving_usd(other, *overrides)


def _small_over_large(use: Use, *overrides: str) -> float:
    """Money of the 6B / of the 60B on one use."""
    small, large = (spent(_trained(model, *overrides), use) for model in ("6B", "60B"))
    return small / large


def _training_flop(name: str, *overrides: str) -> float:
    return release(_run(name, *overrides)).choice.training_flop


def _reached(name: str, *overrides: str) -> float:
    """Equivalent FLOP / those of a tuned Llama 2 70B [%]."""
    one, whole = (release(_run(each, *overrides)).reached_flop for each in (name, "tune-70b"))
    return 100.0 * one / whole


def _quality_of_6b() -> float:
    small, large = (release(_trained(model)).reached_flop for model in ("6B", "60B"))
    return small / large


def _usd_a_wrong_answer(*overrides: str) -> float:
    """What a wrong answer must cost for the 60B to pay, one answer in a hundred being right more often."""
    dearer = [spent(_trained(model, *overrides), use) for model in ("60B", "6B") for use in (Use.SERVING, Use.TRAINING)]
    requests = float(_trained("6B", *overrides).used.served_tokens.sum()) / _TOKENS_A_REQUEST
    return (sum(dearer[:2]) - sum(dearer[2:])) / (0.01 * requests)


def _tuned(claim: str, why: str, simulated: Sequence[str]) -> Claim:
    return shown(NAME, claim, why, partial(_reached, *simulated), "%")


CLAIMS: tuple[Claim, ...] = (
    illustrative(
        NAME,
        "a year of hosting a 100B, low traffic",
        f"often said, no source found; here {_REPLICAS}",
        200_000.0,
        partial(_serving_usd, "own-100b"),
        "USD",
    ),
    shown(NAME, "the same, viral traffic", "2e10 tokens a day", partial(_serving_usd, "own-100b", *_VIRAL), "USD"),
    *(
        shown(NAME, f"a million tokens of it, {traffic}", why, partial(_usd_per_million, "own-100b", *at), "USD")
        for traffic, why, at in (("low traffic", _REPLICAS, ()), ("viral traffic", "the same, all busy", _VIRAL))
    ),
    illustrative(
        NAME,
        "tuning Llama 2 70B: tens of thousands of dollars",
        "often said, no source found; here all weights, on 1e10 tokens",
        (1e4, 1e5),
        lambda: spent(_run("tune-70b"), Use.TRAINING),
        "USD",
    ),
    shown(
        NAME,
        "Llama 2 70B from scratch",
        "6 N D at an MFU of 0.375, an A100 at 1.94 USD; claims about frontier_costs have its real hours",
        lambda: spent(_run("pretrain-70b"), Use.TRAINING),
        "USD",
    ),
    published(
        NAME,
        "FLOP, tuning on 1e10 tokens / training on 2e12",
        _SIX,
        0.005,
        lambda: _training_flop("tune-70b") / _training_flop("pretrain-70b"),
        EXACT,
    ),
    published(
        NAME,
        "FLOP, tuning adapters of 0.2 % / tuning all",
        "Hu et al. 2021 (arXiv 2106.09685): (4 + 6 x 0.002) / 6",
        0.66867,
        lambda: _training_flop("tune-70b", 'fine_tuning.method="lora"') / _training_flop("tune-70b"),
        1e-4,
    ),
    *(
        published(
            NAME,
            f"serving FLOP, Llama 2 {small} / 70B",
            _TWO,
            ratio,
            partial(_serving_ratio, f"tune-{small.lower()}", "tune-70b", *_BY_FLOP),
            1e-4,
        )
        for small, ratio in (("7B", 0.097685), ("13B", 0.188701))
    ),
    *(
        shown(
            NAME,
            f"hosting Llama 2 {small} / 70B, {traffic}",
            why,
            partial(_serving_ratio, f"tune-{small.lower()}", "tune-70b", *at),
        )
        for small in ("7B", "13B")
        for traffic, why, at in (
            ("low traffic", _REPLICAS, ()),
            ("viral traffic", "memory and bandwidth of the cheaper kind of GPU", _VIRAL),
        )
    ),
    _tuned("what a tuned 13B is worth, of a tuned 70B", "equivalent FLOP, BESI", ("tune-13b",)),
    _tuned("what a tuned 7B is worth, of a tuned 70B", "equivalent FLOP, BESI", ("tune-7b",)),
    _tuned(
        "the most a 7B reaches on general text, of a 70B",
        "equivalent FLOP, BESI, 40e12 tokens repeated 16 times; a narrow task may need less",
        ("tune-7b", *_AS_GOOD_AS_70B),
    ),
    published(NAME, "serving FLOP, 6B / 60B", _TWO, 0.1, partial(_small_over_large, Use.SERVING, *_BY_FLOP), EXACT),
    published(
        NAME,
        "training, 6B / 60B, each on 20 tokens a parameter",
        _SIX,
        0.01,
        partial(_small_over_large, Use.TRAINING),
        EXACT,
    ),
    *(
        shown(NAME, f"hosting 6B / 60B, {traffic}", why, partial(_small_over_large, Use.SERVING, *at))
        for traffic, why, at in (
            ("low traffic", _REPLICAS, ()),
            ("viral traffic", "memory and bandwidth of the cheaper kind of GPU", _VIRAL),
        )
    ),
    shown(
        NAME,
        "what a 6B is worth, of a 60B",
        "equivalent FLOP, BESI; 95 and 96 % on a task are often said, and say nothing about it",
        _quality_of_6b,
    ),
    *(
        shown(
            NAME,
            f"what a wrong answer must cost for 96 % with 60B to beat 95 % with 6B, {traffic}",
            "both bills, 1,366 tokens an answer; the percentages have no source",
            partial(_usd_a_wrong_answer, *at),
            "USD",
        )
        for traffic, at in (("low traffic", ()), ("viral traffic", _VIRAL))
    ),
    shown(
        NAME,
        "tokens a day up to which longer prompts beat tuning a 7B",
        "by bisection; gain and length of prompts are assumptions",
        partial(break_even, NAME, ("tune-7b", "prompt-7b"), "demand.tokens_per_day", 1e7, 1e10, 0.01),
        "tokens",
        is_long=True,
    ),
)
