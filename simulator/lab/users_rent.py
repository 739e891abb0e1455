"""What serving today's users takes beyond the GPUs held: where money is limited it comes before new orders."""

from __future__ import annotations

import numpy as np

from simulator.lab.forecast import Forecast
from simulator.lab.limits import UsersRent
from simulator.lab.need import Need, days_of
from simulator.lab.observation import Observation
from simulator.laws.units import HOURS_PER_DAY, IntArray


def rent_for_users(observation: Observation, forecast: Forecast, days: IntArray, review_days: int) -> UsersRent:
    """Rent of the mean need until the next review, on every day from today on, less what is held or will come.

    Parameters
    ----------
    days
        Whole days from 0 on; those before today are left at nothing.
    """
    rents, nothing = observation.on_demand_usd_per_gpu_hour, np.zeros(days.size)
    need = Need.on(observation, forecast, days_of(observation.day, review_days), rents)
    if need is None:
        return UsersRent(nothing, np.zeros(rents.size))
    kind = need.accelerator
    index = observation.scenario.calendar.index(observation.day)
    most = min(observation.fleet.rental_cap_gpus, float(observation.scenario.supply.on_demand_gpus[kind, index]))
    usd_per_gpu_day = float(rents[kind]) * HOURS_PER_DAY / need.hours_for_one
    coming = days[observation.day :]
    worth, fleet = 1.0 / need.hours_for_one, observation.fleet
    lacking = need.mean_gpus - worth @ fleet.committed(coming)
    usd = nothing
    usd[observation.day :] = np.clip(lacking, 0.0, most) * usd_per_gpu_day[kind]
    return UsersRent(usd, usd_per_gpu_day)
