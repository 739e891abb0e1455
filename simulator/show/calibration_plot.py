"""A trace as points, on the band that its own fit simulates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from simulator.laws.units import FloatArray
from simulator.show.plots import figure_of, save_figures
from simulator.show.style import INK, PETROFF, as_dates, count_axis, date_axis, dress, new_axes, stack_legend
from simulator.study.calibrate import Calibration, DailyFit
from simulator.study.trace_band import TraceBand

_LOG_FROM = 20.0
"""Demand that spans more than this factor is drawn on a logarithmic axis."""
_ROOM_FOR_LEGEND = 1.3
_MANY_DAYS = 200


def trace_against_band(found: Calibration, daily: DailyFit, band: TraceBand, ax: Axes | None = None) -> Axes:
    """Days of the trace as points on the 50 % and 90 % bands of simulated worlds."""
    ax = new_axes() if ax is None else ax
    days, tokens = _days(found, daily), np.array(daily.tokens)
    sky = PETROFF[0]
    ax.fill_between(days, band.p05, band.p95, color=sky, alpha=0.18, linewidth=0, label="simulated, 90 % of worlds")
    ax.fill_between(days, band.p25, band.p75, color=sky, alpha=0.30, linewidth=0, label="simulated, 50 % of worlds")
    ax.plot(days, band.p50, color=sky, linewidth=2.0, label="simulated, median")
    size = 2.5 if tokens.size > _MANY_DAYS else 6.0
    ax.plot(days, tokens, color=INK, linestyle="none", marker="o", markersize=size, label="trace")
    dress(
        ax,
        f"{found.trace}: the trace, and what its fit simulates",
        "user tokens per day",
        f"{band.inside_90} of {band.n_days} days inside the 90 % band, {band.inside_50} inside the 50 % band, of "
        f"{band.worlds:,} worlds drawn from the fit. The fit saw these very days: it is no test of days to come."
        + ("" if found.is_dated else "\nDays from the start of the trace."),
    )
    if tokens.min() > 0.0 and max(float(band.p95.max()), float(tokens.max())) > _LOG_FROM * tokens.min():
        ax.set_yscale("log")
    else:
        ax.set_ylim(0.0, max(float(band.p95.max()), float(tokens.max())) * _ROOM_FOR_LEGEND)
    if found.is_dated:
        date_axis(ax, tokens.size)
    ax.margins(x=0.01)
    count_axis(ax)
    stack_legend(ax)
    return ax


def save_trace_plot(found: Calibration, daily: DailyFit, band: TraceBand, folder: Path) -> list[Path]:
    """Write the picture as PNG and SVG."""
    return save_figures([("trace_against_band", figure_of(trace_against_band(found, daily, band)))], folder)


def _days(found: Calibration, daily: DailyFit) -> FloatArray:
    """Dates as matplotlib counts them, or days from the start of a trace without dates."""
    numbers = np.arange(len(daily.tokens))
    return as_dates(np.datetime64(daily.first_day, "D") + numbers) if found.is_dated else numbers.astype(np.float64)
