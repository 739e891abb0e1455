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
    calendar, rows = run.world.calendar, []
    for day in _looking_days(calendar):
        for year, usd in commitments(run.orders, calendar.start, day):
            rows.append(CommitmentRow(run.policy, run.world.replication, calendar.date_of(day), year, usd))
    return rows


def commitments(orders: Sequence[OrderRecord], start: dt.date, day: int) -> list[tuple[int, float]]:
    """Calendar years, and what falls due in each after `day` of contracts signed on that day or before [USD]."""
    signed = [payments(order) for order in orders if order.day <= day < max(order.first_day + 1, order.last_day)]
    if not signed:
        return []
    due, usd = (np.concatenate(parts) for parts in zip(*((each.day, each.usd) for each in signed), strict=True))
    later = due > day
    years = (np.datetime64(start) + due[later]).astype("datetime64[Y]").astype(np.int64) + _EPOCH_YEAR
    found, place = np.unique(years, return_inverse=True)
    sums = np.bincount(place, usd[later], minlength=found.size)
    return [(int(year), float(total)) for year, total in zip(found, sums, strict=True) if abs(total) > _CENT]


def _looking_days(calendar: Calendar) -> list[int]:
    last = calendar.horizon_days - 1
    years = range(calendar.start.year, calendar.date_of(last).year + 1)
    news = (calendar.day_of(dt.date(year, 1, 1)) for year in years)
    return sorted({day for day in news if 0 <= day <= last} | {last})


_EPOCH_YEAR = 1970
"""The year numpy counts from."""
