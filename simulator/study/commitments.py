"""What contracts still oblige a lab to pay: by day of looking, and by the year it is due."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.lab.lab import Run
from simulator.lab.orders import OrderRecord, Tenure
from simulator.laws.units import FloatArray, IntArray
from simulator.world.calendar import Calendar

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


@dataclass(frozen=True, slots=True)
class Payments:
    """What one contract has to pay, and when."""

    day: IntArray
    usd: FloatArray


def payments(order: OrderRecord) -> Payments:
    """A lease is paid evenly over the days of its term, GPUs on the day they come; a sale is settled at once."""
    if order.tenure is not Tenure.RESERVED:
        return Payments(np.array([order.first_day]), np.array([order.usd]))
    days = np.arange(order.first_day, order.last_day)
    return Payments(days, np.full(days.size, order.usd / days.size))


def commitment_rows(run: Run) -> list[CommitmentRow]:
    """What one run has still to pay on the first of January of every year it lives, and on its last day."""
    calendar, replication = run.world.calendar, run.world.replication
    return [
        CommitmentRow(run.policy, replication, calendar.date_of(day), year, usd)
        for day, year, usd in commitments(run.orders, calendar.start, _looking_days(calendar))
    ]


def commitments(
    orders: Sequence[OrderRecord], start: dt.date, looking_days: Sequence[int]
) -> list[tuple[int, int, float]]:
    """Day of looking, calendar year, and what falls due in it after that day of what was signed by its evening [USD].

    Years in which nothing is due are left out.
    """
    if not orders:
        return []
    owed = [payments(order) for order in orders]
    due, usd = np.concatenate([each.day for each in owed]), np.concatenate([each.usd for each in owed])
    signed = np.repeat([order.day for order in orders], [each.day.size for each in owed])
    years = (np.datetime64(start) + due).astype("datetime64[Y]").astype(np.int64)
    first = int(years.min())
    rows = []
    for day in looking_days:
        left = (signed <= day) & (due > day)
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
