"""Claims about what to train: the models of 2022, training longer for the users to come, and better data."""

from __future__ import annotations

from functools import partial

from simulator.lab.accounts import Use
from simulator.study.claims import EXACT, Claim, illustrative, published, shown
from simulator.study.shipped import break_even, declared_run, reached_loss, release, saved_percent, spent

GOPHER, KNOWN, MIXING = "gopher_or_chinchilla", "known_demand", "data_mixing"
_SIX = "6 N D from the papers' N and D"
_BESI = "coefficients of Besiroglu et al. 2024"
_HOFF = "coefficients of Hoffmann et al. 2022"
_SARDANA = "Sardana et al. 2023 (arXiv 2401.00448)"
_LIFETIME = "least 6ND + 2NT at equal loss, Besiroglu's coefficients"
_NO_SOURCE = "attributed to Amazon; no source found"


def _training_flop(name: str) -> float:
    return release(declared_run(GOPHER, name)).choice.training_flop


def _loss(name: str, *overrides: str) -> float:
    return reached_loss(declared_run(GOPHER, name, *overrides))


def _ratio(use: Use, scenario: str, one: str, other: str, *overrides: str) -> float:
    """Money of one policy / of another on one use."""
    return spent(declared_run(scenario, one, *overrides), use) / spent(declared_run(scenario, other, *overrides), use)


def _size(name: str, *overrides: str) -> float:
    return release(declared_run(KNOWN, name, *overrides)).choice.model.n_parameters


def _users(tokens: float) -> str:
    return f"demand.tokens_per_day={tokens / 365.0!r}"


_OTHERS = (("gpt-3", 2.00854, 2.00229), ("jurassic-1", 2.00819, 2.00194), ("mt-nlg", 1.99478, 1.99061))
_LOSSES = (("gopher", 1.99961, 1.99326), ("chinchilla", 1.97388, 1.93665), *_OTHERS)
_GOPHER_CLAIMS = (
    *(
        published(GOPHER, f"training of {name}", _SIX, flop, partial(_training_flop, name), 0.001, "FLOP")
        for name, flop in (
            ("gopher", 5.040e23),
            ("chinchilla", 5.880e23),
            ("gpt-3", 3.150e23),
            ("jurassic-1", 3.204e23),
            ("mt-nlg", 8.586e23),
        )
    ),
    *(
        published(GOPHER, f"loss of {name}", source, value, partial(_loss, name, *fit), 1e-4, "nats")
        for name, besi, hoff in _LOSSES
        for source, value, fit in ((_BESI, besi, ()), (_HOFF, hoff, ("training.scaling_fit=HOFF",)))
    ),
    published(
        GOPHER,
        "serving FLOP, chinchilla / gopher",
        "70B / 280B",
        0.25,
        partial(_ratio, Use.SERVING, GOPHER, "chinchilla", "gopher"),
        EXACT,
    ),
    shown(
        GOPHER,
        "serving by the roofline, chinchilla / gopher",
        "memory and bandwidth of an H200, 0.2 s a token",
        partial(
            _ratio,
            Use.SERVING,
            GOPHER,
            "chinchilla",
            "gopher",
            'serving={ law = "roofline", spare_replicas = 0, max_seconds_per_token = 0.2 }',
            "market.quote.0.accelerator=H200",
        ),
    ),
    illustrative(
        GOPHER,
        "training compute, chinchilla / gopher",
        'often told as "the exact same compute budget"; 6ND differ',
        1.0,
        partial(_ratio, Use.TRAINING, GOPHER, "chinchilla", "gopher"),
    ),
)

_SARD = (
    "training.scaling_fit=SARD",
    f"roadmap.target_flop={6 * 13e9 * 5.7649e11!r}",
    _users(2e12),
)
_KNOWN_CLAIMS = (
    published(
        KNOWN,
        "13B quality, 2e12 tokens served: parameters to train",
        f"{_SARDANA}, figure 1: about 7B",
        7e9,
        partial(_size, "overtrain", *_SARD),
        0.01,
        "parameters",
    ),
    published(
        KNOWN,
        "the same: compute saved",
        f"{_SARDANA}, figure 1: 17 %",
        17.0,
        partial(saved_percent, KNOWN, "overtrain", "chinchilla", *_SARD),
        0.03,
        "%",
    ),
    *(
        published(
            KNOWN,
            f"70B quality, {tokens:g} tokens served: {what}",
            _LIFETIME,
            value,
            partial(ask, *named, _users(tokens)),
            0.005,
            unit,
        )
        for tokens, size, saving in (
            (1e12, 5.4961e10, 2.574),
            (1e13, 3.2765e10, 29.11),
            (1e14, 2.0170e10, 61.51),
        )
        for what, value, ask, named, unit in (
            ("parameters to train", size, _size, ("overtrain",), "parameters"),
            ("cost saved", saving, saved_percent, (KNOWN, "overtrain", "chinchilla"), "%"),
        )
    ),
)


def _training_saved(*overrides: str) -> float:
    return 100.0 * (1.0 - _ratio(Use.TRAINING, MIXING, "mixed", "chinchilla", *overrides))


_MIXING_CLAIMS = (
    illustrative(
        MIXING,
        "training compute saved by a better mix, the search left out",
        _NO_SOURCE,
        91.0,
        partial(_training_saved, "data_mixing.search_share=0"),
        "%",
    ),
    illustrative(MIXING, "the same, with a search of 5 % of the run", _NO_SOURCE, 91.0, _training_saved, "%"),
    shown(
        MIXING,
        "the whole bill, if the claim held",
        "the model is smaller too, and cheaper to serve",
        partial(saved_percent, MIXING, "mixed", "chinchilla"),
        "% saved",
    ),
    shown(
        MIXING,
        "what a release may cost to break even",
        "by bisection (labspend thresholds)",
        partial(break_even, MIXING, ("chinchilla", "mixed"), "data_mixing.usd_per_release", 1e5, 1e7),
        "USD",
    ),
)

CLAIMS: tuple[Claim, ...] = (*_GOPHER_CLAIMS, *_KNOWN_CLAIMS, *_MIXING_CLAIMS)
