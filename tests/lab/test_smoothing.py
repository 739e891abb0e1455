"""Smoothed forecasts against the matrices of the state-space model, against statsmodels, and against what comes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from strategies import observed

from simulator.lab.forecast import LastValue
from simulator.lab.observation import Observation
from simulator.lab.smoothing import DampedTrend, Smoothed, Theta
from simulator.laws.units import FloatArray
from simulator.study.files import load_scenario
from simulator.world.world import Meter, MeterReading, realize

SERIES, DAYS, AHEAD = 20, 1005, 90
N_WEEKS = 104


@pytest.fixture(scope="module")
def seen() -> Observation:
    return observed(realize(load_scenario("frontier_lab", ["horizon_days=10"])))


def metered(seen: Observation, tokens: FloatArray) -> Observation:
    return replace(seen, day=tokens.size, meter=MeterReading(Meter(tokens), tokens.size))


def flat_weeks(logs: FloatArray) -> FloatArray:
    return np.repeat(np.exp(logs), 7)


def middles(n_days: int, weeks: FloatArray) -> FloatArray:
    """The middle day of each week ahead, counted like the days metered."""
    return n_days - 4 + 7 * weeks


def random_weeks(seed: int, n_weeks: int = N_WEEKS) -> FloatArray:
    dice = np.random.default_rng(seed)
    return 27.0 + np.cumsum(0.01 + 0.05 * dice.standard_normal(n_weeks))


def by_matrices(forecast: Smoothed, logs: FloatArray, ahead: int) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the logs of the next weeks, from x = F x + g e, y = w x + e and nothing else."""
    x_of = np.arange(logs.size)
    if isinstance(forecast, DampedTrend):
        d = forecast.damping
        step, see, take = (
            np.array([[1, d], [0, d]]),
            np.array([1, d]),
            np.array([forecast.level_weight, forecast.trend_weight]),
        )
        slope, start = np.polyfit(x_of[:8], logs[:8], 1)
        state = np.array([start - d * slope, slope])
    else:
        step, see, take = np.array([[1, 1], [0, 1]]), np.array([1, 1]), np.array([forecast.level_weight, 0.0])
        slope = np.polyfit(x_of, logs, 1)[0] / 2
        state = np.array([logs[0] - slope, slope])
    errors = []
    for y in logs:
        errors.append(y - see @ state)
        state = step @ state + take * errors[-1]
    sigma2 = np.sum(np.square(errors)) / logs.size
    kept = [(see @ np.linalg.matrix_power(step, j) @ take) ** 2 for j in range(ahead - 1)]
    mean = [see @ np.linalg.matrix_power(step, h) @ state for h in range(ahead)]
    return np.array(mean), sigma2 * (1 + np.concatenate(([0.0], np.cumsum(kept))))


@pytest.mark.parametrize(
    "forecast",
    [DampedTrend(), DampedTrend(level_weight=0.9, trend_weight=0.3, damping=0.8), DampedTrend(damping=0.999), Theta(),
     Theta(level_weight=0.1)],
    ids=["damped", "quick", "hardly damped", "theta", "slow theta"],
)  # fmt: skip
def test_mean_and_spread_are_those_of_the_state_space_model(seen: Observation, forecast: Smoothed) -> None:
    logs = random_weeks(1)
    weeks = np.arange(1, 53)
    mean, spread = forecast.ahead(metered(seen, flat_weeks(logs)), middles(7 * N_WEEKS, weeks))
    log_mean, variance = by_matrices(forecast, logs, 52)
    # Days alike within their week leave no variance within it: the spread is that of weeks alone.
    np.testing.assert_allclose(spread**2, variance, rtol=1e-9)
    np.testing.assert_allclose(np.log(mean) - spread**2 / 2, log_mean, rtol=1e-9)


def test_a_damped_trend_is_that_of_statsmodels(seen: Observation) -> None:
    holt = pytest.importorskip("statsmodels.tsa.holtwinters").Holt
    logs = random_weeks(2)
    slope, start = np.polyfit(np.arange(8), logs[:8], 1)
    theirs = holt(
        logs, damped_trend=True, initialization_method="known", initial_level=start - 0.97 * slope, initial_trend=slope
    ).fit(smoothing_level=0.5, smoothing_trend=0.05 / 0.5, damping_trend=0.97, optimized=False)
    mean, spread = DampedTrend().ahead(metered(seen, flat_weeks(logs)), middles(7 * N_WEEKS, np.arange(1, 53)))
    np.testing.assert_allclose(np.log(mean) - spread**2 / 2, theirs.forecast(52), rtol=1e-9)


@pytest.mark.parametrize("forecast", [DampedTrend(), Theta()], ids=["damped", "theta"])
def test_only_the_window_is_read(seen: Observation, forecast: Smoothed) -> None:
    tokens = flat_weeks(random_weeks(3, 120))
    days = tokens.size + np.arange(100)
    mean, spread = forecast.ahead(metered(seen, tokens), days)
    tokens[: 7 * (120 - 104)] = 5.0
    # Sums over the past leave a rounding error, no more.
    for was, now in zip((mean, spread), forecast.ahead(metered(seen, tokens), days), strict=True):
        np.testing.assert_allclose(was, now, rtol=1e-6)


def test_the_path_is_smooth_between_weeks(seen: Observation) -> None:
    tokens = flat_weeks(random_weeks(4))
    for forecast in (DampedTrend(), Theta()):
        mean, spread = forecast.ahead(metered(seen, tokens), tokens.size + np.arange(365))
        assert np.abs(np.diff(np.log(mean))).max() < 0.02
        assert (np.diff(spread) >= 0.0).all()


@pytest.mark.parametrize("per_day", [0.0162, 0.001, -0.003])
def test_plain_growth_is_seen_for_what_it_is(seen: Observation, per_day: float) -> None:
    tokens = 1e12 * np.exp(per_day * np.arange(56))
    days = 56 + np.arange(500)
    week = 7 * per_day
    # The middle of a week of growth lies a hair below its mean.
    middle = np.log(np.exp(per_day * np.arange(-3, 4)).mean())
    theta, spread = Theta().ahead(metered(seen, tokens), days)
    # Half the growth from the smoothed level on, which lags the other half behind, and no further than eight weeks.
    behind = sum(0.5**k for k in range(9)) * week / 2 - week / 2
    reach = np.minimum((days - 52) / 7, 8) * week / 2
    within = (per_day**2 * np.sum(np.arange(-3, 4) ** 2)) / 6
    weeks = spread**2 - within
    np.testing.assert_allclose(
        np.log(theta) - weeks / 2, np.log(1e12) + per_day * 52 + middle - behind + reach, atol=2e-3
    )
    damped, spread = DampedTrend().ahead(metered(seen, tokens), days)
    grown = (np.log(damped / tokens[-1]) - (spread**2 - within) / 2) / week
    # All the growth of late at first; in the end no more than d / (1 - d) = 32 weeks of it.
    assert grown[0] == pytest.approx(1 / 7, abs=0.5)
    assert 2.5 < grown[28] < 29 / 7
    assert 15.0 < grown[-1] < 0.97 / 0.03


def own_model(seed: int, forecast: Smoothed, n_weeks: int) -> FloatArray:
    """Logs of weeks drawn from the very model a forecast assumes, surprises of 5 %."""
    dice = np.random.default_rng(seed)
    level, trend, logs = 27.0, 0.01 if isinstance(forecast, DampedTrend) else 0.0, []
    damping, to_trend = (forecast.damping, forecast.trend_weight) if isinstance(forecast, DampedTrend) else (1.0, 0.0)
    for surprise in 0.05 * dice.standard_normal(n_weeks):
        logs.append(level + damping * trend + surprise)
        level += damping * trend + forecast.level_weight * surprise
        trend = damping * trend + to_trend * surprise
    return np.array(logs)


@pytest.mark.parametrize("forecast", [DampedTrend(), Theta()], ids=["damped", "theta"])
def test_nine_of_ten_lie_in_the_band_on_series_of_the_models_own(seen: Observation, forecast: Smoothed) -> None:
    n, weeks = 600, np.array([1, 4, 13])
    within = np.zeros((n, weeks.size), dtype=bool)
    for k in range(n):
        logs = own_model(k, forecast, N_WEEKS + 13)
        mean, spread = forecast.ahead(metered(seen, flat_weeks(logs[:N_WEEKS])), middles(7 * N_WEEKS, weeks))
        within[k] = np.abs(logs[N_WEEKS - 1 + weeks] - np.log(mean) + spread**2 / 2) < 1.6449 * spread
    # Three standard errors of 600 draws are 3.7 points; what is estimated from 104 weeks costs a little more.
    np.testing.assert_allclose(within.mean(axis=0), 0.9, atol=0.045)


def synthetic(seed: int) -> FloatArray:
    """1005 days: doubling or so a year, a wandering level that breaks once by 0.3, AR(1) noise, and weekdays."""
    dice, days = np.random.default_rng(seed), np.arange(DAYS)
    noise = np.zeros(DAYS)
    for day, step in enumerate(0.05 * dice.standard_normal(DAYS)):
        noise[day] = 0.7 * noise[day - 1] * (day > 0) + step
    growth = dice.normal(np.log(2) / 365, 0.4 * np.log(2) / 365)
    broken = np.where(days >= dice.integers(300, 850), dice.choice([-0.3, 0.3]), 0.0)
    return np.exp(27.0 + growth * days + np.cumsum(0.006 * dice.standard_normal(DAYS)) + noise + broken)


def test_both_beat_the_last_value_on_growing_series_with_a_break(seen: Observation) -> None:
    week = np.array([1.05, 1.08, 1.08, 1.06, 1.02, 0.85, 0.86])
    errors = {LastValue(): [], DampedTrend(): [], Theta(): []}
    days = np.arange(DAYS - AHEAD, DAYS)
    for seed in range(SERIES):
        plain = synthetic(seed)
        view = metered(seen, (plain * week[np.arange(DAYS) % 7])[:-AHEAD])
        for forecast, found in errors.items():
            found.append(np.abs(np.log(forecast.ahead(view, days)[0] / plain[-AHEAD:])).mean())
    last, damped, theta = (np.mean(found) for found in errors.values())
    assert damped < 0.8 * last
    assert theta < 0.8 * last


@pytest.mark.parametrize("forecast", [DampedTrend(), Theta()], ids=["damped", "theta"])
def test_odd_pasts_still_give_an_answer(seen: Observation, forecast: Smoothed) -> None:
    quiet, sudden = np.zeros(70), np.concatenate((np.zeros(60), np.full(80, 1e13)))
    for tokens in (quiet, sudden, np.full(14, 1e12), np.full(21, 1e12), np.geomspace(1.0, 1e20, 400)):
        mean, spread = forecast.ahead(metered(seen, tokens), tokens.size + np.array([0, 30, 1000]))
        assert np.isfinite(mean).all()
        assert np.isfinite(spread).all()
        assert (mean > 0.0).all()
    # Two weeks that are alike in all but noise: as unsure of the next week as the days were of each other.
    noisy = 1e12 * np.exp(0.1 * np.random.default_rng(5).standard_normal(14))
    assert 0.05 < forecast.ahead(metered(seen, noisy), np.array([17]))[1][0] < 0.5
