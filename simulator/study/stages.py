"""What a policy cost by stage of a model's life, and what of it is left over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator.lab.accounts import Account, Stage, Use
from simulator.lab.books import Books
from simulator.lab.runs import ReleaseRecord
from simulator.laws.units import FloatArray
from simulator.study.run_rows import ratio

STAGE_COLUMNS = tuple(f"stage_{stage.value}_usd" for stage in Stage)


@dataclass(frozen=True, slots=True)
class StageRow:
    """A row of stages.csv: one policy and stage in economic cost, means over worlds; all stages are the whole cost."""

    policy: str
    stage: str
    usd: float
    share: float
    """Of the cumulative cost."""
    controlled_usd: float
    """With luck in total demand taken out, as in `controlled_cost_usd` of the summary: the stages are that cost."""


def stage_usd(books: Books, releases: tuple[ReleaseRecord, ...]) -> FloatArray:
    """Cost over the window by stage, in the order of `Stage`; together the cumulative cost [USD].

    The books post debts of leases to idle GPUs, and what is left of models to training: both stand apart here.
    """
    cash, uses = books.cash_usd.sum(axis=0), books.economic_usd.sum(axis=0)
    runs: dict[Stage, float] = {Stage.TRAINING: 0.0, Stage.FINE_TUNING: 0.0}
    for made, cost in zip(releases, books.releases, strict=True):
        own, tuned = cost.training_usd - cost.data_usd, made.choice.tuned_share
        runs[Stage.FINE_TUNING] += own * tuned
        runs[Stage.TRAINING] += own * (1.0 - tuned)
    leases = cash[Account.OPENING_LEASES] + cash[Account.CLOSING_LEASES]
    found = {
        **runs,
        Stage.DATA_PREPARATION: cash[Account.DATA],
        Stage.RESEARCH: uses[Use.RESEARCH],
        Stage.DEPLOYMENT: cash[Account.DEPLOYMENT],
        Stage.SERVING: uses[Use.SERVING],
        Stage.IDLE: uses[Use.IDLE] - leases,
        Stage.HARDWARE_LEFT_OVER: leases,
        Stage.MODELS_LEFT_OVER: cash[Account.OPENING_MODELS] + cash[Account.CLOSING_MODELS],
    }
    return np.array([found[stage] for stage in Stage])


def stage_rows(policy: str, usd: FloatArray, controlled_usd: FloatArray) -> Iterator[StageRow]:
    """The rows of one policy, whose stages cost so much on average [stage]."""
    whole = float(usd.sum())
    for stage, cost, controlled in zip(Stage, usd.tolist(), controlled_usd.tolist(), strict=True):
        yield StageRow(policy, stage.value, cost, ratio(cost, whole), controlled)
