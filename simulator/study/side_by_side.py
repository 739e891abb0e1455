"""Two scenarios in the same luck: what the same policy costs in the one more than in the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from simulator.laws.units import FloatArray
from simulator.study.comparison import Comparison
from simulator.study.controls import plain, ratio_estimate, without_luck


@dataclass(frozen=True, slots=True)
class BesideRow:
    """One policy in two scenarios, over the worlds drawn in both; low and high bound the mean at 95 %."""

    policy: str
    replications: int
    a_usd: float
    """Mean cumulative cost in scenario A, with total demand as control where that makes it surer."""
    b_usd: float
    difference_usd: float
    """Paired: what it costs in B less what it costs in A, in worlds of the same number."""
    difference_low_usd: float
    difference_high_usd: float
    difference_percent: float
    """Mean difference / mean cost in A; NaN where that is nothing."""
    difference_low_percent: float
    difference_high_percent: float


def side_by_side(a: Comparison, b: Comparison) -> tuple[BesideRow, ...]:
    """A row per policy that both have, over as many worlds as both have.

    World n of either scenario is drawn with the same dice, so what is not declared otherwise has the same luck.

    Raises
    ------
    ValueError
        If the two were drawn with different seeds: then nothing is paired.
    """
    if a.seed != b.seed:
        raise ValueError(f"seed: must be the same in both to pair worlds (got {a.seed} and {b.seed})")
    n = min(a.replications, b.replications)
    cost_a, cost_b = _costs(a, n), _costs(b, n)
    rows = []
    for number, name in enumerate(a.policy_names):
        if name not in b.policy_names:
            continue
        own, other = cost_a[number], cost_b[b.policy_names.index(name)]
        usd = plain(other - own)
        share = ratio_estimate(other - own, own).times(100.0)
        rows.append(
            BesideRow(
                policy=name,
                replications=n,
                a_usd=float(own.mean()),
                b_usd=float(other.mean()),
                difference_usd=usd.mean,
                difference_low_usd=usd.low,
                difference_high_usd=usd.high,
                difference_percent=share.mean,
                difference_low_percent=share.low,
                difference_high_percent=share.high,
            )
        )
    return tuple(rows)


def _costs(found: Comparison, n: int) -> FloatArray:
    """Costs in the first worlds, luck in total demand taken out where its mean is known [policy, replication]."""
    control = found.control if found.control is None else replace(found.control, values=found.control.values[:n])
    return np.stack([without_luck(own[:n], control) for own in found.by_policy("cumulative_cost_usd")])
