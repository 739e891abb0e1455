"""Pictures of what forecasts are worth: regret by policy and forecast, and foresight as uncertainty grows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from simulator.show.cells import percent_cells
from simulator.show.plots import figure_of, save_figures
from simulator.show.style import MUTED, SMALL, caption, dress, new_axes, policy_look
from simulator.study.foresight import REFERENCE, Foresight, UncertaintyRow

_ACROSS = "Across: sd of the log of a factor on all demand, drawn once per world."


def regret_matrix(found: Foresight, ax: Axes | None = None) -> Axes:
    """Regret of every policy with every forecast, in % of what hindsight pays; 0 is the best there was."""
    ax = new_axes() if ax is None else ax
    policies = list(dict.fromkeys(row.policy for row in found.forecasts))
    forecasts = list(dict.fromkeys(row.forecast for row in found.forecasts))
    regret = np.array([row.regret_percent for row in found.forecasts]).reshape(len(policies), len(forecasts))
    percent_cells(ax, regret, policies, forecasts, "n/c")
    below = f"Colour by the log. n/c: serves less or worse than {policies[0]}. {caption(found.comparison)}"
    dress(ax, "Regret against hindsight [% of what hindsight pays in each world]", "", below)
    ax.grid(visible=False)
    return ax


def value_of_foresight(found: Foresight, ax: Axes | None = None) -> Axes:
    """What knowing demand would save, as its level gets less certain; dots where there is a closed form."""
    below = (
        f"{_ACROSS} Up: cost with the scenario's own mean and spread, less cost with demand known; band: its 95 % "
        f"interval. Rings: 1 - exp(-s(1-s) sigma^2/2), where it applies. {caption(found.comparison)}"
    )
    ax = _by_sigma(
        found,
        ax,
        lambda row: row.perfect_information_percent.mean,
        lambda row: row.perfect_information_theory,
    )
    for number, policy in enumerate(_policies(found)):
        rows = [row for row in found.uncertainty if row.policy == policy]
        low = [row.perfect_information_percent.low for row in rows]
        high = [row.perfect_information_percent.high for row in rows]
        look = policy_look(number)
        ax.fill_between([row.level_sigma for row in rows], low, high, color=look.colour, alpha=0.10, linewidth=0)
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    return dress(ax, "What it would save to know demand, as its level gets less certain", "saving [% of cost]", below)


def training_share(found: Foresight, ax: Axes | None = None) -> Axes:
    """Training over training and serving, mean of worlds, when only the mean of demand is known; rings: theory."""
    ax = _by_sigma(
        found,
        ax,
        lambda row: 100.0 * row.share_of_worlds,
        lambda row: 100.0 * row.share_of_worlds_theory,
    )
    below = (
        f"{_ACROSS} Up: mean over worlds of each world's own share. Of the mean spend it stays where demand is known: "
        f"a / (a + b) for Erdil's trade. Rings: closed form, where it applies. {caption(found.comparison)}"
    )
    title = "Share of training when only the mean of demand is known, as its level gets less certain"
    return dress(ax, title, "training [% of training and serving]", below)


def save_foresight_plots(found: Foresight, folder: Path) -> list[Path]:
    """Write the pictures as PNG and SVG."""
    figures = (
        ("regret", figure_of(regret_matrix(found))),
        ("value_of_foresight", figure_of(value_of_foresight(found))),
        ("training_share", figure_of(training_share(found))),
    )
    return save_figures(figures, folder)


def _policies(found: Foresight) -> list[str]:
    return list(dict.fromkeys(row.policy for row in found.uncertainty))


def _by_sigma(
    found: Foresight,
    ax: Axes | None,
    value: Callable[[UncertaintyRow], float],
    theory: Callable[[UncertaintyRow], float],
) -> Axes:
    """A line per policy over the sd of the log of demand's level, and rings for theory."""
    ax = new_axes() if ax is None else ax
    for number, policy in enumerate(_policies(found)):
        rows = sorted((row for row in found.uncertainty if row.policy == policy), key=lambda row: row.level_sigma)
        sigmas, look = [row.level_sigma for row in rows], policy_look(number)
        label = f"{policy} (reference)" if policy == REFERENCE.name else policy
        values = [value(row) for row in rows]
        ax.plot(
            *(sigmas, values),
            color=look.colour,
            linestyle=look.dash,
            linewidth=2.0,
            marker=".",
            markersize=9,
            label=label,
        )
        rings = [theory(row) for row in rows]
        ax.plot(sigmas, rings, color=look.colour, linestyle="none", marker="o", markersize=9, markerfacecolor="none")
    ax.legend(frameon=False, fontsize=SMALL, loc="best")
    return ax
