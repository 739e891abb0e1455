"""The picture of a sweep: who wins where over two fields, or every policy's difference along one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter

from simulator.show.money import percent, signed_percent
from simulator.show.plots import figure_of, save_figures
from simulator.show.style import INK, LABEL, SMALL, dress, new_axes, policy_look
from simulator.show.sweep_table import value_said
from simulator.study.comparison import worlds_said
from simulator.study.designs import Design
from simulator.study.sweep import Sweep, SweepPoint, is_number

_MOST_ACROSS, _MOST_DOWN = 9, 12
"""Cells that have room for words."""
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_PALE = 0.4
_NOBODY = "–"


def winners(found: Sweep, ax: Axes | None = None) -> Axes:
    """Who wins where: cells over the first two fields of a grid, dots over those of a sample."""
    ax = new_axes() if ax is None else ax
    across, down = found.answers.fields[:2]
    said = _cells(found, ax) if found.answers.design is Design.GRID else _dots(found, ax)
    others = found.answers.fields[2:]
    also = f" Also varied: {', '.join(others)}{said}." if others else ""
    comparison = found.comparison
    below = (
        f"Across: {across}. Up: {down}.{also} By mean cost; of the policies that give equal service. "
        f"{comparison.scenario.title}: {worlds_said(found.replications)} a point, seed {comparison.seed}."
    )
    dress(ax, "Which policy costs least", down, below)
    ax.grid(visible=False)
    return ax


def differences(found: Sweep, ax: Axes | None = None) -> Axes:
    """Every policy's paired difference from the baseline along the one field that is varied, with its 95 % band."""
    ax = new_axes() if ax is None else ax
    (name,), comparison = found.answers.fields, found.comparison
    points = [point for point in found.answers.points if point.rows]
    if all(is_number(point.values[0]) for point in points):
        points.sort(key=lambda point: float(point.values[0]))  # type: ignore[arg-type]
        places = [float(point.values[0]) for point in points]  # type: ignore[arg-type]
    else:
        places = [float(at) for at in range(len(points))]
    for number, policy in enumerate(comparison.policy_names):
        look, rows = policy_look(number), [point.rows[number] for point in points]
        lows, highs = ([getattr(row, f"difference_{end}_percent") for row in rows] for end in ("low", "high"))
        if number and np.isfinite(lows).all():
            ax.fill_between(places, lows, highs, color=look.colour, alpha=0.15, linewidth=0)
        means = [row.difference_percent for row in rows]
        label = policy if number else f"{policy} (baseline)"
        ax.plot(places, means, color=look.colour, linestyle=look.dash, linewidth=2.2, marker="o", label=label)
        unlike = [at for at, row in enumerate(rows) if not row.comparable]
        ax.plot(
            [places[at] for at in unlike],
            [means[at] for at in unlike],
            color=INK,
            linestyle="none",
            marker="x",
            markersize=11,
        )
    for at, point in zip(places, points, strict=True):
        winner = point.winner
        if winner is not None:
            ring = {"markerfacecolor": "none", "markeredgewidth": 1.8}
            ax.plot(at, winner.difference_percent, color=INK, marker="o", markersize=13, **ring)  # type: ignore[arg-type]
    if len(points) <= _MOST_ACROSS:
        ax.set_xticks(places, [value_said(point.values[0]) for point in points])
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: signed_percent(value)))
    ax.legend(frameon=False, fontsize=SMALL)
    below = (
        f"Across: {name}. Band: 95 % of the paired difference. Ring: costs least; cross: not comparable. "
        f"{comparison.scenario.title}: {worlds_said(found.replications)} a point, seed {comparison.seed}."
    )
    return dress(ax, f"What each policy costs against {comparison.baseline}", "difference of cost", below)


def save_sweep_plots(found: Sweep, folder: Path) -> list[Path]:
    """Write the picture as PNG and SVG; none where no point could be lived."""
    if not any(point.rows for point in found.answers.points):
        return []
    draw = differences if len(found.answers.fields) == 1 else winners
    return save_figures([("sweep", figure_of(draw(found)))], folder)


def _cells(found: Sweep, ax: Axes) -> str:
    """A cell for each pair of values, of the colour of the policy that wins at most of its points."""
    names, points = found.comparison.policy_names, found.answers.points
    across, down = (list(dict.fromkeys(point.values[at] for point in points)) for at in (0, 1))
    has_words = len(across) <= _MOST_ACROSS and len(down) <= _MOST_DOWN
    who = np.full((len(down), len(across)), -1)
    for row, up in enumerate(down):
        for column, right in enumerate(across):
            inside = [point for point in points if point.values[:2] == (right, up)]
            winner, said = _most(inside)
            number = names.index(winner) if winner in names else -1
            who[row, column] = number
            box = Rectangle((column - 0.5, row - 0.5), 1.0, 1.0, facecolor=_pale(number), edgecolor="white")
            ax.add_patch(box)
            if has_words:
                ax.text(column, row, said, ha="center", va="center", color=INK, fontsize=SMALL, linespacing=1.3)
    _turns(ax, who)
    ax.set_xticks(range(len(across)), [value_said(value) for value in across])
    ax.set_yticks(range(len(down)), [value_said(value) for value in down])
    ax.set_xlim(-0.5, len(across) - 0.5)
    ax.set_ylim(-0.5, len(down) - 0.5)
    if not has_words:
        seen = [number for number in range(len(names)) if (who == number).any()]
        patches = [Patch(color=_pale(n), label=names[n]) for n in seen]
        ax.legend(handles=patches, fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return "; a cell names who wins at most of its points, and at how many"


def _dots(found: Sweep, ax: Axes) -> str:
    """A dot for each point, of the colour and shape of the policy that wins there."""
    names = found.comparison.policy_names
    seen: dict[str, list[SweepPoint]] = {}
    for point in found.answers.points:
        seen.setdefault("" if point.winner is None else point.winner.policy, []).append(point)
    handles = []
    for name in [*(name for name in names if name in seen), *([""] if "" in seen else [])]:
        number = names.index(name) if name else -1
        colour, mark = (policy_look(number).colour, _MARKS[number % len(_MARKS)]) if name else (INK, "x")
        xs, ys = ([float(point.values[at]) for point in seen[name]] for at in (0, 1))  # type: ignore[arg-type]
        ax.scatter(xs, ys, s=90, color=colour, marker=mark, linewidths=1.5)
        label = f"{name or 'nobody, or not possible'} ({len(xs)})"
        handles.append(Line2D([], [], color=colour, marker=mark, linestyle="none", markersize=9, label=label))
    ax.legend(handles=handles, fontsize=LABEL, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return ""


def _most(points: Sequence[SweepPoint]) -> tuple[str, str]:
    """Who wins at most of the points of a cell, and the cell's words."""
    wins = Counter("" if point.winner is None else point.winner.policy for point in points)
    winner, count = wins.most_common(1)[0]
    if len(points) > 1:
        return winner, f"{winner or _NOBODY}\n{count} of {len(points)}"
    if not winner:
        return "", "not possible" if points[0].refused else _NOBODY
    return winner, f"{winner}{_ahead(points[0])}"


def _ahead(point: SweepPoint) -> str:
    """How far the winner is below the next; nothing if no other is comparable."""
    fair = sorted((row.cumulative_cost_usd, row.policy) for row in point.rows if row.comparable and not row.wins)
    if point.winner is None or not fair:
        return ""
    cost, other = fair[0]
    return f"\n{percent(1.0 - point.winner.cumulative_cost_usd / cost, 1)} below {other}"


def _pale(number: int) -> tuple[float, float, float]:
    """A policy's colour on which ink can be read; white for nobody."""
    if number < 0:
        return (1.0, 1.0, 1.0)
    strength = _PALE if number else _PALE / 2.0
    red, green, blue = (1.0 - strength * (1.0 - part) for part in to_rgb(policy_look(number).colour))
    return red, green, blue


def _turns(ax: Axes, who: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> None:
    """A line between neighbouring cells with different winners."""
    for row, column in np.argwhere(who[:, 1:] != who[:, :-1]).tolist():
        ax.plot([column + 0.5] * 2, [row - 0.5, row + 0.5], color=INK, linewidth=3.0, solid_capstyle="projecting")
    for row, column in np.argwhere(who[1:] != who[:-1]).tolist():
        ax.plot([column - 0.5, column + 0.5], [row + 0.5] * 2, color=INK, linewidth=3.0, solid_capstyle="projecting")
