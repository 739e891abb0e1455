"""What is kept of a finished run: numbers for tables, days for pictures, rows for lists. The run itself is let go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.lab.accounts import CLOSING, FLOWS, OPENING, Account, Use
from simulator.lab.dispatch import Dispatch
from simulator.lab.lab import Run
from simulator.lab.limits import BUDGET_YEAR_DAYS
from simulator.lab.orders import Tenure
from simulator.laws.finance import discount_factors
from simulator.laws.units import (
    HOURS_PER_DAY,
    KILO,
    TOKENS_PER_MILLION_TOKENS,
    FloatArray,
)
from simulator.study.commitments import CommitmentRow, commitment_rows
from simulator.study.fleet_statement import used_gpu_hours
from simulator.study.months import run_months
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow, order_rows, ratio, release_rows, replan_rows
from simulator.study.stages import stage_usd

Float32Array = npt.NDArray[np.float32]

_LAST_DAYS = 28
_NOTHING = 1e-9
_SINGLE_ROUNDING = 1e-6

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
    real_cost_usd: float
    """The cumulative cost in dollars of day 0: each day's cash less the scenario's inflation since."""
    opening_usd: float
    closing_usd: float
    """Negative: what is left at the end is worth something."""
    unserved_usd: float
    """Price of the refused tokens; never part of any cost."""
    training_usd: float
    research_usd: float
    serving_usd: float
    idle_usd: float
    deployment_usd: float
    """The five uses of the economic table: they add up to the cumulative cost."""
    training_share: float
    """Training / (training + serving)."""
    rnd_share: float
    """(Training + research) / (training + research + serving)."""
    asked_tokens: float
    served_tokens: float
    unserved_tokens: float
    queued_tokens: float
    """Served tokens that could wait."""
    bought_tokens: float
    """Served tokens that were bought from another provider."""
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
    peak_owned_mw: float
    """Most power held for owned GPUs on a day, as RunDays.owned_mw."""
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
    owned_mw: Float32Array
    """Power that must be there for owned GPUs: rated server draw x PUE [day]."""
    used_gpus: Float32Array
    """GPUs with work, on average over the day [day]."""
    unserved_gpus: Float32Array
    """What the tokens refused would have kept busy, at the served ones' tokens per GPU-hour of that day; 0 where
    none was served on GPUs [day]."""
    served_tokens: Float32Array
    """[day]"""
    cumulative_cash_usd: Float32Array
    """Money that has really moved since the start [day]; inventory is no part of it."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """All that is kept of one policy in one world."""

    summary: RunSummary
    account_usd: FloatArray
    """Cash over the window by account."""
    stage_usd: FloatArray
    """Economic cost over the window by stage."""
    gpu_hours: FloatArray
    """GPU-hours over the window [held, used; tenure]."""
    days: RunDays
    months: FloatArray
    """Sums by calendar month, in double precision [column of `MONTH_COLUMNS`, month]."""
    releases: tuple[ReleaseRow, ...]
    orders: tuple[OrderRow, ...]
    replans: tuple[ReplanRow, ...]
    commitments: tuple[CommitmentRow, ...]


@dataclass(frozen=True, slots=True)
class ReplicationRow:
    """A row of replications.parquet: the scalars of one policy in one world, its cash and its GPU-hours."""

    policy: str
    replication: int
    summary: RunSummary
    account_usd: FloatArray
    stage_usd: FloatArray
    gpu_hours: FloatArray
    """[held, used; tenure]"""
    break_even_day: float
    """From when on this policy has spent no more than the baseline for good; NaN if never, or if always so."""


def break_even_day(spent_usd: Float32Array, baseline_usd: Float32Array) -> float:
    """First day from which a path of cumulative cash stays at or below another's, having been above it; or NaN."""
    dearer = np.flatnonzero(spent_usd > baseline_usd + _SINGLE_ROUNDING * np.abs(baseline_usd))
    return float(dearer[-1] + 1) if dearer.size and dearer[-1] < spent_usd.size - 1 else float("nan")


def record(run: Run) -> RunRecord:
    """Keep what tables and pictures need of a run."""
    releases = tuple(release_rows(run))
    cash, gpus, megawatts = run.books.cash_usd, _gpus(run.used), _owned_mw(run)
    hours = np.stack([HOURS_PER_DAY * gpus.sum(axis=1), used_gpu_hours(run.used, gpus)])
    moved = cash[:, : len(FLOWS)].sum(axis=1)
    summary = _summarize(run, releases, moved, gpus, float(megawatts.max()))
    days = RunDays(
        cash.T.astype(np.float32),
        run.books.economic_usd.T.astype(np.float32),
        gpus.astype(np.float32),
        megawatts.astype(np.float32),
        *_need(run),
        run.used.served_tokens.astype(np.float32),
        np.cumsum(moved).astype(np.float32),
    )
    lists = tuple(order_rows(run)), tuple(replan_rows(run)), tuple(commitment_rows(run))
    months = run_months(run, gpus)
    stages = stage_usd(run.books, run.releases)
    return RunRecord(summary, cash.sum(axis=0), stages, hours, days, months, releases, *lists)


def _summarize(
    run: Run, releases: tuple[ReleaseRow, ...], moved: FloatArray, gpus: FloatArray, peak_owned_mw: float
) -> RunSummary:
    scenario, used, horizon = run.world.scenario, run.used, run.world.calendar.horizon_days
    by_day, accounts = run.books.cash_usd.sum(axis=1), run.books.cash_usd.sum(axis=0)
    days = np.arange(horizon, dtype=np.float64)
    uses = run.books.economic_usd.sum(axis=0)
    training, research, serving, idle, deployment = (float(uses[use]) for use in Use)
    asked, served = float(used.asked_tokens.sum()), float(used.served_tokens.sum())
    unserved = asked - served if asked - served > _NOTHING * asked else 0.0
    cost, last_day = float(by_day.sum()), scenario.calendar.date_of(horizon - 1)
    held, busy = used.held_hours.sum(axis=0), used.busy_hours.sum(axis=0)
    rented = float(gpus[_RENTED].sum()) * HOURS_PER_DAY
    waited = float((used.serving_billed_hours - used.serving_rented_hours).sum())
    idle_lately = 1.0 - ratio(float(busy[-_LAST_DAYS:].sum()), float(held[-_LAST_DAYS:].sum()))
    left = -float(accounts[Account.CLOSING_FLEET])
    return RunSummary(
        cumulative_cost_usd=cost,
        cost_before_inventory_usd=float(moved.sum()),
        present_value_usd=float(by_day @ discount_factors(days, scenario.discount_per_year)),
        real_cost_usd=float(by_day @ discount_factors(days, scenario.inflation_per_year)),
        opening_usd=float(accounts[list(OPENING)].sum()),
        closing_usd=float(accounts[list(CLOSING)].sum()),
        unserved_usd=unserved / TOKENS_PER_MILLION_TOKENS * scenario.unserved_usd_per_million_tokens,
        training_usd=training,
        research_usd=research,
        serving_usd=serving,
        idle_usd=idle,
        deployment_usd=deployment,
        training_share=ratio(training, training + serving),
        rnd_share=ratio(training + research, training + research + serving),
        asked_tokens=asked,
        served_tokens=served,
        unserved_tokens=unserved,
        queued_tokens=0.0 if used.batch is None else float(used.batch.served_tokens.sum()),
        bought_tokens=float(used.bought_tokens.sum()),
        served_share=1.0 - unserved / asked if asked > 0.0 else 1.0,
        days_late=float(max((row.days_late for row in releases if row.due <= last_day), default=0)),
        quality_met=all(row.quality_met for row in releases),
        utilization=ratio(float(busy.sum()) + rented - waited, float(held.sum()) + rented),
        usd_per_million_tokens=ratio(cost, served / TOKENS_PER_MILLION_TOKENS),
        peak_cash_usd=_most_within(moved, BUDGET_YEAR_DAYS),
        peak_owned_mw=peak_owned_mw,
        peak_gpus=float(gpus.sum(axis=0).max()),
        stranded_usd=left * max(idle_lately, 0.0) if left != 0.0 else 0.0,
    )


def _gpus(used: Dispatch) -> FloatArray:
    """GPUs by [tenure, day], in the order of `Tenure`."""
    rented = used.training_rented_hours.sum(axis=0) + used.serving_billed_hours + used.research_rented_hours
    by_tenure = {
        Tenure.OWNED: used.owned_gpus.sum(axis=0),
        Tenure.RESERVED: used.reserved_gpus.sum(axis=0),
        Tenure.ON_DEMAND: rented / HOURS_PER_DAY,
        Tenure.SPOT: (used.research_spot_hours + used.serving_spot_hours) / HOURS_PER_DAY,
    }
    return np.stack([by_tenure[tenure] for tenure in Tenure])


def _need(run: Run) -> tuple[Float32Array, Float32Array]:
    """GPUs with work, and those that would have been needed for what was refused [day]."""
    used, batch = run.used, run.world.scenario.demand.batch
    serving = used.serving_sunk_hours.sum(axis=0) + used.serving_spot_hours + used.serving_rented_hours
    training = (used.training_sunk_hours + used.training_rented_hours).sum(axis=0)
    research = used.research_sunk_hours.sum(axis=0) + used.research_spot_hours + used.research_rented_hours
    on_gpus, refused = used.served_tokens - used.bought_tokens, used.asked_tokens - used.served_tokens
    if batch.share > 0.0:  # tokens that wait are served on other days of their block, which is not to refuse them
        first = np.arange(0, refused.size, batch.patience_days)
        length = np.diff(first, append=refused.size)
        refused = np.repeat(np.add.reduceat(refused, first) / length, length)
    refused = np.where(refused > _NOTHING * used.asked_tokens, refused, 0.0)
    unserved = serving * np.divide(refused, on_gpus, out=np.zeros_like(refused), where=on_gpus > 0.0)
    busy = serving + training + research
    return (busy / HOURS_PER_DAY).astype(np.float32), (unserved / HOURS_PER_DAY).astype(np.float32)


def _owned_mw(run: Run) -> FloatArray:
    """Power that must be there for owned GPUs [MW by day]."""
    scenario, used = run.world.scenario, run.used
    rated_kw = np.array([scenario.accelerators[kind].server_power_kw for kind in used.kinds])
    megawatts: FloatArray = rated_kw @ used.owned_gpus * scenario.ownership.pue / KILO
    return megawatts


def _most_within(usd: FloatArray, n_days: int) -> float:
    """The largest sum over any `n_days` in a row, or over all there are."""
    spent = np.concatenate(([0.0], np.cumsum(usd)))
    span = min(n_days, usd.size)
    return float((spent[span:] - spent[:-span]).max())
