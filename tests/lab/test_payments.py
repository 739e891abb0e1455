"""When GPUs are paid, with what money, and how many of them work: small labs by hand.

A GPU costs 10,000 and 20,000 with server and network; its server parts fetch 13,500 less 0.001 orders of magnitude a
day. Rent is 2.00; serving takes 5 GPUs for twelve hours and 15 for the other twelve, 240 GPU-hours a day.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import FixedOrders, FixedRecipe, plain_scenario
from strategies import observed

from simulator.lab.accounts import Account, Use
from simulator.lab.break_even import BreakEven
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.ladder import Ladder
from simulator.lab.orders import Purchase
from simulator.lab.payments import Loan, payments
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, Newsvendor, Procurement, RentOnDemand, owned_usd_per_gpu_hour
from simulator.world.market import Commitment
from simulator.world.scenario import LeasedInputs, OwnershipInputs, Scenario
from simulator.world.world import realize

CENT = 0.005
POWER = 2.0 * 0.75 * 1.2 * 24 * 0.10  # a GPU and day: 4.32
HOSTING = 2.0 * 6.0
ALL_IN = 20_000.0


def fetches(age_days: int) -> float:
    return float(10_000 * 1.5 * 0.9 * 10 ** (-0.001 * age_days))


def lab(horizon_days: int = 10, commitment: tuple[Commitment, ...] = (), **own: object) -> Scenario:
    """The plain scenario without releases or upkeep, at steady prices; a GPU comes two days after its order."""
    plain = plain_scenario()
    market = {"event": (), "lead_days": 2.0, "commitment": commitment or plain.market.commitment}
    ownership = {**plain.ownership.model_dump(), "maintenance_per_year": 0.0, **own}
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update=market),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
            "ownership": OwnershipInputs.model_validate(ownership),
        }
    )


def live(scenario: Scenario, procurement: Procurement | None = None) -> Run:
    return simulate(scenario, Policy("by hand", FixedRecipe(), procurement or RentOnDemand(), Expected()))


def account(run: Run, which: Account) -> list[float]:
    return [round(float(usd), 2) for usd in run.books.cash_usd[:, which]]


def assert_tables_agree(run: Run) -> None:
    cash, economic = run.books.cash_usd, run.books.economic_usd
    assert cash.sum() == pytest.approx(economic.sum(), abs=1e-9 * np.abs(cash).sum())


# Deposits and terms ----------------------------------------------------------------------------------------------


def test_a_deposit_is_paid_with_the_order_and_the_rest_when_it_is_due() -> None:
    # Ordered on day 0, there on day 2, installed until day 5; a quarter at once, the rest four days after arrival.
    run = live(lab(deposit_share=0.25, payment_days=4, installation_days=3), FixedOrders(buys=(2,)))
    assert account(run, Account.PURCHASE) == [10_000.0] + [0.0] * 5 + [30_000.0] + [0.0] * 3
    np.testing.assert_array_equal(run.used.owned_gpus[0], [0.0] * 5 + [2.0] * 5)
    assert account(run, Account.POWER) == [0.0] * 5 + [round(2 * POWER, 2)] * 5
    assert not run.books.cash_usd[:, Account.CLOSING_PAYMENTS].any()
    assert_tables_agree(run)


def test_what_is_not_paid_yet_is_a_debt_and_what_has_not_come_is_not_lost() -> None:
    owing = live(lab(4, payment_days=9), FixedOrders(buys=(2,)))
    assert account(owing, Account.PURCHASE) == [0.0] * 4
    assert account(owing, Account.CLOSING_PAYMENTS) == [0.0] * 3 + [2 * ALL_IN]
    assert account(owing, Account.CLOSING_FLEET)[-1] == round(-2 * fetches(1), 2)
    assert_tables_agree(owing)
    prepaid = live(lab(4, deposit_share=0.5, installation_days=9), FixedOrders(buys=(2,)))
    assert account(prepaid, Account.PURCHASE) == [ALL_IN, 0.0, ALL_IN, 0.0]
    assert account(prepaid, Account.CLOSING_PAYMENTS) == [0.0] * 3 + [-2 * ALL_IN]
    assert prepaid.books.cash_usd.sum() == pytest.approx(4 * 240 * 2.0)  # serving is rented, nothing else is lost
    assert_tables_agree(prepaid)


# Loans -----------------------------------------------------------------------------------------------------------


def test_a_loan_is_an_annuity_to_the_cent() -> None:
    # 16,000 at 12 % a year over 3 months: 1 % a month, instalments of 16,000 x 0.01 / (1 - 1.01^-3) = 5,440.35.
    own = OwnershipInputs.model_validate(
        lab(loan={"share": 0.8, "rate_per_year": 0.12, "years": 0.25}).ownership.model_dump()
    )
    loan = Loan.of(own, Purchase(0, 1, 10_000.0, 7, 2000, ordered_day=0))
    assert loan is not None
    instalment = 16_000 * 0.01 / (1 - 1.01**-3)
    owed, rows = 16_000.0, []
    for month in range(1, 4):
        interest = owed * 0.01
        owed += interest - instalment
        rows.append((7 + round(month * 30.4375), instalment - interest, interest))
    assert owed == pytest.approx(0.0, abs=1e-9)
    principal, interest_paid, accrued = loan.principal(200), loan.interest(200), loan.accrued(200)
    assert principal[7] == pytest.approx(-16_000)
    for day, repaid, interest in rows:
        assert principal[day] == pytest.approx(repaid, abs=CENT)
        assert interest_paid[day] == pytest.approx(interest, abs=CENT)
    assert np.count_nonzero(principal) == 4
    assert np.count_nonzero(interest_paid) == 3
    assert principal.sum() == pytest.approx(0.0, abs=CENT)
    assert accrued[:7].sum() == 0.0
    assert accrued[7 : rows[0][0]].sum() == pytest.approx(rows[0][2], abs=CENT)
    assert accrued.sum() == pytest.approx(interest_paid.sum(), abs=CENT)


def test_a_loan_without_interest_is_repaid_in_equal_parts() -> None:
    own = lab(loan={"share": 0.5, "rate_per_year": 0.0, "years": 1.0}).ownership
    loan = Loan.of(own, Purchase(0, 3, 10_000.0, 0, 5000, ordered_day=0))
    assert loan is not None
    repaid = loan.principal(400)
    assert repaid[0] == pytest.approx(-30_000 + 0.0)
    np.testing.assert_allclose(repaid[1:][repaid[1:] != 0.0], 2_500.0)
    assert not loan.interest(400).any()


def test_a_loan_is_repaid_at_once_when_its_gpus_are_sold() -> None:
    # In service from day 2 for 50 days; 12 % a year: 1 % a month of 16,000, the second month broken off on day 52.
    loan = {"share": 0.8, "rate_per_year": 0.12, "years": 1.0}
    run = live(lab(60, loan=loan, useful_life_years=50 / 365.25), FixedOrders(buys=(1,)))
    instalment = 16_000 * 0.01 / (1 - 1.01**-12)
    owed = 16_000 * 1.01 - instalment
    month_end = 2 + round(30.4375)
    accrued = owed * 0.01 * (52 - month_end) / (2 + round(2 * 30.4375) - month_end)
    cash = run.books.cash_usd
    assert cash[2, Account.LOAN] == pytest.approx(-16_000)
    assert cash[month_end, Account.LOAN] == pytest.approx(instalment - 160, abs=CENT)
    assert cash[month_end, Account.INTEREST] == pytest.approx(160, abs=CENT)
    assert cash[52, Account.LOAN] == pytest.approx(owed, abs=CENT)
    assert cash[52, Account.INTEREST] == pytest.approx(accrued, abs=CENT)
    assert cash[:, Account.LOAN].sum() == pytest.approx(0.0, abs=CENT)
    assert not cash[:, Account.CLOSING_LOANS].any() or abs(cash[:, Account.CLOSING_LOANS].sum()) < CENT
    assert_tables_agree(run)


def test_what_is_owed_at_the_end_is_a_debt_with_its_interest_so_far() -> None:
    loan = {"share": 0.8, "rate_per_year": 0.12, "years": 1.0}
    run = live(lab(12, loan=loan), FixedOrders(buys=(1,)))
    # Ten days of the first month, of 30 days, at 160 USD.
    assert run.books.cash_usd[-1, Account.CLOSING_LOANS] == pytest.approx(16_000 + 160 * 10 / 30, abs=CENT)
    interest = live(lab(12), FixedOrders(buys=(1,))).books.economic_usd.sum()
    assert run.books.economic_usd.sum() - interest == pytest.approx(160 * 10 / 30, abs=CENT)
    assert_tables_agree(run)


def test_planning_prices_know_what_borrowing_costs() -> None:
    """A loan at the lab's own discount rate changes nothing; a dearer one makes owning dearer."""
    costs = []
    for rate in (None, 0.02, 0.08, 0.15):
        loan = None if rate is None else {"share": 1.0, "rate_per_year": 12 * (1.08 ** (1 / 12) - 1), "years": 3.0}
        if rate not in (None, 0.08):
            loan = {"share": 1.0, "rate_per_year": rate, "years": 3.0}
        scenario = lab(loan=loan).model_copy(update={"discount_per_year": 0.08})
        costs.append(float(owned_usd_per_gpu_hour(observed(realize(scenario)))[0]))
    none, cheap, same, dear = costs
    assert cheap < none < dear
    assert same == pytest.approx(none, rel=0.02)  # paid by the month, not by the year


@pytest.mark.parametrize("years", [1.0, 5.0, 7.5, 30.0])
def test_planning_prices_count_the_interest_that_is_paid_within_the_life_of_the_gpus(years: float) -> None:
    """Without discounting an owned hour costs more by all interest paid, as the tranche's own payments have it."""
    loan = {"share": 0.8, "rate_per_year": 0.11, "years": years}
    plain, borrowed = lab(), lab(loan=loan)
    life = borrowed.ownership.useful_life_days
    paid = payments(borrowed.ownership, Purchase(0, 1, 10_000.0, 0, life, 0)).usd.sum()
    free, dear = (float(owned_usd_per_gpu_hour(observed(realize(each)))[0]) for each in (plain, borrowed))
    assert (dear - free) * life * 24 == pytest.approx(paid - ALL_IN, rel=0.01)


# Idle draw, failures and spares ----------------------------------------------------------------------------------


def test_an_idle_gpu_draws_less_and_only_those_who_work_pay_the_difference() -> None:
    # 40 GPUs serve 240 GPU-hours of 960 a day: a quarter of the day busy at 75 % of rated draw, the rest at 25 %.
    run = live(lab(4, idle_draw=0.25), FixedOrders(buys=(40,)))
    kwh = 2.0 * 1.2 * (0.75 * 240 + 0.25 * 720)
    np.testing.assert_allclose(run.books.cash_usd[2:, Account.POWER], kwh * 0.10)
    usual = live(lab(4), FixedOrders(buys=(40,)))
    np.testing.assert_allclose(usual.books.cash_usd[2:, Account.POWER], 40 * POWER)
    loss = 40 * (fetches(0) - fetches(1))
    held = loss + 40 * HOSTING + 2.0 * 1.2 * 0.25 * 960 * 0.10  # of every hour alike
    served = held / 4 + 2.0 * 1.2 * 0.5 * 240 * 0.10
    assert run.books.economic_usd[3, Use.SERVING] == pytest.approx(served, abs=CENT)
    assert run.books.economic_usd[3, Use.IDLE] == pytest.approx(held * 3 / 4, abs=CENT)
    assert_tables_agree(run)


def test_broken_gpus_are_held_but_serve_nobody() -> None:
    # 3.6525 failures a year of 10 days each: a tenth is out. 10 GPUs serve as 9: 5 x 12 + 9 x 12 hours a day.
    run = live(lab(4, failures_per_gpu_year=3.6525, repair_days=10.0, repair_share=0.01), FixedOrders(buys=(10,)))
    np.testing.assert_allclose(run.used.serving_sunk_hours[0, 2:], 5 * 12 + 9 * 12)
    np.testing.assert_allclose(run.books.cash_usd[2:, Account.ON_DEMAND], 6 * 12 * 2.0)
    # 0.01 failures a GPU and day at 100 USD each.
    np.testing.assert_allclose(run.books.cash_usd[2:, Account.MAINTENANCE], 10 * 0.01 * 100)
    np.testing.assert_allclose(run.used.held_hours[0, 2:], 240.0)
    assert_tables_agree(run)


# Leases paid upfront, and leases brought in ----------------------------------------------------------------------


@pytest.mark.parametrize("upfront", [0.0, 0.5, 1.0])
def test_a_lease_paid_upfront_costs_the_same_and_is_paid_at_once(upfront: float) -> None:
    terms = (Commitment(term_days=5, discount=0.25, upfront_share=upfront),)
    run = live(lab(8, commitment=terms), FixedOrders(reserves=(4,), term_days=5))
    a_day = 4 * 24 * 1.5
    paid = [a_day * (1 - upfront)] * 5 + [0.0] * 3
    paid[0] += 5 * a_day * upfront
    assert account(run, Account.RESERVED) == pytest.approx(paid)
    assert not run.books.cash_usd[:, Account.CLOSING_LEASES].any()
    assert_tables_agree(run)


def test_what_was_paid_upfront_for_days_to_come_is_not_lost_but_for_the_cost_of_subletting() -> None:
    terms = (Commitment(term_days=100, discount=0.25, upfront_share=1.0),)
    run = live(lab(4, commitment=terms), FixedOrders(reserves=(4,), term_days=100))
    # 96 days paid; a subtenant pays a tenth less.
    assert run.books.cash_usd[-1, Account.CLOSING_PREPAID] == pytest.approx(-96 * 4 * 24 * 1.5)
    assert run.books.cash_usd[-1, Account.CLOSING_LEASES] == pytest.approx(96 * 4 * 24 * 1.5 * 0.1)
    assert_tables_agree(run)


def test_a_lease_brought_in_is_paid_to_its_end_and_is_the_days_before_its_debt() -> None:
    # 4 GPUs at 1.80 for 6 more days; the nearest term on offer is that of 5 days at 1.50, sublet at 1.35.
    scenario = lab(8).model_copy(
        update={"opening_lease": (LeasedInputs(accelerator="Unit", gpus=4, usd_per_gpu_hour=1.8, days_left=6),)}
    )
    run = live(scenario)
    np.testing.assert_array_equal(run.used.reserved_gpus[0], [4.0] * 6 + [0.0] * 2)
    assert account(run, Account.RESERVED) == pytest.approx([4 * 24 * 1.8] * 6 + [0.0] * 2)
    assert account(run, Account.OPENING_LEASES)[0] == pytest.approx(-6 * 4 * 24 * 0.45)
    assert not run.books.cash_usd[:, Account.CLOSING_LEASES].any()
    assert_tables_agree(run)
    short = live(scenario.model_copy(update={"horizon_days": 2}))
    # Two days later four are left, and as much of the debt.
    assert short.books.cash_usd[-1, Account.CLOSING_LEASES] == pytest.approx(4 * 4 * 24 * 0.45)


@pytest.mark.parametrize(
    "rule", [BuyToForecast(least_gpus=1), Newsvendor(least_gpus=1), BreakEven(least_gpus=1), Ladder(least_gpus=1)]
)
def test_rules_buy_spares_for_what_is_out_for_repair(rule: Procurement) -> None:
    """A tenth is out: where so many GPUs were bought, a ninth more are, at a ninth more each working hour."""
    whole, spared = (
        live(lab(5, failures_per_gpu_year=rate, repair_days=10.0), rule).orders[0].gpus for rate in (0.0, 3.6525)
    )
    price = [
        float(owned_usd_per_gpu_hour(observed(realize(lab(failures_per_gpu_year=rate, repair_days=10.0))))[0])
        for rate in (0.0, 3.6525)
    ]
    assert price[1] == pytest.approx(price[0] / 0.9)
    assert spared == int(whole / 0.9 + 1e-6)


@settings(deadline=None, max_examples=60)
@given(
    st.fixed_dictionaries(
        {
            "deposit_share": st.sampled_from([0.0, 0.3]),
            "payment_days": st.integers(0, 40),
            "installation_days": st.integers(0, 12),
            "idle_draw": st.sampled_from([None, 0.1]),
            "failures_per_gpu_year": st.sampled_from([0.0, 2.0]),
            "repair_share": st.sampled_from([0.0, 0.2]),
            "maintenance_per_year": st.sampled_from([0.0, 0.1]),
            "useful_life_years": st.integers(3, 90).map(lambda days: days / 365.25),
            "loan": st.sampled_from([None, {"share": 0.7, "rate_per_year": 0.2, "years": 0.2}]),
        }
    ),
    st.tuples(st.integers(0, 30), st.integers(0, 30)),
    st.integers(1, 20),
    st.integers(1, 45),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_whatever_the_terms_both_views_agree_and_all_hours_are_there(
    own: dict[str, object], days: tuple[int, int], gpus: int, horizon_days: int, upfront: float
) -> None:
    terms = (Commitment(term_days=9, discount=0.25, upfront_share=upfront),)
    scenario = lab(horizon_days, terms, **own).model_copy(
        update={"opening_lease": (LeasedInputs(accelerator="Unit", gpus=3, usd_per_gpu_hour=1.9, days_left=12),)}
    )
    run = live(scenario, FixedOrders(on_days=days, buys=(gpus,), reserves=(gpus,), term_days=9))
    assert_tables_agree(run)
    assert np.isfinite(run.books.cash_usd).all()
    assert (run.used.owned_gpus >= 0.0).all()
    # Used + idle = held, by kind and day; what is out for repair is idle.
    assert (run.used.busy_hours <= run.used.held_hours + 1e-9).all()
    working = run.used.owned_gpus * scenario.ownership.working_share + run.used.reserved_gpus
    assert (run.used.busy_hours <= 24.0 * working + 1e-9).all()
    np.testing.assert_allclose(run.used.served_tokens, run.used.asked_tokens)
