"""What it costs to keep GPUs that are owned already."""

from __future__ import annotations

from simulator.lab.books import resale_bid_on_day_usd
from simulator.lab.observation import Observation
from simulator.lab.orders import Purchase
from simulator.world.scenario import Scenario


def running_usd_per_day(scenario: Scenario, tranche: Purchase, electricity_usd_per_kwh: float) -> float:
    """Power, hosting and upkeep of a tranche [USD a day]."""
    own = scenario.ownership
    rated_kw = tranche.gpus * scenario.accelerators[tranche.accelerator].server_power_kw
    power_and_hosting = rated_kw * own.running_usd_per_rated_kw_day(electricity_usd_per_kwh)
    return power_and_hosting + tranche.gpus * own.upkeep_usd_per_day(tranche.paid_usd_per_gpu)


def holding_usd(observation: Observation, tranche: Purchase, n_days: int) -> float:
    """What keeping GPUs for so many days more costs: running them, and what they fetch less then [USD]."""
    scenario, new = observation.scenario, float(observation.purchase_usd_per_gpu[tranche.accelerator])
    own, running = scenario.ownership, running_usd_per_day(scenario, tranche, observation.electricity_usd_per_kwh)
    bid, later = (resale_bid_on_day_usd(own, tranche, observation.day + days, new) for days in (0, n_days))
    return running * n_days + bid - later
