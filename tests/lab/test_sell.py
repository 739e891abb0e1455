"""GPUs sold before their time: six days by hand, and what must hold whatever is bought and sold.

A GPU serves 1,000 tokens a second of the opening model, so that serving takes 5 GPUs for twelve hours and 15 for the
other twelve: 240 GPU-hours a day at 2.00. Server parts fetch 13,500 less 0.001 orders of magnitude a day.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import MONDAY, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account, Use
from simulator.lab.fleet import Fleet
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order, Purchase, Sell, Tenure
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement
from simulator.world.market import MarketEvent
from simulator.world.scenario import OwnedInputs, Scenario

CENT = 0.005
RUNNING = 2.0 * 0.75 * 1.2 * 24 * 0.10 + 2.0 * 6.0  # a GPU and day: power 4.32, hosting 12
ALL_IN, SERVER_BID = 20_000.0, 10_000 * 1.5 * 0.9


def fetches(age_days: int) -> float:
    return float(SERVER_BID * 10 ** (-0.001 * age_days))


def lab(horizon_days: int = 6, life_days: int = 1826, old_gpus: int = 0, **market: object) -> Scenario:
    """The plain scenario without releases, at steady prices, upkeep only power and hosting."""
    plain = plain_scenario()
    old = OwnedInputs(accelerator="Unit", gpus=max(old_gpus, 1), age_days=10, paid_usd_per_gpu=10_000.0)
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": (), **market}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
            "ownership": plain.ownership.model_copy(
                update={"maintenance_per_year": 0.0, "useful_life_years": life_days / 365.25}
            ),
            "opening_fleet": (old,) if old_gpus else (),
        }
    )


class Dealer(Procurement):
    """Buys (or, below zero, sells) so many on each day; what is not there cannot be sold, and is not."""

    review_days: int = 1
    trades: tuple[tuple[int, int], ...] = ()
    is_careful: bool = False

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        orders: list[Order] = []
        for day, gpus in self.trades:
            if day == observation.day and gpus > 0:
                orders.append(Buy(0, gpus, "told to"))
            elif day == observation.day:
                there = sum(tranche.gpus for tranche in observation.fleet.oldest(0, -gpus, day))
                sold = there if self.is_careful else -gpus
                orders += [Sell(0, sold, "told to")] if sold else []
        return orders


def live(scenario: Scenario, *trades: tuple[int, int], is_careful: bool = False) -> Run:
    dealer = Dealer(trades=trades, is_careful=is_careful)
    return simulate(scenario, Policy("by hand", FixedRecipe(), dealer, Expected()))


@pytest.fixture(scope="module")
def run() -> Run:
    """Five old GPUs, eight bought on day 0 that arrive on day 1; on day 3 the five are sold, and two of the eight."""
    return live(lab(old_gpus=5), (0, 8), (3, -7))


def test_the_days_of_a_sale_by_account(run: Run) -> None:
    cash = run.books.cash_usd
    owned = np.array([5.0, 13.0, 13.0, 6.0, 6.0, 6.0])
    np.testing.assert_array_equal(run.used.owned_gpus[0], owned)
    expected = np.zeros((6, len(Account)))
    expected[0, Account.OPENING_FLEET] = 5 * fetches(10)
    expected[1, Account.PURCHASE] = 8 * ALL_IN
    expected[3, Account.RESALE] = -(5 * fetches(13) + 2 * fetches(2))
    expected[5, Account.CLOSING_FLEET] = -6 * fetches(4)
    expected[:, Account.POWER], expected[:, Account.HOSTING] = 4.32 * owned, 12.0 * owned
    # Rented: 10, 2 and 9 GPUs for the busy twelve hours.
    expected[:, Account.ON_DEMAND] = [240.0, 48.0, 48.0, 216.0, 216.0, 216.0]
    np.testing.assert_allclose(cash, expected, atol=CENT, rtol=0)


def test_the_days_of_a_sale_by_use(run: Run) -> None:
    # The loss of a day's value falls on that day: what was sold loses its last on the day it is sold.
    loss = np.array(
        [
            0.0,
            5 * (fetches(10) - fetches(11)) + 8 * (ALL_IN - fetches(0)),
            5 * (fetches(11) - fetches(12)) + 8 * (fetches(0) - fetches(1)),
            5 * (fetches(12) - fetches(13)) + 8 * (fetches(1) - fetches(2)),
            6 * (fetches(2) - fetches(3)),
            6 * (fetches(3) - fetches(4)),
        ]
    )
    held = loss + RUNNING * np.array([5, 13, 13, 6, 6, 6])
    # 5 GPUs: 5 by night and 5 by day; 13: 5 and 13; 6: 5 and 6, for twelve hours each.
    used = 12 * np.array([10, 18, 18, 11, 11, 11]) / (24 * np.array([5, 13, 13, 6, 6, 6]))
    expected = np.zeros((6, len(Use)))
    expected[:, Use.SERVING] = held * used + [240.0, 48.0, 48.0, 216.0, 216.0, 216.0]
    expected[:, Use.IDLE] = held * (1 - used)
    np.testing.assert_allclose(run.books.economic_usd, expected, atol=CENT, rtol=0)
    assert run.books.cash_usd.sum() == pytest.approx(run.books.economic_usd.sum(), abs=CENT)


def test_a_sale_is_told_among_the_orders(run: Run) -> None:
    bought, sold = run.orders
    assert (bought.day, bought.gpus, bought.usd) == (0, 8, 8 * ALL_IN)
    assert (sold.day, sold.first_day, sold.last_day, sold.tenure, sold.gpus) == (3, 3, 3, Tenure.OWNED, 7)
    assert sold.usd == pytest.approx(-(5 * fetches(13) + 2 * fetches(2)), abs=CENT)


def test_a_sale_fetches_no_more_than_todays_new_price() -> None:
    cut = MarketEvent(day=MONDAY.replace(day=3), purchase_factor=0.5)
    run = live(lab(event=(cut,)), (0, 8), (3, -8))
    assert run.orders[-1].usd == pytest.approx(-8 * SERVER_BID / 2)
    assert run.books.cash_usd[3, Account.RESALE] == pytest.approx(-8 * SERVER_BID / 2)


def test_what_is_left_of_a_tranche_is_sold_at_the_end_of_its_life() -> None:
    run = live(lab(life_days=3), (0, 4), (2, -1))
    np.testing.assert_array_equal(run.used.owned_gpus[0], [0.0, 4.0, 3.0, 3.0, 0.0, 0.0])
    resale = -run.books.cash_usd[:, Account.RESALE]
    np.testing.assert_allclose(resale, [0, 0, fetches(1), 0, 3 * fetches(3), 0], atol=CENT)
    whole = live(lab(life_days=3), (0, 4), (2, -4))
    np.testing.assert_array_equal(whole.used.owned_gpus[0], [0.0, 4.0, 0.0, 0.0, 0.0, 0.0])
    assert not whole.books.cash_usd[3:, Account.RESALE].any()


@pytest.mark.parametrize(
    ("trades", "sold"), [(((0, 8), (3, -9)), 8), (((0, 8), (1, -8)), 0), (((2, -1),), 0), (((0, 8), (3, -8)), 8)]
)
def test_nobody_sells_what_is_not_there_or_came_this_morning(trades: tuple[tuple[int, int], ...], sold: int) -> None:
    run = live(lab(), *trades)
    order, asked = run.orders[-1], -trades[-1][1]
    assert (order.asked_gpus, order.gpus) == (asked, sold)
    assert (f"{asked} asked, cut to what is there to be sold" in order.reason) == (sold < asked)
    assert run.used.owned_gpus.sum(axis=0)[-1:] == (8.0 if trades[0][1] == 8 else 0.0) - sold


trades = st.lists(
    st.tuples(st.integers(0, 19), st.integers(-12, 12).filter(bool)), max_size=12, unique_by=lambda trade: trade[0]
)


@settings(deadline=None, max_examples=40)
@given(trades, st.integers(1, 12), st.integers(0, 3), st.integers(0, 9))
def test_whatever_is_bought_and_sold_the_tables_agree(
    found: list[tuple[int, int]], life_days: int, lead_days: int, old_gpus: int
) -> None:
    scenario = lab(20, max(life_days, 11), old_gpus, lead_days=float(lead_days))
    run = live(scenario, *found, is_careful=True)
    cash, economic, used = run.books.cash_usd, run.books.economic_usd, run.used
    assert cash.sum() == pytest.approx(economic.sum(), abs=1e-9 * np.abs(cash).sum() + CENT)
    assert (used.owned_gpus >= 0.0).all()
    # Counted anew, GPU by GPU: each tranche until it is sold or retired, the oldest first.
    tranches = [[-10, max(life_days, 11) - 10, old_gpus]] if old_gpus else []
    owned, resale = np.zeros(20), np.zeros(20)
    for day in range(20):
        for tranche in tranches:
            if tranche[1] == day:
                resale[day] += tranche[2] * fetches(day - tranche[0])
                tranche[2] = 0
        for when, gpus in found:
            if when == day and gpus > 0:
                tranches.append([day + lead_days, day + lead_days + max(life_days, 11), gpus])
            elif when == day:
                wanted = -gpus
                for tranche in sorted(tranches):
                    if max(tranche[0], 0) < day:
                        sold = min(wanted, tranche[2])
                        tranche[2] -= sold
                        wanted -= sold
                        resale[day] += sold * fetches(day - tranche[0])
        owned[day] = sum(gpus for first, _, gpus in tranches if first <= day)
    np.testing.assert_array_equal(used.owned_gpus.sum(axis=0), owned)
    np.testing.assert_allclose(-cash[:, Account.RESALE], resale, atol=CENT)
    sold_usd = sum(order.usd for order in run.orders if order.usd < 0.0)
    assert sold_usd >= cash[:, Account.RESALE].sum() - CENT


def test_part_of_a_gpu_is_not_for_sale() -> None:
    # On the last day of a run part of a GPU trains: what is left of it is no tranche of no GPUs.
    fleet = Fleet(1)
    fleet.deliver(fleet.order(Purchase(0, 4, 10_000.0, -10, 100), 0))
    assert fleet.oldest(0, 0.5, 1) == []
    assert [part.gpus for _, part in fleet.oldest(0, 2.5, 1)] == [2]
