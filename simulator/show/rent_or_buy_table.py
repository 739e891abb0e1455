"""Renting and buying, as tables and in words."""

from __future__ import annotations

import math

from rich.table import Table

from simulator.laws.units import DAYS_PER_YEAR
from simulator.show.money import DASH, Currency, count_tick, money, percent, signed, signed_percent
from simulator.show.plain_table import plain_table
from simulator.study.comparison import worlds_said
from simulator.study.foresight import Range
from simulator.study.rent_or_buy_answers import BaseRow, HeatCell, RentOrBuy
from simulator.study.tenure_costs import ON_DEMAND, OWNED, SPOT, TenureRow

_SMALL_PERCENT = 2.0


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
        f"loss.{rate}",
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
    comparison = found.comparison
    part, currency = comparison.policies[0], Currency.declared(found.scenario.currency)
    table = plain_table(
        "How many to own, by simulation",
        f"{worlds_said(comparison.replications)}, seed {comparison.seed}; {type(part.recipe).__name__} and "
        f"{type(part.forecast).__name__} for all. Shares: of the mean need forecast for the day of delivery.\n"
        "Difference: paired, from renting all, [95 %]. GPUs held (owned or leased): mean over worlds, at most and at "
        "the end.\nPeak cash: within any 365 days. *: the cheapest share.",
        Table,
    )
    table.add_column("Policy", no_wrap=True)
    for header in ("Cost", "Difference", "Cheapest", "GPUs held", "at the end", "Peak cash", "Use"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in found.owned_base:
        mark = " *" if row.owned_share == found.optimum.owned_share else ""
        table.add_row(
            f"{row.policy}{mark}",
            money(row.cost_usd.mean, currency),
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
        f"{worlds_said(found.cell_replications)} a cell.",
        Table,
    )
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
        f"{signed(found.tornado_centre_percent.mean, 1)}. {worlds_said(found.cell_replications)}.",
        Table,
    )
    table.add_column("Input", no_wrap=True)
    for header in ("Low", "Declared", "High", "at low", "at high"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in found.tornado:
        ends = (signed(end.mean, 1) for end in (row.at_low_percent, row.at_high_percent))
        table.add_row(row.what, f"{row.low:.3g}", f"{row.declared:.3g}", f"{row.high:.3g}", *ends)
    return table


def verdict(found: RentOrBuy) -> str:
    """The answer in words."""
    best = found.best
    if best is None or math.isnan(found.optimum.owned_share):
        return "No owned share gives the service and quality of renting all, so none can be called cheaper."
    return " ".join([_how_many(found, best.difference_percent), _one_gpu(found), _when_it_turns(found)]).rstrip()


def _how_many(found: RentOrBuy, difference: Range) -> str:
    optimum = found.optimum
    said, years = _size(difference), f"{found.comparison.n_days / DAYS_PER_YEAR:.1f} years"
    leases = [row for row in found.owned_base if math.isnan(row.owned_share) and row.comparable]
    lease = min(leases, key=lambda row: row.cost_usd.mean, default=None)
    if optimum.owned_share == 0.0:
        share = optimum.best_own_share
        text = f"Rent: over {years} the best owned share, {percent(share)} of the need, costs {said} more."
        beaten = 0.0
    else:
        share = optimum.owned_share if math.isnan(optimum.refined_share) else optimum.refined_share
        text = f"Own about {percent(share)} of the need: over {years} it is {said} cheaper than renting all."
        beaten = difference.mean
    if difference.low < 0.0 < difference.high:
        text += " These worlds cannot tell it from no difference."
    if lease is not None and lease.difference_percent.mean < beaten:
        said = f"{signed(lease.difference_percent.mean)} %{_bounds(lease.difference_percent)}"
        text += f" A policy of leases ({lease.policy}) costs less still: {said} against renting all."
    return text


def _size(found: Range) -> str:
    """The size of a difference and its interval, of what is saved where it is negative; finer where it is small."""
    low, high = (found.low, found.high) if found.mean >= 0.0 else (-found.high, -found.low)
    decimals = 0 if abs(found.mean) >= _SMALL_PERCENT else 1
    mean, *ends = (signed(value, decimals).lstrip("+") for value in (abs(found.mean), low, high))
    return f"{mean} % [{', '.join(ends)}]" if math.isfinite(low) else f"{mean} %"


def _one_gpu(found: RentOrBuy) -> str:
    kind = found.optimum.accelerator
    owned = next(row for row in found.tenures if (row.accelerator, row.tenure) == (kind, OWNED))
    payback = next(row for row in found.paybacks if (row.accelerator, row.utilization) == (kind, found.utilization))
    least, gpu = owned.break_even_utilization, f"Over its life an owned GPU ({kind})"
    if least < 1.0:
        text = f"{gpu} wins where it is used more than {percent(least)} of its hours;"
    else:
        text = f"{gpu} costs more than a rented one, however much it is used;"
    used = f"one ordered on {found.scenario.start} and used {percent(found.utilization)}"
    if payback.break_even_date is None:
        return f"{text} {used} does not pay for itself within its life."
    return f"{text} {used} has paid for itself by {payback.break_even_date}."


def _when_it_turns(found: RentOrBuy) -> str:
    turn, row = found.optimum.rental_fall_turns, [cell for cell in found.heat_map if cell.growth_factor == 1.0]
    if turn >= 0.0:
        return f"Owning stops being cheaper where rents fall faster than {percent(turn)} a year."
    if turn < 0.0:
        return f"Owning is cheaper only where rents rise faster than {percent(-turn)} a year."
    if not row:
        return ""
    falls = [cell.rental_fall_per_year for cell in row]
    ends = " to ".join(signed_percent(-100.0 * fall) for fall in (min(falls), max(falls)))
    way = "Owning" if row[0].owns else "Renting"
    return f"{way} is cheaper at every change of rents tried ({ends} a year)."


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
    return f"{said} (own {percent(cell.owned_share)})" if cell.owns else f"{said} (rent)"


def _range(found: Range) -> str:
    return f"{signed(found.mean, 1)}{_bounds(found)}"


def _bounds(found: Range) -> str:
    """The interval beside a signed figure; nothing for a single world."""
    return f" [{_bound(found.low)}, {_bound(found.high)}]" if math.isfinite(found.low) else ""


def _bound(value: float) -> str:
    return signed(value, 1).lstrip("+")
