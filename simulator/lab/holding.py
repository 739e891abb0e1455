"""What it costs to keep GPUs that are owned already."""

from __future__ import annotations

from simulator.lab.books import resale_bid_on_day_usd
from simulator.lab.observation import Observation
from simulator.lab.orders import Purchase
from simulator.laws.units import DAYS_PER_YEAR


def running_usd_per_day(observation: Observation, tranche: Purchase) -> float:
    """Power at today's tariff, hosting and maintenance of a tranche [USD a day]."""
    scenario, own = observation.scenario, observation.scenario.ownership
    rated_kw = tranche.gpus * scenario.accelerators[tranche.accelerator].server_power_kw
    all_in = tranche.gpus * tranche.paid_usd_per_gpu * own.all_in_factor
    power = own.kwh_per_rated_kw_day * observation.electricity_usd_per_kwh
    return rated_kw * (power + own.hosting_usd_per_kw_day) + all_in * own.maintenance_per_year / DAYS_PER_YEAR


def holding_usd(observation: Observation, tranche: Purchase, n_days: int) -> float:
    """What keeping GPUs for so many days more costs: running them, and what they fetch less then [USD]."""
    own, new = observation.scenario.ownership, float(observation.purchase_usd_per_gpu[tranche.accelerator])
    bid, later = (resale_bid_on_day_usd(own, tranche, observation.day + days, new) for days in (0, n_days))
    return running_usd_per_day(observation, tranche) * n_days + bid - later
