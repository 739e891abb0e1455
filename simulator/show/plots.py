"""Pictures of a comparison: each function takes one and gives back the axes it drew on.

Figures are made without pyplot, so any number of threads may draw, and nothing is shown until the caller does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from pathlib import Path
from textwrap import fill

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.show.cost_plots import SPEND_LABELS, cumulative_cost, difference, spend_by_account
from simulator.show.stage_plot import cost_by_stage
from simulator.show.style import INK, LABEL, caption, date_axis, dress, money_caption, new_figure
from simulator.show.use_plots import TENURE_LABELS, demand, fleet
from simulator.study.comparison import Comparison

__all__ = ["cost_by_stage", "cumulative_cost", "demand", "difference", "fleet", "save_plots", "spend_by_account"]

_DPI = 160
_MOST_APART = 4.0
"""Panels whose tops are further apart, as a factor, get scales of their own."""
_LETTERS = 125
"""That fit across a slide above its panels."""


def save_plots(comparison: Comparison, folder: str | Path) -> list[Path]:
    """Write every picture as PNG for slides and SVG for print; equal studies make equal bytes.

    A single policy has no picture of differences. What was written is given back.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    differences = [("difference", figure_of(difference(comparison)))] if len(comparison.policies) > 1 else []
    figures = (
        ("cumulative_cost", figure_of(cumulative_cost(comparison))),
        *differences,
        (
            "spend_by_account",
            _multiples(comparison, spend_by_account, "Spend by account", SPEND_LABELS, money_caption(comparison)),
        ),
        ("fleet", _multiples(comparison, fleet, "GPUs by tenure", TENURE_LABELS, caption(comparison))),
        ("demand", figure_of(demand(comparison))),
        ("stages", figure_of(cost_by_stage(comparison))),
    )
    return save_figures(figures, target)


def save_figures(figures: Iterable[tuple[str, Figure]], folder: Path) -> list[Path]:
    """Write named pictures as PNG and SVG, the same bytes for the same pictures."""
    written = []
    with matplotlib.rc_context({"svg.hashsalt": "labspend", "hatch.linewidth": 0.6}):
        for name, figure in figures:
            for path, metadata in (
                (folder / f"{name}.png", {"Software": "labspend"}),
                (folder / f"{name}.svg", {"Date": None}),
            ):
                figure.savefig(path, dpi=_DPI, metadata=metadata)
                written.append(path)
    return written


def _multiples(
    comparison: Comparison, draw: Callable[[Comparison, Axes, str], Axes], title: str, parts: Sequence[str], below: str
) -> Figure:
    """The same picture of every policy, with one legend; on one scale where that leaves something to see."""
    names = comparison.policy_names
    columns = min(len(names), 4)
    figure = new_figure()
    panels = figure.subplots(ceil(len(names) / columns), columns, squeeze=False).flatten()
    found: dict[str, Artist] = {}
    for at, (name, ax) in enumerate(zip(names, panels, strict=False)):
        draw(comparison, ax, name)
        y_label = ax.get_ylabel() if at % columns == 0 else ""
        dress(ax, f"{name} (baseline)" if at == 0 else name, y_label, size=0.8)
        ax.set_xlabel("")
        date_axis(ax, comparison.n_days, most_ticks=4)
        handles, labels = ax.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
    for ax in panels[len(names) :]:
        ax.set_axis_off()
    one_scale = _on_one_scale(list(panels[: len(names)]))
    stack = [part for part in parts if part in found]
    figure.legend(
        [found[part] for part in stack],
        stack,
        loc="outside lower center",
        ncols=len(parts),
        frameon=False,
        fontsize=LABEL,
    )
    scale = "" if one_scale else ", each on a scale of its own"
    said = fill(f"{title}, by policy{scale}; mean over worlds. {below}", _LETTERS)
    figure.suptitle(said, x=0.012, ha="left", fontsize=LABEL, color=INK, parse_math=False)
    return figure


def _on_one_scale(panels: Sequence[Axes]) -> bool:
    """Give all panels the same scale, unless the smallest would then be lost."""
    tops = [ax.get_ylim()[1] for ax in panels]
    if max(tops) > _MOST_APART * min(tops):
        return False
    for ax in panels:
        ax.set_ylim(min(panel.get_ylim()[0] for panel in panels), max(tops))
    return True


def figure_of(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
