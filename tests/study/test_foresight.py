"""What forecasts are worth: closed forms through the whole study, regret that is never negative, files and command."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Labspend

from simulator.lab.forecast import Trend
from simulator.lab.policy import Policy
from simulator.lab.procurement import Newsvendor, RentOnDemand
from simulator.lab.recipe import Erdil, LeverRecipe
from simulator.lab.routes import MAIN_LEVERS
from simulator.show.foresight_plots import regret_matrix, save_foresight_plots, training_share, value_of_foresight
from simulator.show.foresight_table import verdict
from simulator.study.files import load_scenario, load_study
from simulator.study.foresight import FORECASTS, NULL, OWN, REFERENCE, Foresight, Range, foresight
from simulator.study.foresight_tables import flat, save_tables

ERRORS = 3.0
ERDIL = Policy("one to two", Erdil(alpha=1, beta=2), RentOnDemand(), Trend())


@pytest.fixture(scope="module")
def theory() -> Foresight:
    """A scenario of which theory knows everything: only the level of demand is uncertain."""
    scenario = load_scenario("known_demand", ["demand.level_sigma=0.5"])
    return foresight(scenario, [ERDIL], replications=144, seed=5, sigmas=(0.0, 0.5, 1.0))


@pytest.fixture(scope="module")
def market() -> Foresight:
    """Two rules in an uncertain world, few replications."""
    scenario = load_scenario("frontier_lab", ["horizon_days=800"])
    every = LeverRecipe(levers=MAIN_LEVERS)
    policies = [
        Policy("rent", every, RentOnDemand(), Trend()),
        Policy("newsvendor", every, Newsvendor(), Trend()),
    ]
    return foresight(scenario, policies, replications=3, sigmas=(0.5,))


def error_of(found: Range) -> float:
    """Standard error from the 95 % interval of many worlds."""
    return (found.high - found.low) / 2.0 / 1.98


def test_perfect_information_is_worth_its_closed_form(theory: Foresight) -> None:
    # Numbers A5: 1 - exp(-theta (1 - theta) sigma^2 / 2); theta = 2/3: 2.740 % at sigma 0.5; 1/2: 3.077 %, 11.75 %.
    (row,) = theory.information
    assert row.optimises
    assert row.perfect_information_theory == pytest.approx(100 * (1 - math.exp(-(2 / 9) * 0.25 / 2)), rel=1e-9)
    found = row.perfect_information_percent
    assert found.mean == pytest.approx(row.perfect_information_theory, abs=ERRORS * error_of(found))
    for sigma, worth in ((0.0, 0.0), (0.5, 3.077), (1.0, 11.75)):
        (seen,) = (r for r in theory.uncertainty if r.policy == REFERENCE.name and r.level_sigma == sigma)
        assert seen.perfect_information_theory == pytest.approx(worth, abs=5e-3)
        off = error_of(seen.perfect_information_percent)
        assert seen.perfect_information_percent.mean == pytest.approx(worth, abs=ERRORS * off + 5e-3)


def test_only_the_mean_of_demand_matters_to_a_lab_that_rents(theory: Foresight) -> None:
    (row,) = theory.information
    assert row.stochastic_solution_theory == 0.0
    assert abs(row.stochastic_solution_percent.mean) < 1e-9


def test_the_training_share_is_erdils_and_that_of_worlds_moves(theory: Foresight) -> None:
    by_sigma = {row.level_sigma: row for row in theory.uncertainty if row.policy == ERDIL.name}
    for row in by_sigma.values():
        assert row.share_theory == pytest.approx(1 / 3)
        assert row.share_known == pytest.approx(1 / 3, rel=2e-3)  # a day-0 run and whole GPUs
    assert by_sigma[0.0].share_unknown == pytest.approx(1 / 3, rel=2e-3)
    # By brute force: the mean of s / (s + (1 - s) X) over many drawn X.
    normals = np.random.default_rng(0).standard_normal(400_000)
    for sigma, row in by_sigma.items():
        drawn = (1 / 3) / (1 / 3 + 2 / 3 * np.exp(sigma * normals - sigma**2 / 2))
        assert row.share_of_worlds_theory == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 632 + 1e-9)
        # A share of 1/3 varies by about a quarter at sigma 1; 144 worlds know its mean to 0.02.
        assert row.share_of_worlds == pytest.approx(row.share_of_worlds_theory, abs=ERRORS * drawn.std() / 12.0 + 1e-3)
    shares = [by_sigma[sigma].share_of_worlds_theory for sigma in (0.0, 0.5, 1.0)]
    assert shares == sorted(shares)


def test_regret_is_never_negative_and_nobody_beats_hindsight(market: Foresight) -> None:
    comparable = [row for row in market.forecasts if row.comparable]
    assert comparable
    assert all(row.regret_usd >= 0.0 for row in comparable)
    cost = market.comparison.by_policy("cumulative_cost_usd")
    best = cost[[not market.comparison.not_comparable(k) for k in range(cost.shape[0])]].min(axis=0).mean()
    for row in comparable:
        assert row.cost_usd.mean - row.regret_usd == pytest.approx(best, rel=1e-9)


def test_values_are_read_from_the_runs_they_name(market: Foresight) -> None:
    cost, names = market.comparison.by_policy("cumulative_cost_usd"), market.comparison.policy_names
    for row in market.forecasts:
        mean = cost[names.index(f"{row.policy} | {row.forecast}")].mean()
        null = cost[names.index(f"{row.policy} | {NULL}")].mean()
        assert row.cost_usd.mean == pytest.approx(mean)
        assert row.value_percent.mean == pytest.approx(100 * (null - mean) / null, abs=1e-9)
    own, trend = (row for row in market.forecasts if row.policy == "rent" and row.forecast in (OWN, "trend"))
    assert own.cost_usd == trend.cost_usd  # the policy came with Trend
    theories = [row.stochastic_solution_theory for row in market.information]
    assert theories[0] == 0.0
    assert math.isnan(theories[1])
    assert [row.optimises for row in market.information] == [True, False]


def test_no_closed_form_is_shown_where_more_is_uncertain(market: Foresight) -> None:
    assert all(math.isnan(row.perfect_information_theory) for row in (*market.information, *market.uncertainty))


def test_tables_are_written_and_read_back(market: Foresight, tmp_path: Path) -> None:
    save_tables(market, tmp_path)
    read = pd.read_csv(tmp_path / "forecasts.csv")
    assert read.shape[0] == 2 * (1 + len(FORECASTS))
    np.testing.assert_allclose(read["cost_usd"], [row.cost_usd.mean for row in market.forecasts])
    np.testing.assert_allclose(read["value_low_percent"], [row.value_percent.low for row in market.forecasts])
    assert list(flat((), Foresight).columns) == ["forecasts", "information", "uncertainty", "comparison"]
    assert pd.read_csv(tmp_path / "uncertainty.csv")["level_sigma"].tolist() == [0.5] * 3


def test_pictures_show_the_figures(theory: Foresight, market: Foresight, tmp_path: Path) -> None:
    texts = [text.get_text() for text in regret_matrix(market).texts]
    assert texts == [f"{row.regret_percent:.1f}" if row.comparable else "n/c" for row in market.forecasts]
    line, rings = value_of_foresight(theory).get_lines()[:2]
    rows = [row for row in theory.uncertainty if row.policy == REFERENCE.name]
    np.testing.assert_allclose(line.get_ydata(), [row.perfect_information_percent.mean for row in rows])
    np.testing.assert_allclose(rings.get_ydata(), [row.perfect_information_theory for row in rows])
    np.testing.assert_allclose(
        training_share(theory).get_lines()[0].get_ydata(), [100 * row.share_of_worlds for row in rows]
    )
    assert len(save_foresight_plots(market, tmp_path)) == 6


def test_the_verdict_names_what_a_lab_can_know(market: Foresight) -> None:
    known = [row for row in market.forecasts if row.forecast not in ("expected", "foresight") and row.comparable]
    best = min(known, key=lambda row: row.cost_usd.mean)
    assert f"{best.policy} with the forecast {best.forecast} costs least" in verdict(market)
    nobody = tuple(replace(row, comparable=False) for row in market.forecasts)
    assert verdict(replace(market, forecasts=nobody)).startswith("No option")


def test_the_command_answers_and_keeps_its_files(labspend: Labspend, small_toml: Path, tmp_path: Path) -> None:
    done = labspend("foresight", small_toml, "--sigmas", "0,1", "--policy", "trained longer", "--out", "found")
    assert done.returncode == 0, done.stderr
    for said in ("Value of forecast", "damped_trend", "Perfect information", "In theory", "Results: found"):
        assert said in done.stdout
    kept = {path.name for path in (tmp_path / "found").iterdir()}
    assert {"forecasts.csv", "information.csv", "uncertainty.csv", "regret.png", "manifest.json"} <= kept
    again = load_study(tmp_path / "found" / "scenario.toml")
    assert again.policies[0].name == f"trained longer | {OWN}"
    answer = labspend("foresight", small_toml, "--sigmas", "0", "--policy", "plain", "--json")
    assert set(json.loads(answer.stdout)) == {"forecasts", "information", "uncertainty"}


@pytest.mark.parametrize(
    ("sigmas", "says"),
    [("0,x", "must be numbers"), ("-1", "between 0 and 3"), ("0,0", "must differ")],
)
def test_bad_sigmas_are_refused(labspend: Labspend, small_toml: Path, sigmas: str, says: str) -> None:
    done = labspend("foresight", small_toml, f"--sigmas={sigmas}")
    assert done.returncode == 2
    assert says in done.stderr
