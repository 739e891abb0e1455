"""Guesses about demand: each gives a mean and a spread for the days ahead."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field

from simulator.lab.observation import Observation
from simulator.laws.units import FloatArray
from simulator.world.inputs import Inputs, NotNegative
from simulator.world.world import World

DAYS_PER_WEEK = 7
_FLAT = 1e-12


class Forecast(Protocol):
    """Looks ahead from an observation."""

    def ahead(self, observation: Observation, first_day: int, n_days: int) -> tuple[FloatArray, FloatArray]:
        """Mean tokens on each of `n_days` from `first_day` on, and the sd of their log."""
        ...


class _Learned(Inputs):
    """A forecast made from the meter alone."""

    window_days: Annotated[int, Field(ge=7)] = Field(182, description="metered days it learns from")

    def _window(self, observation: Observation) -> FloatArray:
        """The last whole weeks of the meter, so that weekdays weigh alike; the opening level before any."""
        past = observation.past_tokens[-self.window_days :]
        whole = past.size - past.size % DAYS_PER_WEEK or past.size
        if whole == 0:
            return np.array([observation.scenario.demand.tokens_per_day])
        return past[-whole:]


class LastValue(_Learned):
    """Tomorrow is like the last four weeks, for ever."""

    kind: Literal["last_value"] = "last_value"
    window_days: Annotated[int, Field(ge=7)] = Field(28, description="metered days it averages")

    def ahead(self, observation: Observation, first_day: int, n_days: int) -> tuple[FloatArray, FloatArray]:
        """The mean of the window, and a spread that widens as the square root of the distance."""
        seen = self._window(observation)
        mean = np.full(n_days, seen.mean())
        distance = first_day + np.arange(n_days) - observation.day + 1
        return mean, _daily_log_change(seen) * np.sqrt(distance)


class Trend(_Learned):
    """Growth goes on as metered, but no further ahead than it was seen behind; then it stops.

    A log-linear fit over the window. Six weeks of 1.6 % a day say little about next year: a trend is
    carried `carry` times as far as it was observed.
    """

    kind: Literal["trend"] = "trend"
    carry: NotNegative = Field(1.0, description="days a trend is carried ahead / days it was observed over")

    def ahead(self, observation: Observation, first_day: int, n_days: int) -> tuple[FloatArray, FloatArray]:
        """The fitted line, carried as far as it was seen; spread from its residuals and its slope's error."""
        seen = self._window(observation)
        logs = np.log(np.maximum(seen, 1.0))
        back = np.arange(seen.size) - (seen.size - 1) / 2.0
        squares = float(back @ back) or 1.0
        slope = float(back @ logs) / squares
        residual = logs - logs.mean() - slope * back
        variance = float(residual @ residual) / max(seen.size - 2, 1)
        ahead = first_day + np.arange(n_days) - observation.day + 1 + (seen.size - 1) / 2.0
        reach = np.minimum(ahead, self.carry * seen.size + (seen.size - 1) / 2.0)
        level = np.log(seen.mean()) - _curvature(slope, seen.size)
        spread = np.sqrt(variance * (1.0 + 1.0 / seen.size + ahead**2 / squares))
        return np.exp(level + slope * reach), spread


class Expected(Inputs):
    """The scenario's own mean path and spread, uninformed by what was drawn."""

    kind: Literal["expected"] = "expected"

    def ahead(self, observation: Observation, first_day: int, n_days: int) -> tuple[FloatArray, FloatArray]:
        """What the scenario declares."""
        view = observation.scenario.demand_outlook
        days = _days(observation, first_day, n_days)
        return view.tokens[days], view.log_sd[days]


class PerfectForesight(Inputs):
    """Knows the demand of its world; prices stay unknown. A yardstick, not a policy."""

    kind: Literal["perfect_foresight"] = "perfect_foresight"

    def in_world(self, world: World) -> KnownDemand:
        """Bound to the world it foresees."""
        return KnownDemand(world)

    def ahead(self, observation: Observation, first_day: int, n_days: int) -> tuple[FloatArray, FloatArray]:
        """Refused: foresight needs a world to foresee."""
        raise ValueError("PerfectForesight must be bound to a world with in_world(world) before it is asked")


class KnownDemand:
    """Perfect foresight within one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def ahead(self, observation: Observation, first_day: int, n_days: int) -> tuple[FloatArray, FloatArray]:
        """What will be asked."""
        days = _days(observation, first_day, n_days)
        return self._world.demand_tokens[days], np.zeros(n_days)


def _days(observation: Observation, first_day: int, n_days: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    calendar = observation.scenario.calendar
    first = calendar.index(first_day)
    return np.minimum(np.arange(first, first + n_days), calendar.n_days - 1)


def _daily_log_change(seen: FloatArray) -> float:
    """Sd of the change from week to week, per day."""
    if seen.size < 3 * DAYS_PER_WEEK:
        return 0.05
    weeks = np.log(np.maximum(seen[seen.size % DAYS_PER_WEEK :].reshape(-1, DAYS_PER_WEEK).mean(axis=1), 1.0))
    return float(np.std(np.diff(weeks)) / np.sqrt(DAYS_PER_WEEK))


def _curvature(slope: float, n_days: int) -> float:
    """ln(mean of exp(slope x)) over a centred window: what averaging a growing level adds to its middle."""
    half = slope * n_days / 2.0
    return float(np.log(np.sinh(half) / half)) if abs(half) > _FLAT else 0.0
