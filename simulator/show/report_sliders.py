"""The grid of a report's sliders, as the page's script reads it and as a table for who has no script."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from simulator.show.figures import Figure, Figures
from simulator.show.money import change_decimals
from simulator.study.comparison import SummaryRow
from simulator.study.slider_grid import LEVEL_SIGMA, RENTAL_FALL, Slider, SliderGrid
from simulator.study.varied import GROWTH

GRID = "grid"
"""The place of figures that are in no file: the grid is lived for the page."""
_TIMES, _SHARE, _NUMBER = "times", "share", "number"
_WHAT = {
    GROWTH: ("Growth of demand", "times the declared, in all regimes", _TIMES),
    RENTAL_FALL: ("Fall of rents", "a year; negative: they rise", _SHARE),
    LEVEL_SIGMA: ("Uncertainty of the level of demand", "standard deviation of its log", _NUMBER),
    "market.list_fall_per_year": ("Fall of list prices", "a year; negative: they rise", _SHARE),
    "market.lead_days": ("Lead time", "days from order to delivery", _NUMBER),
}
_Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class SliderWords:
    """How one slider is said."""

    field: str
    what: str
    unit: str
    kind: str
    """How its values are written: times, share or number."""
    values: tuple[float, ...]
    start: int
    """The value it begins at, by its number: the declared one or the nearest to it."""
    is_declared: bool
    """Whether that is the declared value."""

    def said(self, value: float) -> str:
        """A value with its sign or unit; the script writes it the same way."""
        if self.kind == _SHARE:
            text = f"{_three(100.0 * value)}\u00a0%"
        else:
            text = f"{_three(value)}\u00a0×" if self.kind == _TIMES else _three(value)
        return text.replace("-", "−")


@dataclass(frozen=True, slots=True)
class GridLine:
    """A row of the table of all points."""

    values: tuple[str, ...]
    winner: str
    cost: Figure | None
    change: Figure | None
    refused: str


@dataclass(frozen=True, slots=True)
class SliderPage:
    """All that a page needs."""

    sliders: tuple[SliderWords, ...]
    replications: int
    points: int
    lines: tuple[GridLine, ...]
    data: _Json
    """For the script."""


def slider_page(grid: SliderGrid, policies: tuple[str, ...], figures: Figures) -> SliderPage:
    """The grid in words and as data."""
    sliders = tuple(map(_words, grid.sliders))
    data: _Json = {
        "sliders": [{"values": words.values, "start": words.start, "kind": words.kind} for words in sliders],
        "policies": policies,
        "replications": grid.replications,
        "currency": {"symbol": figures.currency.symbol, "per_usd": figures.currency.per_usd},
        "points": [[_numbers(row) for row in point.rows] or None for point in grid.points],
        "refused": [point.refused for point in grid.points],
    }
    return SliderPage(sliders, grid.replications, len(grid.points), tuple(_lines(grid, sliders, figures)), data)


def _words(slider: Slider) -> SliderWords:
    what, unit, kind = _WHAT.get(slider.field, (slider.field, "", _NUMBER))
    declared = slider.declared if math.isfinite(slider.declared) else slider.values[0]
    start = min(range(len(slider.values)), key=lambda at: abs(slider.values[at] - declared))
    is_declared = slider.values[start] == slider.declared
    return SliderWords(slider.field, what, unit, kind, slider.values, start, is_declared)


def _lines(grid: SliderGrid, sliders: tuple[SliderWords, ...], figures: Figures) -> Iterator[GridLine]:
    for number, point in enumerate(grid.points):
        said = tuple(words.said(value) for words, value in zip(sliders, point.values, strict=True))
        best = cheapest_of(point.rows)
        if best is None:
            yield GridLine(said, "", None, None, point.refused or "no policy can be called cheaper")
            continue
        place, percents = (GRID, number, best.policy), best.controlled_difference_percent
        yield GridLine(
            said,
            best.policy,
            figures.money(best.controlled_cost_usd, *place, "controlled_cost_usd"),
            None
            if best is point.rows[0]
            else figures.change(percents, change_decimals(percents), *place, "controlled_difference_percent"),
            "",
        )


def cheapest_of(rows: tuple[SummaryRow, ...]) -> SummaryRow | None:
    """The comparable policy of the lowest cost; None if nothing can be called cheaper."""
    comparable = [row for row in rows if row.comparable]
    return min(comparable, key=lambda row: row.controlled_cost_usd) if rows and rows[0].comparable else None


def _numbers(row: SummaryRow) -> list[float | int | None]:
    """Cost and its interval [USD], difference and its interval [%], and whether it is comparable."""
    found = (
        row.controlled_cost_usd,
        row.controlled_cost_low_usd,
        row.controlled_cost_high_usd,
        row.controlled_difference_percent,
        row.controlled_difference_low_percent,
        row.controlled_difference_high_percent,
    )
    return [*(float(value) if math.isfinite(value) else None for value in found), int(row.comparable)]


def _three(value: float) -> str:
    """Three digits and no more than are needed; all of them in numbers that would else need a power of ten."""
    return f"{value:.0f}" if 1000.0 <= abs(value) < 1e15 else f"{value:.3g}"
