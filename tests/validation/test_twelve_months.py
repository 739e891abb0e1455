"""A year of a fleet, computed day by day as a planner's sheet would: two purchases, a lease, a resale, every account.

The sheet knows nothing of the simulator: plain numbers, one row a day. Round figures:

- Demand keeps 5 GPUs busy for twelve hours of the day, and 15 for the other twelve.
- Day 10: 4 GPUs ordered at 10,000 (20,000 with server and network); day 100: 6 more, at a list price of 9,000 by then.
- They arrive 30 days later, are installed for 5, and work from then on. A fifth is paid with the order, the rest 20
  days after arrival; half of the price is borrowed that day, for a year at 12 %, a twelfth of it every month.
- Day 60: 5 GPUs leased for 100 days at 2.00 less a quarter, half of it paid at once. Rent is 2.00; from day 182 1.80.
- Day 250: 3 of the 4 oldest are sold. A used GPU's server parts fetch 90 % of 15,000 (13,500 for the later ones), less
  0.001 orders of magnitude a day, and no more than 90 % of 1.5 times that day's list price.
- A busy GPU draws 2 kW x 75 % x 1.2, an idle one 2 kW x 25 % x 1.2, at 0.10 a kWh; hosting is 12 a GPU and day;
  maintenance 0.036525 of the all-in price a year: 2.00 a day for 20,000.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from small_lab import MONDAY, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account, Use
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order, Reserve, Sell
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement
from simulator.world.market import Commitment, MarketEvent
from simulator.world.ownership import LoanInputs
from simulator.world.scenario import Scenario

CENT = 0.005
DAYS = 365


class Year(Procurement):
    """What the planner did."""

    review_days: int = 1

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        plan: dict[int, Order] = {
            10: Buy(0, 4, "first"),
            60: Reserve(0, 5, 100, "summer"),
            100: Buy(0, 6, "second"),
            250: Sell(0, 3, "too many"),
        }
        return [plan[observation.day]] if observation.day in plan else []


def scenario(**own: object) -> Scenario:
    plain = plain_scenario()
    events = (
        MarketEvent(day=MONDAY + timedelta(days=90), purchase_factor=0.9, note="a cheaper GPU"),
        MarketEvent(day=MONDAY + timedelta(days=182), on_demand_factor=0.9, note="a cheaper hour"),
    )
    terms = {
        "deposit_share": 0.2,
        "payment_days": 20,
        "installation_days": 5,
        "idle_draw": 0.25,
        "loan": LoanInputs(share=0.5, rate_per_year=0.12, years=1.0),
    }
    lease = Commitment(term_days=100, discount=0.25, upfront_share=0.5)
    return plain.model_copy(
        update={
            "horizon_days": DAYS,
            "market": plain.market.model_copy(update={"event": events, "commitment": (lease,), "lead_days": 30.0}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
            "ownership": plain.ownership.model_copy(update={**terms, **own}),
        }
    )


def live(world: Scenario) -> Run:
    return simulate(world, Policy("by hand", FixedRecipe(), Year(), Expected()))


@pytest.fixture(scope="module")
def run() -> Run:
    return live(scenario())


# The sheet -------------------------------------------------------------------------------------------------------

TRANCHES = (
    # GPUs, list price, ordered, in service, sold (never: None)
    (3, 10_000.0, 10, 45, 250),
    (1, 10_000.0, 10, 45, None),
    (6, 9_000.0, 100, 135, None),
)
LIST = [10_000.0] * 90 + [9_000.0] * (DAYS - 90)
RENT = [2.0] * 182 + [1.8] * (DAYS - 182)
MONTH_ENDS = [round(month * 365.25 / 12) for month in range(13)]


def bid(list_price: float, age: int, today: float) -> float:
    return min(list_price * 10 ** (-0.001 * age), today) * 1.5 * 0.9


def loan_rows(borrowed: float, drawn: int, sold: int | None) -> list[tuple[int, float, float, list[float]]]:
    """Day, principal repaid, interest paid, and interest of every day before it since the last row."""
    instalment = borrowed * 0.01 / (1 - 1.01**-12)
    rows, owed = [], borrowed
    for month in range(1, 13):
        first, last = drawn + MONTH_ENDS[month - 1], drawn + MONTH_ENDS[month]
        interest = owed * 0.01
        if sold is not None and sold <= last:
            days = sold - first
            rows.append((sold, owed, interest * days / (last - first), [interest / (last - first)] * days))
            break
        rows.append((last, instalment - interest, interest, [interest / (last - first)] * (last - first)))
        owed -= instalment - interest
    return rows


def sheet() -> tuple[dict[Account, list[float]], dict[Use, list[float]]]:
    cash = {account: [0.0] * DAYS for account in Account}
    use = {use: [0.0] * DAYS for use in Use}
    owned, all_day, interest_of_day = [0] * DAYS, [0.0] * DAYS, [0.0] * (2 * DAYS)
    for gpus, price, ordered, service, sold in TRANCHES:
        all_in, due = gpus * price * 2.0, ordered + 30 + 20
        cash[Account.PURCHASE][ordered] += 0.2 * all_in
        cash[Account.PURCHASE][due] += 0.8 * all_in
        cash[Account.LOAN][due] -= 0.5 * all_in
        open_loan, paid_interest, accrued, day = 0.5 * all_in, 0.0, 0.0, due
        for when, principal, interest, by_day in loan_rows(0.5 * all_in, due, sold):
            for usd in by_day:
                interest_of_day[day] += usd
                accrued += usd if day < DAYS else 0.0
                day += 1
            if when < DAYS:
                cash[Account.LOAN][when] += principal
                cash[Account.INTEREST][when] += interest
                open_loan -= principal
                paid_interest += interest
        cash[Account.CLOSING_LOANS][-1] += open_loan + accrued - paid_interest
        end = DAYS if sold is None else sold
        worth = [gpus * bid(price, day - service, LIST[day]) for day in range(service, DAYS)]
        for day in range(service, end):
            owned[day] += gpus
            cash[Account.MAINTENANCE][day] += gpus * price * 2.0 * 0.036525 / 365.25
            before = all_in if day == service else worth[day - 1 - service]
            all_day[day] += before - worth[day - service] + gpus * price * 2.0 * 0.036525 / 365.25
        if sold is None:
            cash[Account.CLOSING_FLEET][-1] -= worth[-1]
        else:
            cash[Account.RESALE][sold] -= worth[sold - service]
            all_day[sold] += worth[sold - 1 - service] - worth[sold - service]
    for day in range(DAYS):
        leased = 5 if 60 <= day < 160 else 0
        held = owned[day] + leased
        busy = 12 * min(5, held) + 12 * min(15, held)
        idle = 24 * held - busy
        cash[Account.RESERVED][day] += leased * 24 * 1.5 / 2 + (5 * 24 * 1.5 * 100 / 2 if day == 60 else 0.0)
        cash[Account.HOSTING][day] = owned[day] * 12.0
        # Owned and leased GPUs share the work alike.
        busy_share = busy / (24 * held) if held else 0.0
        kwh = owned[day] * 24 * 2.0 * 1.2 * (0.75 * busy_share + 0.25 * (1 - busy_share))
        cash[Account.POWER][day] = kwh * 0.10
        cash[Account.ON_DEMAND][day] = (240 - busy) * RENT[day]
        idle_power = owned[day] * 24 * 2.0 * 1.2 * 0.25 * 0.10
        alike = all_day[day] + interest_of_day[day] + leased * 36.0 + owned[day] * 12.0 + idle_power
        use[Use.SERVING][day] = cash[Account.ON_DEMAND][day]
        if held:
            use[Use.SERVING][day] += alike * busy / (24 * held) + cash[Account.POWER][day] - idle_power
            use[Use.IDLE][day] = alike * idle / (24 * held)
        else:
            use[Use.IDLE][day] = alike
    return cash, use


def test_every_account_of_every_day(run: Run) -> None:
    cash, _ = sheet()
    for account in Account:
        np.testing.assert_allclose(
            run.books.cash_usd[:, account], cash[account], atol=CENT, rtol=0, err_msg=account.name
        )


def test_every_use_of_every_day(run: Run) -> None:
    _, uses = sheet()
    for use in Use:
        np.testing.assert_allclose(run.books.economic_usd[:, use], uses[use], atol=CENT, rtol=0, err_msg=use.name)


def test_both_views_come_to_the_same(run: Run) -> None:
    cash, uses = sheet()
    total = sum(sum(column) for column in cash.values())
    assert total == pytest.approx(sum(sum(column) for column in uses.values()), abs=CENT)
    assert run.books.cash_usd.sum() == pytest.approx(total, abs=CENT)
    assert run.books.economic_usd.sum() == pytest.approx(total, abs=CENT)


def test_the_year_by_account_as_totals(run: Run) -> None:
    """Figures a reader can check with a pocket calculator."""
    totals = dict(zip(Account, run.books.cash_usd.sum(axis=0), strict=True))
    assert totals[Account.PURCHASE] == pytest.approx(4 * 20_000 + 6 * 18_000)
    assert totals[Account.RESERVED] == pytest.approx(5 * 100 * 36.0)
    assert totals[Account.HOSTING] == pytest.approx(12.0 * (3 * 205 + 320 + 6 * 230))
    assert totals[Account.MAINTENANCE] == pytest.approx(2.0 * (3 * 205 + 320) + 1.8 * 6 * 230)
    assert totals[Account.RESALE] == pytest.approx(-3 * 10_000 * 10**-0.205 * 1.35, abs=CENT)
    # 940 + 1,380 GPU-days of 24 hours and 2.4 kW at full draw, less half of it in idle hours, lie between the two.
    gpu_days = 3 * 205 + 320 + 6 * 230
    assert gpu_days * 24 * 2.4 * 0.25 * 0.1 < totals[Account.POWER] < gpu_days * 24 * 2.4 * 0.75 * 0.1
    assert [order.gpus for order in run.orders] == [4, 5, 6, 3]


def test_over_a_whole_life_what_is_amortised_is_what_was_paid() -> None:
    """GPUs bought, used and sold within the window: the two views agree without any inventory."""
    whole = live(scenario(useful_life_years=150 / 365.25))
    inventory = [account for account in Account if account >= Account.OPENING_FLEET]
    assert not np.abs(whole.books.cash_usd[:, inventory]).max() > CENT
    assert whole.books.cash_usd.sum() == pytest.approx(whole.books.economic_usd.sum(), abs=CENT)
    held = whole.used.owned_gpus[0]
    assert (held.max(), held[-1]) == (10.0, 0.0)
