"""User tokens asked per day: level x weekday x noise x shocks, or a recorded trace and what follows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from simulator.laws.units import DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice, arrivals, autoregression, decayed_sum
from simulator.world.inputs import Inputs, NotNegative, OpenShare, Positive, Share

_FLAT_WEEK = (1.0,) * 7
_FLAT_DAY = (1.0,) * 24


Growth = Annotated[float, Field(gt=0, le=1e15)]
"""Factor per year."""


class Regime(Inputs):
    """From `start` on, demand grows at this rate until the next regime."""

    start: date = Field(description="first day of the regime")
    growth_per_year: Growth = Field(description="factor per year: 1 is flat, 5 is fivefold")
    growth_sigma: NotNegative = Field(
        0.0, description="sd of the yearly log growth, one draw per regime and replication"
    )


class Shocks(Inputs):
    """Bursts of demand that arrive at random and fade: a launch that goes viral, a rival's outage."""

    per_year: NotNegative = Field(0.0, description="mean number of shocks a year (Poisson)")
    size: Annotated[float, Field(gt=-1)] = Field(
        0.3, description="mean rise on the first day: 0.3 is 30 % more demand; negative is a loss"
    )
    size_sigma: NotNegative = Field(0.0, description="sd of the log of a shock's size")
    decay_days: Positive = Field(21.0, description="days until a shock has faded to 1/e")


class Trace(Inputs):
    """Recorded daily tokens. Days before it and after it follow the level at its two ends."""

    csv: str = Field("", description="the file it was read from, relative to the scenario file")
    column: str = Field("total_tokens", description="the column of the file that holds tokens a day")
    first_day: date | None = Field(None, description="date of the first recorded day (filled from the file)")
    tokens: tuple[NotNegative, ...] = Field((), description="tokens on each recorded day (filled from the file)")


class DemandInputs(Inputs):
    """What users ask for, and how uncertain that is."""

    tokens_per_day: Positive = Field(description="level at the start [user tokens a day, prompt + completion]")
    history_growth_per_year: Growth = Field(1.0, description="factor per year before the start")
    growth_per_year: Growth = Field(1.0, description="factor per year from the start to the first regime")
    growth_sigma: NotNegative = Field(0.0, description="sd of the yearly log growth until the first regime")
    regime: tuple[Regime, ...] = Field((), description="later growth rates, in order of date")
    level_sigma: NotNegative = Field(
        0.0, description="sd of the log of a factor on all demand, drawn once and seen only by the meter"
    )
    noise_sigma: NotNegative = Field(0.0, description="stationary sd of the log of daily noise")
    noise_persistence: OpenShare = Field(0.0, description="correlation of that noise from day to day, AR(1)")
    noise_has: Literal["mean_one", "median_one"] = Field(
        "mean_one", description="whether noise leaves the mean or the median of demand unchanged"
    )
    shocks: Shocks = Field(Shocks(), description="bursts that arrive at random and fade")
    weekday_factors: tuple[Positive, ...] = Field(_FLAT_WEEK, description="Monday to Sunday, mean 1")
    hour_profile: tuple[NotNegative, ...] = Field(_FLAT_DAY, description="24 hours, mean 1")
    prompt_share: Share = Field(0.8, description="prompt tokens / user tokens")
    cached_share: Share = Field(0.0, description="prompt tokens read from the prompt cache / prompt tokens")
    context_tokens: Positive = Field(2000.0, description="mean tokens held in a request's KV cache [tokens]")
    trace: Trace | None = Field(None, description="recorded days that replace level, weekday and noise")

    @field_validator("weekday_factors", "hour_profile")
    @classmethod
    def _mean_one(cls, factors: tuple[float, ...]) -> tuple[float, ...]:
        if len(factors) not in (7, 24):
            raise ValueError(f"needs 7 weekday factors or 24 hours, has {len(factors)}")
        if abs(sum(factors) / len(factors) - 1.0) > 1e-6:
            raise ValueError(f"must have mean 1, has mean {sum(factors) / len(factors):.6f}")
        return factors

    @model_validator(mode="after")
    def _lengths_and_order(self) -> DemandInputs:
        if len(self.weekday_factors) != 7:
            raise ValueError(f"weekday_factors needs 7 values, has {len(self.weekday_factors)}")
        if len(self.hour_profile) != 24:
            raise ValueError(f"hour_profile needs 24 values, has {len(self.hour_profile)}")
        for earlier, later in pairwise(self.regime):
            if later.start <= earlier.start:
                raise ValueError(f"regimes must be in order of date: {later.start} follows {earlier.start}")
        return self


@dataclass(frozen=True, slots=True)
class Shock:
    """One burst of demand: the day it comes and by what part demand rises that day."""

    day: int
    size: float


@dataclass(frozen=True, slots=True)
class DemandOutlook:
    """What the scenario itself says of demand, before anything is drawn; arrays by index of the calendar.

    `tokens` is the expected path, `log_sd` the sd of the log of demand around it, `steady` the path with
    all noise at its centre and no shock, and `regime_years` the time spent in each regime so far [years].
    """

    tokens: FloatArray
    log_sd: FloatArray
    steady: FloatArray
    regime_years: FloatArray
    regime_sigmas: FloatArray
    free: FloatArray


def outlook(demand: DemandInputs, calendar: Calendar) -> DemandOutlook:
    """The declared path of demand: level and weekday, what noise adds, and the mean of shocks."""
    days = calendar.days
    spent = _regime_years(demand, calendar, days)
    sigmas = np.array([demand.growth_sigma, *(regime.growth_sigma for regime in demand.regime)])
    factors = np.asarray(demand.weekday_factors)
    steady = demand.tokens_per_day * np.exp(_log_growth(demand, calendar, days)) * factors[calendar.weekdays]
    free = np.ones(days.size)
    if demand.trace is not None:
        steady, free = _with_trace(demand, demand.trace, calendar, steady)
        last_recorded = np.flatnonzero(free == 0.0)[-1:]
        spent = np.maximum(spent - spent[:, last_recorded].sum(axis=1, keepdims=True), 0.0)
    variance = free * (demand.level_sigma**2 + demand.noise_sigma**2 + sigmas**2 @ spent**2)
    if demand.noise_has == "mean_one":
        expected, steady = steady, steady * np.exp(-variance / 2.0)
    else:
        expected = steady * np.exp(variance / 2.0)
    shock_mean, shock_variance = _shock_moments(demand.shocks, free)
    return DemandOutlook(expected * shock_mean, np.sqrt(variance + shock_variance), steady, spent, sigmas, free)


def _regime_years(demand: DemandInputs, calendar: Calendar, days: IntArray) -> FloatArray:
    """Years spent in each regime by each day, [regime, day]; one that began before the start begins with it."""
    starts = [max(calendar.day_of(regime.start), 0) for regime in demand.regime]
    edges = np.array([0, *starts, np.iinfo(np.int64).max])
    return np.clip(days[None, :] - edges[:-1, None], 0, np.diff(edges)[:, None]) / DAYS_PER_YEAR


def _log_growth(demand: DemandInputs, calendar: Calendar, days: IntArray) -> FloatArray:
    """Log of the level on any days, inside the calendar or not, over that at the start."""
    rates = np.log([demand.growth_per_year, *(regime.growth_per_year for regime in demand.regime)])
    past = np.minimum(days, 0) / DAYS_PER_YEAR
    grown: FloatArray = rates @ _regime_years(demand, calendar, days) + np.log(demand.history_growth_per_year) * past
    return grown


def _with_trace(
    demand: DemandInputs, trace: Trace, calendar: Calendar, steady: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The recorded days in place of the model's; before and after, the model at the level of the nearest week."""
    recorded = np.asarray(trace.tokens)
    if trace.first_day is None or recorded.size == 0:
        raise ValueError("a trace needs its first day and its tokens: load it from its file first")
    days = calendar.day_of(trace.first_day) + np.arange(recorded.size)
    weekday = np.asarray(demand.weekday_factors)[(days + calendar.start.weekday()) % 7]
    model = np.log(demand.tokens_per_day * weekday) + _log_growth(demand, calendar, days)
    offset = np.log(np.maximum(recorded, 1.0)) - model
    week, index = min(7, recorded.size), days + calendar.history_days
    path, free = steady.copy(), np.ones(steady.size)
    path[: max(int(index[0]), 0)] *= np.exp(offset[:week].mean())
    path[max(int(index[-1]) + 1, 0) :] *= np.exp(offset[-week:].mean())
    seen = (index >= 0) & (index < calendar.n_days)
    path[index[seen]] = recorded[seen]
    free[index[seen]] = 0.0
    return path, free


def _shock_moments(shocks: Shocks, free: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of the product of all shocks alive on each day, and variance of its log; exact for Poisson arrivals.

    Only days that are `free` of a record have shocks: what happened on the others is in the record.
    E[prod(1 + size decay^age)] = exp(rate E[size] sum of decay^age), and the variance of the log is
    rate x sum of E[ln(1 + size decay^age)^2] (Campbell's theorem).
    """
    if shocks.per_year == 0.0:
        return np.ones(free.size), np.zeros(free.size)
    rate, decay = shocks.per_year / DAYS_PER_YEAR, np.exp(-1.0 / shocks.decay_days)
    mean: FloatArray = np.exp(rate * shocks.size * free * decayed_sum(free, decay))
    normals, weights = np.polynomial.hermite_e.hermegauss(15)
    sizes = shocks.size * np.exp(shocks.size_sigma * normals - shocks.size_sigma**2 / 2.0)
    left = decay ** np.arange(float(free.size))
    squares = weights @ np.log1p(sizes[:, None] * left) ** 2 / weights.sum()
    return mean, rate * free * np.convolve(free, squares)[: free.size]


def draw_shocks(shocks: Shocks, dice: Dice, calendar: Calendar) -> tuple[Shock, ...]:
    """The bursts of one replication, over the whole calendar, in order of day."""
    if shocks.per_year == 0.0:
        return ()
    found = arrivals(dice.stream("demand.shock_days"), shocks.per_year / DAYS_PER_YEAR, calendar.n_days)
    normals = dice.stream("demand.shock_sizes").standard_normal(len(found))
    sizes = shocks.size * np.exp(shocks.size_sigma * normals - shocks.size_sigma**2 / 2.0)
    return tuple(Shock(day - calendar.history_days, size) for day, size in zip(found, sizes.tolist(), strict=True))


def draw_tokens(
    demand: DemandInputs, view: DemandOutlook, shocks: tuple[Shock, ...], dice: Dice, calendar: Calendar
) -> FloatArray:
    """One path of demand [tokens a day], by index of the calendar."""
    deviation = np.zeros(calendar.n_days)
    if demand.level_sigma > 0.0:
        deviation += demand.level_sigma * dice.stream("demand.level").standard_normal()
    if view.regime_sigmas.any():
        luck = view.regime_sigmas * dice.stream("demand.growth").standard_normal(view.regime_sigmas.size)
        deviation += luck @ view.regime_years
    if demand.noise_sigma > 0.0:
        normals = dice.stream("demand.noise").standard_normal(calendar.n_days)
        deviation += autoregression(normals, demand.noise_persistence, demand.noise_sigma)
    tokens: FloatArray = view.steady * np.exp(view.free * deviation)
    for shock in shocks:
        first = calendar.index(shock.day)
        age = np.arange(calendar.n_days - first)
        added = shock.size * np.exp(-age / demand.shocks.decay_days)
        tokens[first:] *= 1.0 + view.free[first] * view.free[first:] * added
    return tokens
