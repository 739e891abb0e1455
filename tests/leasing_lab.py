"""A lab whose bill is known by hand: ten GPUs' worth of flat demand, rented by the hour or leased thrice over.

Renting costs 10 x 24 x 2 USD a day; a lease of 30 GPUs costs 30 x 24 x 2 x (1 - discount), used or not. So leasing is
cheaper above a discount of 1 - 10 / 30, and demand of m times as much moves that to 1 - m / 3 while m < 2.
"""

from __future__ import annotations

from small_lab import FixedOrders, plain_scenario

from simulator.lab.forecast import LastValue
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.world.market import Commitment
from simulator.world.roadmap import RoadmapInputs
from simulator.world.scenario import Scenario

DISCOUNT = "market.commitment.0.discount"


def leasing_lab(level_sigma: float = 0.0) -> Scenario:
    """A hundred days without a release; the level of demand may be unsure."""
    lab = plain_scenario()
    market = lab.market.model_copy(update={"event": (), "commitment": (Commitment(term_days=100, discount=0.25),)})
    return lab.model_copy(
        update={
            "title": "leasing lab",
            "horizon_days": 100,
            "market": market,
            "roadmap": RoadmapInputs(target_flop=1e20, release=()),
            "demand": lab.demand.model_copy(update={"level_sigma": level_sigma}),
        }
    )


def getting(name: str, procurement: Procurement) -> Policy:
    """A policy that gets its GPUs so."""
    return Policy(name, LeverRecipe(levers=frozenset()), procurement, LastValue())


RENT = getting("rent", RentOnDemand())
LEASE = getting("lease", FixedOrders(reserves=(30,), term_days=100))
FEW = getting("lease few", FixedOrders(reserves=(12,), term_days=100))
CAPPED = getting("capped", RentOnDemand(cap_gpus=9))
"""Serves less where more than nine GPUs are needed."""
