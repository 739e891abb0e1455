"""The fit of logs against dense matrices, textbook formulas and simulated noise of known persistence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.laws.units import FloatArray
from simulator.study.log_fit import correlation, f_test, fit_logs, whitened
from simulator.world.dice import autoregression


def weekly(n: int, *, seed: int) -> tuple[FloatArray, FloatArray]:
    """A design with a line and six weekdays, and logs of pure noise."""
    days = np.arange(n)
    dummies = (days[:, None] % 7 == np.arange(1, 7)).astype(np.float64)
    design = np.column_stack([np.ones(n), days.astype(np.float64), dummies])
    return design, autoregression(np.random.default_rng(seed).standard_normal(n), 0.7, 0.07)


@given(seed=st.integers(0, 1000), n=st.integers(20, 90))
@settings(max_examples=25, deadline=None)
def test_errors_are_those_of_the_dense_ar1_covariance(seed: int, n: int) -> None:
    design, logs = weekly(n, seed=seed)
    fit = fit_logs(logs, design)
    rho = fit.noise.ar1_corrected.value
    correlations = rho ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    inverse = np.linalg.inv(design.T @ design)
    left_over = np.eye(n) - design @ inverse @ design.T
    variance = float(fit.residuals @ fit.residuals) / np.trace(left_over @ correlations)
    assert fit.noise.sd_corrected.value == pytest.approx(np.sqrt(variance), rel=1e-6)
    dense = variance * inverse @ design.T @ correlations @ design @ inverse
    assert np.diag(fit.covariance) == pytest.approx(np.diag(dense), rel=1e-6)


def test_the_mean_of_four_days_by_hand() -> None:
    fit = fit_logs(np.array([1.0, 2.0, 4.0, 5.0]), np.ones((4, 1)))
    assert fit.coefficients == pytest.approx([3.0])
    assert fit.residuals == pytest.approx([-2.0, -1.0, 1.0, 2.0])
    assert fit.noise.sd == pytest.approx(np.sqrt(10 / 3))
    # successive residuals (-2, -1), (-1, 1), (1, 2): means -2/3 and 2/3, products 9/3, squares 14/3 and 14/3
    r = (3 + 4 / 3) / (14 / 3)
    assert fit.noise.ar1.value == pytest.approx(r)


def test_whitening_leaves_the_independent_normals() -> None:
    normals = np.random.default_rng(3).standard_normal(50)
    noise = autoregression(normals, 0.8, 2.0)
    assert whitened(noise, 0.8) == pytest.approx(2.0 * 0.6 * normals)


def test_ordinary_errors_would_be_three_times_too_small() -> None:
    """Slopes of pure noise with persistence 0.7 stray from 0 as the fit says, not as least squares says."""
    z, naive = [], []
    for seed in range(400):
        design, logs = weekly(100, seed=seed)
        fit = fit_logs(logs, design)
        slope, ordinary = fit.coefficients[1], fit.noise.sd * np.sqrt(np.linalg.inv(design.T @ design)[1, 1])
        z.append(slope / np.sqrt(fit.covariance[1, 1]))
        naive.append(slope / ordinary)
    # 5 % outside 1.96 with a standard error of 1.1 points over 400; asymptotically (1 + r) / (1 - r) = 2.4 ** 2
    assert np.mean(np.abs(z) > 1.96) < 0.05 + 4 * 0.011
    assert 1.9 < np.std(naive) < 2.9


def test_corrections_take_out_most_of_the_bias_of_a_short_trace() -> None:
    noises = [fit_logs(*reversed(weekly(60, seed=seed))).noise for seed in range(400)]
    plain, corrected = (np.mean([getattr(n, name).value for n in noises]) for name in ("ar1", "ar1_corrected"))
    assert plain < 0.65
    assert corrected == pytest.approx(0.7, abs=0.03)
    assert np.mean([n.sd for n in noises]) < 0.067
    assert np.sqrt(np.mean([n.sd_corrected.value**2 for n in noises])) == pytest.approx(0.07, rel=0.06)


def test_a_weekday_test_of_noise_is_wrong_as_often_as_it_says() -> None:
    p_values = []
    for seed in range(400):
        design, logs = weekly(60, seed=seed)
        p_values.append(f_test(logs, design, 6, fit_logs(logs, design).noise.ar1_corrected.value))
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=4 * 0.011)
    assert np.mean(np.array(p_values) < 0.5) == pytest.approx(0.5, abs=4 * 0.025)


def test_without_noise_nothing_is_made_of_rounding() -> None:
    design, _ = weekly(40, seed=0)
    logs = design @ np.array([30.0, 0.01, 0.1, 0.1, 0.1, 0.0, -0.2, -0.2])
    noise = fit_logs(logs, design).noise
    assert (noise.sd, noise.ar1_corrected.value, noise.sd_corrected.value) == (0.0, 0.0, 0.0)
    assert f_test(logs, design, 6, 0.0) == 0.0
    assert f_test(design[:, :2] @ np.array([30.0, 0.01]), design, 6, 0.0) == 1.0


def test_correlation_of_a_zigzag() -> None:
    assert correlation(np.array([1.0, -1.0, 1.0, -1.0, 1.0])) == pytest.approx(-1.0)
