"""Pictures of renting and buying: cost over the owned share, one GPU's payback, the map, and what moves the answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.ticker import FuncFormatter

from simulator.show.money import count_tick, percent, signed, signed_percent
from simulator.show.plots import figure_of, save_figures
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
from simulator.study.rent_or_buy_answers import HeatCell, RentOrBuy, TornadoRow
from simulator.study.tenure_costs import OneGpu, one_gpu

_LUMINANCE = np.array([0.299, 0.587, 0.114])
_DARK = 0.56
"""Of white's luminance: on darker colours letters are white."""
_LEAST_SPAN = 1.0
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
    means = [row.difference_percent.mean for row in rows]
    bounds = [[row.difference_percent.low for row in rows], [row.difference_percent.high for row in rows]]
    ax.fill_between(shares, *np.nan_to_num(bounds, nan=0.0), color=PETROFF[0], alpha=0.15, linewidth=0)
    ax.plot(shares, means, color=PETROFF[0], linewidth=2.2, marker="o", markersize=6)
    ax.axhline(0.0, color=MUTED, linewidth=0.9)
    best = [row for row in rows if row.owned_share == found.optimum.owned_share]
    for row in best:
        at = (100.0 * row.owned_share, row.difference_percent.mean)
        ax.plot(*at, color=INK, marker="o", markersize=12, markerfacecolor="none", markeredgewidth=1.8)
    if np.isfinite(found.optimum.refined_share):
        ax.axvline(100.0 * found.optimum.refined_share, color=INK, linewidth=1.0, linestyle=(0, (1.5, 2.5)))
    ax.set_xlim(-4.0, max(shares, default=100.0) + (44.0 if leases else 4.0))
    low, high = ax.get_ylim()
    heights = apart([(row.difference_percent.mean - low) / (high - low) for row in leases], _BETWEEN, 0.97)
    for number, (row, height) in enumerate(zip(leases, heights, strict=True)):
        look = policy_look(number + 2)
        ax.axhline(row.difference_percent.mean, xmax=0.79, color=look.colour, linestyle=look.dash, linewidth=1.8)
        said = f"{row.policy}, {signed_percent(row.difference_percent.mean)}"
        ax.text(0.81, height, said, transform=ax.transAxes, va="center", color=INK, fontsize=SMALL, bbox=_PAPER)
    ax.set_xticks(shares, [f"{percent(row.owned_share)}\n{count_tick(row.held_end_gpus)} GPUs" for row in rows])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: signed_percent(value)))
    below = (
        "Below: GPUs owned / mean need forecast for the day of delivery, and GPUs owned at the end, mean over worlds. "
        "Band: 95 % of the paired difference. Ring: the cheapest tried; dotted: least of the parabola through three. "
        f"{caption(found.comparison)}"
    )
    return dress(ax, "What owning a share of the need costs, against renting all", "difference of cost", below)


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
    ax.set_ylim(0.0, 1.06 * max(part.owned_usd[-1], full.rented_usd[-1]))
    ax.margins(x=0.01)
    _mark_break_evens(ax, part)
    currency = currency_of(found.comparison)
    money_axis(ax, currency)
    date_axis(ax, days.size)
    ax.legend(frameon=False, fontsize=SMALL, loc="upper left")
    below = (
        f"Ordered on {scenario.start} at that day's price, in service from {part.row.arrives} to the end of its useful "
        "life. Rents drift as stated, without noise; nominal money, no cost of capital."
        f"{f' Money: {currency.said}.' if currency.said else ''}"
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
    image = ax.imshow(values, cmap="PuOr_r", norm=TwoSlopeNorm(0.0, -span, span), aspect="auto", origin="lower")
    light = image.to_rgba(values)[..., :3] @ _LUMINANCE
    for at, cell in enumerate(found.heat_map):
        row, column = divmod(at, len(falls))
        colour = "white" if light[row, column] < _DARK else INK
        ax.text(column, row, _cell(cell), ha="center", va="center", color=colour, fontsize=LABEL, linespacing=1.4)
    _turning_line(ax, np.array([cell.owns for cell in found.heat_map]).reshape(shape))
    ax.set_xticks(range(len(falls)), [f"{signed_percent(-100.0 * fall, 1)}" for fall in falls])
    ax.set_yticks(range(len(growths)), [f"x {growth:g}" for growth in growths])
    declared = signed_percent(-100.0 * found.scenario.market.rental_fall_per_year, 1)
    below = (
        f"Across: change of rents a year (declared: {declared}). Down: yearly growth of demand, times the declared. "
        f"Cells: cost of the best owned share of the need, less that of renting all, in % of the latter; line: where "
        f"the answer turns. {found.scenario.title}: {worlds_said(found.cell_replications)} a cell, seed "
        f"{found.comparison.seed}."
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
    for number, label in ((1, "at the low value"), (2, "at the high value")):
        look = policy_look(number)
        ax.barh(0, 0.0, left=centre, color=look.colour, hatch=look.hatch, edgecolor="white", label=label)
    ax.axvline(centre, color=INK, linewidth=1.2)
    ax.axvline(0.0, color=MUTED, linewidth=1.2, linestyle=(0, (6.0, 2.0)))
    ax.set_xlim(left - room, right + room)
    ax.set_yticks(range(len(bars)), [f"{bar.what}\nas declared {_figure(bar.declared)}" for bar in bars])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: signed_percent(value)))
    ax.legend(frameon=False, fontsize=SMALL, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    below = (
        f"Cost of owning {percent(found.optimum.best_own_share)} of the need, less that of renting all, in % of the "
        f"latter. Solid: as declared, {signed(centre, 1)} %; dashed: no difference, right of it rent. At the ends: the "
        f"values tried. {found.scenario.title}: {worlds_said(found.cell_replications)}, seed {found.comparison.seed}."
    )
    dress(ax, "What would change the answer: one input at a time", "", below)
    ax.grid(visible=False, axis="y")
    return ax


def _bar(ax: Axes, row: int, bar: TornadoRow, centre: float) -> None:
    """Both halves of one bar, with the values tried at their ends; if both go one way, the shorter lies on top."""
    halves = [(bar.low, bar.at_low_percent.mean - centre, 1), (bar.high, bar.at_high_percent.mean - centre, 2)]
    halves.sort(key=lambda half: -abs(half[1]))
    is_one_way = halves[0][1] * halves[1][1] > 0.0
    for place, (value, off, number) in enumerate(halves):
        look = policy_look(number)
        ax.barh(row, off, 0.6, left=centre, color=look.colour, hatch=look.hatch, edgecolor="white")
        side, at = (1.0 if off > 0.0 else -1.0), centre + off
        if is_one_way and place == 1:
            side, at = -side, centre
        ax.annotate(
            _figure(value),
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
    """Where the curves of one GPU meet, and on which day."""
    row = gpu.row
    for day, said, height in (
        (row.resale_break_even_date, "could be sold at no loss", 0.03),
        (row.break_even_date, "paid back", 0.10),
    ):
        if day is None:
            continue
        at = min((day - row.arrives).days, gpu.rented_usd.size - 1)
        (date_number,) = as_dates(np.array([day], dtype="datetime64[D]"))
        usd = float(gpu.rented_usd[at])
        ax.plot(date_number, usd, color=INK, marker="o", markersize=8, markerfacecolor="white", zorder=5)
        ax.vlines(date_number, 0.0, usd, color=MUTED, linewidth=1.0, linestyle=(0, (1.5, 2.5)))
        is_late = date_number > np.mean(ax.get_xlim())
        ax.annotate(
            f"{said} {day}",
            (date_number, height),
            xycoords=("data", "axes fraction"),
            xytext=(-6.0 if is_late else 6.0, 0.0),
            textcoords="offset points",
            ha="right" if is_late else "left",
            fontsize=SMALL,
            color=INK,
            bbox=_PAPER,
        )


def _turning_line(ax: Axes, owns: npt.NDArray[np.bool_]) -> None:
    """A line between neighbouring cells that differ in their answer."""
    for row, column in np.argwhere(owns[:, 1:] != owns[:, :-1]).tolist():
        ax.plot([column + 0.5] * 2, [row - 0.5, row + 0.5], color=INK, linewidth=3.5, solid_capstyle="projecting")
    for row, column in np.argwhere(owns[1:] != owns[:-1]).tolist():
        ax.plot([column - 0.5, column + 0.5], [row + 0.5] * 2, color=INK, linewidth=3.5, solid_capstyle="projecting")
    ax.set_xlim(-0.5, owns.shape[1] - 0.5)
    ax.set_ylim(-0.5, owns.shape[0] - 0.5)


def _cell(cell: HeatCell) -> str:
    if np.isnan(cell.difference_percent.mean):
        return "n/c"
    answer = f"own {percent(cell.owned_share)}" if cell.owns else "rent"
    return f"{signed_percent(cell.difference_percent.mean)}\n{answer}"


def _figure(value: float) -> str:
    """A value in its own unit, with a true minus."""
    return f"{value:.3g}".replace("-", "\u2212")
