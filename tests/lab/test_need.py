"""What is lacking, against the plain way to find it: every hour of every day with every error, in order."""

from __future__ import annotations

from math import inf
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.lab.need import Need
from simulator.laws.units import FloatArray

ERRORS = np.array(
    [[NormalDist().inv_cdf((number + (7 * hour % 24 + 0.5) / 24) / 8) for number in range(8)] for hour in range(24)]
)
"""24 hours x 8 errors of equal chance, shifted from hour to hour."""


def plainly_short_of(need: Need, quantile: float, hours: FloatArray) -> float:
    """As it was first written."""
    lacking = np.concatenate(
        [
            gpus * factor * np.exp(spread * (errors - spread / 2)) - committed
            for gpus, spread, committed in zip(need.gpus, need.spread, need.committed, strict=True)
            for factor, errors in zip(hours, ERRORS, strict=True)
        ]
    )
    return float(np.sort(lacking)[int(quantile * (lacking.size - 1))])


def some_need(rng: np.random.Generator, n_days: int, sigma: float) -> Need:
    gpus = rng.uniform(0, 1e5, n_days) * (rng.random(n_days) < 0.9)
    return Need(0, gpus, sigma * rng.random(n_days), rng.uniform(0, 8e4, n_days).round(), np.zeros(n_days), np.ones(2))


@given(
    st.integers(0, 10**6),
    st.integers(1, 15),
    st.sampled_from([0.01, 0.2, 1.0, 5.0]),
    st.sampled_from([0.0, 0.003, 0.05, 0.2, 0.57, 0.99, 1.0]),
)
def test_what_is_lacking_is_what_sorting_all_hours_and_errors_finds(
    seed: int, n_days: int, sigma: float, quantile: float
) -> None:
    rng = np.random.default_rng(seed)
    need, hours = some_need(rng, n_days, sigma), rng.uniform(0, 2, 24)
    hours[rng.integers(0, 24)] = 0.0
    expected = plainly_short_of(need, quantile, hours)
    found = need.short_of(quantile, hours)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert need.short_of(quantile, hours, found - 1.0) == found
    assert need.short_of(quantile, hours, found + 1.0) == -inf
    for most in (found - 2.0, found / 2.0, found + 1.0, 2.0 * found):
        assert need.short_of(quantile, hours, at_most=most) == min(found, most)
        for least in (found - 1.0, found / 3.0, found + 0.5):
            assert need.short_of(quantile, hours, least, most) == (min(found, most) if found >= least else -inf)


def test_a_forecast_without_spread_lacks_its_hours_alone() -> None:
    need = Need(0, np.array([100.0]), np.zeros(1), np.array([90.0]), np.zeros(1), np.ones(1))
    hours = np.tile([0.5, 1.5], 12)
    assert need.short_of(0.4, hours) == -40.0
    assert need.short_of(0.6, hours) == 60.0
    assert need.short_of(0.6, hours, 61.0) == -inf
    assert need.short_of(0.6, hours, at_most=59.0) == 59.0
