"""Quantities that change only at events: what they traced so far, and what is agreed for later."""

from __future__ import annotations

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
    """Step functions known ahead, one a row: the changes agreed on for later days, in any order."""

    __slots__ = ("_agreed", "_days", "_size", "_totals")

    def __init__(self, n_rows: int = 1) -> None:
        self._agreed: list[tuple[int, int, int, float]] = []
        """Spans by row that nobody has asked for yet."""
        self._size = 0
        self._days: IntArray = np.zeros(_ROOM, dtype=np.int64)
        """On which one changes, in order; beyond `_size` there is room for more."""
        self._totals = np.zeros((n_rows, _ROOM + 1))
        """Before the first change, and from each on [row, change]."""

    def add(self, row: int, day: int, end_day: int, change: float) -> None:
        """From `day` until the day before `end_day` the level of a row will be higher by `change`."""
        if end_day > day:
            self._agreed.append((row, day, end_day, change))

    def _enter(self) -> None:
        """Count what was agreed on since somebody last asked."""
        for row, day, end_day, change in self._agreed:
            first, end = self._place(day), self._place(end_day)
            self._totals[row, first + 1 : end + 1] += change
        self._agreed.clear()

    def _place(self, day: int) -> int:
        """Where a day stands among those on which a level changes, put there if need be."""
        size = self._size
        place = int(self._days[:size].searchsorted(day))
        if place < size and self._days[place] == day:
            return place
        if size == self._days.size:
            self._days = np.concatenate((self._days, np.zeros(size, dtype=np.int64)))
            self._totals = np.concatenate((self._totals, np.zeros((self._totals.shape[0], size))), axis=1)
        if place < size:
            self._days[place + 1 : size + 1] = self._days[place:size]
        self._days[place] = day
        self._totals[:, place + 1 : size + 2] = self._totals[:, place : size + 1]
        self._size = size + 1
        return place

    def at(self, days: IntArray) -> FloatArray:
        """The levels on later days [row, day].

        Examples
        --------
        >>> gpus = Schedule()
        >>> gpus.add(0, 30, 100, 8.0)
        >>> gpus.add(0, 10, 100, 4.0)
        >>> gpus.at(np.array([9, 10, 40]))
        array([[ 0.,  4., 12.]])
        """
        self._enter()
        return self._totals[:, self._days[: self._size].searchsorted(days, side="right")]

    def within(self, first_day: int, end_day: int) -> FloatArray:
        """The levels on the first day of a span, and on each day before its end on which one changes [row, change]."""
        self._enter()
        days = self._days[: self._size]
        first, end = days.searchsorted(first_day, side="right"), days.searchsorted(end_day - 1, side="right")
        return self._totals[:, first : max(first, end) + 1]


_ROOM = 64
"""Changes a schedule has room for at first."""
