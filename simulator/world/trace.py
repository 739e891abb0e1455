"""A recorded demand: replayed on its days, and what the days before and after it take from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
from pydantic import Field

from simulator.laws.units import DAYS_PER_WEEK, FloatArray
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice
from simulator.world.inputs import Inputs, NotNegative, WholeDays

_LEAST_DAYS = 2
"""Recorded days a line through them needs."""


class Trace(Inputs):
    """Recorded daily tokens. Days before it and after it follow the level at its two ends."""

    csv: str = Field("", description="the file it was read from, relative to the scenario file")
    column: str = Field("total_tokens", description="the column of the file that holds tokens a day")
    first_day: date | None = Field(None, description="date of the first recorded day (filled from the file)")
    tokens: tuple[NotNegative, ...] = Field((), description="tokens on each recorded day (filled from the file)")
    bootstrap_block_days: WholeDays = Field(
        0,
        description="noise after the record is drawn from the record's own, in blocks of so many days; "
        "0: noise as declared [days]",
    )


@dataclass(frozen=True, slots=True)
class Record:
    """A trace laid on a calendar; arrays by index of the calendar."""

    tokens: FloatArray
    """Recorded tokens, 0 on days without a record."""
    free: FloatArray
    """1 on days without a record, 0 on those with one."""
    scale: FloatArray
    """What the declared path must be multiplied by to meet the nearest week of the record."""
    end: int
    """Index after the last recorded day."""
    noise: FloatArray
    """Logs of the recorded days around their line and weekdays, mean zero, if noise is drawn from them."""

    @property
    def is_bootstrapped(self) -> bool:
        """Whether noise after the record is drawn from it."""
        return self.noise.size > 0


def record_of(trace: Trace, calendar: Calendar, declared: FloatArray, weekday: FloatArray) -> Record:
    """Lay a trace on a calendar.

    Parameters
    ----------
    trace
        With its tokens.
    calendar
        The days of the world; the record may reach beyond them.
    declared, weekday
        The declared path and its weekday factors, on the days of the trace.
    """
    recorded = np.asarray(trace.tokens)
    if trace.first_day is None or recorded.size == 0:
        raise ValueError("a trace needs its first day and its tokens: load it from its file first")
    logs = np.log(np.maximum(recorded, 1.0))
    offset, week = logs - np.log(declared), min(DAYS_PER_WEEK, recorded.size)
    index = calendar.day_of(trace.first_day) + calendar.history_days + np.arange(recorded.size)
    first, end = max(int(index[0]), 0), max(int(index[-1]) + 1, 0)
    scale, tokens, free = np.ones(calendar.n_days), np.zeros(calendar.n_days), np.ones(calendar.n_days)
    scale[:first] = np.exp(offset[:week].mean())
    scale[end:] = np.exp(offset[-week:].mean())
    seen = (index >= 0) & (index < calendar.n_days)
    tokens[index[seen]] = recorded[seen]
    free[index[seen]] = 0.0
    noise = _around_its_line(logs - np.log(weekday)) if trace.bootstrap_block_days else np.empty(0)
    return Record(tokens, free, scale, end, noise)


def _around_its_line(logs: FloatArray) -> FloatArray:
    if logs.size <= _LEAST_DAYS:
        return np.zeros(logs.size)
    days = np.arange(float(logs.size)) - (logs.size - 1) / 2.0
    around: FloatArray = logs - logs.mean() - days * (days @ logs / (days @ days))
    return around


def bootstrapped(record: Record, block_days: int, dice: Dice, n_days: int) -> FloatArray:
    """Noise for the days after a record: blocks of its own, in random order, each as long as may be."""
    length = min(block_days, record.noise.size)
    starts = dice.stream("demand.bootstrap").integers(0, record.noise.size - length + 1, -(-n_days // length))
    return record.noise[(starts[:, None] + np.arange(length)).reshape(-1)[:n_days]]
