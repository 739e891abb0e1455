"""Policies ranked in the same worlds: who is cheapest how often, who beats whom, and what the wrong choice costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.laws.units import FloatArray

TIE = 1e-4
"""Costs closer than this part of them are a tie: no difference worth naming."""
ROUNDING = 1e-9
"""Costs closer than this part of them differ by rounding alone."""
_WORST = 0.05


@dataclass(frozen=True, slots=True)
class RankRow:
    """How often a policy comes in at a place among the comparable ones."""

    policy: str
    rank: int
    """1 is the cheapest."""
    chance: float
    """Share of worlds; those that tie, within 0.01 %, share their places equally."""


@dataclass(frozen=True, slots=True)
class BeatRow:
    """How often one policy costs less than another."""

    policy: str
    against: str
    chance: float
    """Share of worlds; a tie, within 0.01 %, counts half."""


@dataclass(frozen=True, slots=True)
class RegretRow:
    """What a policy costs above the cheapest comparable one of each world."""

    policy: str
    regret_usd: float
    regret_p50_usd: float
    regret_p95_usd: float
    regret_most_usd: float


def worst_mean(costs: FloatArray, share: float = _WORST) -> float:
    """CVaR: mean of the dearest `share` of the worlds; a world that is only partly among them counts in part.

    Examples
    --------
    Of ten worlds the worst 15 % are the dearest and half of the next.

    >>> round(worst_mean(np.arange(10.0), 0.15), 4)
    8.6667
    """
    worst = np.sort(costs)[::-1]
    weight = np.clip(share * costs.size - np.arange(costs.size), 0.0, 1.0)
    return float(worst @ weight / weight.sum())


def chances(cost: FloatArray, comparable: npt.NDArray[np.bool_]) -> FloatArray:
    """Share of worlds in which each policy is the cheapest of the comparable ones; NaN for the others."""
    found = np.full(cost.shape[0], np.nan)
    if comparable.any():
        best = cost[comparable].min(axis=0)
        cheapest = cost[comparable] <= best + TIE * np.abs(best)
        found[comparable] = (cheapest / cheapest.sum(axis=0)).mean(axis=1)
    return found


def regrets(cost: FloatArray, comparable: npt.NDArray[np.bool_]) -> FloatArray:
    """Cost above the cheapest comparable policy of each world [policy, replication]; NaN for those not comparable."""
    found = np.full(cost.shape, np.nan)
    if comparable.any():
        found[comparable] = cost[comparable] - cost[comparable].min(axis=0)
    return found


def regret_by_best(cost: FloatArray) -> FloatArray:
    """Mean regret of policy i in the worlds in which policy j is cheapest, as a part of j's mean cost there [i, j].

    NaN where j is never cheapest, or costs nothing; of policies that tie to the last bit the first is the cheapest.

    Examples
    --------
    The first is best in one world of three, the second in two: there it costs 10, and the first 15.

    >>> regret_by_best(np.array([[10.0, 16.0, 14.0], [12.0, 10.0, 10.0]])).tolist()
    [[0.0, 0.5], [0.2, 0.0]]
    """
    best, found = cost.argmin(axis=0), np.full((len(cost), len(cost)), np.nan)
    for winner in np.unique(best).tolist():
        mean = cost[:, best == winner].mean(axis=1)
        if mean[winner] > 0.0:
            found[:, winner] = mean / mean[winner] - 1.0
    return found


def beats(cost: FloatArray) -> FloatArray:
    """Share of worlds in which policy i costs less than policy j [i, j]; a tie counts half, as does i against itself.

    Examples
    --------
    >>> beats(np.array([[1.0, 1.0], [2.0, 1.0]])).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    share = np.empty((len(cost), len(cost)))  # which may be none
    for number, own in enumerate(cost):
        share[number] = (1.0 - _signs(own, cost)).mean(axis=1) / 2.0
    return share


def rank_chances(cost: FloatArray) -> FloatArray:
    """Share of worlds in which each policy comes in at each place [policy, place]; ties share theirs.

    Examples
    --------
    Of three policies two tie for the first place in the second world.

    >>> rank_chances(np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 3.0]])).tolist()
    [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    """
    places = np.arange(len(cost))[:, None]
    share = np.empty((len(cost), len(cost)))
    for number, own in enumerate(cost):
        sign = _signs(own, cost)
        first, count = (sign > 0).sum(axis=0), (sign == 0).sum(axis=0)
        share[number] = np.where((places >= first) & (places < first + count), 1.0 / count, 0.0).mean(axis=1)
    return share


def _signs(own: FloatArray, cost: FloatArray) -> npt.NDArray[np.int64]:
    """1 where a policy is dearer than policy j in a world, -1 where cheaper, 0 in a tie [j, replication]."""
    off = own - cost
    near = TIE * np.minimum(np.abs(own), np.abs(cost))
    signs: npt.NDArray[np.int64] = np.where(np.abs(off) <= near, 0, np.sign(off)).astype(np.int64)
    return signs
