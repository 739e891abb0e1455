"""Bursts of demand that come at random, fade, and may call each other up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from simulator.laws.units import DAYS_PER_YEAR, FloatArray
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice, arrivals, fading
from simulator.world.inputs import Inputs, NotNegative, OpenShare, Positive

_MOST_IN_A_CLUSTER = 1000


class Shocks(Inputs):
    """Bursts of demand that arrive at random and fade: a launch that goes viral, a rival's outage."""

    per_year: NotNegative = Field(0.0, description="mean number of shocks a year that come by themselves (Poisson)")
    size: Annotated[float, Field(gt=-1)] = Field(
        0.3, description="mean rise on the first day: 0.3 is 30 % more demand; negative is a loss"
    )
    size_sigma: NotNegative = Field(0.0, description="sd of the log of a shock's size")
    decay_days: Positive = Field(21.0, description="days until a shock has faded to 1/e")
    clustering: OpenShare = Field(0.0, description="mean number of further shocks that each shock brings about")
    cluster_days: Annotated[float, Field(ge=1)] = Field(14.0, description="mean days from a shock to one it brings")

    def sizes(self, normals: FloatArray) -> FloatArray:
        """Sizes of shocks from unit normals: lognormal, of the declared mean."""
        return self.size * np.exp(self.size_sigma * normals - self.size_sigma**2 / 2.0)


@dataclass(frozen=True, slots=True)
class Shock:
    """One burst of demand: the day it comes and by what part demand rises that day."""

    day: int
    size: float


def draw_shocks(shocks: Shocks, dice: Dice, calendar: Calendar) -> tuple[Shock, ...]:
    """The bursts of one replication, over the whole calendar, in order of day."""
    if shocks.per_year == 0.0:
        return ()
    found = arrivals(dice.stream("demand.shock_days"), shocks.per_year / DAYS_PER_YEAR, calendar.n_days)
    sizes = shocks.sizes(dice.stream("demand.shock_sizes").standard_normal(len(found)))
    drawn = [Shock(day - calendar.history_days, size) for day, size in zip(found, sizes.tolist(), strict=True)]
    if shocks.clustering > 0.0:
        last = calendar.n_days - calendar.history_days
        for number, first in enumerate(tuple(drawn)):
            drawn += [shock for shock in _cluster(shocks, dice, number, first.day) if shock.day < last]
        drawn.sort(key=lambda shock: shock.day)
    return tuple(drawn)


def _cluster(shocks: Shocks, dice: Dice, number: int, first_day: int) -> list[Shock]:
    """All that one shock brings about, directly and through others; a stream of its own, so no other is shifted."""
    rng, waiting, found = dice.stream("demand.shock_clusters", number), [first_day], list[Shock]()
    while waiting and len(found) < _MOST_IN_A_CLUSTER:
        parent = waiting.pop()
        for _ in range(rng.poisson(shocks.clustering)):
            day = parent + int(rng.geometric(1.0 / shocks.cluster_days))
            found.append(Shock(day, float(shocks.sizes(rng.standard_normal(1))[0])))
            waiting.append(day)
    return found


def lift(shocks: Shocks, drawn: tuple[Shock, ...], free: FloatArray, calendar: Calendar) -> FloatArray:
    """Factor on demand by day; only days that are `free` of a record are lifted, by shocks that came on such days."""
    factor = np.ones(calendar.n_days)
    for shock in drawn:
        first = calendar.index(shock.day)
        left = fading(shock.size, shocks.decay_days, calendar.n_days - first)
        factor[first:] *= 1.0 + free[first] * free[first:] * left
    return factor


def lift_moments(shocks: Shocks, free: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of that factor on each day, and variance of its log; exact for Poisson arrivals of whole clusters.

    With g(a) the mean factor of a cluster at age a, the mean is exp(rate x sum of g - 1); the variance of the log is
    rate x sum of E[ln(factor of a cluster)^2] (Campbell's theorem).
    """
    n_days = free.size
    if shocks.per_year == 0.0:
        return np.ones(n_days), np.zeros(n_days)
    mean, squares = _cluster_moments(shocks, n_days)
    rate = shocks.per_year / DAYS_PER_YEAR
    return (
        np.exp(rate * free * np.convolve(free, mean - 1.0)[:n_days]),
        rate * free * np.convolve(free, squares)[:n_days],
    )


def _cluster_moments(shocks: Shocks, n_days: int) -> tuple[FloatArray, FloatArray]:
    """Mean factor of one shock with all it brings about, and mean square of its log, by days since it came."""
    normals, weights = np.polynomial.hermite_e.hermegauss(15)
    left = fading(1.0, shocks.decay_days, n_days)
    rise = 1.0 + shocks.sizes(normals)[:, None] * left
    weights = weights / weights.sum()
    factor, log, square = weights @ rise, weights @ np.log(rise), weights @ np.log(rise) ** 2
    if shocks.clustering == 0.0:
        return 1.0 + shocks.size * left, square
    keeps, brings = 1.0 - 1.0 / shocks.cluster_days, shocks.clustering / shocks.cluster_days
    later_factor = later_log = later_square = 0.0
    mean, squares = np.empty(n_days), np.empty(n_days)
    for age in range(n_days):
        # What the shocks it brought add at this age: each came 1, 2 ... days after it, geometrically.
        mean[age] = factor[age] * np.exp(later_factor)
        logs = log[age] + later_log
        squares[age] = square[age] + 2.0 * log[age] * later_log + later_log**2 + later_square
        later_factor = keeps * later_factor + brings * (mean[age] - 1.0)
        later_log = keeps * later_log + brings * logs
        later_square = keeps * later_square + brings * squares[age]
    return mean, squares
