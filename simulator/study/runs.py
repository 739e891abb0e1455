"""What every policy cost and gave in the same worlds, whether its runs are in memory or on disk: what pairs tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from simulator.lab.policy import Policy
from simulator.laws.units import FloatArray
from simulator.study.controls import Control, Estimate, estimate, ratio_estimate, total_demand
from simulator.study.equal_service import USUAL_SERVICE, EqualService, Service
from simulator.study.paired import ROUNDING
from simulator.world.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Runs(ABC):
    """The scalars of every policy in the same worlds; the first policy is the baseline."""

    scenario: Scenario
    policies: tuple[Policy, ...]
    seed: int
    replications: int
    equal_service: EqualService = field(default=USUAL_SERVICE, kw_only=True)

    @abstractmethod
    def by_policy(self, column: str) -> FloatArray:
        """One scalar of every run [policy, replication]."""

    @property
    def policy_names(self) -> tuple[str, ...]:
        """In the order given; the baseline first."""
        return tuple(policy.name for policy in self.policies)

    @property
    def baseline(self) -> str:
        """The policy all others are measured against."""
        return self.policies[0].name

    def difference_usd(self, policy: int, against: int = 0) -> FloatArray:
        """Paired difference of two policies' cost [replication]; rounding counts as no difference."""
        cost = self.by_policy("cumulative_cost_usd")
        off: FloatArray = cost[policy] - cost[against]
        return np.where(np.abs(off) > ROUNDING * np.abs(cost[against]), off, 0.0)

    def difference_percent(self, policy: int, against: int = 0) -> tuple[float, float, float]:
        """Mean paired difference / mean cost of the other policy, and its 95 % interval [%].

        The interval is that of a ratio of means: of what is left of each world once the mean ratio is taken out.
        """
        base = self.by_policy("cumulative_cost_usd")[against]
        found = ratio_estimate(self.difference_usd(policy, against), base).times(100.0)
        return found.mean, found.low, found.high

    @cached_property
    def control(self) -> Control | None:
        """What is known of worlds beside what was drawn: total demand, where its mean is."""
        return total_demand(self.scenario, self.by_policy("asked_tokens")[0])

    def controlled_percent(self, policy: int, against: int = 0) -> Estimate:
        """`difference_percent` with total demand as control, where that narrows its interval."""
        base = self.by_policy("cumulative_cost_usd")[against]
        return ratio_estimate(
            self.difference_usd(policy, against), base, partial(estimate, control=self.control)
        ).times(100.0)

    def not_comparable(self, policy: int) -> str:
        """Why this policy cannot be compared with the baseline, in words; nothing if it can."""
        return self.equal_service.unlike(self._service, policy, self.baseline)

    @cached_property
    def _service(self) -> Service:
        return Service(*(self.by_policy(column) for column in ("quality_met", "served_share", "days_late")))
