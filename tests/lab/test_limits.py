"""Orders beyond power, budget or cash: cut by rule, to the GPU, and told.

A GPU draws 2 kW, 2.4 at the meter, costs 20,000 with server and network, and 4.32 + 12 a day to run. Rent is 2.00;
serving takes 240 GPU-hours a day, 480 USD, where nothing is held. A lease for 100 days is 1.50 an hour, 36 a day.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario

from simulator.lab.accounts import FLOWS, Account
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, CapRental, Order, Reserve, Sell
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement
from simulator.study.commitments import commitments
from simulator.world.api_fallback import ApiFallback
from simulator.world.batch import BatchInputs
from simulator.world.limits import LimitsInputs
from simulator.world.market import MarketEvent
from simulator.world.roadmap import Release, ReleaseInputs
from simulator.world.scenario import DeploymentInputs, OwnershipInputs, Scenario
from simulator.world.trace import Trace

A_DAY = 2.0 * 0.75 * 1.2 * 24 * 0.10 + 2.0 * 6.0  # running a GPU: 16.32
ALL_IN = 20_000.0
RENTED_A_DAY = 240 * 2.0


class Trader(Procurement):
    """Buys, leases (for 100 days) or sells on its days."""

    review_days: int = 1
    buys: tuple[tuple[int, int], ...] = ()
    leases: tuple[tuple[int, int], ...] = ()
    sales: tuple[tuple[int, int], ...] = ()
    cap_gpus: float | None = None

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        day = observation.day
        orders: list[Order] = [Sell(0, gpus, "as planned") for when, gpus in self.sales if when == day]
        orders += [] if self.cap_gpus is None else [CapRental(self.cap_gpus)]
        orders += [Buy(0, gpus, "as planned") for when, gpus in self.buys if when == day]
        return orders + [Reserve(0, gpus, 100, "as planned") for when, gpus in self.leases if when == day]


def lab(horizon_days: int = 10, releases: tuple[ReleaseInputs, ...] = (), **limits: float) -> Scenario:
    plain = plain_scenario()
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": (), "lead_days": 2.0}),
            "roadmap": plain.roadmap.model_copy(update={"release": releases}),
            "ownership": plain.ownership.model_copy(update={"maintenance_per_year": 0.0}),
            "limits": LimitsInputs(**limits),
        }
    )


def without_rent(scenario: Scenario) -> Scenario:
    """Nothing can be rented by the hour: no money is kept back for it, and none is spent."""
    quote = scenario.market.quote[0].model_copy(update={"on_demand_limit_gpus": 0.0})
    return scenario.model_copy(update={"market": scenario.market.model_copy(update={"quote": (quote,)})})


def live(scenario: Scenario, **trades: object) -> Run:
    return simulate(scenario, Policy("by hand", FixedRecipe(), Trader.model_validate(trades), Expected()))


def had(run: Run) -> list[tuple[int, int]]:
    return [(order.asked_gpus, order.gpus) for order in run.orders if order.asked_gpus]


# Power -----------------------------------------------------------------------------------------------------------


def test_the_building_has_power_for_so_many() -> None:
    # 25 kW carry 10 GPUs of 2.4 kW; leased ones stand elsewhere.
    run = live(lab(power_kw=25.0), buys=((0, 6), (3, 6)), leases=((4, 50),))
    assert had(run) == [(6, 6), (6, 4), (50, 50)]
    assert run.orders[1].reason == "as planned; 6 asked, cut to what the building has power for"
    assert run.used.owned_gpus[0, -1] == 10.0
    # What is sold makes room again, and what is on order takes it.
    again = live(lab(power_kw=25.0), buys=((0, 10), (5, 4)), sales=((5, 3),))
    assert had(again) == [(10, 10), (3, 3), (4, 3)]
    # What is owned, or will be, stands with each order: 6, 10, and with the leases still 10 GPUs of 2.4 kW.
    assert [order.owned_kw for order in run.orders] == pytest.approx([14.4, 24.0, 24.0])
    assert [order.owned_kw for order in again.orders] == pytest.approx([24.0, 16.8, 24.0])
    full = live(lab(power_kw=25.0), buys=((0, 10), (1, 8)))
    assert had(full) == [(10, 10), (8, 0)]


# Money -----------------------------------------------------------------------------------------------------------


def test_a_budget_pays_price_and_running_costs_of_its_year() -> None:
    # A GPU ordered on day 0 runs from day 2: 20,000 and 363 days of 16.32 are 25,924.16. 100,000 pay for three.
    exact = 3 * (ALL_IN + 363 * A_DAY)
    for budget, gpus in ((100_000.0, 3), (exact, 3), (exact - 1.0, 2)):
        assert had(live(without_rent(lab(budget_usd_per_year=budget)), buys=((0, 5),))) == [(5, gpus)]


def test_money_for_users_is_kept_back_less_what_an_order_saves_them() -> None:
    # All rented, the year costs 365 x 480. A GPU from day 2 on saves 48 a day of it: 17,424 of the 25,924.16 it costs.
    users, net = 365 * RENTED_A_DAY, ALL_IN + 363 * (A_DAY - 48.0)
    for spare, gpus in ((2.5 * net, 2), (2.0 * net, 2), (2.0 * net - 1.0, 1), (-1.0, 0)):
        run = live(lab(20, budget_usd_per_year=users + spare), buys=((0, 5),))
        assert had(run) == [(5, gpus)]
        if spare >= 0.0:
            np.testing.assert_allclose(run.used.served_tokens, run.used.asked_tokens)
    # A lease at 36 a day saves 12 of the 48 that renting costs: as many as there are users for.
    leased = live(lab(20, budget_usd_per_year=users), leases=((0, 5),))
    assert had(leased) == [(5, 5)]
    # Beyond what users need nothing is saved: the eleventh GPU of ten, on average, costs what it costs.
    more = live(lab(20, budget_usd_per_year=users + 1.0), leases=((0, 14),))
    assert had(more)[0][1] < 14


def test_a_second_order_has_what_the_first_and_the_days_before_left() -> None:
    # Day 4: three GPUs ordered, two days of which are behind; a GPU that comes on day 6 runs for 359 days.
    left = 150_000 - 3 * (ALL_IN + 363 * A_DAY)
    affordable = int(left // (ALL_IN + 359 * A_DAY))
    run = live(without_rent(lab(budget_usd_per_year=150_000.0)), buys=((0, 3), (4, 9)))
    assert had(run) == [(3, 3), (9, affordable)]
    assert affordable == 2
    assert run.orders[1].reason.endswith("9 asked, cut to what the budget allows")


def test_a_lease_must_fit_the_budget_of_every_year_it_touches() -> None:
    # 100 days from day 300: 65 in the first year, 35 in the second; from day 330 it is the other way round.
    for day, days in ((300, 65), (330, 65)):
        budget = days * 36.0 * 4
        run = live(without_rent(lab(340, budget_usd_per_year=budget)), leases=((day, 9),))
        assert had(run) == [(9, 4)]
    # Signed on day 0, all of it is in the first year.
    assert had(live(without_rent(lab(10, budget_usd_per_year=100 * 36.0 * 7)), leases=((0, 9),))) == [(9, 7)]


def test_cash_must_last_for_what_is_agreed_on() -> None:
    # 50,000 on hand: a GPU costs 20,000 on day 2 and 16.32 a day for its 1,826 days of life, but for the look ahead.
    scenario = without_rent(lab(cash_usd=50_000.0, income_usd_per_day=100.0))
    run = live(scenario, buys=((0, 3),))
    assert had(run) == [(3, 2)]
    assert run.orders[0].reason.endswith("3 asked, cut to what cash on hand allows")
    # Without income two GPUs cannot be run until the end of what the lab looks at.
    days = scenario.calendar.horizon_days + scenario.calendar.look_ahead_days
    bound = -(-days // 365) * 365
    affordable = int(50_000.0 // (ALL_IN + (bound - 2) * A_DAY))
    assert had(live(without_rent(lab(cash_usd=50_000.0)), buys=((0, 3),))) == [(3, affordable)]
    assert affordable == 1


def test_training_under_way_comes_before_orders_and_beyond_the_budget_is_told() -> None:
    # 144 GPU-hours at 2.00 are 288 USD, decided before the review of day 0.
    due = ReleaseInputs(name="next", due=MONDAY.replace(day=3), train_days=2)
    one = ALL_IN + 363 * A_DAY
    assert had(live(without_rent(lab(releases=(due,), budget_usd_per_year=one + 288.0)), buys=((0, 2),))) == [(2, 1)]
    run = live(without_rent(lab(releases=(due,), budget_usd_per_year=one + 287.0)), buys=((0, 2),))
    assert had(run) == [(2, 0)]
    poor = live(lab(releases=(due,), budget_usd_per_year=88.0))
    assert poor.orders[0].reason == "what is agreed on exceeds the budget of the year by 200 USD"
    assert (poor.orders[0].gpus, poor.orders[0].usd) == (0, 0.0)


def test_a_loan_repaid_with_the_sale_of_its_gpus_is_owed_no_longer() -> None:
    # 4 GPUs come on day 2, 64,000 of 80,000 borrowed; sold on day 10, before an instalment is due: all is paid back.
    loan = {"loan": {"share": 0.8, "rate_per_year": 0.0, "years": 2.0}}
    plain = lab(400, cash_usd=1e6)
    own = OwnershipInputs.model_validate({**plain.ownership.model_dump(), **loan})
    scenario = plain.model_copy(update={"ownership": own})
    rich = {"buys": ((0, 4), (20, 9_999)), "sales": ((10, 4),)}
    run = live(scenario, **rich)
    assert run.books.cash_usd[10, Account.LOAN] == pytest.approx(64_000.0)
    assert not commitments(own, [each for each in run.signed if each[0] <= 10], scenario.start, [10])
    assert commitments(own, run.signed, scenario.start, [9])[0][2] == pytest.approx(16_000.0)
    # A lab that never had them, but the same money on day 20, may order as many.
    spent = run.books.cash_usd[:20, : len(FLOWS)].sum() - 20 * RENTED_A_DAY
    other = live(scenario.model_copy(update={"limits": LimitsInputs(cash_usd=1e6 - spent)}), buys=((20, 9_999),))
    assert had(run)[-1] == had(other)[-1]


def test_data_bought_for_a_run_comes_before_orders_of_the_same_day() -> None:
    # On day 0 a run begins: data for 5,000 and 288 of training to come. 112 of 5,400 are left for serving.
    class Reader(FixedRecipe):
        def choose(
            self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
        ) -> Choice:
            return replace(super().choose(observation, release, forecast, procurement), data_usd=5000.0)

    due = ReleaseInputs(name="next", due=MONDAY + timedelta(days=2))
    scenario = lab(releases=(due,), cash_usd=5400.0)
    run = simulate(scenario, Policy("by hand", Reader(), Trader(), Expected()))
    assert run.books.cash_usd[0, Account.DATA] == 5000.0
    assert run.books.cash_usd[:, : len(FLOWS)].sum() == pytest.approx(5400.0)


def test_a_deployment_to_come_is_kept_back_for() -> None:
    # A model in training since day 0 goes into service on day 2 for 5,000: an order on day 1 leaves that untouched.
    due = ReleaseInputs(name="next", due=MONDAY + timedelta(days=2))
    trades = {"buys": ((1, 9),)}
    scenario = without_rent(lab(releases=(due,), budget_usd_per_year=134_000.0))
    rolled_out = scenario.model_copy(update={"deployment": DeploymentInputs(usd_per_release=5_000.0)})
    less = without_rent(lab(releases=(due,), budget_usd_per_year=129_000.0))
    runs = [live(each, **trades) for each in (scenario, rolled_out, less)]
    assert [had(run) for run in runs] == [[(9, 5)], [(9, 4)], [(9, 4)]]
    assert runs[1].books.cash_usd[2, Account.DEPLOYMENT] == 5_000.0


def test_nothing_changes_where_limits_are_far_away() -> None:
    far = lab(budget_usd_per_year=1e12, cash_usd=1e12, power_kw=1e9)
    trades = {"buys": ((0, 6), (3, 6)), "leases": ((4, 50),)}
    free, bound = live(lab(), **trades), live(far, **trades)
    np.testing.assert_array_equal(free.books.cash_usd, bound.books.cash_usd)
    assert free.orders == bound.orders


# Renting ---------------------------------------------------------------------------------------------------------


def spent_on_rent(run: Run) -> np.ndarray:
    return run.books.cash_usd[:, [Account.ON_DEMAND, Account.SPOT, Account.API]].sum(axis=1)


def test_a_budget_is_spread_over_the_days_left_of_its_year() -> None:
    # 365 x 400 USD: 400 a day rent 200 of the 240 hours asked. Capacity c serves 5 x 12 + c x 12 hours: c = 11 2/3.
    run = live(lab(10, budget_usd_per_year=365 * 400.0))
    np.testing.assert_allclose(spent_on_rent(run), 400.0)
    np.testing.assert_allclose(run.used.served_tokens, run.used.asked_tokens * 200 / 240)
    # At 480 all are served, and what is more is not spent.
    enough = live(lab(10, budget_usd_per_year=365 * 480.0))
    np.testing.assert_array_equal(enough.used.served_tokens, enough.used.asked_tokens)
    rich = live(lab(10, budget_usd_per_year=365 * 900.0))
    np.testing.assert_allclose(spent_on_rent(rich), 480.0)


def test_what_a_day_did_not_need_is_left_for_the_days_after() -> None:
    # Demand is nothing on the first five days: each of the last five may spend a little more than a 365th.
    plain = lab(10, budget_usd_per_year=365 * 200.0)
    trace = Trace(first_day=MONDAY, tokens=(0.0,) * 5 + (TOKENS_PER_DAY,) * 5)
    run = live(plain.model_copy(update={"demand": plain.demand.model_copy(update={"trace": trace})}))
    left, expected = 365 * 200.0, []
    for day in range(10):
        expected.append(0.0 if day < 5 else left / (365 - day))
        left -= expected[-1]
    np.testing.assert_allclose(spent_on_rent(run), expected)


def test_a_new_year_has_a_new_budget() -> None:
    # Paid for the first year in advance, nothing is left for rent until day 365; the rule itself reviews once.
    scenario = lab(370, budget_usd_per_year=365 * 100.0)
    leases = ((0, 10),)  # 100 days x 360 USD = 36,000 of 36,500
    run = live(scenario, leases=leases, review_days=1000)
    rent = spent_on_rent(run)
    assert rent[:365].sum() == pytest.approx(500.0)
    np.testing.assert_allclose(rent[365:], 100.0)


def test_cash_on_hand_lasts_until_the_next_review() -> None:
    # 1,000 USD and an income of 60 a day: what there is may all go by the next review, every 5 days.
    run = live(lab(10, cash_usd=1000.0, income_usd_per_day=60.0), review_days=5)
    rent = spent_on_rent(run)
    np.testing.assert_allclose(rent[:5], 200.0)
    np.testing.assert_allclose(rent[5:], 60.0)


def test_least_hours_count_against_the_money_and_tokens_may_be_bought_with_it() -> None:
    plain = lab(4, budget_usd_per_year=365 * 400.0)
    quote = plain.market.quote[0].model_copy(update={"on_demand_minimum_hours": 24})
    by_day = plain.model_copy(update={"market": plain.market.model_copy(update={"quote": (quote,)})})
    # Every rented GPU is paid all day, 48 USD: 400 rent 8 1/3, which serve 5 x 12 + 8 1/3 x 12 hours.
    run = live(by_day)
    np.testing.assert_allclose(spent_on_rent(run), 400.0)
    np.testing.assert_allclose(run.used.served_tokens / run.used.asked_tokens, (60 + 100) / 240)
    # At 100 USD a million tokens nothing is left to buy any; without GPUs to rent all the money buys some.
    fallback = ApiFallback(usd_per_million_prompt_tokens=100.0, usd_per_million_completion_tokens=100.0)
    bought = live(plain.model_copy(update={"api_fallback": fallback}))
    np.testing.assert_allclose(spent_on_rent(bought), 400.0)
    assert not bought.books.cash_usd[:, Account.API].any()
    elsewhere = live(plain.model_copy(update={"api_fallback": fallback}), cap_gpus=0.0)
    np.testing.assert_allclose(elsewhere.books.cash_usd[:, Account.API], 400.0)
    np.testing.assert_allclose(elsewhere.used.bought_tokens, 4e6)


@settings(deadline=None, max_examples=40)
@given(
    st.floats(1e3, 4e5),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 399), st.integers(1, 12)), max_size=4),
    st.lists(st.tuples(st.integers(0, 399), st.integers(1, 12)), max_size=4),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1, 3, 30]),
    st.integers(1, 40),
    st.integers(0, 9),
)
def test_discretionary_spend_never_exceeds_the_limit(
    usd: float,
    is_cash: bool,
    buys: list[tuple[int, int]],
    leases: list[tuple[int, int]],
    batch: float,
    patience_days: int,
    review_days: int,
    replication: int,
) -> None:
    """Orders and serving by the hour, in every year from the start, or in all: whatever rents and deliveries do."""
    due = ReleaseInputs(name="next", due=MONDAY + timedelta(days=90), train_days=30)
    plain = lab(400, releases=(due,), **{"cash_usd" if is_cash else "budget_usd_per_year": usd})
    demand = plain.demand.model_copy(
        update={"growth_per_year": 2.0, "noise_sigma": 0.3}
        | {"batch": BatchInputs(share=batch, patience_days=patience_days)}
    )
    dearer = MarketEvent(day=MONDAY + timedelta(days=20), on_demand_factor=3.0)
    market = plain.market.model_copy(
        update={"rental_noise_sigma": 0.3, "event": (dearer,), "lead_days": 60.0, "lead_sigma": 0.5}
    )
    fallback = ApiFallback(usd_per_million_prompt_tokens=1.0, usd_per_million_completion_tokens=2.0)
    scenario = plain.model_copy(update={"demand": demand, "market": market, "api_fallback": fallback})
    trader = Trader(buys=tuple(buys), leases=tuple(leases), review_days=review_days)
    run = simulate(scenario, Policy("by hand", FixedRecipe(), trader, Expected()), replication=replication)
    cash, used = run.books.cash_usd, run.used
    rent = run.world.prices.rent_path(0, run.world.calendar.lived_indices)
    serving = used.serving_billed_hours * rent + cash[:, Account.API]
    chosen = serving + cash[:, Account.PURCHASE] + cash[:, Account.RESERVED]
    for span in [slice(0, 400)] if is_cash else [slice(0, 365), slice(365, 400)]:
        assert chosen[span].sum() <= usd * (1 + 1e-9)


def test_nobody_knows_when_gpus_will_really_come() -> None:
    """Ordered on day 0 for day 300, drawn early in one world and late in another: paid on day 300, and cut alike."""
    plain = without_rent(lab(400, budget_usd_per_year=150_000.0))
    market = plain.market.model_copy(update={"lead_days": 300.0, "lead_sigma": 0.3})
    scenario, come, found = plain.model_copy(update={"market": market}), set(), set()
    for replication in range(6):
        policy = Policy("by hand", FixedRecipe(), Trader(buys=((0, 9),)), Expected())
        run = simulate(scenario, policy, replication=replication)
        come.add(run.orders[0].first_day)
        found.add((run.orders[0].gpus, int(np.flatnonzero(run.books.cash_usd[:, Account.PURCHASE])[0])))
    # 20,000 and 65 days of running in the first year.
    assert found == {(int(150_000 // (ALL_IN + 65 * A_DAY)), 300)}
    assert min(come) < 300 < max(come)
