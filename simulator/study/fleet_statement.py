"""What GPUs cost by tenure: hours held, hours used, and the price of an hour of either.

The cost of a tenure is that of the hours in the window, as the accounts have it: of owned GPUs their loss of value
(what was brought in and bought, less what was sold and is left), power, hosting, maintenance and interest; of leases
their days in the window, whenever paid, not what is still owed at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.lab.accounts import Account
from simulator.lab.dispatch import Dispatch
from simulator.lab.orders import Tenure
from simulator.laws.units import HOURS_PER_DAY, FloatArray
from simulator.study.run_rows import ratio

ACCOUNTS: dict[Tenure, tuple[Account, ...]] = {
    Tenure.OWNED: (
        Account.OPENING_FLEET,
        Account.PURCHASE,
        Account.RESALE,
        Account.LOAN,
        Account.INTEREST,
        Account.POWER,
        Account.HOSTING,
        Account.MAINTENANCE,
        Account.CLOSING_FLEET,
        Account.CLOSING_PAYMENTS,
        Account.CLOSING_LOANS,
    ),
    Tenure.RESERVED: (Account.RESERVED, Account.CLOSING_PREPAID),
    Tenure.ON_DEMAND: (Account.ON_DEMAND,),
    Tenure.SPOT: (Account.SPOT,),
}
"""The accounts that the GPU-hours of each tenure are paid through."""


@dataclass(frozen=True, slots=True)
class FleetRow:
    """A row of fleet.csv: one policy and tenure, means over worlds; prices are mean cost / mean hours."""

    policy: str
    tenure: str
    gpu_hours_held: float
    """Held, or rented by the hour."""
    gpu_hours_used: float
    """With work allocated to them; of those rented all that are paid but for starting up and least terms."""
    utilization: float
    usd: float
    usd_per_gpu_hour_held: float
    usd_per_gpu_hour_used: float
    """The effective price."""
    idle_gpu_hours: float
    idle_usd: float
    """Idle hours at the mean price of an hour held; the economic table prices each day's at that day's cost."""


def used_gpu_hours(used: Dispatch, gpus: FloatArray) -> FloatArray:
    """GPU-hours with work allocated to them, over the window [tenure].

    Parameters
    ----------
    used
        Who had how many GPUs, and what was done on them. Owned and reserved ones are alike: they share it by number.
    gpus
        GPUs held, or rented on average over the day [tenure, day].
    """
    held = used.owned_gpus + used.reserved_gpus
    owned_share = np.divide(used.owned_gpus, held, out=np.zeros_like(held), where=held > 0.0)
    hours: FloatArray = HOURS_PER_DAY * gpus.sum(axis=1)
    tenures = list(Tenure)
    hours[tenures.index(Tenure.ON_DEMAND)] -= float((used.serving_billed_hours - used.serving_rented_hours).sum())
    hours[tenures.index(Tenure.OWNED)] = (used.busy_hours * owned_share).sum()
    hours[tenures.index(Tenure.RESERVED)] = (used.busy_hours * (1.0 - owned_share)).sum()
    return hours


def fleet_rows(policy: str, account_usd: FloatArray, held: FloatArray, used: FloatArray) -> Sequence[FleetRow]:
    """The statement of one policy, of means over worlds [account], [tenure] and [tenure]."""
    rows = []
    for at, tenure in enumerate(Tenure):
        usd = float(account_usd[list(ACCOUNTS[tenure])].sum())
        idle = max(float(held[at] - used[at]), 0.0)
        price = ratio(usd, float(held[at]))
        rows.append(
            FleetRow(
                policy=policy,
                tenure=tenure.value,
                gpu_hours_held=float(held[at]),
                gpu_hours_used=float(used[at]),
                utilization=ratio(float(used[at]), float(held[at])),
                usd=usd,
                usd_per_gpu_hour_held=price,
                usd_per_gpu_hour_used=ratio(usd, float(used[at])),
                idle_gpu_hours=idle,
                idle_usd=idle * price if idle else 0.0,
            )
        )
    return rows
