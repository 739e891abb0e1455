"""Forecasts: exact where demand is simple, blind to what has not happened, and never at a loss for an answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from strategies import observed

from simulator.lab.altered_forecast import Biased, Certain, Quantile
from simulator.lab.forecast import Expected, Forecast, KnownDemand, LastValue, PerfectForesight, Trend, held_in
from simulator.lab.seasonal import Seasonal
from simulator.lab.smoothing import DampedTrend, Theta
from simulator.laws.units import FloatArray
from simulator.study.files import load_scenario
from simulator.world.scenario import Scenario
from simulator.world.world import Meter, World, realize

LEARNED = [LastValue(), Trend(), DampedTrend(), Theta(), Seasonal(), Seasonal(base=Trend())]
FORECASTS = [*LEARNED, Expected(), Biased(factor=2), Quantile(at=0.9), Certain(base=Biased(base=Seasonal(), factor=2))]
NAMES = ["last", "trend", "damped", "theta", "seasonal", "seasonal trend", "expected", "biased", "quantile", "certain"]
FORESIGHT = [PerfectForesight(), Biased(base=PerfectForesight(), factor=0.1)]
FORESIGHT_NAMES = ["foresight", "biased foresight"]
TODAY = 100
AHEAD = TODAY + np.array([0, 1, 7, 30, 90, 365, 700])


@pytest.fixture(scope="module")
def frontier() -> Scenario:
    return load_scenario("frontier_lab", ["horizon_days=400"])


def with_demand(world: World, tokens: FloatArray) -> World:
    return replace(world, demand_tokens=tokens, meter=Meter(tokens))


def exponential(world: World, per_day: float) -> FloatArray:
    return 1e12 * np.exp(per_day * world.calendar.days)


@pytest.mark.parametrize("per_day", [0.0162, 0.001, 0.0, -0.003])
@pytest.mark.parametrize("carry", [1.0, 0.25, 0.0])
def test_a_trend_is_exact_on_plain_growth_as_far_as_it_was_seen(
    frontier: Scenario, per_day: float, carry: float
) -> None:
    world = realize(frontier)
    seen = observed(with_demand(world, exponential(world, per_day)), TODAY)
    # 156 days were metered by day 100: 22 whole weeks, 154 days.
    reach = int(carry * 154)
    days = TODAY + np.arange(0, 500)
    mean, spread = Trend(carry=carry).ahead(seen, days)
    last_known = TODAY - 1
    held = np.minimum(days, last_known + carry * 154)
    np.testing.assert_allclose(mean, 1e12 * np.exp(per_day * held), rtol=1e-6)
    assert (mean[reach:] == mean[-1]).all()
    # What lies on a line exactly leaves nothing to spread.
    assert spread.max() < 1e-3


def test_a_trend_learns_from_its_window_alone(frontier: Scenario) -> None:
    world = realize(frontier)
    tokens = exponential(world, 0.01)
    tokens[: world.calendar.index(TODAY - 28)] = 5.0
    seen = observed(with_demand(world, tokens), TODAY)
    days = TODAY + np.arange(20)
    np.testing.assert_allclose(Trend(window_days=28).ahead(seen, days)[0], 1e12 * np.exp(0.01 * days), rtol=1e-6)


def test_the_spread_of_a_trend_is_that_of_a_regression(frontier: Scenario) -> None:
    # Textbook prediction variance: s^2 (1 + 1/n + (x - mean x)^2 / Sxx), from numpy's own fit.
    world = realize(frontier, 4)
    seen = observed(world, TODAY)
    x = np.arange(154)
    logs = np.log(seen.past_tokens[-154:])
    slope, intercept = np.polyfit(x, logs, 1)
    s2 = ((logs - intercept - slope * x) ** 2).sum() / (154 - 2)
    at = 153 + (AHEAD - (TODAY - 1))
    expected = np.sqrt(s2 * (1 + 1 / 154 + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()))
    np.testing.assert_allclose(Trend().ahead(seen, AHEAD)[1], expected, rtol=1e-6)


def test_last_value_is_the_mean_of_four_weeks_for_ever(frontier: Scenario) -> None:
    world = realize(frontier, 4)
    seen = observed(world, TODAY)
    mean, spread = LastValue().ahead(seen, AHEAD)
    np.testing.assert_allclose(mean, seen.past_tokens[-28:].mean(), rtol=1e-9)
    assert (np.diff(spread) > 0.0).all()
    # A spread that widens as the square root of the distance from the last metered day.
    distance = AHEAD - (TODAY - 1)
    np.testing.assert_allclose(spread / spread[0], np.sqrt(distance / distance[0]), rtol=1e-9)


def test_expected_is_what_the_scenario_declares(frontier: Scenario) -> None:
    mean, spread = Expected().ahead(observed(realize(frontier, 4, 2), TODAY), AHEAD)
    view, calendar = frontier.demand_outlook, frontier.calendar
    for place, day in enumerate(AHEAD):
        assert mean[place] == view.tokens[calendar.index(int(day))]
        assert spread[place] == view.log_sd[calendar.index(int(day))]


def test_known_demand_is_the_worlds(frontier: Scenario) -> None:
    world = realize(frontier, 4, 2)
    mean, spread = PerfectForesight().in_world(world).ahead(observed(world, TODAY), AHEAD)
    np.testing.assert_array_equal(mean, world.demand_tokens[world.calendar.index(0) + AHEAD])
    np.testing.assert_array_equal(spread, 0.0)


def test_foresight_without_a_world_says_so(frontier: Scenario) -> None:
    with pytest.raises(ValueError, match="in_world"):
        PerfectForesight().ahead(observed(realize(frontier), TODAY), AHEAD)


@pytest.mark.parametrize("forecast", FORECASTS, ids=NAMES)
def test_none_sees_the_future(frontier: Scenario, forecast: Forecast) -> None:
    world = realize(frontier, 4, 2)
    other = world.demand_tokens.copy()
    other[world.calendar.index(TODAY) :] *= np.linspace(3.0, 50.0, other.size - world.calendar.index(TODAY))
    for here, there in zip(
        forecast.ahead(observed(world, TODAY), AHEAD),
        forecast.ahead(observed(with_demand(world, other), TODAY), AHEAD),
        strict=True,
    ):
        np.testing.assert_array_equal(here, there)


def test_what_is_observed_holds_nothing_of_the_future(frontier: Scenario) -> None:
    # The meter ends with yesterday: a policy that asks it for tomorrow gets no answer.
    world = realize(frontier, 4, 2)
    seen = observed(world, TODAY)
    assert seen.past_tokens.size == world.calendar.index(TODAY)
    with pytest.raises((IndexError, ValueError)):
        seen.meter.mean(seen.past_tokens.size, seen.past_tokens.size + 7)


@pytest.mark.parametrize("history_days", [0, 1, 13])
@pytest.mark.parametrize("forecast", [*FORECASTS, *FORESIGHT], ids=[*NAMES, *FORESIGHT_NAMES])
def test_a_lab_without_a_past_still_has_a_forecast(frontier: Scenario, forecast: Forecast, history_days: int) -> None:
    world = realize(frontier.model_copy(update={"history_days": history_days}))
    bound, _ = held_in(world, forecast)
    days = np.arange(0, 400)
    mean, spread = bound.ahead(observed(world, 0), days)
    assert mean.shape == spread.shape == days.shape
    assert np.isfinite(mean).all()
    assert np.isfinite(spread).all()
    assert (mean > 0.0).all()
    if forecast in LEARNED:
        # Less than two weeks metered: the level the scenario opens with, and a spread that owns up to it.
        np.testing.assert_array_equal(mean, 5.0e12)
        assert (spread >= 0.3).all()


@pytest.mark.parametrize("forecast", [*FORECASTS, *FORESIGHT], ids=[*NAMES, *FORESIGHT_NAMES])
def test_beyond_the_worlds_last_day_a_forecast_still_answers(frontier: Scenario, forecast: Forecast) -> None:
    world = realize(frontier)
    bound, _ = held_in(world, forecast)
    mean, spread = bound.ahead(observed(world, TODAY), np.array([5_000, 50_000]))
    assert np.isfinite(mean).all()
    assert np.isfinite(spread).all()


def test_the_forecast_of_noise_of_mean_one_has_the_mean(frontier: Scenario) -> None:
    # Flat demand, noise of log sd 0.5: the mean of 200 trends of 182 days is the level, not its median e^(-1/8).
    demand = frontier.demand.model_copy(
        update={
            "history_growth_per_year": 1.0,
            "growth_per_year": 1.0,
            "regime": (),
            "noise_sigma": 0.5,
            "noise_persistence": 0.0,
            "weekday_factors": (1.0,) * 7,
            "shocks": frontier.demand.shocks.model_copy(update={"per_year": 0.0}),
        }
    )
    scenario = frontier.model_copy(update={"demand": demand, "history_days": 182, "start": date(2026, 6, 1)})
    found = np.array([Trend().ahead(observed(realize(scenario, 1, k), 0), np.array([0]))[0][0] for k in range(200)])
    assert found.mean() == pytest.approx(5.0e12, abs=4 * found.std() / np.sqrt(200))


def test_known_demand_needs_no_meter(frontier: Scenario) -> None:
    world = realize(frontier.model_copy(update={"history_days": 0}))
    assert KnownDemand(world).ahead(observed(world, 0), np.array([0]))[0][0] == world.demand_tokens[0]
