"""Pictures of GPUs and tokens: what was held, what was asked, what went unserved."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from simulator.lab.orders import Tenure
from simulator.laws.units import FloatArray
from simulator.show.money import percent
from simulator.show.style import (
    INK,
    PETROFF,
    as_dates,
    caption,
    chosen,
    count_axis,
    date_axis,
    dress,
    is_short,
    new_axes,
    part_look,
    policy_look,
    stack_legend,
)
from simulator.study.comparison import Comparison
from simulator.study.daily import block_days, block_means

_LOG_FROM = 20.0
"""Demand that grows more than this many times is drawn on a logarithmic axis."""
_ROOM_FOR_LEGEND = 1.25
_ALL_SERVED = 0.9995

TENURE_LABELS = tuple(tenure.value.replace("_", "-") for tenure in Tenure)
IN_USE, UNSERVED = "in use", "needed for what is unserved"
FLEET_LABELS = (*TENURE_LABELS, IN_USE, UNSERVED)


def fleet(comparison: Comparison, ax: Axes | None = None, policy: str | None = None) -> Axes:
    """GPUs by tenure against those in use and those that refused tokens would need, mean over worlds.

    Rented ones are their average over the day. Default: the cheapest policy.
    """
    ax = new_axes() if ax is None else ax
    number = chosen(comparison, policy)
    gpus = comparison.days.gpus[number] / comparison.replications
    dates, step = _edges(_blocks_start(comparison.dates))
    parts = ax.stackplot(dates, [_drawn(block_means(row)) for row in gpus], labels=TENURE_LABELS, step=step)
    for at, part in enumerate(parts):
        look = part_look(at)
        part.set(facecolor=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0.0)
    drawstyle: Literal["steps-post", "default"] = "default" if step is None else "steps-post"
    used, unserved = (
        _drawn(block_means(by_day[number] / comparison.replications))
        for by_day in (comparison.days.used_gpus, comparison.days.unserved_gpus)
    )
    ax.plot(dates, used, color=INK, linewidth=1.2, drawstyle=drawstyle, label=IN_USE)
    if unserved.any():
        area = ax.fill_between(dates, used, used + unserved, step=step, label=UNSERVED)
        area.set(facecolor="white", edgecolor=PETROFF[2], hatch="////", linewidth=0.0, alpha=0.85)
        ax.plot(dates, used + unserved, color=PETROFF[2], linewidth=1.2, linestyle=(0, (1.5, 1.5)), drawstyle=drawstyle)
    name = comparison.policy_names[number]
    below = f"Mean over worlds{_by_week(comparison)}; rented ones on average over the day. {caption(comparison)}"
    dress(ax, f"{name}: GPUs held, in use and lacking", "GPUs", below)
    date_axis(ax, comparison.n_days)
    count_axis(ax)
    ax.set_xlim(dates[0], dates[-1])
    stack_legend(ax)
    return ax


def demand(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Tokens asked for, as a fan over worlds, and what each policy that refuses some leaves unserved."""
    ax = new_axes() if ax is None else ax
    dates, step = _edges(_blocks_start(comparison.dates))
    drawstyle: Literal["steps-post", "default"] = "default" if step is None else "steps-post"
    p5, p25, _, p75, p95 = _drawn(comparison.days.asked_quantiles_tokens)
    mean = _drawn(block_means(comparison.days.asked_tokens / comparison.replications))
    ax.fill_between(dates, p5, p95, color=PETROFF[0], alpha=0.18, linewidth=0, step=step, label="asked, 90 % of worlds")
    ax.fill_between(
        dates, p25, p75, color=PETROFF[0], alpha=0.30, linewidth=0, step=step, label="asked, 50 % of worlds"
    )
    ax.plot(dates, mean, color=INK, linewidth=2.2, drawstyle=drawstyle, label="asked, mean")
    share = comparison.by_policy("served_share").mean(axis=1)
    refusing = [number for number in np.argsort(share) if share[number] < _ALL_SERVED]
    for number in refusing:
        look = policy_look(int(number))
        served = _drawn(block_means(comparison.days.served_tokens[number] / comparison.replications))
        name = comparison.policy_names[number]
        label = f"served by {name}, mean"
        ax.plot(dates, served, color=look.colour, linestyle=look.dash, linewidth=2.2, drawstyle=drawstyle, label=label)
        if number == refusing[0]:
            unserved = f"unserved by {name}, {percent(1.0 - share[number], 1)} of all tokens"
            ax.fill_between(
                dates,
                served,
                mean,
                facecolor="none",
                edgecolor=PETROFF[2],
                hatch="//",
                linewidth=0,
                step=step,
                label=unserved,
            )
    worst = comparison.policy_names[refusing[0]] if refusing else ""
    title = f"Demand, and what {worst} leaves unserved" if refusing else "Demand: every policy serves what is asked"
    dress(
        ax,
        title,
        "user tokens per day",
        f"Quantiles and means over worlds{_by_week(comparison)}. {caption(comparison)}",
    )
    date_axis(ax, comparison.n_days)
    if mean.min() > 0.0 and p95.max() / mean.min() > _LOG_FROM:
        ax.set_yscale("log")
    else:
        ax.set_ylim(0.0, max(float(p95.max()), float(mean.max())) * _ROOM_FOR_LEGEND)
    count_axis(ax)
    ax.set_xlim(dates[0], dates[-1])
    stack_legend(ax)
    return ax


def _edges(dates: npt.NDArray[np.datetime64]) -> tuple[FloatArray, Literal["post"] | None]:
    """Where to draw each point; in a very short run each day is a step as wide as the day."""
    days = as_dates(dates)
    return (np.append(days, days[-1] + 1.0), "post") if is_short(days.size) else (days, None)


def _drawn(values: FloatArray) -> FloatArray:
    """The values to go with `_edges` [..., day]."""
    if not is_short(values.shape[-1]):
        return values
    return np.concatenate([values, values[..., -1:]], axis=-1)


def _blocks_start(dates: npt.NDArray[np.datetime64]) -> npt.NDArray[np.datetime64]:
    block = block_days(dates.size)
    return dates[: dates.size // block * block : block]


def _by_week(comparison: Comparison) -> str:
    return ", averages by week" if block_days(comparison.n_days) > 1 else ""
