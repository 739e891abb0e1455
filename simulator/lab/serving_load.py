"""The day's serving need in tokens per second, and the GPUs that meet it: those held, in merit order, and those rented.

Held kinds serve in the order of least energy per token of the model of the day; where models differ in which kind that
is, each day follows its own model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.load import HourProfile, PaidHours
from simulator.laws.units import SECONDS_PER_DAY, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Load:
    """Tokens per second, by day: a mean that follows the hours, and a constant spare."""

    mean: FloatArray
    spare: FloatArray
    rounding: FloatArray
    """Need in whole replicas / need."""
    profile: HourProfile

    @staticmethod
    def of(profile: HourProfile, asked_tokens: FloatArray, replica_tokens: FloatArray, spares: int) -> Load:
        """The need for so many tokens a day: the peak rounded up to whole replicas, and spare ones beside it."""
        mean = asked_tokens / SECONDS_PER_DAY
        peak = mean * profile.peak
        whole = np.ceil(per(peak, replica_tokens)) * replica_tokens
        rounding = np.where(whole > 0.0, per(whole, peak), 1.0)
        return Load(mean * rounding, spares * replica_tokens, rounding, profile)

    def used(self, capacity: FloatArray) -> FloatArray:
        """Mean over the hours of min(load + spare, capacity)."""
        return np.minimum(capacity, self.spare) + self.mean * self.profile.served_share(self._above(capacity))

    def paid(self, capacity: FloatArray, hours: PaidHours) -> FloatArray:
        """The same where more hours are paid than worked; spare GPUs work all day."""
        return np.minimum(capacity, self.spare) + self.mean * hours.share(self._above(capacity))

    def served(self, capacity: FloatArray) -> FloatArray:
        """User tokens a second served with this capacity; the spare is used up before anybody is refused."""
        return self.mean * self.profile.served_share(per(capacity, self.mean)) / self.rounding

    def refused(self, capacity: FloatArray) -> FloatArray:
        """User tokens a second beyond this capacity, exactly 0 where it reaches the peak."""
        return self.mean * self.profile.overflow_share(per(capacity, self.mean)) / self.rounding

    def _above(self, capacity: FloatArray) -> FloatArray:
        return per(np.maximum(capacity - self.spare, 0.0), self.mean)


@dataclass(frozen=True, slots=True)
class Held:
    """GPUs held and free of training, in the order serving takes them on each day [rank, day]."""

    gpus: FloatArray
    speed: FloatArray
    """Tokens per GPU-second."""
    _place: tuple[IntArray, ...]
    """Index of [rank, day] into [kind, day]: of rows alone where all days have one order."""

    @staticmethod
    def ranked(gpus: FloatArray, rows: IntArray, speed: FloatArray, server_kw: FloatArray) -> Held:
        """Some rows of `gpus` [kind, day] by tokens per kWh; equal ones, and those that cannot serve, in their order.

        `speed` [row, day] and `server_kw` [row] are of these rows.
        """
        per_kw = speed / server_kw[:, np.newaxis]
        order = np.argsort(-per_kw[:, 0], kind="stable")
        if rows.size < 2 or _is_order_of_every_day(per_kw, order):
            return Held(gpus[rows[order]], speed[order], (rows[order],))
        order, days = np.argsort(-per_kw, axis=0, kind="stable"), np.arange(speed.shape[1])
        return Held(gpus[rows[order], days], speed[order, days], (rows[order], days))

    def by_kind(self, hours: FloatArray, n_kinds: int) -> FloatArray:
        """Hours by [rank, day] as [kind, day]."""
        found = np.zeros((n_kinds, hours.shape[1]))
        found[self._place] = hours
        return found

    def by_rank(self, hours: FloatArray) -> FloatArray:
        """Hours by [kind, day] as [rank, day]."""
        return hours[self._place]


def _is_order_of_every_day(per_kw: FloatArray, order: IntArray) -> bool:
    """Whether a stable sort of each day, the highest first, would give this order."""
    ahead = per_kw[order[:-1]] - per_kw[order[1:]]
    is_kept = order[:-1] < order[1:]
    return bool((np.where(is_kept[:, np.newaxis], ahead >= 0.0, ahead > 0.0)).all())


@dataclass(frozen=True, slots=True)
class Rental:
    """What can be rented for serving by the hour, by day."""

    kind: IntArray
    speed: FloatArray
    """Tokens per GPU-second, 0 where it is not on offer or cannot serve."""
    capacity: FloatArray
    """Tokens per second at the lab's cap, or at what the market lets if that is less."""


def per(amount: FloatArray, rate: FloatArray) -> FloatArray:
    """amount / rate, 0 where the rate is 0."""
    return np.divide(amount, rate, out=np.zeros(np.broadcast(amount, rate).shape), where=rate > 0.0)
