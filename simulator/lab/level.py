"""A quantity that changes only at events: its value now, and the step function it traced."""

from __future__ import annotations

import numpy as np

from simulator.laws.units import FloatArray


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
        self.value = value
        if day == self._days[-1]:
            self._values[-1] = value
        else:
            self._days.append(day)
            self._values.append(value)

    def add(self, day: int, change: float) -> None:
        """From `day` on the level is higher by `change`."""
        self.set(day, self.value + change)

    def path(self, n_days: int) -> FloatArray:
        """The level on each of the first `n_days` days.

        Examples
        --------
        >>> gpus = Level()
        >>> gpus.add(1, 8.0)
        >>> gpus.path(3)
        array([0., 8., 8.])
        """
        edges = np.minimum([*self._days, n_days], n_days)
        return np.repeat(np.asarray(self._values), np.diff(edges))
