"""A record of token use, read from a CSV: a row per day, per even step of time, or per request.

What the rows are is seen from the columns and the times. Any doubt about a row is told with its number; none is
mended.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from pathlib import Path

import numpy as np

from simulator.laws.units import SECONDS_PER_DAY, SECONDS_PER_MINUTE, TOKENS_PER_WORD, FloatArray, IntArray
from simulator.study.csv_rows import HeaderError, TakeRow, TraceError, amount, place, read_rows
from simulator.study.trace_csv import next_day
from simulator.world.scenario import MOST_DAYS

_TIMES = ("date", "day", "t_seconds", "timestamp", "datetime", "time")
_DAYS = ("date", "day")
"""Columns whose cells are dates, whatever they look like."""
_YEARS = (1970, 2200)
_TOTALS = ("total_tokens", "tokens")
_PROMPTS = ("prompt_tokens", "input_tokens", "input_tokens_est", "context_tokens")
_COMPLETIONS = ("completion_tokens", "output_tokens", "output_tokens_est", "generated_tokens")
_UNIT_COLUMNS = ("unit", "units")
_PER_DAY = ("", " per day", " a day", "/day")
_EVEN_PART = 0.8
"""Of the steps between rows: where so many are alike, the others are mistakes, and no requests."""
_GRID_SECONDS = 600.0
"""Times that all lie so far apart, and on multiples of the least step, are no requests but steps with gaps."""
_UNIX_FROM, _UNIX_TO = 1e9, 1e10
"""Seconds since 1970 in the years 2001 to 2286; smaller numbers count from the start of the trace."""
UNDATED = date(2001, 1, 1)
"""Stands for the first day of a trace that has no dates; a Monday."""


class Unit(Enum):
    """What a cell counts; the value is how many tokens one is."""

    TOKENS = 1.0
    WORDS = TOKENS_PER_WORD


class Kind(Enum):
    """What a row is."""

    DAY = "a day"
    STEP = "a step of time"
    REQUEST = "a request"


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns, where they are not the usual ones, and the unit of what they count."""

    time: str | None = None
    tokens: str | None = None
    prompt: str | None = None
    completion: str | None = None
    unit: Unit = Unit.TOKENS


USUAL = Columns()
"""Columns by their usual names, in tokens."""


@dataclass(frozen=True, slots=True)
class UsageRows:
    """The rows in order of time; `seconds` count from the midnight at which `first_day` begins.

    `prompt` and `completion` are empty where the trace has only their total [tokens]; `number` is the row in the
    file; `step_seconds` is NaN for requests.
    """

    path: Path
    kind: Kind
    is_dated: bool
    first_day: date
    step_seconds: float
    seconds: FloatArray
    tokens: FloatArray
    prompt: FloatArray
    completion: FloatArray
    number: IntArray


def read_usage(path: Path, columns: Columns = USUAL, first_day: date | None = None) -> UsageRows:
    """Read a trace; `first_day` is the date of second 0 where times are seconds from the start.

    Raises
    ------
    TraceError
        With the first mistakes, each with file and row.
    """
    reader = _Reader(columns)
    if read_rows(path, reader.begin) == 0:
        raise TraceError(f"{path}:1: is empty: there is no row below the header")
    is_dated = reader.origin is not None
    if is_dated and first_day is not None:
        raise TraceError(f"{path}:2: --first-day: the rows have dates of their own (got {first_day})")
    origin = reader.origin or first_day or UNDATED
    rows = UsageRows(
        path=path,
        kind=Kind.DAY,
        is_dated=is_dated or first_day is not None,
        first_day=origin,
        step_seconds=SECONDS_PER_DAY,
        seconds=np.array(reader.seconds),
        tokens=np.array(reader.tokens),
        prompt=np.array(reader.prompt),
        completion=np.array(reader.completion),
        number=np.array(reader.numbers),
    )
    if rows.seconds.max() >= MOST_DAYS * SECONDS_PER_DAY:
        at = int(np.argmax(rows.seconds >= MOST_DAYS * SECONDS_PER_DAY))
        raise TraceError(f"{path}:{rows.number[at]}: time: must be within {MOST_DAYS} days of the first")
    return rows if reader.days else _told_apart(rows)


class _Reader:
    """Takes rows; what kind of time they have is seen from the first."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.days: list[date] = []
        self.origin: date | None = None
        self._is_zoned: bool | None = None
        self._parse: Callable[[str], float] | None = None
        self.seconds, self.tokens = array("d"), array("d")
        self.prompt, self.completion, self.numbers = array("d"), array("d"), array("q")

    def begin(self, header: list[str]) -> TakeRow:
        """Find the columns."""
        wanted = self._columns
        at_time = _found(header, wanted.time, _TIMES, "time", "--time")
        at_counts = _counts(header, wanted)
        at_unit = next((header.index(name) for name in header if name.lower() in _UNIT_COLUMNS), None)
        per_token = wanted.unit.value

        def take(number: int, row: list[str]) -> None:
            if at_unit is not None:
                _check_unit(row[at_unit], wanted.unit)
            seconds = self._time(row[at_time], header[at_time])
            counts = [_count(row[at], header[at]) * per_token for at in at_counts]
            self.seconds.append(seconds)
            self.tokens.append(sum(counts))
            self.numbers.append(number)
            if len(counts) == 2:
                self.prompt.append(counts[0])
                self.completion.append(counts[1])

        return take

    def _time(self, text: str, column: str) -> float:
        """Seconds from the midnight before the first row, or from second 0."""
        if self._parse is None:
            self._parse = self._parser(text, column)
        return self._parse(text)

    def _parser(self, text: str, column: str) -> Callable[[str], float]:
        if _is_date(text) or column.lower() in _DAYS:
            return self._day
        try:
            first = float(text)
        except ValueError:
            return lambda text: self._moment(_stamp(text, column))
        if first >= _UNIX_FROM:
            return lambda text: self._moment(datetime.fromtimestamp(_seconds(text, column), UTC))
        return lambda text: _seconds(text, column)

    def _day(self, text: str) -> float:
        day = next_day(text, self.days)
        self.days.append(day)
        self.origin = self.origin or _sensible(day)
        return (day - self.origin).days * SECONDS_PER_DAY

    def _moment(self, when: datetime) -> float:
        if self._is_zoned is None:
            self._is_zoned = when.tzinfo is not None
        if self._is_zoned != (when.tzinfo is not None):
            raise ValueError(f"time: either every row or none must have a time zone (got {when.isoformat()})")
        naive = when.replace(tzinfo=None) - (when.utcoffset() or timedelta())
        self.origin = self.origin or _sensible(naive.date())
        midnight = datetime.combine(self.origin, datetime.min.time())
        return (naive - midnight) / timedelta(seconds=1)


def _sensible(day: date) -> date:
    if not _YEARS[0] <= day.year <= _YEARS[1]:
        raise ValueError(f"time: the first day must be in the years {_YEARS[0]} to {_YEARS[1]} (got {day})")
    return day


def _seconds(text: str, column: str) -> float:
    value = amount(text, column)
    if value >= _UNIX_TO:
        raise ValueError(f"{column}: must be in seconds (got {text})")
    return value


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text


def _stamp(text: str, column: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        rule = "must be a day like 2026-06-01, a time like 2026-06-01T13:00:00, or seconds from the start"
        raise ValueError(f"{column}: {rule} (got {text!r})") from None


def _found(header: list[str], wanted: str | None, known: tuple[str, ...], what: str, option: str) -> int:
    """Where the column stands that is named, or has one of the usual names."""
    if wanted is not None:
        return place(header, wanted)
    at = _usual(header, known)
    if at is None:
        have = ", ".join(header)[:200] or "none"
        raise HeaderError(f"has no column of {what} ({', '.join(known)}); it has {have}; name it with {option}")
    return at


def _usual(header: list[str], known: tuple[str, ...]) -> int | None:
    """The first usual name there is; ContextTokens is context_tokens."""
    plain = [name.lower().replace("_", "").replace(" ", "") for name in header]
    return next((plain.index(name) for name in (k.replace("_", "") for k in known) if name in plain), None)


def _counts(header: list[str], wanted: Columns) -> list[int]:
    """The columns of prompt and completion tokens, or that of their total."""
    if wanted.prompt is None and wanted.completion is None:
        pair = _usual(header, _PROMPTS), _usual(header, _COMPLETIONS)
        if wanted.tokens is not None or None in pair:
            return [_found(header, wanted.tokens, _TOTALS, "tokens", "--tokens, or --prompt and --completion")]
    elif wanted.tokens is not None:
        raise HeaderError("has its tokens named twice: give --tokens, or --prompt and --completion")
    return [
        _found(header, wanted.prompt, _PROMPTS, "prompt tokens", "--prompt"),
        _found(header, wanted.completion, _COMPLETIONS, "completion tokens", "--completion"),
    ]


def _count(text: str, column: str) -> float:
    """A number of tokens; 4.4T is somebody's shorthand, and is not guessed at."""
    if text[-1:].isalpha() and text[:-1].replace(".", "", 1).isdigit():
        raise ValueError(f"{column}: must be a plain number, without a letter for thousands or millions (got {text!r})")
    return amount(text, column)


def _check_unit(text: str, unit: Unit) -> None:
    name = unit.name.lower()
    if text.lower() not in {name + rate for rate in _PER_DAY}:
        other = "" if unit is Unit.WORDS or not text.lower().startswith("words") else "; --unit words converts words"
        raise ValueError(f"unit: must be {name}, per row or per day (got {text!r}){other}")


def _told_apart(rows: UsageRows) -> UsageRows:
    """Rows at an even step, or requests; a break in the step, or in the order, is a mistake."""
    steps = np.diff(rows.seconds)
    forward = steps[steps > 0.0]
    step, least = (float(np.median(forward)), float(forward.min())) if forward.size else (math.nan, math.nan)
    if least >= _GRID_SECONDS and np.allclose(np.round(forward / least), forward / least, rtol=0.0, atol=1e-6):
        step = least
    is_off = ~np.isclose(steps, step, rtol=0.0, atol=1e-3)
    is_even = step >= SECONDS_PER_MINUTE and (step == least >= _GRID_SECONDS or is_off.mean() <= 1.0 - _EVEN_PART)
    wrong = np.flatnonzero(is_off if is_even else steps < 0.0)
    if wrong.size:
        told = [f"{rows.path}:{rows.number[at + 1]}: {_off(steps[at], step)}" for at in wrong[:10].tolist()]
        raise TraceError("\n".join(told))
    if not is_even:
        return replace(rows, kind=Kind.REQUEST, step_seconds=math.nan)
    if SECONDS_PER_DAY % step:
        rule = "must come at a step that divides a day, such as 10 minutes or an hour"
        raise TraceError(f"{rows.path}:{rows.number[1]}: rows {rule} (got {step:g} seconds)")
    return replace(rows, kind=Kind.DAY if step == SECONDS_PER_DAY else Kind.STEP, step_seconds=step)


def _off(found: float, step: float) -> str:
    if found == 0.0:
        return "time: a time may come once"
    if found < 0.0:
        return "time: rows must be in order of time"
    missing = round(found / step) - 1
    return f"time: no row may be left out (a step of {found:g} s where the others have {step:g} s, {missing} missing)"
