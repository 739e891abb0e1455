"""Recorded prices of one kind of GPU, read from a CSV file; any doubt about a row is told, none is mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path

from simulator.study.complaints import nearest
from simulator.study.csv_rows import TakeRow, TraceError, day_said, number, place, read_rows

_MOST_KEPT = 10_000
"""Values of a column remembered, to be told if none of them was asked for."""
_MOST_SAID = 20


@dataclass(frozen=True, slots=True)
class RecordedPrices:
    """Prices on days in order, by column asked for [column][day]."""

    days: tuple[date, ...]
    usd: tuple[tuple[float, ...], ...]


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    days: list[date] = field(default_factory=list)
    prices: list[tuple[float, ...]] = field(default_factory=list)
    last_said: date | None = None


def read_prices(path: Path, date_column: str, columns: Sequence[str], where: Mapping[str, str]) -> RecordedPrices:
    """Read the days and the price columns of the rows in which each column of `where` has its value.

    Days must be in order. A day may be said again only if its prices are the same; gaps are fine.

    Raises
    ------
    TraceError
        With the first mistakes, each with file and row.
    """
    read = _Reading()
    values: dict[str, dict[str, None]] = {name: {} for name in where}

    def begin(header: list[str]) -> TakeRow:
        at_date, at_prices = place(header, date_column), [place(header, column) for column in columns]
        wanted = [(name, place(header, name), value) for name, value in where.items()]

        def take(_: int, row: list[str]) -> None:
            for name, at, _value in wanted:
                if len(values[name]) < _MOST_KEPT:
                    values[name][row[at]] = None
            if all(row[at] == value for _name, at, value in wanted):
                day = _day(row[at_date], date_column, read)
                usd = tuple(_price(row[at], column) for at, column in zip(at_prices, columns, strict=True))
                _add(day, usd, date_column, read)

        return take

    n_rows = read_rows(path, begin)
    if not n_rows:
        raise TraceError(f"{path}: is empty: it needs a row per price")
    if not read.days:
        raise TraceError(f"{path}: {_none_left(where, values)}")
    return RecordedPrices(tuple(read.days), tuple(zip(*read.prices, strict=True)))


def _day(text: str, column: str, read: _Reading) -> date:
    day = day_said(text, column)
    before, read.last_said = read.last_said, day  # the rows after this one are judged by it, right or wrong
    if before is not None and day < before:
        raise ValueError(f"{column}: days must be in order (got {day} after {before}); does `where` mix products?")
    return day


def _price(text: str, column: str) -> float:
    usd = number(text, column)
    if usd <= 0.0:
        raise ValueError(f"{column}: must be greater than 0 (got {text})")
    return usd


def _add(day: date, usd: tuple[float, ...], date_column: str, read: _Reading) -> None:
    if not read.days or read.days[-1] != day:
        read.days.append(day)
        read.prices.append(usd)
    elif read.prices[-1] != usd:
        raise ValueError(f"{date_column}: a day has one price (got {day} again); does `where` mix products?")


def _none_left(where: Mapping[str, str], values: Mapping[str, Mapping[str, None]]) -> str:
    """No row is what was asked for: what there is instead, column by column."""
    asked = " and ".join(f"{name} = {value!r}" for name, value in where.items())
    there = []
    for name, value in where.items():
        found = [repr(seen) for seen in islice(values[name], _MOST_SAID)]
        more = ", ..." if len(values[name]) > _MOST_SAID else ""
        mean = None if value in values[name] else nearest(value, values[name])
        there.append(f"{name} is {', '.join(found)}{more}{f' (did you mean {mean!r}?)' if mean else ''}")
    return f"has no row where {asked}; {'; '.join(there)}"
