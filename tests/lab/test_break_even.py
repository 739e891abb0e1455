"""What breaks even: GPU by GPU against brute force, and beside the newsvendor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import HALF_AND_HALF, TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import Flat, observed

from simulator.lab.break_even import BreakEven, used_enough
from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import Expected
from simulator.lab.lab import simulate
from simulator.lab.models import served_model
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Purchase
from simulator.lab.policy import Policy
from simulator.lab.procurement import Newsvendor, Procurement, owned_usd_per_gpu_hour
from simulator.laws.precision import BF16
from simulator.laws.units import FloatArray, IntArray
from simulator.world.scenario import Scenario
from simulator.world.world import realize

RENT = 2.0
LIFE_DAYS = 1826
UPKEEP = 2.0 * (0.75 * 1.2 * 0.10 + 182.625 / 730.5)
"""A GPU-hour of power and hosting; maintenance goes with the price."""


def lab(break_even: float, hours: tuple[float, ...] = HALF_AND_HALF, **demand: object) -> Scenario:
    """The plain scenario without releases, GPUs at such a price that owning breaks even at this utilisation."""
    plain = plain_scenario()
    # Per USD of price: 2 USD all-in less what the final sale fetches, over the hours of five years, and upkeep.
    sold = 1.5 * 0.9 * 10 ** (-0.36525 * 5)
    per_hour = (2.0 - sold) / (5 * 8766) + 2.0 * 0.036525 / 8766
    price = (break_even * RENT - UPKEEP) / per_hour
    quote = plain.market.quote[0].model_copy(update={"purchase_usd_per_gpu": price})
    return plain.model_copy(
        update={
            "market": plain.market.model_copy(update={"event": (), "quote": (quote,)}),
            "demand": plain.demand.model_copy(update={"hour_profile": hours, **demand}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
        }
    )


def seen(scenario: Scenario) -> Observation:
    return observed(realize(scenario), 0, served_model(scenario, "opening model", 2.5e11, 1e12, BF16, 1.0))


def bought(rule: Procurement, observation: Observation, forecast: object) -> int:
    return sum(order.gpus for order in rule.review(observation, forecast))  # type: ignore[arg-type]


def gpus_that_break_even(hourly_need: list[float], break_even: float) -> int:
    """One GPU after the other, one hour after the other."""
    number = 0
    while True:
        used = sum(min(max(need - number, 0.0), 1.0) for need in hourly_need)
        if used / len(hourly_need) < break_even:
            return number
        number += 1


@pytest.mark.parametrize("break_even", [0.36, 0.49, 0.51, 0.7, 0.99, 1.01])
@pytest.mark.parametrize(
    "hours", [HALF_AND_HALF, (0.4, 1.6) * 12, tuple(0.54 + hour / 25 for hour in range(24))], ids=str
)
def test_exactly_the_gpus_that_break_even_are_bought(break_even: float, hours: tuple[float, ...]) -> None:
    scenario = lab(break_even, hours)
    assert owned_usd_per_gpu_hour(seen(scenario))[0] == pytest.approx(break_even * RENT)
    run = simulate(scenario, Policy("p", FixedRecipe(), BreakEven(least_gpus=1), Expected()))
    expected = gpus_that_break_even([10 * hour for hour in hours], break_even)
    assert sum(order.gpus for order in run.orders) == expected
    assert bool(expected) == (break_even <= 1.0)


@pytest.mark.parametrize("safety", [0.5, 1.0, 1.3, 2.0])
def test_safety_is_so_many_times_the_break_even_utilisation(safety: float) -> None:
    hours = tuple(0.54 + hour / 25 for hour in range(24))
    found = bought(BreakEven(least_gpus=1, safety=safety), seen(lab(0.6, hours)), Expected())
    assert found == gpus_that_break_even([10 * hour for hour in hours], 0.6 * safety)


def test_what_is_committed_is_not_bought_again() -> None:
    fleet = Fleet(1)
    fleet.commit(Purchase(0, 4, 10_000.0, 0, 10_000), 0)
    observation = replace(seen(lab(0.4)), fleet=Holdings(fleet))
    assert bought(BreakEven(least_gpus=1), observation, Expected()) == 15 - 4
    assert bought(BreakEven(least_gpus=12), observation, Expected()) == 0


@settings(deadline=None)
@given(st.lists(st.floats(-20.0, 60.0), min_size=1, max_size=50), st.floats(0.01, 1.2))
def test_no_other_number_of_gpus_costs_less(short: list[float], owned_over_rented: float) -> None:
    hours = np.array(short)
    chosen = used_enough(hours, owned_over_rented)
    costs = [owned_over_rented * k * hours.size + np.maximum(hours - k, 0.0).sum() for k in range(70)]
    assert costs[chosen] <= min(costs) + 1e-3


# The whole life, at the mean -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turning:
    """A forecast of so many times as much from the middle of a life on."""

    factor: float

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        mean = np.where(days < observation.day + 1 + LIFE_DAYS // 2, 1.0, self.factor) * TOKENS_PER_DAY
        return mean, np.zeros(days.size)


@pytest.mark.parametrize(("break_even", "of_life", "of_next_days"), [(0.36, 5, 15), (0.4, 5, 15), (0.7, 5, 5)])
def test_it_counts_the_use_of_the_whole_life(break_even: float, of_life: int, of_next_days: int) -> None:
    # Half of the days need 5 and 15, the other half a third of that: a quarter of all hours need 15, three quarters 5.
    # The newsvendor sees but the days until its next order could arrive, half of whose hours need 15.
    observation = seen(lab(break_even))
    assert bought(BreakEven(least_gpus=1), observation, Turning(1 / 3)) == of_life
    assert bought(Newsvendor(least_gpus=1), observation, Turning(1 / 3)) == of_next_days


@pytest.mark.parametrize(("break_even", "now"), [(0.4, 15), (0.7, 5), (0.8, 5)])
def test_what_is_used_enough_only_later_is_bought_later(break_even: float, now: int) -> None:
    # The other half of the life needs 15 and 45: three quarters of all hours need 15, but only half of the coming ones.
    assert bought(BreakEven(least_gpus=1), seen(lab(break_even)), Turning(3.0)) == now


def test_a_fleet_is_replaced_when_it_goes_and_not_before() -> None:
    """Flat need, lives of 100 days: ten GPUs at a time, the next ten as the first are sold, never twenty."""
    flat = lab(0.5, (1.0,) * 24)
    quote = flat.market.quote[0].model_copy(update={"purchase_usd_per_gpu": 100.0})
    scenario = flat.model_copy(
        update={
            "horizon_days": 260,
            "ownership": flat.ownership.model_copy(update={"useful_life_years": 100 / 365.25}),
            "market": flat.market.model_copy(update={"quote": (quote,)}),
        }
    )
    run = simulate(scenario, Policy("p", FixedRecipe(), BreakEven(least_gpus=1, review_days=10), Expected()))
    assert run.used.owned_gpus[0].max() == 10.0
    assert [order.gpus for order in run.orders] == [10, 10, 10]


def test_it_does_not_heed_the_spread() -> None:
    observation = seen(lab(0.7))
    found = {bought(BreakEven(least_gpus=1), observation, Flat(TOKENS_PER_DAY, spread)) for spread in (0.0, 0.5, 1.0)}
    assert found == {5}


@pytest.mark.parametrize(("break_even", "base", "above"), [(0.7, 0.5, 0.5), (0.4, 1.5, 0.0), (1.1, 0.0, 1.0)])
def test_its_planning_price_is_that_of_the_hours_that_break_even(break_even: float, base: float, above: float) -> None:
    scenario = lab(break_even).model_copy(update={"roadmap": plain_scenario().roadmap})
    price = BreakEven().planning_price(seen(scenario), scenario.releases[0], Expected())
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(break_even * RENT * base + RENT * above)
    assert price.training_usd_per_gpu_hour[0] == pytest.approx(RENT)


def test_an_order_says_what_it_is_for() -> None:
    (order,) = BreakEven(least_gpus=1).review(seen(lab(0.7)), Expected())
    assert isinstance(order, Buy)
    assert order.reason == "used for 70% of its life or more, and from day 1 on"
