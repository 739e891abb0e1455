"""The stress worlds that ship: in each the policy that is best in the world of frontier_lab is not."""

from __future__ import annotations

import pytest

from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.files import load_study

WORLDS = 8
MOST = 0.75
"""Part of the worlds in which the best policy is cheaper than the one that is best in frontier_lab."""
BEST = {
    "viral_growth": "all-rent",
    "plateau": "all-reserve",
    "supply_crunch": "ladder",
    "rental_rebound": "all-buy",
    "price_war": "all-rent",
}


@pytest.fixture(scope="module")
def usual() -> Comparison:
    """The world of frontier_lab, lived by all policies that are best anywhere."""
    policies = {policy.name: policy for name in BEST for policy in load_study(name).policies}
    named = ("all-buy", "reserve-3y", "ladder", "all-reserve", "all-rent")
    return compare(load_study("frontier_lab").scenario, [policies[name] for name in named], replications=WORLDS)


@pytest.mark.parametrize(("name", "best"), BEST.items())
def test_the_best_policy_changes(name: str, best: str, usual: Comparison) -> None:
    study = load_study(name)
    baseline = study.policies[0]
    policies = [baseline, *(policy for policy in study.policies if policy.name == best)]
    costs = {row.policy: row.cumulative_cost_usd for row in usual.summary_records()}
    assert costs[baseline.name] < costs[best]
    stressed = compare(study.scenario, policies, replications=WORLDS)
    assert not stressed.not_comparable(1)
    assert stressed.difference_usd(1).mean() < 0.0
    assert (stressed.difference_usd(1) < 0.0).mean() >= MOST
