"""Places, pairs, regret and break-even dates, counted by hand and by brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import BUY, CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab, with_costs

from simulator.lab.portfolio import Portfolio, PortfolioModel
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare, live_replication
from simulator.study.paired import beats, chances, rank_chances
from simulator.study.rankings import break_even_rows, rank_rows, rankings, regret_rows
from simulator.study.store import save
from simulator.study.summary import break_even_day

SMALL = (PortfolioModel(n_parameters=1e9, share=1.0),)
COSTS = {"rent": [10.0, 10.0, 10.0], "overtrain": [8.0, 10.0, 12.0], "reserve": [9.0, 12.0, 9.0]}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(200), (RENT, OVERTRAIN, RESERVE, BUY, CAPPED), replications=3)


def test_places_and_pairs_by_hand(comparison: Comparison) -> None:
    small = with_costs(compare(growing_lab(30), (RENT, OVERTRAIN, RESERVE), replications=3), COSTS)
    tables = dict(rankings(small))
    ranks = tables["ranks.csv"].pivot(index="policy", columns="rank", values="chance")
    # World 1: overtrain, reserve, rent. World 2: rent and overtrain tie, reserve. World 3: reserve, rent, overtrain.
    assert ranks.loc["rent"].tolist() == pytest.approx([0.5 / 3, 1.5 / 3, 1 / 3])
    assert ranks.loc["overtrain"].tolist() == pytest.approx([1.5 / 3, 0.5 / 3, 1 / 3])
    assert ranks.loc["reserve"].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    beaten = tables["beats.csv"].set_index(["policy", "against"])["chance"]
    assert beaten["rent", "overtrain"] == pytest.approx(0.5)
    assert beaten["overtrain", "reserve"] == pytest.approx(2 / 3)
    assert beaten["reserve", "rent"] == pytest.approx(2 / 3)
    regret = tables["regret.csv"].set_index("policy")
    assert regret.loc["rent"].tolist() == pytest.approx([1.0, 1.0, 1.9, 2.0])  # 2, 0 and 1
    assert regret.loc["overtrain", "regret_usd"] == pytest.approx(1.0)


def test_where_no_policy_is_good_enough_nothing_is_ranked() -> None:
    lab = growing_lab(200)
    above = lab.roadmap.model_copy(update={"target_flop": 1e3 * lab.roadmap.target_flop})
    short = tuple(replace(policy, recipe=Portfolio(model=SMALL)) for policy in (RENT, RESERVE))
    small = compare(lab.model_copy(update={"roadmap": above}), short, replications=2)
    assert all(small.not_comparable(number) for number in range(2))
    tables = dict(rankings(small))
    assert [len(tables[name]) for name in ("ranks.csv", "beats.csv", "regret.csv", "break_evens.csv")] == [0, 0, 0, 1]


def test_places_by_brute_force() -> None:
    cost = np.random.default_rng(0).integers(1, 4, (4, 300)).astype(float)
    share = np.zeros((4, 4))
    for world in cost.T:
        orders = [order for order in permutations(range(4)) if (np.diff(world[list(order)]) >= 0).all()]
        for order in orders:
            for place, policy in enumerate(order):
                share[policy, place] += 1 / len(orders) / 300
    found = rank_chances(cost)
    np.testing.assert_allclose(found, share)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    np.testing.assert_allclose(found[:, 0], chances(cost, np.ones(4, dtype=bool)))
    np.testing.assert_allclose(beats(cost) + beats(cost).T, 1.0)


def test_who_is_not_comparable_has_no_place(comparison: Comparison) -> None:
    assert {row.policy for row in rank_rows(comparison)} == {"rent", "overtrain", "reserve", "buy"}
    assert all(row.regret_p50_usd <= row.regret_p95_usd <= row.regret_most_usd for row in regret_rows(comparison))


def test_every_world_has_its_own_day_of_breaking_even(comparison: Comparison) -> None:
    rows = {row.policy: row for row in break_even_rows(comparison)}
    assert set(rows) == {"overtrain", "reserve", "buy", "capped"}
    lived = [live_replication(comparison.scenario, comparison.policies, comparison.seed, world) for world in range(3)]
    for number, name in enumerate(comparison.policy_names):
        if not number:
            continue
        days = []
        for world in range(3):
            spent = [run.days.cumulative_cash_usd.astype(float) for run in lived[world].runs]
            dearer = [d for d in range(200) if spent[number][d] > spent[0][d] * (1 + 1e-6)]
            if dearer and dearer[-1] < 199:
                days.append(dearer[-1] + 1)
        assert rows[name].share == pytest.approx(len(days) / 3)
        middle = rows[name].break_even_p50
        assert (middle is None) == (not days)
        if middle is not None:
            assert (middle - date(2026, 1, 1)).days == sorted(days)[(len(days) - 1) // 2]


def test_a_policy_never_dearer_has_not_broken_even() -> None:
    base = np.array([5.0, 6.0], dtype=np.float32)
    for spent in ([5.0, 6.0], [5.0, 5.5], [5.0, 7.0]):
        assert math.isnan(break_even_day(np.array(spent, dtype=np.float32), base))
    assert break_even_day(np.array([5.5, 6.0], dtype=np.float32), base) == 1.0


def test_they_are_kept_with_the_results(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path / "many")
    chance = pd.read_csv(tmp_path / "many" / "ranks.csv")["chance"]
    assert math.isclose(chance.sum(), 4.0)
    assert len(pd.read_csv(tmp_path / "many" / "beats.csv")) == 12
    save(compare(growing_lab(30), (RENT,), replications=1), tmp_path / "one")
    assert not (tmp_path / "one" / "ranks.csv").exists()
