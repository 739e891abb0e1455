"""Worlds in which only demand matters, or only one rent: paths as any study would draw them, and nothing else."""

from __future__ import annotations

from datetime import date

import numpy as np

from simulator.laws.units import FloatArray
from simulator.world.demand import DemandInputs
from simulator.world.market import MarketInputs, Quote
from simulator.world.roadmap import RoadmapInputs
from simulator.world.scenario import ModelInputs, Scenario
from simulator.world.world import realize

WORLDS = 1000
_MOST_DRAWN = 4_000_000
"""Simulated days held in memory at once; a span of many years gets fewer worlds."""
_LEAST_WORLDS = 100


def worlds_for(n_days: int, worlds: int) -> int:
    """As many worlds as there is room for."""
    return max(min(worlds, _MOST_DRAWN // n_days), _LEAST_WORLDS)


def demand_paths(demand: DemandInputs, start: date, n_days: int, worlds: int, seed: int) -> FloatArray:
    """Tokens asked [world, day]."""
    quote = Quote(accelerator="H100", on_demand_usd_per_gpu_hour=1.0, source="placeholder")
    scenario = _scenario(demand, MarketInputs(quote=(quote,)), start, n_days)
    lived = scenario.calendar.lived
    with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range of numbers is the caller's to tell
        return np.array([realize(scenario, seed, world).demand_tokens[lived] for world in range(worlds)])


def rent_paths(market: MarketInputs, start: date, n_days: int, worlds: int, seed: int) -> FloatArray:
    """On-demand rent of the first kind quoted, which is known on the first day [world, day] [USD/GPU-hour]."""
    scenario = _scenario(DemandInputs(tokens_per_day=1.0), market, start, n_days)
    lived = scenario.calendar.lived
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([realize(scenario, seed, world).prices.rent_path(0, lived) for world in range(worlds)])


def _scenario(demand: DemandInputs, market: MarketInputs, start: date, n_days: int) -> Scenario:
    """What is not asked for is a placeholder that nobody uses."""
    return Scenario(
        title="alone",
        start=start,
        horizon_days=n_days,
        history_days=0,
        longest_term_days=1,
        demand=demand,
        market=market,
        roadmap=RoadmapInputs(target_flop=1.0),
        opening_model=ModelInputs(n_parameters=1.0, n_training_tokens=1.0),
    )
