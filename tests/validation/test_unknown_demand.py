"""What not knowing demand costs, through the whole simulator, against Erdil's trade in closed form (equal exchange)."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import Flat

from simulator.lab.forecast import Expected, Forecast, PerfectForesight
from simulator.lab.lab import Lab
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import Erdil
from simulator.study.files import load_scenario
from simulator.world.world import World, realize

REPLICATIONS = 2_000
STANDARD_ERRORS = 3.0


def cost_usd(world: World, forecast: Forecast) -> float:
    """Training on day 0, then serving whatever comes, all rented by the fractional GPU-hour."""
    return float(
        Lab(world, Policy("erdil", Erdil(alpha=1, beta=1), RentOnDemand(), forecast)).live().books.cash_usd.sum()
    )


@pytest.mark.parametrize(("sigma", "worth"), [(1.0, 0.1175), (0.5, 0.03077)])
def test_perfect_information_is_worth_its_closed_form(sigma: float, worth: float) -> None:
    # 1 - exp(-theta (1 - theta) sigma^2 / 2) with theta = 1/2, demand lognormal and committed to before it is known.
    scenario = load_scenario("known_demand", [f"demand.level_sigma={sigma}"])
    worlds = [realize(scenario, 5, replication) for replication in range(REPLICATIONS)]
    blind, seeing = (
        np.array([cost_usd(world, belief) for world in worlds]) for belief in (Expected(), PerfectForesight())
    )
    assert (seeing <= blind * (1 + 1e-9)).all()
    found = 1 - seeing.mean() / blind.mean()
    error = np.std(blind - seeing - found * blind) / blind.mean() / np.sqrt(REPLICATIONS)
    assert found == pytest.approx(worth, abs=STANDARD_ERRORS * error)


@pytest.mark.parametrize(("wrong", "dearer"), [(10.0, 1.73925), (0.1, 1.73925), (2.0, 1.06066), (100.0, 5.05)])
def test_a_wrong_forecast_costs_its_closed_form(wrong: float, dearer: float) -> None:
    # (s + (1 - s) r) / r^(1 - s) with s = 1/2, r = actual / planned.
    scenario = load_scenario("known_demand")
    world, right = realize(scenario), scenario.demand.tokens_per_day
    assert cost_usd(world, Flat(right / wrong)) / cost_usd(world, Flat(right)) == pytest.approx(dearer, rel=1e-4)
