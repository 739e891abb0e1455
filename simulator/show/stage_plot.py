"""A picture of where the money went, stage by stage."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from simulator.lab.accounts import Stage
from simulator.show.money import money, money_tick, percent
from simulator.show.stage_table import in_a_line
from simulator.show.style import (
    GRID,
    INK,
    LABEL,
    SMALL,
    currency_of,
    dress,
    is_wide,
    money_caption,
    new_axes,
    part_look,
)
from simulator.study.comparison import Comparison

_ROOM = 1.13
"""For the figures at the ends of the bars."""


def cost_by_stage(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """A bar per policy, stacked by stage, credits to the left of zero, and the cost in figures.

    Where policies differ by large factors each bar is the whole of its own cost, so that the cheap ones can be read.
    """
    ax = new_axes() if ax is None else ax
    currency, usd, shares = currency_of(comparison), comparison.controlled_stage_usd, is_wide(comparison)
    total = usd.sum(axis=1)
    drawn = usd / total[:, None] if shares else usd
    places, right, left = np.arange(len(usd)), np.zeros(len(usd)), np.zeros(len(usd))
    for at, (stage, cost) in enumerate(zip(Stage, drawn.T, strict=True)):
        look = part_look(at)
        if not cost.any():
            continue
        ax.barh(
            places,
            cost,
            left=np.where(cost >= 0.0, right, left),
            height=0.65,
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            linewidth=0.0,
            label=in_a_line(stage),
        )
        right += np.maximum(cost, 0.0)
        left += np.minimum(cost, 0.0)
    for place, end, cost in zip(places, right, total.tolist(), strict=True):
        said = money(cost, currency)
        ax.annotate(said, (end, place), (6, 0), textcoords="offset points", va="center", fontsize=SMALL, color=INK)
    what = "share of each policy's own cost" if shares else "economic cost"
    said = f"Bars: {what}, mean over worlds, credits left of zero. Figures: cost, credits taken off."
    dress(ax, f"{comparison.scenario.title}: cost of ownership by stage", "", f"{said}\n{money_caption(comparison)}")
    ax.axvline(0.0, color=INK, linewidth=1.0)
    ax.set_yticks(places, comparison.policy_names, fontsize=LABEL)
    ax.invert_yaxis()
    ax.set_xlim(_ROOM * float(left.min()), _ROOM * float(right.max()) or 1.0)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=GRID, linewidth=0.8)
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: percent(value) if shares else money_tick(value, currency))
    )
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=LABEL)
    return ax
