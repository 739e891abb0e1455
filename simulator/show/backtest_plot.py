"""What was known, the band forecast from there, and what came."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from simulator.show.plots import figure_of, save_figures
from simulator.show.style import (
    INK,
    MUTED,
    PETROFF,
    SMALL,
    as_dates,
    count_axis,
    date_axis,
    dress,
    new_axes,
    stack_legend,
)
from simulator.study.backtest import Backtest

_LOG_FROM = 20.0
"""Values that span more than this factor are drawn on a logarithmic axis."""
_ROOM_FOR_LEGEND = 1.35
_MANY = 200


def backtest_band(found: Backtest, ax: Axes | None = None) -> Axes:
    """Known values hollow, held-out values solid, on the 50 % and 90 % bands of the worlds; a line at the cut."""
    ax = new_axes() if ax is None else ax
    record, sky = found.record, PETROFF[0]
    p05, p25, p50, p75, p95 = found.band
    days = as_dates(np.datetime64(found.band_first_day, "D") + np.arange(p50.size))
    known, came = (as_dates(np.array(part, "datetime64[D]")) for part in (record.known_days, record.held_out_days))
    ax.fill_between(days, p05, p95, color=sky, alpha=0.18, linewidth=0, label="forecast, 90 % of worlds")
    ax.fill_between(days, p25, p75, color=sky, alpha=0.30, linewidth=0, label="forecast, 50 % of worlds")
    ax.plot(days, p50, color=sky, linewidth=2.0, label="forecast, median")
    size = 2.5 if known.size + came.size > _MANY else 6.0
    hollow = ax.plot(known, record.known, color=INK, linestyle="none", marker="o", markersize=size, label="known")[0]
    hollow.set_markerfacecolor("white")
    ax.plot(came, record.held_out, color=INK, linestyle="none", marker="o", markersize=size, label="what came")
    cut = float(as_dates(np.array([record.cut], "datetime64[D]"))[0])
    ax.axvline(cut, color=MUTED, linewidth=1.2, linestyle=(0, (4.0, 3.0)))
    ax.annotate(
        f" {record.cut}", (cut, 0.02), xycoords=("data", "axes fraction"), color=MUTED, fontsize=SMALL, ha="left"
    )
    n = len(found.points)
    dress(
        ax,
        f"{Path(record.name).name}: how good a forecast on {record.cut} would have been",
        record.what,
        f"{found.inside_90} of {n} held-out points inside the 90 % band, {found.inside_50} inside the 50 % band, of "
        f"{found.worlds:,} worlds. The median world is off by a factor of {found.typical_factor:.3g}, the last value "
        f"known by {found.naive_factor:.3g}.",
    )
    values = np.array([*record.known, *record.held_out, *p05, *p95])
    if values.max() > _LOG_FROM * values.min():
        ax.set_yscale("log")
    else:
        ax.set_ylim(0.0, float(values.max()) * _ROOM_FOR_LEGEND)
    date_axis(ax, (record.held_out_days[-1] - record.known_days[0]).days + 1)
    ax.margins(x=0.01)
    count_axis(ax)
    stack_legend(ax)
    return ax


def save_backtest_plot(found: Backtest, folder: Path) -> list[Path]:
    """Write the picture as PNG and SVG."""
    return save_figures([("backtest", figure_of(backtest_band(found)))], folder)
