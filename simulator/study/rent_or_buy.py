"""Rent or buy, how many, and when the answer changes: prices by hand, the owned base by simulation, and what moves it.

All policies share one recipe and one forecast and differ in how they get GPUs; all live in the same worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.lab.orders import Tenure
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, RentOnDemand, ReserveBase
from simulator.laws.units import FloatArray
from simulator.study.comparison import Comparison
from simulator.study.cut_orders import cut_orders
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.experiment import Progress, compare, processes
from simulator.study.foresight import Range
from simulator.study.many import Task, compare_many
from simulator.study.rent_or_buy_answers import BaseRow, HeatCell, Optimum, RentOrBuy, TornadoRow
from simulator.study.rent_or_buy_points import least_of_parabola, smallest_of_ties, turning_fall
from simulator.study.swings import Swing, swings
from simulator.study.tenure_costs import (
    kinds_for_sale,
    one_gpu,
    planned_utilization,
    tenure_rows,
)
from simulator.study.varied import varied, with_growth
from simulator.world.scenario import Misplaced, Scenario

RENT = "rent all"
SHARES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
"""GPUs owned / mean need forecast for the week of delivery."""
GROWTHS = (0.6, 0.8, 1.0, 1.25, 1.6)
"""Times the scenario's yearly growth of demand."""
_RENT_FACTORS = (1.2, 1.1, 1.0, 0.85, 0.7)
"""Times the scenario's yearly factor of rents, 1 - its fall."""
_NO_RANGE = Range(float("nan"), float("nan"), float("nan"))


def falls_around(scenario: Scenario) -> tuple[float, ...]:
    """Yearly falls of rents to try: the scenario's own, and steps to both sides of it."""
    own = scenario.market.rental_fall_per_year
    return tuple(sorted(own if f == 1.0 else round(1.0 - f * (1.0 - own), 6) for f in _RENT_FACTORS))


def rent_or_buy(
    scenario: Scenario,
    policy: Policy,
    *,
    replications: int = 32,
    seed: int = 1,
    growths: Sequence[float] = GROWTHS,
    falls: Sequence[float] | None = None,
    cell_replications: int = 8,
    utilization: float | None = None,
    equal_service: EqualService = USUAL_SERVICE,
    workers: int = 1,
    progress: Progress | None = None,
) -> RentOrBuy:
    """Compare renting all with owning shares of forecast need and with leases, and see what moves the answer.

    Parameters
    ----------
    scenario, policy
        What to live in; whose recipe and forecast all share.
    replications, seed, equal_service, workers, progress
        As for `compare`; progress counts the worlds of all studies.
    growths, falls
        Axes of the map: factors on the yearly growth of demand, and yearly falls of rents.
    cell_replications
        Worlds per cell of the map and per end of the tornado's bars.
    utilization
        Share of hours that the one GPU of the paybacks is used, beside 1; default: that of a fleet of the mean need.

    Raises
    ------
    Misplaced
        If no GPU is for sale at the start, or a value to try breaks a rule of the scenario.
    """
    if not kinds_for_sale(scenario):
        raise Misplaced("market.quote", "must hold a kind with a purchase_usd_per_gpu at the start", "none for sale")
    used = planned_utilization(scenario) if utilization is None else utilization
    points = [(growth, fall) for growth in growths for fall in (falls or falls_around(scenario))]
    worlds = [varied(with_growth(scenario, g), "market.rental_fall_per_year", f) for g, f in points]
    moved = swings(scenario)
    rent, owns = replace(policy, name=RENT, procurement=RentOnDemand()), [_own(policy, share) for share in SHARES]
    counted = _Counted(progress, replications + cell_replications * (len(points) + 1 + 2 * len(moved)))
    with processes(workers) as executor:

        def cells(tasks: Sequence[Task]) -> Iterator[Comparison]:
            for found in compare_many(
                tasks,
                replications=cell_replications,
                seed=seed,
                executor=executor,
                at_once=workers,
                equal_service=equal_service,
            ):
                yield found
                counted.passed(cell_replications)

        comparison = compare(
            scenario,
            [rent, *owns, *_leases(policy, scenario)],
            replications=replications,
            seed=seed,
            executor=executor,
            progress=counted.within,
            equal_service=equal_service,
        )
        counted.passed(replications)
        mapped = cells([(world, (rent, *owns)) for world in worlds])
        heat_map = [_cell(*at, found) for at, found in zip(points, mapped, strict=True)]
        best = _cheapest_own(comparison)
        asked = [scenario, *(end for swing in moved for end in (swing.at_low, swing.at_high))]
        if not (best and _held(comparison)[best].any()):
            asked = []
        ends = [_percent(found, 1) for found in cells([(world, (rent, owns[best - 1])) for world in asked])]
    tornado = [_bar(swing, *ends[at : at + 2]) for swing, at in zip(moved, range(1, len(ends), 2), strict=False)]
    optimum = _optimum(comparison, best, heat_map)
    return RentOrBuy(
        optimum,
        tuple(tenure_rows(scenario)),
        tuple(one_gpu(scenario, kind, share).row for kind in kinds_for_sale(scenario) for share in sorted({1.0, used})),
        tuple(_base_rows(comparison)),
        tuple(heat_map),
        tuple(sorted(tornado, key=lambda bar: -bar.width_percent)),
        ends[0] if ends else _NO_RANGE,
        comparison,
        cell_replications,
        used,
    )


@dataclass
class _Counted:
    """Progress of many studies as one."""

    progress: Progress | None
    total: int
    done: int = 0

    def within(self, done: int, _: int) -> None:
        """So many worlds of the study at work are done."""
        if self.progress is not None:
            self.progress(self.done + done, self.total)

    def passed(self, worlds: int) -> None:
        """A study of so many worlds is over."""
        self.done += worlds
        self.within(0, 0)


def _own(policy: Policy, share: float) -> Policy:
    return replace(policy, name=f"own {100.0 * share:.0f} %", procurement=BuyToForecast(headroom=share))


def _leases(policy: Policy, scenario: Scenario) -> list[Policy]:
    terms = sorted({offered.term_days for offered in scenario.market.commitment})
    return [replace(policy, name=f"lease {days} days", procurement=ReserveBase(term_days=days)) for days in terms]


def _share(policy: Policy) -> float:
    """Of forecast need that a policy owns."""
    procurement = policy.procurement
    if isinstance(procurement, RentOnDemand):
        return 0.0
    return procurement.headroom if isinstance(procurement, BuyToForecast) else float("nan")


def _costs(comparison: Comparison) -> FloatArray:
    """Mean cost of renting all and of each owned share, infinite where it is not comparable."""
    cost = comparison.by_policy("cumulative_cost_usd").mean(axis=1)[: 1 + len(SHARES)]
    fair = [not comparison.not_comparable(number) for number in range(cost.size)]
    return np.where(fair, cost, np.inf)


def _cheapest_own(comparison: Comparison) -> int:
    """Number of the cheapest policy that owns; 0 if none is comparable."""
    own = _costs(comparison)[1:]
    return 1 + smallest_of_ties(own) if np.isfinite(own.min()) else 0


def _percent(comparison: Comparison, number: int) -> Range:
    """Paired difference from renting all [%]; no figure where service is not equal."""
    return _NO_RANGE if comparison.not_comparable(number) else Range(*comparison.difference_percent(number))


def _cell(growth: float, fall: float, comparison: Comparison) -> HeatCell:
    best = _cheapest_own(comparison)
    if not best:
        return HeatCell(growth, fall, float("nan"), _NO_RANGE)
    is_cut = bool(cut_orders(comparison.orders, comparison.policy_names[best]).to)
    return HeatCell(growth, fall, SHARES[best - 1], _percent(comparison, best), is_cut)


def _bar(swing: Swing, at_low: Range, at_high: Range) -> TornadoRow:
    return TornadoRow(swing.what, swing.field, swing.low, swing.declared, swing.high, swing.unit, at_low, at_high)


def _held(comparison: Comparison) -> FloatArray:
    """GPUs owned or reserved, mean over worlds [policy, day]."""
    tenures = list(Tenure)
    held = comparison.days.gpus[:, [tenures.index(Tenure.OWNED), tenures.index(Tenure.RESERVED)]].sum(axis=1)
    return np.asarray(held / comparison.replications, dtype=np.float64)


def _base_rows(comparison: Comparison) -> Iterator[BaseRow]:
    held = _held(comparison)
    for number, row in enumerate(comparison.summary_records()):
        gpus = held[number]
        cut = cut_orders(comparison.orders, row.policy)
        yield BaseRow(
            row.policy,
            _share(comparison.policies[number]),
            row.comparable,
            row.reason,
            Range(row.cumulative_cost_usd, row.cumulative_cost_low_usd, row.cumulative_cost_high_usd),
            Range(row.difference_percent, row.difference_low_percent, row.difference_high_percent),
            row.chance_cheapest,
            float(gpus.max()),
            float(gpus[-1]),
            row.opening_usd,
            row.closing_usd,
            cut.worlds / comparison.replications,
            cut.to,
            row.peak_cash_usd,
            row.utilization,
        )


def _optimum(comparison: Comparison, best_own: int, heat_map: Sequence[HeatCell]) -> Optimum:
    cost, shares = _costs(comparison), (0.0, *SHARES)
    best = smallest_of_ties(cost)
    near = comparison.policy_names[: min(best + 3, len(shares))]
    is_cut = any(cut_orders(comparison.orders, name).to for name in near)
    return Optimum(
        shares[best] if np.isfinite(cost[best]) else float("nan"),
        float("nan") if is_cut else least_of_parabola(shares, cost, best),
        shares[best_own] or float("nan"),
        _most_bought(comparison, best_own or len(SHARES)),
        turning_fall(heat_map, comparison.scenario.market.rental_fall_per_year),
    )


def _most_bought(comparison: Comparison, number: int) -> str:
    """Of the kinds for sale at the start, the one this policy buys most of; the first if it buys none of them."""
    kinds, name = kinds_for_sale(comparison.scenario), comparison.policy_names[number]
    bought = dict.fromkeys(kinds, 0)
    for order in comparison.orders:
        if (
            order.policy == name
            and order.tenure == Tenure.OWNED.value
            and order.usd > 0.0
            and order.accelerator in bought
        ):
            bought[order.accelerator] += order.gpus
    return max(kinds, key=lambda kind: bought[kind])
