"""What a GPU-hour costs and how many to order, from published figures, by hand, and hour by hour."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from small_lab import MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import Flat, observed

from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.models import ServedModel, served_model
from simulator.lab.orders import Buy, CapRental, Reserve, Tenure
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, Procurement, RentOnDemand, ReserveBase, owned_usd_per_gpu_hour
from simulator.laws.precision import BF16
from simulator.study.files import load_scenario
from simulator.world.market import Commitment
from simulator.world.scenario import Scenario
from simulator.world.world import realize

# In the plain scenario a GPU serves 1,000 tokens a second of the opening model, so the mean need is 10 GPUs: 5 in the
# first twelve hours of the day, 15 in the other twelve.
MEAN_NEED, LOW_NEED, HIGH_NEED = 10, 5, 15


def flat_lab(horizon_days: int = 200, **changes: object) -> Scenario:
    """The plain scenario without releases and events: nothing ever changes but what the lab orders."""
    plain = plain_scenario()
    market = {"event": (), **{k: v for k, v in changes.items() if k in type(plain.market).model_fields}}
    demand = {k: v for k, v in changes.items() if k in type(plain.demand).model_fields}
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update=market),
            "demand": plain.demand.model_copy(update=demand),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
            "ownership": plain.ownership.model_copy(update={"useful_life_years": 5.0}),
        }
    )


def model_of(scenario: Scenario) -> ServedModel:
    return served_model(scenario, "opening model", 2.5e11, 1e12, BF16, 1.0)


def live(scenario: Scenario, procurement: Procurement, replication: int = 0) -> Run:
    return simulate(scenario, Policy("p", FixedRecipe(), procurement, Expected()), 0, replication)


# What an owned hour costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("years", "usd"), [(5.0, 1.575), (4.0, 1.864), (6.0, 1.382)])
def test_an_owned_h100_costs_what_was_published(years: float, usd: float) -> None:
    # Numbers H5: 50,617 all-in, straight line over its life: capital 1.155 + power 0.0987 + colocation 0.3213 in five
    # years. No interest, and nothing back at the end.
    frontier = load_scenario("frontier_lab", ["horizon_days=10"])
    own = frontier.ownership.model_copy(update={"useful_life_years": years, "resale_spread": 1 - 1e-12})
    scenario = frontier.model_copy(update={"discount_per_year": 0.0, "ownership": own})
    seen = observed(realize(scenario.model_copy(update={"market": _quiet(scenario)})))
    h100 = [kind.name for kind in scenario.accelerators].index("H100")
    assert owned_usd_per_gpu_hour(seen)[h100] == pytest.approx(usd, rel=0.01)


def _quiet(scenario: Scenario) -> object:
    return scenario.market.model_copy(
        update={
            "rental_noise_sigma": 0.0,
            "purchase_noise_sigma": 0.0,
            "rental_shocks": scenario.market.rental_shocks.model_copy(update={"per_year": 0.0}),
        }
    )


def test_the_parts_of_an_owned_hour() -> None:
    # 25,000 USD x 2.0247, 0.7 kW x 1.821, 75 % drawn, PUE 1.25, 0.0826 a kWh, 184.06 a kW and month (numbers H5).
    frontier = load_scenario("frontier_lab", ["horizon_days=10"])
    scenario = frontier.model_copy(update={"market": _quiet(frontier), "discount_per_year": 0.08})
    seen = observed(realize(scenario))
    all_in, kw = 25_000 * 1.64 / 0.81, 0.7 * 1.821
    sold = 25_000 * 1.64 * 0.9 * 10 ** (-0.14 * 5) / 1.08**5
    annuity = 0.08 / (1 - 1.08**-5)
    by_hand = (all_in - sold) * annuity / 8766 + kw * (0.75 * 1.25 * 0.0826 + 184.06 / 730.5)
    assert owned_usd_per_gpu_hour(seen)[1] == pytest.approx(by_hand, rel=1e-9)
    kept_up = scenario.ownership.model_copy(update={"maintenance_per_year": 0.05})
    dearer = observed(realize(scenario.model_copy(update={"ownership": kept_up})))
    assert owned_usd_per_gpu_hour(dearer)[1] == pytest.approx(by_hand + all_in * 0.05 / 8766, rel=1e-9)


def test_what_is_not_for_sale_has_no_owned_price() -> None:
    plain = flat_lab()
    quote = plain.market.quote[0].model_copy(update={"purchase_usd_per_gpu": None})
    scenario = plain.model_copy(update={"market": plain.market.model_copy(update={"quote": (quote,)})})
    assert np.isinf(owned_usd_per_gpu_hour(observed(realize(scenario)))).all()
    assert live(scenario, BuyToForecast(least_gpus=1)).orders == ()


# Planning prices -------------------------------------------------------------------------------------------------


def with_release(**changes: object) -> Scenario:
    return flat_lab(**changes).model_copy(update={"roadmap": plain_scenario().roadmap, "discount_per_year": 0.0})


def test_who_rents_plans_with_the_mean_rent_of_the_days_it_will_pay() -> None:
    scenario = with_release(rental_fall_per_year=0.3)
    (release,) = scenario.releases
    price = RentOnDemand().planning_price(observed(realize(scenario)), release, Expected())
    by_day = 2.0 * 0.7 ** ((np.arange(10) + 0.5) / 365.25)
    # The run takes days 0 and 1, service days 2 to 4.
    assert price.training_usd_per_gpu_hour[0] == pytest.approx(by_day[:2].mean(), rel=1e-6)
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(by_day[2:5].mean(), rel=1e-6)


@pytest.mark.parametrize(("quantile", "base"), [(0.2, 0.5), (0.9, 1.5)])
def test_a_base_is_paid_used_or_not_and_the_rest_is_rented(quantile: float, base: float) -> None:
    # Half the hours need half the mean, half three halves. A base of 0.5 x mean is always used, and 0.5 x mean is
    # rented; one of 1.5 x mean is paid in full, and nothing is rented.
    scenario = with_release()
    (release,) = scenario.releases
    price = ReserveBase(quantile=quantile).planning_price(observed(realize(scenario)), release, Expected())
    above = {0.5: 0.5, 1.5: 0.0}[base]
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(2.0 * 0.75 * base + 2.0 * above)
    assert price.training_usd_per_gpu_hour[0] == pytest.approx(2.0)


@pytest.mark.parametrize(("headroom", "above"), [(0.25, 0.75), (1.0, 0.25), (1.25, 0.125), (2.0, 0.0)])
def test_owned_gpus_are_paid_over_the_hours_they_are_used(headroom: float, above: float) -> None:
    # With 1 x mean need owned, the hours of 1.5 x mean rent 0.5 x mean for half the day: a quarter.
    plain = with_release()
    cheap = plain.market.quote[0].model_copy(update={"purchase_usd_per_gpu": 1_000.0})
    scenario = plain.model_copy(update={"market": plain.market.model_copy(update={"quote": (cheap,)})})
    seen = observed(realize(scenario))
    owned = owned_usd_per_gpu_hour(seen)[0]
    price = BuyToForecast(headroom=headroom).planning_price(seen, scenario.releases[0], Expected())
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(min(owned * headroom + 2.0 * above, 2.0))


# How much to reserve ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("quantile", "gpus"), [(0.0, LOW_NEED), (0.2, LOW_NEED), (0.6, HIGH_NEED), (1.0, HIGH_NEED)])
def test_the_base_is_the_quantile_of_the_hours_needs(quantile: float, gpus: int) -> None:
    run = live(flat_lab(horizon_days=3), ReserveBase(quantile=quantile, least_gpus=1))
    (order,) = run.orders
    assert (order.day, order.gpus, order.tenure, order.first_day, order.last_day) == (0, gpus, Tenure.RESERVED, 0, 365)
    assert order.usd == pytest.approx(gpus * 2.0 * 0.75 * 24 * 365)


@pytest.mark.parametrize("quantile", [0.1, 0.3, 0.5, 0.8])
def test_the_base_counts_all_hours_of_all_weekdays(quantile: float) -> None:
    # Hour by hour over the whole year, 24 x 365 needs, in a world of a hundredfold demand so that GPUs are divisible.
    week = (1.3, 1.2, 1.1, 1.1, 1.1, 0.7, 0.5)
    profile = tuple(0.5 + hour / 23 for hour in range(24))
    scenario = flat_lab(tokens_per_day=100 * TOKENS_PER_DAY, weekday_factors=week, hour_profile=profile)
    (order,) = ReserveBase(quantile=quantile).review(observed(realize(scenario), 0, model_of(scenario)), Expected())
    days = np.array([week[day % 7] for day in range(365)])
    needs = (100 * MEAN_NEED * days[:, None] * np.array(profile)).reshape(-1)
    # One day in 25 is looked at, 15 of them: the share of hours below may be off by a fifteenth.
    low, high = np.quantile(needs, [max(quantile - 1 / 15, 0.0), quantile + 1 / 15])
    assert isinstance(order, Reserve)
    assert low <= order.gpus <= high


def test_a_base_is_not_reserved_twice() -> None:
    run = live(flat_lab(horizon_days=360), ReserveBase(quantile=0.0, least_gpus=1))
    assert [order.day for order in run.orders] == [0]


def test_a_base_that_runs_out_is_reserved_again() -> None:
    run = live(flat_lab(horizon_days=800), ReserveBase(quantile=0.0, least_gpus=1, review_days=5))
    reserved = run.used.reserved_gpus.sum(axis=0)
    assert (reserved <= LOW_NEED).all()
    # A gap can last until the next review, no longer.
    assert (reserved == 0).sum() <= 2 * 5


def test_too_small_a_base_is_not_worth_a_lease() -> None:
    assert live(flat_lab(horizon_days=60), ReserveBase(quantile=0.0, least_gpus=LOW_NEED + 1)).orders == ()


def test_a_lease_gets_the_discount_of_its_own_term() -> None:
    terms = (Commitment(term_days=30, discount=0.1), Commitment(term_days=365, discount=0.25))
    scenario = flat_lab(commitment=terms)
    for term_days, paid in ((30, 0.9 * 2.0), (365, 0.75 * 2.0)):
        run = live(scenario, ReserveBase(term_days=term_days, least_gpus=1))
        first = run.orders[0]
        assert first.usd == pytest.approx(first.gpus * paid * 24 * term_days)


@pytest.mark.parametrize("term_days", [31, 100, 500])
def test_a_term_that_is_not_on_offer_is_refused_before_anything_runs(term_days: int) -> None:
    scenario = flat_lab(commitment=(Commitment(term_days=30, discount=0.1), Commitment(term_days=365, discount=0.25)))
    with pytest.raises(ValueError, match=rf"must offer the term of {term_days} days .* \(got 30, 365\)"):
        ReserveBase(term_days=term_days).check(scenario)


def test_a_lease_does_not_know_where_the_simulation_ends() -> None:
    # Three years, in a world that grows fivefold a year: whoever stops the clock earlier must not change the orders.
    def orders(horizon_days: int) -> list[tuple[int, int]]:
        scenario = flat_lab(horizon_days, growth_per_year=5.0, commitment=(Commitment(term_days=1095, discount=0.5),))
        run = live(scenario, ReserveBase(quantile=0.95, term_days=1095))
        return [(order.day, order.gpus) for order in run.orders if order.day < 300]

    assert orders(300) == orders(2000)


# How much to buy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headroom", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("lead_days", [0, 1, 45, 100])
def test_a_flat_lab_buys_once_what_it_needs(headroom: float, lead_days: int) -> None:
    run = live(flat_lab(lead_days=float(lead_days)), BuyToForecast(headroom=headroom, least_gpus=1))
    (order,) = run.orders
    assert (order.day, order.first_day, order.gpus) == (0, lead_days, int(headroom * MEAN_NEED))
    assert order.usd == pytest.approx(order.gpus * 10_000 * 2.0)  # server x 1.5, network a quarter: all-in x 2


def test_what_is_on_order_is_not_ordered_again_however_late_it_comes() -> None:
    # The median is 30 days, the draw of the first quarter much more: reviews go on while the GPUs are on their way.
    scenario = flat_lab(360, lead_days=30.0, lead_sigma=1.0)
    late = next(k for k in range(200) if realize(scenario, 0, k).purchase_lead_days(0) > 100)
    run = live(scenario, BuyToForecast(least_gpus=1), late)
    assert sum(order.gpus for order in run.orders) == MEAN_NEED
    assert run.used.owned_gpus.max() == MEAN_NEED


def test_growth_is_bought_ahead_by_the_lead_time() -> None:
    scenario = flat_lab(700, tokens_per_day=100 * TOKENS_PER_DAY, growth_per_year=3.0, lead_days=90.0)
    run = live(scenario, BuyToForecast(least_gpus=1, review_days=7))
    owned = run.used.owned_gpus.sum(axis=0)
    # From the first delivery on, what is owned is the need of the week in which it came, plus or minus a week's growth.
    need = 100 * MEAN_NEED * 3.0 ** (np.arange(700) / 365.25)
    week = 3.0 ** (7 / 365.25)
    assert (owned[90:] <= need[90:] * week + 1).all()
    assert (owned[90:] >= need[90:] / week - 1).all()


def test_gpus_that_retire_are_replaced_in_time() -> None:
    scenario = flat_lab(600, lead_days=30.0)
    short_lived = scenario.ownership.model_copy(update={"useful_life_years": 1.0})
    run = live(scenario.model_copy(update={"ownership": short_lived}), BuyToForecast(least_gpus=1, review_days=1))
    owned = run.used.owned_gpus.sum(axis=0)
    assert (owned[30:] >= MEAN_NEED - 1e-9).mean() > 0.98
    # The need of a week is met, so that new ones may stand beside the old ones for a week at most.
    assert (owned > MEAN_NEED).sum() <= 7


def test_too_small_an_order_is_not_worth_placing() -> None:
    assert live(flat_lab(60), BuyToForecast(least_gpus=MEAN_NEED + 1)).orders == ()


def test_nothing_is_ordered_before_anything_is_served() -> None:
    scenario = flat_lab()
    seen = observed(realize(scenario))
    assert BuyToForecast(least_gpus=1).review(seen, Expected()) == []
    assert ReserveBase(least_gpus=1).review(seen, Expected()) == []


def test_an_order_says_what_it_is_for() -> None:
    scenario = flat_lab()
    seen = observed(realize(scenario), 0, model_of(scenario))
    (order,) = BuyToForecast(headroom=1.5, least_gpus=1).review(seen, Flat(TOKENS_PER_DAY))
    assert isinstance(order, Buy)
    assert "1.5 x" in order.reason
    assert "day 1" in order.reason


# Renting ---------------------------------------------------------------------------------------------------------


def test_who_rents_orders_nothing_but_a_limit_and_that_once() -> None:
    scenario = flat_lab()
    seen = observed(realize(scenario), 0, model_of(scenario))
    assert RentOnDemand().review(seen, Expected()) == []
    assert RentOnDemand(cap_gpus=7).review(seen, Expected()) == [CapRental(7)]
    capped = Fleet(1)
    capped.rental_cap.set(0, 7)
    seen = replace(seen, fleet=Holdings(capped))
    assert RentOnDemand(cap_gpus=7).review(seen, Expected()) == []


def test_beyond_the_limit_tokens_go_unserved() -> None:
    # Seven GPUs: all of the 5 of the low hours, 7 of the 15 of the high ones: 12 of 20.
    run = live(flat_lab(3), RentOnDemand(cap_gpus=7))
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY * 12 / 20)
    np.testing.assert_allclose(run.books.cash_usd.sum(axis=1), (5 * 12 + 7 * 12) * 2.0)


def test_reviews_come_at_their_pace_and_at_announcements() -> None:
    class Diary(Procurement):
        def review(self, observation: object, forecast: object) -> list[object]:
            days.append(observation.day)
            return []

    days: list[int] = []
    scenario = plain_scenario().model_copy(update={"horizon_days": 70})
    market = scenario.market
    later = market.event[0].model_copy(update={"day": MONDAY + timedelta(days=45)})
    live(scenario.model_copy(update={"market": market.model_copy(update={"event": (later,)})}), Diary())
    assert days == [0, 30, 45, 60]
