"""Picture of prices: what rents and purchases cost over the drawn worlds, by kind of GPU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simulator.laws.units import FloatArray
from simulator.show.multiples import share_legend
from simulator.show.style import (
    as_dates,
    currency_of,
    date_axis,
    dress,
    is_short,
    money_axis,
    money_caption,
    new_axes,
    new_figure,
    policy_look,
)
from simulator.study.comparison import Comparison, worlds_said
from simulator.study.daily import QUANTILES
from simulator.study.price_bands import PriceBands, price_bands

_MEDIAN = QUANTILES.index(0.5)


def price_path(
    comparison: Comparison, bands: PriceBands, usd: FloatArray, title: str, per: str, ax: Axes | None = None
) -> Axes:
    """One kind of price [quantile, kind, point]: the median of worlds by kind of GPU, with the band of 90 % of them."""
    ax = new_axes() if ax is None else ax
    dates, currency = as_dates(np.datetime64(comparison.scenario.start) + bands.days), currency_of(comparison)
    for kind, name in enumerate(bands.kinds):
        look, path = policy_look(kind), usd[:, kind]
        if np.isnan(path).all():
            continue
        ax.fill_between(dates, path[0], path[-1], color=look.colour, alpha=0.12, linewidth=0)
        marker = "o" if is_short(bands.days.size) else ""
        ax.plot(dates, path[_MEDIAN], color=look.colour, linestyle=look.dash, linewidth=2.0, marker=marker, label=name)
    dress(ax, title, f"{currency.code} per {per}", _said(comparison, bands))
    date_axis(ax, comparison.n_days)
    ax.set_ylim(bottom=0.0)
    ax.margins(x=0.01)
    money_axis(ax, currency)
    return ax


def price_paths(comparison: Comparison) -> Figure:
    """On-demand, spot and purchase prices side by side, of what is on offer."""
    figure, scenario = new_figure(), comparison.scenario
    bands = price_bands(scenario, comparison.seed, comparison.replications)
    offered = list(_offered(bands))
    panels = figure.subplots(1, len(offered), squeeze=False).flatten()
    for (usd, title, per), ax in zip(offered, panels, strict=True):
        price_path(comparison, bands, usd, title, per, ax)
        dress(ax, title, ax.get_ylabel(), size=0.9)
        ax.set_xlabel("")
        date_axis(ax, comparison.n_days, most_ticks=5)
    said = f"Prices of GPUs as drawn, less the scenario's negotiated discount. {_said(comparison, bands)}"
    share_legend(figure, panels, bands.kinds, said)
    return figure


def _said(comparison: Comparison, bands: PriceBands) -> str:
    return f"Line: median; band: 90 % of {worlds_said(bands.worlds)}. {money_caption(comparison)}"


def _offered(bands: PriceBands) -> Iterator[tuple[FloatArray, str, str]]:
    """Of the three prices those that any kind has, with their titles and units; rents always."""
    hour = "GPU-hour"
    yield bands.on_demand_usd_per_gpu_hour, "On demand", hour
    for usd, title, per in (
        (bands.spot_usd_per_gpu_hour, "Spot", hour),
        (bands.purchase_usd_per_gpu, "Purchase", "GPU"),
    ):
        if np.isfinite(usd).any():
            yield usd, title, per
