"""Days: day 0 is the scenario's start; arrays begin `history_days` before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from simulator.laws.units import DAYS_PER_YEAR, IntArray

DAYS_PER_QUARTER = 91


@dataclass(frozen=True, slots=True)
class Calendar:
    """Which days a world has: a past to learn from, the days lived, and what decisions look ahead to."""

    start: date
    history_days: int
    horizon_days: int
    look_ahead_days: int

    @property
    def n_days(self) -> int:
        """Length of every array of the world [days]."""
        return self.history_days + self.horizon_days + self.look_ahead_days

    @property
    def days(self) -> IntArray:
        """The day number at every index, from -history_days on."""
        return np.arange(self.n_days) - self.history_days

    @property
    def years(self) -> npt.NDArray[np.float64]:
        """Years since the start at every index; negative in the past."""
        return self.days / DAYS_PER_YEAR

    @property
    def weekdays(self) -> IntArray:
        """0 = Monday ... 6 = Sunday at every index."""
        return (self.days + self.start.weekday()) % 7

    @property
    def lived(self) -> slice:
        """The indices of the days from the start to the horizon."""
        return slice(self.history_days, self.history_days + self.horizon_days)

    @property
    def month_days(self) -> IntArray:
        """The first day lived of each calendar month of the window: day 0, then every first of a month."""
        last = np.datetime64(self.date_of(self.horizon_days - 1), "M")
        firsts = np.arange(np.datetime64(self.start, "M"), last + 1).astype("datetime64[D]")
        return np.maximum((firsts - np.datetime64(self.start)).astype(np.int64), 0)

    @property
    def lived_indices(self) -> IntArray:
        """The same as whole numbers."""
        return np.arange(self.history_days, self.history_days + self.horizon_days)

    def index(self, day: int) -> int:
        """Where `day` stands in an array of this world."""
        return day + self.history_days

    def day_of(self, when: date) -> int:
        """The day number of a date."""
        return (when - self.start).days

    def date_of(self, day: int) -> date:
        """The date of a day number."""
        return self.start + timedelta(days=day)
