"""What contracts still oblige a lab to pay: by day of looking, and by the year it is due."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.lab.lab import Run
from simulator.lab.orders import Lease, Purchase
from simulator.lab.payments import payments
from simulator.world.calendar import Calendar
from simulator.world.ownership import OwnershipInputs

Signed = tuple[int, Purchase | Lease]
"""A contract, and the day it was agreed."""

_CENT = 0.005
_EPOCH_YEAR = 1970
"""The year numpy counts from."""


@dataclass(frozen=True, slots=True)
class CommitmentRow:
    """A row of commitments.csv: signed by the evening of a day, and to be paid later, in one calendar year."""

    policy: str
    replication: int
    as_of: dt.date
    due_year: int
    usd: float


def commitment_rows(run: Run) -> list[CommitmentRow]:
    """What one run has still to pay on the first of January of every year it lives, and on its last day."""
    calendar, replication, own = run.world.calendar, run.world.replication, run.world.scenario.ownership
    return [
        CommitmentRow(run.policy, replication, calendar.date_of(day), year, usd)
        for day, year, usd in commitments(own, run.signed, calendar.start, _looking_days(calendar))
    ]


def commitments(
    own: OwnershipInputs, signed: Sequence[Signed], start: dt.date, looking_days: Sequence[int]
) -> list[tuple[int, int, float]]:
    """Day of looking, calendar year, and what falls due in it after that day of what was signed by its evening [USD].

    Years in which nothing is due are left out.
    """
    if not signed:
        return []
    owed = [payments(own, bound) for _, bound in signed]
    due, usd = np.concatenate([each.day for each in owed]), np.concatenate([each.usd for each in owed])
    since = np.repeat([day for day, _ in signed], [each.day.size for each in owed])
    years = (np.datetime64(start) + due).astype("datetime64[Y]").astype(np.int64)
    first = int(years.min())
    rows = []
    for day in looking_days:
        left = (since <= day) & (due > day)
        by_year = np.bincount(years[left] - first, usd[left])
        rows += [
            (day, _EPOCH_YEAR + first + at, float(due_usd)) for at, due_usd in enumerate(by_year) if due_usd > _CENT
        ]
    return rows


def _looking_days(calendar: Calendar) -> list[int]:
    last = calendar.horizon_days - 1
    years = range(calendar.start.year, calendar.date_of(last).year + 1)
    news = (calendar.day_of(dt.date(year, 1, 1)) for year in years)
    return sorted({day for day in news if 0 <= day <= last} | {last})
