"""Guesses about demand: each gives a mean and a spread for the days ahead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field

from simulator.lab.observation import ForeseenRents, Observation
from simulator.laws.units import DAYS_PER_WEEK, FloatArray, IntArray
from simulator.world.inputs import Inputs, NotNegative
from simulator.world.world import World

_UNMETERED_SPREAD = 0.5


class Forecast(Protocol):
    """Looks ahead from an observation. A class with this one method is a forecast: write your own."""

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean tokens on each of these days (counted from the start), and the sd of their log.

        Demand of a day is taken as lognormal: its median is mean x exp(-sd^2 / 2).
        """
        ...


class Belief(Inputs, ABC):
    """A forecast that a scenario file can declare."""

    @abstractmethod
    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean tokens on each of these days, and the sd of their log."""

    def in_world(self, world: World) -> Forecast:
        """As it is held in one world: the same in all, unless it has foresight."""
        return self

    @property
    def foresees_rents(self) -> bool:
        """Whether who holds it also knows what rents will be."""
        return False


def held_in(world: World, forecast: Forecast) -> tuple[Forecast, ForeseenRents | None]:
    """A forecast as it is held in one world, and the rents it foresees there; one written by hand foresees nothing."""
    if not isinstance(forecast, Belief):
        return forecast, None
    return forecast.in_world(world), ForeseenRents(world) if forecast.foresees_rents else None


class Learned(Belief):
    """A forecast made from the meter alone."""

    window_days: Annotated[int, Field(ge=14)] = Field(182, description="metered days it learns from")

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """What it learned; below two whole weeks, the level the scenario opens with and a spread that owns up to it."""
        end = observation.meter.end
        n_days = min(self.window_days, end)
        first = end - (n_days - n_days % DAYS_PER_WEEK)  # whole weeks, so that weekdays weigh alike
        if end - first < 2 * DAYS_PER_WEEK:
            opening = observation.scenario.demand.tokens_per_day
            return np.full(days.size, opening), np.full(days.size, _UNMETERED_SPREAD)
        return self._learned(observation, days, first, end)

    @abstractmethod
    def _learned(self, observation: Observation, days: IntArray, first: int, end: int) -> tuple[FloatArray, FloatArray]:
        """The forecast from metered indices first to end - 1: whole weeks, two or more."""


class LastValue(Learned):
    """Tomorrow is like the last four weeks, for ever."""

    kind: Literal["last_value"] = "last_value"
    window_days: Annotated[int, Field(ge=14)] = Field(28, description="metered days it averages")

    def _learned(self, observation: Observation, days: IntArray, first: int, end: int) -> tuple[FloatArray, FloatArray]:
        """The mean of the window, and a spread that widens as the square root of the distance."""
        week = observation.meter.mean(end - DAYS_PER_WEEK, end)
        change = abs(np.log(max(week, 1.0) / max(observation.meter.mean(first, first + DAYS_PER_WEEK), 1.0)))
        per_day = change / np.sqrt(end - first - DAYS_PER_WEEK)
        spread = per_day * np.sqrt(days - (observation.day - 1))
        return np.full(days.size, observation.meter.mean(first, end)), spread


class Trend(Learned):
    """Growth goes on as metered, but no further ahead than it was seen behind; then it stops.

    A log-linear fit over the window. Six weeks of 1.6 % a day say little about next year: a trend is
    carried `carry` times as far as it was observed.
    """

    kind: Literal["trend"] = "trend"
    carry: NotNegative = Field(1.0, description="days a trend is carried ahead / days it was observed over")

    def _learned(self, observation: Observation, days: IntArray, first: int, end: int) -> tuple[FloatArray, FloatArray]:
        """The fitted line, carried as far as it was seen; spread from its residuals and its slope's error."""
        line, half = observation.meter.line(first, end), (end - first - 1) / 2.0
        ahead = days - (observation.day - 1 - half)
        reach = np.minimum(ahead, self.carry * (end - first) + half)
        # The mean of what was metered, not of its logs: noise has mean one.
        mean = np.exp(reach * line.slope + (line.middle + line.variance / 2.0))
        apart = line.variance * (1.0 + 1.0 / (end - first))
        return mean, np.sqrt(ahead * ahead * (line.variance / line.spread_of_days) + apart)


class Expected(Belief):
    """The scenario's own mean path and spread, uninformed by what was drawn."""

    kind: Literal["expected"] = "expected"

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """What the scenario declares."""
        view = observation.scenario.demand_outlook
        index = _index(observation, days)
        return view.tokens[index], view.log_sd[index]


class PerfectForesight(Belief):
    """Knows the demand of its world; prices stay unknown unless asked. A yardstick, not a policy."""

    kind: Literal["perfect_foresight"] = "perfect_foresight"
    prices: bool = Field(False, description="true: what rents will be is known too")

    def in_world(self, world: World) -> Forecast:
        """Bound to the world it foresees."""
        return KnownDemand(world)

    @property
    def foresees_rents(self) -> bool:
        """If it was asked to."""
        return self.prices

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """Refused: foresight needs a world to foresee."""
        raise ValueError("PerfectForesight must be bound to a world with in_world(world) before it is asked")


class KnownDemand:
    """Perfect foresight within one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """What will be asked."""
        return self._world.demand_tokens[_index(observation, days)], np.zeros(days.size)


def _index(observation: Observation, days: IntArray) -> IntArray:
    """Where days stand in the arrays of the world; the last day it has stands for all later ones."""
    calendar = observation.scenario.calendar
    return np.minimum(days + calendar.history_days, calendar.n_days - 1)
