"""What a search for thresholds finds: the values tried, and where the cheapest policy changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from simulator.laws.units import FloatArray
from simulator.study.comparison import Comparison
from simulator.study.controls import Control, Estimate, ratio_estimate, regression

NOBODY = ""
"""In place of a winner where the baseline misses its quality: nothing can be called cheaper."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One value tried: what the policies cost there, world by world.

    Expected costs and differences are regression estimates on total demand where its mean is known, all of them, so
    that who wins and by how much never disagree.
    """

    value: float
    policies: tuple[str, ...]
    """Those that lived there; the baseline first."""
    winner: str
    """The cheapest comparable policy by expected cost; of a tie the first named."""
    reasons: tuple[str, ...]
    """Why each is not comparable; nothing if it is."""
    cost_usd: FloatArray = field(compare=False)
    """[policy, replication]"""
    control: Control | None = field(compare=False)

    def reason(self, policy: str) -> str:
        """Why a policy is not comparable here; nothing if it is, or did not live here."""
        return self.reasons[self.policies.index(policy)] if policy in self.policies else ""

    def difference_percent(self, policy: str, against: str) -> Estimate:
        """What a policy costs more than another, of the other's mean cost, paired [%]; NaN if one did not live here."""
        if not {policy, against} <= set(self.policies):
            return Estimate(float("nan"), float("nan"), float("nan"))
        own, other = (self.cost_usd[self.policies.index(name)] for name in (policy, against))
        return ratio_estimate(own - other, other, partial(regression, control=self.control)).times(100.0)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A value at which the cheapest policy changes."""

    field: str
    value: float
    """NaN where it is not known more closely than its interval."""
    low: float
    """Between low and high neither is surely cheaper (95 %); NaN if that holds to the end of the range, or there is
    but one world."""
    high: float
    cheaper_below: str
    """The policy that wins just below the value; empty if nothing can be called cheaper."""
    cheaper_above: str
    reason: str
    """Why it changes where no two costs cross: what is not comparable on one side."""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A value tried, with one pair of policies."""

    value: float
    winner: str
    policy: str
    against: str
    difference_percent: float
    """Paired: what the policy costs more than the other, of the other's cost."""
    difference_low_percent: float
    difference_high_percent: float
    variance_factor: float
    """Variance with total demand as control / without: 1 where it is not used."""
    reason: str
    """Why one of them is not comparable."""


@dataclass(frozen=True, slots=True)
class ThresholdAnswers:
    """All tables."""

    field: str
    declared: float | None
    low: float
    """The range tried."""
    high: float
    range_said: str
    """Where the range comes from."""
    thresholds: tuple[Threshold, ...]
    """In order of value."""
    trials: tuple[TrialRow, ...]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The thresholds along one field, all values tried, and the comparison at the declared value."""

    field: str
    declared: float | None
    low: float
    high: float
    range_said: str
    tolerance: float
    thresholds: tuple[Threshold, ...]
    trials: tuple[Trial, ...]
    """In order of value."""
    failed: tuple[tuple[float, str], ...]
    """Values that the scenario does not allow, with the rule."""
    comparison: Comparison

    @property
    def pair(self) -> tuple[str, str]:
        """The two policies that the curve is drawn of: those that change at the threshold nearest to what is declared.

        Without a threshold: the two of a pair, or what wins and what comes nearest to it anywhere.
        """
        crossed = [found for found in self.thresholds if found.cheaper_below and found.cheaper_above]
        if crossed:
            middle = (self.low + self.high) / 2.0 if self.declared is None else self.declared
            nearest = min(crossed, key=lambda found: abs(found.value - middle))
            return nearest.cheaper_above, nearest.cheaper_below
        names = self.comparison.policy_names
        if len(names) == 2:
            return names[1], names[0]
        winner = next((trial.winner for trial in self.trials if trial.winner), names[0])
        others = [name for name in names if name != winner] or [winner]
        return winner, min(others, key=lambda name: self._nearest(name, winner))

    def _nearest(self, policy: str, winner: str) -> float:
        gaps = [t.difference_percent(policy, winner).mean for t in self.trials if not t.reason(policy)]
        return min((gap for gap in gaps if np.isfinite(gap)), default=float("inf"))

    @property
    def answers(self) -> ThresholdAnswers:
        """The tables alone."""
        return ThresholdAnswers(
            self.field, self.declared, self.low, self.high, self.range_said, self.thresholds, tuple(self.rows)
        )

    @property
    def rows(self) -> list[TrialRow]:
        """Every value tried, with the pair of the curve."""
        policy, against = self.pair
        found = []
        for trial in self.trials:
            off = trial.difference_percent(policy, against)
            reason = "; ".join(
                f"{name} {trial.reason(name)}" for name in dict.fromkeys((policy, against)) if trial.reason(name)
            )
            found.append(
                TrialRow(
                    trial.value, trial.winner, policy, against, off.mean, off.low, off.high, off.variance_factor, reason
                )
            )
        return found
