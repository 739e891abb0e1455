"""What it costs to keep GPUs that are owned already."""

from __future__ import annotations

from simulator.lab.books import resale_bid_on_day_usd
from simulator.lab.observation import Observation
from simulator.lab.orders import Purchase


def running_usd_per_day(observation: Observation, tranche: Purchase) -> float:
    """Power at today's tariff, hosting and upkeep of a tranche [USD a day]."""
    scenario, own = observation.scenario, observation.scenario.ownership
    rated_kw = tranche.gpus * scenario.accelerators[tranche.accelerator].server_power_kw
    power_and_hosting = rated_kw * own.running_usd_per_rated_kw_day(observation.electricity_usd_per_kwh)
    return power_and_hosting + tranche.gpus * own.upkeep_usd_per_day(tranche.paid_usd_per_gpu)


def holding_usd(observation: Observation, tranche: Purchase, n_days: int) -> float:
    """What keeping GPUs for so many days more costs: running them, and what they fetch less then [USD]."""
    own, new = observation.scenario.ownership, float(observation.purchase_usd_per_gpu[tranche.accelerator])
    bid, later = (resale_bid_on_day_usd(own, tranche, observation.day + days, new) for days in (0, n_days))
    return running_usd_per_day(observation, tranche) * n_days + bid - later
