"""A recorded demand, day by day, read from a CSV file; any doubt about a row is told, none is mended."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from simulator.study.complaints import nearest

LARGEST_CSV_BYTES = 200_000_000
_MOST_TOLD = 10


class TraceError(ValueError):
    """A CSV cannot be used; one line per mistake, with file and row."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Tokens on consecutive days from `first_day` on."""

    first_day: date
    tokens: tuple[float, ...]


def read_trace(path: Path, column: str) -> Recorded:
    """Read the `date` column (ISO) and the column of tokens a day; rows must be consecutive days."""
    if not path.is_file():
        raise TraceError(f"{path}: there is no such file")
    if path.stat().st_size > LARGEST_CSV_BYTES:
        raise TraceError(f"{path}: is larger than {LARGEST_CSV_BYTES // 10**6} MB, too large for daily tokens")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _recorded(path, column, csv.reader(file))
    except UnicodeDecodeError:
        raise TraceError(f"{path}: is not UTF-8 text") from None
    except csv.Error as error:
        raise TraceError(f"{path}: is not CSV: {error}") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from None


def _recorded(path: Path, column: str, rows: Iterator[list[str]]) -> Recorded:
    header = [name.strip() for name in next(rows, [])]
    for needed in ("date", column):
        if needed not in header:
            mean = nearest(needed, header)
            hint = f"; did you mean {mean!r}?" if mean else ""
            raise TraceError(f"{path}:1: has no column {needed!r}; it has {', '.join(header)[:200] or 'none'}{hint}")
    at_date, at_tokens = header.index("date"), header.index(column)
    days: list[date] = []
    tokens: list[float] = []
    wrong: list[str] = []
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        try:
            if len(row) != len(header):
                raise ValueError(f"has {len(row)} cells where the header has {len(header)}")
            day = _day(row[at_date].strip(), days)
            days.append(day)
            tokens.append(_tokens(row[at_tokens].strip(), column))
        except ValueError as error:
            wrong.append(f"{path}:{number}: {error}")
            if len(wrong) == _MOST_TOLD:
                wrong.append(f"{path}: and perhaps more; the first {_MOST_TOLD} are told")
                break
    if wrong:
        raise TraceError("\n".join(wrong))
    if not days:
        raise TraceError(f"{path}: is empty: it needs a row per day")
    return Recorded(days[0], tuple(tokens))


def _day(text: str, earlier: list[date]) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"date: must be a day like 2026-06-01 (got {text!r})") from None
    if not earlier or day == earlier[-1] + timedelta(days=1):
        return day
    before = earlier[-1]
    earlier.append(day)  # so that the rows after this one are judged by it
    if day == before:
        raise ValueError(f"date: a day may come once (got {day} again)")
    if day < before:
        raise ValueError(f"date: days must be in order (got {day} after {before})")
    raise ValueError(f"date: no day may be left out (got {day} after {before}: {(day - before).days - 1} missing)")


def _tokens(text: str, column: str) -> float:
    try:
        tokens = float(text)
    except ValueError:
        raise ValueError(f"{column}: must be a number (got {text!r})") from None
    if not math.isfinite(tokens):
        raise ValueError(f"{column}: must be a finite number (got {text})")
    if tokens < 0:
        raise ValueError(f"{column}: must not be negative (got {text})")
    return tokens
