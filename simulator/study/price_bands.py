"""What GPUs cost over the worlds of a study: bands of rents and purchase prices, from the worlds alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.units import FloatArray, IntArray
from simulator.study.daily import QUANTILES
from simulator.world.scenario import Scenario
from simulator.world.world import realize

MOST_WORLDS = 64
"""A band of more worlds looks the same."""
_MOST_POINTS = 120


@dataclass(frozen=True, slots=True)
class PriceBands:
    """Quantiles over worlds at `QUANTILES` [quantile, kind, point]; NaN where a kind is not on offer."""

    kinds: tuple[str, ...]
    days: IntArray
    """Since the start, by point."""
    worlds: int
    on_demand_usd_per_gpu_hour: FloatArray
    spot_usd_per_gpu_hour: FloatArray
    purchase_usd_per_gpu: FloatArray


def price_bands(scenario: Scenario, seed: int, replications: int) -> PriceBands:
    """Draw the first worlds of a study again, at most 64, and look at their prices on up to 120 days."""
    last, worlds = scenario.horizon_days - 1, min(replications, MOST_WORLDS)
    days = np.unique(np.linspace(0, last, _MOST_POINTS).astype(np.int64))
    index, kinds = days + scenario.calendar.index(0), np.arange(len(scenario.accelerators))[:, np.newaxis]
    drawn: tuple[list[FloatArray], ...] = ([], [], [])
    for replication in range(worlds):
        prices = realize(scenario, seed, replication).prices
        for paths, path in zip(drawn, (prices.rent_path, prices.spot_path, prices.purchase_path), strict=True):
            paths.append(path(kinds, index))
    bands = (np.quantile(_offered(paths), QUANTILES, axis=0) for paths in drawn)
    return PriceBands(tuple(kind.name for kind in scenario.accelerators), days, worlds, *bands)


def _offered(paths: list[FloatArray]) -> FloatArray:
    """Prices [world, kind, point]; NaN where there is none, which is so in all worlds alike."""
    usd = np.array(paths)
    return np.where(np.isfinite(usd), usd, np.nan)
