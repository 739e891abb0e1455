"""Why one policy costs less than another: parts worked out by hand, and parts that add up."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_lab import FixedOrders, FixedRecipe, plain_scenario
from small_study import BUY, CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab, with_costs

from simulator.lab.accounts import Account, Use
from simulator.lab.forecast import Expected
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.show.why_said import why_said
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.store import save
from simulator.study.why import GPU_PARTS, OTHER_PARTS, USE_PARTS, WhyRow, reasons, why, why_rows


@pytest.fixture(scope="module")
def by_hand() -> Comparison:
    """Three days, five GPUs needed by night and fifteen by day; ten leased for all of them, or none."""
    plain = plain_scenario()
    scenario = plain.model_copy(update={"roadmap": plain.roadmap.model_copy(update={"release": ()})})
    lease = FixedOrders(reserves=(10,), term_days=3)
    policies = [
        Policy(name, FixedRecipe(), rule, Expected()) for name, rule in (("lease", lease), ("rent", RentOnDemand()))
    ]
    return compare(scenario, policies, replications=1)


@pytest.fixture(scope="module")
def drawn() -> Comparison:
    """With enough worlds for total demand to be used as control."""
    return compare(growing_lab(200), (RENT, OVERTRAIN, RESERVE, BUY, CAPPED), replications=16)


def parts(rows: tuple[WhyRow, ...]) -> dict[str, float]:
    return {row.part: row.difference_usd for row in rows if abs(row.difference_usd) > 1e-9}


def test_parts_by_hand(by_hand: Comparison) -> None:
    (found,) = reasons(by_hand)
    assert (found.policy, found.against) == (1, 0)
    # Rents are 2 USD, and 1.80 from day 1 on. Renting all: 240 hours a day. Leasing: 10 GPUs at 1.50 for 24 hours a
    # day, of which 5 stand idle for 12 hours, and 5 more rented for the 12 busy hours.
    rent_all, rent_more = 240 * (2.0 + 1.8 + 1.8), 60 * (2.0 + 1.8 + 1.8)
    leased, idle = 3 * 240 * 1.5, 3 * 60 * 1.5
    assert parts(found.paid) == pytest.approx({"rent by the hour": rent_all - rent_more, "leases": -leased})
    assert parts(found.used) == pytest.approx({"serving": rent_all - rent_more - (leased - idle), "idle GPUs": -idle})
    assert found.difference.mean == pytest.approx(-72.0)
    assert found.used_gpu_hours == pytest.approx((720.0, 720.0))
    assert found.usd_per_used_gpu_hour == pytest.approx((1344 / 720, 1416 / 720))


def test_the_same_in_words(by_hand: Comparison) -> None:
    (said,) = why_said(by_hand)
    why_less, by_use, hour = said.split(". ")
    assert why_less == "Why rent costs $72.0 less than lease: $1.08k less for leases; $1.01k more for rent by the hour"
    assert by_use == "By use: idle GPUs −$270, serving +$198"
    assert hour == "A GPU-hour used costs $1.87 against $1.97, and as many are used."


def test_either_list_of_parts_adds_up_to_the_difference_that_is_told(drawn: Comparison) -> None:
    assert drawn.control is not None
    found = list(reasons(drawn))
    assert {drawn.policy_names[pair.against] for pair in found} >= {"rent"}
    for policy in range(4):
        for against in range(4):
            pair = why(drawn, policy, against)
            of_rival = abs(drawn.by_policy("cumulative_cost_usd")[against].mean())
            for rows in (pair.paid, pair.used):
                total = sum(row.difference_usd for row in rows)
                assert total == pytest.approx(pair.difference.mean, abs=1e-9 * of_rival)
            told = drawn.controlled_percent(policy, against).mean / 100.0
            if pair.difference.variance_factor < 1.0 and drawn.summary_records()[against].cost_variance_factor < 1.0:
                base = drawn.summary_records()[against].controlled_cost_usd
                assert pair.difference.mean == pytest.approx(told * base, rel=1e-9)


def test_every_account_and_every_use_is_in_one_part(drawn: Comparison) -> None:
    pair = why(drawn, 3, 0)
    costs = drawn.by_policy("cumulative_cost_usd").mean(axis=1)
    for rows in (pair.paid, pair.used):
        assert sum(row.policy_usd for row in rows) == pytest.approx(costs[3])
        assert sum(row.against_usd for row in rows) == pytest.approx(costs[0])
    accounts = [account for _, group in (*GPU_PARTS, *OTHER_PARTS) for account in group]
    assert sorted(accounts) == list(Account)
    assert [use for _, use in USE_PARTS] == list(Use)


def test_the_cheapest_is_explained_against_the_baseline_and_the_next(drawn: Comparison) -> None:
    costs = {"rent": 10.0, "overtrain": 7.0, "reserve": 8.0, "buy": 9.0}
    ordered = with_costs(drawn, {name: [usd] * 16 for name, usd in costs.items()})
    assert [(found.policy, found.against) for found in reasons(ordered)] == [(1, 0), (1, 2)]
    baseline_wins = with_costs(drawn, {name: [usd] * 16 for name, usd in {**costs, "rent": 1.0}.items()})
    assert [(found.policy, found.against) for found in reasons(baseline_wins)] == [(0, 1)]


def test_nothing_is_explained_that_cannot_be_told(drawn: Comparison) -> None:
    noisy = np.random.default_rng(1).normal(10.0, 1.0, 16)
    costs = {"rent": noisy, "overtrain": noisy[::-1] - 0.01, "reserve": noisy + 5.0, "buy": noisy + 5.0}
    unsure = with_costs(drawn, {name: usd.tolist() for name, usd in costs.items()})
    assert why_said(unsure) == ()
    assert list(why_rows(unsure)), "the file has the parts, with intervals that say so"
    assert why_said(compare(growing_lab(60), (RENT,), replications=1)) == ()


def test_the_file_holds_every_part(drawn: Comparison, tmp_path: Path) -> None:
    save(drawn, tmp_path)
    table = pd.read_csv(tmp_path / "why.csv")
    assert table.columns.tolist() == [column.name for column in fields(WhyRow)]
    totals = table.groupby(["policy", "against", "what"])["difference_usd"].sum().unstack()
    np.testing.assert_allclose(totals["paid for"], totals["used for"])
    assert len(table) == (len(GPU_PARTS) + len(OTHER_PARTS) + len(USE_PARTS)) * len(list(reasons(drawn)))
