"""Named random streams: each drawn thing has its own, so one more draw in one never shifts another."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from simulator.laws.units import FloatArray


@dataclass(frozen=True, slots=True)
class Dice:
    """The streams of one replication of one seed."""

    seed: int
    replication: int

    def stream(self, name: str, entity: int = 0) -> np.random.Generator:
        """A generator that depends on seed, replication, name and entity alone."""
        key = (self.replication, crc32(name.encode()), entity)
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))


def arrivals(rng: np.random.Generator, per_day: float, n_days: int) -> list[int]:
    """Indices of the days on which something happens that comes `per_day` times a day on average (Poisson)."""
    days, now = [], rng.exponential(1.0 / per_day)
    while now < n_days:
        days.append(int(now))
        now += rng.exponential(1.0 / per_day)
    return days


def fading(size: float, decay_days: float, n_days: int) -> FloatArray:
    """What is left of a burst on the day it comes and on those after it: size e^(-age / decay)."""
    return size * np.exp(-np.arange(n_days) / decay_days)


def decayed_sum(values: FloatArray, weight: float) -> FloatArray:
    """sum over j of weight^j values[t - j]: what is left on each day of all that came before.

    Summed over windows twice as long at each pass. Each day takes in only earlier ones, so the first days do not
    depend on how many follow, to the last bit.

    Examples
    --------
    >>> decayed_sum(np.array([1.0, 0.0, 2.0]), 0.5)
    array([1.  , 0.5 , 2.25])
    """
    total, reach = values.copy(), 1
    while reach < total.size:
        total[reach:] += weight * total[:-reach]
        reach, weight = 2 * reach, weight * weight
    return total


def autoregression(normals: FloatArray, persistence: float, sd: float) -> FloatArray:
    """A stationary AR(1) path with standard deviation `sd`, driven by unit normals.

    x[t] = persistence x[t-1] + sd sqrt(1 - persistence^2) normals[t], started in equilibrium,
    so that a longer path has the same first days.

    Examples
    --------
    >>> autoregression(np.array([1.0, 0.0, 0.0]), 0.5, 2.0)
    array([2. , 1. , 0.5])
    """
    if sd == 0.0:
        return np.zeros(normals.shape)
    innovations: FloatArray = normals * (sd * np.sqrt(1.0 - persistence**2))
    innovations[0] = normals[0] * sd
    return decayed_sum(innovations, persistence)
