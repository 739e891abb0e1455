"""The hours of a day: how much of a fluctuating load a constant capacity serves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulator.laws.ranges import not_negative
from simulator.laws.units import FloatArray, Numbers

HOURS = 24
_MEAN_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class HourProfile:
    """Load of each hour of the day relative to the day's mean.

    Attributes
    ----------
    factors : tuple of 24 float
        Not negative, with mean one (to 1e-6); hour 0 is 00:00-01:00 [1].

    >>> HourProfile((0.5, 1.5) * 12).served_share([1.0, 1.25, 2.0]).tolist()
    [0.75, 0.875, 1.0]
    """

    factors: tuple[float, ...]
    _knots: FloatArray = field(init=False, repr=False, compare=False)
    _served: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.factors) != HOURS:
            raise ValueError(f"an hour profile has {HOURS} factors, got {len(self.factors)}")
        factors = np.sort(not_negative("hour profile factor", np.array(self.factors, dtype=np.float64)))
        mean = float(np.mean(factors))
        if not abs(mean - 1) <= _MEAN_TOLERANCE:
            raise ValueError(f"the factors of an hour profile must have mean 1, got mean {mean:.6g}")
        knots, served = _below_each(factors / mean)
        served[-1] = 1.0
        object.__setattr__(self, "_knots", knots)
        object.__setattr__(self, "_served", served)

    @property
    def peak(self) -> float:
        """The highest hour over the mean [1]."""
        return float(self._knots[-1])

    def served_share(self, capacity_over_mean: Numbers | list[float]) -> FloatArray:
        """Share of the day's load served by a constant capacity [1].

        Mean over the hours of min(factor, x): exact, since it is piecewise linear between the sorted factors.

        Parameters
        ----------
        capacity_over_mean : float or array
            Capacity as a multiple of the day's mean load, 0 or more; infinity is allowed [1].
        """
        x = np.asarray(capacity_over_mean, dtype=np.float64)
        if x.size and not x.min() >= 0:
            raise ValueError(f"capacity_over_mean must be 0 or more, got {x.min():g}")
        result: FloatArray = np.interp(x, self._knots, self._served)
        return result

    def overflow_share(self, capacity_over_mean: Numbers | list[float]) -> FloatArray:
        """Share of the day's load beyond a constant capacity, 1 - `served_share` [1]."""
        return 1.0 - self.served_share(capacity_over_mean)

    def paid(self, minimum_hours: int, start_hours: int) -> PaidHours:
        """The hours paid where every GPU pays `start_hours` more a day than it serves, and `minimum_hours` at least.

        One that serves h hours of a day pays min(max(h + start, minimum), 24). That is the load of an altered day:
        its hours in falling order, the highest lasting until max(minimum, 1 + start), each later one `start` later.
        """
        for name, hours in (("minimum_hours", minimum_hours), ("start_hours", start_hours)):
            if not 0 <= hours <= HOURS:
                raise ValueError(f"{name} must be 0 to {HOURS}, got {hours}")
        falling = self._knots[:0:-1]
        first = min(max(minimum_hours, 1 + start_hours), HOURS)
        altered = np.concatenate((np.full(first, falling[0]), falling[first - start_hours : HOURS - start_hours]))
        return PaidHours(*_below_each(altered[::-1]))

    def with_waiting(self, share: float) -> HourProfile:
        """The profile when a share of each day's load may wait for any hour of that day: it fills the troughs.

        An hour then has load max((1 - share) factor, x), where x makes the mean 1: what a flat reservoir of waiting
        work comes to when it is poured over the rest.

        >>> HourProfile((0.5, 1.5) * 12).with_waiting(0.25).factors[:2]
        (0.875, 1.125)
        """
        if not 0 <= share <= 1:
            raise ValueError(f"the share that may wait must be 0 to 1, got {share:g}")
        if share == 0:
            return self
        at_once = (1.0 - share) * np.asarray(self.factors) / np.mean(self.factors)
        rising = np.sort(at_once)
        above = rising.sum() - np.cumsum(rising)
        level = float(((HOURS - above) / np.arange(1, HOURS + 1)).min())
        return HourProfile(tuple(float(x) for x in np.maximum(at_once, level)))


@dataclass(frozen=True, slots=True)
class PaidHours:
    """What is paid of a day under a constant capacity, where more hours are paid than are worked."""

    _knots: FloatArray
    _paid: FloatArray

    def share(self, capacity_over_mean: FloatArray) -> FloatArray:
        """Mean over the hours of what is paid below a capacity / the day's mean load; 1 or more at the peak [1]."""
        paid: FloatArray = np.interp(capacity_over_mean, self._knots, self._paid)
        return paid


def _below_each(rising: FloatArray) -> tuple[FloatArray, FloatArray]:
    """0 and the hours in rising order, and the mean over the hours of min(hour, each of them)."""
    knots = np.concatenate(([0.0], rising))
    return knots, np.mean(np.minimum(knots[1:], knots[:, np.newaxis]), axis=1)


def flat_profile() -> HourProfile:
    """The same load every hour."""
    return HourProfile((1.0,) * HOURS)


def profile_of_loads(loads: FloatArray) -> HourProfile:
    """The profile of 24 measured hourly loads in any unit."""
    array = not_negative("hourly load", loads)
    if array.shape != (HOURS,) or not array.sum() > 0:
        raise ValueError(f"a profile needs {HOURS} hourly loads with a positive sum, got shape {array.shape}")
    return HourProfile(tuple(float(x) for x in array / array.mean()))
