"""Rankings of a comparison as tables: places, who beats whom, regret by world, and when each policy breaks even."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

from simulator.laws.units import FloatArray
from simulator.study.comparison import Comparison
from simulator.study.frames import frame
from simulator.study.paired import (
    BeatRow,
    RankRow,
    RegretRow,
    beats,
    rank_chances,
    regrets,
)

RANKS, BEATS, REGRET, BREAK_EVENS = "ranks.csv", "beats.csv", "regret.csv", "break_evens.csv"
"""Only where there is more than one policy."""


@dataclass(frozen=True, slots=True)
class BreakEvenRow:
    """When a policy has spent less than the baseline for good, having spent more; each world has its own day."""

    policy: str
    share: float
    """Of worlds in which it breaks even within the window."""
    break_even_p5: date | None
    """Of those worlds."""
    break_even_p50: date | None
    break_even_p95: date | None


def rank_rows(comparison: Comparison) -> Iterator[RankRow]:
    """A row per comparable policy and place."""
    names, cost = comparable_costs(comparison)
    for name, chances in zip(names, rank_chances(cost), strict=True):
        for place, chance in enumerate(chances.tolist(), start=1):
            yield RankRow(name, place, chance)


def beat_rows(comparison: Comparison) -> Iterator[BeatRow]:
    """A row per pair of comparable policies, both ways."""
    names, cost = comparable_costs(comparison)
    share = beats(cost)
    for i, name in enumerate(names):
        for j, against in enumerate(names):
            if i != j:
                yield BeatRow(name, against, float(share[i, j]))


def regret_rows(comparison: Comparison) -> Iterator[RegretRow]:
    """A row per comparable policy."""
    names, cost = comparable_costs(comparison)
    above = regrets(cost, np.ones(len(names), dtype=np.bool_))
    for name, usd in zip(names, above, strict=True):
        p50, p95 = np.quantile(usd, (0.5, 0.95)).tolist()
        yield RegretRow(name, float(usd.mean()), p50, p95, float(usd.max()))


def break_even_rows(comparison: Comparison) -> Iterator[BreakEvenRow]:
    """A row per policy but the baseline."""
    days = comparison.by_policy("break_even_day")
    for name, own in zip(comparison.policy_names[1:], days[1:], strict=True):
        found = own[np.isfinite(own)]
        dates: list[date | None] = [None, None, None]
        if found.size:
            at = np.quantile(found, (0.05, 0.5, 0.95), method="nearest").tolist()
            dates = [comparison.scenario.start + timedelta(days=int(day)) for day in at]
        yield BreakEvenRow(name, found.size / comparison.replications, *dates)


def rankings(comparison: Comparison) -> Iterator[tuple[str, pd.DataFrame]]:
    """The four tables with the names of their files; none for a single policy."""
    if len(comparison.policies) > 1:
        yield RANKS, frame(tuple(rank_rows(comparison)), RankRow)
        yield BEATS, frame(tuple(beat_rows(comparison)), BeatRow)
        yield REGRET, frame(tuple(regret_rows(comparison)), RegretRow)
        yield BREAK_EVENS, frame(tuple(break_even_rows(comparison)), BreakEvenRow)


def comparable_costs(comparison: Comparison) -> tuple[list[str], FloatArray]:
    """Names and costs [policy, replication] of the comparable policies."""
    fair = [n for n in range(len(comparison.policies)) if not comparison.not_comparable(n)]
    return [comparison.policy_names[n] for n in fair], comparison.by_policy("cumulative_cost_usd")[fair]
