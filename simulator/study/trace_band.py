"""A trace against what its own fit makes: the band of many simulated paths, and how many days lie inside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.units import FloatArray
from simulator.study.calibrate import Calibration, DailyFit
from simulator.study.demand_block import fitted_demand
from simulator.world.market import MarketInputs, Quote
from simulator.world.roadmap import RoadmapInputs
from simulator.world.scenario import ModelInputs, Scenario
from simulator.world.world import realize

WORLDS = 1000
_MOST_DRAWN = 4_000_000
"""Simulated days held in memory at once; a trace of many years gets fewer worlds."""
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class TraceBand:
    """Quantiles of simulated tokens by day of the trace, and the days of the trace inside them."""

    p05: FloatArray
    p25: FloatArray
    p50: FloatArray
    p75: FloatArray
    p95: FloatArray
    n_days: int
    worlds: int
    inside_50: int
    inside_90: int


def trace_band(found: Calibration, daily: DailyFit, worlds: int = WORLDS, seed: int = 1) -> TraceBand:
    """Draw the fitted demand `worlds` times from the first day of the trace on, by the rules every study lives by."""
    worlds = max(min(worlds, _MOST_DRAWN // len(daily.tokens)), 100)
    scenario = _demand_alone(found, daily)
    lived, tokens = scenario.calendar.lived, np.array(daily.tokens)
    drawn = np.array([realize(scenario, seed, world).demand_tokens[lived] for world in range(worlds)])
    p05, p25, p50, p75, p95 = np.quantile(drawn, _QUANTILES, axis=0)
    return TraceBand(
        *(p05, p25, p50, p75, p95),
        n_days=tokens.size,
        worlds=worlds,
        inside_50=int(((tokens >= p25) & (tokens <= p75)).sum()),
        inside_90=int(((tokens >= p05) & (tokens <= p95)).sum()),
    )


def _demand_alone(found: Calibration, daily: DailyFit) -> Scenario:
    """A scenario in which only demand matters; its market and its model are placeholders that nobody uses."""
    quote = Quote(accelerator="H100", on_demand_usd_per_gpu_hour=1.0, source="placeholder")
    return Scenario(
        title=found.trace,
        start=daily.first_day,
        horizon_days=len(daily.tokens),
        history_days=0,
        longest_term_days=1,
        demand=fitted_demand(found, daily, from_first_day=True),
        market=MarketInputs(quote=(quote,)),
        roadmap=RoadmapInputs(target_flop=1.0),
        opening_model=ModelInputs(n_parameters=1.0, n_training_tokens=1.0),
    )
