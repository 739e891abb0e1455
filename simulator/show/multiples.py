"""Small multiples: several panels of one picture, with one legend below and what they are above."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from textwrap import fill

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.show.style import INK, LABEL, date_axis, dress, new_figure
from simulator.study.comparison import Comparison

_MOST_APART = 4.0
"""Panels whose tops are further apart, as a factor, get scales of their own."""
_LETTERS = 125
"""That fit across a slide above and below its panels."""
_ACROSS = 4
_KEY = 8
"""Letters that the key of a legend takes the place of."""


def by_policy(
    comparison: Comparison, draw: Callable[[Comparison, Axes, str], Axes], title: str, parts: Sequence[str], below: str
) -> Figure:
    """The same picture of every policy, with one legend; on one scale where that leaves something to see."""
    names = comparison.policy_names
    columns = min(len(names), _ACROSS)
    figure = new_figure()
    panels = figure.subplots(ceil(len(names) / columns), columns, squeeze=False).flatten()
    for at, (name, ax) in enumerate(zip(names, panels, strict=False)):
        draw(comparison, ax, name)
        y_label = ax.get_ylabel() if at % columns == 0 else ""
        dress(ax, f"{name} (baseline)" if at == 0 else name, y_label, size=0.8)
        ax.set_xlabel("")
        date_axis(ax, comparison.n_days, most_ticks=4)
    for ax in panels[len(names) :]:
        ax.set_axis_off()
    one_scale = _on_one_scale(list(panels[: len(names)]))
    scale = "" if one_scale else ", each on a scale of its own"
    share_legend(figure, panels[: len(names)], parts, f"{title}, by policy{scale}; mean over worlds. {below}")
    return figure


def share_legend(figure: Figure, panels: Iterable[Axes], parts: Sequence[str], said: str) -> None:
    """One legend for all panels, in the order of `parts`, of those that any panel has; and what is seen, on top."""
    found: dict[str, Artist] = {}
    for ax in panels:
        handles, labels = ax.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
    stack = [part for part in parts if part in found]
    if stack:
        rows = ceil(sum(len(part) + _KEY for part in stack) / _LETTERS)
        figure.legend(
            [found[part] for part in stack],
            stack,
            loc="outside lower center",
            ncols=ceil(len(stack) / rows),
            frameon=False,
            fontsize=LABEL,
        )
    figure.suptitle(fill(said, _LETTERS), x=0.012, ha="left", fontsize=LABEL, color=INK, parse_math=False)


def _on_one_scale(panels: Sequence[Axes]) -> bool:
    """Give all panels the same scale, unless the smallest would then be lost."""
    tops = [ax.get_ylim()[1] for ax in panels]
    if max(tops) > _MOST_APART * min(tops):
        return False
    for ax in panels:
        ax.set_ylim(min(panel.get_ylim()[0] for panel in panels), max(tops))
    return True
