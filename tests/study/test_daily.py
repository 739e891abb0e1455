from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from small_study import BUY, CAPPED, RENT, growing_lab

from simulator.lab.accounts import Account, Use
from simulator.lab.lab import simulate
from simulator.lab.orders import Tenure
from simulator.study.comparison import Comparison
from simulator.study.daily import QUANTILES, quantile_days
from simulator.study.experiment import compare
from simulator.study.months import ACCOUNT_COLUMNS, USE_COLUMNS
from simulator.study.summary import break_even_day
from simulator.world.batch import BatchInputs

WORLDS, DAYS = 6, 620


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(DAYS), (RENT, BUY), replications=WORLDS)


@pytest.mark.parametrize(("n_days", "step"), [(1, 1), (500, 1), (501, 2), (1826, 4), (3652, 8)])
def test_quantiles_are_known_on_at_most_500_days_and_the_last(n_days: int, step: int) -> None:
    days = quantile_days(n_days)
    assert days[-1] == n_days - 1
    assert set(np.diff(days)) <= {step}
    assert 0 <= days[0] < step
    assert days.size <= 500


def test_days_are_those_of_runs_lived_one_by_one(comparison: Comparison) -> None:
    days = comparison.days
    for number, policy in enumerate((RENT, BUY)):
        runs = [simulate(comparison.scenario, policy, 1, world) for world in range(WORLDS)]
        spent = np.array([np.cumsum(run.books.cash_usd[:, :12].sum(axis=1)) for run in runs])
        np.testing.assert_allclose(comparison.mean_cumulative_cash_usd()[number], spent.mean(axis=0), rtol=1e-6)
        true = np.quantile(spent, QUANTILES, axis=0)[:, quantile_days(DAYS)]
        np.testing.assert_allclose(days.cumulative_cash_quantiles_usd[:, number], true, rtol=0.005, atol=1e-3)
        owned = np.mean([run.used.owned_gpus.sum(axis=0) for run in runs], axis=0)
        np.testing.assert_allclose(days.gpus[number, list(Tenure).index(Tenure.OWNED)] / WORLDS, owned, rtol=1e-6)
        served = np.mean([run.used.served_tokens for run in runs], axis=0)
        np.testing.assert_allclose(days.served_tokens[number] / WORLDS, served, rtol=1e-6)
    asked = np.array([run.used.asked_tokens for run in runs])
    weeks = asked[:, : DAYS // 7 * 7].reshape(WORLDS, -1, 7).mean(axis=-1)
    np.testing.assert_allclose(days.asked_quantiles_tokens, np.quantile(weeks, QUANTILES, axis=0), rtol=0.005)
    np.testing.assert_allclose(days.asked_tokens / WORLDS, asked.mean(axis=0), rtol=1e-6)


def test_need_is_the_same_whether_it_is_met_or_not() -> None:
    """Who may rent few GPUs uses and lacks, together, what one who may rent all uses, but for a spare replica."""
    days = compare(growing_lab(200), (RENT, CAPPED), replications=3).days
    np.testing.assert_array_equal(days.unserved_gpus[0], 0.0)
    assert days.unserved_gpus[1].max() > 0.2 * days.used_gpus[0].max()
    np.testing.assert_allclose(days.used_gpus[1] + days.unserved_gpus[1], days.used_gpus[0], rtol=1e-3)


def test_gpus_in_use_are_the_hours_used(comparison: Comparison) -> None:
    for number in range(2):
        used = comparison.fleet_table.groupby("policy", sort=False)["gpu_hours_used"].sum().iloc[number]
        assert 24.0 * comparison.days.used_gpus[number].sum() / WORLDS == pytest.approx(used, rel=1e-5)


def test_tokens_that_wait_for_another_day_are_not_lacking() -> None:
    """All of demand may wait a week, and is served in it: nothing is refused, whichever day it is served on."""
    lab = growing_lab(70)
    patient = lab.model_copy(
        update={"demand": lab.demand.model_copy(update={"batch": BatchInputs(share=0.5, patience_days=7)})}
    )
    found = compare(patient, (BUY,), replications=2)
    assert found.by_policy("served_share").min() == pytest.approx(1.0)
    assert not np.array_equal(found.days.served_tokens[0], found.days.asked_tokens)
    assert found.days.unserved_gpus.max() == 0.0


def test_daily_parquet_has_quantiles_on_those_days_alone(comparison: Comparison) -> None:
    table = comparison.daily_table.query("policy == 'buy'").reset_index(drop=True)
    known = table["cumulative_cash_p50_usd"].notna()
    assert np.flatnonzero(known).tolist() == quantile_days(DAYS).tolist()
    assert table.drop(columns=[name for name in table if "_p" in name]).notna().all(axis=None)


@pytest.mark.parametrize(
    ("spent", "day"),
    [([2, 3, 3, 4], 2), ([0, 3, 2, 4], 2), ([0, 1, 2, 3], np.nan), ([2, 3, 4, 5], np.nan), ([2, 1, 4, 4], 3)],
)
def test_break_even_by_hand(spent: list[float], day: float) -> None:
    found = break_even_day(np.array(spent, dtype=np.float32), np.array([1, 2, 3, 4], dtype=np.float32))
    assert found == pytest.approx(day, nan_ok=True)


def test_the_baseline_breaks_even_with_nobody(comparison: Comparison) -> None:
    table = comparison.replications_table
    assert table.loc[table["policy"] == "rent", "break_even_day"].isna().all()


def test_months_are_those_of_runs_lived_one_by_one_to_the_cent(comparison: Comparison) -> None:
    table, start = comparison.monthly_table, comparison.scenario.start
    dates = [start + timedelta(days=day) for day in range(DAYS)]
    months = sorted({(day.year, day.month) for day in dates})
    assert len(months) == 21
    for policy in (RENT, BUY):
        own = table[table["policy"] == policy.name].reset_index(drop=True)
        assert [(day.year, day.month) for day in own["month"]] == months
        runs = [simulate(comparison.scenario, policy, 1, world) for world in range(WORLDS)]
        for number, month in enumerate(months):
            lived = [day for day, when in enumerate(dates) if (when.year, when.month) == month]
            assert own["days"][number] == len(lived)
            for name, of in (
                ("on_demand_usd", lambda run: run.books.cash_usd[:, Account.ON_DEMAND]),
                ("purchase_usd", lambda run: run.books.cash_usd[:, Account.PURCHASE]),
                ("serving_usd", lambda run: run.books.economic_usd[:, Use.SERVING]),
                ("owned_gpu_hours", lambda run: 24.0 * run.used.owned_gpus.sum(axis=0)),
                ("served_tokens", lambda run: run.used.served_tokens),
            ):
                by_hand = sum(float(of(run)[day]) for run in runs for day in lived) / WORLDS
                assert own[name][number] == pytest.approx(by_hand, rel=1e-12, abs=1e-6), (name, month)


def test_months_add_up_to_the_costs_of_the_worlds(comparison: Comparison) -> None:
    for number, name in enumerate(comparison.policy_names):
        own = comparison.monthly_table[comparison.monthly_table["policy"] == name]
        for columns in (ACCOUNT_COLUMNS, USE_COLUMNS):
            cost = comparison.by_policy("cumulative_cost_usd")[number].mean()
            assert own[list(columns)].to_numpy().sum() == pytest.approx(cost, abs=0.005)
