"""Money over time: annuities, present value, depreciation, and how much capacity to own.

Textbook forms, where no source is named: they are definitions and follow from no data.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from simulator.laws.ranges import not_negative, positive
from simulator.laws.units import DAYS_PER_YEAR, FloatArray, Numbers

VALUE_FALL_OOM_PER_YEAR = 0.14
"""Orders of magnitude an accelerator's value falls a year as better ones appear (Cottier et al. 2024).

It is 27.6 % a year. Epoch's pages also say "30 % better per dollar" (23.1 % cheaper) and "30 % cheaper", which are not
the same; the figure of the published cost model is taken, and lies between them.
"""

_NORMAL = NormalDist()


def annuity(rate: Numbers, periods: Numbers) -> FloatArray:
    """Yearly payment that repays 1 over `periods` at interest `rate`, r / (1 - (1 + r)^-n); 1/n without interest.

    Range: rate > -1.

    >>> round(float(annuity(0.07, 25)), 4)
    0.0858
    """
    r, n = positive("1 + rate", np.asarray(rate) + 1.0) - 1.0, positive("periods", periods)
    free = r == 0
    r = np.where(free, 1.0, r)
    result: FloatArray = np.where(free, 1 / n, r / -np.expm1(-n * np.log1p(r)))[()]
    return result


def discount_factors(days: Numbers, rate_per_year: float) -> FloatArray:
    """Value today of 1 USD paid after `days`, (1 + rate)^(-days / 365.25) [1].

    >>> round(float(discount_factors(365.25, 0.10)), 6)
    0.909091
    """
    if not rate_per_year > -1:
        raise ValueError(f"rate_per_year must be greater than -1, got {rate_per_year:g}")
    log_per_day = -float(np.log1p(rate_per_year)) / DAYS_PER_YEAR
    return np.exp(np.asarray(days, dtype=np.float64) * log_per_day)


def present_value(amounts_usd: FloatArray, days: FloatArray, rate_per_year: float) -> FloatArray:
    """Sum over the last axis of amounts paid on `days`, discounted to day 0 [USD]."""
    discounted = np.asarray(amounts_usd, dtype=np.float64) * discount_factors(days, rate_per_year)
    result: FloatArray = discounted.sum(axis=-1)
    return result


def straight_line_value(age_years: Numbers, life_years: Numbers, salvage_share: Numbers = 0.0) -> FloatArray:
    """Book value as a share of cost: falls evenly to `salvage_share` over `life_years` and stays there [1]."""
    used = np.minimum(not_negative("age_years", age_years) / positive("life_years", life_years), 1.0)
    return 1 - used * (1 - np.asarray(salvage_share, dtype=np.float64))


def market_value(age_years: Numbers, fall_oom_per_year: float = VALUE_FALL_OOM_PER_YEAR) -> FloatArray:
    """Market value as a share of cost, 10^(-0.14 age) (Cottier et al. 2024, arXiv 2405.21015) [1].

    >>> round(float(market_value(2.0)), 4)
    0.5248
    """
    return 10 ** (-fall_oom_per_year * not_negative("age_years", age_years))


def market_depreciation_rate(fall_oom_per_year: float = VALUE_FALL_OOM_PER_YEAR) -> float:
    """Value lost per year as a share of the value held, 0.14 ln 10 [1/year].

    >>> round(market_depreciation_rate(), 5)
    0.32236
    """
    return fall_oom_per_year * float(np.log(10))


def break_even_utilization(owned_usd_per_hour: Numbers, rented_usd_per_hour: Numbers) -> FloatArray:
    """Share of hours used above which owning is cheaper than renting by the hour; above 1 it never is [1].

    >>> round(float(break_even_utilization(1.76, 2.5)), 3)
    0.704
    """
    return not_negative("owned_usd_per_hour", owned_usd_per_hour) / positive("rented_usd_per_hour", rented_usd_per_hour)


@dataclass(frozen=True, slots=True)
class OwnedCapacity:
    """How much to own and what it costs: own `capacity`, rent what exceeds it.

    Attributes
    ----------
    capacity : float
        Units to own, K [unit of demand].
    cost_usd_per_hour : float
        Expected cost with that capacity [USD/h].
    all_rent_usd_per_hour : float
        Expected cost of owning nothing [USD/h].
    """

    capacity: float
    cost_usd_per_hour: float
    all_rent_usd_per_hour: float


def newsvendor_normal(mean: float, sd: float, owned_usd_per_hour: float, rented_usd_per_hour: float) -> OwnedCapacity:
    """Cheapest capacity to own for normally distributed demand: P(D > K) = owned price / rented price.

    Cost co K + cr sd [phi(z) - z (1 - Phi(z))], z = (K - mean)/sd (the newsvendor problem; Arrow, Harris & Marschak
    1951, Econometrica 19). Demand below zero is ignored, so use it where the mean is well above sd. Where owning costs
    as much as renting, nothing is owned.

    >>> round(newsvendor_normal(1000, 200, 1.5, 3).cost_usd_per_hour, 2)
    1739.37
    """
    positive("mean", mean), positive("sd", sd), positive("owned_usd_per_hour", owned_usd_per_hour)
    all_rent = rented_usd_per_hour * mean
    if owned_usd_per_hour >= rented_usd_per_hour:
        return OwnedCapacity(0.0, all_rent, all_rent)
    z = _NORMAL.inv_cdf(1 - owned_usd_per_hour / rented_usd_per_hour)
    capacity = max(mean + sd * z, 0.0)
    z = (capacity - mean) / sd
    overflow = sd * (_NORMAL.pdf(z) - z * _NORMAL.cdf(-z))
    return OwnedCapacity(capacity, owned_usd_per_hour * capacity + rented_usd_per_hour * overflow, all_rent)


def newsvendor_lognormal(
    median: float, sigma: float, owned_usd_per_hour: float, rented_usd_per_hour: float
) -> OwnedCapacity:
    """The same for lognormal demand with `median` and log standard deviation `sigma`.

    K = median e^(sigma z); expected overflow mean Phi(sigma - z) - K Phi(-z), mean = median e^(sigma^2/2).

    >>> round(newsvendor_lognormal(1000, 0.5, 1.5, 3).cost_usd_per_hour, 2)
    2350.59
    """
    positive("median", median), positive("sigma", sigma), positive("owned_usd_per_hour", owned_usd_per_hour)
    mean = median * float(np.exp(sigma**2 / 2))
    all_rent = rented_usd_per_hour * mean
    if owned_usd_per_hour >= rented_usd_per_hour:
        return OwnedCapacity(0.0, all_rent, all_rent)
    z = _NORMAL.inv_cdf(1 - owned_usd_per_hour / rented_usd_per_hour)
    capacity = median * float(np.exp(sigma * z))
    overflow = mean * _NORMAL.cdf(sigma - z) - capacity * _NORMAL.cdf(-z)
    return OwnedCapacity(capacity, owned_usd_per_hour * capacity + rented_usd_per_hour * overflow, all_rent)
