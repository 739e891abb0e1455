"""The hours of a day: how much of a fluctuating load a constant capacity serves."""

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
        knots = np.concatenate(([0.0], factors / mean))
        served = np.mean(np.minimum(knots[1:], knots[:, np.newaxis]), axis=1)
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


def flat_profile() -> HourProfile:
    """The same load every hour."""
    return HourProfile((1.0,) * HOURS)


def profile_of_loads(loads: FloatArray) -> HourProfile:
    """The profile of 24 measured hourly loads in any unit."""
    array = not_negative("hourly load", loads)
    if array.shape != (HOURS,) or not array.sum() > 0:
        raise ValueError(f"a profile needs {HOURS} hourly loads with a positive sum, got shape {array.shape}")
    return HourProfile(tuple(float(x) for x in array / array.mean()))
