"""Bends of growth: rarely made up of noise that lasts, found where they are, and the best by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.laws.units import FloatArray
from simulator.study.regimes import LEAST_REGIME_DAYS, bends, hinges
from simulator.world.dice import autoregression


def line(n: int) -> FloatArray:
    return np.column_stack([np.ones(n), np.arange(float(n))])


def noise(n: int, seed: int, persistence: float = 0.7) -> FloatArray:
    return autoregression(np.random.default_rng(seed).standard_normal(n), persistence, 0.07)


@pytest.mark.parametrize(("n_days", "persistence"), [(90, 0.0), (90, 0.7), (200, 0.7), (200, 0.85)])
def test_noise_that_lasts_rarely_invents_a_regime(n_days: int, persistence: float) -> None:
    invented = sum(bool(bends(noise(n_days, seed, persistence), line(n_days))) for seed in range(100))
    assert invented <= 10  # measured over 200: 0.5, 2, 2 and 5 %


def test_two_bends_are_found_where_they_are() -> None:
    days = np.arange(360.0)
    truth = 0.01 * days - 0.009 * np.maximum(days - 120, 0) + 0.006 * np.maximum(days - 240, 0)
    found = [bends(truth + noise(360, seed), line(360)) for seed in range(20)]
    right = [pair for pair in found if len(pair) == 2]
    assert len(right) >= 17
    for at, day in enumerate((120, 240)):
        assert np.mean([pair[at].day for pair in right]) == pytest.approx(day, abs=8)
        assert sum(pair[at].earliest <= day <= pair[at].latest for pair in right) >= 0.75 * len(right)


def test_one_bend_without_noise_is_exact() -> None:
    truth = line(150) @ np.array([20.0, 0.01]) + hinges(150, np.array([70])) @ np.array([-0.008])
    wobble = 1e-6 * np.random.default_rng(0).standard_normal(150)
    (found,) = bends(truth + wobble, line(150))
    assert found.earliest <= found.day == 70 <= found.latest


def test_the_best_bend_is_that_of_brute_force() -> None:
    """With independent noise, whitening changes little: the least sum of squares over all days wins."""
    n = 120
    logs = 0.02 * np.maximum(np.arange(n) - 55.0, 0.0) + 0.07 * np.random.default_rng(4).standard_normal(n)
    sums = {}
    for day in range(LEAST_REGIME_DAYS, n - LEAST_REGIME_DAYS + 1):
        design = np.column_stack([line(n), hinges(n, np.array([day]))])
        sums[day] = float(np.linalg.lstsq(design, logs, rcond=None)[1][0])
    (found,) = bends(logs, line(n))
    assert found.day == pytest.approx(min(sums, key=sums.__getitem__), abs=2)


def test_every_regime_lasts_six_weeks_and_short_traces_have_one() -> None:
    days = np.arange(400.0)
    found = bends(0.05 * np.sin(days / 15.0) * days / 50.0 + noise(400, 1, 0.2), line(400))
    edges = [0, *(bend.day for bend in found), 400]
    assert len(found) >= 1
    assert min(np.diff(edges)) >= LEAST_REGIME_DAYS
    assert bends(np.arange(83.0) ** 2, line(83)) == ()
    assert bends(np.zeros(200), line(200)) == ()
