"""CSV files from outside, row by row: never whole in memory, and what is wrong told by file and row."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from simulator.study.complaints import nearest

LARGEST_CSV_BYTES = 200_000_000
_MOST_TOLD = 10

TakeRow = Callable[[int, list[str]], None]
"""Takes the number of a row (the header is 1) and its cells; raises ValueError for a mistake in it."""


class TraceError(ValueError):
    """A CSV cannot be used; one line per mistake, with file and row."""


class HeaderError(ValueError):
    """The columns are not those needed."""


def read_rows(path: Path, begin: Callable[[list[str]], TakeRow]) -> int:
    """Hand every row that is not blank to what `begin` makes of the header; gives back how many rows there were.

    Raises
    ------
    TraceError
        With the first mistakes, each with file and row.
    """
    if not path.is_file():
        raise TraceError(f"{path}: there is no such file")
    if path.stat().st_size > LARGEST_CSV_BYTES:
        raise TraceError(f"{path}: is larger than {LARGEST_CSV_BYTES // 10**6} MB, the largest trace that is read")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _taken(path, csv.reader(file), begin)
    except UnicodeDecodeError:
        raise TraceError(f"{path}: is not UTF-8 text") from None
    except csv.Error as error:
        raise TraceError(f"{path}: is not CSV: {error}") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None


def _taken(path: Path, rows: Iterator[list[str]], begin: Callable[[list[str]], TakeRow]) -> int:
    header = [name.strip() for name in next(rows, [])]
    try:
        take = begin(header)
    except HeaderError as error:
        raise TraceError(f"{path}:1: {error}") from None
    wrong: list[str] = []
    n_rows = 0
    for number, row in enumerate(rows, start=2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        n_rows += 1
        try:
            if len(cells) != len(header):
                raise ValueError(f"has {len(cells)} cells where the header has {len(header)}")
            take(number, cells)
        except ValueError as error:
            wrong.append(f"{path}:{number}: {error}")
            if len(wrong) == _MOST_TOLD:
                wrong.append(f"{path}: and perhaps more; the first {_MOST_TOLD} are told")
                break
    if wrong:
        raise TraceError("\n".join(wrong))
    return n_rows


def place(header: list[str], needed: str) -> int:
    """Where a column stands in the header."""
    if needed not in header:
        mean = nearest(needed, header)
        hint = f"; did you mean {mean!r}?" if mean else ""
        raise HeaderError(f"has no column {needed!r}; it has {', '.join(header)[:200] or 'none'}{hint}")
    return header.index(needed)


def day_said(text: str, column: str) -> date:
    """The day that a cell names."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{column}: must be a day like 2026-06-01 (got {text!r})") from None


def number(text: str, column: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{column}: must be a number (got {text!r})") from None
    if not math.isfinite(value):
        raise ValueError(f"{column}: must be a finite number (got {text})")
    return value


def amount(text: str, column: str) -> float:
    """A finite number that is not negative."""
    value = number(text, column)
    if value < 0:
        raise ValueError(f"{column}: must not be negative (got {text})")
    return value
