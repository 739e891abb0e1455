"""The GPUs the lab holds, by kind and tenure, and what it owes for them."""

from __future__ import annotations

import numpy as np

from simulator.lab.level import Level, Schedule
from simulator.lab.orders import Lease, Purchase
from simulator.laws.units import HOURS_PER_DAY, FloatArray, IntArray


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
        self._n_accelerators = n_accelerators
        self._committed: dict[int, Schedule] = {}

    def kinds(self) -> list[int]:
        """Accelerators that were ever held, or trained on."""
        held = zip(self.owned, self.reserved, self.training, strict=True)
        return [kind for kind, levels in enumerate(held) if not all(level.is_zero for level in levels)]

    def commit(self, bound: Purchase | Lease, expected_day: int) -> None:
        """GPUs agreed on: later reviews count on them from the day they are expected, late or not."""
        schedule = self._committed.setdefault(bound.accelerator, Schedule())
        schedule.add(expected_day, bound.gpus)
        schedule.add(bound.end_day, -bound.gpus)

    def committed(self, days: IntArray) -> FloatArray:
        """GPUs held or on order for later days, less those sold or run out by then [accelerator, day]."""
        held = np.zeros((self._n_accelerators, days.size))
        for kind, schedule in self._committed.items():
            held[kind] = schedule.at(days)
        return held

    def committed_as(self, worth: FloatArray, days: IntArray) -> FloatArray:
        """The same in GPUs of one kind, of which one of each kind is `worth` so many [day]."""
        held = np.zeros(days.size)
        for kind, schedule in self._committed.items():
            held += worth[kind] * schedule.at(days)
        return held

    def deliver(self, purchase: Purchase) -> None:
        """Owned GPUs go into service."""
        self.purchases.append(purchase)
        self.owned[purchase.accelerator].add(max(purchase.first_day, 0), purchase.gpus)

    def sell(self, purchase: Purchase) -> None:
        """Owned GPUs leave at the end of their useful life."""
        self.owned[purchase.accelerator].add(purchase.end_day, -purchase.gpus)

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


class Holdings:
    """A fleet as a policy may see it: what is held and agreed on, and nothing to change it with."""

    __slots__ = ("_fleet",)

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def owned_gpus(self, accelerator: int) -> float:
        """Owned GPUs of one kind today."""
        return self._fleet.owned[accelerator].value

    def reserved_gpus(self, accelerator: int) -> float:
        """Reserved GPUs of one kind today."""
        return self._fleet.reserved[accelerator].value

    def training_gpus(self, accelerator: int) -> float:
        """GPUs of one kind that train today, held or rented."""
        return self._fleet.training[accelerator].value

    @property
    def rental_cap_gpus(self) -> float:
        """Most GPUs rented for serving, inf without a cap."""
        return self._fleet.rental_cap.value

    def committed(self, days: IntArray) -> FloatArray:
        """GPUs held or on order for later days, less those sold or run out by then [accelerator, day]."""
        return self._fleet.committed(days)

    def committed_as(self, worth: FloatArray, days: IntArray) -> FloatArray:
        """The same in GPUs of one kind, of which one of each kind is `worth` so many [day]."""
        return self._fleet.committed_as(worth, days)
