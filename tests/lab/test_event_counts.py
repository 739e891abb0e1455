"""How often a lab wakes in ten years of `frontier_lab`: what keeps it fast, and the same on any machine."""

from __future__ import annotations

from functools import cache

import pytest

from simulator.lab.forecast import Trend
from simulator.lab.lab import Lab
from simulator.lab.ladder import Ladder
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, Procurement, RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import MAIN_LEVERS
from simulator.study.files import load_scenario
from simulator.world.scenario import Scenario
from simulator.world.world import realize

FLAT = (1.0,) * 24


@cache
def ten_years() -> Scenario:
    return load_scenario("frontier_lab", ["horizon_days=3652"])


def events(scenario: Scenario, procurement: Procurement, seed: int, replication: int) -> int:
    policy = Policy("all levers", LeverRecipe(levers=MAIN_LEVERS), procurement, Trend())
    return Lab(realize(scenario, seed, replication), policy).live().n_events


@pytest.mark.parametrize(("review_days", "most"), [(30, 1500), (91, 800)])
def test_ten_years_take_few_events(review_days: int, most: int) -> None:
    laddered = Ladder(review_days=review_days)
    found = [events(ten_years(), laddered, seed, replication) for seed in (1, 2) for replication in range(4)]
    assert max(found) <= most
    assert min(found) > 3652 / review_days  # the reviews alone


@pytest.mark.parametrize(("procurement", "at_most"), [(RentOnDemand(), 1.0), (BuyToForecast(), 1.0), (Ladder(), 1.1)])
def test_the_hours_of_a_day_add_few_events(procurement: Procurement, at_most: float) -> None:
    """A lab wakes by the day. A ladder, which looks at single hours, orders more often where they differ."""
    scenario = ten_years()
    flat = scenario.model_copy(update={"demand": scenario.demand.model_copy(update={"hour_profile": FLAT})})
    with_hours, without = (sum(events(each, procurement, 1, k) for k in range(6)) for each in (scenario, flat))
    assert with_hours <= at_most * without
