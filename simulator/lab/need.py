"""The GPUs that coming days will need, as far as a forecast knows, and those that are committed already."""

from __future__ import annotations

from math import floor, isfinite
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from simulator.lab.forecast import Forecast
from simulator.lab.observation import Observation
from simulator.laws.load import HOURS
from simulator.laws.units import DAYS_PER_WEEK, SECONDS_PER_DAY, FloatArray, IntArray

_SAMPLE_DAYS = 25
"""A long span is looked at every 25 days, on all weekdays in turn: enough for levels that move over months."""
_ERRORS_PER_HOUR = 8
FINEST = 0.5 / (HOURS * _ERRORS_PER_HOUR)
"""The smallest chance that is told from none: errors beyond it are not counted."""


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
    owned: FloatArray
    """Committed already: those owned or on order that will work ..."""
    leased: FloatArray
    """... and those leased."""
    hours_for_one: FloatArray
    """Hours of each kind that do the work of one hour of this kind."""

    def without_leases(self) -> Need:
        """The same for a need that leases do not count for: they run out."""
        return self._replace(leased=np.zeros_like(self.leased))

    @property
    def committed(self) -> FloatArray:
        """All that is committed already."""
        return self.owned + self.leased

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
        worth, fleet = seconds[accelerator] / seconds, observation.fleet
        gpus = tokens * (seconds[accelerator] / SECONDS_PER_DAY)
        owned, leased = fleet.owned_as(worth, days), fleet.leased_as(worth, days)
        return Need(accelerator, gpus, spread, owned, leased, seconds / seconds[accelerator])

    def short_of(self, quantile: float, hour_factors: FloatArray) -> float:
        """GPUs lacking for this share of all hours, over the days and over the errors a forecast may make [GPUs]."""
        spread, committed = self.spread[:, np.newaxis], self.committed[:, np.newaxis]
        if spread.any():  # made in place: this is where a review spends its time
            short = spread * _ERRORS
            short -= spread * spread / 2.0
            np.exp(short, out=short)
            short *= self.gpus[:, np.newaxis]
            short *= hour_factors.repeat(_ERRORS_PER_HOUR)
            short -= committed
        else:
            short = self.gpus[:, np.newaxis] * hour_factors - committed
        short, rank = short.reshape(-1), int(quantile * (short.size - 1))
        short.partition(rank)
        return float(short[rank])


def days_of(first_day: int, span_days: int) -> IntArray:
    """Seven days spread over a span, one of each weekday [day]."""
    step = max(span_days // DAYS_PER_WEEK, 1)
    return first_day + np.arange(DAYS_PER_WEEK) * (step + (step % DAYS_PER_WEEK == 0))


def sampled(first_day: int, span_days: int) -> IntArray:
    """Every 25th day of a long span, its first included [day]."""
    return first_day + np.arange(0, span_days, _SAMPLE_DAYS)


def whole_gpus(gpus: float) -> int:
    """Whole GPUs; the last bit of a sum does not cost one."""
    return floor(gpus + 1e-6)


def typical_spread(observation: Observation, forecast: Forecast, days: IntArray) -> float:
    """Sd of the log of demand on some days, as one figure: the root of its mean square."""
    spread = forecast.ahead(observation, days)[1]
    return float(np.sqrt(np.mean(spread * spread)))
