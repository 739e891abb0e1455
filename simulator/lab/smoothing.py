"""Forecasts that forget: exponential smoothing of the logs of whole weeks, in state-space form.

Weeks, so that the weekday pattern drops out; logs, so that growth is a straight line. Each is a state that every week's
surprise e, of variance s^2, moves; so the h-th week ahead has variance s^2 (1 + sum of c_j^2 over j < h), where c_j is
what one surprise adds to the j-th week after it (Hyndman, Koehler, Ord & Snyder 2008, Forecasting with Exponential
Smoothing, chapter 6). The smoothing weights are declared, not fitted: fitting gained 4 to 13 % on synthetic series and
took a thousand times as long.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Learned
from simulator.lab.observation import Observation
from simulator.laws.units import DAYS_PER_WEEK, FloatArray, IntArray
from simulator.world.inputs import NotNegative, PositiveShare

_FIRST_WEEKS = 8
"""Weeks whose line is where a damped trend starts from; with more than a year metered it no longer matters."""
_PRIOR_WEEKS = 2.0
"""Before many weeks are metered, a week is thought to surprise as a day does: worth so many weeks of surprises."""
_MOST_VARIANCE = 4.0
"""A log sd of two is a factor of 50 either way: whoever knows less knows nothing."""


class _State(NamedTuple):
    """Where the recursion stands after the last week metered."""

    level: float
    trend: float
    squared_surprises: float


class Smoothed(Learned):
    """A level, and a trend on it, that move with each week's surprise."""

    window_days: Annotated[int, Field(ge=14)] = Field(728, description="metered days it learns from")
    level_weight: PositiveShare = Field(0.5, description="part of a week's surprise that stays in the level")

    def _learned(self, observation: Observation, days: IntArray, first: int, end: int) -> tuple[FloatArray, FloatArray]:
        """Mean from the smoothed state; spread from the surprises of the weeks, and of the days within them."""
        meter = observation.meter
        weeks = np.log(np.maximum(meter.means(first, end, DAYS_PER_WEEK), 1.0))
        within = meter.variance_within(first, end, DAYS_PER_WEEK)
        state = self._smoothed(weeks)
        surprise = (state.squared_surprises + _PRIOR_WEEKS * within) / (weeks.size - 2.0 + _PRIOR_WEEKS)
        # Days stand where the line through the middles of weeks puts them, the last week metered at nought.
        ahead = (days - (observation.day - 1 - DAYS_PER_WEEK // 2)) / DAYS_PER_WEEK
        variance = np.minimum(surprise * (1.0 + self._kept(np.maximum(ahead - 1.0, 0.0))), _MOST_VARIANCE)
        mean = np.exp(state.level + self._carried(state, ahead, weeks.size) + variance / 2.0)
        return mean, np.sqrt(variance + within)

    @abstractmethod
    def _smoothed(self, weeks: FloatArray) -> _State:
        """The state after these weeks [log tokens a day]."""

    @abstractmethod
    def _carried(self, state: _State, ahead: FloatArray, n_weeks: int) -> FloatArray:
        """What the trend adds to the level so many weeks ahead."""

    @abstractmethod
    def _kept(self, weeks: FloatArray) -> FloatArray:
        """Sum of c_j^2 over so many weeks, in closed form and so between weeks too."""


class DampedTrend(Smoothed):
    """Holt's trend, damped: growth goes on as of late, less of it every week.

    The model ETS(A, Ad, N) on the logs of weeks: c_j = level_weight + trend_weight (d + ... + d^j), d the damping.
    """

    kind: Literal["damped_trend"] = "damped_trend"
    trend_weight: NotNegative = Field(0.05, le=1, description="part of a week's surprise that stays in weekly growth")
    damping: Annotated[float, Field(gt=0, le=0.999)] = Field(0.97, description="growth of a week / of the week before")

    def _smoothed(self, weeks: FloatArray) -> _State:
        middle, trend = line_through(weeks[:_FIRST_WEEKS])
        level = middle - trend * ((min(weeks.size, _FIRST_WEEKS) - 1) / 2.0 + self.damping)
        to_level, to_trend, damping, squares = self.level_weight, self.trend_weight, self.damping, 0.0
        for week in weeks.tolist():
            trend *= damping
            surprise = week - level - trend
            level += trend + to_level * surprise
            trend += to_trend * surprise
            squares += surprise * surprise
        return _State(level, trend, squares)

    def _carried(self, state: _State, ahead: FloatArray, n_weeks: int) -> FloatArray:
        d = self.damping
        return state.trend * (d / (1.0 - d)) * (1.0 - d**ahead)

    def _kept(self, weeks: FloatArray) -> FloatArray:
        # c_j = most - fading d^j; the sums of d^j and d^2j are geometric.
        d = self.damping
        fading = self.trend_weight * d / (1.0 - d)
        most, left = self.level_weight + fading, d**weeks
        once, twice = d * (1.0 - left) / (1.0 - d), d * d * (1.0 - left * left) / (1.0 - d * d)
        return most * most * weeks - 2.0 * most * fading * once + fading * fading * twice


class Theta(Smoothed):
    """A smoothed level, and half the growth seen over the whole window, carried no further than it was seen.

    The Theta method (Assimakopoulos & Nikolopoulos 2000, Int. J. Forecasting 16), which is simple exponential
    smoothing with a drift of half the slope of the data (Hyndman & Billah 2003, Int. J. Forecasting 19); c_j is the
    level's weight.
    """

    kind: Literal["theta"] = "theta"
    carry: NotNegative = Field(1.0, description="days the drift is carried ahead / days it was observed over")

    def _smoothed(self, weeks: FloatArray) -> _State:
        drift = line_through(weeks)[1] / 2.0
        to_level, squares, level = self.level_weight, 0.0, float(weeks[0]) - drift
        for week in weeks.tolist():
            level += drift
            surprise = week - level
            level += to_level * surprise
            squares += surprise * surprise
        return _State(level, drift, squares)

    def _carried(self, state: _State, ahead: FloatArray, n_weeks: int) -> FloatArray:
        return state.trend * np.minimum(ahead, self.carry * n_weeks)

    def _kept(self, weeks: FloatArray) -> FloatArray:
        return self.level_weight**2 * weeks


def line_through(values: FloatArray) -> tuple[float, float]:
    """Mean and least-squares slope of evenly spaced values (two or more)."""
    from_middle = np.arange(values.size) - (values.size - 1) / 2.0
    return float(values.mean()), float(from_middle.dot(values) / from_middle.dot(from_middle))
