"""A year of a growing lab, small enough to compare in a second, and the policies that several tests compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import date

from simulator.lab.forecast import Trend
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, Procurement, RentOnDemand, ReserveBase
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import MAIN_LEVERS, Lever
from simulator.study.comparison import Comparison
from simulator.study.summary import ReplicationRow, RunSummary
from simulator.world.demand import DemandInputs
from simulator.world.market import Commitment, MarketInputs, Quote
from simulator.world.roadmap import ReleaseInputs, RoadmapInputs
from simulator.world.scenario import ModelInputs, Scenario

DAYS = 300


def growing_lab(horizon_days: int = DAYS) -> Scenario:
    """Demand doubles in a year, give or take; two releases; one kind of GPU."""
    h100 = Quote(
        accelerator="H100",
        on_demand_usd_per_gpu_hour=2.89,
        spot_usd_per_gpu_hour=1.99,
        purchase_usd_per_gpu=25_000.0,
        source="a test",
    )
    return Scenario(
        title="growing lab",
        start=date(2026, 1, 1),
        horizon_days=horizon_days,
        unserved_usd_per_million_tokens=1.0,
        demand=DemandInputs(
            tokens_per_day=1e12, growth_per_year=2.0, growth_sigma=0.3, noise_sigma=0.1, noise_persistence=0.5
        ),
        market=MarketInputs(quote=(h100,), commitment=(Commitment(term_days=365, discount=0.187),)),
        roadmap=RoadmapInputs(
            target_flop=5.9e23,
            target_growth_per_year=2.0,
            train_days=60,
            research_multiple=1.0,
            release=(
                ReleaseInputs(name="spring", due=date(2026, 4, 1)),
                ReleaseInputs(name="summer", due=date(2026, 8, 1)),
            ),
        ),
        opening_model=ModelInputs(n_parameters=70e9, n_training_tokens=1.4e12),
    )


def policy(name: str, procurement: Procurement, levers: frozenset[Lever] = frozenset()) -> Policy:
    """A policy that forecasts by trend."""
    return Policy(name, LeverRecipe(levers=levers), procurement, Trend())


def with_costs(comparison: Comparison, costs: Mapping[str, Sequence[float]]) -> Comparison:
    """The same study, had some policies cost this in each world."""

    def altered(row: ReplicationRow) -> ReplicationRow:
        if row.policy not in costs:
            return row
        values = {column.name: getattr(row.summary, column.name) for column in fields(RunSummary)}
        cost = costs[row.policy][row.replication]
        return replace(row, summary=RunSummary(**{**values, "cumulative_cost_usd": cost}))

    return replace(comparison, rows=tuple(map(altered, comparison.rows)))


RENT = policy("rent", RentOnDemand())
OVERTRAIN = policy("overtrain", RentOnDemand(), frozenset({Lever.OVERTRAIN}))
RESERVE = policy("reserve", ReserveBase(), MAIN_LEVERS)
BUY = policy("buy", BuyToForecast(), MAIN_LEVERS)
CAPPED = policy("capped", RentOnDemand(cap_gpus=4000))
"""Serves less than is asked."""
