"""What a lab's money comes to, by hand: dollars of the start, prices of a GPU-hour, power held, what is still owed."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_lab import FixedOrders, FixedRecipe, plain_scenario
from small_study import BUY, RENT, RESERVE, growing_lab

from simulator.lab.accounts import Account
from simulator.lab.forecast import Expected
from simulator.lab.orders import Lease, Purchase
from simulator.lab.policy import Policy
from simulator.study.commitments import Signed, commitments
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.world.market import Commitment
from simulator.world.ownership import LoanInputs, OwnershipInputs
from simulator.world.scenario import Scenario

BY_HAND = Policy("by hand", FixedRecipe(), FixedOrders(buys=(8,), reserves=(4,)), Expected())


def steady_lab(**changes: Any) -> Scenario:
    """The small lab with nothing to release and no change of price: 240 GPU-hours at 2 USD every day."""
    plain = plain_scenario()
    quiet = {
        "market": plain.market.model_copy(update={"event": ()}),
        "roadmap": plain.roadmap.model_copy(update={"release": ()}),
    }
    return plain.model_copy(update={**quiet, **changes})


@pytest.fixture(scope="module")
def growing() -> Comparison:
    return compare(growing_lab(), (RENT, RESERVE, BUY), replications=2)


# Dollars of the start -----------------------------------------------------------------------------------------


def real_and_nominal(scenario: Scenario) -> tuple[float, float]:
    (row,) = compare(scenario, [RENT], replications=1).rows
    return row.summary.real_cost_usd, row.summary.cumulative_cost_usd


@pytest.mark.parametrize("inflation", [0.03, -0.02, 0.5])
def test_a_steady_cost_in_dollars_of_the_start_is_a_geometric_series(inflation: float) -> None:
    real, nominal = real_and_nominal(steady_lab(horizon_days=1000, inflation_per_year=inflation))
    v = (1.0 + inflation) ** (-1.0 / 365.25)
    assert nominal == pytest.approx(480.0 * 1000)
    assert real == pytest.approx(480.0 * (1.0 - v**1000) / (1.0 - v))


def test_without_inflation_dollars_are_dollars() -> None:
    real, nominal = real_and_nominal(growing_lab(100))
    assert real == nominal


def test_inflation_changes_nothing_that_is_simulated(growing: Comparison) -> None:
    dearer = growing_lab().model_copy(update={"inflation_per_year": 0.04})
    moved = compare(dearer, (RENT, RESERVE, BUY), replications=2)
    same = growing.replications_table.drop(columns="real_cost_usd")
    pd.testing.assert_frame_equal(moved.replications_table.drop(columns="real_cost_usd"), same)
    real, nominal = moved.summary()["real_cost_usd"], moved.summary()["cumulative_cost_usd"]
    assert real[0] < nominal[0]
    assert real[2] > nominal[2], "what is left at the end is worth less too"


# The price of a GPU-hour --------------------------------------------------------------------------------------

# The three days of tests/lab/test_three_days.py, with 4 GPUs leased on day 0 beside the 8 bought, which come on day 1.
# Day 0: the run takes the 4 leased ones for 24 h; serving rents its 240 h at 2.00.
# Day 1: the run takes 2 of 12; of the 10 left serving uses 5 for 12 h and 10 for 12 h, and rents 5 for 12 h at 1.80.
#        Together 48 + 180 = 228 h, of which 8/12 on owned GPUs and 4/12 on leased ones.
# Day 2: the new model needs 120 h: 80 on owned GPUs, 40 on leased ones.
OWNED_USD = 160_000 - 108_000 * 10**-0.001 + 2 * (34.56 + 96 + 16)  # bought, less what is left, and upkeep
HELD = {"owned": 2 * 8 * 24, "reserved": 3 * 4 * 24, "on_demand": 240 + 60, "spot": 0}
USED = {"owned": 152 + 80, "reserved": 96 + 76 + 40, "on_demand": 300, "spot": 0}
USD = {"owned": OWNED_USD, "reserved": 288 * 1.50, "on_demand": 240 * 2.00 + 60 * 1.80, "spot": 0.0}


def test_the_fleet_statement_by_hand() -> None:
    table = compare(plain_scenario(), [BY_HAND], replications=1).fleet_table.set_index("tenure")
    assert list(table.index) == ["owned", "reserved", "on_demand", "spot"]
    for tenure, row in table.iterrows():
        held, used, usd = (float(by_tenure[str(tenure)]) for by_tenure in (HELD, USED, USD))
        assert row["gpu_hours_held"] == pytest.approx(held)
        assert row["gpu_hours_used"] == pytest.approx(used)
        assert row["idle_gpu_hours"] == pytest.approx(held - used, abs=1e-9)
        assert row["usd"] == pytest.approx(usd)
        if held:
            assert row["utilization"] == pytest.approx(used / held)
            assert row["usd_per_gpu_hour_held"] == pytest.approx(usd / held)
            assert row["usd_per_gpu_hour_used"] == pytest.approx(usd / used)
            assert row["idle_usd"] == pytest.approx(usd * (1 - used / held), abs=1e-9)
        else:
            assert np.isnan(row["usd_per_gpu_hour_held"])
            assert row["idle_usd"] == 0.0
    assert table.loc["reserved", "usd_per_gpu_hour_held"] == pytest.approx(2.00 * 0.75), "the price of the lease"


@pytest.mark.parametrize("upfront", [0.0, 0.5, 1.0])
def test_an_hour_of_a_lease_costs_the_same_whenever_it_is_paid(upfront: float) -> None:
    # 4 GPUs for a year at 1.50 an hour, of which the three days of the window are 3 x 96 GPU-hours.
    terms = (Commitment(term_days=365, discount=0.25, upfront_share=upfront),)
    scenario = steady_lab()
    scenario = scenario.model_copy(update={"market": scenario.market.model_copy(update={"commitment": terms})})
    policy = Policy("leased", FixedRecipe(), FixedOrders(reserves=(4,)), Expected())
    table = compare(scenario, [policy], replications=1).fleet_table.set_index("tenure")
    assert table.loc["reserved", "usd"] == pytest.approx(3 * 96 * 1.5)
    assert table.loc["reserved", "usd_per_gpu_hour_held"] == pytest.approx(1.5)


def test_tenures_with_what_is_no_gpu_hour_add_up_to_the_cost(growing: Comparison) -> None:
    table, mean = growing.fleet_table, growing.replications_table.groupby("policy").mean(numeric_only=True)
    beside = ("api", "data", "opening_leases", "opening_models", "closing_leases", "closing_models")
    for name, rows in table.groupby("policy"):
        other = sum(mean.loc[name, f"cash_{account}_usd"] for account in beside)
        assert rows["usd"].sum() + other == pytest.approx(mean.loc[name, "cumulative_cost_usd"])
        used = rows["gpu_hours_used"].sum() / rows["gpu_hours_held"].sum()
        hours = growing.replications_table.groupby("policy").sum(numeric_only=True).loc[name]
        assert used == pytest.approx(hours.filter(like="hours_used").sum() / hours.filter(like="hours_held").sum())
    assert (table["gpu_hours_used"] <= table["gpu_hours_held"] * (1 + 1e-12)).all()


def test_the_statement_of_one_world_has_the_utilization_of_its_summary() -> None:
    (row,) = compare(plain_scenario(), [BY_HAND], replications=1).rows
    held, used = row.gpu_hours.sum(axis=1)
    assert row.summary.utilization == pytest.approx(used / held)


# Power --------------------------------------------------------------------------------------------------------


def test_power_held_by_hand() -> None:
    """8 GPUs of 2 kW in their server, x 1.2 at the meter, from day 1 on: 0.0192 MW."""
    found = compare(plain_scenario(), [BY_HAND], replications=1)
    np.testing.assert_allclose(found.daily_table["owned_mw"], [0.0, 0.0192, 0.0192], rtol=1e-6)
    assert found.rows[0].summary.peak_owned_mw == pytest.approx(0.0192)


# What is still owed -------------------------------------------------------------------------------------------

START = date(2026, 6, 1)
NEW_YEAR = 214  # 2027-01-01


PLAIN = OwnershipInputs(server_overhead=1.0, interconnect_share=0.0)


def lease(signed: int, end: int, usd_per_day: float, upfront: float = 0.0) -> Signed:
    return signed, Lease(0, 1, usd_per_day / 24, 0.0, signed, end, upfront)


def bought(signed: int, first: int, end: int, usd: float) -> Signed:
    return signed, Purchase(0, 1, usd, first, end, signed)


LEASE = lease(0, 365, 1.0)  # 150 days after New Year's Day: 215 to 364
LONG = lease(100, 1100, 2.0)  # to 2029-06-04
COMING = bought(200, 260, 2000, 5000.0)  # comes 2027-02-16
HERE = bought(10, 40, 1800, 7000.0)
LATER = lease(NEW_YEAR + 1, 600, 3000.0)


def test_what_is_owed_on_new_years_day_by_hand() -> None:
    signed = [LEASE, LONG, COMING, HERE, LATER]
    # 364 days are left of 2027, 366 are in 2028, and 155 in 2029, of which day 945 is the first.
    assert commitments(PLAIN, signed, START, [NEW_YEAR]) == [
        (NEW_YEAR, 2027, pytest.approx(150.0 + 728.0 + 5000.0)),
        (NEW_YEAR, 2028, pytest.approx(732.0)),
        (NEW_YEAR, 2029, pytest.approx(310.0)),
    ]


@pytest.mark.parametrize(
    ("made", "day", "owed"),
    [
        (LEASE, 0, {2026: 213.0, 2027: 151.0}),  # 364 days: the day of signing is paid
        (LEASE, 363, {2027: 1.0}),
        (LEASE, 364, {}),
        (lease(0, 365, 1.0, 0.4), 0, {2026: 0.6 * 213, 2027: 0.6 * 151}),
        (lease(0, 365, 1.0, 1.0), 0, {}),
        (COMING, 199, {}),
        (COMING, 200, {2027: 5000.0}),
        (COMING, 259, {2027: 5000.0}),
        (COMING, 260, {}),
        (HERE, 39, {2026: 7000.0}),
    ],
)
def test_one_contract_day_by_day(made: Signed, day: int, owed: dict[int, float]) -> None:
    found = commitments(PLAIN, [made], START, [day])
    assert {year: usd for _, year, usd in found} == pytest.approx(owed)
    assert {at for at, _, _ in found} <= {day}


def test_terms_and_loans_are_owed_when_they_fall_due() -> None:
    """A fifth with the order; the rest 30 days after day 260, half of the price borrowed without interest."""
    terms = {"deposit_share": 0.2, "payment_days": 30}
    plain = PLAIN.model_copy(update=terms)
    assert commitments(plain, [COMING], START, [200]) == [(200, 2027, pytest.approx(4000.0))]
    loan = LoanInputs(share=0.5, rate_per_year=0.0, years=1.0)
    # Instalments on the last days of twelve months from day 290, 2027-03-18: nine of them in 2027, three in 2028.
    assert commitments(plain.model_copy(update={"loan": loan}), [COMING], START, [200]) == [
        (200, 2027, pytest.approx(4000.0 - 2500.0 + 9 * 2500 / 12)),
        (200, 2028, pytest.approx(3 * 2500 / 12)),
    ]


def test_nothing_signed_is_nothing_owed() -> None:
    assert commitments(PLAIN, [], START, [10]) == []


def test_what_was_signed_is_paid_or_still_owed() -> None:
    """Two routes: orders against the books up to the last day and what is left then."""
    days = 300
    found = compare(growing_lab(days), (RENT, RESERVE, BUY), replications=2)
    orders, owed = found.orders_table, found.commitments_table
    assert set(owed["policy"]) == {"reserve", "buy"}
    last = pd.Timestamp(found.scenario.calendar.date_of(days - 1))
    assert set(owed["as_of"]) == {pd.Timestamp(2026, 1, 1), last}
    for at, name in enumerate(("reserve", "buy"), start=1):
        for replication in range(2):
            mine = orders[(orders["policy"] == name) & (orders["replication"] == replication)]
            rows = owed[(owed["policy"] == name) & (owed["replication"] == replication)]
            accounts = found.rows[replication * 3 + at].account_usd
            paid = accounts[Account.RESERVED] + accounts[Account.PURCHASE]
            assert mine["usd"].sum() == pytest.approx(paid + rows.loc[rows["as_of"] == last, "usd"].sum())
