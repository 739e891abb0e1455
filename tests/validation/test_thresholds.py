"""Thresholds against a crossing known by hand, in value and in interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from leasing_lab import DISCOUNT, FEW, LEASE, RENT, leasing_lab
from scipy import stats
from small_lab import TOKENS_PER_DAY

from simulator.study.experiment import compare
from simulator.study.threshold_answers import Threshold
from simulator.study.thresholds import search_range, thresholds


def found(sigma: float, worlds: int, tolerance: float = 0.01) -> tuple[Threshold, np.ndarray]:
    """The one threshold, and demand of every world in units of the declared."""
    lab = leasing_lab(sigma)
    searched = search_range(lab, DISCOUNT, 0.1, 0.9)
    answer = thresholds(lab, (RENT, LEASE), searched, replications=worlds, tolerance=tolerance)
    (threshold,) = answer.thresholds
    return threshold, answer.comparison.by_policy("asked_tokens")[0] / (100 * TOKENS_PER_DAY)


def test_the_bill_is_the_one_by_hand() -> None:
    rent, lease = (row.cumulative_cost_usd for row in compare(leasing_lab(), (RENT, LEASE)).summary_records())
    assert (rent, lease) == pytest.approx((10 * 24 * 2 * 100, 30 * 24 * 1.5 * 100))


@pytest.mark.parametrize("tolerance", [0.05, 0.01, 0.001])
def test_leasing_wins_above_the_share_of_hours_it_idles(tolerance: float) -> None:
    threshold, _ = found(0.0, 1, tolerance)
    assert threshold.value == pytest.approx(2 / 3, abs=1e-9)
    assert (threshold.cheaper_below, threshold.cheaper_above) == ("rent", "lease")
    assert math.isnan(threshold.low), "one world has no interval"


def test_the_interval_is_that_of_mean_demand() -> None:
    threshold, demand = found(0.1, 8)
    assert threshold.value == pytest.approx(1 - demand.mean() / 3, abs=1e-3)
    low, high = stats.t.interval(0.95, 7, demand.mean(), stats.sem(demand))
    assert (threshold.low, threshold.high) == pytest.approx((1 - high / 3, 1 - low / 3), abs=0.005)
    assert threshold.low < 2 / 3 < threshold.high


def test_with_demand_as_control_the_crossing_is_known_exactly() -> None:
    """Cost is linear in demand here, so luck in demand is taken out whole."""
    threshold, demand = found(0.1, 16)
    assert abs(demand.mean() - 1.0) > 0.01, "these worlds are not average"
    assert threshold.value == pytest.approx(2 / 3, abs=1e-6)
    assert threshold.low <= 2 / 3 <= threshold.high
    assert threshold.high - threshold.low < 0.01


@pytest.mark.parametrize("seed", range(4))
def test_intervals_hold_the_truth(seed: int) -> None:
    lab = leasing_lab(0.2)
    answer = thresholds(lab, (RENT, LEASE), search_range(lab, DISCOUNT, 0.1, 0.9), replications=12, seed=seed)
    assert answer.thresholds[0].low < 2 / 3 < answer.thresholds[0].high


def test_a_third_policy_that_wins_between_is_found() -> None:
    # 5 GPUs are needed half of the day and 15 the other half: with 12 leased, 3 are rented then, 1.5 on average.
    lab = leasing_lab()
    answer = thresholds(lab, (RENT, FEW, LEASE), search_range(lab, DISCOUNT, 0.1, 0.95))
    first, second = answer.thresholds
    assert first.value == pytest.approx(1 - 8.5 / 12, abs=1e-6)  # 12 (1 - d) + 1.5 = 10
    assert second.value == pytest.approx(1 - 1.5 / 18, abs=1e-4)  # 30 (1 - d) = 12 (1 - d) + 1.5
    assert [first.cheaper_below, first.cheaper_above, second.cheaper_above] == ["rent", "lease few", "lease"]
