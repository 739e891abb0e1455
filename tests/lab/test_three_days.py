"""Three days of a lab, every account computed by hand: one purchase with a lead time, one run, one rented overflow.

A GPU serves 1,000 tokens a second of the opening model, so 10,000 a second need 5 GPUs for twelve hours and 15 for
the other twelve: 240 GPU-hours a day. The new model is half as large: 120 GPU-hours. Rent is 2.00 on day 0 and 1.80
from day 1. Eight GPUs are bought on day 0 and arrive on day 1. The run takes 4 GPUs for a day and a half.
"""

from __future__ import annotations

import numpy as np
import pytest
from small_lab import FixedOrders, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account, Use
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.policy import Policy

CENT = 0.005


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(plain_scenario(), Policy("by hand", FixedRecipe(), FixedOrders(buys=(8,)), Expected()))


# Day 0: nothing owned. Training 4 x 24 h, serving 240 h, all rented at 2.00.
# Day 1: 8 GPUs arrive. The run's last half day holds 4 x 12 = 48 h, that is 2 GPUs all day; of the 6 left, serving
#        uses 5 for 12 h and 6 for 12 h = 132 h, and rents the 9 that lack for 12 h = 108 h at 1.80. 12 h stay idle.
# Day 2: the new model needs 2.5 and 7.5 GPUs: 120 h on the 8 owned, nothing rented, 72 h idle.
ALL_IN = 8 * 10_000 * 1.5 / (1 - 0.25)  # 160,000
BID_DAY_1 = 8 * 10_000 * 1.5 * 0.9  # 108,000: server parts less the spread
BID_DAY_2 = BID_DAY_1 * 10**-0.001  # 0.36525 orders of magnitude a year are 0.001 a day
POWER = 8 * 2.0 * 0.75 * 1.2 * 24 * 0.10  # 34.56
HOSTING = 8 * 2.0 * 6.0  # 182.625 a month are 6 a day: 96
MAINTENANCE = ALL_IN * 0.036525 / 365.25  # 16
HELD_DAY_1 = (ALL_IN - BID_DAY_1) + POWER + HOSTING + MAINTENANCE  # 52,146.56 for 192 GPU-hours
HELD_DAY_2 = (BID_DAY_1 - BID_DAY_2) + POWER + HOSTING + MAINTENANCE
TRAINED = 96 * 2.00 + HELD_DAY_1 * 48 / 192  # 13,228.64
LEFT_OF_MODEL = TRAINED * 2 / 3  # planned for three days, served one


def test_cash_by_day_and_account(run: Run) -> None:
    expected = np.zeros((3, len(Account)))
    expected[0, Account.ON_DEMAND] = (96 + 240) * 2.00
    expected[1, Account.ON_DEMAND] = 108 * 1.80
    expected[1, Account.PURCHASE] = ALL_IN
    expected[1:, Account.POWER] = POWER
    expected[1:, Account.HOSTING] = HOSTING
    expected[1:, Account.MAINTENANCE] = MAINTENANCE
    expected[2, Account.CLOSING_FLEET] = -BID_DAY_2
    expected[2, Account.CLOSING_MODELS] = -LEFT_OF_MODEL
    np.testing.assert_allclose(run.books.cash_usd, expected, atol=CENT, rtol=0)


def test_economic_cost_by_day_and_use(run: Run) -> None:
    expected = np.zeros((3, len(Use)))
    expected[0, Use.TRAINING] = 96 * 2.00
    expected[0, Use.SERVING] = 240 * 2.00
    expected[1, Use.TRAINING] = HELD_DAY_1 * 48 / 192
    expected[1, Use.SERVING] = HELD_DAY_1 * 132 / 192 + 108 * 1.80
    expected[1, Use.IDLE] = HELD_DAY_1 * 12 / 192
    expected[2, Use.SERVING] = HELD_DAY_2 * 120 / 192
    expected[2, Use.IDLE] = HELD_DAY_2 * 72 / 192
    expected[2, Use.TRAINING] = -LEFT_OF_MODEL
    np.testing.assert_allclose(run.books.economic_usd, expected, atol=CENT, rtol=0)


def test_the_story(run: Run) -> None:
    (order,), (release,) = run.orders, run.releases
    assert (order.day, order.first_day, order.gpus, order.usd) == (0, 1, 8, ALL_IN)
    assert (release.deploy_day, release.days_late) == (2, 0)
    np.testing.assert_allclose(run.used.served_tokens, 8.64e8)
    (cost,) = run.books.releases
    assert cost.training_usd == pytest.approx(TRAINED, abs=CENT)
    assert cost.served_tokens == pytest.approx(8.64e8)


@pytest.mark.parametrize("lead_days", [0, 1, 2])
def test_a_lead_time_of_n_days_delivers_on_day_n(lead_days: int) -> None:
    plain = plain_scenario()
    scenario = plain.model_copy(update={"market": plain.market.model_copy(update={"lead_days": float(lead_days)})})
    bought = simulate(scenario, Policy("by hand", FixedRecipe(), FixedOrders(buys=(8,)), Expected()))
    owned = bought.used.owned_gpus[0]
    np.testing.assert_array_equal(owned, np.where(np.arange(3) >= lead_days, 8.0, 0.0))


def test_an_idle_reserved_gpu_is_paid() -> None:
    leased = simulate(plain_scenario(), Policy("by hand", FixedRecipe(), FixedOrders(reserves=(100,)), Expected()))
    np.testing.assert_allclose(leased.books.cash_usd[:, Account.RESERVED], 100 * 2.00 * 0.75 * 24)
    # What is still owed, 362 days at 1.50, less what subletting at 1.80 x 0.75 less a tenth brings.
    debt = 362 * 24 * 100 * (1.50 - 1.80 * 0.75 * 0.9)
    assert leased.books.cash_usd[-1, Account.CLOSING_LEASES] == pytest.approx(debt, abs=CENT)
