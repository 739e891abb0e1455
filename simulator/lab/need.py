"""The GPUs that coming days will need, as far as a forecast knows, and those that are committed already."""

from __future__ import annotations

from functools import lru_cache
from math import floor, inf, isfinite, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from simulator.lab.forecast import Forecast
from simulator.lab.observation import Observation
from simulator.laws.load import HOURS
from simulator.laws.uncertain_load import UncertainLoad
from simulator.laws.units import DAYS_PER_WEEK, SECONDS_PER_DAY, FloatArray, IntArray

_SAMPLE_DAYS = 25
"""A long span is looked at every 25 days, on all weekdays in turn: enough for levels that move over months."""
_ERRORS_PER_HOUR = 8
_STEPS_OF_SPREAD, _MOST_STEPS = 64, 192
"""Steps of a spread by one, and those that bounds are kept for: a spread of three is no forecast."""
_BUNDLE = 4
"""Needs that one bound stands for."""
_UNKNOWN = 1e200
"""More than any day needs."""
_SAMPLE_STEP = 13
"""One value in 13 tells where the others lie: from hour to hour another error."""
FINEST = 0.5 / (HOURS * _ERRORS_PER_HOUR)
"""The smallest chance that is told from none: errors beyond it are not counted."""


ROUNDING = 1e-6
"""GPUs: the last bit of a sum does not cost one."""


def _errors() -> FloatArray:
    """Standard normal errors of equal chance for each hour of a day, hour by hour [hour and error].

    Every hour has eight of its own, so that a day's 192 are as fine as if they were one hour's.
    """
    hours = (7 * np.arange(HOURS) % HOURS + 0.5) / HOURS
    chances = (np.arange(_ERRORS_PER_HOUR) + hours[:, np.newaxis]) / _ERRORS_PER_HOUR
    return np.array([NormalDist().inv_cdf(chance) for chance in chances.reshape(-1).tolist()])


_ERRORS = _errors()


class Need(NamedTuple):
    """GPUs of one kind needed to serve on each of some days, and what is committed already, in GPUs of that kind."""

    accelerator: int
    gpus: FloatArray
    """Expected mean of each day."""
    spread: FloatArray
    """Sd of the log of each day's mean."""
    committed: FloatArray
    """Those owned or on order that will work, and such leases as were added."""
    hours_for_one: FloatArray
    """Hours of each kind that do the work of one hour of this kind."""

    @staticmethod
    def on(observation: Observation, forecast: Forecast, days: IntArray, price: FloatArray) -> Need | None:
        """For the model planned to serve in the middle of these days, on the kind that serves it cheapest.

        None if nothing is served then, or no kind that can is on offer at a price.
        """
        model = observation.model_on(int(days[days.size // 2]))
        if model is None:
            return None
        seconds = model.gpu_seconds_per_token
        usd_per_token = price * seconds
        accelerator = int(usd_per_token.argmin())
        if not isfinite(usd_per_token[accelerator]):
            return None
        tokens, spread = forecast.ahead(observation, days)
        for_one = seconds / seconds[accelerator]
        gpus = tokens * (float(seconds[accelerator]) / SECONDS_PER_DAY)
        return Need(accelerator, gpus, spread, observation.fleet.owned_as(1.0 / for_one, days), for_one)

    def beside_leases(self, observation: Observation, days: IntArray) -> Need:
        """The same where all that was leased counts too, until it runs out."""
        return self._replace(committed=self.committed + observation.fleet.leased_as(1.0 / self.hours_for_one, days))

    def short_of(self, quantile: float, hour_factors: FloatArray, at_least: float = -inf) -> float:
        """GPUs lacking for this share of all hours, over the days and over the errors a forecast may make [GPUs].

        Whoever asks for `at_least` so many is told -inf where fewer are lacking, which is soon seen.
        """
        if at_least > -inf:
            steps = np.minimum((self.spread * _STEPS_OF_SPREAD).astype(np.int64), _MOST_STEPS)
            needed = _most_needed(hour_factors.tobytes())[steps] * self.gpus[:, np.newaxis]
            held = (self.committed + at_least)[:, np.newaxis]
            if _BUNDLE * np.count_nonzero(needed < held) > quantile * _ERRORS.size * self.gpus.size:
                return -inf
        if self.spread.any():  # made in place: this is where a review spends its time
            spread = self.spread[:, np.newaxis]
            short = spread * _ERRORS
            short -= spread * spread / 2.0
            np.exp(short, out=short)
            short *= self.gpus[:, np.newaxis]
            short *= hour_factors.repeat(_ERRORS_PER_HOUR)
            short -= self.committed[:, np.newaxis]
        else:
            short = self.gpus[:, np.newaxis] * hour_factors - self.committed[:, np.newaxis]
        found = _ranked(short.reshape(-1), int(quantile * (short.size - 1)))
        return found if found >= at_least else -inf


@lru_cache(maxsize=64)
def _most_needed(hour_factors: bytes) -> FloatArray:
    """The most that each four of a day's hours and errors, in rising order, need over its mean [step of spread, four].

    Between two steps of the spread the log of a need bends by no more than a parabola, 1/8 of the step squared. Beyond
    the last step nothing is said.
    """
    spread = np.arange(_MOST_STEPS + 1)[:, np.newaxis] / _STEPS_OF_SPREAD
    needed = np.exp(spread * (_ERRORS - spread / 2.0)) * np.frombuffer(hour_factors).repeat(_ERRORS_PER_HOUR)
    between = np.maximum(needed[:-1], needed[1:]) * np.exp(0.125 / _STEPS_OF_SPREAD**2)
    most: FloatArray = np.sort(between, axis=1)[:, _BUNDLE - 1 :: _BUNDLE]
    return np.append(most, np.full((1, most.shape[1]), _UNKNOWN), axis=0)


def _ranked(values: FloatArray, rank: int) -> float:
    """The value at a place in rising order; a sample tells which ones can be left aside, all beyond a bound."""
    sample = values[::_SAMPLE_STEP].copy()
    share = rank / _SAMPLE_STEP
    beyond = int(share + 3.0 * sqrt(share)) + 2
    if beyond < sample.size:
        sample.partition(beyond)
        few = values[values <= sample[beyond]]
        if few.size > rank:
            values = few
    values.partition(rank)
    return float(values[rank])


def planned_hours(observation: Observation) -> FloatArray:
    """Load of each hour of a day over its mean, once what can wait fills the troughs."""
    return np.asarray(observation.scenario.planned_profile.factors)


def needed_by_all_but(quantile: float, load: UncertainLoad) -> float:
    """What all but this share of the hours need, over the mean; as `Need.short_of` counts."""
    if load.sigma == 0.0:
        return float(np.quantile(load.profile.factors, quantile))
    return load.capacity(1.0 - min(max(quantile, FINEST), 1.0 - FINEST))


def days_of(first_day: int, span_days: int) -> IntArray:
    """Seven days spread over a span, one of each weekday [day]."""
    step = max(span_days // DAYS_PER_WEEK, 1)
    return first_day + np.arange(DAYS_PER_WEEK) * (step + (step % DAYS_PER_WEEK == 0))


def sampled(first_day: int, span_days: int) -> IntArray:
    """Every 25th day of a long span, its first included [day]."""
    return first_day + _every(span_days)


@lru_cache(maxsize=64)
def _every(span_days: int) -> IntArray:
    return np.arange(0, span_days, _SAMPLE_DAYS)


def whole_gpus(gpus: float) -> int:
    """Whole GPUs, `ROUNDING` forgiven."""
    return floor(gpus + ROUNDING)


def typical_spread(observation: Observation, forecast: Forecast, days: IntArray) -> float:
    """Sd of the log of demand on some days, as one figure: the root of its mean square."""
    spread = forecast.ahead(observation, days)[1]
    return float(np.sqrt(np.mean(spread * spread)))
