"""Token use by whole day and hour, as the fit needs it, and what of a trace could not be used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_DAY, SECONDS_PER_HOUR, FloatArray, IntArray
from simulator.study.csv_rows import TraceError
from simulator.study.usage_csv import USUAL, Columns, Kind, UsageRows, read_usage

_LEAST_TOKENS, _MOST_TOKENS = 1e3, 1e18
"""Tokens on a day: less than one page of text, and a thousand times what the largest providers report."""
_EDGE_GAPS = 10.0
"""Requests begin within so many mean gaps of midnight on a day that was recorded whole."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens on consecutive whole days, and in their hours where the rows are fine enough.

    `hours` is [day, hour], with no columns if the rows are coarser than an hour. `prompt` and `completion` are by
    day, or by request; empty if the trace has only their total [tokens].
    """

    path: Path
    kind: Kind
    is_dated: bool
    first_day: date
    tokens: FloatArray
    hours: FloatArray
    prompt: FloatArray
    completion: FloatArray
    notes: tuple[str, ...]

    @property
    def last_day(self) -> date:
        """The last whole day."""
        return self.first_day + timedelta(days=self.tokens.size - 1)


def load_usage(
    path: Path,
    columns: Columns = USUAL,
    *,
    first_day: date | None = None,
    since: date | None = None,
    until: date | None = None,
) -> Usage:
    """Read a trace and gather it by whole day; `since` and `until` choose days.

    Raises
    ------
    TraceError
        With the first mistakes, each with file and row.
    """
    rows = read_usage(path, columns, first_day)
    day = np.floor(rows.seconds / SECONDS_PER_DAY).astype(np.int64)
    first, last = _whole_days(rows, day)
    notes = _left_out(rows, day, first, last)
    chosen_first, chosen_last = _chosen(rows, day, since, until)
    first, last = max(first, chosen_first), min(last, chosen_last)
    used = (day >= chosen_first) & (day <= chosen_last)
    tokens, hours = _by_day(rows, day, first, last)
    _check_days(rows, day, first, tokens)
    prompt, completion = (_by_item(rows, day, used, counts) for counts in (rows.prompt, rows.completion))
    day_one = rows.first_day + timedelta(days=first)
    return Usage(path, rows.kind, rows.is_dated, day_one, tokens, hours, prompt, completion, notes)


def _whole_days(rows: UsageRows, day: IntArray) -> tuple[int, int]:
    """The first and the last day that were recorded from midnight to midnight; none: the last is before the first."""
    first, last = int(day[0]), int(day[-1])
    if rows.kind is Kind.DAY:
        return first, last
    if rows.kind is Kind.STEP:
        gap = rows.step_seconds
    else:
        gap = _EDGE_GAPS * float(rows.seconds[-1] - rows.seconds[0]) / max(rows.seconds.size - 1, 1)
    late = float(rows.seconds[0]) - first * SECONDS_PER_DAY
    early = (last + 1) * SECONDS_PER_DAY - float(rows.seconds[-1])
    is_step = rows.kind is Kind.STEP
    return first + (late >= gap if is_step else late > gap), last - (early > gap + (1e-3 if is_step else 0.0))


def _left_out(rows: UsageRows, day: IntArray, first: int, last: int) -> tuple[str, ...]:
    """What is said of days that were not recorded whole."""
    partial = sorted({int(day[0]), int(day[-1])} - set(range(first, last + 1)))
    if not partial:
        return ()
    said = " and ".join(_name(rows, number) for number in partial)
    return (f"{said}: not recorded from midnight to midnight, so left out of the fit by day and hour",)


def _name(rows: UsageRows, day: int) -> str:
    return str(rows.first_day + timedelta(days=day)) if rows.is_dated else f"day {day}"


def _chosen(rows: UsageRows, day: IntArray, since: date | None, until: date | None) -> tuple[int, int]:
    """The days from --from to --to, which must be days of the trace."""
    first, last = int(day[0]), int(day[-1])
    found = []
    for option, when, default in (("--from", since, first), ("--to", until, last)):
        if when is None:
            found.append(default)
            continue
        if not rows.is_dated:
            raise TraceError(f"{rows.path}:{rows.number[0]}: {option}: the rows have no dates; give --first-day")
        number = (when - rows.first_day).days
        if not first <= number <= last:
            row = rows.number[0] if number < first else rows.number[-1]
            span = f"{_name(rows, first)} (row {rows.number[0]}) to {_name(rows, last)} (row {rows.number[-1]})"
            raise TraceError(f"{rows.path}:{row}: {option}: must be a day of the trace, {span} (got {when})")
        found.append(number)
    if found[1] < found[0]:
        raise TraceError(f"{rows.path}:{rows.number[0]}: --to: must not be before --from (got {until})")
    return found[0], found[1]


def _by_day(rows: UsageRows, day: IntArray, first: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Tokens by whole day, and by its hours where a step is an hour or a part of one."""
    n_days, n_hours = max(last - first + 1, 0), int(HOURS_PER_DAY)
    used = (day >= first) & (day <= last)
    is_fine = rows.kind is Kind.REQUEST or (rows.kind is Kind.STEP and SECONDS_PER_HOUR % rows.step_seconds == 0.0)
    if n_days == 0 or not is_fine:
        tokens = _sums(day[used] - first, rows.tokens[used], n_days) if n_days else np.zeros(0)
        return tokens, np.zeros((n_days, 0))
    hour = np.floor(rows.seconds[used] / SECONDS_PER_HOUR).astype(np.int64) - first * n_hours
    hours = _sums(hour, rows.tokens[used], n_days * n_hours).reshape(n_days, n_hours)
    return hours.sum(axis=1), hours


def _by_item(rows: UsageRows, day: IntArray, used: npt.NDArray[np.bool_], counts: FloatArray) -> FloatArray:
    """Prompt or completion tokens of each request, or of each day; nothing if the trace has their total only."""
    if counts.size == 0 or rows.kind is not Kind.STEP:
        return counts[used] if counts.size else counts
    return _sums(day[used] - day[used].min(), counts[used], 0)


def _sums(at: IntArray, values: FloatArray, n: int) -> FloatArray:
    """Sums of the values that fall in each of `n` places, or in as many as there are."""
    return np.bincount(at, values, n).astype(np.float64)


def _check_days(rows: UsageRows, day: IntArray, first: int, tokens: FloatArray) -> None:
    """A day without tokens has no log, and a handful of them is another unit."""
    wrong = np.flatnonzero((tokens < _LEAST_TOKENS) | (tokens > _MOST_TOKENS))
    if wrong.size:
        told = []
        for at in wrong[:10].tolist():
            row = rows.number[min(int(np.searchsorted(day, first + at)), day.size - 1)]
            rule = f"a day must have {_LEAST_TOKENS:g} to {_MOST_TOKENS:g} tokens: is the unit another one?"
            told.append(f"{rows.path}:{row}: {_name(rows, first + at)}: {rule} (got {tokens[at]:g})")
        raise TraceError("\n".join(told))
