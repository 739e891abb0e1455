"""What living in the same worlds is worth: the variance of a difference of two policies, paired and not."""

from __future__ import annotations

import numpy as np
from benchmarks.timing import Figures

from simulator.lab.forecast import Trend
from simulator.lab.lab import Lab
from simulator.lab.policy import Policy, default_policies
from simulator.lab.procurement import BuyToForecast
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import MAIN_LEVERS
from simulator.laws.units import FloatArray
from simulator.study.files import load_scenario
from simulator.world.scenario import Scenario
from simulator.world.world import realize

REPLICATIONS = 64
LEAST_FACTOR, LEAST_CORRELATION = 100.0, 0.95


def paired() -> Figures:
    """Two headrooms of one rule, and owning against renting."""
    print(f"\nvariance of the difference in cost, independent worlds / the same worlds, {REPLICATIONS} of each")
    scenario, every = load_scenario("frontier_lab"), LeverRecipe(levers=MAIN_LEVERS)
    low, high = (Policy(f"{room:g}", every, BuyToForecast(headroom=room), Trend()) for room in (1.1, 1.2))
    rent, own = default_policies()[4], default_policies()[6]
    found = _factor(scenario, low, high)
    is_enough = found["factor"] >= LEAST_FACTOR
    print(f"{'headroom 1.1 and 1.2':38}{found['factor']:8.0f}   at least {LEAST_FACTOR:g}   {_verdict(is_enough)}")
    owned = _factor(scenario, rent, own)
    is_close = owned["correlation"] >= LEAST_CORRELATION
    print(
        f"{'own and rent':38}{owned['factor']:8.0f}   of {owned['ceiling']:.0f} at most for their sd; correlation "
        f"{owned['correlation']:.4f}, at least {LEAST_CORRELATION:g}   {_verdict(is_close)}"
    )
    return {"headrooms": found, "own and rent": owned}


def _verdict(is_within: bool) -> str:
    return "within" if is_within else "BELOW"


def _factor(scenario: Scenario, one: Policy, other: Policy) -> dict[str, float]:
    here, there, elsewhere = _cost(scenario, one, 1), _cost(scenario, other, 1), _cost(scenario, other, 2)
    ratio = float(here.std() / there.std())
    return {
        "factor": float(np.var(here - elsewhere) / np.var(here - there)),
        "ceiling": (1.0 + ratio**2) / (1.0 - ratio) ** 2,
        "correlation": float(np.corrcoef(here, there)[0, 1]),
    }


def _cost(scenario: Scenario, policy: Policy, seed: int) -> FloatArray:
    lived = (Lab(realize(scenario, seed, number), policy).live() for number in range(REPLICATIONS))
    return np.array([run.books.cash_usd.sum() for run in lived])
