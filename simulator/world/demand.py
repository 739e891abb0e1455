"""User tokens asked per day: a growing level x weekday x season x noise x shocks, or a record and what follows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from simulator.laws.units import DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.batch import BatchInputs
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice, arrivals, autoregression
from simulator.world.growth import (
    Bass,
    Curve,
    Exponential,
    Growth,
    GrowthOutlook,
    Regime,
    Turns,
    Unsure,
)
from simulator.world.inputs import Inputs, Misplaced, NotNegative, OpenShare, Positive, Share
from simulator.world.segments import Mix, Segment, SegmentOutlook, declared_levels, mix_of, segment_outlook
from simulator.world.shocks import Shock, Shocks, lift, lift_moments
from simulator.world.trace import Record, Trace, bootstrapped, record_of

_FLAT_WEEK = (1.0,) * 7
_FLAT_DAY = (1.0,) * 24
_FLAT_YEAR = (1.0,) * 12
_MID_MONTHS = (np.arange(12) + 0.5) / 12.0
_SHARES_SUM = 1e-6


class Jumps(Inputs):
    """Steps of the level that come at random and stay: a market won, a customer lost (Merton 1976)."""

    per_year: NotNegative = Field(0.0, description="mean number a year (Poisson)")
    log_mean: float = Field(0.0, description="mean of the log of a jump's factor: 0.2 is about 22 % up")
    log_sigma: NotNegative = Field(0.0, description="sd of the log of a jump's factor")

    @property
    def log_square(self) -> float:
        """Mean square of the log of a jump's factor."""
        return self.log_mean**2 + self.log_sigma**2

    @property
    def mean_rise(self) -> float:
        """Mean factor less one."""
        return float(np.expm1(self.log_mean + self.log_sigma**2 / 2.0))


class PriceStep(Inputs):
    """A dated change of the price of tokens."""

    day: date = Field(description="the day it holds from")
    factor: Positive = Field(description="price from then on / price before")


class TokenPrice(Inputs):
    """The path of the price users pay, declared, and how demand answers to it; never the lab's own cost."""

    elasticity: NotNegative = Field(0.0, description="demand rises by so many % when the price falls by 1 %")
    fall_per_year: Annotated[float, Field(lt=1)] = Field(
        0.0, description="fall of the price a year; negative is a rise"
    )
    step: tuple[PriceStep, ...] = Field((), description="dated changes of price")

    def factor(self, calendar: Calendar, days: IntArray) -> FloatArray:
        """What the price since the start does to demand, on any days."""
        log_price = np.log1p(-self.fall_per_year) * np.maximum(days, 0) / DAYS_PER_YEAR
        for step in self.step:
            day = calendar.day_of(step.day)
            if day > 0:  # what happened before the start is in its level
                log_price += np.log(step.factor) * (days >= day)
        return np.exp(-self.elasticity * log_price)


class DemandInputs(Inputs):
    """What users ask for, and how uncertain that is."""

    tokens_per_day: Positive = Field(description="level at the start [user tokens a day, prompt + completion]")
    history_growth_per_year: Growth = Field(1.0, description="factor per year before the start")
    growth_per_year: Growth = Field(1.0, description="factor per year from the start to the first regime")
    growth_sigma: NotNegative = Field(0.0, description="sd of the yearly log growth until the first regime")
    regime: tuple[Regime, ...] = Field((), description="later growth rates, in order of date")
    curve: Annotated[Curve, Field(discriminator="form")] = Field(
        Exponential(), description="exponential, logistic (with a ceiling), or bass (adoption)"
    )
    walk_sigma: NotNegative = Field(
        0.0, description="sd of the log of demand after a year of a random walk [1/sqrt(y)]"
    )
    growth_walk_sigma: NotNegative = Field(
        0.0, description="sd of the yearly log growth after a year of a random walk of its own [1/sqrt(y)]"
    )
    turns: Turns = Field(Turns(), description="days at random on which growth jumps to another rate")
    jumps: Jumps = Field(Jumps(), description="steps of the level that come at random and stay")
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
    month_factors: tuple[Positive, ...] = Field(_FLAT_YEAR, description="January to December, mean 1; joined by lines")
    hour_profile: tuple[NotNegative, ...] = Field(_FLAT_DAY, description="24 hours, mean 1")
    token_price: TokenPrice = Field(
        TokenPrice(), description="the declared price of tokens, and what it does to demand"
    )
    prompt_share: Share = Field(0.8, description="prompt tokens / user tokens; segments have their own")
    cached_share: Share = Field(0.0, description="prompt tokens read from the prompt cache / prompt tokens")
    context_tokens: Positive = Field(2000.0, description="mean tokens held in a request's KV cache [tokens]")
    batch: BatchInputs = Field(BatchInputs(), description="the part of each day's tokens that can wait")
    segment: tuple[Segment, ...] = Field((), description="parts of demand with their own growth and mix of tokens")
    trace: Trace | None = Field(None, description="recorded days that replace level, weekday and noise")

    @field_validator("weekday_factors", "month_factors", "hour_profile")
    @classmethod
    def _mean_one(cls, factors: tuple[float, ...]) -> tuple[float, ...]:
        if len(factors) not in (7, 12, 24):
            raise ValueError(f"needs 7 weekday factors, 12 months or 24 hours, has {len(factors)}")
        if abs(sum(factors) / len(factors) - 1.0) > 1e-6:
            raise ValueError(f"must have mean 1, has mean {sum(factors) / len(factors):.6f}")
        return factors

    @model_validator(mode="after")
    def _lengths_and_order(self) -> DemandInputs:
        for name, factors, n in (
            ("weekday_factors", self.weekday_factors, 7),
            ("month_factors", self.month_factors, 12),
            ("hour_profile", self.hour_profile, 24),
        ):
            if len(factors) != n:
                raise ValueError(f"{name} needs {n} values, has {len(factors)}")
        for earlier, later in pairwise(self.regime):
            if later.start <= earlier.start:
                raise ValueError(f"regimes must be in order of date: {later.start} follows {earlier.start}")
        return self

    @model_validator(mode="after")
    def _curve_and_segments(self) -> DemandInputs:
        curve = self.curve
        if not isinstance(curve, Exponential) and curve.ceiling_tokens_per_day <= self.tokens_per_day:
            rule = f"must be more than tokens_per_day, {self.tokens_per_day:g}"
            raise Misplaced("curve.ceiling_tokens_per_day", rule, f"{curve.ceiling_tokens_per_day:g}")
        if isinstance(curve, Bass) and (
            self.growth_per_year != 1.0 or self.history_growth_per_year != 1.0 or self.regime
        ):
            rule = "gives demand its growth, so growth_per_year, history_growth_per_year and regimes must be left out"
            raise Misplaced("curve.form", rule, "bass")
        shares = sum(segment.share for segment in self.segment)
        if self.segment and abs(shares - 1.0) > _SHARES_SUM:
            raise Misplaced("segment.0.share", "and those of all other segments must sum to 1", f"sum {shares:.6g}")
        names = [segment.name for segment in self.segment]
        for row, name in enumerate(names):
            if name in names[:row]:
                raise Misplaced(f"segment.{row}.name", "must differ from the other segments' names", repr(name))
        return self

    @property
    def unsure(self) -> Unsure:
        """What makes growth uncertain beside the regimes' own luck."""
        return Unsure(self.walk_sigma, self.growth_walk_sigma, self.turns)

    @property
    def mix_at_start(self) -> Mix:
        """What a user token asks of a server on day 0."""
        if not self.segment:
            return Mix(self.prompt_share, self.cached_share, 1.0 - self.prompt_share)
        return mix_of(self.segment, np.array([segment.share for segment in self.segment]))

    @property
    def mean_share(self) -> float:
        """1 if noise leaves the mean of demand unchanged, 0 if the median."""
        return 1.0 if self.noise_has == "mean_one" else 0.0


@dataclass(frozen=True, slots=True)
class DemandOutlook:
    """What the scenario itself says of demand, before anything is drawn; arrays by index of the calendar."""

    tokens: FloatArray
    """The expected path [tokens a day]."""
    log_sd: FloatArray
    """Sd of the log of demand around it."""
    growth: GrowthOutlook
    around: FloatArray
    """What multiplies the curve: week, season, price, a record's level, and the centre of noise."""
    segments: SegmentOutlook | None
    record: Record | None
    free: FloatArray
    """1 on days without a record, 0 on those with one."""


def outlook(demand: DemandInputs, calendar: Calendar) -> DemandOutlook:
    """The declared path of demand, what noise adds to it, and the mean of shocks."""
    around = _around(demand, calendar, calendar.days)
    record = None if demand.trace is None else _record(demand, demand.trace, calendar)
    free = np.ones(calendar.n_days) if record is None else record.free
    if record is not None:
        around = around * record.scale
    growth, log_mean = _growth_outlook(demand, calendar, record)
    unsure_years = _since(growth.first_unsure, calendar.n_days) / DAYS_PER_YEAR
    segments = segment_outlook(demand.segment, calendar.years, unsure_years, demand.mean_share)
    level, variance = demand.curve.moments(demand.tokens_per_day, growth.centre, growth.variance, log_mean)
    noise_variance, noise_log_mean = _noise_moments(demand, record, unsure_years)
    lifted, lift_variance = lift_moments(demand.shocks, free)
    tokens = level * around * np.exp((1.0 - demand.mean_share) * free * noise_log_mean) * lifted
    if segments is not None:
        tokens *= segments.expected.sum(axis=0)
        variance = variance + segments.log_variance
    if record is not None:
        np.copyto(tokens, record.tokens, where=free == 0.0)
    log_sd = np.sqrt(free * (variance + noise_variance) + lift_variance)
    centred = around * np.exp(-demand.mean_share * free * noise_log_mean)
    return DemandOutlook(tokens, log_sd, growth, centred, segments, record, free)


def _around(demand: DemandInputs, calendar: Calendar, days: IntArray) -> FloatArray:
    """What is declared to multiply the curve on any days, segments apart."""
    return _seasons(demand, calendar, days) * demand.token_price.factor(calendar, days)


def _seasons(demand: DemandInputs, calendar: Calendar, days: IntArray) -> FloatArray:
    """Weekday and month factors of any days, inside the calendar or not; months are joined by straight lines."""
    factors = np.asarray(demand.weekday_factors)[(days + calendar.start.weekday()) % 7]
    if demand.month_factors == _FLAT_YEAR:
        return factors
    of_year = (np.datetime64(calendar.start) + days).astype("datetime64[D]")
    part = (of_year - of_year.astype("datetime64[Y]")).astype(np.float64) / DAYS_PER_YEAR
    seasons: FloatArray = factors * np.interp(part, _MID_MONTHS, demand.month_factors, period=1.0)
    return seasons


def _regime_years(demand: DemandInputs, calendar: Calendar, days: IntArray) -> FloatArray:
    """Years spent in each regime by each day, [regime, day]; one that began before the start begins with it."""
    starts = [max(calendar.day_of(regime.start), 0) for regime in demand.regime]
    edges = np.array([0, *starts, np.iinfo(np.int64).max])
    return np.clip(days[None, :] - edges[:-1, None], 0, np.diff(edges)[:, None]) / DAYS_PER_YEAR


def _log_growth(demand: DemandInputs, calendar: Calendar, days: IntArray) -> FloatArray:
    """Declared log growth since the start on any days, inside the calendar or not."""
    if isinstance(demand.curve, Bass):
        by_curve: FloatArray = np.asarray(days / DAYS_PER_YEAR) * demand.curve.log_growth_per_year
        return by_curve
    rates = np.log([demand.growth_per_year, *(regime.growth_per_year for regime in demand.regime)])
    past = np.minimum(days, 0) / DAYS_PER_YEAR
    grown: FloatArray = rates @ _regime_years(demand, calendar, days) + np.log(demand.history_growth_per_year) * past
    return grown


def _record(demand: DemandInputs, trace: Trace, calendar: Calendar) -> Record:
    """The trace on the calendar, beside what is declared for its days."""
    if trace.first_day is None:
        raise ValueError("a trace needs its first day and its tokens: load it from its file first")
    days = calendar.day_of(trace.first_day) + np.arange(len(trace.tokens))
    declared = demand.curve.level(demand.tokens_per_day, _log_growth(demand, calendar, days))
    declared = declared * _around(demand, calendar, days)
    if demand.segment:
        declared = declared * declared_levels(demand.segment, days / DAYS_PER_YEAR).sum(axis=0)
    return record_of(trace, calendar, declared, _seasons(demand, calendar, days))


def _growth_outlook(
    demand: DemandInputs, calendar: Calendar, record: Record | None
) -> tuple[GrowthOutlook, FloatArray]:
    """Growth as declared, certain until the start or the end of a record, and the log of its luck's mean."""
    first = calendar.history_days if record is None else max(calendar.history_days, record.end - 1)
    first = min(first, calendar.n_days - 1)
    spent = _regime_years(demand, calendar, calendar.days)
    spent = np.maximum(spent - spent[:, [first]], 0.0)
    sigmas = np.array([demand.growth_sigma, *(regime.growth_sigma for regime in demand.regime)])
    variance = sigmas**2 @ spent**2
    log_mean = variance / 2.0
    other_variance, other_log_mean = demand.unsure.moments(calendar.n_days - first)
    variance[first:] += other_variance
    log_mean[first:] += other_log_mean
    shift = demand.mean_share * demand.curve.shift(log_mean)
    centre = _log_growth(demand, calendar, calendar.days) + shift
    return GrowthOutlook(centre, variance, spent, sigmas, first), log_mean


def _noise_moments(
    demand: DemandInputs, record: Record | None, unsure_years: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Variance of the log of what multiplies the curve at random, shocks apart, and log of its mean."""
    noise = np.full(unsure_years.size, demand.noise_sigma**2)
    noise_log_mean = noise / 2.0
    if record is not None and record.is_bootstrapped:
        noise[record.end :] = np.mean(record.noise**2)
        noise_log_mean[record.end :] = np.log(np.mean(np.exp(record.noise)))
    jumps = demand.jumps.per_year * unsure_years
    variance = noise + demand.level_sigma**2 + jumps * demand.jumps.log_square
    return variance, noise_log_mean + demand.level_sigma**2 / 2.0 + jumps * demand.jumps.mean_rise


def _since(first: int, n_days: int) -> FloatArray:
    """Days since an index, 0 before it."""
    return np.maximum(np.arange(float(n_days)) - first, 0.0)


@dataclass(frozen=True, slots=True)
class DrawnDemand:
    """One path of demand, by index of the calendar, and the mix of its segments if it has any."""

    tokens: FloatArray
    mix: Mix | None


def draw_demand(
    demand: DemandInputs,
    view: DemandOutlook,
    luck: FloatArray,
    shocks: tuple[Shock, ...],
    dice: Dice,
    calendar: Calendar,
) -> DrawnDemand:
    """One world's demand; `luck` is a unit normal per regime of growth (`growth.draw_luck`)."""
    tokens = demand.curve.level(demand.tokens_per_day, _grown(demand, view, luck, dice, calendar))
    tokens = tokens * view.around * np.exp(view.free * _noise(demand, view, dice, calendar))
    mix = None
    if view.segments is not None:
        levels = view.segments.draw(dice)
        tokens *= levels.sum(axis=0)
        mix = mix_of(demand.segment, levels)
    if shocks:
        tokens *= lift(demand.shocks, shocks, view.free, calendar)
    if view.record is not None:
        np.copyto(tokens, view.record.tokens, where=view.free == 0.0)
    return DrawnDemand(tokens, mix)


def _grown(demand: DemandInputs, view: DemandOutlook, luck: FloatArray, dice: Dice, calendar: Calendar) -> FloatArray:
    """Log growth since the start in one world."""
    growth = view.growth
    grown = growth.centre + (growth.regime_sigmas * luck) @ growth.regime_years
    grown[growth.first_unsure :] += demand.unsure.draw(dice, calendar.n_days - growth.first_unsure)
    return grown


def _noise(demand: DemandInputs, view: DemandOutlook, dice: Dice, calendar: Calendar) -> FloatArray:
    """Log of what multiplies the curve at random in one world, shocks apart."""
    noise, record = np.zeros(calendar.n_days), view.record
    if demand.noise_sigma > 0.0:
        normals = dice.stream("demand.noise").standard_normal(calendar.n_days)
        noise += autoregression(normals, demand.noise_persistence, demand.noise_sigma)
    if record is not None and record.is_bootstrapped and demand.trace is not None and record.end < calendar.n_days:
        block = demand.trace.bootstrap_block_days
        noise[record.end :] = bootstrapped(record, block, dice, calendar.n_days - record.end)
    if demand.level_sigma > 0.0:
        noise += demand.level_sigma * dice.stream("demand.level").standard_normal()
    if demand.jumps.per_year > 0.0:
        noise[view.growth.first_unsure + 1 :] += _jumped(
            demand.jumps, dice, calendar.n_days - view.growth.first_unsure - 1
        )
    return noise


def _jumped(jumps: Jumps, dice: Dice, n_days: int) -> FloatArray:
    """Sum of the logs of all jumps so far."""
    days = arrivals(dice.stream("demand.jump_days"), jumps.per_year / DAYS_PER_YEAR, n_days)
    logs = jumps.log_mean + jumps.log_sigma * dice.stream("demand.jump_sizes").standard_normal(len(days))
    steps = np.zeros(n_days)
    np.add.at(steps, days, logs)
    return np.cumsum(steps)
