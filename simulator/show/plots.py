"""Pictures of a comparison, in the order in which they are written and shown.

Figures are made without pyplot, so any number of threads may draw, and nothing is shown until the caller does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.show.cost_plots import cumulative_cost, difference
from simulator.show.forecast_plot import forecasts
from simulator.show.multiples import by_policy
from simulator.show.price_plots import price_paths
from simulator.show.recipe_plots import recipe, training_share
from simulator.show.regret_plot import regret
from simulator.show.spend_plots import SPEND_LABELS, USE_LABELS, USE_SAID, spend_by_account, spend_by_use
from simulator.show.stage_plot import cost_by_stage
from simulator.show.style import caption, cheapest, money_caption
from simulator.show.table import verdict
from simulator.show.use_plots import FLEET_LABELS, demand, fleet
from simulator.study.comparison import Comparison, worlds_said
from simulator.study.rankings import comparable_costs

__all__ = [
    "PICTURES",
    "Picture",
    "cost_by_stage",
    "cumulative_cost",
    "demand",
    "difference",
    "figure_of",
    "fleet",
    "pictures_of",
    "save_figures",
    "save_plots",
    "spend_by_account",
    "spend_by_use",
]

_DPI = 160


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a comparison: what it is called, what it says to who cannot see it, and how it is drawn."""

    name: str
    """Of its files, without the ending."""
    title: str
    alt: Callable[[Comparison], str]
    """What the picture shows, in sentences."""
    draw: Callable[[Comparison], Figure]
    is_of: Callable[[Comparison], bool] = lambda _: True
    """Whether a comparison has what it shows."""


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are drawn on."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def _policies(comparison: Comparison) -> str:
    return f"of {', '.join(comparison.policy_names)}"


def _has_several(comparison: Comparison) -> bool:
    return len(comparison.policies) > 1


def _has_regret(comparison: Comparison) -> bool:
    return _has_several(comparison) and bool(comparable_costs(comparison)[0])


def _has_releases(comparison: Comparison) -> bool:
    return not comparison.releases_table.empty


def _best(comparison: Comparison) -> str:
    return comparison.policy_names[cheapest(comparison)]


def _kinds(comparison: Comparison) -> str:
    return ", ".join(kind.name for kind in comparison.scenario.accelerators)


def _spend_by_account(comparison: Comparison) -> Figure:
    return by_policy(comparison, spend_by_account, "Spend by account", SPEND_LABELS, money_caption(comparison))


def _spend_by_use(comparison: Comparison) -> Figure:
    below = f"{USE_SAID} {money_caption(comparison)}"
    return by_policy(comparison, spend_by_use, "Economic cost by use", USE_LABELS, below)


def _fleet(comparison: Comparison) -> Figure:
    return by_policy(comparison, fleet, "GPUs held, in use and lacking", FLEET_LABELS, caption(comparison))


PICTURES: tuple[Picture, ...] = (
    Picture(
        "cumulative_cost",
        "Money spent since the start",
        lambda found: (
            f"Lines of the money spent since the start, one for each {_policies(found)}, with bands for the "
            f"spread over {worlds_said(found.replications)} and diamonds on break-even dates. {verdict(found)}"
        ),
        lambda found: figure_of(cumulative_cost(found)),
    ),
    Picture(
        "difference",
        "Difference from the baseline",
        lambda found: (
            f"What each policy costs more or less than {found.baseline} in the same worlds, with 95 % "
            f"intervals. {verdict(found)}"
        ),
        lambda found: figure_of(difference(found)),
        _has_several,
    ),
    Picture(
        "regret",
        "Regret",
        lambda found: (
            f"A table of what the choice of each policy costs beyond the cheapest {_policies(found)}, by "
            "which of them turned out cheapest, in percent."
        ),
        lambda found: figure_of(regret(found)),
        _has_regret,
    ),
    Picture(
        "spend_by_account",
        "Spend by account",
        lambda found: f"Bars of money spent over time by account, a panel for each {_policies(found)}.",
        _spend_by_account,
    ),
    Picture(
        "spend_by_use",
        "Cost by use",
        lambda found: (
            "Bars of economic cost over time for training, research, serving and idle GPUs, a panel for each "
            f"{_policies(found)}."
        ),
        _spend_by_use,
    ),
    Picture(
        "cost_by_stage",
        "Cost by stage",
        lambda found: (
            "Stacked bars of what each stage of a model's life costs, from data to what is left over, one for each "
            f"{_policies(found)}."
        ),
        lambda found: figure_of(cost_by_stage(found)),
    ),
    Picture(
        "fleet",
        "GPUs against need",
        lambda found: (
            "GPUs over time by tenure, with a line for those in use and hatching for what unserved tokens "
            f"would have needed, a panel for each {_policies(found)}."
        ),
        _fleet,
    ),
    Picture(
        "demand",
        "Demand and what is served",
        lambda found: (
            f"Tokens asked for over time as a band over {worlds_said(found.replications)}, with lines for "
            "policies that serve less."
        ),
        lambda found: figure_of(demand(found)),
    ),
    Picture(
        "forecasts",
        "What was expected of demand",
        lambda found: (
            f"What {_best(found)} expected of demand at its reviews in one world, as lines with 90 % bands, and "
            "what came."
        ),
        lambda found: figure_of(forecasts(found)),
    ),
    Picture(
        "recipe",
        "What was trained",
        lambda found: (
            "For each release the number of parameters, tokens per parameter, samples per answer and "
            f"precision {_policies(found)}."
        ),
        recipe,
        _has_releases,
    ),
    Picture(
        "training_share",
        "Training's share",
        lambda found: (
            f"Training's share of what each release costs, {_policies(found)}, beside the share of Erdil's trade."
        ),
        lambda found: figure_of(training_share(found)),
        _has_releases,
    ),
    Picture(
        "price_paths",
        "Prices of GPUs",
        lambda found: (
            f"On-demand, spot and purchase prices of {_kinds(found)} over time, as medians and 90 % bands of worlds."
        ),
        price_paths,
    ),
)
"""All that a comparison can have, in the order in which they are shown."""


def pictures_of(comparison: Comparison) -> tuple[Picture, ...]:
    """Those that this comparison has: a single policy has no differences, a study of days may have no releases."""
    return tuple(picture for picture in PICTURES if picture.is_of(comparison))


def save_plots(comparison: Comparison, folder: str | Path) -> list[Path]:
    """Write every picture as PNG for slides and SVG for print; equal studies make equal bytes.

    What was written is given back.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    return save_figures(((picture.name, picture.draw(comparison)) for picture in pictures_of(comparison)), target)


def save_figures(figures: Iterable[tuple[str, Figure]], folder: Path) -> list[Path]:
    """Write named pictures as PNG and SVG, the same bytes for the same pictures."""
    written = []
    for name, figure in figures:
        for path, metadata in (
            (folder / f"{name}.png", {"Software": "labspend"}),
            (folder / f"{name}.svg", {"Date": None}),
        ):
            with matplotlib.rc_context({"svg.hashsalt": "labspend"}):
                figure.savefig(path, dpi=_DPI, metadata=metadata)
            figure.set_layout_engine("none")  # what has found its place for the one stays there for the other
            written.append(path)
    return written
