"""The realised world: every random thing that does not depend on the lab, drawn and frozen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.units import DAYS_PER_YEAR, FloatArray
from simulator.world.calendar import Calendar
from simulator.world.demand import Shock, draw_shocks, draw_tokens
from simulator.world.dice import Dice
from simulator.world.market import DAYS_PER_QUARTER, Prices, draw_prices
from simulator.world.scenario import Scenario


@dataclass(frozen=True, slots=True)
class World:
    """One replication's demand, prices and luck; all policies of the replication live in it.

    Arrays run over the days of `calendar`: the past, the days lived, and those looked ahead to.
    """

    scenario: Scenario
    seed: int
    replication: int
    demand_tokens: FloatArray
    tokens_before: FloatArray
    """tokens_before[i] = all tokens asked before index i: one longer than the calendar."""
    shocks: tuple[Shock, ...]
    prices: Prices
    failures_per_gpu_year: float

    @property
    def calendar(self) -> Calendar:
        """The days of this world."""
        return self.scenario.calendar

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
    tokens = draw_tokens(scenario.demand, scenario.demand_outlook, shocks, dice, calendar)
    before = np.concatenate(([0.0], np.cumsum(tokens)))
    prices = draw_prices(scenario.market, scenario.price_outlook, dice, calendar)
    training = scenario.training
    luck = training.failures_sigma * dice.stream("training.failures").standard_normal()
    failures = training.failures_per_gpu_year * float(np.exp(luck - training.failures_sigma**2 / 2.0))
    for drawn in (tokens, before, *(getattr(prices, field) for field in prices.__slots__)):
        drawn.setflags(write=False)
    return World(scenario, seed, replication, tokens, before, shocks, prices, failures)


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
