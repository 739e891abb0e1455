"""Claims about OpenAI's compute bill of 2024 (Epoch AI, 10 October 2025): what its reported sums imply."""

from __future__ import annotations

from functools import partial

from simulator.lab.accounts import Use
from simulator.lab.given import Given
from simulator.lab.lab import Run
from simulator.study.claims import Claim, accounted, unexplained
from simulator.study.shipped import declared_run, lived, spent, training_share, with_recipe

NAME = "openai_2024"
_EPOCH = "Epoch AI, 10 Oct 2025"
_BILL = "Epoch AI, 10 Oct 2025: about 2 billion; tokens x throughput x price"
_SERVED = "served, as assumed"
_ROOFLINE = 'serving={ law = "roofline" }'


def _account() -> Run:
    return declared_run(NAME, "as-reported")


def _spent(use: Use) -> float:
    return spent(_account(), use)


def _final_share() -> float:
    return training_share(_account())


def _rnd_share() -> float:
    rnd = _spent(Use.TRAINING) + _spent(Use.RESEARCH)
    return rnd / (rnd + _spent(Use.SERVING))


def _implied_rate(share: float) -> float:
    """a / b of Erdil's trade at whose optimum training has that share."""
    return share / (1.0 - share)


def _bottom_up(precision: Given) -> float:
    """The bill for the year's tokens, by the roofline of H100s that are rented as needed [USD]."""
    return spent(lived(NAME, with_recipe(NAME, "as-reported", precision), _ROOFLINE), Use.SERVING)


CLAIMS: tuple[Claim, ...] = (
    accounted(NAME, "R&D share of compute spend", f"{_EPOCH}: 5 of 7 billion", 0.714, _rnd_share, 0.02),
    accounted(NAME, "final runs / (final runs + inference)", f"{_EPOCH}: 0.48 and 2", 0.194, _final_share, 0.02),
    accounted(NAME, "a / b if all R&D is training", _EPOCH, 2.5, lambda: _implied_rate(_rnd_share()), 0.02),
    accounted(NAME, "a / b if only final runs are", _EPOCH, 0.24, lambda: _implied_rate(_final_share()), 0.02),
    *(
        unexplained(
            NAME,
            f"inference from the bottom up, a 200B model in {precision}",
            _BILL,
            2e9,
            partial(_bottom_up, Given(model=_SERVED, precision=precision)),
            "USD",
        )
        for precision in ("bf16", "fp8")
    ),
)
