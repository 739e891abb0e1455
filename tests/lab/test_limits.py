"""Orders beyond power, budget or cash: cut by rule, to the GPU, and told.

A GPU draws 2 kW, 2.4 at the meter, costs 20,000 with server and network, and 4.32 + 12 a day to run. Rent is 2.00;
serving takes 240 GPU-hours a day, 480 USD, where nothing is held. A lease for 100 days is 1.50 an hour, 36 a day.
"""

from __future__ import annotations

import numpy as np
from small_lab import MONDAY, FixedRecipe, plain_scenario

from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order, Reserve, Sell
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement
from simulator.world.limits import LimitsInputs
from simulator.world.roadmap import ReleaseInputs
from simulator.world.scenario import Scenario

A_DAY = 2.0 * 0.75 * 1.2 * 24 * 0.10 + 2.0 * 6.0  # running a GPU: 16.32
ALL_IN = 20_000.0
RENTED_A_DAY = 240 * 2.0


class Trader(Procurement):
    """Buys, leases (for 100 days) or sells on its days."""

    review_days: int = 1
    buys: tuple[tuple[int, int], ...] = ()
    leases: tuple[tuple[int, int], ...] = ()
    sales: tuple[tuple[int, int], ...] = ()

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        day = observation.day
        orders: list[Order] = [Sell(0, gpus, "as planned") for when, gpus in self.sales if when == day]
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
    full = live(lab(power_kw=25.0), buys=((0, 10), (1, 8)))
    assert had(full) == [(10, 10), (8, 0)]


# Money -----------------------------------------------------------------------------------------------------------


def test_a_budget_pays_price_and_running_costs_of_its_year() -> None:
    # A GPU ordered on day 0 runs from day 2: 20,000 and 363 days of 16.32 are 25,924.16. 100,000 pay for three.
    assert had(live(lab(budget_usd_per_year=100_000.0), buys=((0, 5),))) == [(5, 3)]
    exact = 3 * (ALL_IN + 363 * A_DAY)
    assert had(live(lab(budget_usd_per_year=exact), buys=((0, 5),))) == [(5, 3)]
    assert had(live(lab(budget_usd_per_year=exact - 1.0), buys=((0, 5),))) == [(5, 2)]


def test_a_second_order_has_what_the_first_and_the_days_before_left() -> None:
    # Day 4: three GPUs and four days of rent behind. Two days of them at 240 less 3 x 24 held hours.
    spent = 2 * RENTED_A_DAY + 2 * (240 - 72) * 2.0
    left = 150_000 - spent - 3 * (ALL_IN + 363 * A_DAY)
    affordable = int(left // (ALL_IN + 359 * A_DAY))
    run = live(lab(budget_usd_per_year=150_000.0), buys=((0, 3), (4, 9)))
    assert had(run) == [(3, 3), (9, affordable)]
    assert affordable == 2
    assert run.orders[1].reason.endswith("9 asked, cut to what the budget allows")


def test_a_lease_must_fit_the_budget_of_every_year_it_touches() -> None:
    # 100 days from day 300: 65 in the first year, 35 in the second; the first year has been spent down by rent.
    spent = 300 * RENTED_A_DAY
    budget = spent + 65 * 36.0 * 4
    assert had(live(lab(310, budget_usd_per_year=budget), leases=((300, 9),))) == [(9, 4)]
    # Signed on day 0, all of it is in the first year.
    assert had(live(lab(10, budget_usd_per_year=100 * 36.0 * 7), leases=((0, 9),))) == [(9, 7)]


def test_cash_must_last_for_what_is_agreed_on() -> None:
    # 50,000 on hand: a GPU costs 20,000 on day 2 and 16.32 a day for its 1,826 days of life, but for the look ahead.
    scenario = lab(cash_usd=50_000.0, income_usd_per_day=100.0)
    run = live(scenario, buys=((0, 3),))
    assert had(run) == [(3, 2)]
    assert run.orders[0].reason.endswith("3 asked, cut to what cash on hand allows")
    # Without income two GPUs cannot be run until the end of what the lab looks at.
    days = scenario.calendar.horizon_days + scenario.calendar.look_ahead_days
    bound = -(-days // 365) * 365
    affordable = int(50_000.0 // (ALL_IN + (bound - 2) * A_DAY))
    assert had(live(lab(cash_usd=50_000.0), buys=((0, 3),))) == [(3, affordable)]
    assert affordable == 1


def test_training_under_way_comes_before_orders_and_beyond_the_budget_is_told() -> None:
    # 144 GPU-hours at 2.00 are 288 USD, decided before the review of day 0.
    due = ReleaseInputs(name="next", due=MONDAY.replace(day=3), train_days=2)
    one = ALL_IN + 363 * A_DAY
    assert had(live(lab(releases=(due,), budget_usd_per_year=one + 288.0), buys=((0, 2),))) == [(2, 1)]
    run = live(lab(releases=(due,), budget_usd_per_year=one + 287.0), buys=((0, 2),))
    assert had(run) == [(2, 0)]
    poor = live(lab(releases=(due,), budget_usd_per_year=88.0))
    assert poor.orders[0].reason == "what is agreed on exceeds the budget of the year by 200 USD"
    assert (poor.orders[0].gpus, poor.orders[0].usd) == (0, 0.0)


def test_nothing_changes_where_limits_are_far_away() -> None:
    far = lab(budget_usd_per_year=1e12, cash_usd=1e12, power_kw=1e9)
    trades = {"buys": ((0, 6), (3, 6)), "leases": ((4, 50),)}
    free, bound = live(lab(), **trades), live(far, **trades)
    np.testing.assert_array_equal(free.books.cash_usd, bound.books.cash_usd)
    assert free.orders == bound.orders
