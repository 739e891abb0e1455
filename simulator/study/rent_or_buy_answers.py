"""What a study of renting and buying finds: a record per row of each table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.study.comparison import Comparison
from simulator.study.foresight import Range
from simulator.study.tenure_costs import PaybackRow, TenureRow
from simulator.world.scenario import Scenario


@dataclass(frozen=True, slots=True)
class BaseRow:
    """One way to get GPUs over the whole scenario, over all worlds."""

    policy: str
    owned_share: float
    """Of forecast mean need: 0 rents all; NaN for a lease."""
    comparable: bool
    reason: str
    """Why it is not comparable with renting all."""
    cost_usd: Range
    difference_percent: Range
    """Paired, of the cost of renting all."""
    chance_cheapest: float
    """Share of worlds in which none of the comparable rows is cheaper."""
    held_peak_gpus: float
    """Owned and reserved, mean over worlds: the most on any day."""
    held_end_gpus: float
    opening_usd: float
    """Part of the cost: what was held at the start and is used up or owed less since."""
    closing_usd: float
    """Part of the cost: what is left at the end, below 0; above where leases that run on cost more than they fetch."""
    cut_share: float
    """Of worlds, those in which a limit cut an order: then fewer GPUs are held than asked for, or later."""
    cut_to: str
    """What most of these orders were cut to, in the words of orders.csv; empty if none was."""
    peak_cash_usd: float
    """Most cash spent within 365 days, mean over worlds."""
    utilization: float


@dataclass(frozen=True, slots=True)
class HeatCell:
    """The best owned share at one growth of demand and one fall of rents."""

    growth_factor: float
    rental_fall_per_year: float
    owned_share: float
    """The best of those that own; NaN if none is comparable."""
    difference_percent: Range
    """Paired, of the cost of renting all; above 0 renting all is best."""
    is_cut: bool = False
    """Whether a limit cut an order of that share."""

    @property
    def owns(self) -> bool:
        """Whether owning that share is cheaper than renting all."""
        return self.difference_percent.mean < 0.0

    @property
    def is_open(self) -> bool:
        """Whether the interval holds 0, so that these worlds cannot tell; a single world has no interval."""
        return self.difference_percent.low < 0.0 < self.difference_percent.high


@dataclass(frozen=True, slots=True)
class TornadoRow:
    """How far one input moves the answer at the best owned share, all else as declared."""

    what: str
    field: str
    low: float
    declared: float
    high: float
    """In the field's own unit; of growth as a factor on the scenario's."""
    unit: str
    at_low_percent: Range
    """Own less rent, paired, of the cost of renting all in the same worlds."""
    at_high_percent: Range

    @property
    def width_percent(self) -> float:
        """How far apart the two ends are; 0 where one is not comparable."""
        width = abs(self.at_high_percent.mean - self.at_low_percent.mean)
        return width if np.isfinite(width) else 0.0


@dataclass(frozen=True, slots=True)
class Optimum:
    """The answer in figures."""

    owned_share: float
    """Of those tried, the cheapest, and the smallest of ties; 0 rents all, NaN if renting all misses its quality."""
    refined_share: float
    """Least of the parabola through it and its neighbours; NaN where the costs tried speak against one."""
    best_own_share: float
    """The cheapest of those that own, the smallest of ties: what the tornado asks about; NaN if none is comparable."""
    accelerator: str
    """The kind that this share buys most of, among those for sale at the start."""
    rental_fall_turns: Range
    """Yearly fall of rents from which on owning is not cheaper, between two cells of the map, and where the bounds of
    the cells' intervals turn; NaN where they do not."""


@dataclass(frozen=True)
class Answers:
    """All tables."""

    optimum: Optimum
    tenures: tuple[TenureRow, ...]
    paybacks: tuple[PaybackRow, ...]
    owned_base: tuple[BaseRow, ...]
    heat_map: tuple[HeatCell, ...]
    """By growth, then fall."""
    tornado: tuple[TornadoRow, ...]
    """The widest first."""
    tornado_centre_percent: Range
    """Own less rent at the best owned share with all as declared, in the tornado's worlds."""


@dataclass(frozen=True, eq=False)
class RentOrBuy(Answers):
    """The answers, and the comparison that the owned base was read from."""

    comparison: Comparison
    cell_replications: int
    utilization: float

    @property
    def cut(self) -> tuple[BaseRow, ...]:
        """The rows in which a limit cut an order."""
        return tuple(row for row in self.owned_base if row.cut_to)

    @property
    def best(self) -> BaseRow | None:
        """The row of the cheapest owned share; None if none is comparable."""
        return next((row for row in self.owned_base if row.owned_share == self.optimum.best_own_share), None)

    @property
    def scenario(self) -> Scenario:
        """As declared."""
        return self.comparison.scenario
