"""What some replications leave, wherever they were lived: rows in their order, and days that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from simulator.lab.policy import Policy
from simulator.study.commitments import CommitmentRow
from simulator.study.daily import DayTally
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow
from simulator.study.summary import Float32Array, ReplicationRow, RunDays, RunRecord, break_even_day
from simulator.world.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Lived:
    """One replication: every policy in the same world."""

    replication: int
    asked_tokens: Float32Array
    """[day]"""
    runs: tuple[RunRecord, ...]


@dataclass(frozen=True, slots=True)
class Paths:
    """The days of one replication, policy by policy."""

    replication: int
    asked_tokens: Float32Array
    """[day]"""
    runs: tuple[RunDays, ...]


@dataclass(slots=True)
class Lists:
    """Rows by replication, then policy."""

    rows: list[ReplicationRow] = field(default_factory=list)
    releases: list[ReleaseRow] = field(default_factory=list)
    orders: list[OrderRow] = field(default_factory=list)
    replans: list[ReplanRow] = field(default_factory=list)
    commitments: list[CommitmentRow] = field(default_factory=list)
    paths: list[Paths] = field(default_factory=list)
    """Empty unless asked for."""

    def extend(self, later: Lists) -> None:
        """Append the rows of later replications."""
        for column in fields(self):
            getattr(self, column.name).extend(getattr(later, column.name))


@dataclass(slots=True)
class Part:
    """Replications in a row: of a chunk, or of all that was lived so far."""

    policies: tuple[str, ...]
    keeps_paths: bool
    days: DayTally
    lists: Lists = field(default_factory=Lists)
    n_done: int = 0

    @staticmethod
    def empty(scenario: Scenario, policies: Sequence[Policy], *, keeps_paths: bool = False) -> Part:
        """Nothing lived yet."""
        days = DayTally(len(policies), scenario.calendar)
        return Part(tuple(policy.name for policy in policies), keeps_paths, days)

    def add(self, lived: Lived) -> None:
        """Take in the next replication."""
        days = tuple(run.days for run in lived.runs)
        self.days.add(lived.asked_tokens, days, [run.months for run in lived.runs])
        for policy, run in zip(self.policies, lived.runs, strict=True):
            even = break_even_day(run.days.cumulative_cash_usd, days[0].cumulative_cash_usd)
            row = run.account_usd, run.stage_usd, run.gpu_hours
            self.lists.rows.append(ReplicationRow(policy, lived.replication, run.summary, *row, even))
            self.lists.releases += run.releases
            self.lists.orders += run.orders
            self.lists.replans += run.replans
            self.lists.commitments += run.commitments
        if self.keeps_paths:
            self.lists.paths.append(Paths(lived.replication, lived.asked_tokens, days))
        self.n_done += 1

    def merge(self, later: Part) -> None:
        """Take in the replications that follow."""
        self.days.merge(later.days)
        self.lists.extend(later.lists)
        self.n_done += later.n_done
