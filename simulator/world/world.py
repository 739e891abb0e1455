"""The realised world: every random thing that does not depend on the lab, drawn and frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from simulator.laws.units import DAYS_PER_YEAR, FloatArray
from simulator.world.calendar import DAYS_PER_QUARTER, Calendar
from simulator.world.demand import draw_demand
from simulator.world.dice import Dice
from simulator.world.growth import draw_luck
from simulator.world.prices import Prices, draw_prices
from simulator.world.roadmap import GrowthLuck, Release, draw_growth_luck, draw_slip_days, progress_on, releases
from simulator.world.scenario import Scenario
from simulator.world.segments import Mix
from simulator.world.shocks import Shock, draw_shocks


class LogLine(NamedTuple):
    """A straight line through the logs of metered days: its value in the middle, and its slope per day."""

    middle: float
    slope: float
    variance: float
    """Of the days around the line."""
    spread_of_days: float
    """Sum of squared distances from the middle: what the slope's error is measured against."""


class Meter:
    """Prefix sums of demand, so that any window is read in no time."""

    __slots__ = ("_log_squares", "_logs", "_timed_logs", "_tokens", "days")

    def __init__(self, tokens: FloatArray) -> None:
        logs = np.log(np.maximum(tokens, 1.0))
        self.days = tokens
        self._tokens, self._logs, self._log_squares = _before(tokens), _before(logs), _before(logs * logs)
        self._timed_logs = _before(logs * np.arange(float(tokens.size)))

    def mean(self, first: int, end: int) -> float:
        """Mean tokens a day over indices first to end - 1 [tokens]."""
        return float(self._tokens[end] - self._tokens[first]) / (end - first)

    def means(self, first: int, end: int, n_days: int) -> FloatArray:
        """Mean tokens a day of each whole run of `n_days` from index first on, up to end - 1 [tokens]."""
        return np.diff(self._tokens[first : end + 1 : n_days]) / n_days

    def variance_within(self, first: int, end: int, n_days: int) -> float:
        """Variance of the logs of days around the mean of their own run of `n_days`, pooled over whole runs."""
        sums, squares = (np.diff(before[first : end + 1 : n_days]) for before in (self._logs, self._log_squares))
        around = float(squares.sum() - sums.dot(sums) / n_days)
        return max(around, 0.0) / (sums.size * (n_days - 1))

    def line(self, first: int, end: int) -> LogLine:
        """The least-squares line through the logs of indices first to end - 1 (two or more)."""
        n = end - first
        middle = float(self._logs[end] - self._logs[first]) / n
        timed = float(self._timed_logs[end] - self._timed_logs[first]) - (first + end - 1) / 2.0 * middle * n
        squares = n * (n * n - 1.0) / 12.0
        slope = timed / squares
        total = float(self._log_squares[end] - self._log_squares[first]) - n * middle * middle
        return LogLine(middle, slope, max(total - slope * timed, 0.0) / max(n - 2, 1), squares)


class MeterReading:
    """A meter as it stands on one day: it answers for the days before, and for no other."""

    __slots__ = ("_meter", "end")

    def __init__(self, meter: Meter, end: int) -> None:
        self._meter, self.end = meter, end

    def mean(self, first: int, end: int) -> float:
        """Mean tokens a day over indices first to end - 1 [tokens]."""
        self._check(first, end)
        return self._meter.mean(first, end)

    def means(self, first: int, end: int, n_days: int) -> FloatArray:
        """Mean tokens a day of each whole run of `n_days` from index first on, up to end - 1 [tokens]."""
        self._check(first, end)
        return self._meter.means(first, end, n_days)

    def variance_within(self, first: int, end: int, n_days: int) -> float:
        """Variance of the logs of days around the mean of their own run of `n_days`, pooled over whole runs."""
        self._check(first, end)
        return self._meter.variance_within(first, end, n_days)

    def line(self, first: int, end: int) -> LogLine:
        """The least-squares line through the logs of indices first to end - 1 (two or more)."""
        self._check(first, end)
        return self._meter.line(first, end)

    def tokens(self) -> FloatArray:
        """A copy of all it has read, oldest first [tokens]."""
        return self._meter.days[: self.end].copy()

    def _check(self, first: int, end: int) -> None:
        if not 0 <= first < end <= self.end:
            raise IndexError(f"the meter has read days 0 to {self.end - 1}, not {first} to {end - 1}")


def _before(values: FloatArray) -> FloatArray:
    return np.concatenate(([0.0], np.cumsum(values)))


@dataclass(frozen=True, slots=True)
class World:
    """One replication's demand, prices and luck; all policies of the replication live in it.

    Arrays run over the days of `calendar`: the past, the days lived, and those looked ahead to.
    """

    scenario: Scenario
    calendar: Calendar
    """The days of this world."""
    seed: int
    replication: int
    demand_tokens: FloatArray
    mix: Mix | None
    """What its tokens ask of a server by day, if demand has segments; else the scenario's own."""
    meter: Meter
    shocks: tuple[Shock, ...]
    prices: Prices
    failures_per_gpu_year: float
    growth_luck: GrowthLuck
    releases: tuple[Release, ...]
    """What is really owed; a policy sees a release on its decision day, and not before."""
    slip_days: tuple[int, ...]
    """By release: how much later than planned it comes, whatever the policy [days]."""

    def until(self, day: int) -> World:
        """The same world, as if it had ended before `day`."""
        calendar = self.calendar
        later = calendar.look_ahead_days + calendar.horizon_days - day
        return replace(self, calendar=replace(calendar, horizon_days=day, look_ahead_days=later))

    def progress_on(self, day: int) -> float:
        """Algorithmic progress since the start, as a factor of compute."""
        return progress_on(self.scenario.roadmap, day, self.growth_luck)

    def purchase_lead_days(self, day: int) -> int:
        """Days until GPUs ordered on `day` are in service; one draw per quarter, whoever orders."""
        return int(self.prices.purchase_lead_days[day // DAYS_PER_QUARTER])


def realize(scenario: Scenario, seed: int = 0, replication: int = 0) -> World:
    """Draw the world of one replication.

    Parameters
    ----------
    scenario
        The declared inputs.
    seed
        The study's seed.
    replication
        Which of its worlds; the same three give the same world on any machine.

    Returns
    -------
    World
        Frozen arrays over the scenario's calendar.

    Examples
    --------
    >>> from simulator import load_scenario, realize
    >>> world = realize(load_scenario("known_demand"), seed=1)
    >>> bool(abs(world.demand_tokens.sum() / world.demand_tokens.size - 1e13 / 365) < 1)
    True
    """
    dice, calendar = Dice(seed, replication), scenario.calendar
    shocks = draw_shocks(scenario.demand.shocks, dice, calendar)
    view = scenario.demand_outlook
    luck, years = draw_luck(view.growth, dice), view.growth.regime_years
    drawn = draw_demand(scenario.demand, view, luck, shocks, dice, calendar)
    prices = draw_prices(scenario.market, scenario.price_outlook, luck, years, dice, calendar)
    training = scenario.training
    failures, sigma = training.failures_per_gpu_year, training.failures_sigma
    if sigma > 0.0:
        deviation = sigma * dice.stream("training.failures").standard_normal()
        failures *= float(np.exp(deviation - sigma**2 / 2.0))
    growth = draw_growth_luck(scenario.roadmap, dice)
    owed = releases(scenario.roadmap, scenario.start, growth) if any(growth) else scenario.releases
    slips = draw_slip_days(scenario.roadmap, dice)
    drawn.tokens.setflags(write=False)
    prices.freeze()
    return World(
        scenario,
        calendar,
        seed,
        replication,
        drawn.tokens,
        drawn.mix,
        Meter(drawn.tokens),
        shocks,
        prices,
        failures,
        growth,
        owed,
        slips,
    )


def expected_rent(scenario: Scenario, first_day: int, n_days: int) -> float:
    """Mean of a rent over a span of days / the rent today, by the scenario's stated drift.

    Examples
    --------
    A rent that falls 30 % a year averages 0.8411 of today's over the next year (numbers of A5).
    """
    fall = -np.log1p(-scenario.market.rental_fall_per_year) / DAYS_PER_YEAR
    if fall == 0.0 or n_days == 0:
        return float(np.exp(-fall * first_day))
    return float(np.exp(-fall * first_day) * -np.expm1(-fall * n_days) / (fall * n_days))
