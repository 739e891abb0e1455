"""Why one policy costs less than another: their paired difference, part by part, twice over.

What the money was paid for, and what the GPU-hours were used for. Either list of parts adds up to the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from simulator.lab.accounts import Account, Use
from simulator.lab.orders import Tenure
from simulator.laws.units import FloatArray
from simulator.study.comparison import Comparison
from simulator.study.controls import Estimate, regression, worth_using

WHY = "why.csv"
"""Only where there is more than one policy."""

PAID = "paid for"
USED = "used for"
GPU_PARTS: tuple[tuple[str, tuple[Account, ...]], ...] = (
    ("rent by the hour", (Account.ON_DEMAND, Account.SPOT)),
    ("leases", (Account.RESERVED, Account.OPENING_LEASES, Account.CLOSING_LEASES, Account.CLOSING_PREPAID)),
    (
        "value that owned GPUs lose",  # bought, less what they were sold for or are worth at the end
        (Account.PURCHASE, Account.RESALE, Account.OPENING_FLEET, Account.CLOSING_FLEET, Account.CLOSING_PAYMENTS),
    ),
    ("loans and interest", (Account.LOAN, Account.INTEREST, Account.CLOSING_LOANS)),
    ("power, space and upkeep", (Account.POWER, Account.HOSTING, Account.MAINTENANCE)),
)
OTHER_PARTS: tuple[tuple[str, tuple[Account, ...]], ...] = (
    ("tokens bought elsewhere", (Account.API,)),
    ("data", (Account.DATA,)),
    ("putting models into service", (Account.DEPLOYMENT,)),
    ("models brought in and left", (Account.OPENING_MODELS, Account.CLOSING_MODELS)),
)
USE_PARTS: tuple[tuple[str, Use], ...] = (
    ("training", Use.TRAINING),
    ("research", Use.RESEARCH),
    ("serving", Use.SERVING),
    ("idle GPUs", Use.IDLE),
    ("putting models into service", Use.DEPLOYMENT),
)


@dataclass(frozen=True, slots=True)
class WhyRow:
    """One part of the difference between two policies, means over worlds; the parts of a `what` add up to it."""

    policy: str
    against: str
    what: str
    """Paid for or used for."""
    part: str
    policy_usd: float
    against_usd: float
    difference_usd: float
    """Estimated as the whole difference is: with total demand as control where that is."""
    difference_low_usd: float
    difference_high_usd: float


@dataclass(frozen=True, slots=True)
class Why:
    """One policy against another that costs more."""

    policy: int
    against: int
    difference: Estimate
    """The policy less the other [USD]."""
    paid: tuple[WhyRow, ...]
    used: tuple[WhyRow, ...]
    usd_per_used_gpu_hour: tuple[float, float]
    """Of the policy and of the other: all that GPUs cost / GPU-hours used."""
    used_gpu_hours: tuple[float, float]


def reasons(comparison: Comparison) -> Iterator[Why]:
    """The cheapest comparable policy against the baseline, and against the next cheapest; none if there is no rival."""
    fair = [number for number in range(len(comparison.policies)) if not comparison.not_comparable(number)]
    if len(fair) < 2 or fair[0] != 0:
        return
    rows = comparison.summary_records()
    best, second = sorted(fair, key=lambda number: rows[number].controlled_cost_usd)[:2]
    yield from (why(comparison, best, against) for against in dict.fromkeys((0, second)) if against != best)


def why_rows(comparison: Comparison) -> Iterator[WhyRow]:
    """All parts of all reasons, as why.csv holds them."""
    for found in reasons(comparison):
        yield from (*found.paid, *found.used)


def why(comparison: Comparison, policy: int, against: int) -> Why:
    """The paired difference of two policies, taken apart."""
    accounts, uses = _costs(comparison, policy), _uses(comparison, policy)
    other_accounts, other_uses = _costs(comparison, against), _uses(comparison, against)
    whole = np.sum([*accounts.values()], axis=0) - np.sum([*other_accounts.values()], axis=0)
    of = partial(regression, control=worth_using(whole, comparison.control))
    names = comparison.policy_names[policy], comparison.policy_names[against]
    hours = tuple(float(_used_hours(comparison, number).mean()) for number in (policy, against))
    gpu_usd = (sum(float(costs[name].mean()) for name, _ in GPU_PARTS) for costs in (accounts, other_accounts))
    price = tuple(usd / used if used else np.nan for usd, used in zip(gpu_usd, hours, strict=True))
    return Why(
        policy,
        against,
        of(whole),
        _rows(*names, PAID, accounts, other_accounts, of),
        _rows(*names, USED, uses, other_uses, of),
        (price[0], price[1]),
        (hours[0], hours[1]),
    )


def _rows(
    policy: str,
    against: str,
    what: str,
    costs: dict[str, FloatArray],
    others: dict[str, FloatArray],
    of: Callable[[FloatArray], Estimate],
) -> tuple[WhyRow, ...]:
    def row(part: str) -> WhyRow:
        own, other, found = costs[part], others[part], of(costs[part] - others[part])
        means = float(own.mean()), float(other.mean())
        return WhyRow(policy, against, what, part, *means, found.mean, found.low, found.high)

    return tuple(row(part) for part in costs)


def _costs(comparison: Comparison, policy: int) -> dict[str, FloatArray]:
    """Cost by part, each [replication]."""

    def total(accounts: tuple[Account, ...]) -> FloatArray:
        columns = [comparison.by_policy(f"cash_{account.name.lower()}_usd")[policy] for account in accounts]
        return np.sum(columns, axis=0)

    return {name: total(accounts) for name, accounts in (*GPU_PARTS, *OTHER_PARTS)}


def _uses(comparison: Comparison, policy: int) -> dict[str, FloatArray]:
    return {name: comparison.by_policy(f"{use.name.lower()}_usd")[policy] for name, use in USE_PARTS}


def _used_hours(comparison: Comparison, policy: int) -> FloatArray:
    columns = [comparison.by_policy(f"{tenure.value}_gpu_hours_used")[policy] for tenure in Tenure]
    return np.sum(columns, axis=0)
