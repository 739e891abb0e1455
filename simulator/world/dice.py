"""Named random streams: each drawn thing has its own, so one more draw in one never shifts another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from simulator.laws.units import FloatArray

_BLOCK = 64
"""Days per block of the autoregression: one matrix product each, exact to rounding."""


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


@lru_cache(maxsize=16)
def _block_response(persistence: float) -> tuple[FloatArray, FloatArray]:
    """How a block answers its own shocks (lower triangle) and the value before it (column)."""
    powers: FloatArray = persistence ** np.arange(_BLOCK + 1.0)
    lag = np.arange(_BLOCK)[:, None] - np.arange(_BLOCK)[None, :]
    return np.where(lag >= 0, powers[np.clip(lag, 0, None)], 0.0), powers[1:]


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
    if persistence == 0.0:
        return innovations
    n_blocks = -(-normals.size // _BLOCK)
    blocks = np.zeros(n_blocks * _BLOCK)
    blocks[: normals.size] = innovations
    within, carried = _block_response(persistence)
    path = blocks.reshape(n_blocks, _BLOCK) @ within.T
    lasts, last = [], 0.0
    for end in path[:, -1].tolist():
        lasts.append(last)
        last = end + carried[-1] * last
    path += np.outer(lasts, carried)
    flat: FloatArray = path.reshape(-1)
    return flat[: normals.size]
