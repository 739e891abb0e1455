"""Trends of hardware: a time to double, a growth a year, and a fall of cost a year are three words for one thing."""

import numpy as np

from simulator.laws.ranges import positive
from simulator.laws.units import FloatArray, Numbers


def trend_factor(years: Numbers, doubling_years: Numbers) -> FloatArray:
    """What something has grown by after `years` if it doubles every `doubling_years`, 2^(years / doubling) [1].

    >>> float(trend_factor(4.3, 2.15))
    4.0
    """
    result: FloatArray = (2.0 ** (np.asarray(years, dtype=np.float64) / positive("doubling_years", doubling_years)))[()]
    return result


def growth_per_year(doubling_years: Numbers) -> FloatArray:
    """Factor a year of what doubles every `doubling_years` [1/year].

    FLOP per dollar of 470 GPUs doubled in 2.46 years (Hobbhahn & Besiroglu 2022, Epoch):

    >>> round(float(growth_per_year(2.46)), 4)
    1.3255
    """
    return trend_factor(1.0, doubling_years)


def doubling_years(growth_per_year: Numbers) -> FloatArray:
    """Years in which what grows by this factor a year doubles, ln 2 / ln growth [years]. Range: growth > 1.

    >>> round(float(doubling_years(1.30)), 3)
    2.642
    """
    log_growth: FloatArray = positive("growth_per_year - 1", np.asarray(growth_per_year, dtype=np.float64) - 1.0)
    result: FloatArray = (np.log(2.0) / np.log1p(log_growth))[()]
    return result


def cost_fall_per_year(growth_per_year: Numbers) -> FloatArray:
    """Part by which the same FLOP get cheaper a year if FLOP per dollar grow by this factor, 1 - 1 / growth [1/year].

    "30 % better per dollar" is not "30 % cheaper":

    >>> round(float(cost_fall_per_year(1.30)), 3)
    0.231
    """
    return 1.0 - 1.0 / positive("growth_per_year", growth_per_year)


def growth_of_cost_fall(cost_fall_per_year: Numbers) -> FloatArray:
    """The other way round: factor a year of FLOP per dollar where they get this part cheaper, 1 / (1 - fall) [1/year].

    >>> round(float(growth_of_cost_fall(0.30)), 4)
    1.4286
    """
    return 1.0 / positive("1 - cost_fall_per_year", 1.0 - np.asarray(cost_fall_per_year, dtype=np.float64))
