"""What is kept of a finished run: numbers for tables, days for pictures, rows for lists. The run itself is let go."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.lab.accounts import CLOSING, FLOWS, OPENING, Account, Use
from simulator.lab.dispatch import Dispatch
from simulator.lab.lab import Run
from simulator.lab.orders import Tenure
from simulator.laws.finance import discount_factors
from simulator.laws.units import (
    HOURS_PER_DAY,
    TOKENS_PER_MILLION_TOKENS,
    FloatArray,
)

Float32Array = npt.NDArray[np.float32]

QUALITY_TOLERANCE = 1e-3
"""Part by which a model may fall short of its target before the target counts as missed."""
_BUDGET_DAYS = 365
_LAST_DAYS = 28
_NOTHING = 1e-9

_RENTED = [at for at, tenure in enumerate(Tenure) if tenure in (Tenure.ON_DEMAND, Tenure.SPOT)]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One policy in one world, as scalars: a row of replications.parquet."""

    cumulative_cost_usd: float
    """All cash over the window, with what was brought in and less what is left."""
    cost_before_inventory_usd: float
    """Only money that really moved."""
    present_value_usd: float
    """The cumulative cost discounted to day 0 at the scenario's rate."""
    opening_usd: float
    closing_usd: float
    """Negative: what is left at the end is worth something."""
    unserved_usd: float
    """Price of the refused tokens; never part of any cost."""
    training_usd: float
    research_usd: float
    serving_usd: float
    idle_usd: float
    """The four uses of the economic table: they add up to the cumulative cost."""
    training_share: float
    """Training / (training + serving)."""
    rnd_share: float
    """(Training + research) / (training + research + serving)."""
    asked_tokens: float
    served_tokens: float
    unserved_tokens: float
    served_share: float
    days_late: float
    """Of the latest release due in the window."""
    quality_met: bool
    """Whether every model decided in the window reaches its target."""
    utilization: float
    """GPU-hours with work allocated to them / GPU-hours held or rented."""
    usd_per_million_tokens: float
    """Cumulative cost / tokens served."""
    peak_cash_usd: float
    """Most cash spent within any 365 days: the largest budget of a year that would have sufficed."""
    peak_gpus: float
    """Most GPUs held or rented on a day."""
    stranded_usd: float
    """Resale value at the end of the part of the owned GPUs that stood idle over the last four weeks."""


@dataclass(frozen=True, slots=True)
class RunDays:
    """The days of one run, in single precision: only means and quantiles are made of them."""

    cash_usd: Float32Array
    """[account, day]"""
    economic_usd: Float32Array
    """[use, day]"""
    gpus: Float32Array
    """Held, or rented on average over the day [tenure, day]."""
    served_tokens: Float32Array
    """[day]"""
    cumulative_cash_usd: Float32Array
    """Money that has really moved since the start [day]; inventory is no part of it."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A row of releases.csv: what was promised, what was trained, what it cost."""

    policy: str
    replication: int
    release: str
    decided: dt.date
    due: dt.date
    deployed: dt.date
    days_late: int
    n_parameters: float
    n_training_tokens: float
    training_tokens_per_parameter: float
    precision: str
    samples: float
    training_flop: float
    reached_flop: float
    target_flop: float
    quality_met: bool
    limit: str
    accelerator: str
    training_gpus: float
    planned_tokens: float
    served_tokens: float
    training_usd: float
    serving_usd: float
    training_share: float


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A row of orders.csv: a commitment, its reason, and what was seen."""

    policy: str
    replication: int
    date: dt.date
    accelerator: str
    tenure: str
    asked_gpus: int
    gpus: int
    first_date: dt.date
    end_date: dt.date
    term_days: int
    usd: float
    reason: str
    seen: str


@dataclass(frozen=True, slots=True)
class ReplanRow:
    """A row of replans.csv: a change of course, what was seen and expected, and what it was planned to save."""

    policy: str
    replication: int
    date: dt.date
    release: str
    action: str
    seen_tokens_per_day: float
    """Mean of last week."""
    band_low_tokens_per_day: float
    band_high_tokens_per_day: float
    planned_saving_usd: float
    done: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """All that is kept of one policy in one world."""

    summary: RunSummary
    account_usd: FloatArray
    """Cash over the window by account."""
    days: RunDays
    releases: tuple[ReleaseRow, ...]
    orders: tuple[OrderRow, ...]
    replans: tuple[ReplanRow, ...]


@dataclass(frozen=True, slots=True)
class ReplicationRow:
    """A row of replications.parquet: the scalars of one policy in one world, and its cash by account."""

    policy: str
    replication: int
    summary: RunSummary
    account_usd: FloatArray


@dataclass(frozen=True, slots=True)
class DailySums:
    """The days of many runs: paths where quantiles are wanted, sums over replications elsewhere.

    Paths take four bytes a day: 51 MB for 7 policies, 1,000 replications and 5 years. Sums do not grow.
    """

    asked_tokens: Float32Array
    """[replication, day]; all policies of a replication are asked the same."""
    cumulative_cash_usd: Float32Array
    """[policy, replication, day]"""
    cash_usd: FloatArray
    """Sum over replications [policy, account, day]."""
    economic_usd: FloatArray
    """Sum over replications [policy, use, day]."""
    gpus: FloatArray
    """Sum over replications [policy, tenure, day]."""
    served_tokens: FloatArray
    """Sum over replications [policy, day]."""

    @staticmethod
    def empty(n_policies: int, n_replications: int, n_days: int) -> DailySums:
        """Nothing lived yet."""
        return DailySums(
            np.zeros((n_replications, n_days), dtype=np.float32),
            np.zeros((n_policies, n_replications, n_days), dtype=np.float32),
            np.zeros((n_policies, len(Account), n_days)),
            np.zeros((n_policies, len(Use), n_days)),
            np.zeros((n_policies, len(Tenure), n_days)),
            np.zeros((n_policies, n_days)),
        )

    def add(self, policy: int, replication: int, days: RunDays) -> None:
        """Take in one run; sums depend on the order of replications in their last bits."""
        self.cumulative_cash_usd[policy, replication] = days.cumulative_cash_usd
        self.cash_usd[policy] += days.cash_usd
        self.economic_usd[policy] += days.economic_usd
        self.gpus[policy] += days.gpus
        self.served_tokens[policy] += days.served_tokens


def record(run: Run) -> RunRecord:
    """Keep what tables and pictures need of a run."""
    releases = tuple(_releases(run))
    cash, gpus = run.books.cash_usd, _gpus(run.used)
    moved = cash[:, : len(FLOWS)].sum(axis=1)
    summary = _summarize(run, releases, moved, gpus)
    days = RunDays(
        cash.T.astype(np.float32),
        run.books.economic_usd.T.astype(np.float32),
        gpus.astype(np.float32),
        run.used.served_tokens.astype(np.float32),
        np.cumsum(moved).astype(np.float32),
    )
    return RunRecord(summary, cash.sum(axis=0), days, releases, tuple(_orders(run)), tuple(_replans(run)))


def _summarize(run: Run, releases: tuple[ReleaseRow, ...], moved: FloatArray, gpus: FloatArray) -> RunSummary:
    scenario, used, horizon = run.world.scenario, run.used, run.world.calendar.horizon_days
    by_day, accounts = run.books.cash_usd.sum(axis=1), run.books.cash_usd.sum(axis=0)
    uses = run.books.economic_usd.sum(axis=0)
    training, research, serving, idle = (float(uses[use]) for use in Use)
    asked, served = float(used.asked_tokens.sum()), float(used.served_tokens.sum())
    unserved = asked - served if asked - served > _NOTHING * asked else 0.0
    cost, last_day = float(by_day.sum()), scenario.calendar.date_of(horizon - 1)
    held, busy = used.held_hours.sum(axis=0), used.busy_hours.sum(axis=0)
    rented = float(gpus[_RENTED].sum()) * HOURS_PER_DAY
    idle_lately = 1.0 - _ratio(float(busy[-_LAST_DAYS:].sum()), float(held[-_LAST_DAYS:].sum()))
    left = -float(accounts[Account.CLOSING_FLEET])
    return RunSummary(
        cumulative_cost_usd=cost,
        cost_before_inventory_usd=float(moved.sum()),
        present_value_usd=float(by_day @ discount_factors(np.arange(by_day.size), scenario.discount_per_year)),
        opening_usd=float(accounts[list(OPENING)].sum()),
        closing_usd=float(accounts[list(CLOSING)].sum()),
        unserved_usd=unserved / TOKENS_PER_MILLION_TOKENS * scenario.unserved_usd_per_million_tokens,
        training_usd=training,
        research_usd=research,
        serving_usd=serving,
        idle_usd=idle,
        training_share=_ratio(training, training + serving),
        rnd_share=_ratio(training + research, training + research + serving),
        asked_tokens=asked,
        served_tokens=served,
        unserved_tokens=unserved,
        served_share=1.0 - unserved / asked if asked > 0.0 else 1.0,
        days_late=float(max((row.days_late for row in releases if row.due <= last_day), default=0)),
        quality_met=all(row.quality_met for row in releases),
        utilization=_ratio(float(busy.sum()) + rented, float(held.sum()) + rented),
        usd_per_million_tokens=_ratio(cost, served / TOKENS_PER_MILLION_TOKENS),
        peak_cash_usd=_most_within(moved, _BUDGET_DAYS),
        peak_gpus=float(gpus.sum(axis=0).max()),
        stranded_usd=left * max(idle_lately, 0.0) if left != 0.0 else 0.0,
    )


def _gpus(used: Dispatch) -> FloatArray:
    """GPUs by [tenure, day], in the order of `Tenure`."""
    rented = used.training_rented_hours.sum(axis=0) + used.serving_rented_hours + used.research_rented_hours
    by_tenure = {
        Tenure.OWNED: used.owned_gpus.sum(axis=0),
        Tenure.RESERVED: used.reserved_gpus.sum(axis=0),
        Tenure.ON_DEMAND: rented / HOURS_PER_DAY,
        Tenure.SPOT: used.research_spot_hours / HOURS_PER_DAY,
    }
    return np.stack([by_tenure[tenure] for tenure in Tenure])


def _most_within(usd: FloatArray, n_days: int) -> float:
    """The largest sum over any `n_days` in a row, or over all there are."""
    spent = np.concatenate(([0.0], np.cumsum(usd)))
    span = min(n_days, usd.size)
    return float((spent[span:] - spent[:-span]).max())


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole != 0.0 else float("nan")


def _releases(run: Run) -> list[ReleaseRow]:
    calendar = run.world.calendar
    kinds = run.world.scenario.accelerators
    rows = []
    for made, cost in zip(run.releases, run.books.releases, strict=True):
        release, choice, model, reached = made.release, made.choice, made.choice.model, made.reached_flop
        rows.append(
            ReleaseRow(
                run.policy,
                run.world.replication,
                release.name,
                calendar.date_of(release.decision_day),
                calendar.date_of(release.due_day),
                calendar.date_of(made.deploy_day),
                made.days_late,
                model.n_parameters,
                model.n_training_tokens,
                model.n_training_tokens / model.n_parameters,
                model.precision.name,
                model.samples,
                choice.training_flop,
                reached,
                release.target_flop,
                reached >= release.target_flop * (1.0 - QUALITY_TOLERANCE),
                choice.limit,
                kinds[choice.accelerator].name,
                float(choice.size.gpus),
                choice.planned_tokens,
                cost.served_tokens,
                cost.training_usd,
                cost.serving_usd,
                _ratio(cost.training_usd, cost.training_usd + cost.serving_usd),
            )
        )
    return rows


def _orders(run: Run) -> list[OrderRow]:
    calendar = run.world.calendar
    return [
        OrderRow(
            run.policy,
            run.world.replication,
            calendar.date_of(order.day),
            order.accelerator,
            order.tenure.value,
            order.asked_gpus,
            order.gpus,
            calendar.date_of(order.first_day),
            calendar.date_of(order.last_day),
            order.last_day - order.first_day,
            order.usd,
            order.reason,
            order.seen,
        )
        for order in run.orders
    ]


def _replans(run: Run) -> list[ReplanRow]:
    return [
        ReplanRow(
            run.policy,
            run.world.replication,
            run.world.calendar.date_of(made.day),
            made.release,
            made.step.action.value,
            made.band.seen,
            made.band.low,
            made.band.high,
            made.step.saving_usd,
            made.step.done,
        )
        for made in run.replans
    ]
