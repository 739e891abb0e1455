"""A recorded demand, day by day, read from a CSV file; any doubt about a row is told, none is mended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from simulator.study.csv_rows import TakeRow, TraceError, amount, day_said, place, read_rows

__all__ = ["Recorded", "TraceError", "next_day", "read_trace"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Tokens on consecutive days from `first_day` on."""

    first_day: date
    tokens: tuple[float, ...]


def read_trace(path: Path, column: str) -> Recorded:
    """Read the `date` column (ISO) and the column of tokens a day; rows must be consecutive days."""
    days: list[date] = []
    tokens: list[float] = []

    def begin(header: list[str]) -> TakeRow:
        at_date, at_tokens = place(header, "date"), place(header, column)

        def take(_: int, row: list[str]) -> None:
            days.append(next_day(row[at_date], days))
            tokens.append(amount(row[at_tokens], column))

        return take

    read_rows(path, begin)
    if not days:
        raise TraceError(f"{path}: is empty: it needs a row per day")
    return Recorded(days[0], tuple(tokens))


def next_day(text: str, earlier: list[date]) -> date:
    """The day a cell names, which must follow the last of the earlier ones."""
    day = day_said(text, "date")
    if not earlier or (day - earlier[-1]).days == 1:
        return day
    before = earlier[-1]
    earlier.append(day)  # so that the rows after this one are judged by it
    if day == before:
        raise ValueError(f"date: a day may come once (got {day} again)")
    if day < before:
        raise ValueError(f"date: days must be in order (got {day} after {before})")
    raise ValueError(f"date: no day may be left out (got {day} after {before}: {(day - before).days - 1} missing)")
