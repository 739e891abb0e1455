"""How good a forecast would have been: fitted to what was known by a day, simulated on, and scored on what came."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from math import exp, log
from pathlib import Path

import numpy as np

from simulator.laws.units import FloatArray
from simulator.study.csv_rows import TraceError
from simulator.study.daily import QUANTILES
from simulator.world.scenario import MOST_DAYS

POINTS, BAND = "backtest.csv", "band.csv"
MOST_LOG_GROWTH = log(1e15)
"""A year, up or down: no fit is carried on beyond it."""
_LEAST, _MOST = 1e-9, 1e24
"""What a value may be; anything else is a slip of the pen."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Record:
    """A dated record cut in two: what the fit may see, and what it is scored on."""

    name: str
    what: str
    """What a value is, with its unit."""
    known_days: tuple[date, ...]
    known: tuple[float, ...]
    held_out_days: tuple[date, ...]
    held_out: tuple[float, ...]

    @property
    def cut(self) -> date:
        """The last day the fit may see."""
        return self.known_days[-1]


@dataclass(frozen=True, slots=True)
class ScoredPoint:
    """One held-out value beside what was simulated for its day."""

    day: date
    value: float
    p05: float
    p25: float
    p50: float
    p75: float
    p95: float
    last_value: float
    """The naive forecast: the last value known."""

    @property
    def is_inside_50(self) -> bool:
        """Whether it lies in the middle half of the worlds."""
        return _between(self.p25, self.value, self.p75)

    @property
    def is_inside_90(self) -> bool:
        """Whether it lies in the middle 90 % of the worlds."""
        return _between(self.p05, self.value, self.p95)


@dataclass(frozen=True, slots=True)
class Score:
    """A back-test in one record."""

    record: str
    what: str
    until: date
    n_known: int
    fitted: tuple[str, ...]
    worlds: int
    n_points: int
    inside_50: int
    inside_90: int
    typical_factor: float
    naive_factor: float
    points: tuple[ScoredPoint, ...]


@dataclass(frozen=True, slots=True)
class Backtest:
    """The score of one record; quantiles are over worlds."""

    record: Record
    fitted: tuple[str, ...]
    """What was fitted, in words."""
    worlds: int
    band_first_day: date
    band: FloatArray
    """[quantile, day]"""
    points: tuple[ScoredPoint, ...]

    @property
    def inside_50(self) -> int:
        """Held-out points inside the band that half of the worlds are in."""
        return sum(point.is_inside_50 for point in self.points)

    @property
    def inside_90(self) -> int:
        """Held-out points inside the band that 90 % of the worlds are in."""
        return sum(point.is_inside_90 for point in self.points)

    @property
    def typical_factor(self) -> float:
        """Factor by which the median world is off, either way: exp of the mean size of the log of their ratio."""
        return _factor([point.p50 for point in self.points], self.record.held_out)

    @property
    def naive_factor(self) -> float:
        """The same of the last value known, had it been held for ever."""
        return _factor([point.last_value for point in self.points], self.record.held_out)

    @property
    def score(self) -> Score:
        """All of it but the band and what was known."""
        return Score(
            self.record.name,
            self.record.what,
            self.record.cut,
            len(self.record.known),
            self.fitted,
            self.worlds,
            len(self.points),
            self.inside_50,
            self.inside_90,
            self.typical_factor,
            self.naive_factor,
            self.points,
        )


def cut_record(name: str, what: str, days: Sequence[date], values: Sequence[float], until: date, least: int) -> Record:
    """Cut a record after a day.

    Raises
    ------
    TraceError
        If fewer than `least` values are known by then, or none comes after; if values or days are beyond all reason.
    """
    for day, value in zip(days, values, strict=True):
        if not _LEAST <= value <= _MOST:
            raise TraceError(f"{name}: {day}: must be from {_LEAST:g} to {_MOST:g} (got {value:g})")
    n = sum(day <= until for day in days)
    if n < least:
        known = f"{days[0]} to {days[-1]}, {len(days)} values"
        raise TraceError(f"{name}: --until {until}: leaves {n} values to fit, it takes {least} (the record: {known})")
    if n == len(days):
        raise TraceError(f"{name}: --until {until}: leaves nothing to score: the record ends on {days[-1]}")
    if (days[-1] - days[n - 1]).days >= MOST_DAYS:
        raise TraceError(f"{name}: goes on until {days[-1]}, more than {MOST_DAYS} days after {days[n - 1]}")
    return Record(name, what, tuple(days[:n]), tuple(values[:n]), tuple(days[n:]), tuple(values[n:]))


def scored(record: Record, fitted: tuple[str, ...], first_day: date, paths: FloatArray) -> Backtest:
    """Score the held-out values of a record on simulated paths that begin on a day [world, day].

    Raises
    ------
    TraceError
        If the paths leave the range of numbers: what is known moves too much to be carried on.
    """
    if not np.isfinite(paths).all() or not (paths > 0.0).all():
        raise TraceError(
            f"{record.name}: moves too much up to {record.cut} to be carried on to {record.held_out_days[-1]}"
        )
    band: FloatArray = np.quantile(paths, QUANTILES, axis=0)

    def point(day: date, value: float) -> ScoredPoint:
        p05, p25, p50, p75, p95 = band[:, (day - first_day).days].tolist()
        return ScoredPoint(day, value, p05, p25, p50, p75, p95, record.known[-1])

    points = tuple(point(*held_out) for held_out in zip(record.held_out_days, record.held_out, strict=True))
    return Backtest(record, fitted, len(paths), first_day, band, points)


def save_backtest(found: Backtest, folder: Path) -> None:
    """Write the points and the band to an empty folder."""
    names = [field.name for field in fields(ScoredPoint)]
    with (folder / POINTS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, "is_inside_50", "is_inside_90"])
        writer.writerows([*astuple(point), point.is_inside_50, point.is_inside_90] for point in found.points)
    with (folder / BAND).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["date", *names[2:7]])
        days = np.datetime64(found.band_first_day) + np.arange(found.band.shape[1])
        writer.writerows([str(day), *row] for day, row in zip(days, found.band.T.tolist(), strict=True))


def _between(low: float, value: float, high: float) -> bool:
    """Also where they are equal but for rounding, as of a price that never moves."""
    return low * (1.0 - _ROUNDING) <= value <= high * (1.0 + _ROUNDING)


def _factor(forecasts: Sequence[float], values: Sequence[float]) -> float:
    return exp(float(np.mean([abs(log(said / came)) for said, came in zip(forecasts, values, strict=True)])))
