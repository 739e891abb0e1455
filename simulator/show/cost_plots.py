"""Pictures of money: what was spent, and how policies differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from simulator.laws.units import FloatArray
from simulator.show.money import DASH, money, scaled, signed_money, signed_percent
from simulator.show.style import (
    GRID,
    INK,
    LABEL,
    MUTED,
    SMALL,
    apart,
    as_dates,
    cheapest,
    currency_of,
    date_axis,
    dress,
    is_short,
    is_wide,
    money_axis,
    money_caption,
    new_axes,
    policy_look,
)
from simulator.show.table import difference_percent, verdict
from simulator.study.comparison import Comparison
from simulator.study.daily import QUANTILES

_LABEL_GAP = 0.052
_TALLEST_FAN = 3.0
"""A 90 % band higher than this many times the highest median is cut off."""

_EARLY = 0.05
_NEAR_EDGE = 0.25
"""Part of the width in which a label grows away from the edge."""
_LEAST_RATIO = 1e-6
_PERCENT_TICKS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)


def cumulative_cost(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Money spent since the start: a fan per policy, and a ring where it ends once what is left is counted."""
    ax = new_axes() if ax is None else ax
    (dates, fans), currency = _fans(comparison), currency_of(comparison)
    net = np.median(comparison.by_policy("cumulative_cost_usd"), axis=1)
    ends = []
    for number, name in enumerate(comparison.policy_names):
        look = policy_look(number)
        p5, p25, p50, p75, p95 = fans[:, number]
        ax.fill_between(dates, p5, p95, color=look.colour, alpha=0.07, linewidth=0)
        ax.fill_between(dates, p25, p75, color=look.colour, alpha=0.16, linewidth=0)
        for edge in (p5, p95):
            ax.plot(dates, edge, color=look.colour, linestyle=look.dash, linewidth=0.7, alpha=0.6)
        ax.plot(dates, p50, color=look.colour, linestyle=look.dash, linewidth=2.2, label=name, zorder=3)
        ring = ax.plot(dates[-1:], net[number : number + 1], "o", color=look.colour, markersize=8, zorder=4)[0]
        ring.set(markerfacecolor="white", clip_on=False)
        cost = float(net[number])
        ends.append((cost, f"{name}  {money(cost, currency)}", look.colour))
        _mark_break_even(ax, comparison, number, (dates, p50))
    if is_wide(comparison) and not is_short(comparison.n_days):
        ax.set_yscale("log")
        cut, scale = "", ", log scale"
        ax.set_ylim(_least_shown(fans, net), 1.3 * max(float(fans.max()), float(net.max())))
    else:
        (top, cut), scale = _top(comparison, fans, net), ""
        ax.set_ylim(min(0.0, float(fans.min()), float(net.min())), top)
    bands = "Line: median; bands: 50 % and 90 % of worlds; ring and figure: median cost, less what is left. "
    marks = _break_evens_said(comparison)
    dress(
        ax,
        verdict(comparison).rstrip("."),
        f"money spent since the start [{currency.code}{scale}]",
        f"{bands}{cut}\n{marks}{money_caption(comparison)}",
    )
    date_axis(ax, comparison.n_days)
    money_axis(ax, currency)
    ax.set_xlim(dates[0], dates[-1])
    _label_ends(ax, ends)
    return ax


def _mark_break_even(ax: Axes, comparison: Comparison, number: int, line: tuple[FloatArray, FloatArray]) -> None:
    """A diamond on a policy's line on the day from which it has spent less than the baseline for good."""
    day = comparison.break_even_date(number) if number else None
    if day is None:
        return
    (at,) = as_dates(np.array([day], dtype="datetime64[D]"))
    diamond = ax.plot(at, np.interp(at, *line), "D", color=policy_look(number).colour, markersize=8, zorder=5)[0]
    diamond.set(markerfacecolor="white", markeredgewidth=1.8)


def _break_evens_said(comparison: Comparison) -> str:
    """What the diamonds are, with their dates; nothing if there are none."""
    found = [
        f"{name} {day}"
        for number, name in enumerate(comparison.policy_names)
        if number and (day := comparison.break_even_date(number)) is not None
    ]
    if not found:
        return ""
    return f"Diamond: mean spend is below that of {comparison.baseline} from then on: {', '.join(found)}.\n"


def _fans(comparison: Comparison) -> tuple[FloatArray, FloatArray]:
    """Dates, and quantiles of the money spent [quantile, policy, date].

    A very short run begins with nothing spent and is drawn at the end of each day, so that one day is a line.
    """
    dates = as_dates(comparison.dates[comparison.days.quantile_days])
    fans = comparison.days.cumulative_cash_quantiles_usd
    if not is_short(comparison.n_days):
        return dates, fans
    return np.append(dates, dates[-1] + 1.0), np.concatenate([np.zeros((*fans.shape[:-1], 1)), fans], axis=-1)


def _least_shown(fans: FloatArray, net: FloatArray) -> float:
    """The foot of a logarithmic axis: what the policy that spends least has spent at 5 % of the horizon."""
    medians = fans[QUANTILES.index(0.5)]
    early = medians[:, round(_EARLY * (medians.shape[1] - 1)) :]
    spent = early[early > 0.0]
    return 0.8 * min(float(spent.min()) if spent.size else np.inf, float(net.min()))


def _top(comparison: Comparison, fans: FloatArray, net: FloatArray) -> tuple[float, str]:
    """How high the axis goes: above all rings; a 90 % band that would flatten all medians is cut, and that is said."""
    highest, ring = fans.max(axis=(1, 2)), float(net.max())
    if highest[-1] <= _TALLEST_FAN * max(float(highest[2]), ring):
        return max(float(highest[-1]) * 1.05, ring * 1.05, 1.0), ""
    top = max(float(highest[-2]) * 1.3, ring * 1.05)
    over = [
        f"{name} (to {money(float(end), currency_of(comparison))})"
        for name, end in zip(comparison.policy_names, fans[-1].max(axis=1), strict=True)
        if end > top
    ]
    return top, f"Cut off: the 90 % bands of {', '.join(over)}."


def difference(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Paired difference from the baseline in percent: mean and its 95 % interval, beside the spread over worlds.

    Where policies differ by large factors the axis is one of ratios, so that the cheap ones can be told apart.
    """
    ax = new_axes() if ax is None else ax
    rows, wide = comparison.summary_records(), is_wide(comparison)
    place = _as_ratio if wide else _as_percent
    ax.axvline(place(0.0), color=INK, linewidth=1.5)
    if wide:
        ax.set_xscale("log")
    labels = [_difference_row(ax, comparison, number, place) for number in range(1, len(rows))]
    scale = "on a log scale of cost ratios" if wide else "in percent"
    dress(
        ax,
        verdict(comparison).rstrip("."),
        "",
        f"Cumulative cost less that of {comparison.baseline} in the same worlds, {scale}. Dot: mean difference / mean "
        f"cost of {comparison.baseline}, with its 95 % interval; bar: 90 % of worlds.\n" + money_caption(comparison),
    )
    ax.set_yticks(range(len(rows) - 1), [row.policy for row in rows[1:]], fontsize=LABEL)
    ax.set_ylim(max(len(rows) - 1, 1) - 0.4, -0.8)
    ax.margins(x=0.12)
    for mean, said in labels:
        _turn_inwards(ax, mean, said)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=GRID, linewidth=0.8)
    if wide:
        ax.xaxis.set_major_locator(FixedLocator(_PERCENT_TICKS))
        ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: _percent_tick(100.0 * (value - 1.0) if wide else value))
    )
    return ax


def _difference_row(
    ax: Axes, comparison: Comparison, number: int, place: Callable[[float], float]
) -> tuple[float, Annotation]:
    """One policy: spread over worlds, mean with interval, label; gives back where the mean is, and the label."""
    row, look, at = comparison.summary_records()[number], policy_look(number), number - 1
    base = comparison.by_policy("cumulative_cost_usd")[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_world = 100.0 * comparison.difference_usd(number) / np.abs(base)
    p5, p95 = np.quantile(by_world[np.isfinite(by_world)], (0.05, 0.95)) if np.isfinite(by_world).any() else (0, 0)
    ax.plot([place(p5), place(p95)], [at, at], color=look.colour, alpha=0.3, linewidth=11, solid_capstyle="butt")
    percents = row.controlled_difference_percent, row.controlled_difference_low_percent
    mean, low, high = map(place, (*percents, row.controlled_difference_high_percent))
    ax.errorbar(
        [mean],
        [at],
        xerr=np.nan_to_num(np.array([[mean - low], [high - mean]])),
        fmt="o",
        color=look.colour,
        markerfacecolor=look.colour if row.comparable else "white",
        markersize=9,
        linewidth=2.4,
        capsize=5,
    )
    said = ax.annotate(
        _difference_said(comparison, number),
        (mean, at),
        xytext=(0, 13),
        textcoords="offset points",
        ha="center",
        fontsize=SMALL,
        color=INK if row.comparable else MUTED,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8},
    )
    return mean, said


def _turn_inwards(ax: Axes, mean: float, said: Annotation) -> None:
    """Let a label near an edge of the picture grow away from it."""
    left = ax.transAxes.inverted().transform(ax.transData.transform((mean, 0.0)))[0]
    said.set_horizontalalignment("left" if left < _NEAR_EDGE else "right" if left > 1.0 - _NEAR_EDGE else "center")


def _as_percent(percent: float) -> float:
    return percent


def _as_ratio(percent: float) -> float:
    """Cost / cost of the baseline, kept above zero where a logarithmic axis ends."""
    return max(1.0 + percent / 100.0, _LEAST_RATIO) if np.isfinite(percent) else percent


def _percent_tick(percent: float) -> str:
    """A tick with the decimals it needs: −99.9 %, but −50 %."""
    return signed_percent(percent, 0 if abs(percent - round(percent)) < 1e-9 else 1)


def _difference_said(comparison: Comparison, number: int) -> str:
    """The difference from the baseline in money and percent, and how many times the cheapest it costs."""
    rows = comparison.summary_records()
    row, best = rows[number], cheapest(comparison)
    usd = row.controlled_difference_percent / 100.0 * rows[0].controlled_cost_usd
    said = f"{signed_money(usd, currency_of(comparison))} ({difference_percent(row)})"
    if not row.comparable:
        return f"{said}, not comparable"
    if number == best or best == 0 or rows[best].cumulative_cost_usd <= 0.0:
        return said
    gap = comparison.controlled_percent(number, best)
    mean, low, high = (scaled(1.0 + found / 100.0) for found in (gap.mean, gap.low, gap.high))
    bounds = "" if low == DASH else f" [{low}, {high}]"
    return f"{said}; {mean}{bounds} x {rows[best].policy}"


def _label_ends(ax: Axes, ends: list[tuple[float, str, str]]) -> None:
    """The name of each line at its end, moved apart where they would touch."""
    scale = ax.yaxis.get_transform()
    low, high = scale.transform(np.array(ax.get_ylim()))
    heights = [float((scale.transform(np.array([value]))[0] - low) / (high - low)) for value, _, _ in ends]
    for height, placed, (_, text, colour) in zip(heights, apart(heights, _LABEL_GAP), ends, strict=True):
        ax.annotate(
            text,
            (1.0, height),
            xytext=(1.045, float(placed)),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=LABEL,
            color=INK,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 1.6,
                "relpos": (0.0, 0.5),
                "shrinkA": 2,
                "shrinkB": 6,
            },
        )
