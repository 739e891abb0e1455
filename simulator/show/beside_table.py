"""Two scenarios in the same luck, as a table and in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from simulator.show.money import (
    Currency,
    change_decimals,
    interval_said,
    money,
    signed_interval,
    signed_money,
    signed_percent,
)
from simulator.show.plain_table import plain_table
from simulator.show.style import cheapest, currency_of
from simulator.study.comparison import Comparison, worlds_said
from simulator.study.side_by_side import BesideRow


def beside_table(rows: Sequence[BesideRow], a: Comparison) -> Table:
    """A row per policy: its cost in either scenario, and the paired difference."""
    currency = currency_of(a)
    caption = (
        f"{worlds_said(rows[0].replications)}, seed {a.seed}: world by world with the same luck in both; in brackets "
        "the 95 % interval of the mean difference. Costs are estimated as in the tables below."
    )
    table = plain_table("B less A, policy by policy", Text(caption), Table)
    table.add_column("Policy")
    for header in ("Cost\nin A", "Cost\nin B", "B less A\n[95 %]", "in %\n[95 %]"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.policy,
            money(row.a_usd, currency),
            money(row.b_usd, currency),
            f"{signed_money(row.difference_usd, currency)}{_dollars(row, currency)}",
            f"{signed_percent(row.difference_percent, change_decimals(row.difference_percent))}{_bounds(row)}",
        )
    return table


def beside_verdict(rows: Sequence[BesideRow], a: Comparison, b: Comparison) -> str:
    """Whether the answer changes from A to B, and what the answer of A costs in B."""
    in_a, in_b = a.policy_names[cheapest(a)], b.policy_names[cheapest(b)]
    same = f"{in_a} is cheapest in both" if in_a == in_b else f"In A {in_a} is cheapest, in B {in_b}"
    row = next(row for row in rows if row.policy == in_a)
    if row.difference_usd == 0.0:
        return f"{same}. {in_a} costs the same in both."
    decimals = change_decimals(row.difference_percent)
    size = f"{abs(row.difference_percent):.{decimals}f} % {'more' if row.difference_usd > 0.0 else 'less'}"
    if row.replications == 1:
        return f"{same}. {in_a} costs {size} in B than in A. One world gives no interval."
    low, high = row.difference_low_percent, row.difference_high_percent
    if low <= 0.0 <= high:
        return f"{same}. {in_a} costs {size} in B than in A{_bounds(row)}, in the same luck: it may be chance."
    return f"{same}. {in_a} costs {size} in B than in A{interval_said(low, high, decimals)}, in the same luck."


def _bounds(row: BesideRow) -> str:
    """The interval in percent."""
    decimals = change_decimals(row.difference_percent)
    return signed_interval(row.difference_low_percent, row.difference_high_percent, decimals)


def _dollars(row: BesideRow, currency: Currency) -> str:
    if row.replications == 1:
        return ""
    return f" [{signed_money(row.difference_low_usd, currency)}, {signed_money(row.difference_high_usd, currency)}]"
