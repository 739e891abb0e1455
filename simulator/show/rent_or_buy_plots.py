"""Pictures of renting and buying: cost over the owned share, one GPU's payback, the map, and what moves the answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from simulator.show.money import count_tick, money, percent, signed, signed_percent
from simulator.show.plots import figure_of, save_figures
from simulator.show.rent_or_buy_words import CUT, CUT_SAID, half_width_said, map_marks, swing_value, swing_what
from simulator.show.style import (
    INK,
    LABEL,
    MUTED,
    PETROFF,
    SMALL,
    apart,
    as_dates,
    caption,
    currency_of,
    date_axis,
    dress,
    money_axis,
    new_axes,
    policy_look,
)
from simulator.study.comparison import worlds_said
from simulator.study.rent_or_buy_answers import BaseRow, HeatCell, RentOrBuy, TornadoRow
from simulator.study.swings import TIMES
from simulator.study.tenure_costs import OneGpu, one_gpu

_LUMINANCE = np.array([0.299, 0.587, 0.114])
_DARK = 0.46
"""Of white's luminance: on darker colours letters are white."""
_LEAST_SPAN, _MARGIN, _ROUNDING = 1.0, 0.08, 1e-6
_VISIBLE = 0.003
"""Of the height of an axis: a narrower band cannot be seen."""
_LEGEND_ROOM = 1.22
"""Height of an axis / its highest line: what is above holds the legend, clear of all lines."""
_LOW, _HIGH = 1, 2
"""Looks of a bar's two halves."""
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
"""Behind letters that a line would run through."""
_BETWEEN = 0.07
"""Least distance of two labels, of the height of a picture."""


def owned_share(found: RentOrBuy, ax: Axes | None = None) -> Axes:
    """Cost over the owned share, against renting all; leases as lines across."""
    ax = new_axes() if ax is None else ax
    rows = [row for row in found.owned_base if np.isfinite(row.owned_share) and row.comparable]
    leases = [row for row in found.owned_base if np.isnan(row.owned_share) and row.comparable]
    shares = [100.0 * row.owned_share for row in rows]
    below = [
        "Below: GPUs owned / mean need forecast for the day of delivery, and GPUs owned at the end, mean of worlds."
    ]
    bounds = [[row.difference_percent.low for row in rows], [row.difference_percent.high for row in rows]]
    low, high = _span([*(row.difference_percent.mean for row in (*rows, *leases)), *np.ravel(bounds)])
    if np.any(np.subtract(bounds[1], bounds[0]) > _VISIBLE * (high - low)):
        ax.fill_between(shares, *np.nan_to_num(bounds, nan=0.0), color=PETROFF[0], alpha=0.15, linewidth=0)
        below.append("Band: 95 % of the paired difference.")
    means = [row.difference_percent.mean for row in rows]
    ax.plot(shares, means, color=PETROFF[0], linewidth=2.2, marker="o", markersize=6)
    ax.axhline(0.0, color=MUTED, linewidth=0.9)
    best = [row for row in rows if row.owned_share == found.optimum.owned_share]
    for row in best[: len(rows) - 1]:
        at = (100.0 * row.owned_share, row.difference_percent.mean)
        ax.plot(*at, color=INK, marker="o", markersize=12, markerfacecolor="none", markeredgewidth=1.8)
        below.append("Ring: the cheapest tried.")
    if np.isfinite(found.optimum.refined_share):
        ax.axvline(100.0 * found.optimum.refined_share, color=INK, linewidth=1.0, linestyle=(0, (1.5, 2.5)))
        below.append("Dotted: least of the parabola through it and its neighbours.")
    ax.set_xlim(-4.0, max(shares, default=100.0) + (44.0 if leases else 4.0))
    ax.set_ylim(low, high)
    heights = apart([(row.difference_percent.mean - low) / (high - low) for row in leases], _BETWEEN, 0.97)
    for number, (row, height) in enumerate(zip(leases, heights, strict=True)):
        look = policy_look(number + 2)
        ax.axhline(row.difference_percent.mean, xmax=0.79, color=look.colour, linestyle=look.dash, linewidth=1.8)
        said = f"{row.policy}, {signed_percent(row.difference_percent.mean)}"
        ax.text(0.81, height, said, transform=ax.transAxes, va="center", color=INK, fontsize=SMALL, bbox=_PAPER)
    ax.set_xticks(shares, [_share_tick(row) for row in rows])
    ax.yaxis.set_major_formatter(FuncFormatter(_percent_tick))
    if any(row.cut_to for row in rows):
        below.append(CUT_SAID)
    below.append(_not_drawn(found, ax, len(rows)))
    below.append(caption(found.comparison))
    title = "What owning a share of the need costs, against renting all"
    return dress(ax, title, "difference of cost", " ".join(filter(None, below)))


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds 0 and all that is finite, with a margin, and is never without height."""
    held = [0.0, *(value for value in values if np.isfinite(value))]
    low, high = min(held), max(held)
    margin = _MARGIN * max(high - low, _LEAST_SPAN)
    return low - margin, high + margin


def _percent_tick(value: float, _: int) -> str:
    """No more digits than the value has, and no fewer."""
    decimals = next((places for places in (0, 1) if abs(value - round(value, places)) < _ROUNDING), 2)
    return signed_percent(value, decimals)


def _share_tick(row: BaseRow) -> str:
    return f"{percent(row.owned_share)}\n{count_tick(row.held_end_gpus)} GPUs{f' {CUT}' if row.cut_to else ''}"


def _not_drawn(found: RentOrBuy, ax: Axes, n_drawn: int) -> str:
    """Which ways are not drawn, in words; where only one share is left, the reasons are written into the picture."""
    out = [row for row in found.owned_base if not row.comparable]
    if n_drawn <= 1:
        reasons = [f"{row.policy} {row.reason}" for row in out]
        said = "\n".join(["Not comparable with renting all, so not drawn:", *reasons])
        ax.text(0.16, 0.5, said, transform=ax.transAxes, va="center", fontsize=LABEL, color=INK, bbox=_PAPER, zorder=5)
        return ""
    return f"Not drawn, as quality or service differs: {', '.join(row.policy for row in out)}." if out else ""


def payback(found: RentOrBuy, ax: Axes | None = None) -> Axes:
    """Cumulative money of one GPU owned, and of renting the same hours, with the days on which they meet."""
    ax = new_axes() if ax is None else ax
    scenario, kind = found.scenario, found.optimum.accelerator
    part, full = (one_gpu(scenario, kind, share) for share in (found.utilization, 1.0))
    days = np.datetime64(part.row.arrives) + np.arange(part.owned_usd.size)
    dates, used = as_dates(days), percent(found.utilization)
    ax.plot(dates, part.owned_usd, color=INK, linewidth=2.2, label="owned: price, then power, hosting and upkeep")
    ax.plot(dates, part.net_usd, color=INK, linewidth=1.6, linestyle=(0, (1.5, 1.5)), label="owned, were it sold")
    ax.plot(dates, part.rented_usd, color=PETROFF[0], linewidth=2.2, label=f"rented, {used} of all hours")
    if found.utilization < 1.0:
        look = policy_look(2)
        ax.plot(
            dates, full.rented_usd, color=look.colour, linestyle=look.dash, linewidth=1.8, label="rented, all hours"
        )
    ax.set_ylim(0.0, _LEGEND_ROOM * max(part.owned_usd[-1], full.rented_usd[-1]))
    ax.margins(x=0.01)
    _mark_break_evens(ax, part)
    currency = currency_of(found.comparison)
    money_axis(ax, currency)
    date_axis(ax, days.size)
    ax.legend(facecolor="white", edgecolor="none", framealpha=1.0, fontsize=SMALL, loc="upper left", ncols=2)
    paid, lost = (money(usd, currency) for usd in (part.row.paid_usd, part.net_usd[0]))
    below = (
        f"Ordered on {scenario.start} at that day's price, in service from {part.row.arrives} to the end of its useful "
        f"life. Sold on the first day it has cost {lost} of {paid} paid: network and installation fetch nothing, and "
        f"reselling costs {percent(scenario.ownership.resale_spread)}. Rents drift as stated, without noise; nominal "
        f"money, no cost of capital.{f' Money: {currency.said}.' if currency.said else ''}"
    )
    return dress(
        ax, f"One {kind}: owned, or the same hours rented ({scenario.title})", f"cumulative {currency.code}", below
    )


def heat_map(found: RentOrBuy, ax: Axes | None = None) -> Axes:
    """The best owned share against renting all, by growth of demand and fall of rents, and where the answer turns."""
    ax = new_axes() if ax is None else ax
    growths = list(dict.fromkeys(cell.growth_factor for cell in found.heat_map))
    falls = list(dict.fromkeys(cell.rental_fall_per_year for cell in found.heat_map))
    shape = (len(growths), len(falls))
    values = np.array([cell.difference_percent.mean for cell in found.heat_map]).reshape(shape)
    span = max(float(np.nanmax(np.abs(values), initial=0.0)), _LEAST_SPAN)
    image = ax.imshow(values, cmap="PuOr_r", norm=TwoSlopeNorm(0.0, -span, span), aspect="auto", origin="upper")
    light = image.to_rgba(values)[..., :3] @ _LUMINANCE
    for at, cell in enumerate(found.heat_map):
        row, column = divmod(at, len(falls))
        colour = "white" if light[row, column] < _DARK else INK
        if cell.is_open:
            _hatch(ax, row, column)
            colour = INK
        ax.text(column, row, _cell(cell), ha="center", va="center", color=colour, fontsize=LABEL, linespacing=1.4)
    _turning_line(ax, np.array([cell.owns for cell in found.heat_map]).reshape(shape))
    ax.set_xticks(range(len(falls)), [f"{signed_percent(-100.0 * fall, 1)}" for fall in falls])
    ax.set_yticks(range(len(growths)), [f"x {growth:g}" for growth in growths])
    line = "; line: where the answer turns" if len({cell.owns for cell in found.heat_map}) > 1 else ""
    declared = signed_percent(-100.0 * found.scenario.market.rental_fall_per_year, 1)
    below = (
        f"Across: change of rents a year (declared: {declared}). Down: yearly growth of demand, times the declared. "
        f"Cells: cost of the best owned share of the need, less that of renting all, in % of the latter{line}. "
        f"{_marks(found)}{found.scenario.title}: {worlds_said(found.cell_replications)} a cell, "
        f"seed {found.comparison.seed}."
    )
    dress(ax, "Own or rent, as demand grows and rents fall", "growth of demand", below)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def tornado(found: RentOrBuy, ax: Axes | None = None) -> Axes:
    """How far each input moves the answer at the best owned share, the widest on top."""
    ax = new_axes() if ax is None else ax
    centre = found.tornado_centre_percent.mean
    bars = [bar for bar in found.tornado if np.isfinite(bar.at_low_percent.mean + bar.at_high_percent.mean)][::-1]
    ends = [end.mean for bar in bars for end in (bar.at_low_percent, bar.at_high_percent)]
    left, right = min([0.0, centre, *ends]), max([0.0, centre, *ends])
    room = 0.14 * max(right - left, _LEAST_SPAN)
    for row, bar in enumerate(bars):
        _bar(ax, row, bar, centre)
    for number, label in ((_LOW, "at the low value"), (_HIGH, "at the high value")):
        look = policy_look(number)
        ax.barh(0, 0.0, left=centre, color=look.colour, hatch=look.hatch, edgecolor="white", label=label)
    ax.axvline(centre, color=INK, linewidth=1.2)
    ax.axvline(0.0, color=MUTED, linewidth=1.2, linestyle=(0, (6.0, 2.0)))
    ax.set_xlim(left - room, right + room)
    ax.set_yticks(range(len(bars)), [f"{swing_what(bar)}\n{_declared(bar)}" for bar in bars])
    ax.xaxis.set_major_formatter(FuncFormatter(_percent_tick))
    ax.legend(frameon=False, fontsize=SMALL, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    widths = [end.high - end.mean for bar in bars for end in (bar.at_low_percent, bar.at_high_percent)]
    widest = f" (95 %; at the ends up to {max(widths):.1f})" if np.isfinite(widths).all() else ""
    said = f"{signed(centre, 1)}{half_width_said(found.tornado_centre_percent)} %{widest}"
    below = (
        f"Cost of owning {percent(found.optimum.best_own_share)} of the need, less that of renting all, in % of the "
        f"latter. Solid: as declared, {said}; dashed: no difference, right of it rent. At the ends: the values tried. "
        f"{found.scenario.title}: {worlds_said(found.cell_replications)}, seed {found.comparison.seed}."
    )
    dress(ax, "What would change the answer: one input at a time", "", below)
    ax.grid(visible=False, axis="y")
    return ax


def _declared(bar: TornadoRow) -> str:
    return TIMES if bar.unit == TIMES else f"as declared {swing_value(bar, bar.declared)}"


def _bar(ax: Axes, row: int, bar: TornadoRow, centre: float) -> None:
    """Both halves of one bar, with the values tried at their ends; if both go one way, the shorter lies on top."""
    halves = [(bar.low, bar.at_low_percent.mean - centre, _LOW), (bar.high, bar.at_high_percent.mean - centre, _HIGH)]
    halves.sort(key=lambda half: -abs(half[1]))
    is_one_way = halves[0][1] * halves[1][1] > 0.0
    for place, (value, off, number) in enumerate(halves):
        look = policy_look(number)
        ax.barh(row, off, 0.6, left=centre, color=look.colour, hatch=look.hatch, edgecolor="white")
        side, at = (1.0 if off > 0.0 or (off == 0.0 and number == _HIGH) else -1.0), centre + off
        if is_one_way and place == 1:
            side, at = -side, centre
        ax.annotate(
            swing_value(bar, value),
            (at, row),
            xytext=(5.0 * side, 0.0),
            textcoords="offset points",
            ha="left" if side > 0.0 else "right",
            va="center",
            fontsize=SMALL,
            color=INK,
            bbox=_PAPER,
        )


def save_rent_or_buy_plots(found: RentOrBuy, folder: Path) -> list[Path]:
    """Write the pictures as PNG and SVG; no tornado where no owned share is comparable."""
    figures = [
        ("owned_share", figure_of(owned_share(found))),
        ("payback", figure_of(payback(found))),
        ("heat_map", figure_of(heat_map(found))),
    ]
    if found.tornado:
        figures.append(("tornado", figure_of(tornado(found))))
    return save_figures(figures, folder)


def _mark_break_evens(ax: Axes, gpu: OneGpu) -> None:
    """Where the curves of one GPU meet; the legend says on which day, as letters there would lie across a line."""
    row = gpu.row
    for day, said, marker in (
        (row.resale_break_even_date, "could be sold at no loss", "D"),
        (row.break_even_date, "paid back", "o"),
    ):
        if day is None:
            continue
        at = min((day - row.arrives).days, gpu.rented_usd.size - 1)
        (date_number,) = as_dates(np.array([day], dtype="datetime64[D]"))
        usd = float(gpu.rented_usd[at])
        ax.vlines(date_number, 0.0, usd, color=MUTED, linewidth=1.0, linestyle=(0, (1.5, 2.5)))
        ax.plot(
            date_number,
            usd,
            color=INK,
            linestyle="none",
            marker=marker,
            markersize=8,
            markerfacecolor="white",
            zorder=5,
            label=f"{said} {day}",
        )


def _turning_line(ax: Axes, owns: npt.NDArray[np.bool_]) -> None:
    """A line between neighbouring cells that differ in their answer."""
    for row, column in np.argwhere(owns[:, 1:] != owns[:, :-1]).tolist():
        ax.plot([column + 0.5] * 2, [row - 0.5, row + 0.5], color=INK, linewidth=3.5, solid_capstyle="projecting")
    for row, column in np.argwhere(owns[1:] != owns[:-1]).tolist():
        ax.plot([column - 0.5, column + 0.5], [row + 0.5] * 2, color=INK, linewidth=3.5, solid_capstyle="projecting")
    ax.set_xlim(-0.5, owns.shape[1] - 0.5)
    ax.set_ylim(owns.shape[0] - 0.5, -0.5)


def _hatch(ax: Axes, row: int, column: int) -> None:
    """Make a cell look as unsure as it is: paler, with lines across."""
    corner = (column - 0.5, row - 0.5)
    ax.add_patch(Rectangle(corner, 1.0, 1.0, facecolor="white", alpha=0.6, linewidth=0.0))
    ax.add_patch(Rectangle(corner, 1.0, 1.0, fill=False, hatch="//", edgecolor=MUTED, alpha=0.3, linewidth=0.0))


def _cell(cell: HeatCell) -> str:
    if np.isnan(cell.difference_percent.mean):
        return "n/c"
    answer = f"own {percent(cell.owned_share)}{f' {CUT}' if cell.is_cut else ''}" if cell.owns else "rent"
    return f"{signed_percent(cell.difference_percent.mean)}{' ?' if cell.is_open else ''}\n{answer}"


def _marks(found: RentOrBuy) -> str:
    """What hatching and marks mean, and a blank."""
    said = map_marks(found)
    return f"{'Hatched, ' if any(cell.is_open for cell in found.heat_map) else ''}{said} " if said else ""
