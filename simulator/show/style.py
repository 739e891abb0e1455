"""How pictures look: colours that colour-blind readers can tell apart, and never colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.dates import (
    DAILY,
    MONTHLY,
    YEARLY,
    AutoDateLocator,
    ConciseDateFormatter,
    DateFormatter,
    DayLocator,
    date2num,
)
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from simulator.laws.units import FloatArray
from simulator.show.money import DOLLARS, Currency, count_tick, money_tick
from simulator.study.comparison import Comparison

PETROFF = ("#5790fc", "#f89c20", "#e42536", "#964a8b", "#9c9ca1", "#7a21dd")
"""Petroff (2021), arXiv 2107.02270: six colours with the widest spacing for all kinds of colour vision."""
INK, MUTED, GRID = "#222222", "#63636b", "#dedee3"
SLIDE_INCHES = (12.0, 6.75)
_DASHES: tuple[tuple[int, tuple[float, ...]], ...] = (
    (0, ()),
    (0, (6.0, 2.0)),
    (0, (1.5, 1.5)),
    (0, (6.0, 1.5, 1.5, 1.5)),
    (0, (3.0, 1.5)),
    (0, (8.0, 2.0, 1.5, 2.0, 1.5, 2.0)),
)
_FEW_DECADES = 3000.0
"""An axis that spans less has room for 2 and 5 between the powers of ten."""
_WIDE_SPREAD = 8.0
_SHORT_DAYS = 10
_MANY_DAYS, _HALF_YEARS = 300, 5
"""With fewer ticks than that matplotlib has no interval of months for most of two years, and warns."""
_TITLE_LETTERS, _CAPTION_LETTERS = 100, 135
"""Letters that fit across a slide."""
_HATCHES = ("", "//", "..", "\\\\", "xx", "--")
TITLE, LABEL, SMALL = 14.5, 12.0, 10.5


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, dash and hatch of one series."""

    colour: str
    dash: tuple[int, tuple[float, ...]]
    hatch: str


def policy_look(number: int) -> Look:
    """The baseline is ink and solid; the others take the six colours in turn, then again with another dash."""
    if number == 0:
        return Look(INK, _DASHES[0], "")
    at, turn = (number - 1) % len(PETROFF), (number - 1) // len(PETROFF)
    return Look(PETROFF[at], _DASHES[(at + turn) % len(_DASHES)], _HATCHES[(at + turn) % len(_HATCHES)])


def part_look(number: int) -> Look:
    """A part of a stack: six colours, then the same with other hatches."""
    turn, at = divmod(number, len(PETROFF))
    return Look(PETROFF[at], _DASHES[0], _HATCHES[(at + turn) % len(_HATCHES)])


def new_axes() -> Axes:
    """A slide with one empty picture."""
    return new_figure().add_subplot()


def new_figure() -> Figure:
    """A slide, with a margin all round."""
    return Figure(figsize=SLIDE_INCHES, layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.12))


def dress(ax: Axes, title: str, y_label: str, below: str = "", size: float = 1.0) -> Axes:
    """Title above, unit on the axis, caption below, and no ink that says nothing."""
    ax.set_title(fill(title, _TITLE_LETTERS), loc="left", fontsize=TITLE * size, color=INK, parse_math=False)
    ax.set_ylabel(y_label, fontsize=LABEL * size, color=INK, parse_math=False)
    if below:
        lines = [fill(line, _CAPTION_LETTERS) for line in below.splitlines()]
        ax.set_xlabel("\n".join(lines), loc="left", fontsize=SMALL * size, color=MUTED, labelpad=8, parse_math=False)
    ax.tick_params(labelsize=LABEL * 0.95 * size, colors=INK, length=3)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    return ax


def date_axis(ax: Axes, n_days: int, most_ticks: int = 9) -> None:
    """Dates that do not run into each other; whole days in a very short run."""
    if is_short(n_days):
        ax.xaxis.set_major_locator(DayLocator(interval=n_days // most_ticks + 1))  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_formatter(DateFormatter("%b-%d"))  # type: ignore[no-untyped-call]
        return
    months = most_ticks if n_days < _MANY_DAYS else max(most_ticks, _HALF_YEARS)
    most = {YEARLY: most_ticks, MONTHLY: months, DAILY: most_ticks}
    locator = AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator, zero_formats=["", "%Y", "%b %Y", "%b-%d", "%H:%M", "%H:%M"], show_offset=False
    )
    ax.xaxis.set_major_formatter(formatter)


class _RoundIn(MaxNLocator):
    """Ticks of an axis in dollars that are round amounts of another currency."""

    def __init__(self, currency: Currency, n_bins: int) -> None:
        super().__init__(n_bins)
        self._per_usd = currency.per_usd

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        return [tick / self._per_usd for tick in super().tick_values(vmin * self._per_usd, vmax * self._per_usd)]


class _LogRoundIn(LogLocator):
    """The same on a logarithmic axis."""

    def __init__(self, currency: Currency, steps: Sequence[float]) -> None:
        super().__init__(subs=steps, numticks=20)
        self._per_usd = currency.per_usd

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        return [tick / self._per_usd for tick in super().tick_values(vmin * self._per_usd, vmax * self._per_usd)]


def money_axis(ax: Axes, currency: Currency = DOLLARS) -> None:
    """Dollars shown in a currency as people say them, round ones where the axis is logarithmic."""
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: money_tick(value, currency)))
    if ax.get_yscale() != "log":
        ax.yaxis.set_major_locator(_RoundIn(currency, 6))
        return
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(_LogRoundIn(currency, _log_steps(low, high)))
    ax.yaxis.set_minor_locator(NullLocator())


def count_axis(ax: Axes) -> None:
    """Counts as people say them, round ones where the axis is logarithmic."""
    if ax.get_yscale() == "log":
        low, high = ax.get_ylim()
        ax.yaxis.set_major_locator(LogLocator(subs=_log_steps(low, high)))
        ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: count_tick(value)))


def _log_steps(low: float, high: float) -> tuple[float, ...]:
    return (1.0, 2.0, 5.0) if high < _FEW_DECADES * low else (1.0,)


def as_dates(days: npt.NDArray[np.datetime64]) -> FloatArray:
    """Days as matplotlib counts them on a date axis."""
    numbers: FloatArray = np.asarray(date2num(days), dtype=np.float64)  # type: ignore[no-untyped-call]
    return numbers


def apart(heights: Sequence[float], gap: float, top: float = 1.0) -> FloatArray:
    """Heights moved as little as needed to stand at least `gap` apart, in the same order, below `top`.

    Examples
    --------
    >>> apart([0.5, 0.52, 0.1], 0.1).tolist()
    [0.5, 0.6, 0.1]
    """
    order = np.argsort(heights, kind="stable")
    placed = np.array(heights, dtype=np.float64)[order]
    for at in range(1, placed.size):
        placed[at] = max(placed[at], placed[at - 1] + gap)
    ceiling = top
    for at in range(placed.size - 1, -1, -1):
        placed[at] = min(placed[at], ceiling)
        ceiling = placed[at] - gap
    back = np.empty_like(placed)
    back[order] = placed
    return back


def stack_legend(ax: Axes) -> None:
    """Top of the stack first."""
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="upper left", frameon=False, fontsize=LABEL)


def is_wide(comparison: Comparison) -> bool:
    """Whether policies differ so much that on a linear axis the cheap ones all lie on the floor."""
    costs = [row.cumulative_cost_usd for row in comparison.summary_records()]
    return min(costs) > 0.0 and max(costs) > _WIDE_SPREAD * min(costs)


def is_short(n_points: int) -> bool:
    """Whether there are so few days that each is drawn as a step."""
    return n_points < _SHORT_DAYS


def cheapest(comparison: Comparison) -> int:
    """The comparable policy with the lowest expected cost."""
    rows = comparison.summary_records()
    comparable = [at for at, row in enumerate(rows) if row.comparable] or [0]
    return min(comparable, key=lambda at: rows[at].controlled_cost_usd)


def chosen(comparison: Comparison, policy: str | None) -> int:
    """The number of a policy; of the cheapest if none is named."""
    return cheapest(comparison) if policy is None else comparison.policy_names.index(policy)


def caption(comparison: Comparison) -> str:
    """Which study a picture shows."""
    count = comparison.replications
    return f"{comparison.scenario.title}: {count} replication{'' if count == 1 else 's'}, seed {comparison.seed}."


def money_caption(comparison: Comparison) -> str:
    """The same where there is money in the picture: at what rate, if it is not dollars."""
    rate = currency_of(comparison).said
    return f"{caption(comparison)} {rate}." if rate else caption(comparison)


def currency_of(comparison: Comparison) -> Currency:
    """What money is shown in."""
    return Currency.declared(comparison.scenario.currency)
