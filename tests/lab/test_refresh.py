"""GPUs that leave before their time: when power gets dear, when a new kind serves for less, and not otherwise.

An old GPU of the plain lab serves 1,000 tokens a second, rents for 2.00 an hour, and takes 43.2 kWh, 12.00 of hosting
and 2.00 of maintenance a day.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from small_lab import MONDAY, TOKENS_PER_DAY, FixedOrders, FixedRecipe, plain_scenario
from strategies import observed

from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Lab, Run, simulate
from simulator.lab.ladder import Ladder
from simulator.lab.models import served_model
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, CapRental, Order, Purchase, Sell
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, Procurement, RentOnDemand, ReserveBase
from simulator.lab.recipe import LeverRecipe, Recipe
from simulator.lab.refresh import Refresh
from simulator.lab.routes import MAIN_LEVERS
from simulator.laws.precision import BF16
from simulator.study.files import load_scenario
from simulator.world.market import MarketEvent, Quote
from simulator.world.scenario import OwnedInputs, Scenario
from simulator.world.world import realize


def lab(gpus: int = 10, horizon_days: int = 30, roadmap: bool = False, **market: object) -> Scenario:
    """The plain scenario with old GPUs, at steady prices, and without releases unless they are asked for."""
    plain = plain_scenario()
    old = OwnedInputs(accelerator="Unit", gpus=gpus, age_days=400, paid_usd_per_gpu=10_000.0)
    none = plain.roadmap.model_copy(update={"release": ()})
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": (), **market}),
            "roadmap": plain.roadmap if roadmap else none,
            "opening_fleet": (old,),
        }
    )


def with_swift(plain: Scenario, times: float = 4.0, lead_days: float = 5.0, growth: float = 1.0) -> Scenario:
    """From day 3 on there is a kind so many times as fast, per GPU, per kW and per USD of its price."""
    unit, quote = plain.accelerator[0], plain.market.quote[0]
    fast = unit.model_copy(update={"name": "Swift", "bf16_tflop_per_second": times * unit.bf16_tflop_per_second})
    swift = Quote(
        accelerator="Swift",
        available=MONDAY + timedelta(days=3),
        on_demand_usd_per_gpu_hour=times * quote.on_demand_usd_per_gpu_hour,
        purchase_usd_per_gpu=quote.purchase_usd_per_gpu,
        source="round numbers",
    )
    market = plain.market.model_copy(update={"quote": (quote, swift), "lead_days": lead_days})
    demand = plain.demand.model_copy(update={"tokens_per_day": 100 * TOKENS_PER_DAY, "growth_per_year": growth})
    return plain.model_copy(update={"accelerator": (unit, fast), "market": market, "demand": demand})


def live(scenario: Scenario, procurement: Procurement, refresh: Refresh | None, recipe: Recipe | None = None) -> Run:
    return simulate(scenario, Policy("by hand", recipe or FixedRecipe(), procurement, Expected(), refresh=refresh))


def owned(run: Run, kind: int) -> np.ndarray:
    """GPUs of one kind by day."""
    rows = [row for row, found in enumerate(run.used.kinds) if found == kind]
    return run.used.owned_gpus[rows[0]] if rows else np.zeros(run.used.owned_gpus.shape[1])


# Retired early ---------------------------------------------------------------------------------------------------


def test_when_power_gets_twenty_times_as_dear_gpus_are_sold_at_the_next_review() -> None:
    scenario, fleet = lab(), Fleet(1)
    fleet.deliver(fleet.order(Purchase(0, 10, 10_000.0, -400, 1426), 0))
    model = served_model(scenario, "opening model", 2.5e11, 1e12, BF16, 1.0)
    seen = replace(observed(realize(scenario), 5, model), fleet=Holdings(fleet))

    def orders(observation: Observation) -> list[Order]:
        return Refresh().orders(RentOnDemand(), observation, Expected())

    assert orders(seen) == []  # 18.32 a day to run them, 48.00 to rent
    dear = replace(seen, electricity_usd_per_kwh=2.0)  # 43.2 x 2.00 + 14.00 = 100.40
    (order,) = orders(dear)
    assert order == Sell(0, 10, "running them costs more than renting for 180 days")
    for tariff, is_sold in ((0.787, False), (0.788, True)):  # 43.2 x 0.787 + 14.00 = 47.998
        at_the_edge = replace(seen, electricity_usd_per_kwh=tariff)
        assert bool(orders(at_the_edge)) == is_sold


@pytest.mark.parametrize(("review_days", "sold_on"), [(1, 7), (5, 10)])
def test_the_days_of_a_lab_where_power_gets_dear(review_days: int, sold_on: int) -> None:
    # Power rises twentyfold in ten days, past 0.787 a kWh on the seventh.
    scenario = lab(electricity_growth_per_year=20.0 ** (365.25 / 10))
    run = live(scenario, RentOnDemand(review_days=review_days), Refresh())
    np.testing.assert_array_equal(owned(run, 0), [*[10.0] * sold_on, *[0.0] * (30 - sold_on)])
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY)


def test_gpus_in_training_are_kept_until_they_are_done() -> None:
    # The run takes 4 GPUs for a day and a half; GPUs of the opening fleet cannot be sold on day 0.
    run = live(lab(roadmap=True, electricity_usd_per_kwh=2.0), RentOnDemand(review_days=1), Refresh())
    np.testing.assert_array_equal(owned(run, 0)[:4], [10.0, 2.0, 0.0, 0.0])


def test_nobody_buys_what_would_be_retired_at_once() -> None:
    run = live(lab(electricity_usd_per_kwh=2.0), BuyToForecast(review_days=1, least_gpus=1), Refresh())
    assert [order.usd < 0.0 for order in run.orders] == [True]
    unwise = live(lab(electricity_usd_per_kwh=2.0), BuyToForecast(review_days=1, least_gpus=1, headroom=2.0), None)
    assert [order.gpus for order in unwise.orders] == [10]


def test_gpus_are_kept_while_renting_is_limited() -> None:
    run = live(lab(electricity_usd_per_kwh=2.0), RentOnDemand(review_days=1, cap_gpus=5), Refresh())
    assert run.orders == ()


# Replaced --------------------------------------------------------------------------------------------------------


def test_the_fleet_moves_over_to_a_kind_four_times_as_good() -> None:
    # 1,000 old GPUs serve the mean need. On day 3, the first day of the new kind, 250 of it are ordered; they come on
    # day 8, and the old ones go that afternoon.
    run = live(with_swift(lab(1000)), BuyToForecast(review_days=1), Refresh())
    np.testing.assert_array_equal(owned(run, 1), [*[0.0] * 8, *[250.0] * 22])
    np.testing.assert_array_equal(owned(run, 0), [*[1000.0] * 8, *[0.0] * 22])
    told = [(order.day, order.accelerator, order.gpus, order.usd > 0.0) for order in run.orders]
    assert told == [(3, "Swift", 250, True), (8, "Unit", 1000, False)]
    assert run.orders[1].reason == "Swift costs less all in"
    without = live(with_swift(lab(1000)), BuyToForecast(review_days=1), None)
    assert without.orders == ()


@pytest.mark.parametrize("headroom", [0.5, 1.0, 1.5])
@pytest.mark.parametrize(
    ("growth", "review_days", "lead_days"), [(1.0, 3, 20), (3.0, 1, 20), (3.0, 30, 45), (0.5, 7, 9)]
)
def test_what_is_held_never_falls_below_what_was_held_without(
    growth: float, review_days: int, lead_days: int, headroom: float
) -> None:
    # Tokens a second of all owned GPUs, in GPUs of the old kind: never fewer than without refresh, but for what is
    # rounded to whole new GPUs and what falling need leaves over. In the end all are new, but for old ones that fill
    # what need grew by since the last delivery.
    scenario = with_swift(lab(int(1000 * headroom), horizon_days=200), lead_days=float(lead_days), growth=growth)
    rule = BuyToForecast(review_days=review_days, headroom=headroom, least_gpus=1)
    run, without = live(scenario, rule, Refresh()), live(scenario, rule, None)
    held = owned(run, 0) + 4 * owned(run, 1)
    need = 1000 * headroom * growth ** (np.arange(200) / 365.25)
    least = np.minimum(owned(without, 0) + 4 * owned(without, 1), need * growth ** (-review_days / 365.25))
    assert (held >= least - 8).all()
    if headroom >= 1.0:
        assert owned(run, 0)[-1] <= max(need[-1] * (1.0 - growth ** (-review_days / 365.25)), 0.0)


def test_who_rents_or_leases_does_not_give_up_old_gpus_for_a_better_kind() -> None:
    for rule in (RentOnDemand(review_days=1), ReserveBase(review_days=1, quantile=0.0)):
        run = live(with_swift(lab(1000)), rule, Refresh())
        assert (owned(run, 0) == 1000.0).all()


def test_old_gpus_stay_while_new_ones_save_too_little() -> None:
    # Of a kind 1.5 times as good an hour costs 1.22 / 1.5 = 0.81 all in, per hour of an old GPU. Keeping that for 180
    # days costs 0.76 an hour, and at an age of 403 days it fetches 5,337 now and 3,526 then, 0.42 an hour: a saving of
    # 31 %.
    for least_saving, moves in ((0.30, True), (0.33, False)):
        refresh = Refresh(least_saving=least_saving)
        run = live(with_swift(lab(1000), times=1.5), BuyToForecast(review_days=1), refresh)
        assert (owned(run, 0)[-1] <= 1.0) == moves  # 666 new ones serve for 999


# Nothing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [RentOnDemand(), BuyToForecast(least_gpus=1), FixedOrders(buys=(3,))], ids=str)
def test_where_nothing_pays_nothing_changes(rule: Procurement) -> None:
    scenario = lab(roadmap=True, event=(MarketEvent(day=MONDAY + timedelta(days=9), on_demand_factor=1.2),))
    run, without = live(scenario, rule, Refresh()), live(scenario, rule, None)
    assert run.orders == without.orders
    np.testing.assert_array_equal(run.books.cash_usd, without.books.cash_usd)


class Seller(Procurement):
    """Sells four GPUs on day 1, and limits nothing."""

    review_days: int = 1

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        return [Sell(0, 4, "told to")] if observation.day == 1 else []


def test_what_procurement_sells_itself_is_not_sold_twice() -> None:
    run = live(lab(electricity_usd_per_kwh=2.0), Seller(), Refresh())
    assert [(order.day, order.gpus) for order in run.orders] == [(1, 4), (2, 6)]


def test_nothing_is_refreshed_before_anything_is_served() -> None:
    class Buyer(Seller):
        def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
            return [Buy(0, 1, "told to"), CapRental(7)]

    scenario = lab(electricity_usd_per_kwh=2.0)
    watched = Lab(realize(scenario), Policy("p", FixedRecipe(), Buyer(), Expected(), refresh=Refresh()))
    seen = replace(watched.observe(), serving=None)
    assert Refresh().orders(Buyer(), seen, Expected()) == [Buy(0, 1, "told to"), CapRental(7)]


@pytest.mark.parametrize("rule", [BuyToForecast(), Ladder()], ids=str)
def test_a_refreshed_fleet_keeps_the_books_and_does_not_know_where_the_simulation_ends(rule: Procurement) -> None:
    # On the frontier lab, whose next generation comes after eight months: old GPUs are sold as it is delivered.
    long, short = (
        live(load_scenario("frontier_lab", [f"horizon_days={days}"]), rule, Refresh(), LeverRecipe(levers=MAIN_LEVERS))
        for days in (500, 450)
    )
    assert any(order.usd < 0.0 for order in short.orders)
    assert [order for order in long.orders if order.day < 450] == list(short.orders)
    cash, economic = long.books.cash_usd, long.books.economic_usd
    assert cash.sum() == pytest.approx(economic.sum(), abs=1e-9 * np.abs(cash).sum())
    assert (long.used.owned_gpus >= 0.0).all()
