"""The GPUs that coming days will need, as far as a forecast knows, and those that are committed already."""

from __future__ import annotations

from collections.abc import Sequence
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


class Span(NamedTuple):
    """Coming days to look at, and for each the day whose leases count on it."""

    days: IntArray
    leased_on: IntArray

    @staticmethod
    def of(days: IntArray, leases_until: int | None = None) -> Span:
        """Leases count as long as they run; or, from a day on, as they are on it, since they will be signed again."""
        return Span(days, days if leases_until is None else np.minimum(days, leases_until))


class Ahead(NamedTuple):
    """A span of coming days as one review sees it: what the forecast says of some of them, and what is committed."""

    days: IntArray
    tokens: FloatArray
    """Expected mean of each day."""
    spread: FloatArray
    """Sd of the log of each day's mean."""
    owned: FloatArray
    """GPUs held or on order that will work [accelerator, day]."""
    leased: FloatArray
    """GPUs leased, now or later [accelerator, day]."""

    @staticmethod
    def on(observation: Observation, forecast: Forecast, span: Span) -> Ahead:
        """One span."""
        fleet = observation.fleet
        seen = forecast.ahead(observation, span.days)
        return Ahead(span.days, *seen, fleet.owned_on(span.days), fleet.leased_on(span.leased_on))

    @staticmethod
    def over(observation: Observation, forecast: Forecast, spans: Sequence[Span]) -> list[Ahead]:
        """Some spans, for which forecast and fleet are asked at once."""
        in_all = Span(*(np.concatenate(days) for days in zip(*spans, strict=True)))
        days, tokens, spread, owned, leased = Ahead.on(observation, forecast, in_all)
        found, first = [], 0
        for span in spans:
            part = slice(first, first + span.days.size)
            found.append(Ahead(days[part], tokens[part], spread[part], owned[:, part], leased[:, part]))
            first = part.stop
        return found

    def need(self, observation: Observation, price: FloatArray) -> Need | None:
        """For the model planned to serve in the middle of these days, on the kind that serves it cheapest.

        None if nothing is served then, or no kind that can is on offer at a price.
        """
        model = observation.model_on(int(self.days[self.days.size // 2]))
        if model is None:
            return None
        seconds = model.gpu_seconds_per_token
        usd_per_token = price * seconds
        accelerator = int(usd_per_token.argmin())
        if not isfinite(usd_per_token[accelerator]):
            return None
        for_one = seconds / seconds[accelerator]
        gpus = self.tokens * (float(seconds[accelerator]) / SECONDS_PER_DAY)
        worth = 1.0 / for_one
        return Need(accelerator, gpus, self.spread, worth @ self.owned, worth @ self.leased, for_one)


class Need(NamedTuple):
    """GPUs of one kind needed to serve on each of some days, and what is committed already, in GPUs of that kind."""

    accelerator: int
    gpus: FloatArray
    """Expected mean of each day."""
    spread: FloatArray
    """Sd of the log of each day's mean."""
    committed: FloatArray
    """Those owned or on order that will work, and such others as were added."""
    leased: FloatArray
    hours_for_one: FloatArray
    """Hours of each kind that do the work of one hour of this kind."""

    @staticmethod
    def on(observation: Observation, forecast: Forecast, days: IntArray, price: FloatArray) -> Need | None:
        """What a span needs; see `Ahead.need`."""
        return Ahead.on(observation, forecast, Span.of(days)).need(observation, price)

    @property
    def mean_gpus(self) -> float:
        """Expected mean over the days."""
        return float(self.gpus.sum()) / self.gpus.size

    def beside(self, gpus: FloatArray) -> Need:
        """The same where others count too, in GPUs of this kind [day]."""
        return self._replace(committed=self.committed + gpus)

    def short_of(
        self, quantile: float, hour_factors: FloatArray, at_least: float = -inf, at_most: float = inf
    ) -> float:
        """GPUs lacking for this share of all hours, over the days and over the errors a forecast may make [GPUs].

        Whoever asks for `at_least` so many is told -inf where fewer are lacking, and whoever wants no more than
        `at_most` is told that where as many or more are: either is soon seen.
        """
        rank = int(quantile * (_ERRORS.size * self.gpus.size - 1))
        if at_least > -inf or at_most < inf:
            least, most = _bounds(hour_factors.tobytes())
            steps = np.minimum((self.spread * _STEPS_OF_SPREAD).astype(np.int64), _MOST_STEPS)
            if at_least > -inf and _BUNDLE * self._n_below(at_least, most[steps]) > rank:
                return -inf
            if at_most < inf and _BUNDLE * self._n_below(max(at_least, at_most), least[steps]) <= rank:
                return at_most
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
            rank = int(quantile * (short.size - 1))
        found = _ranked(short.reshape(-1), rank)
        return min(found, at_most) if found >= at_least else -inf

    def _n_below(self, gpus: float, over_mean: FloatArray) -> int:
        """How many needs of [day, any], given over each day's mean, lack fewer than so many GPUs."""
        held = self.committed + gpus
        return int(np.count_nonzero(over_mean * self.gpus[:, np.newaxis] < held[:, np.newaxis]))


@lru_cache(maxsize=64)
def _bounds(hour_factors: bytes) -> tuple[FloatArray, FloatArray]:
    """The least and the most that each four of a day's hours and errors, in rising order, need over its mean.

    Both by [step of spread, four]. Between two steps the log of a need is a parabola, which bends down: it lies above
    the lower of its ends, and above the higher by no more than 1/8 of the step squared. Beyond the last step nothing is
    said.
    """
    spread = np.arange(_MOST_STEPS + 1)[:, np.newaxis] / _STEPS_OF_SPREAD
    needed = np.exp(spread * (_ERRORS - spread / 2.0)) * np.frombuffer(hour_factors).repeat(_ERRORS_PER_HOUR)
    least = np.sort(np.minimum(needed[:-1], needed[1:]), axis=1)[:, ::_BUNDLE]
    bend = np.exp(0.125 / _STEPS_OF_SPREAD**2)
    most = np.sort(np.maximum(needed[:-1], needed[1:]) * bend, axis=1)[:, _BUNDLE - 1 :: _BUNDLE]
    beyond = np.zeros((1, least.shape[1]))
    return np.append(least, beyond, axis=0), np.append(most, beyond + _UNKNOWN, axis=0)


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
    return first_day + _weekdays(span_days)


def sampled(first_day: int, span_days: int) -> IntArray:
    """Every 25th day of a long span, its first included [day]."""
    return first_day + _every(span_days)


@lru_cache(maxsize=64)
def _weekdays(span_days: int) -> IntArray:
    step = max(span_days // DAYS_PER_WEEK, 1)
    return np.arange(DAYS_PER_WEEK) * (step + (step % DAYS_PER_WEEK == 0))


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
