"""The GPUs the lab holds, by kind and tenure, and what it owes for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simulator.lab.level import Level, Schedule
from simulator.lab.orders import Lease, Purchase
from simulator.laws.units import FloatArray, IntArray


class Fleet:
    """Levels of owned, reserved and training GPUs by accelerator; rented ones follow the day's need.

    Of those owned only `working_share` can be counted on at any time; the others are being repaired.
    """

    def __init__(self, n_accelerators: int, working_share: float = 1.0) -> None:
        self.owned = [Level() for _ in range(n_accelerators)]
        self.reserved = [Level() for _ in range(n_accelerators)]
        self.lease_usd_per_day = [Level() for _ in range(n_accelerators)]
        self.training = [Level() for _ in range(n_accelerators)]
        self.rental_cap = Level(np.inf)
        self.rental_usd_per_day = Level(np.inf)
        self.purchases: list[Purchase] = []
        """Delivered, sold or still to come."""
        self.leases: list[Lease] = []
        self.open_leases: list[Lease] = []
        """Of all that were signed, those that have not ended."""
        self.working_share = working_share
        self._owned, self._leased = Schedule(n_accelerators), Schedule(n_accelerators)

    def kinds(self) -> list[int]:
        """Accelerators that were ever held or paid for, or trained on."""
        held = zip(self.owned, self.reserved, self.training, strict=True)
        used = {kind for kind, levels in enumerate(held) if not all(level.is_zero for level in levels)}
        return sorted(used | {purchase.accelerator for purchase in self.purchases})

    def commit(self, bound: Purchase | Lease, expected_day: int) -> None:
        """GPUs agreed on: later reviews count on them from the day they are expected, late or not."""
        schedule = self._owned if isinstance(bound, Purchase) else self._leased
        schedule.add(bound.accelerator, expected_day, bound.end_day, bound.gpus)

    def owned_on(self, days: IntArray) -> FloatArray:
        """Owned GPUs that work, held or on order, on later days [accelerator, day]."""
        return self.working_share * self._owned.at(days)

    def leased_on(self, days: IntArray) -> FloatArray:
        """GPUs leased, now or later, on later days [accelerator, day]."""
        return self._leased.at(days)

    def most_owned(self, worth: FloatArray, first_day: int, end_day: int) -> float:
        """The most that owned GPUs will amount to on any day of a span, where one of each kind is `worth` so much."""
        return float((worth @ self._owned.within(first_day, end_day)).max())

    def order(self, purchase: Purchase, expected_day: int) -> int:
        """A tranche is agreed on; returns its place among the purchases."""
        self.purchases.append(purchase)
        self.commit(purchase, expected_day)
        return len(self.purchases) - 1

    def deliver(self, place: int) -> None:
        """Owned GPUs go into service."""
        purchase = self.purchases[place]
        self.owned[purchase.accelerator].add(max(purchase.first_day, 0), purchase.gpus)

    def working(self, accelerator: int) -> float:
        """GPUs of one kind that are held and in order today."""
        return self.owned[accelerator].value * self.working_share + self.reserved[accelerator].value

    def retire(self, place: int, day: int) -> None:
        """Owned GPUs leave at the end of their useful life, those that have not been sold before."""
        left = self.purchases[place]
        if left.end_day == day:
            self.owned[left.accelerator].add(day, -left.gpus)

    def sell(self, accelerator: int, gpus: int, day: int) -> list[Purchase]:
        """Owned GPUs leave today, the oldest first; returns the tranches sold, a last one split if need be."""
        sold = []
        for place, part in self.oldest(accelerator, gpus, day):
            whole, gone = self.purchases[place], replace(part, end_day=day)
            if part.gpus == whole.gpus:
                self.purchases[place] = gone
            else:
                self.purchases[place] = replace(whole, gpus=whole.gpus - part.gpus)
                self.purchases.append(gone)
            self.owned[accelerator].add(day, -part.gpus)
            self._owned.add(accelerator, day, whole.end_day, -part.gpus)
            sold.append(gone)
        return sold

    def oldest(self, accelerator: int, gpus: float, day: int) -> list[tuple[int, Purchase]]:
        """The oldest owned GPUs of a kind that could be sold on a day, at most so many: places and parts of tranches.

        What came on that very day is not for sale.
        """
        held = [
            (place, tranche)
            for place, tranche in enumerate(self.purchases)
            if tranche.accelerator == accelerator and max(tranche.first_day, 0) < day < tranche.end_day
        ]
        found, wanted = [], gpus
        for place, tranche in sorted(held, key=lambda each: each[1].first_day):
            if wanted < 1:  # part of a GPU may train
                break
            found.append((place, replace(tranche, gpus=int(min(tranche.gpus, wanted)))))
            wanted -= tranche.gpus
        return found

    def sign(self, lease: Lease) -> None:
        """A reserved term is agreed on: a debt from now on, whenever it begins."""
        self.leases.append(lease)
        self.open_leases.append(lease)
        self.commit(lease, max(lease.first_day, 0))

    def begin(self, lease: Lease) -> None:
        """A reserved term starts and is paid, used or not."""
        first_day = max(lease.first_day, 0)
        self.reserved[lease.accelerator].add(first_day, lease.gpus)
        self.lease_usd_per_day[lease.accelerator].add(first_day, lease.usd_per_day)

    def end(self, lease: Lease) -> None:
        """A reserved term is over."""
        self.reserved[lease.accelerator].add(lease.end_day, -lease.gpus)
        self.lease_usd_per_day[lease.accelerator].add(lease.end_day, -lease.usd_per_day)
        self.open_leases.remove(lease)


class Holdings:
    """A fleet as a policy may see it: what is held and agreed on, and nothing to change it with."""

    __slots__ = ("_fleet", "_leaving")

    def __init__(self, fleet: Fleet, leaving: Sequence[tuple[int, Purchase]] = ()) -> None:
        self._fleet, self._leaving = fleet, leaving

    def without(self, tranches: Sequence[Purchase], day: int) -> Holdings:
        """The same, with these owned GPUs not committed any more from a day on."""
        return Holdings(self._fleet, (*self._leaving, *((day, tranche) for tranche in tranches)))

    def leases(self, day: int) -> list[Lease]:
        """Those signed that end after a day, whether they have begun or not."""
        return [lease for lease in self._fleet.open_leases if lease.end_day > day]

    @property
    def working_share(self) -> float:
        """Part of the owned GPUs that can be counted on."""
        return self._fleet.working_share

    def owned_gpus(self, accelerator: int) -> float:
        """Owned GPUs of one kind today."""
        return self._fleet.owned[accelerator].value

    def reserved_gpus(self, accelerator: int) -> float:
        """Reserved GPUs of one kind today."""
        return self._fleet.reserved[accelerator].value

    def working_gpus(self, accelerator: int) -> float:
        """GPUs of one kind that are held and in order today."""
        return self._fleet.working(accelerator)

    def oldest(self, accelerator: int, gpus: float, day: int) -> list[Purchase]:
        """The owned GPUs of one kind that would be sold first, at most so many, by tranche; not those of today."""
        return [tranche for _, tranche in self._fleet.oldest(accelerator, gpus, day)]

    def training_gpus(self, accelerator: int) -> float:
        """GPUs of one kind that train today, held or rented."""
        return self._fleet.training[accelerator].value

    @property
    def rental_cap_gpus(self) -> float:
        """Most GPUs rented for serving, inf without a cap."""
        return self._fleet.rental_cap.value

    def committed(self, days: IntArray) -> FloatArray:
        """Working GPUs held or on order for later days, less those sold or run out by then [accelerator, day]."""
        return self.owned_on(days) + self.leased_on(days)

    def owned_on(self, days: IntArray) -> FloatArray:
        """Owned GPUs that work, held or on order, on later days [accelerator, day]."""
        held = self._fleet.owned_on(days)
        for first, tranche in self._leaving:
            there = (days >= first) & (days < tranche.end_day)
            held[tranche.accelerator] -= self.working_share * tranche.gpus * there
        return held

    def leased_on(self, days: IntArray) -> FloatArray:
        """GPUs leased, now or later, on later days [accelerator, day]."""
        return self._fleet.leased_on(days)
