"""Drawn prices have the moments asked for, by Monte Carlo with a fixed seed.

Tolerances are four standard errors from the closed form of the variance: a right simulator fails one check in 16,000.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from small_lab import MONDAY, plain_scenario

from simulator.laws.units import FloatArray
from simulator.world.calendar import Calendar
from simulator.world.demand import Regime
from simulator.world.dice import Dice
from simulator.world.market import MarketInputs, Quote
from simulator.world.price_outlook import price_outlook
from simulator.world.prices import Prices, draw_prices
from simulator.world.scenario import Scenario
from simulator.world.world import World, realize

REPLICATIONS, ERRORS, SEED = 800, 4.0, 20260601
TWO_YEARS = 731
REGIME = Regime(start=MONDAY + timedelta(days=365), growth_per_year=1.5, growth_sigma=0.3)


def scenario(**changes: object) -> Scenario:
    """Two years, demand uncertain by 0.3 a year in each of two regimes, and no other noise than what is asked for."""
    plain = plain_scenario()
    quote = plain.market.quote[0].model_copy(update={"spot_usd_per_gpu_hour": 1.0})
    return plain.model_copy(
        update={
            "horizon_days": TWO_YEARS,
            "longest_term_days": 1,
            "demand": plain.demand.model_copy(
                update={"growth_per_year": 3.0, "growth_sigma": 0.3, "regime": (REGIME,)}
            ),
            "market": plain.market.model_copy(
                update={"event": (), "quote": (quote,), "commitment": plain.market.commitment[1:2], **changes}
            ),
        }
    )


def worlds(inputs: Scenario) -> list[World]:
    return [realize(inputs, SEED, replication) for replication in range(REPLICATIONS)]


def by_day(found: list[World], day: int) -> tuple[FloatArray, FloatArray]:
    """Logs of demand and of rent, by replication."""
    demand = np.log([world.demand_tokens[day] for world in found])
    return demand, np.log([world.prices.rents_on(day)[0] for world in found])


@pytest.mark.parametrize("rho", [-1.0, 0.0, 0.5])
def test_rents_are_tied_to_growth_as_declared(rho: float) -> None:
    found = worlds(scenario(rental_fall_sigma=0.2, growth_correlation=rho))
    # On day 300 one regime has been lived, on day 730 two with the same sigma: in both the logs correlate by rho.
    for day in (300, 730):
        demand, rent = by_day(found, day)
        # Standard error of a correlation of normals: (1 - rho^2) / sqrt(n).
        tied = np.corrcoef(demand, rent)[0, 1]
        assert tied == pytest.approx(rho, abs=ERRORS * (1 - rho**2) / np.sqrt(REPLICATIONS) + 1e-9), day


def test_an_uncertain_drift_has_mean_one_and_grows_by_the_regime() -> None:
    sigma, fall = 0.2, 0.1
    found = worlds(scenario(rental_fall_sigma=sigma, rental_fall_per_year=fall, growth_correlation=0.5))
    for day, years in ((0, (0.0, 0.0)), (300, (300 / 365.25, 0.0)), (730, (365 / 365.25, 365 / 365.25))):
        declared = 2.0 * (1 - fall) ** (day / 365.25)
        spread = sigma * np.hypot(*years)
        rents = np.exp(by_day(found, day)[1])
        error = declared * np.sqrt(np.expm1(spread**2) / REPLICATIONS)
        assert rents.mean() == pytest.approx(declared, abs=ERRORS * error + 1e-12), day
        # The sd of n normals has a relative error of 1/sqrt(2 n).
        assert np.log(rents).std() == pytest.approx(spread, rel=ERRORS / np.sqrt(2 * REPLICATIONS), abs=1e-12), day
    # The two regimes have luck of their own: the second year's drift says nothing of the first's.
    year = by_day(found, 365)[1]
    later = by_day(found, 730)[1] - year
    assert abs(np.corrcoef(year, later)[0, 1]) < ERRORS / np.sqrt(REPLICATIONS)


def draw(replication: int, **changes: object) -> Prices:
    quote = Quote(accelerator="H100", on_demand_usd_per_gpu_hour=2.0, spot_usd_per_gpu_hour=1.0, source="a test")
    market = MarketInputs.model_validate({"quote": (quote,), **changes})
    calendar = Calendar(date(2026, 6, 1), 0, 400, 0)
    view = price_outlook(market, market.quote, calendar)
    return draw_prices(market, view, np.zeros(1), np.zeros((1, 1)), Dice(SEED, replication), calendar)


@pytest.mark.parametrize("what", ["spot", "electricity"])
def test_spot_and_power_have_noise_of_their_own(what: str) -> None:
    sigma, days = 0.3, (0, 15, 300, 330)
    changes = {f"{what}_noise_sigma": sigma, f"{what}_noise_half_life_days": 30.0}
    drawn = [draw(replication, **changes) for replication in range(REPLICATIONS)]
    if what == "spot":
        factors = np.array([[prices.spots_on(day)[0] for day in days] for prices in drawn])
    else:
        factors = np.array([prices.electricity_usd_per_kwh[list(days)] for prices in drawn]) / 0.0826
    logs = np.log(factors)
    # Known on day 0; variance 1 - 1/2 of what it comes to after half a half-life (15 days); mean one throughout.
    np.testing.assert_allclose(factors[:, 0], 1.0, rtol=1e-12)
    np.testing.assert_allclose(factors.mean(axis=0), 1.0, atol=ERRORS * np.sqrt(np.expm1(sigma**2) / REPLICATIONS))
    spread = sigma * np.sqrt([0.5, 1.0, 1.0])
    np.testing.assert_allclose(logs[:, 1:].std(axis=0), spread, rtol=ERRORS / np.sqrt(2 * REPLICATIONS))
    # Correlation 1/2 over a half-life; its standard error is (1 - 1/4)/sqrt(n).
    tied = np.corrcoef(logs[:, 2], logs[:, 3])[0, 1]
    assert tied == pytest.approx(0.5, abs=ERRORS * 0.75 / np.sqrt(REPLICATIONS))
    for prices in drawn[:3]:
        assert prices.rents_on(300)[0] == 2.0  # nothing else moves


def test_power_moves_as_much_from_month_to_month_as_the_starter_says() -> None:
    # sd of the log change over one half-life of 30 days: sigma sqrt(2 (1 - 1/2)) = sigma, US wholesale 0.30.
    drawn = [draw(replication, electricity_noise_sigma=0.30) for replication in range(REPLICATIONS)]
    change = [np.log(prices.electricity_usd_per_kwh[330] / prices.electricity_usd_per_kwh[300]) for prices in drawn]
    assert np.std(change) == pytest.approx(0.30, rel=ERRORS / np.sqrt(2 * REPLICATIONS))


@pytest.mark.parametrize("persistence", [0.0, 0.5, 0.9])
def test_spot_availability_persists_as_declared(persistence: float) -> None:
    drawn = [
        draw(replication, spot_availability_sigma=1.0, spot_availability_persistence=persistence)
        for replication in range(REPLICATIONS)
    ]
    shares = np.array([prices.spot_availability[[100, 101]] for prices in drawn])
    odds = np.log(shares / (1 - shares))
    found = np.corrcoef(odds[:, 0], odds[:, 1])[0, 1]
    assert found == pytest.approx(persistence, abs=ERRORS * (1 - persistence**2) / np.sqrt(REPLICATIONS))
    assert odds.std() == pytest.approx(1.0, rel=ERRORS / np.sqrt(2 * REPLICATIONS))


def test_lead_times_are_lognormal() -> None:
    # Median 90, sigma 0.4: mean 90 e^0.08 = 97.5, relative variance e^0.16 - 1; rounding to days adds 1/12 at most.
    leads = np.array([draw(replication, lead_sigma=0.4).purchase_lead_days[0] for replication in range(REPLICATIONS)])
    mean = 90 * np.exp(0.08)
    assert leads.mean() == pytest.approx(mean, abs=ERRORS * mean * np.sqrt(np.expm1(0.16) / REPLICATIONS))
    logs = np.log(leads)
    third = ((logs - logs.mean()) ** 3).mean() / logs.std() ** 3
    assert abs(third) < ERRORS * np.sqrt(6 / REPLICATIONS)  # the log is not skewed
    # One in forty takes longer than 90 e^(1.96 x 0.4) = 197 days.
    beyond = (leads > 90 * np.exp(1.96 * 0.4)).mean()
    assert beyond == pytest.approx(0.025, abs=ERRORS * np.sqrt(0.025 * 0.975 / REPLICATIONS))
