"""How demand grows: along a curve, at rates that hold until a date, and how unsure all of that is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simulator.laws.units import DAYS_PER_YEAR, FloatArray
from simulator.world.dice import Dice, arrivals, decayed_sum
from simulator.world.inputs import Inputs, NotNegative, Positive

Growth = Annotated[float, Field(gt=0, le=1e15)]
"""Factor per year."""

_LEAST_TOKENS = 1.0
"""Tokens a day before a product is launched: a meter takes logs."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class Regime(Inputs):
    """From `start` on, demand grows at this rate until the next regime."""

    start: date = Field(description="first day of the regime")
    growth_per_year: Growth = Field(description="factor per year: 1 is flat, 5 is fivefold")
    growth_sigma: NotNegative = Field(
        0.0, description="sd of the yearly log growth, one draw per regime and replication"
    )


class Turns(Inputs):
    """Days at random on which growth itself jumps to another rate, until the next turn."""

    per_year: NotNegative = Field(0.0, description="mean number of turns a year (Poisson)")
    sigma: NotNegative = Field(
        0.0, description="sd of the yearly log growth drawn at each turn, around the declared one"
    )


class Exponential(Inputs):
    """Growth without end."""

    form: Literal["exponential"] = "exponential"

    def level(self, start_tokens: float, grown: FloatArray) -> FloatArray:
        """Tokens a day after the log of demand has grown by `grown`."""
        return start_tokens * np.exp(grown)

    def shift(self, log_mean: FloatArray) -> FloatArray:
        """What to take from the growth of every world so that their mean is the declared curve."""
        return -log_mean

    def moments(
        self, start_tokens: float, centre: FloatArray, variance: FloatArray, log_mean: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean of the level and variance of its log, when growth scatters around `centre`."""
        return self.level(start_tokens, centre + log_mean), variance


class _Saturating(Inputs, ABC):
    """A curve with a ceiling. Worlds scatter around it in growth; the declared curve is the middle one."""

    ceiling_tokens_per_day: Positive = Field(description="what demand tends to, weekdays and noise apart [tokens]")

    @abstractmethod
    def level(self, start_tokens: float, grown: FloatArray) -> FloatArray:
        """Tokens a day after growth of `grown`."""

    def shift(self, log_mean: FloatArray) -> FloatArray:
        """Nothing: no shift of growth makes the mean of a bounded level that of its curve on all days."""
        return np.zeros_like(log_mean)

    def moments(
        self, start_tokens: float, centre: FloatArray, variance: FloatArray, log_mean: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean of the level and variance of its log, growth taken as normal (31 nodes of Gauss and Hermite)."""
        levels = self.level(start_tokens, centre + _NODES[:, None] * np.sqrt(variance))
        logs = np.log(levels)
        around = logs - _WEIGHTS @ logs
        mean: FloatArray = _WEIGHTS @ levels
        return mean, _WEIGHTS @ around**2


class Logistic(_Saturating):
    """Exponential at first, level at last: what grows by the declared rate is demand / (ceiling - demand)."""

    form: Literal["logistic"] = "logistic"

    def level(self, start_tokens: float, grown: FloatArray) -> FloatArray:
        """K / (1 + (K / L0 - 1) e^-grown) [tokens a day]."""
        left = self.ceiling_tokens_per_day / start_tokens - 1.0
        return self.ceiling_tokens_per_day / (1.0 + left * np.exp(-np.minimum(grown, 700.0)))


class Bass(_Saturating):
    """Adoption by innovators and imitators (Bass 1969); demand goes with the adopters there are."""

    form: Literal["bass"] = "bass"
    innovation_per_year: Positive = Field(description="p: share of those left that adopt by themselves [1/year]")
    imitation_per_year: NotNegative = Field(description="q: share of those left that adopters win over [1/year]")

    @property
    def log_growth_per_year(self) -> float:
        """p + q, the rate of the curve."""
        return self.innovation_per_year + self.imitation_per_year

    def level(self, start_tokens: float, grown: FloatArray) -> FloatArray:
        """m F(t) with F = (y - 1) / (y + q/p), y = e^((p+q) t), entered where F is that of the start [tokens a day]."""
        ratio, share = self.imitation_per_year / self.innovation_per_year, start_tokens / self.ceiling_tokens_per_day
        y = (1.0 + ratio * share) / (1.0 - share) * np.exp(np.minimum(grown, 300.0))
        return np.maximum(self.ceiling_tokens_per_day * (y - 1.0) / (y + ratio), _LEAST_TOKENS)


Curve = Exponential | Logistic | Bass


@dataclass(frozen=True, slots=True)
class GrowthOutlook:
    """Log growth since the start as declared, and how far worlds scatter around it; arrays by index of the calendar."""

    centre: FloatArray
    """Of a world of average luck."""
    variance: FloatArray
    regime_years: FloatArray
    """Time spent in each regime while growth was uncertain [regime, day] [years]."""
    regime_sigmas: FloatArray
    first_unsure: int
    """Index of the last day on which growth is certain: the start, or the end of a record."""


@dataclass(frozen=True, slots=True)
class Unsure:
    """All that makes growth uncertain beside the regimes' own luck."""

    walk_sigma: float
    growth_walk_sigma: float
    turns: Turns

    def moments(self, n_days: int) -> tuple[FloatArray, FloatArray]:
        """Variance of log growth, and log of the mean of its exponential, after 0 ... n_days - 1 uncertain days.

        A walk of the level has variance s^2 t; one of the growth rate, summed over days, s^2 times the sum of
        squares. Turns are a renewal process, summed over the day of the last turn: exact, if not normal.
        """
        days = np.arange(float(n_days))
        squares = days * (days + 1.0) * (2.0 * days + 1.0) / 6.0
        variance = self.walk_sigma**2 * days / DAYS_PER_YEAR + self.growth_walk_sigma**2 * squares / DAYS_PER_YEAR**3
        turn_variance, turn_log_mean = _turn_moments(self.turns, n_days)
        return variance + turn_variance, variance / 2.0 + turn_log_mean

    def draw(self, dice: Dice, n_days: int) -> FloatArray:
        """One path of log growth beside the declared one, on 0 ... n_days - 1 uncertain days."""
        path = np.zeros(n_days)
        if n_days > 1 and self.walk_sigma > 0.0:
            steps = dice.stream("demand.walk").standard_normal(n_days - 1)
            path[1:] += self.walk_sigma / np.sqrt(DAYS_PER_YEAR) * np.cumsum(steps)
        if n_days > 1 and self.growth_walk_sigma > 0.0:
            steps = dice.stream("demand.growth_walk").standard_normal(n_days - 1)
            path[1:] += self.growth_walk_sigma / DAYS_PER_YEAR**1.5 * np.cumsum(np.cumsum(steps))
        if n_days > 1 and self.turns.per_year > 0.0:
            path[1:] += np.cumsum(_draw_rates(self.turns, dice, n_days - 1)) / DAYS_PER_YEAR
        return path


def draw_luck(view: GrowthOutlook, dice: Dice) -> FloatArray:
    """One unit normal per regime: how its growth turned out in this world."""
    return dice.stream("demand.growth").standard_normal(view.regime_sigmas.size)


def _draw_rates(turns: Turns, dice: Dice, n_days: int) -> FloatArray:
    """Yearly log growth beside the declared one on each day: nothing before the first turn."""
    days = arrivals(dice.stream("demand.turn_days"), turns.per_year / DAYS_PER_YEAR, n_days)
    drawn = turns.sigma * dice.stream("demand.turn_rates").standard_normal(len(days))
    rates = np.zeros(n_days)
    for day, rate in zip(days, drawn.tolist(), strict=True):
        rates[day:] = rate
    return rates


def _turn_moments(turns: Turns, n_days: int) -> tuple[FloatArray, FloatArray]:
    """Variance of the log growth that turns add, and log of the mean of its exponential."""
    if turns.per_year == 0.0 or turns.sigma == 0.0 or n_days < 2:
        return np.zeros(n_days), np.zeros(n_days)
    stays = np.exp(-turns.per_year / DAYS_PER_YEAR)
    ends = -np.expm1(-turns.per_year / DAYS_PER_YEAR)
    lasted = np.arange(1.0, n_days)
    square = (turns.sigma * lasted / DAYS_PER_YEAR) ** 2
    still, over = stays ** (lasted - 1.0), ends * stays ** (lasted - 1.0)
    grown = np.exp(square / 2.0)
    mean = _renewed(still * grown, over * grown)
    squares = _renewed(still * square + np.concatenate(([0.0], np.cumsum(over * square)[:-1])), over)
    variance, log_mean = np.zeros(n_days), np.zeros(n_days)
    variance[1:] = decayed_sum(ends * squares, float(stays))
    log_mean[1:] = np.log(stays**lasted + decayed_sum(ends * mean, float(stays)))
    return variance, log_mean


def _renewed(first: FloatArray, weight: FloatArray) -> FloatArray:
    """f[n] = first[n] + sum over k = 1 ... n - 1 of weight[k] f[n - k], n counted from 1."""
    found, backwards = first.copy(), weight[::-1].copy()
    for n in range(1, found.size):
        found[n] += backwards[backwards.size - n :] @ found[:n]
    return found
