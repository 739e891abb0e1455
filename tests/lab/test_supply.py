"""Limits of supply, records of price and the price of power, as a lab lives them: days worked out by hand.

10,000 tokens a second need 5 GPUs for twelve hours and 15 for the other twelve: 240 GPU-hours a day.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from small_lab import MONDAY, TOKENS_PER_DAY, FixedOrders, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.orders import Tenure
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.world.market import PriceReplay
from simulator.world.roadmap import ReleaseInputs
from simulator.world.scenario import Scenario


def lab(horizon_days: int = 4, releases: tuple[ReleaseInputs, ...] = (), **quote: object) -> Scenario:
    """The plain scenario without its cut of prices, its one quote changed."""
    plain = plain_scenario()
    quoted = plain.market.quote[0].model_copy(update=quote)
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": (), "quote": (quoted,)}),
            "roadmap": plain.roadmap.model_copy(update={"release": releases}),
        }
    )


def live(scenario: Scenario, procurement: Procurement | None = None) -> Run:
    return simulate(scenario, Policy("by hand", FixedRecipe(), procurement or RentOnDemand(), Expected()))


@pytest.mark.parametrize(
    ("limit", "cap", "rented_hours"),
    [
        (None, None, 12 * (5 + 15)),
        (15.0, None, 12 * (5 + 15)),
        (10.0, None, 12 * (5 + 10)),
        (10.0, 8.0, 12 * (5 + 8)),
        (8.0, 10.0, 12 * (5 + 8)),
        (3.0, None, 12 * (3 + 3)),
        (0.0, None, 0),
    ],
)
def test_serving_rents_no_more_than_there_is_and_the_rest_goes_unserved(
    limit: float | None, cap: float | None, rented_hours: float
) -> None:
    run = live(lab(on_demand_limit_gpus=limit), RentOnDemand(cap_gpus=cap))
    np.testing.assert_allclose(run.used.serving_rented_hours, rented_hours)
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY * rented_hours / 240)
    np.testing.assert_allclose(run.books.cash_usd[:, Account.ON_DEMAND], 2.0 * rented_hours)


def test_what_is_held_comes_before_the_limit() -> None:
    # Eight leased: five of them do in the quiet hours; in the busy ones all eight and the four that can be rented.
    run = live(lab(on_demand_limit_gpus=4.0), FixedOrders(reserves=(8,)))
    np.testing.assert_allclose(run.used.serving_sunk_hours.sum(axis=0), 12 * (5 + 8))
    np.testing.assert_allclose(run.used.serving_rented_hours, 12 * 4)
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY * (5 + 12) / 20)


def test_a_limit_grows_by_the_year() -> None:
    # Five GPUs growing fourfold a year are ten after half a year.
    run = live(lab(horizon_days=367, on_demand_limit_gpus=5.0, limit_growth_per_year=4.0))
    grown = 5.0 * 4.0 ** (np.array([0, 91, 183, 366]) / 365.25)
    busy = np.minimum(grown, 15.0)
    np.testing.assert_allclose(run.used.serving_rented_hours[[0, 91, 183, 366]], 12 * (5 + busy))


def test_training_is_not_limited_by_what_can_be_rented_for_serving() -> None:
    release = (ReleaseInputs(name="next", due=MONDAY + timedelta(days=2)),)
    scarce = live(lab(releases=release, on_demand_limit_gpus=1.0))
    np.testing.assert_allclose(scarce.used.training_rented_hours[0], [96, 48, 0, 0])


def test_orders_are_cut_to_what_the_quarter_has_left() -> None:
    scenario = lab(horizon_days=200, purchase_limit_gpus_per_quarter=10.0)
    run = live(scenario, FixedOrders(on_days=(0, 30, 60, 90, 91, 182), buys=(8,)))
    bought = [order for order in run.orders if order.tenure is Tenure.OWNED]
    assert [order.day for order in bought] == [0, 30, 60, 90, 91, 182]
    assert [order.gpus for order in bought] == [8, 2, 0, 0, 8, 8]
    cut = "as planned; 8 asked, cut to what the quarter had left"
    assert [order.reason for order in bought] == ["as planned", cut, cut, cut, "as planned", "as planned"]
    assert bought[1].usd == pytest.approx(2 * 10_000 * 1.5 / 0.75)
    assert bought[2].usd == 0.0
    # A day from order to service; nothing arrives of what was not to be had.
    np.testing.assert_array_equal(run.used.owned_gpus[0][[0, 1, 31, 61, 91, 92, 183]], [0, 8, 10, 10, 10, 18, 26])


def test_a_limit_that_was_never_large_enough_for_one() -> None:
    run = live(lab(purchase_limit_gpus_per_quarter=0.5), FixedOrders(buys=(8,)))
    assert [order.gpus for order in run.orders] == [0]
    assert run.books.cash_usd[:, Account.PURCHASE].sum() == 0.0
    assert run.used.owned_gpus.sum() == 0.0


def test_a_recorded_fall_is_noticed_on_its_day() -> None:
    # Two kinds alike at 2.00; the second is recorded at 3.00 from day 0 and at 1.00 from day 2.
    plain = lab()
    other = plain.accelerator[0].model_copy(update={"name": "Other"})
    quotes = (plain.market.quote[0], plain.market.quote[0].model_copy(update={"accelerator": "Other"}))
    days = (MONDAY, MONDAY + timedelta(days=2))
    replay = PriceReplay(accelerator="Other", day=days, on_demand_usd=(3.0, 1.0))
    market = plain.market.model_copy(update={"quote": quotes, "replay": (replay,)})
    scenario = plain.model_copy(update={"accelerator": (*plain.accelerator, other), "market": market})
    run = live(scenario, RentOnDemand(review_days=1000))
    np.testing.assert_array_equal(run.used.serving_rental, [0, 0, 1, 1])
    np.testing.assert_allclose(run.books.cash_usd[:, Account.ON_DEMAND], [480, 480, 240, 240])


def test_owned_gpus_pay_for_power_what_it_costs_that_day() -> None:
    plain = lab(horizon_days=30)
    market = plain.market.model_copy(update={"electricity_noise_sigma": 0.5})
    run = live(plain.model_copy(update={"market": market}), FixedOrders(buys=(8,)))
    paid = run.books.cash_usd[1:, Account.POWER]
    tariff = run.world.prices.electricity_usd_per_kwh[run.world.calendar.lived][1:]
    assert np.ptp(tariff) > 0.01
    # Eight servers of 2 kW, at 75 % of their draw and a PUE of 1.2, for 24 hours.
    np.testing.assert_allclose(paid, 8 * 2.0 * 0.75 * 1.2 * 24 * tariff)
