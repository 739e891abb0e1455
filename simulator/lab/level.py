"""Quantities that change only at events: what they traced so far, and what is agreed for later."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import numpy as np

from simulator.laws.units import FloatArray, IntArray


class Level:
    """A step function in the making. Read `value` to decide, `path` to settle."""

    __slots__ = ("_days", "_values", "value")

    def __init__(self, value: float = 0.0) -> None:
        self.value = value
        self._days = [0]
        self._values = [value]

    def set(self, day: int, value: float) -> None:
        """From `day` on the level is `value`; days never go back."""
        if day < self._days[-1]:
            raise ValueError(f"a level cannot change in its past: day {day} after day {self._days[-1]}")
        if value == self.value:
            return
        self.value = value
        if day == self._days[-1]:
            self._values[-1] = value
        else:
            self._days.append(day)
            self._values.append(value)

    def add(self, day: int, change: float) -> None:
        """From `day` on the level is higher by `change`."""
        self.set(day, self.value + change)

    @property
    def is_zero(self) -> bool:
        """Whether it never was anything but zero."""
        return self.value == 0.0 and len(self._days) == 1

    def path(self, n_days: int) -> FloatArray:
        """The level on each of the first `n_days` days.

        Examples
        --------
        >>> gpus = Level()
        >>> gpus.add(1, 8.0)
        >>> gpus.path(3)
        array([0., 8., 8.])
        """
        if len(self._days) == 1:
            return np.full(n_days, self.value)
        edges = np.minimum([*self._days, n_days], n_days)
        return np.repeat(np.asarray(self._values), np.diff(edges))


class Schedule:
    """A step function known ahead: the changes agreed on for later days, in any order."""

    __slots__ = ("_changes", "_steps", "days")

    def __init__(self) -> None:
        self.days: list[int] = []
        """Of the changes, in order."""
        self._changes: list[float] = []
        self._steps: tuple[IntArray, FloatArray] | None = None

    def add(self, day: int, change: float) -> None:
        """From `day` on the level will be higher by `change`."""
        place = bisect_right(self.days, day)
        self.days.insert(place, day)
        self._changes.insert(place, change)
        self._steps = None

    def at(self, days: IntArray) -> FloatArray:
        """The level on later days.

        Examples
        --------
        >>> gpus = Schedule()
        >>> gpus.add(30, 8.0)
        >>> gpus.add(10, 4.0)
        >>> gpus.at(np.array([9, 10, 40]))
        array([ 0.,  4., 12.])
        """
        if self._steps is None:
            self._steps = np.array(self.days), np.array([*accumulate(self._changes, initial=0.0)])
        changes, totals = self._steps
        return totals[changes.searchsorted(days, side="right")]
