"""Which values a sweep tries: every pair of a grid, or a sample of ranges that fills them evenly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

import numpy as np

from simulator.study.varied import Value

MOST_POINTS = 10_000


class Design(Enum):
    """How points are laid."""

    GRID = "grid"
    LHS = "lhs"
    SOBOL = "sobol"


@dataclass(frozen=True, slots=True)
class Listed:
    """A field and the values it takes."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Ranged:
    """A field and the range it is drawn from, evenly."""

    field: str
    low: float
    high: float
    is_whole: bool
    """Whether the field holds whole numbers only."""

    def at(self, share: float) -> Value:
        """The value that leaves this share of the range below it."""
        value = self.low * (1.0 - share) + self.high * share
        return round(value) if self.is_whole else value


Point = tuple[Value, ...]
"""A value for each field."""


def grid(axes: Sequence[Listed]) -> list[Point]:
    """Every combination; the last field changes fastest."""
    _at_most(math.prod(len(axis.values) for axis in axes))
    return list(product(*(axis.values for axis in axes)))


def latin_hypercube(axes: Sequence[Ranged], points: int, seed: int) -> list[Point]:
    """So many points, each in a slice of its own of every range (McKay et al. 1979)."""
    from scipy.stats import qmc

    _at_most(points)
    return _placed(axes, qmc.LatinHypercube(len(axes), rng=seed).random(points))


def saltelli(axes: Sequence[Ranged], points: int, seed: int) -> list[Point]:
    """Points for Sobol indices: samples A and B of 2^m points, then A with each field in turn taken from B.

    There are `points` (k + 2) of them for k fields (Saltelli et al. 2010).
    """
    from scipy.stats import qmc

    fields = len(axes)
    if points & (points - 1):
        raise ValueError(f"points: must be a power of two for a Sobol sample, like 16 (got {points})")
    _at_most(points * (fields + 2))
    both = qmc.Sobol(2 * fields, rng=seed).random(points)
    first, second = both[:, :fields], both[:, fields:]
    found = _placed(axes, first) + _placed(axes, second)
    for number in range(fields):
        mixed = first.copy()
        mixed[:, number] = second[:, number]
        found += _placed(axes, mixed)
    return found


def _placed(axes: Sequence[Ranged], shares: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[Point]:
    return [tuple(axis.at(float(share)) for axis, share in zip(axes, row, strict=True)) for row in shares]


def _at_most(points: int) -> None:
    if points > MOST_POINTS:
        raise ValueError(f"points: must be at most {MOST_POINTS:,} (got {points:,})")
