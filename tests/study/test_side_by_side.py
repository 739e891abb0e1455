"""Two scenarios in the same luck: against a market whose answer is known, and world by world."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from simulator.study.experiment import compare
from simulator.study.files import load_study
from simulator.study.side_by_side import side_by_side

SHORT = ("horizon_days=120", "demand.growth_sigma=0.3")


def test_renting_at_twice_the_price_costs_twice_as_much_in_every_world(small_toml: Path) -> None:
    rented = (*SHORT, "demand.regime.0.growth_sigma=0.3")
    a, b = (
        load_study(small_toml, (*rented, f"market.quote.0.on_demand_usd_per_gpu_hour={usd}"), replications=3)
        for usd in (2.0, 4.0)
    )
    policies = a.policies[:1]  # its recipe looks at no price
    found = [compare(study.scenario, policies, replications=3, seed=5) for study in (a, b)]
    (row,) = side_by_side(*found)
    assert row.b_usd == pytest.approx(2.0 * row.a_usd, rel=1e-9)
    bounds = (row.difference_percent, row.difference_low_percent, row.difference_high_percent)
    assert bounds == pytest.approx((100.0, 100.0, 100.0), abs=1e-6)  # though the worlds differ from each other
    assert np.ptp(found[0].by_policy("cumulative_cost_usd")) > 0.01 * row.a_usd


def test_the_interval_is_that_of_a_paired_t_test_over_the_worlds_both_have(small_toml: Path) -> None:
    a, b = (load_study(small_toml, (*SHORT, f"demand.growth_per_year={growth}")) for growth in (3, 4))
    many = compare(a.scenario, a.policies, replications=6, seed=5)
    few = compare(b.scenario, b.policies[::-1], replications=4, seed=5)
    rows = side_by_side(many, few)
    assert [row.policy for row in rows] == ["plain", "trained longer"]
    for row in rows:
        own = many.by_policy("cumulative_cost_usd")[many.policy_names.index(row.policy), :4]
        other = few.by_policy("cumulative_cost_usd")[few.policy_names.index(row.policy)]
        low, high = ttest_rel(other, own).confidence_interval(0.95)
        assert (row.replications, row.difference_usd) == (4, pytest.approx(float(np.mean(other - own))))
        assert (row.difference_low_usd, row.difference_high_usd) == (pytest.approx(low), pytest.approx(high))


def test_with_enough_worlds_costs_are_those_of_either_table_and_still_paired(small_toml: Path) -> None:
    unsure = ("horizon_days=60", "demand.level_sigma=0.4", "demand.regime=[]")
    a, b = (load_study(small_toml, (*unsure, f"demand.growth_per_year={growth}")) for growth in (3, 4))
    found = [compare(study.scenario, study.policies, replications=20, seed=5) for study in (a, b)]
    for row, in_a, in_b in zip(side_by_side(*found), *(one.summary_records() for one in found), strict=True):
        assert in_a.cost_variance_factor < 0.1  # demand explains nearly all of the cost
        assert row.a_usd == pytest.approx(in_a.controlled_cost_usd)
        assert row.b_usd == pytest.approx(in_b.controlled_cost_usd)
        assert row.difference_usd == pytest.approx(row.b_usd - row.a_usd)
        own, other = (one.by_policy("cumulative_cost_usd")[one.policy_names.index(row.policy)] for one in found)
        interval = ttest_rel(other, own).confidence_interval(0.95)
        assert row.difference_high_usd - row.difference_low_usd < 0.6 * (interval.high - interval.low)
        assert interval.low < row.difference_usd < interval.high


def test_worlds_of_another_seed_are_no_pairs(small_toml: Path) -> None:
    study = load_study(small_toml, ("horizon_days=30",))
    a, b = (compare(study.scenario, study.policies[:1], replications=1, seed=seed) for seed in (1, 2))
    with pytest.raises(ValueError, match="seed: must be the same"):
        side_by_side(a, b)
