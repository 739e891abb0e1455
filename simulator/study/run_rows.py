"""Rows of the lists that a run leaves: releases, orders and changes of course."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from simulator.lab.lab import Run
from simulator.laws.units import KILO

QUALITY_TOLERANCE = 1e-3
"""Part by which a model may fall short of its target before the target counts as missed."""


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
    route: str
    """How it was trained, and of several models their sizes; size, tokens, precision and samples are the largest's."""


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
    owned_mw: float
    """The most that owned GPUs, held or to come, will draw at the meter from this day on, as rated."""
    power_limit_mw: float
    """Of the building; NaN if there is none."""


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


def ratio(part: float, whole: float) -> float:
    """part / whole; NaN of nothing."""
    return part / whole if whole != 0.0 else float("nan")


def release_rows(run: Run) -> list[ReleaseRow]:
    """What was promised, trained and paid, release by release."""
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
                ratio(cost.training_usd, cost.training_usd + cost.serving_usd),
                choice.route,
            )
        )
    return rows


def order_rows(run: Run) -> list[OrderRow]:
    """Every commitment, in the order they were made."""
    calendar, limit_kw = run.world.calendar, run.world.scenario.limits.power_kw
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
            order.owned_kw / KILO,
            float("nan") if limit_kw is None else limit_kw / KILO,
        )
        for order in run.orders
    ]


def replan_rows(run: Run) -> list[ReplanRow]:
    """Every change of course, in order."""
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
