"""Pictures of spend over time: by account, as cash moves, and by use, as GPU-hours are charged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from simulator.lab.accounts import Account, Use
from simulator.laws.units import DAYS_PER_MONTH, FloatArray, IntArray
from simulator.show.style import (
    as_dates,
    chosen,
    currency_of,
    date_axis,
    dress,
    money_axis,
    money_caption,
    new_axes,
    part_look,
    stack_legend,
)
from simulator.study.comparison import Comparison

_SPEND = (
    ("GPUs bought, less resale", (Account.PURCHASE, Account.RESALE, Account.LOAN)),
    ("reserved", (Account.RESERVED,)),
    ("on-demand", (Account.ON_DEMAND,)),
    ("spot", (Account.SPOT,)),
    ("power, hosting, maintenance", (Account.POWER, Account.HOSTING, Account.MAINTENANCE)),
    ("tokens bought, interest, data, releases", (Account.API, Account.INTEREST, Account.DATA, Account.DEPLOYMENT)),
)
SPEND_LABELS = tuple(label for label, _ in _SPEND)
USE_LABELS = tuple(use.name.lower() for use in Use)
USE_SAID = "GPU-hours are charged their loss of value; models still to be used up are taken off on the last day."


def spend_by_account(comparison: Comparison, ax: Axes | None = None, policy: str | None = None) -> Axes:
    """Money spent by month or quarter, stacked by account, mean over worlds; default: the cheapest policy."""
    number = chosen(comparison, policy)
    by_account = comparison.days.cash_usd[number]
    parts = [by_account[list(accounts)].sum(axis=0) for _, accounts in _SPEND]
    return _stack(comparison, number, (SPEND_LABELS, parts), "spend by account", "", ax)


def spend_by_use(comparison: Comparison, ax: Axes | None = None, policy: str | None = None) -> Axes:
    """Economic cost by month or quarter, stacked by use, mean over worlds; default: the cheapest policy."""
    number = chosen(comparison, policy)
    parts = list(comparison.days.economic_usd[number])
    return _stack(comparison, number, (USE_LABELS, parts), "economic cost by use", f"{USE_SAID} ", ax)


def _stack(
    comparison: Comparison,
    number: int,
    parts: tuple[Sequence[str], Sequence[FloatArray]],
    what: str,
    below: str,
    ax: Axes | None,
) -> Axes:
    """Bars by month or quarter of sums over replications by day, as means; what flows back hangs below zero."""
    ax = new_axes() if ax is None else ax
    months = 1 if comparison.n_days <= 2 * 12 * DAYS_PER_MONTH else 3
    starts = _period_starts(comparison.dates, months)
    dates, widths = as_dates(comparison.dates[starts]), np.diff([*starts, comparison.n_days]) * 0.9
    above, under = np.zeros(len(starts)), np.zeros(len(starts))
    for at, (label, by_day) in enumerate(zip(*parts, strict=True)):
        look = part_look(at)
        spent = np.add.reduceat(by_day, starts) / comparison.replications
        any_usd = spent != 0.0
        if not any_usd.any():
            continue
        ax.bar(
            dates[any_usd],
            spent[any_usd],
            width=widths[any_usd],
            bottom=np.where(spent >= 0.0, above, under)[any_usd],
            align="edge",
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            linewidth=0.0,
            label=label,
        )
        above += np.maximum(spent, 0.0)
        under += np.minimum(spent, 0.0)
    name, currency = comparison.policy_names[number], currency_of(comparison)
    period = "month" if months == 1 else "quarter"
    dress(
        ax, f"{name}: {what}", f"{currency.code} per {period}", f"Mean over worlds. {below}{money_caption(comparison)}"
    )
    date_axis(ax, comparison.n_days)
    money_axis(ax, currency)
    stack_legend(ax)
    return ax


def _period_starts(dates: npt.NDArray[np.datetime64], months: int) -> IntArray:
    """Index of the first day of every calendar month or quarter."""
    period = dates.astype("datetime64[M]").astype(np.int64) // months
    return np.flatnonzero(np.diff(period, prepend=period[0] - 1))
