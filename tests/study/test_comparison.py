from __future__ import annotations

import math
from dataclasses import fields, replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from small_study import BUY, CAPPED, DAYS, OVERTRAIN, RENT, RESERVE, growing_lab

from simulator.lab.accounts import Account
from simulator.lab.lab import simulate
from simulator.study.comparison import Comparison, SummaryRow, half_width, worst_mean
from simulator.study.experiment import compare
from simulator.study.summary import ReplicationRow, RunSummary, record

POLICIES = (RENT, OVERTRAIN, RESERVE, BUY, CAPPED)
WORLDS = 6


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), POLICIES, replications=WORLDS)


def row(comparison: Comparison, name: str) -> SummaryRow:
    return next(found for found in comparison.summary_records() if found.policy == name)


def costs(comparison: Comparison) -> pd.DataFrame:
    """Cost by [replication, policy], from the table that is stored."""
    return comparison.replications_table.pivot(index="replication", columns="policy", values="cumulative_cost_usd")


def changed(comparison: Comparison, name: str, replication: int | None = None, **scalars: float) -> Comparison:
    """The same study, had some scalars of a policy come out otherwise."""

    def altered(found: ReplicationRow) -> ReplicationRow:
        if found.policy != name or replication not in (None, found.replication):
            return found
        values = {column.name: getattr(found.summary, column.name) for column in fields(RunSummary)}
        return replace(found, summary=RunSummary(**{**values, **scalars}))

    return replace(comparison, rows=tuple(altered(found) for found in comparison.rows))


# One run ------------------------------------------------------------------------------------------------------


def test_a_run_is_reduced_to_what_its_books_say() -> None:
    run = simulate(growing_lab(), BUY, seed=1)
    kept = record(run).summary
    cash = run.books.cash_usd
    assert kept.cumulative_cost_usd == pytest.approx(cash.sum())
    assert kept.cost_before_inventory_usd + kept.opening_usd + kept.closing_usd == pytest.approx(cash.sum())
    assert kept.closing_usd < 0.0
    assert kept.training_usd + kept.research_usd + kept.serving_usd + kept.idle_usd == pytest.approx(cash.sum())
    by_hand = sum(usd / 1.08 ** (day / 365.25) for day, usd in enumerate(cash.sum(axis=1)))
    assert kept.present_value_usd == pytest.approx(by_hand)
    assert kept.usd_per_million_tokens == pytest.approx(cash.sum() / run.used.served_tokens.sum() * 1e6)
    assert kept.served_share == 1.0
    assert 0.0 < kept.utilization < 1.0
    assert 0.0 < kept.stranded_usd < -cash[:, Account.CLOSING_FLEET].sum()
    assert kept.peak_cash_usd == pytest.approx(kept.cost_before_inventory_usd), "less than a year: all of it"


def test_peak_cash_is_the_dearest_year() -> None:
    run = simulate(growing_lab(500), RENT, seed=1)
    moved = run.books.cash_usd[:, : Account.OPENING_FLEET].sum(axis=1)
    dearest = max(moved[first : first + 365].sum() for first in range(500 - 365 + 1))
    assert record(run).summary.peak_cash_usd == pytest.approx(dearest)


def test_refused_tokens_have_a_price_of_their_own(comparison: Comparison) -> None:
    table = comparison.replications_table
    accounts = [f"cash_{account.name.lower()}_usd" for account in Account]
    assert np.allclose(table[accounts].sum(axis=1), table["cumulative_cost_usd"], rtol=1e-12)
    assert np.allclose(table["unserved_usd"], table["unserved_tokens"] / 1e6)
    assert np.allclose(table["asked_tokens"], table["served_tokens"] + table["unserved_tokens"])
    assert (table.loc[table["policy"] == "capped", "unserved_usd"] > 0.0).all()


# Paired statistics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["overtrain", "reserve", "buy"])
def test_paired_differences_by_hand(comparison: Comparison, name: str) -> None:
    table = costs(comparison)
    paired = table[name] - table["rent"]
    low, high = stats.ttest_1samp(paired, 0.0).confidence_interval(0.95)
    found = row(comparison, name)
    assert found.difference_usd == pytest.approx(paired.mean())
    assert (found.difference_low_usd, found.difference_high_usd) == pytest.approx((low, high))
    assert found.difference_percent == pytest.approx(100 * (table[name].mean() / table["rent"].mean() - 1))
    ratio = table[name].mean() / table["rent"].mean()
    left = table[name] - ratio * table["rent"]
    half = stats.t.ppf(0.975, WORLDS - 1) * left.std(ddof=1) / math.sqrt(WORLDS) / table["rent"].mean()
    assert found.difference_high_percent - found.difference_percent == pytest.approx(100 * half)


def test_mean_quantiles_and_worst_worlds(comparison: Comparison) -> None:
    table, found = costs(comparison)["rent"], row(comparison, "rent")
    assert found.cumulative_cost_usd == pytest.approx(table.mean())
    assert found.cumulative_cost_low_usd == pytest.approx(
        stats.t.interval(0.95, WORLDS - 1, table.mean(), stats.sem(table))[0]
    )
    assert found.cumulative_cost_p95_usd == pytest.approx(table.quantile(0.95))
    assert found.cvar95_usd == pytest.approx(table.max()), "the worst 5 % of six worlds are part of one"


def test_chance_of_being_cheapest_and_regret(comparison: Comparison) -> None:
    table = costs(comparison)[["rent", "overtrain", "reserve", "buy"]]
    for name in table:
        found = row(comparison, str(name))
        assert found.chance_cheapest == pytest.approx((table.idxmin(axis=1) == name).mean())
        assert found.regret_usd == pytest.approx((table[name] - table.min(axis=1)).mean())
        assert found.regret_usd >= 0.0


def test_ties_are_split() -> None:
    twin = replace(RENT, name="twin")
    rows = compare(growing_lab(120), (RENT, twin), replications=2).summary_records()
    assert [found.chance_cheapest for found in rows] == [0.5, 0.5]
    assert (rows[1].difference_usd, rows[1].difference_low_usd, rows[1].difference_high_usd) == (0.0, 0.0, 0.0)


def test_the_order_of_policies_changes_nothing_but_the_baseline(comparison: Comparison) -> None:
    turned = compare(growing_lab(), POLICIES[::-1], replications=WORLDS)
    key = ["policy", "replication"]
    left, right = (
        found.replications_table.drop(columns="break_even_day").sort_values(key, ignore_index=True)
        for found in (comparison, turned)
    )
    assert left.equals(right)
    assert turned.baseline == "capped"
    assert row(turned, "buy").cumulative_cost_high_usd == row(comparison, "buy").cumulative_cost_high_usd


def test_one_world_has_no_interval() -> None:
    found = compare(growing_lab(120), (RENT, OVERTRAIN), replications=1).summary_records()[1]
    assert math.isnan(found.difference_low_usd)
    assert math.isnan(found.cumulative_cost_high_usd)
    assert math.isfinite(found.difference_usd)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_half_width_is_students(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    low, high = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
    assert half_width(values) == pytest.approx((high - low) / 2.0)


def test_worst_mean_of_many_is_the_mean_of_the_tail() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    assert worst_mean(values) == pytest.approx(np.sort(values)[-50:].mean())


# Equal service ------------------------------------------------------------------------------------------------


def test_who_serves_less_is_not_comparable(comparison: Comparison) -> None:
    capped = row(comparison, "capped")
    assert capped.cumulative_cost_usd < row(comparison, "rent").cumulative_cost_usd, "cheaper, by refusing users"
    assert not capped.comparable
    assert capped.reason.startswith("serves ")
    assert capped.reason.endswith(" points less than rent")
    assert math.isnan(capped.chance_cheapest)
    assert sum(found.chance_cheapest for found in comparison.summary_records() if found.comparable) == pytest.approx(1)


def test_a_tenth_of_a_point_is_equal_service(comparison: Comparison) -> None:
    assert row(changed(comparison, "buy", served_share=0.9991), "buy").comparable
    assert row(changed(comparison, "buy", served_share=0.9985), "buy").reason == "serves 0.1 points less than rent"


def test_who_serves_more_is_not_comparable_either(comparison: Comparison) -> None:
    served_less = changed(comparison, "rent", served_share=0.9)
    assert row(served_less, "buy").reason == "serves 10.0 points more than rent"


def test_who_is_late_is_not_comparable(comparison: Comparison) -> None:
    assert row(changed(comparison, "buy", days_late=3.0), "buy").reason == "is 3 days later than rent"
    assert row(changed(changed(comparison, "buy", days_late=3.0), "rent", days_late=3.0), "buy").comparable


def test_a_missed_target_in_one_world_is_told(comparison: Comparison) -> None:
    missed = changed(comparison, "buy", replication=2, quality_met=False)
    assert row(missed, "buy").reason == "misses its quality target in 1 of 6 worlds"
    assert not row(missed, "buy").quality_met
    assert math.isnan(row(missed, "buy").chance_cheapest)


def test_nothing_is_cheaper_than_a_baseline_that_misses_its_target(comparison: Comparison) -> None:
    missed = changed(comparison, "rent", quality_met=False)
    assert not any(found.comparable for found in missed.summary_records())
    assert all(math.isnan(found.chance_cheapest) for found in missed.summary_records())


# Days ---------------------------------------------------------------------------------------------------------


def test_days_add_up_to_the_table(comparison: Comparison) -> None:
    daily = comparison.daily_table
    assert len(daily) == len(POLICIES) * DAYS
    means = comparison.replications_table.groupby("policy").mean(numeric_only=True)
    for name, days in daily.groupby("policy"):
        assert days["purchase_usd"].sum() == pytest.approx(means.loc[name, "cash_purchase_usd"], rel=1e-5)
        assert days["served_tokens"].sum() == pytest.approx(means.loc[name, "served_tokens"], rel=1e-5)
        assert days["idle_usd"].sum() == pytest.approx(means.loc[name, "idle_usd"], rel=1e-4)
        spent = days["cumulative_cash_mean_usd"].iloc[-1]
        assert spent == pytest.approx(means.loc[name, "cost_before_inventory_usd"], rel=1e-5)
    assert (daily["cumulative_cash_p5_usd"] <= daily["cumulative_cash_p95_usd"]).all()


def test_break_even_is_the_last_crossing(comparison: Comparison) -> None:
    spent = comparison.mean_cumulative_cash_usd()
    for number, found in enumerate(comparison.summary_records()[1:], start=1):
        dearer = spent[number] > spent[0]
        if not dearer.any() or dearer[-1]:
            assert found.break_even_date is None
        else:
            assert found.break_even_date is not None
            day = (found.break_even_date - date(2026, 1, 1)).days
            assert dearer[day - 1]
            assert not dearer[day:].any()
    overtrained = row(comparison, "overtrain").break_even_date
    assert overtrained is not None, "dearer to train, cheaper to serve"
    assert overtrained > comparison.scenario.start + timedelta(days=31)


def test_releases_and_orders_are_kept_row_by_row(comparison: Comparison) -> None:
    releases, orders = comparison.releases_table, comparison.orders_table
    assert len(releases) == len(POLICIES) * WORLDS * 2
    assert releases["due"].unique().tolist() == [pd.Timestamp("2026-04-01"), pd.Timestamp("2026-08-01")]
    assert (releases["reached_flop"] >= releases["target_flop"] * 0.999).all()
    ratio = releases["n_training_tokens"] / releases["n_parameters"]
    assert np.allclose(releases["training_tokens_per_parameter"], ratio)
    assert set(orders["policy"]) == {"reserve", "buy"}
    assert (orders.loc[orders["tenure"] == "reserved", "term_days"] == 365).all()
