"""Points between those that were tried: the least of a curve of costs, and where the answer turns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from simulator.laws.units import FloatArray
from simulator.study.comparison import TIE
from simulator.study.foresight import Range
from simulator.study.rent_or_buy_answers import HeatCell


def smallest_of_ties(costs: FloatArray) -> int:
    """The first of the least costs, ties with it counted in: no larger share is preferred for less than a tie.

    Examples
    --------
    >>> smallest_of_ties(np.array([100.0, 90.001, 90.0, 90.1])), smallest_of_ties(np.array([np.inf, np.inf]))
    (1, 0)
    """
    return int(np.argmax(costs <= costs.min() + TIE * abs(costs.min())))


def least_of_parabola(shares: Sequence[float], costs: FloatArray, best: int) -> float:
    """Where the parabola through the best share and its neighbours is lowest.

    NaN where that says nothing: no two neighbours, no share beyond to check it by, or a kink. A curve of costs that
    only ever bends upward lies nowhere below the line through the two points to the left, carried on, nor below that
    through the two points to the right; a parabola that goes lower cuts a corner off.

    Examples
    --------
    >>> tried = (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> round(least_of_parabola(tried, np.array([(share - 0.6) ** 2 + 1.0 for share in tried]), 2), 4)
    0.6
    >>> least_of_parabola(tried, np.array([abs(share - 0.5) + share for share in tried]), 2)
    nan
    """
    if not 1 <= best <= len(shares) - 2 or not np.isfinite(costs[best - 1 : best + 2]).all():
        return float("nan")
    bend, slope, least = np.polyfit(np.array(shares[best - 1 : best + 2]) - shares[best], costs[best - 1 : best + 2], 2)
    if bend <= 0.0:
        return float("nan")
    off, below = -slope / (2.0 * bend), slope**2 / (4.0 * bend)
    near, far = (best - 1, best - 2) if off < 0.0 else (best + 1, best + 2)
    if not 0 <= far < len(shares) or not np.isfinite(costs[far]):
        return float("nan")
    steepness = (costs[near] - costs[far]) / (shares[near] - shares[far])
    bound = costs[near] + steepness * (shares[best] + off - shares[near])
    return float(shares[best] + off) if least - below >= bound else float("nan")


def turning_fall(heat_map: Sequence[HeatCell], declared: float) -> Range:
    """The yearly fall of rents from which on owning is not cheaper, read between the cells of declared growth.

    Of several such falls the one nearest to the declared fall. Its range is where the upper and the lower bounds of the
    cells' intervals turn. NaN for each that is not within the falls tried, or if there is no row of declared growth.
    """
    row = sorted((cell for cell in heat_map if cell.growth_factor == 1.0), key=lambda cell: cell.rental_fall_per_year)
    falls, none = [cell.rental_fall_per_year for cell in row], float("nan")
    means = _turns(falls, [cell.difference_percent.mean for cell in row])
    lows = _turns(falls, [cell.difference_percent.low for cell in row])
    highs = _turns(falls, [cell.difference_percent.high for cell in row])
    turn = min(means, key=lambda fall: abs(fall - declared), default=none)
    return Range(
        turn,
        max((fall for fall in highs if fall <= turn), default=none),
        min((fall for fall in lows if fall >= turn), default=none),
    )


def _turns(falls: Sequence[float], costs: Sequence[float]) -> list[float]:
    """Where a line through these points climbs through 0."""
    points = zip(falls, costs, strict=True)
    return [
        left - at_left * (right - left) / (at_right - at_left)
        for (left, at_left), (right, at_right) in pairwise(points)
        if at_left < 0.0 <= at_right
    ]
