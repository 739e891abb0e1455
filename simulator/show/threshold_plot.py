"""The picture of a threshold: what one policy costs more than another along a value, and where that crosses zero."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from simulator.show.money import signed_percent
from simulator.show.plots import figure_of, save_figures
from simulator.show.style import INK, LABEL, MUTED, PETROFF, SMALL, caption, dress, new_axes
from simulator.show.threshold_table import figure, interval
from simulator.study.threshold_answers import Threshold, Thresholds

_WIDE = 10.0


def threshold_curve(found: Thresholds, ax: Axes | None = None) -> Axes:
    """Paired difference of two policies over the value, with its 95 % band, every threshold and what is declared."""
    ax = new_axes() if ax is None else ax
    policy, against = found.pair
    rows = [row for row in found.rows if np.isfinite(row.difference_percent)]
    values = np.array([row.value for row in rows])
    means, lows, highs = (
        np.array([getattr(row, f"difference_{name}percent") for row in rows]) for name in ("", "low_", "high_")
    )
    has_band = np.isfinite(lows)
    ax.fill_between(values[has_band], lows[has_band], highs[has_band], color=PETROFF[0], alpha=0.18, linewidth=0)
    ax.plot(values, means, color=PETROFF[0], linewidth=2.2, marker="o", markersize=5, zorder=3)
    unlike = np.array([bool(row.reason) for row in rows], dtype=np.bool_)
    ax.plot(values[unlike], means[unlike], color=INK, linestyle="none", marker="x", markersize=10, zorder=4)
    ax.axhline(0.0, color=INK, linewidth=1.1)
    if found.low > 0.0 and found.high >= _WIDE * found.low:
        ax.set_xscale("log")
        ax.minorticks_off()
    for number, threshold in enumerate(found.thresholds):
        _mark(ax, found, threshold, 0.94 - 0.08 * (number % 4))
    if found.declared is not None and found.low <= found.declared <= found.high:
        ax.axvline(found.declared, color=MUTED, linewidth=1.2, linestyle=(0, (6.0, 2.0)))
        _letter(ax, found.declared, 0.03, f"declared {figure(found.declared)}", found)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: figure(value)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: signed_percent(value)))
    crosses = " Cross: not comparable." if unlike.any() else ""
    below = (
        f"Across: {found.field}. Up: {policy} less {against} in the same worlds, of {against}'s cost: below zero "
        f"{policy} is cheaper. Band: 95 %; shaded: neither is surely cheaper.{crosses} {caption(found.comparison)}"
    )
    title = f"Where {policy} and {against} change places" if found.thresholds else f"{policy} against {against}"
    return dress(ax, f"{title}, along {found.field}", "difference of cost", below)


def save_threshold_plot(found: Thresholds, folder: Path) -> list[Path]:
    """Write it as PNG and SVG."""
    return save_figures([("threshold", figure_of(threshold_curve(found)))], folder)


def _mark(ax: Axes, found: Thresholds, threshold: Threshold, height: float) -> None:
    """One threshold: its interval shaded, its value as a line, and both in words."""
    low = threshold.low if np.isfinite(threshold.low) else found.low
    high = threshold.high if np.isfinite(threshold.high) else found.high
    if np.isfinite(threshold.low) or np.isfinite(threshold.high):
        ax.axvspan(low, high, color=PETROFF[1], alpha=0.15, linewidth=0)
    ax.axvline(threshold.value, color=INK, linewidth=1.4, linestyle=(0, (1.5, 1.5)))
    if threshold.cheaper_above and threshold.cheaper_below and not threshold.reason:
        ax.plot(threshold.value, 0.0, color=INK, marker="o", markersize=12, markerfacecolor="none", markeredgewidth=1.8)
    names = f"{threshold.cheaper_below or 'nothing'} | {threshold.cheaper_above or 'nothing'}"
    _letter(ax, threshold.value, height, f"{figure(threshold.value)}{interval(threshold)}  {names}", found)


def _letter(ax: Axes, value: float, height: float, said: str, found: Thresholds) -> None:
    """Words beside a line across, on the side where there is room."""
    left, right = (ax.transData.transform((at, 0.0))[0] for at in (found.low, found.high))
    is_late = ax.transData.transform((value, 0.0))[0] > (left + right) / 2.0
    ax.annotate(
        said,
        (value, height),
        xycoords=("data", "axes fraction"),
        xytext=(-7.0 if is_late else 7.0, 0.0),
        textcoords="offset points",
        ha="right" if is_late else "left",
        va="center",
        fontsize=LABEL if height > 0.5 else SMALL,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
    )
