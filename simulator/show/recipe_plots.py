"""Pictures of what was trained: the recipe of each release, and the share of training beside Erdil's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from simulator.lab.recipe import Erdil
from simulator.laws.exchange import training_share as erdil_share
from simulator.laws.units import FloatArray
from simulator.show.money import percent
from simulator.show.multiples import share_legend
from simulator.show.style import (
    INK,
    MUTED,
    PETROFF,
    SMALL,
    caption,
    count_axis,
    dress,
    new_axes,
    new_figure,
    policy_look,
)
from simulator.study.comparison import Comparison

_WIDTH = 0.8
"""Of a release's place, across which its policies stand."""
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_MOST_RATE = 10.0
"""Erdil (2024): there is no evidence of trades beyond 10 OOM of the one for 1 OOM of the other."""
_MOST_NAMES = 9
"""Of releases, below half a slide."""
_NARROW = 5.0
"""Numbers that span less than this factor are on a linear axis."""
_SMALL_SHARE = 0.02
_LEAST_SHARE = 1e-4


def recipe(comparison: Comparison) -> Figure:
    """What was trained for each release: parameters, tokens per parameter, samples and precision."""
    figure, table = new_figure(), comparison.releases_table
    panels = figure.subplots(2, 2).flatten()
    for ax, (column, title, unit) in zip(
        panels,
        (
            ("n_parameters", "Size N", "parameters"),
            ("training_tokens_per_parameter", "Training length D/N", "tokens per parameter"),
            ("samples", "Samples per answer m", "samples"),
        ),
        strict=False,
    ):
        lever(comparison, table, column, ax)
        dress(ax, title, unit, size=0.85)
    precision(comparison, table, panels[-1])
    dress(panels[-1], "Precision served in", "", size=0.85)
    panels[-1].grid(visible=False)
    said = f"The recipe of each release. Mark: median of worlds; bar: 90 % of them. {caption(comparison)}"
    share_legend(figure, panels[:3], comparison.policy_names, said)
    return figure


def lever(comparison: Comparison, table: pd.DataFrame, column: str, ax: Axes | None = None) -> Axes:
    """One number of the recipe by release and policy: median over worlds, and a bar for 90 % of them."""
    ax = new_axes() if ax is None else ax
    _by_release(comparison, table, column, ax)
    low, high = ax.dataLim.y0, ax.dataLim.y1
    if high > _NARROW * low:
        ax.set_yscale("log")
        ax.set_ylim(0.7 * low, 1.4 * high)
    else:
        ax.set_ylim(0.0, 1.2 * high)
    count_axis(ax)
    return ax


def precision(comparison: Comparison, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """What weights each release was planned to serve in, by policy: in how many worlds where they differ."""
    ax = new_axes() if ax is None else ax
    names, releases = comparison.policy_names, _releases(table)
    kinds, size = sorted(set(table["precision"])), SMALL * min(1.0, _MOST_NAMES / len(releases))
    for (policy, release), found in table.groupby(["policy", "release"], sort=False)["precision"]:
        kind, count = Counter(found).most_common(1)[0]
        said = kind if count == len(found) else f"{kind}\n{percent(count / len(found))}"
        at = (releases.index(release), names.index(policy))
        colour = PETROFF[kinds.index(kind) % len(PETROFF)]
        box = {"boxstyle": "square,pad=0.3", "facecolor": colour, "alpha": 0.25, "edgecolor": "none"}
        ax.text(*at, said, ha="center", va="center", fontsize=size, color=INK, bbox=box, linespacing=0.9)
    _release_axis(ax, releases)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), names)
    return ax


def training_share(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Share of training in what each release costs, by policy, beside the share of Erdil's trade."""
    ax = new_axes() if ax is None else ax
    table = comparison.releases_table
    shown = table.assign(share=table["training_share"].clip(lower=_LEAST_SHARE))
    _by_release(comparison, shown, "share", ax)
    one = float(erdil_share(1.0, 1.0))
    low, high = (float(erdil_share(a, b)) for a, b in ((1.0, _MOST_RATE), (_MOST_RATE, 1.0)))
    ax.axhspan(low, high, color=MUTED, alpha=0.10, linewidth=0, label="Erdil's trade, 1:10 to 10:1", zorder=0)
    for share, names in _erdil_shares(comparison, one).items():
        label = f"a / (a + b){f' of {names}' if names else ', Erdil 1:1'}: {percent(share)}"
        ax.axhline(share, color=INK, linewidth=1.4, linestyle=(0, (6.0, 2.0)), label=label)
    if (table.groupby("policy")["training_share"].median() < _SMALL_SHARE).any():
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_ylim(top=1.0)
    else:
        ax.set_ylim(0.0, 1.0)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100.0 * value:.3g}\u00a0%"))
    below = (
        "Mark: median of worlds; bar: 90 % of them. Economic cost of a release's training and of serving it within the "
        f"window, so the last releases have served only part of their life. {caption(comparison)}"
    )
    dress(ax, "Training's share of what each release costs, beside Erdil's", "training / (training + serving)", below)
    ax.legend(frameon=False, fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _erdil_shares(comparison: Comparison, one_to_one: float) -> dict[float, str]:
    """The shares to draw: one for one, and those of policies with other rates, with their names."""
    found = {one_to_one: ""}
    for policy in comparison.policies:
        if isinstance(policy.recipe, Erdil):
            share = float(erdil_share(policy.recipe.alpha, policy.recipe.beta))
            if share != one_to_one:
                found[share] = f"{found[share]}, {policy.name}" if found.get(share) else policy.name
    return found


def _by_release(comparison: Comparison, table: pd.DataFrame, column: str, ax: Axes) -> None:
    """A mark and a bar per release and policy, policies side by side."""
    names, releases = comparison.policy_names, _releases(table)
    found = table.groupby(["policy", "release"])[column].quantile([0.05, 0.5, 0.95]).unstack()
    for number, name in enumerate(names):
        if name not in found.index.get_level_values("policy"):
            continue
        rows, look = found.loc[name].reindex(releases), policy_look(number)
        low, median, high = (rows[q].to_numpy(np.float64) for q in (0.05, 0.5, 0.95))
        across = np.arange(len(releases)) + _WIDTH * ((number + 0.5) / len(names) - 0.5)
        bars: FloatArray = np.stack([median - low, high - median])
        ax.errorbar(
            across,
            median,
            yerr=np.maximum(bars, 0.0),
            fmt=_MARKS[number % len(_MARKS)],
            color=look.colour,
            markersize=6,
            elinewidth=2.0,
            label=name,
        )
    _release_axis(ax, releases)


def _release_axis(ax: Axes, releases: Sequence[str]) -> None:
    """As many names as there is room for."""
    shown = range(0, len(releases), ceil(len(releases) / _MOST_NAMES))
    ax.set_xticks(shown, [releases[at] for at in shown])
    ax.set_xlim(-0.5, len(releases) - 0.5)


def _releases(table: pd.DataFrame) -> list[str]:
    """Names in order of the days they are due."""
    first: Sequence[str] = table.groupby("release", sort=False)["due"].min().sort_values(kind="stable").index.tolist()
    return list(first)
