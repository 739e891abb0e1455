"""A fluctuating load whose level is not known: how much capacity to hold, and how much will overflow it."""

from dataclasses import dataclass
from functools import lru_cache
from math import erfc, exp, inf, log, pi, sqrt
from statistics import NormalDist

import numpy as np

from simulator.laws.load import HourProfile
from simulator.laws.ranges import not_negative

_NORMAL = NormalDist()
_TO_ERFC, _DENSITY_AT_0 = -1.0 / sqrt(2.0), 1.0 / sqrt(2.0 * pi)
_MOST_STEPS = 100
_CLOSE = 1e-10


@dataclass(frozen=True, slots=True)
class UncertainLoad:
    """The hours of a day times a lognormal forecast error of mean one, exp(sigma z - sigma^2 / 2).

    An hour of factor f exceeds a capacity k with chance Phi(a), a = (ln(f / k) - sigma^2 / 2) / sigma, and by
    f Phi(a + sigma) - k Phi(a) in expectation; a day is the mean of its hours. With a flat profile this is the
    lognormal of `newsvendor_lognormal`, with sigma 0 the `HourProfile` itself.

    Attributes
    ----------
    profile : HourProfile
        Load of each hour relative to the mean [1].
    sigma : float
        Standard deviation of the log of the level, 0 or more [1].
    """

    profile: HourProfile
    sigma: float

    def __post_init__(self) -> None:
        not_negative("sigma", self.sigma)

    def chance_above(self, capacity_over_mean: float) -> float:
        """Chance that the load of an hour exceeds a capacity, as a multiple of the expected mean load [1]."""
        return sum(map(_phi, self._distances(capacity_over_mean))) / len(self.profile.factors)

    def overflow_share(self, capacity_over_mean: float) -> float:
        """Expected part of the load beyond a capacity [1].

        >>> from simulator.laws.load import flat_profile
        >>> round(UncertainLoad(flat_profile(), 0.5).overflow_share(exp(-0.125)), 4)
        0.2502
        """
        if self.sigma == 0.0:
            return float(self.profile.overflow_share(capacity_over_mean))
        beyond = 0.0
        for factor, a in zip(self.profile.factors, self._distances(capacity_over_mean), strict=True):
            beyond += factor * _phi(a + self.sigma) - capacity_over_mean * _phi(a)
        return beyond / len(self.profile.factors)

    def capacity(self, chance_above: float) -> float:
        """The capacity that the load of an hour exceeds with this chance, over the expected mean load [1].

        Half the hours need three halves of the mean, and half of these more than their median, 1.5 e^(-0.005).

        >>> round(UncertainLoad(HourProfile((0.5,) * 12 + (1.5,) * 12), 0.1).capacity(0.25), 3)
        1.493
        """
        if not 0.0 < chance_above < 1.0:
            raise ValueError(f"chance_above must lie between 0 and 1, got {chance_above:g}")
        if self.sigma == 0.0:
            return float(np.quantile(self.profile.factors, 1.0 - chance_above, method="inverted_cdf"))
        # The quantile of a mixture lies between those of its parts.
        alone = exp(self.sigma * _NORMAL.inv_cdf(1.0 - chance_above) - self.sigma**2 / 2.0)
        low, high = min(self.profile.factors) * alone, max(self.profile.factors) * alone
        # And not far from that of a lognormal of its mean and variance.
        logs = [each for each in _logs(self.profile) if each > -inf]
        middle = sum(logs) / len(logs)
        sd = sqrt(self.sigma**2 + sum((each - middle) ** 2 for each in logs) / len(logs))
        capacity = exp(middle - self.sigma**2 / 2.0 + sd * _NORMAL.inv_cdf(1.0 - chance_above))
        if not low < capacity < high:
            capacity = (low + high) / 2.0
        for _ in range(_MOST_STEPS):  # Newton's steps, halved where they leave the bracket
            if high - low <= _CLOSE * high:
                break
            distances = self._distances(capacity)
            missed = sum(map(_phi, distances)) / len(distances) - chance_above
            low, high = (capacity, high) if missed > 0.0 else (low, capacity)
            slope = sum(map(_density, distances)) / (len(distances) * self.sigma * capacity)
            step = missed / slope if slope > 0.0 else inf
            if abs(step) <= _CLOSE * capacity:
                break
            capacity = capacity + step if low < capacity + step < high else (low + high) / 2.0
        return capacity

    def _distances(self, capacity: float) -> list[float]:
        """Of each hour above the capacity, in standard deviations."""
        if capacity <= 0.0:
            return [inf if factor > 0.0 else -inf for factor in self.profile.factors]
        if self.sigma == 0.0:
            return [inf if factor > capacity else -inf for factor in self.profile.factors]
        to_exceed = log(capacity) + self.sigma**2 / 2.0
        return [(each - to_exceed) / self.sigma for each in _logs(self.profile)]


@lru_cache(maxsize=64)
def _logs(profile: HourProfile) -> tuple[float, ...]:
    return tuple(log(factor) if factor > 0.0 else -inf for factor in profile.factors)


def _phi(z: float) -> float:
    return erfc(z * _TO_ERFC) / 2.0


def _density(z: float) -> float:
    return exp(-z * z / 2.0) * _DENSITY_AT_0
