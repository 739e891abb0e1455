"""What contracts still oblige a lab to pay: by day of looking, and by the year it is due."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.lab.lab import Run
from simulator.lab.orders import Lease, Purchase
from simulator.lab.payments import payments
from simulator.laws.units import FloatArray, IntArray
from simulator.world.calendar import Calendar
from simulator.world.ownership import OwnershipInputs

Signed = tuple[int, Purchase | Lease]
"""A contract, and the day it was agreed."""

_CENT = 0.005


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
    even = [(day, bound) for day, bound in signed if isinstance(bound, Lease) and not bound.upfront_share]
    owed = [(day, payments(own, bound)) for day, bound in signed if not isinstance(bound, Lease) or bound.upfront_share]
    last = max(max((bound.end_day for _, bound in even), default=0), *(int(each.day.max()) for _, each in owed), 0)
    years = range(start.year, (start + dt.timedelta(days=last)).year + 1)
    ends = np.array([(dt.date(year + 1, 1, 1) - start).days for year in years])
    due = _by_year_of_leases(even, looking_days, ends)
    for since, each in owed:
        year = ends.searchsorted(each.day, side="right")
        for row, day in zip(due, looking_days, strict=True):
            if since <= day:
                left = each.day > day
                row += np.bincount(year[left], each.usd[left], minlength=ends.size)
    return [
        (day, years[at], float(due[row, at]))
        for row, day in enumerate(looking_days)
        for at in np.flatnonzero(due[row] > _CENT).tolist()
    ]


def _by_year_of_leases(leases: Sequence[Signed], looking_days: Sequence[int], year_ends: IntArray) -> FloatArray:
    """What leases paid day by day still cost [day of looking, year ending on the morning of `year_ends`] in USD."""
    since, first, end, usd = (
        np.array(column, dtype=np.float64)[:, np.newaxis, np.newaxis]
        for column in (
            [day for day, _ in leases],
            [bound.first_day for _, bound in leases],
            [bound.end_day for _, bound in leases],
            [bound.usd_per_day for _, bound in leases if isinstance(bound, Lease)],
        )
    )
    look, starts = np.array(looking_days)[:, np.newaxis], np.concatenate(([-np.inf], year_ends[:-1]))
    from_day = np.maximum(np.maximum(first, look + 1), np.maximum(starts, 0))
    days = np.maximum(np.minimum(end, year_ends) - from_day, 0.0)
    due: FloatArray = (usd * days * (since <= look)).sum(axis=0)
    return due


def _looking_days(calendar: Calendar) -> list[int]:
    last = calendar.horizon_days - 1
    years = range(calendar.start.year, calendar.date_of(last).year + 1)
    news = (calendar.day_of(dt.date(year, 1, 1)) for year in years)
    return sorted({day for day in news if 0 <= day <= last} | {last})
