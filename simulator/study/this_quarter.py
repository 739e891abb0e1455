"""What a policy does in its first ninety days, over all worlds: what to order, and which model to train."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

from simulator.lab.orders import Tenure
from simulator.study.comparison import Comparison

NINETY_DAYS = 90
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class Spread:
    """Over all worlds: the median, and the ends of the middle eight in ten."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OrderSum:
    """GPUs of one kind that are ordered one way, summed over the quarter."""

    action: str
    """buy, reserve or sell"""
    accelerator: str
    term_days: int
    """Of a lease; 0 of what is bought or sold."""
    gpus: Spread
    usd: Spread
    """Agreed to be paid, or brought in by a sale."""


@dataclass(frozen=True, slots=True)
class Training:
    """A release that is decided in the quarter."""

    release: str
    decided: date
    due: date
    n_parameters: Spread
    n_training_tokens: Spread
    precision: str
    """The most common."""
    precision_share: float
    """Of the worlds."""


@dataclass(frozen=True, slots=True)
class Quarter:
    """The first quarter of one policy."""

    policy: str
    first: date
    last: date
    orders: tuple[OrderSum, ...]
    """Those placed in half of the worlds or more, the costliest first."""
    trainings: tuple[Training, ...]
    rented_gpus: float
    """On demand and spot, mean over days and worlds."""
    next_decision: date | None
    """The first after the quarter, if none falls into it."""


def first_quarter(comparison: Comparison, policy: int) -> Quarter:
    """What this policy does in the first ninety days, or in all days if there are fewer."""
    name, start = comparison.policy_names[policy], comparison.scenario.start
    n_days = min(NINETY_DAYS, comparison.n_days)
    end = start + timedelta(days=n_days)
    releases = comparison.releases_of(name)
    now = releases[releases["decided"] < pd.Timestamp(end)]
    later = releases.loc[releases["decided"] >= pd.Timestamp(end), "decided"]
    rented = [at for at, tenure in enumerate(Tenure) if tenure in (Tenure.ON_DEMAND, Tenure.SPOT)]
    gpus = comparison.days.gpus[policy, rented, :n_days].sum(axis=0) / comparison.replications
    return Quarter(
        name,
        start,
        end - timedelta(days=1),
        _orders(comparison.orders_of(name, end), comparison.replications),
        tuple(_training(rows) for _, rows in now.groupby("release", sort=False)),
        float(gpus.mean()),
        later.min().date() if now.empty and not later.empty else None,
    )


def _orders(orders: pd.DataFrame, worlds: int) -> tuple[OrderSum, ...]:
    had = orders[orders["gpus"] > 0]
    owned = had["tenure"] == Tenure.OWNED.value
    sold = owned & (had["term_days"] == 0)
    term = had["term_days"].where(~owned, 0)
    action = np.where(sold, "sell", np.where(owned, "buy", "reserve"))
    found = []
    for (act, kind, days), rows in had.groupby([action, "accelerator", term]):
        by_world = rows.groupby("replication")[["gpus", "usd"]].sum()
        by_world = by_world.reindex(range(worlds), fill_value=0)
        gpus = _spread(by_world["gpus"])
        if gpus.median > 0.0:
            found.append(OrderSum(str(act), str(kind), int(days), gpus, _spread(by_world["usd"].abs())))
    return tuple(sorted(found, key=lambda row: -row.usd.median))


def _training(rows: pd.DataFrame) -> Training:
    """A release trained again later has a first run too: that is the one decided now."""
    first = rows.drop_duplicates("replication")
    precisions = first["precision"].value_counts()
    return Training(
        str(first["release"].iloc[0]),
        first["decided"].min().date(),
        first["due"].min().date(),
        _spread(first["n_parameters"]),
        _spread(first["n_training_tokens"]),
        str(precisions.index[0]),
        float(precisions.iloc[0] / len(first)),
    )


def _spread(values: pd.Series) -> Spread:
    median, low, high = (float(values.quantile(share)) for share in (0.5, _LOW, _HIGH))
    return Spread(median, low, high)
