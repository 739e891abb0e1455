"""Means over worlds with their 95 % interval, narrowed where something known of the worlds explains the scatter.

A control variate is a figure of each world whose mean is known without drawing any: here total demand. Cost is
regressed on it, and the part of its scatter that luck in the control explains is taken out (Lavenberg and Welch 1981).
Quantiles, the worst worlds and regret are left plain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from simulator.laws.units import FloatArray
from simulator.world.growth import Exponential
from simulator.world.scenario import Scenario

LEAST_WORLDS = 16
"""With fewer, the slope of the regression is too unsure to be used."""
_SURE = 0.975
_WORTH = 0.2
"""Part of the scatter that a control must explain to be used. Taking whichever interval comes out narrower would make
intervals too narrow."""
_NO_SCATTER = 1e-12
_MOST_LEVERAGE = 0.9
"""Of one world on the regression: beyond it all others ask for the same, and a slope means nothing."""


@dataclass(frozen=True, slots=True)
class Control:
    """A figure of each world [replication], and its mean over all worlds there could be."""

    name: str
    values: FloatArray
    mean: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its 95 % interval; NaN bounds for a single world."""

    mean: float
    low: float
    high: float
    variance_factor: float = 1.0
    """Variance of the estimate / that of the plain mean: 1 where no control is used."""

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2.0

    def times(self, unit: float) -> Estimate:
        """The same in a smaller unit."""
        return Estimate(self.mean * unit, self.low * unit, self.high * unit, self.variance_factor)


def half_width(values: FloatArray) -> float:
    """Half of the 95 % interval of a mean, by Student's t; NaN for one value.

    Examples
    --------
    >>> round(half_width(np.array([1.0, 2.0, 3.0])), 4)
    2.4841
    """
    if values.size < 2:
        return float("nan")
    return float(stdtrit(values.size - 1, _SURE) * values.std(ddof=1) / np.sqrt(values.size))


def plain(values: FloatArray) -> Estimate:
    """The mean of the worlds drawn, and its interval by Student's t."""
    mean, off = float(values.mean()), half_width(values)
    return Estimate(mean, mean - off, mean + off)


def regression(values: FloatArray, control: Control | None) -> Estimate:
    """The regression estimate of a mean at the control's known mean, with its own standard error (n - 2 degrees).

    Demand may be skewed, and cost a curve of it: then the textbook estimate is biased and its error too small. So the
    estimate is that of the jackknife, which leaves out each world in turn: its bias is taken out, and its error is
    robust (Efron 1982; MacKinnon and White 1985). It is linear in the values: that of a difference is the difference
    of those. It is the plain mean where there is no control, the control hardly scatters but for a single world, or
    worlds are fewer than `LEAST_WORLDS`.

    Examples
    --------
    Costs of 2 a token and a little more, in worlds that happened to ask 1 too few:

    >>> asked = np.arange(20.0)
    >>> cost = 2.0 * asked + np.tile([0.1, -0.1], 10)
    >>> found = regression(cost, Control("total demand", asked, 10.5))
    >>> round(found.mean, 2), round(found.half_width, 2), found.variance_factor < 1e-3
    (21.0, 0.05, True)
    """
    pseudo = _jackknifed(values, control)
    if pseudo is None:
        return plain(values)
    worlds = values.size
    variance, scatter = float(pseudo.var(ddof=1)) / worlds, float(values.var(ddof=1)) / worlds
    off, centre = float(stdtrit(worlds - 2, _SURE)) * math.sqrt(variance), float(pseudo.mean())
    return Estimate(centre, centre - off, centre + off, variance / scatter if scatter > 0.0 else 1.0)


def _jackknifed(values: FloatArray, control: Control | None) -> FloatArray | None:
    """The pseudo-values of the regression estimate [replication]: their mean is it. None where no control is used."""
    worlds = values.size
    if control is None or worlds < LEAST_WORLDS:
        return None
    around = control.values - control.values.mean()
    square = float(around @ around)
    if square <= worlds * (_NO_SCATTER * control.mean) ** 2:
        return None
    leverage = 1.0 / worlds + around**2 / square
    if leverage.max() > _MOST_LEVERAGE:
        return None
    slope, away = float(around @ values) / square, control.mean - float(control.values.mean())
    left = values - values.mean() - slope * around
    moved = (1.0 / worlds + away * around / square) * left / (1.0 - leverage)
    pseudo: FloatArray = values.mean() + slope * away + (worlds - 1) * moved
    return pseudo


def estimate(values: FloatArray, control: Control | None) -> Estimate:
    """The regression estimate where the control explains a fifth of the scatter or more, else the plain mean."""
    return regression(values, worth_using(values, control))


def without_luck(values: FloatArray, control: Control | None) -> FloatArray:
    """What each world says of the mean once luck in the control is taken out [replication].

    Their mean is that of `estimate`. What two scenarios say, each with a control of its own, is paired by these.
    """
    pseudo = _jackknifed(values, worth_using(values, control))
    return values if pseudo is None else pseudo


def worth_using(values: FloatArray, control: Control | None) -> Control | None:
    """The control, if it explains a fifth of the scatter of these values or more."""
    if control is None or values.size < LEAST_WORLDS or not values.std() > 0.0 or not control.values.std() > 0.0:
        return None
    explained = float(np.corrcoef(values, control.values)[0, 1]) ** 2
    return control if explained >= _WORTH else None


def ratio_estimate(values: FloatArray, base: FloatArray, of: Callable[[FloatArray], Estimate] = plain) -> Estimate:
    """Mean of values / mean of base, both estimated in one way over the same worlds.

    The interval is that of what is left of each world once the mean ratio is taken out; NaN where base is nothing.
    """
    centre = of(base).mean
    if centre == 0.0:
        return Estimate(math.nan, math.nan, math.nan)
    ratio = of(values).mean / centre
    left = of(values - ratio * base)
    off = left.half_width / abs(centre)
    return Estimate(ratio, ratio - off, ratio + off, left.variance_factor)


def total_demand(scenario: Scenario, asked_tokens: FloatArray) -> Control | None:
    """Tokens asked over the window in each world, as a control; None where their mean is not known exactly.

    It is known on an exponential curve, where the expected path is that of the mean. On a curve with a ceiling it is
    worked out with growth taken as normal, and a trace is followed by noise of its own: neither is used.
    """
    demand = scenario.demand
    if not isinstance(demand.curve, Exponential) or demand.trace is not None:
        return None
    mean = float(scenario.demand_outlook.tokens[scenario.calendar.lived].sum())
    return Control("total demand", asked_tokens, mean)
