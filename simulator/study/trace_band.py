"""A trace against what its own fit makes: the band of many simulated paths, and how many days lie inside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.units import FloatArray
from simulator.study.alone import WORLDS, demand_paths, worlds_for
from simulator.study.calibrate import Calibration, DailyFit
from simulator.study.daily import QUANTILES
from simulator.study.demand_block import fitted_demand


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
    tokens = np.array(daily.tokens)
    worlds = worlds_for(tokens.size, worlds)
    demand = fitted_demand(found, daily, from_first_day=True)
    drawn = demand_paths(demand, daily.first_day, tokens.size, worlds, seed)
    p05, p25, p50, p75, p95 = np.quantile(drawn, QUANTILES, axis=0)
    return TraceBand(
        *(p05, p25, p50, p75, p95),
        n_days=tokens.size,
        worlds=worlds,
        inside_50=int(((tokens >= p25) & (tokens <= p75)).sum()),
        inside_90=int(((tokens >= p05) & (tokens <= p95)).sum()),
    )
