"""Control variates: closed forms, coverage by many seeds, and no use where the mean is not known."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from scipy import stats
from small_study import CAPPED, OVERTRAIN, RENT, growing_lab

from simulator.study.controls import (
    LEAST_WORLDS,
    Control,
    Estimate,
    estimate,
    plain,
    ratio_estimate,
    regression,
    total_demand,
)
from simulator.study.experiment import compare
from simulator.study.varied import varied
from simulator.world.growth import Logistic
from simulator.world.scenario import Scenario
from simulator.world.trace import Trace
from simulator.world.world import realize


def test_a_linear_cost_is_known_without_error() -> None:
    # Cost = 3 + 2 x demand: its mean is 3 + 2 x the known mean, whatever worlds were drawn.
    asked = np.random.default_rng(1).lognormal(size=20)
    found = regression(3.0 + 2.0 * asked, Control("total demand", asked, math.exp(0.5)))
    assert found.mean == pytest.approx(3.0 + 2.0 * math.exp(0.5), rel=1e-12)
    assert found.half_width == pytest.approx(0.0, abs=1e-10)


def test_the_estimate_is_that_of_leaving_out_each_world_in_turn() -> None:
    rng = np.random.default_rng(2)
    asked = rng.lognormal(size=18)
    cost = asked**0.7 + 0.1 * rng.normal(size=18)

    def at_mean(keep: np.ndarray) -> float:
        slope, intercept = np.polyfit(asked[keep], cost[keep], 1)
        return float(intercept + slope * math.exp(0.5))

    every = at_mean(np.arange(18))
    without = np.array([at_mean(np.delete(np.arange(18), left_out)) for left_out in range(18)])
    pseudo = 18 * every - 17 * without
    low, high = stats.t.interval(0.95, 16, pseudo.mean(), pseudo.std(ddof=1) / math.sqrt(18))
    found = regression(cost, Control("total demand", asked, math.exp(0.5)))
    assert (found.mean, found.low, found.high) == pytest.approx((pseudo.mean(), low, high))
    assert found.variance_factor == pytest.approx(pseudo.var(ddof=1) / cost.var(ddof=1))


def test_the_estimate_of_a_difference_is_the_difference_of_the_estimates() -> None:
    rng = np.random.default_rng(3)
    asked, one, other = rng.lognormal(size=30), rng.lognormal(size=30), rng.lognormal(size=30)
    control = Control("total demand", asked, 2.0)
    apart = regression(one, control).mean - regression(other, control).mean
    assert regression(one - other, control).mean == pytest.approx(apart)


@pytest.mark.parametrize("reason", ["few worlds", "no scatter", "one odd world", "no control"])
def test_where_a_control_says_nothing_the_mean_is_plain(reason: str) -> None:
    worlds = LEAST_WORLDS - 1 if reason == "few worlds" else 40
    values = np.random.default_rng(4).normal(size=worlds)
    asked = values + 1.0
    if reason == "no scatter":
        asked = np.full(worlds, 5.0)
    if reason == "one odd world":
        asked = np.zeros(worlds)
        asked[0] = 1.0
    control = None if reason == "no control" else Control("total demand", asked, 1.0)
    assert estimate(values, control) == regression(values, control) == plain(values)


def test_it_is_used_where_it_explains_a_fifth_of_the_scatter() -> None:
    rng = np.random.default_rng(5)
    used = []
    for share in np.linspace(0.0, 0.5, 200):
        asked = rng.normal(size=40)
        values = math.sqrt(share) * asked + math.sqrt(1 - share) * rng.normal(size=40)
        control = Control("total demand", asked, 0.0)
        is_used = np.corrcoef(asked, values)[0, 1] ** 2 >= 0.2
        assert estimate(values, control) == (regression(values, control) if is_used else plain(values))
        used.append(is_used)
    assert 0 < sum(used) < 200


@pytest.mark.parametrize(("sigma", "power", "worlds"), [(0.3, 1.0, 16), (0.7, 0.8, 32), (1.0, 0.6, 128)])
def test_it_covers_the_truth_and_is_not_biased(sigma: float, power: float, worlds: int) -> None:
    """Skewed demand, a bent cost: where the textbook estimate covers 87 % and is off by 13 standard errors."""
    rng, tries = np.random.default_rng(6), 1000
    mean, truth = math.exp(sigma**2 / 2), math.exp((power * sigma) ** 2 / 2)
    covered, means, factors = 0, [], []
    for _ in range(tries):
        asked = np.exp(sigma * rng.normal(size=worlds))
        cost = asked**power * np.exp(0.2 * rng.normal(size=worlds) - 0.02)
        found = estimate(cost, Control("total demand", asked, mean))
        covered += found.low <= truth <= found.high
        means.append(found.mean)
        factors.append(found.variance_factor)
    error = math.sqrt(0.95 * 0.05 / tries)
    assert covered / tries > 0.94 - 3 * error, "the plain intervals of such skewed costs cover 93 to 94 %"
    assert abs(np.mean(means) - truth) < 3 * np.std(means) / math.sqrt(tries) + 0.001 * truth
    assert np.median(factors) < 0.6


def test_intervals_of_a_real_lab_hold_its_mean() -> None:
    """Sixty studies of 16 worlds against all 960 of them, whose own mean is far better known."""
    lab = varied(varied(growing_lab(30), "demand.level_sigma", 0.4), "roadmap.research_multiple", 0.0)
    whole = compare(lab, (RENT,), replications=960, seed=9)
    cost, asked = whole.by_policy("cumulative_cost_usd")[0], whole.by_policy("asked_tokens")[0]
    assert whole.control is not None
    truth = regression(cost, whole.control)
    blocks = [
        estimate(cost[at : at + 16], Control("total demand", asked[at : at + 16], whole.control.mean))
        for at in range(0, 960, 16)
    ]
    held = sum(block.low <= truth.mean <= block.high for block in blocks)
    assert stats.binomtest(held, len(blocks), 0.95).pvalue > 0.001
    error = np.std([block.mean for block in blocks], ddof=1) / math.sqrt(len(blocks))
    assert abs(np.mean([block.mean for block in blocks]) - truth.mean) < 3 * error + truth.half_width
    assert abs(plain(cost).mean - truth.mean) < 2 * plain(cost).half_width
    assert truth.variance_factor < 0.2


def test_the_mean_of_total_demand_is_the_declared_one() -> None:
    lab = varied(growing_lab(60), "demand.level_sigma", 0.3)
    asked = np.array([realize(lab, 3, world).demand_tokens[lab.calendar.lived].sum() for world in range(400)])
    control = total_demand(lab, asked)
    assert control is not None
    assert abs(asked.mean() - control.mean) < 4 * asked.std(ddof=1) / 20


def test_where_the_mean_is_not_known_exactly_there_is_no_control() -> None:
    lab, asked = growing_lab(60), np.ones(3)
    bounded = lab.demand.model_copy(update={"curve": Logistic(ceiling_tokens_per_day=1e13)})
    assert total_demand(lab.model_copy(update={"demand": bounded}), asked) is None
    trace = Trace(csv="a.csv", first_day=date(2026, 1, 1), tokens=(1e12,) * 10)
    recorded = lab.demand.model_copy(update={"trace": trace})
    assert total_demand(lab.model_copy(update={"demand": recorded}), asked) is None
    assert total_demand(lab, asked) is not None


def test_a_ratio_is_that_of_the_estimates() -> None:
    rng = np.random.default_rng(7)
    base = rng.lognormal(size=25)
    off = 0.3 * base + 0.01 * rng.normal(size=25)
    found = ratio_estimate(off, base)
    assert found.mean == pytest.approx(off.mean() / base.mean())
    assert found.half_width == pytest.approx(plain(off - found.mean * base).half_width / base.mean())
    assert found.times(100.0).high == pytest.approx(100.0 * found.high)
    assert ratio_estimate(2.0 * base, base) == Estimate(2.0, 2.0, 2.0)


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return varied(growing_lab(40), "demand.level_sigma", 0.5)


def test_the_summary_tells_both(lab: Scenario) -> None:
    """The plain figures stay what the table of replications says; the controlled ones stand beside them."""
    found = compare(lab, (RENT, OVERTRAIN), replications=16)
    rent, overtrain = found.summary_records()
    cost = found.by_policy("cumulative_cost_usd")
    assert rent.cumulative_cost_usd == cost[0].mean()
    controlled = estimate(cost[0], found.control)
    assert (rent.controlled_cost_usd, rent.cost_variance_factor) == (controlled.mean, controlled.variance_factor)
    assert rent.cost_variance_factor < 0.5
    assert overtrain.difference_percent == pytest.approx(100 * (cost[1].mean() / cost[0].mean() - 1))
    half = (overtrain.controlled_difference_high_percent - overtrain.controlled_difference_low_percent) / 2
    assert half <= (overtrain.difference_high_percent - overtrain.difference_low_percent) / 2
    few = compare(lab, (RENT, OVERTRAIN), replications=4).summary_records()
    for row in few:
        assert (row.controlled_cost_usd, row.cost_variance_factor) == (row.cumulative_cost_usd, 1.0)
        assert row.controlled_difference_percent == row.difference_percent


def test_another_tolerance_is_another_answer(lab: Scenario) -> None:
    usual = compare(lab, (RENT, CAPPED), replications=1)
    assert "points less than rent" in usual.summary_records()[1].reason
    lenient = replace(usual, equal_service=replace(usual.equal_service, served_tolerance=1.0))
    assert lenient.summary_records()[1].comparable


def test_of_nothing_there_is_no_part() -> None:
    found = ratio_estimate(np.array([1.0, 2.0, 3.0]), np.zeros(3))
    assert np.isnan([found.mean, found.low, found.high]).all()
