"""The answer as a table and in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from simulator.laws.units import DAYS_PER_YEAR
from simulator.show.fitting_table import FittingTable
from simulator.show.money import (
    Currency,
    change_decimals,
    interval_said,
    money,
    percent,
    scaled,
    signed,
    signed_interval,
    signed_percent,
)
from simulator.show.plain_table import plain_table
from simulator.study.comparison import TIE, Comparison, SummaryRow, worlds_said

_TIE_PERCENT = 100.0 * TIE
_FITTED_TOKENS_PER_PARAMETER = 1000.0
"""Beyond this the loss law is far from the runs it was fitted on."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column, and how readily it is given up where there is no room; 0 stays."""

    header: str
    cell: Callable[[SummaryRow], str | Text]
    spare: int = 0
    is_figure: bool = True


def comparison_table(comparison: Comparison) -> Table:
    """A row per policy: what it costs, how sure that is, and what users got.

    At 120 columns all of it is shown; where there is less room whole columns go, never part of a figure.
    """
    rows = comparison.summary_records()
    table = plain_table(
        f"{comparison.scenario.title}: cumulative cost of compute, {_span(comparison)}",
        _caption(comparison, rows),
        FittingTable,
    )
    columns = _columns(comparison.baseline, Currency.declared(comparison.scenario.currency))
    table.spare = {column.header: column.spare for column in columns}
    for column in columns:
        table.add_column(column.header, justify="right" if column.is_figure else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(column.cell(row) for column in columns))
    return table


def _columns(baseline: str, currency: Currency) -> tuple[_Column, ...]:
    return (
        _Column("Policy", lambda row: row.policy, is_figure=False),
        _Column("Cost\n± 95 %", lambda row: _cost(row, currency)),
        _Column("Present\nvalue", lambda row: money(row.controlled_present_value_usd, currency), 5),
        _Column("Worst\n5 %", lambda row: money(row.cvar95_usd, currency), 4),
        _Column("vs baseline\n[95 %]", lambda row: _against(row, is_baseline=row.policy == baseline)),
        _Column("Wins\n", lambda row: percent(row.chance_cheapest)),
        _Column("Mean\nregret", lambda row: money(row.regret_usd, currency), 6),
        _Column("Train\nshare", lambda row: percent(row.training_share), 2),
        _Column("Tokens\nserved", lambda row: percent(row.served_share, 1)),
        _Column("Days\nlate", lambda row: f"{row.days_late:.3g}"),
        _Column("GPUs\nused", lambda row: percent(row.utilization), 3),
        _Column(
            f"{currency.symbol.strip()} per M\ntokens", lambda row: scaled(currency.of(row.usd_per_million_tokens)), 1
        ),
    )


def verdict(comparison: Comparison) -> str:
    """The answer in a sentence or two."""
    rows = comparison.summary_records()
    base, rivals = rows[0], [row for row in rows[1:] if row.comparable]
    if not base.comparable:
        return f"No policy can be called cheaper: {base.policy} {base.reason}."
    if not rivals:
        alone = "it is the only policy" if len(rows) == 1 else "none gives equal quality and service"
        return f"Nothing to compare {base.policy} with: {alone}."
    best = min(rivals, key=lambda row: row.controlled_cost_usd)
    size = f"{abs(best.controlled_difference_percent):.{change_decimals(best.controlled_difference_percent)}f} %"
    change = f"{size} {'less' if best.controlled_difference_percent < 0.0 else 'more'}"
    interval = _interval(best)
    if _is_tie(best):
        return f"{best.policy} and {base.policy} cost the same: there is no difference worth naming."
    if _undecided(best):
        return (
            f"{best.policy} and {base.policy} cannot be told apart: {best.policy} costs {change}{interval}; "
            "more replications may decide it."
        )
    if best.controlled_difference_percent >= 0.0:
        return f"Nothing costs less than {base.policy}: the nearest, {best.policy}, costs {change}{interval}."
    if best.replications == 1:
        return f"{best.policy} costs {change} than {base.policy}; service equal. One world gives no interval."
    second = _runner_up(comparison, rows, best)
    worlds = f"cheapest in {_count(best.chance_cheapest * best.replications)} of {worlds_said(best.replications)}"
    return f"{best.policy} costs {change} than {base.policy}{interval}; service equal; {worlds}.{second}"


def _runner_up(comparison: Comparison, rows: Sequence[SummaryRow], best: SummaryRow) -> str:
    """The next cheapest, paired with the cheapest: what is really left to decide."""
    others = [row for row in rows[1:] if row.comparable and row is not best]
    if not others:
        return ""
    second = min(others, key=lambda row: row.controlled_cost_usd)
    gap = comparison.controlled_percent(rows.index(second), rows.index(best))
    change, low, high = gap.mean, gap.low, gap.high
    decimals = change_decimals(change)
    if max(abs(change), abs(low), abs(high)) < _TIE_PERCENT:
        return f" Next is {second.policy}, with no difference worth naming."
    bounds = f"[{signed(low, decimals)}, {signed(high, decimals)}]"
    apart = ": the two cannot be told apart" if low <= 0.0 <= high else ""
    return f" Next is {second.policy}, {change:.{decimals}f} % more {bounds}{apart}."


def _against(row: SummaryRow, *, is_baseline: bool) -> Text:
    if not row.comparable:
        return Text("not comparable", style="yellow")
    return Text("baseline") if is_baseline else Text(_difference(row), style=_colour(row))


def _cost(row: SummaryRow, currency: Currency) -> str:
    half = row.controlled_cost_high_usd - row.controlled_cost_usd
    relative = half / row.controlled_cost_usd if row.controlled_cost_usd else math.nan
    spread = percent(relative, 1 if relative < 0.00995 else 0)
    return f"{money(row.controlled_cost_usd, currency)} ±{spread}"


def _difference(row: SummaryRow) -> str:
    """The paired difference in percent, with its interval if it has one."""
    low, high = row.controlled_difference_low_percent, row.controlled_difference_high_percent
    decimals = change_decimals(row.controlled_difference_percent)
    return difference_percent(row) + signed_interval(low, high, decimals)


def difference_percent(row: SummaryRow) -> str:
    """The mean paired difference in percent, with total demand as control where that makes it surer."""
    return signed_percent(row.controlled_difference_percent, change_decimals(row.controlled_difference_percent))


def _colour(row: SummaryRow) -> str:
    if _undecided(row) or _is_tie(row):
        return ""
    return "green" if row.controlled_difference_percent < 0.0 else "red"


def _undecided(row: SummaryRow) -> bool:
    """Whether the interval of the difference, as it is printed, holds zero; a single world has no interval."""
    return row.controlled_difference_low_percent <= 0.0 <= row.controlled_difference_high_percent


def _is_tie(row: SummaryRow) -> bool:
    """Whether the difference is surely too small to be worth naming."""
    percents = (
        row.controlled_difference_percent,
        row.controlled_difference_low_percent,
        row.controlled_difference_high_percent,
    )
    return all(abs(value) < _TIE_PERCENT for value in percents if math.isfinite(value))


def _interval(row: SummaryRow) -> str:
    low, high = row.controlled_difference_low_percent, row.controlled_difference_high_percent
    return interval_said(low, high, change_decimals(row.controlled_difference_percent))


def _caption(comparison: Comparison, rows: Sequence[SummaryRow]) -> Text:
    worlds = worlds_said(comparison.replications)
    lines = [
        f"{worlds}, seed {comparison.seed}: the same for every policy, differences paired.",
        "Wins: part of the worlds in which no comparable policy is cheaper by 0.01 % or more; ties are split.",
        "GPUs used: GPU-hours with work allocated to them / GPU-hours held or rented.",
    ]
    most = comparison.most_tokens_per_parameter()
    if most > _FITTED_TOKENS_PER_PARAMETER:
        lines.append(
            f"Up to {float(f'{most:.2g}'):,.0f} training tokens per parameter: far beyond the runs the loss law was "
            "fitted on; what overtraining saves is likely overstated."
        )
    lines += [*_control_said(rows), comparison.equal_service.said]
    lines += [f"Not comparable: {row.policy} {row.reason}." for row in rows if not row.comparable]
    if comparison.scenario.currency is not None:
        lines.append(f"Money is in {comparison.scenario.currency.code}: {comparison.scenario.currency.said}.")
    start = comparison.scenario.start
    crossed = [
        f"{row.policy} {row.break_even_date} ({(row.break_even_date - start).days / DAYS_PER_YEAR:.1f} years)"
        for row in rows
        if row.break_even_date is not None
    ]
    if crossed:
        lines.append(f"Break-even (has spent less than {comparison.baseline} from then on): {', '.join(crossed)}.")
    return Text("\n".join(lines))


def _control_said(rows: Sequence[SummaryRow]) -> list[str]:
    """Where a control narrows the intervals, and by how much."""
    told = [
        f"{what} x{min(used):.2g}" + (f" to x{max(used):.2g}" if max(used) > 1.05 * min(used) else "")
        for what, factors in (
            ("cost", [row.cost_variance_factor for row in rows]),
            ("differences", [row.difference_variance_factor for row in rows[1:]]),
        )
        for used in [[factor for factor in factors if factor < 1.0]]
        if used
    ]
    if not told:
        return []
    said = f"With control: total demand, whose mean is known; variance of {', of '.join(told)}."
    return [f"{said} Cost, present value and differences use it; all else is plain means over the worlds."]


def _span(comparison: Comparison) -> str:
    last = comparison.scenario.calendar.date_of(comparison.n_days - 1)
    return f"{comparison.scenario.start} to {last}"


def _count(number: float) -> str:
    """Ties are split, so a count may have a fraction."""
    return f"{number:.0f}" if abs(number - round(number)) < 1e-6 else f"{number:.1f}"
