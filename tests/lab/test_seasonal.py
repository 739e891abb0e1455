"""Patterns of the week and of the year: learned where there are any, not where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from strategies import observed

from simulator.lab.forecast import LastValue, Trend
from simulator.lab.observation import Observation
from simulator.lab.seasonal import Seasonal
from simulator.lab.smoothing import DampedTrend, Theta
from simulator.laws.units import FloatArray
from simulator.study.files import load_scenario
from simulator.world.world import Meter, MeterReading, realize

WEEK = np.array([1.014, 1.059, 1.090, 1.066, 1.017, 0.870, 0.884])


@pytest.fixture(scope="module")
def seen() -> Observation:
    return observed(realize(load_scenario("frontier_lab", ["horizon_days=10"])))


def metered(seen: Observation, tokens: FloatArray) -> Observation:
    return replace(seen, day=tokens.size, meter=MeterReading(Meter(tokens), tokens.size))


def year(days: FloatArray, size: float) -> FloatArray:
    wave = np.exp(size * np.cos(2 * np.pi * days / 365.25))
    return wave / np.exp(size * np.cos(np.linspace(0, 2 * np.pi, 10_000))).mean()


@pytest.mark.parametrize("n_days", [14, 57, 100, 203])
def test_the_week_is_learned_and_its_mean_stays_the_bases(seen: Observation, n_days: int) -> None:
    tokens = 1e12 * WEEK[np.arange(n_days) % 7]
    days = n_days + np.arange(35)
    mean, spread = Seasonal(base=LastValue()).ahead(metered(seen, tokens), days)
    np.testing.assert_allclose(mean, 1e12 * WEEK[days % 7], rtol=1e-9)
    np.testing.assert_allclose(mean.reshape(-1, 7).mean(axis=1), 1e12, rtol=1e-9)
    # What repeats itself every week surprises nobody.
    assert spread.max() < 1e-6


@pytest.mark.parametrize("per_day", [0.0162, -0.003])
def test_growth_within_the_week_is_not_taken_for_a_pattern(seen: Observation, per_day: float) -> None:
    days = np.arange(100)
    tokens = 1e12 * np.exp(per_day * days) * WEEK[days % 7]
    ahead = 100 + np.arange(28)
    mean, _ = Seasonal(base=Trend()).ahead(metered(seen, tokens), ahead)
    np.testing.assert_allclose(mean, 1e12 * np.exp(per_day * ahead) * WEEK[ahead % 7], rtol=5e-3)


def test_the_base_is_spared_the_noise_of_weekdays(seen: Observation) -> None:
    tokens = 1e12 * WEEK[np.arange(200) % 7] * np.exp(0.01 * np.random.default_rng(1).standard_normal(200))
    for base in (Trend(), Theta(), DampedTrend()):
        plain, seasonal = (f.ahead(metered(seen, tokens), np.array([210]))[1][0] for f in (base, Seasonal(base=base)))
        assert plain > 0.05
        assert seasonal < 0.03


@pytest.mark.parametrize("size", [0.1, 0.3])
@pytest.mark.parametrize("n_days", [560, 800, 1500])
def test_a_plain_year_is_learned_from_a_year_and_a_half(seen: Observation, size: float, n_days: int) -> None:
    noise = np.exp(0.02 * np.random.default_rng(2).standard_normal(n_days))
    tokens = 1e12 * WEEK[np.arange(n_days) % 7] * year(np.arange(n_days), size) * noise
    days = n_days + np.arange(365)
    truth = 1e12 * WEEK[days % 7] * year(days, size)
    mean, _ = Seasonal(base=LastValue()).ahead(metered(seen, tokens), days)
    assert np.abs(np.log(mean / truth)).mean() < 0.03
    blind, _ = LastValue().ahead(metered(seen, tokens), days)
    assert np.abs(np.log(blind / truth)).mean() > 2 * np.abs(np.log(mean / truth)).mean()


def test_below_a_year_and_a_half_no_year_is_looked_for(seen: Observation) -> None:
    tokens = 1e12 * year(np.arange(540), 0.3)
    mean, _ = Seasonal(base=LastValue(), weeks=2).ahead(metered(seen, tokens), 540 + np.arange(365))
    # Seven values that repeat themselves, whatever the day of the year.
    np.testing.assert_allclose(mean[7:], mean[:-7], rtol=1e-9)


def test_where_there_is_no_year_hardly_any_is_seen(seen: Observation) -> None:
    # Growth that slows from fivefold a year to 1.2-fold, and noise that lasts: neither is a season.
    found = []
    for seed in range(30):
        dice, n_days = np.random.default_rng(seed), 900
        noise = np.zeros(n_days)
        for day, step in enumerate(0.05 * dice.standard_normal(n_days)):
            noise[day] = 0.7 * noise[day - 1] * (day > 0) + step
        growth = np.cumsum(np.linspace(np.log(5) / 365, np.log(1.2) / 365, n_days))
        tokens = 1e12 * np.exp(growth + noise)
        mean, _ = Seasonal(base=LastValue()).ahead(metered(seen, tokens), n_days + np.arange(364))
        found.append(np.ptp(np.log(mean.reshape(-1, 7).mean(axis=1))))
    # The waves of least squares, not shrunk, swing by 0.036 on average here.
    assert np.mean(found) < 0.015


def test_less_than_two_weeks_are_the_bases_affair(seen: Observation) -> None:
    view = metered(seen, np.full(13, 1e12))
    for here, there in zip(Seasonal().ahead(view, np.arange(20)), Theta().ahead(view, np.arange(20)), strict=True):
        np.testing.assert_array_equal(here, there)


def test_days_without_demand_still_give_an_answer(seen: Observation) -> None:
    for tokens in (np.zeros(30), np.concatenate((np.zeros(100), np.full(600, 1e12))), np.zeros(600)):
        mean, spread = Seasonal().ahead(metered(seen, tokens), tokens.size + np.arange(100))
        assert np.isfinite(mean).all()
        assert np.isfinite(spread).all()
