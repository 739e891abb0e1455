"""Forecasts taken otherwise: a quantile, the mean alone, a wrong factor; and foresight inside them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from small_lab import plain_scenario
from strategies import observed

from simulator.lab.altered_forecast import Biased, Certain, Quantile
from simulator.lab.forecast import Expected, PerfectForesight, Trend, held_in
from simulator.lab.lab import Lab
from simulator.lab.observation import Observation
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.lab.seasonal import Seasonal
from simulator.study.files import load_scenario
from simulator.world.world import World, expected_rent, realize

DAYS = np.array([100, 130, 300, 700])


@pytest.fixture(scope="module")
def world() -> World:
    return realize(load_scenario("frontier_lab", ["horizon_days=400"]), 3)


@pytest.mark.parametrize("at", [0.05, 0.5, 0.9])
def test_a_quantile_is_that_of_the_lognormal(world: World, at: float) -> None:
    seen = observed(world, 100)
    mean, spread = Expected().ahead(seen, DAYS)
    planned, sure = Quantile(base=Expected(), at=at).ahead(seen, DAYS)
    np.testing.assert_allclose(planned, stats.lognorm.ppf(at, spread, scale=mean * np.exp(-(spread**2) / 2)), rtol=1e-9)
    assert not sure.any()


def test_a_bias_keeps_the_spread_and_certainty_keeps_the_mean(world: World) -> None:
    seen = observed(world, 100)
    mean, spread = Trend().ahead(seen, DAYS)
    tenfold, as_sure = Biased(base=Trend(), factor=10).ahead(seen, DAYS)
    np.testing.assert_array_equal(tenfold, 10 * mean)
    np.testing.assert_array_equal(as_sure, spread)
    same, sure = Certain(base=Trend()).ahead(seen, DAYS)
    np.testing.assert_array_equal(same, mean)
    assert not sure.any()


def test_foresight_is_bound_however_deep_it_lies(world: World) -> None:
    seen = observed(world, 100)
    forecast, rents = held_in(world, Certain(base=Biased(base=PerfectForesight(), factor=10)))
    mean, spread = forecast.ahead(seen, DAYS)
    np.testing.assert_array_equal(mean, 10 * world.demand_tokens[world.calendar.index(0) + DAYS])
    assert not spread.any()
    assert rents is None


def test_what_is_bound_to_one_world_does_not_bind_the_next(world: World) -> None:
    forecast = Biased(base=PerfectForesight(), factor=2)
    other = realize(world.scenario, 3, 1)
    for bound in (world, other, world):
        mean, _ = held_in(bound, forecast)[0].ahead(observed(bound, 100), DAYS)
        np.testing.assert_array_equal(mean, 2 * bound.demand_tokens[bound.calendar.index(0) + DAYS])
    with pytest.raises(ValueError, match="in_world"):
        forecast.ahead(observed(world, 100), DAYS)


# Prices foreseen -------------------------------------------------------------------------------------------------


def seen_by(world: World, forecast: object) -> Observation:
    return Lab(world, Policy("p", LeverRecipe(), RentOnDemand(), forecast)).observe()


@pytest.mark.parametrize("forecast", [Trend(), Expected(), PerfectForesight(), Seasonal()])
def test_prices_stay_unknown_unless_asked(world: World, forecast: object) -> None:
    seen = seen_by(world, forecast)
    assert seen.foreseen_rents is None
    drift = expected_rent(world.scenario, 30, 365)
    np.testing.assert_array_equal(seen.rents_ahead(30, 365), seen.on_demand_usd_per_gpu_hour * drift)


@pytest.mark.parametrize(
    "forecast", [PerfectForesight(prices=True), Biased(base=PerfectForesight(prices=True), factor=10)]
)
def test_rents_foreseen_are_the_means_of_the_worlds_own_days(world: World, forecast: object) -> None:
    seen = seen_by(world, forecast)
    calendar, last = world.calendar, world.calendar.n_days - 1
    for first_day, n_days in ((0, 90), (122, 365), (300, 900), (5000, 10), (10, 0)):
        days = [min(calendar.index(first_day + day), last) for day in range(max(n_days, 1))]
        by_day = np.mean([world.prices.rents_on(day) for day in days], axis=0)
        np.testing.assert_allclose(seen.rents_ahead(first_day, n_days), by_day, rtol=1e-12)
    late = [kind.name for kind in world.scenario.accelerators].index("B200+1")
    # On sale from day 245 on: a span that begins before has days without it.
    assert np.isinf(seen.rents_ahead(200, 100)[late])
    assert np.isfinite(seen.rents_ahead(245, 100)[late])


def test_who_foresees_prices_plans_with_a_cut_that_others_do_not_know_of() -> None:
    plain = plain_scenario()  # rents fall to 0.9 on day 1; the run takes days 0 and 1, service days 2 to 4
    scenario = plain.model_copy(update={"horizon_days": 5})
    (release,) = scenario.releases
    for forecast, training, serving in (
        (PerfectForesight(), 2.0, 2.0),
        (PerfectForesight(prices=True), 1.9, 1.8),
    ):
        seen = seen_by(realize(scenario), forecast)
        price = RentOnDemand().planning_price(seen, release, forecast)
        assert price.training_usd_per_gpu_hour[0] == pytest.approx(training)
        assert price.serving_usd_per_gpu_hour[0] == pytest.approx(serving)


def test_a_tenfold_wrong_forecast_runs_through_a_lab(world: World) -> None:
    def size(forecast: object) -> float:
        policy = Policy("p", LeverRecipe(levers=frozenset({"overtrain"})), RentOnDemand(), forecast)
        return Lab(world, policy).live().releases[0].choice.model.n_parameters

    # Who expects ten times the service overtrains further: a smaller model.
    right, over, under = (size(Biased(base=PerfectForesight(), factor=f)) for f in (1, 10, 0.1))
    assert right == size(PerfectForesight())
    assert over < right < under
