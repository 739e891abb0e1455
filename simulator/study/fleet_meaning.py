"""What a scenario says of GPUs held: how they are paid, how many work, what is there at the start, and the limits."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.world.ownership import OwnershipInputs
from simulator.world.scenario import Scenario


def fleet_meaning(scenario: Scenario) -> Iterator[str]:
    """Only what is out of the ordinary, a line each; nothing for a lab that pays on delivery and has no limits."""
    yield from _paid(scenario.ownership)
    yield from _working(scenario.ownership)
    for held in scenario.opening_fleet:
        yield f"  On day 0 it owns {held.gpus:,} {held.accelerator}, {held.age_days:,} days old."
    for left in scenario.opening_lease:
        price = f"{left.usd_per_gpu_hour:.2f} an hour"
        yield f"  On day 0 it leases {left.gpus:,} {left.accelerator} for {left.days_left:,} more days at {price}."
    limits = scenario.limits
    if limits.budget_usd_per_year is not None:
        yield f"  It may spend {limits.budget_usd_per_year:,.0f} in each 365 days; orders and rent beyond that are cut."
    if limits.cash_usd is not None:
        income = f" and {limits.income_usd_per_day:,.0f} a day" if limits.income_usd_per_day else ""
        yield f"  It has {limits.cash_usd:,.0f} in cash{income}; orders and rent beyond that are cut."
    if limits.power_kw is not None:
        most = ", ".join(
            f"{limits.power_kw / (kind.server_power_kw * scenario.ownership.pue):,.0f} {kind.name}"
            for kind in scenario.accelerators[: len(scenario.market.quote)]
        )
        yield f"  Its building has {limits.power_kw:,.0f} kW, for at most {most}."


def _paid(own: OwnershipInputs) -> Iterator[str]:
    terms = []
    if own.deposit_share:
        terms.append(f"{own.deposit_share:.0%} with the order")
    if own.payment_days:
        terms.append(f"{'the rest ' if terms else ''}{own.payment_days} days after they come")
    if own.loan is not None:
        loan = own.loan
        terms.append(f"{loan.share:.0%} borrowed at {loan.rate_per_year:.1%} a year for {loan.years:g} years")
    if terms:
        yield f"  GPUs are paid: {', '.join(terms)}."
    if own.installation_days:
        yield f"  They serve {own.installation_days} days after they come."


def _working(own: OwnershipInputs) -> Iterator[str]:
    if own.failures_per_gpu_year:
        yield f"  Of those owned {1.0 - own.working_share:.1%} are out for repair; spares are bought for them."
    if own.idle_draw is not None:
        yield f"  An idle GPU draws {own.idle_draw:.0%} of its rated power, a busy one {own.average_draw:.0%}."
