"""Patterns of the week and of the year: taken out of what is metered, and put back into what is forecast."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Belief, LastValue, Trend
from simulator.lab.observation import Observation
from simulator.lab.smoothing import DampedTrend, Theta, line_through
from simulator.laws.units import DAYS_PER_WEEK, DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.world import Meter, MeterReading

LearnedKinds = LastValue | Trend | DampedTrend | Theta

_LEAST_WEEKS = 78
"""A year and a half: below it a season and a change of growth look alike."""
_MOST_WEEKS = 208
_WEEKS_PER_YEAR = DAYS_PER_YEAR / DAYS_PER_WEEK
_BEND = 3
"""Terms of the growth a season is told apart from: a level, a slope and a bend."""


class Seasonal(Belief):
    """Another forecast with the pattern of the week, and of the year once a year and a half is metered.

    The pattern is taken out of the meter before the base learns from it, so that weekends are no noise to it; the mean
    over a week stays that of the base.
    """

    kind: Literal["seasonal"] = "seasonal"
    base: Annotated[LearnedKinds, Field(discriminator="kind")] = Field(Theta(), description="the forecast it wraps")
    weeks: Annotated[int, Field(ge=2)] = Field(8, description="last weeks metered the weekday pattern is learned from")

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """The base's path times the patterns; the spread is the base's around them."""
        meter = observation.meter
        if meter.end < 2 * DAYS_PER_WEEK:
            return self.base.ahead(observation, days)
        week, year = _week(meter, min(self.weeks, meter.end // DAYS_PER_WEEK)), _year(meter)

        def pattern(from_today: IntArray) -> FloatArray:
            return week[from_today % DAYS_PER_WEEK] * _waves(from_today, year)

        n_days = min(meter.end, self.base.window_days)
        plain = meter.means(meter.end - n_days, meter.end, 1) / pattern(np.arange(-n_days, 0))
        seen = replace(observation, meter=MeterReading(Meter(plain), n_days))
        mean, spread = self.base.ahead(seen, days)
        return mean * pattern(days - observation.day), spread


def _week(meter: MeterReading, n_weeks: int) -> FloatArray:
    """Each of the seven days from today on, relative to its week: growth inside the week apart, mean one."""
    first = meter.end - n_weeks * DAYS_PER_WEEK
    days = np.maximum(meter.means(first, meter.end, 1), 1.0).reshape(n_weeks, DAYS_PER_WEEK)
    weeks = days.mean(axis=1)
    growth = line_through(np.log(weeks))[1] / DAYS_PER_WEEK * (np.arange(DAYS_PER_WEEK) - DAYS_PER_WEEK // 2)
    factors = (days / weeks[:, np.newaxis]).mean(axis=0) * np.exp(-growth)
    return factors / factors.mean()


def _year(meter: MeterReading) -> FloatArray:
    """Coefficients of the year's waves in the logs of weeks, shrunk as far as chance could have made them.

    Least squares on a bent line and two harmonics; shrunk as James & Stein (1961) do, by what as many waves of pure
    noise would explain. Surprises that last, an AR(1) in the residuals, count as so many fewer weeks.
    """
    n_weeks = min(meter.end // DAYS_PER_WEEK, _MOST_WEEKS)
    if n_weeks < _LEAST_WEEKS:
        return np.zeros(0)
    logs = np.log(np.maximum(meter.means(meter.end - n_weeks * DAYS_PER_WEEK, meter.end, DAYS_PER_WEEK), 1.0))
    design, solve, hat = _fit(n_weeks)
    coefficients = solve @ logs
    left = logs - design @ coefficients
    waves = coefficients[_BEND:]
    squares = float(left @ left)
    lasting = min(max(float(left[1:] @ left[:-1]) / squares, 0.0), 0.99) if squares > 0.0 else 0.0
    by_chance = squares / (n_weeks - coefficients.size) * waves.size * (1.0 + lasting) / (1.0 - lasting)
    explained = float(waves @ hat @ waves)
    return waves * max(1.0 - by_chance / explained, 0.0) if explained > 0.0 else np.zeros(0)


def _waves(from_today: IntArray, coefficients: FloatArray) -> FloatArray:
    """The pattern of the year on days counted from today, mean one over a year."""
    if not coefficients.any():
        return np.ones(from_today.size)
    year: FloatArray = np.exp(_harmonics(np.arange(0.0, _WEEKS_PER_YEAR, 0.5)) @ coefficients)
    days: FloatArray = np.exp(_harmonics((from_today + 0.5) / DAYS_PER_WEEK) @ coefficients)
    return days / year.mean()


def _harmonics(weeks: FloatArray) -> FloatArray:
    """One wave a year and two, cosine and sine each, at weeks counted from this morning [week, wave]."""
    angle = 2.0 * np.pi / _WEEKS_PER_YEAR * weeks
    return np.stack([np.cos(angle), np.sin(angle), np.cos(2.0 * angle), np.sin(2.0 * angle)], axis=1)


@lru_cache(maxsize=256)
def _fit(n_weeks: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The design of the regression on the last weeks, what solves it, and what its waves explain of the logs."""
    middles = np.arange(-n_weeks + 0.5, 0.0)
    bent = np.vander(middles / n_weeks, _BEND)
    design = np.hstack([bent, _harmonics(middles)])
    own = design[:, _BEND:] - bent @ np.linalg.pinv(bent) @ design[:, _BEND:]
    return design, np.linalg.pinv(design), own.T @ own
