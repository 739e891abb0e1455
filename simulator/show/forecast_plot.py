"""Picture of what a policy expected of demand, and what came."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from matplotlib.axes import Axes

from simulator.laws.units import FloatArray
from simulator.show.style import (
    INK,
    PETROFF,
    as_dates,
    chosen,
    count_axis,
    date_axis,
    dress,
    is_short,
    new_axes,
    stack_legend,
)
from simulator.study.comparison import Comparison
from simulator.study.daily import block_days, block_means
from simulator.study.forecasts_seen import ForecastsSeen, View, forecasts_seen

_MOST_VIEWS = 8
_REACH = 2.0
"""How far a view is drawn, of the time to the next one drawn."""
_Z90 = NormalDist().inv_cdf(0.95)
_ROOM = 4.0
"""How far beyond what was asked bands are shown, as a factor."""
_LOG_FROM = 20.0


def forecasts(comparison: Comparison, ax: Axes | None = None, policy: str | None = None) -> Axes:
    """What a policy expected at its reviews, in the first world; default: the cheapest policy."""
    ax = new_axes() if ax is None else ax
    number = chosen(comparison, policy)
    scenario, held_by = comparison.scenario, comparison.policies[number]
    seen = forecasts_seen(scenario, held_by, seed=comparison.seed, ahead_days=comparison.n_days)
    drawn, step = _some(seen)
    for turn, view in enumerate(drawn):
        _draw(ax, comparison, view, _REACH * step, turn)
    days = block_days(comparison.n_days)
    asked = block_means(seen.asked_tokens)
    middles = as_dates(comparison.dates[: asked.size * days : days]) + (days - 1) / 2.0
    marker = "o" if is_short(comparison.n_days) else ""
    ax.plot(middles, asked, color=INK, linewidth=1.8, marker=marker, markersize=4, label="asked", zorder=2.5)
    every = "each review" if len(drawn) == len(seen.views) else f"{len(drawn)} of {len(seen.views)} reviews"
    week = ", averages by week" if days > 1 else ""
    cut = _limit(ax, asked)
    below = (
        f"One world: replication {seen.replication} of seed {comparison.seed}{week}. Dots: {every}, in two looks by "
        f"turns; from each the mean expected, and the band that is to hold 90 % of days.{cut} {scenario.title}."
    )
    kind = getattr(held_by.forecast, "kind", type(held_by.forecast).__name__)
    dress(ax, f"Demand as {seen.policy} expected it (forecast: {kind}), and as it came", "user tokens per day", below)
    date_axis(ax, comparison.n_days)
    count_axis(ax)
    first, last = as_dates(comparison.dates[[0, -1]])
    ax.set_xlim(first, last + 1.0)
    stack_legend(ax)
    return ax


def _some(seen: ForecastsSeen) -> tuple[list[View], float]:
    """Views spread over the window, so many that they can be told apart, and the days from one to the next."""
    last, step = seen.asked_tokens.size, seen.asked_tokens.size / _MOST_VIEWS
    found: list[View] = []
    for view in seen.views:
        if not found or view.day >= found[0].day + len(found) * step:
            found.append(view)
    return found, last / max(len(found), 1)


def _draw(ax: Axes, comparison: Comparison, view: View, reach: float, turn: int) -> None:
    """One view, with a dot where it was held; neighbours differ in colour and dash."""
    near = view.days <= view.day + reach
    days, mean, sd = view.days[near], view.mean_tokens[near], view.log_sd[near]
    dates, median = as_dates(comparison.dates[days]), mean * np.exp(-(sd**2) / 2.0)
    colour, dash = (PETROFF[0], (0, (6.0, 2.0))) if turn % 2 == 0 else (PETROFF[1], (0, (1.5, 1.5)))
    band, line = ("expected, 90 %", "expected, mean") if turn == 0 else ("_band", "_mean")
    low, high = (median * np.exp(z * sd) for z in (-_Z90, _Z90))
    ax.fill_between(dates, low, high, color=colour, alpha=0.16, linewidth=0, label=band)
    ax.plot(dates, mean, color=colour, linestyle=dash, linewidth=2.0, label=line, zorder=3)
    ax.plot(dates[:1], mean[:1], "o", color=colour, markersize=7, markerfacecolor="white", zorder=5)


def _limit(ax: Axes, asked: FloatArray) -> str:
    """The axis around what was asked: a band that would flatten it is cut, and that is said."""
    low, high = float(asked.min()), float(asked.max())
    is_log = low > 0.0 and high > _LOG_FROM * low
    top = ax.dataLim.y1
    if is_log:
        ax.set_yscale("log")
        ax.set_ylim(max(low / _ROOM, 0.8 * ax.dataLim.y0), min(top * 1.3, high * _ROOM))
    else:
        ax.set_ylim(0.0, min(top * 1.3, high * _ROOM) or 1.0)
    return " Bands that reach higher are cut off." if top > high * _ROOM else ""
