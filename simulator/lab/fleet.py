"""The GPUs the lab holds, by kind and tenure, and what it owes for them."""

from __future__ import annotations

import numpy as np

from simulator.lab.level import Level
from simulator.lab.orders import Lease, Purchase
from simulator.laws.units import HOURS_PER_DAY, FloatArray


class Fleet:
    """Levels of owned, reserved and training GPUs by accelerator; rented ones follow the day's need."""

    def __init__(self, n_accelerators: int) -> None:
        self.owned = [Level() for _ in range(n_accelerators)]
        self.reserved = [Level() for _ in range(n_accelerators)]
        self.lease_usd_per_day = [Level() for _ in range(n_accelerators)]
        self.training = [Level() for _ in range(n_accelerators)]
        self.rental_cap = Level(np.inf)
        self.purchases: list[Purchase] = []
        self.leases: list[Lease] = []
        self.on_order: list[Purchase] = []

    def bring(self, purchase: Purchase) -> None:
        """GPUs owned on day 0."""
        self.purchases.append(purchase)
        self.owned[purchase.accelerator].add(0, purchase.gpus)

    def deliver(self, purchase: Purchase) -> None:
        """Owned GPUs go into service."""
        self.on_order.remove(purchase)
        self.purchases.append(purchase)
        self.owned[purchase.accelerator].add(purchase.delivered_day, purchase.gpus)

    def sell(self, purchase: Purchase) -> None:
        """Owned GPUs leave at the end of their useful life."""
        self.owned[purchase.accelerator].add(purchase.sold_day, -purchase.gpus)

    def begin(self, lease: Lease) -> None:
        """A reserved term starts and is paid, used or not."""
        self.leases.append(lease)
        self.reserved[lease.accelerator].add(lease.first_day, lease.gpus)
        self._pay(lease, lease.first_day, lease.gpus)

    def end(self, lease: Lease) -> None:
        """A reserved term is over."""
        self.reserved[lease.accelerator].add(lease.end_day, -lease.gpus)
        self._pay(lease, lease.end_day, -lease.gpus)

    def _pay(self, lease: Lease, day: int, gpus: int) -> None:
        self.lease_usd_per_day[lease.accelerator].add(day, gpus * lease.usd_per_gpu_hour * HOURS_PER_DAY)

    def committed(self, first_day: int, n_days: int, step_days: int) -> FloatArray:
        """GPUs already committed, [accelerator, sample], every `step_days` from `first_day` on.

        Counts what is held, on order and reserved, less what will have been sold or have run out.
        """
        days = first_day + np.arange(0, n_days, step_days)
        held = np.zeros((len(self.owned), days.size))
        for lease in self.leases:
            if lease.end_day > first_day:
                held[lease.accelerator] += lease.gpus * ((lease.first_day <= days) & (days < lease.end_day))
        for owned in (*self.purchases, *self.on_order):
            if owned.sold_day > first_day:
                held[owned.accelerator] += owned.gpus * ((owned.delivered_day <= days) & (days < owned.sold_day))
        return held
