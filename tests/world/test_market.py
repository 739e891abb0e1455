"""Prices as declared, to the last digit, and drawn with the moments asked for. Nothing forces a fall."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from simulator.laws.units import FloatArray
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice
from simulator.world.market import (
    Commitment,
    MarketEvent,
    MarketInputs,
    PriceShocks,
    Quote,
    SpotWork,
)
from simulator.world.price_outlook import PriceOutlook, price_outlook
from simulator.world.prices import Prices, draw_prices

IndexArray = npt.NDArray[np.int64]
Read = Callable[[Prices, IndexArray], FloatArray]

MONDAY = date(2026, 6, 1)
FOUR_YEARS = 1461
CALENDAR = Calendar(MONDAY, history_days=20, horizon_days=FOUR_YEARS + 1, look_ahead_days=10)
DAY_0 = 20
SEED, REPLICATIONS, ERRORS = 20260601, 2_000, 4.0
NO_LUCK, NO_YEARS = np.zeros(1), np.zeros((1, 1))
"""Demand's growth has no part in these prices."""


def quote(**changes: object) -> Quote:
    return Quote.model_validate(
        {
            "accelerator": "H100",
            "on_demand_usd_per_gpu_hour": 2.89,
            "spot_usd_per_gpu_hour": 1.99,
            "purchase_usd_per_gpu": 25_000,
            "source": "a test",
            **changes,
        }
    )


def market(*quotes: Quote, **changes: object) -> MarketInputs:
    return MarketInputs.model_validate({"quote": quotes or (quote(),), **changes})


def outlook(inputs: MarketInputs) -> PriceOutlook:
    return price_outlook(inputs, inputs.quote, CALENDAR)


def drawn(inputs: MarketInputs, replication: int = 0, calendar: Calendar = CALENDAR) -> Prices:
    view, dice = price_outlook(inputs, inputs.quote, calendar), Dice(SEED, replication)
    return draw_prices(inputs, view, NO_LUCK, NO_YEARS, dice, calendar)


ALL_DAYS = np.arange(CALENDAR.n_days)


def rents(prices: Prices, days: IndexArray = ALL_DAYS, kind: int = 0) -> FloatArray:
    return prices.rent_path(kind, days)


def spots(prices: Prices, days: IndexArray = ALL_DAYS, kind: int = 0) -> FloatArray:
    return prices.spot_path(kind, days)


def purchases(prices: Prices, days: IndexArray = ALL_DAYS, kind: int = 0) -> FloatArray:
    return prices.purchase_path(kind, days)


# As declared -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fall", [0.15, 0.0, -0.1])
def test_rents_drift_by_the_year_and_may_rise(fall: float) -> None:
    view = outlook(market(rental_fall_per_year=fall))
    for prices, today in ((view.on_demand_usd_per_gpu_hour, 2.89), (view.spot_usd_per_gpu_hour, 1.99)):
        assert prices[0, DAY_0] == pytest.approx(today, rel=1e-12)
        assert prices[0, DAY_0 + FOUR_YEARS] == pytest.approx(today * (1 - fall) ** 4, rel=1e-12)
        steps = prices[0, DAY_0 + 1 :] / prices[0, DAY_0:-1]
        np.testing.assert_allclose(steps, (1 - fall) ** (1 / 365.25), rtol=1e-12)


def test_one_chips_own_price_falls_8_percent_a_year_by_default() -> None:
    # Epoch's 0.14 orders of magnitude a year run across generations and are not applied to one chip.
    view = outlook(market())
    assert view.purchase_usd_per_gpu[0, DAY_0] == pytest.approx(25_000, rel=1e-12)
    assert view.purchase_usd_per_gpu[0, DAY_0 + FOUR_YEARS] == pytest.approx(25_000 * 0.92**4, rel=1e-12)
    np.testing.assert_allclose(view.on_demand_usd_per_gpu_hour[0, DAY_0:], 2.89, rtol=1e-12)


def test_a_dated_event_changes_prices_from_its_day_on() -> None:
    # As the H100 did on spot: 7.74 -> 2.55 -> 6.33 in two years, here of all rents: two events, each lasting.
    events = (
        MarketEvent(day=MONDAY + timedelta(days=300), on_demand_factor=2.55 / 7.74),
        MarketEvent(day=MONDAY + timedelta(days=600), on_demand_factor=6.33 / 2.55, purchase_factor=1.5),
    )
    view = outlook(market(quote(on_demand_usd_per_gpu_hour=7.74), event=events, list_fall_per_year=0.0))
    asked = view.on_demand_usd_per_gpu_hour[0, DAY_0:]
    np.testing.assert_allclose(asked[:300], 7.74, rtol=1e-12)
    np.testing.assert_allclose(asked[300:600], 2.55, rtol=1e-12)
    np.testing.assert_allclose(asked[600:], 6.33, rtol=1e-12)
    np.testing.assert_allclose(view.spot_usd_per_gpu_hour[0, DAY_0:] / asked, 1.99 / 7.74, rtol=1e-12)
    np.testing.assert_allclose(view.purchase_usd_per_gpu[0, DAY_0 : DAY_0 + 600], 25_000, rtol=1e-12)
    np.testing.assert_allclose(view.purchase_usd_per_gpu[0, DAY_0 + 600 :], 37_500, rtol=1e-12)


def test_an_event_touches_the_kind_it_names() -> None:
    event = MarketEvent(day=MONDAY + timedelta(days=5), accelerator="B200", on_demand_factor=2.0)
    asked = outlook(market(quote(), quote(accelerator="B200"), event=(event,))).on_demand_usd_per_gpu_hour
    np.testing.assert_allclose(asked[0, DAY_0:], 2.89, rtol=1e-12)
    np.testing.assert_allclose(asked[1, DAY_0 + 5 :], 5.78, rtol=1e-12)


def test_what_is_not_on_offer_has_no_price() -> None:
    later = quote(accelerator="B200", available=MONDAY + timedelta(days=100))
    rented_only = quote(accelerator="A100", spot_usd_per_gpu_hour=None, purchase_usd_per_gpu=None)
    never = quote(accelerator="H200", available=MONDAY + timedelta(days=99_999))
    view = outlook(market(quote(), later, rented_only, never, rental_fall_per_year=0.2))
    asked = view.on_demand_usd_per_gpu_hour
    for prices in (asked, view.spot_usd_per_gpu_hour, view.purchase_usd_per_gpu):
        assert np.isinf(prices[1, : DAY_0 + 100]).all()
        assert np.isfinite(prices[1, DAY_0 + 100 :]).all()
        assert np.isinf(prices[3]).all()
        assert np.isfinite(prices[0, DAY_0:]).all()
    # A new kind costs what is quoted on its first day, not what had drifted by then.
    assert asked[1, DAY_0 + 100] == pytest.approx(2.89, rel=1e-12)
    assert np.isinf(view.spot_usd_per_gpu_hour[2]).all()
    assert np.isinf(view.purchase_usd_per_gpu[2]).all()
    assert view.available_day.tolist()[:3] == [0, 100, 0]


def test_a_negotiated_discount_multiplies_every_price() -> None:
    listed, paid = (drawn(market(negotiated_discount=discount)) for discount in (0.0, 0.35))
    for read in (rents, spots, purchases):
        np.testing.assert_allclose(read(paid)[DAY_0:], 0.65 * read(listed)[DAY_0:], rtol=1e-12)
    # Nobody negotiated with the power company.
    np.testing.assert_array_equal(paid.outlook.electricity_usd_per_kwh, listed.outlook.electricity_usd_per_kwh)


def test_electricity_follows_its_own_growth() -> None:
    power = outlook(market(electricity_usd_per_kwh=0.0826, electricity_growth_per_year=1.03)).electricity_usd_per_kwh
    assert power[DAY_0] == pytest.approx(0.0826, rel=1e-12)
    assert power[DAY_0 + FOUR_YEARS] == pytest.approx(0.0826 * 1.03**4, rel=1e-12)


def test_without_uncertainty_the_draw_is_the_declared_path() -> None:
    inputs = market(rental_fall_per_year=0.1)
    view, prices = outlook(inputs), drawn(inputs)
    np.testing.assert_array_equal(rents(prices), view.on_demand_usd_per_gpu_hour[0])
    np.testing.assert_array_equal(spots(prices), view.spot_usd_per_gpu_hour[0])
    np.testing.assert_array_equal(purchases(prices), view.purchase_usd_per_gpu[0])
    np.testing.assert_array_equal(prices.spot_availability, 0.8)
    np.testing.assert_array_equal(prices.purchase_lead_days, 90)


# As drawn --------------------------------------------------------------------------------------------------------


def test_a_days_price_is_that_of_its_path() -> None:
    inputs = market(quote(), quote(accelerator="B200"), rental_noise_sigma=0.2, purchase_noise_sigma=0.1)
    prices = drawn(inputs)
    for index in (0, DAY_0, DAY_0 + 77):
        days = np.array([index])
        assert prices.rents_on(index).tolist() == [rents(prices, days, kind)[0] for kind in (0, 1)]
        assert prices.purchases_on(index).tolist() == [purchases(prices, days, kind)[0] for kind in (0, 1)]
    # One kind a day.
    kinds, days = np.array([0, 1, 0]), np.array([DAY_0, DAY_0 + 1, DAY_0 + 2])
    assert prices.rent_path(kinds, days).tolist() == [
        prices.rents_on(int(day))[kind] for kind, day in zip(kinds, days, strict=True)
    ]


def sample(inputs: MarketInputs, read: Read, days: tuple[int, ...]) -> FloatArray:
    """[replication, day] of one price, divided by what is declared."""
    calendar = Calendar(MONDAY, 20, 400, 0)
    index = np.array([calendar.index(day) for day in days])
    paths = np.array([read(drawn(inputs, k, calendar), index) for k in range(REPLICATIONS)])
    certain = inputs.model_copy(
        update={"rental_noise_sigma": 0.0, "purchase_noise_sigma": 0.0, "rental_shocks": PriceShocks()}
    )
    return paths / read(drawn(certain, 0, calendar), index)


@pytest.mark.parametrize(
    ("read", "noise"),
    [(rents, "rental"), (spots, "rental"), (purchases, "purchase")],
    ids=["rents", "spot", "purchases"],
)
def test_noise_has_mean_one_its_own_spread_and_half_life(read: Read, noise: str) -> None:
    sigma = 0.25
    inputs = market(**{f"{noise}_noise_sigma": sigma, f"{noise}_noise_half_life_days": 30.0})
    factors = sample(inputs, read, (0, 15, 300, 330, 399))
    logs = np.log(factors)
    # Prices begin at their quotes; half a half-life later the variance is 1 - 1/2 of what it comes to.
    np.testing.assert_allclose(factors[:, 0], 1.0, rtol=1e-12)
    # Lognormal: relative variance e^(s^2) - 1; sd of n normals: relative error 1/sqrt(2 n).
    np.testing.assert_allclose(factors.mean(axis=0), 1.0, atol=ERRORS * np.sqrt(np.expm1(sigma**2) / REPLICATIONS))
    grown = np.array([0.5, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(logs[:, 1:].std(axis=0), sigma * np.sqrt(grown), rtol=ERRORS / np.sqrt(2 * REPLICATIONS))
    # A deviation has halved after 30 days: correlation 1/2, standard error (1 - 1/4)/sqrt(n).
    found = np.corrcoef(logs[:, 2], logs[:, 3])[0, 1]
    assert found == pytest.approx(0.5, abs=ERRORS * 0.75 / np.sqrt(REPLICATIONS))


def test_noise_does_not_force_a_fall() -> None:
    found = sample(market(rental_noise_sigma=0.2), rents, (0, 365))
    risen = (found[:, 1] > found[:, 0]).mean()
    # From the quote to a lognormal of mean one: above it with chance Phi(-sigma / 2).
    assert risen == pytest.approx(NormalDist().cdf(-0.1), abs=ERRORS * 0.5 / np.sqrt(REPLICATIONS))


def test_shocks_only_ever_raise_rents_and_leave_list_prices_alone() -> None:
    inputs = market(rental_shocks=PriceShocks(per_year=4.0, size=0.38, decay_days=150.0))
    view, prices = outlook(inputs), drawn(inputs)
    factor = rents(prices)[DAY_0:] / view.on_demand_usd_per_gpu_hour[0, DAY_0:]
    assert factor.min() >= 1.0 - 1e-12
    # On the day of a shock the rent jumps by 38 %, less what older ones fade that day; else it only fades.
    jumps = factor[1:] / factor[:-1]
    risen = jumps[jumps > 1.0 + 1e-12]
    assert 5 <= risen.size <= 30  # four a year for four years: 16 +- 4
    np.testing.assert_allclose(risen, 1.38, rtol=0.02)
    np.testing.assert_array_equal(purchases(prices), view.purchase_usd_per_gpu[0])


def test_shocks_of_rent_have_the_mean_of_their_closed_form() -> None:
    # As for demand: exp(rate x size x sum of decay^age) over the 20 days of past and 300 lived.
    shocks = PriceShocks(per_year=2.0, size=0.3, decay_days=180.0)
    factors = sample(market(rental_shocks=shocks), rents, (300,))[:, 0]
    expected = np.exp(2.0 / 365.25 * 0.3 * np.exp(-np.arange(321) / 180.0).sum())
    assert factors.mean() == pytest.approx(expected, abs=ERRORS * factors.std() / np.sqrt(REPLICATIONS))


def test_lead_times_are_drawn_by_quarter_around_their_median() -> None:
    inputs, calendar = market(lead_days=90.0, lead_sigma=0.4), Calendar(MONDAY, 0, 91 * 8, 0)
    leads = np.array([drawn(inputs, k, calendar).purchase_lead_days for k in range(REPLICATIONS)])
    assert leads.shape == (REPLICATIONS, 8)
    logs = np.log(leads)
    np.testing.assert_allclose(np.median(leads, axis=0), 90, rtol=ERRORS * 1.2533 * 0.4 / np.sqrt(REPLICATIONS))
    np.testing.assert_allclose(logs.std(axis=0), 0.4, rtol=ERRORS / np.sqrt(2 * REPLICATIONS))
    # One quarter says nothing about the next.
    found = np.corrcoef(logs[:, 0], logs[:, 1])[0, 1]
    assert abs(found) < ERRORS / np.sqrt(REPLICATIONS)


@pytest.mark.parametrize("mean", [0.0, 0.05, 0.8, 1.0])
@pytest.mark.parametrize("sigma", [0.0, 0.5, 5.0])
def test_spot_availability_is_a_share(mean: float, sigma: float) -> None:
    shares = drawn(market(spot_availability=mean, spot_availability_sigma=sigma)).spot_availability
    assert (shares >= 0.0).all()
    assert (shares <= 1.0).all()
    assert np.ptp(shares) > 0.0 or sigma == 0.0 or mean in (0.0, 1.0)


def test_spot_availability_is_what_was_asked_for_on_a_median_day() -> None:
    inputs = market(spot_availability=0.8, spot_availability_sigma=1.0)
    calendar = Calendar(MONDAY, 0, 10, 0)
    shares = np.array([drawn(inputs, k, calendar).spot_availability[5] for k in range(REPLICATIONS)])
    # The log-odds have sd 1, so the median has a standard error of sqrt(pi / 2 / n) log-odds.
    odds = np.log(np.median(shares) / (1 - np.median(shares)))
    assert odds == pytest.approx(np.log(4.0), abs=ERRORS * np.sqrt(np.pi / 2 / REPLICATIONS))


def test_a_longer_world_has_the_same_first_prices_to_the_last_bit() -> None:
    inputs = market(
        rental_fall_per_year=0.1,
        rental_noise_sigma=0.12,
        purchase_noise_sigma=0.05,
        rental_shocks=PriceShocks(per_year=1.0),
        spot_availability_sigma=0.5,
        lead_sigma=0.4,
        electricity_growth_per_year=1.02,
    )
    longest = drawn(inputs, calendar=Calendar(MONDAY, 20, 4000, 0))
    for horizon_days in (30, 100, 365, 700, 1826):
        found = drawn(inputs, calendar=Calendar(MONDAY, 20, horizon_days, 0))
        days = np.arange(20 + horizon_days)
        for read in (rents, spots, purchases):
            np.testing.assert_array_equal(read(found, days), read(longest, days), err_msg=f"{horizon_days} days")
        np.testing.assert_array_equal(found.spot_availability, longest.spot_availability[: days.size])
        np.testing.assert_array_equal(
            found.outlook.electricity_usd_per_kwh, longest.outlook.electricity_usd_per_kwh[: days.size]
        )
        np.testing.assert_array_equal(
            found.purchase_lead_days, longest.purchase_lead_days[: found.purchase_lead_days.size]
        )


@pytest.mark.parametrize(
    ("table", "fields", "says"),
    [
        (Quote, {"on_demand_usd_per_gpu_hour": -1.0}, "greater than 0"),
        (Quote, {"purchase_usd_per_gpu": 0.0}, "greater than 0"),
        (Commitment, {"term_days": 0, "discount": 0.1}, "greater than 0"),
        (Commitment, {"term_days": 365, "discount": 1.0}, "less than 1"),
        (MarketEvent, {"day": MONDAY, "on_demand_factor": 0.0}, "greater than 0"),
        (MarketInputs, {"quote": (), "rental_fall_per_year": 1.0}, "less than 1"),
        (MarketInputs, {"quote": (), "spot_availability": 1.1}, "less than or equal to 1"),
        (MarketInputs, {"quote": ()}, "at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(table: type, fields: dict[str, object], says: str) -> None:
    if table is Quote:
        fields = {"accelerator": "H100", "on_demand_usd_per_gpu_hour": 2.89, "source": "a test", **fields}
    with pytest.raises(ValidationError, match=says):
        table(**fields)


def test_sets_of_spot_work_are_equal_in_any_order_and_lose_their_share() -> None:
    quote = Quote(accelerator="H100", on_demand_usd_per_gpu_hour=2.0, source="a test")
    written = (["batch", "research"], ["research", "batch"])
    one, other = (MarketInputs.model_validate({"quote": (quote,), "spot_work": work}) for work in written)
    assert one.model_dump_json() == other.model_dump_json()
    assert '"spot_work":["batch","research"]' in one.model_dump_json()
    plain = MarketInputs(quote=(quote,), spot_lost_share=0.2)
    assert plain.spot_factor(SpotWork.RESEARCH) == pytest.approx(1.25)
    assert plain.spot_factor(SpotWork.BATCH) == np.inf
