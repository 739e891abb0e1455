"""Renting and buying, as tables."""

from __future__ import annotations

import math

from rich.table import Table

from simulator.show.money import DASH, Currency, count_tick, money, percent, signed, signed_percent
from simulator.show.plain_table import plain_table
from simulator.show.rent_or_buy_words import (
    CUT,
    CUT_SAID,
    bounds,
    half_width_said,
    map_marks,
    policy_said,
    swing_value,
    swing_what,
    window_said,
)
from simulator.study.comparison import worlds_said
from simulator.study.foresight import Range
from simulator.study.rent_or_buy_answers import BaseRow, HeatCell, RentOrBuy
from simulator.study.tenure_costs import ON_DEMAND, OWNED, SPOT, TenureRow


def tenures_table(found: RentOrBuy) -> Table:
    """A row per kind: what an hour costs each way, and when owning pays."""
    currency = Currency.declared(found.scenario.currency)
    rate = f"\nMoney: {currency.said}." if currency.said else ""
    table = plain_table(
        f"{found.scenario.title}: what a GPU-hour costs each way, on {found.scenario.start} [{currency.code}]",
        "Owned: per hour it works, nominal: loss of value, power, hosting, upkeep over its life; in brackets with\n"
        f"capital at {percent(found.scenario.discount_per_year, 1)} a year. Over life: mean rent on demand at the "
        "stated drift. Break-even: hours used above\nwhich owning is cheaper than that. Paid back: when what was paid "
        "for a GPU ordered on that day is\nno more than the rent of the same hours; or when it could be sold at no "
        f"loss.{_on_a_line(window_said(found))}{rate}",
        Table,
    )
    rows, kinds = found.tenures, list(dict.fromkeys(row.accelerator for row in found.tenures))
    ways = list(dict.fromkeys(row.tenure for row in rows if row.tenure not in (OWNED, ON_DEMAND, SPOT)))
    has_spot = any(row.tenure == SPOT for row in rows)
    table.add_column("Kind", no_wrap=True)
    used = percent(found.utilization)
    for header in (
        "Owned",
        *(way.capitalize() for way in ways),
        "On demand",
        "over life",
        *(["Spot"] if has_spot else []),
        "Break-even use",
        f"Paid back at {used}",
        "or sold",
    ):
        table.add_column(header, justify="right", no_wrap=True)
    for kind in kinds:
        by_way = {row.tenure: row for row in rows if row.accelerator == kind}
        owned = by_way.get(OWNED)
        paybacks = [row for row in found.paybacks if (row.accelerator, row.utilization) == (kind, found.utilization)]
        table.add_row(
            kind,
            DASH
            if owned is None
            else f"{currency.of(owned.usd_per_gpu_hour):.2f} ({currency.of(_with_capital(owned)):.2f})",
            *(_hourly(by_way.get(way), currency) for way in ways),
            _hourly(by_way.get(ON_DEMAND), currency),
            DASH if owned is None else f"{currency.of(owned.rent_usd_per_gpu_hour):.2f}",
            *([_hourly(by_way.get(SPOT), currency)] if has_spot else []),
            DASH if owned is None else percent(owned.break_even_utilization),
            *(str(day or DASH) for row in paybacks for day in (row.break_even_date, row.resale_break_even_date)),
        )
    return table


def base_table(found: RentOrBuy) -> Table:
    """A row per way to get GPUs."""
    comparison, currency = found.comparison, Currency.declared(found.scenario.currency)
    table = plain_table(
        "How many to own, by simulation",
        f"{worlds_said(comparison.replications)}, seed {comparison.seed}; {policy_said(comparison.policies[0])}. "
        "Shares: of the mean need forecast for the day of delivery. Difference: paired, from renting all, [95 %]. Of "
        "it at the ends: what was there at the start (GPUs, leases, models), less what is left at the end. GPUs held "
        "(owned or leased): mean over worlds, at most and at the end. Peak cash: within any "
        f"365 days. *: the cheapest share, the smallest of ties.{f' {CUT_SAID}' if found.cut else ''}",
        Table,
    )
    table.add_column("Policy", no_wrap=True)
    for header in (
        "Cost",
        "of it at the ends",
        "Difference",
        "Cheapest",
        "GPUs held",
        "at the end",
        "Peak cash",
        "Use",
    ):
        table.add_column(header, justify="right", no_wrap=True)
    for row in found.owned_base:
        mark = " *" if row.owned_share == found.optimum.owned_share else ""
        table.add_row(
            f"{row.policy}{mark}{f' {CUT}' if row.cut_to else ''}",
            money(row.cost_usd.mean, currency),
            money(row.opening_usd + row.closing_usd, currency),
            _difference(found, row),
            percent(row.chance_cheapest),
            count_tick(row.held_peak_gpus),
            count_tick(row.held_end_gpus),
            money(row.peak_cash_usd, currency),
            percent(row.utilization),
        )
    return table


def heat_table(found: RentOrBuy) -> Table:
    """Growth of demand down, fall of rents across."""
    falls = list(dict.fromkeys(cell.rental_fall_per_year for cell in found.heat_map))
    table = plain_table(
        "When the answer changes: cost of the best owned share, against renting all",
        "Across: change of rents a year; down: times the declared growth of demand; "
        f"{worlds_said(found.cell_replications)} a cell. {map_marks(found)}",
        Table,
    )
    table.min_width = len(str(table.title))
    table.add_column("Growth", justify="right", no_wrap=True)
    for fall in falls:
        table.add_column(signed_percent(-100.0 * fall, 1), justify="right", no_wrap=True)
    for growth in dict.fromkeys(cell.growth_factor for cell in found.heat_map):
        cells = [cell for cell in found.heat_map if cell.growth_factor == growth]
        table.add_row(f"x {growth:g}", *(_cell(cell) for cell in cells))
    return table


def tornado_table(found: RentOrBuy) -> Table:
    """A row per input, the widest first."""
    share = percent(found.optimum.best_own_share)
    table = plain_table(
        f"What moves it: own {share} against renting all",
        f"[% of the cost of renting all], each input alone at a low and a high value; as declared "
        f"{signed(found.tornado_centre_percent.mean, 1)}{half_width_said(found.tornado_centre_percent)}. "
        f"{worlds_said(found.cell_replications)}{_at_95(found)}.",
        Table,
    )
    table.add_column("Input", no_wrap=True)
    for header in ("Low", "Declared", "High", "at low", "at high"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in found.tornado:
        values = (swing_value(row, value) for value in (row.low, row.declared, row.high))
        table.add_row(swing_what(row), *values, _end(row.at_low_percent), _end(row.at_high_percent))
    return table


def _end(found: Range) -> str:
    return f"{signed(found.mean, 1)}{half_width_said(found)}"


def _at_95(found: RentOrBuy) -> str:
    return "; ±: half of the 95 % interval" if math.isfinite(found.tornado_centre_percent.low) else ""


def _on_a_line(said: str) -> str:
    return f"\n{said}" if said else ""


def _difference(found: RentOrBuy, row: BaseRow) -> str:
    if not row.comparable:
        return f"not comparable: {row.reason}"
    return DASH if row is found.owned_base[0] else _range(row.difference_percent)


def _with_capital(row: TenureRow) -> float:
    return row.usd_per_gpu_hour + row.cost_of_capital_usd_per_gpu_hour


def _hourly(row: TenureRow | None, currency: Currency) -> str:
    return DASH if row is None else f"{currency.of(row.usd_per_gpu_hour):.2f}"


def _cell(cell: HeatCell) -> str:
    if math.isnan(cell.difference_percent.mean):
        return "not comparable"
    said = signed_percent(cell.difference_percent.mean)
    said += " ?" if cell.is_open else ""
    cut = f" {CUT}" if cell.is_cut else ""
    return f"{said} (own {percent(cell.owned_share)}{cut})" if cell.owns else f"{said} (rent)"


def _range(found: Range) -> str:
    return f"{signed(found.mean, 1)}{bounds(found)}"
