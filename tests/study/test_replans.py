"""The option to change course from file to results folder, and what must hold for whoever has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_study import BUY, OVERTRAIN, RENT, RESERVE, growing_lab

from simulator.lab.accounts import FLOWS
from simulator.lab.lab import Lab
from simulator.lab.policy import Policy
from simulator.lab.replan import Action, Replan
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.files import ScenarioError, StudyInputs, load_study, study_toml
from simulator.study.meaning import meaning
from simulator.study.restated import study_text_of
from simulator.study.store import load, save
from simulator.world.scenario import Scenario
from simulator.world.world import realize

ANY = Replan(actions=frozenset(Action) - {Action.DISTIL}, least_saving=0.0, band_sd=0.5, resell_after_days=60)
FLEXIBLE = tuple(replace(policy, name=f"{policy.name}, flexible", replan=ANY) for policy in (RENT, RESERVE, BUY))
FLEXIBLE += (
    replace(OVERTRAIN, name="overtrain, again", replan=ANY.model_copy(update={"actions": frozenset({Action.RETRAIN})})),
)


def restless_lab(horizon_days: int = 300) -> Scenario:
    """The growing lab in worlds that differ widely, with a roadmap that is none too sure."""
    plain = growing_lab(horizon_days)
    uncertain = {"target_growth_sigma": 0.3, "progress_sigma": 0.2, "slip_chance": 0.3}
    return plain.model_copy(
        update={
            "demand": plain.demand.model_copy(update={"growth_sigma": 2.0}),
            "roadmap": plain.roadmap.model_copy(update=uncertain),
        }
    )


RESTLESS = restless_lab()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(FLEXIBLE))
def test_whoever_changes_course_keeps_the_books(replication: int, policy: Policy) -> None:
    run = Lab(realize(RESTLESS, 1, replication), policy).live()
    cash, economic, used = run.books.cash_usd, run.books.economic_usd, run.used
    assert cash.sum() == pytest.approx(economic.sum(), abs=1e-9 * np.abs(cash).sum())
    assert (used.owned_gpus >= 0.0).all()
    assert (used.training_sunk_hours >= 0.0).all()
    busy = used.training_sunk_hours + used.serving_sunk_hours + used.research_sunk_hours
    assert (busy <= used.held_hours * (1 + 1e-9) + 1e-6).all()
    assert len(run.releases) == len(run.books.releases)
    for made in run.releases:
        assert made.reached_flop == pytest.approx(made.release.target_flop, rel=1e-5)
    for told in run.replans:
        assert told.band.is_left
        assert told.step.saving_usd > 0.0
    # Every day is served by one run at most, and by one from the first deployment on.
    first = min((made.deploy_day for made in run.releases), default=300)
    served = sum(cost.served_tokens for cost in run.books.releases)
    assert served == pytest.approx(used.served_tokens[first:].sum())


def test_all_actions_occur() -> None:
    # Or the test above would tell little.
    taken = {
        told.step.action
        for replication in range(12)
        for policy in FLEXIBLE
        for told in Lab(realize(RESTLESS, 1, replication), policy).live().replans
    }
    assert taken == {Action.REQUANTIZE, Action.RETRAIN, Action.RESELL}


@pytest.mark.parametrize("policy", FLEXIBLE, ids=lambda policy: policy.name)
def test_a_longer_horizon_has_the_same_first_days(policy: Policy) -> None:
    for replication in range(4):
        short, long = (
            Lab(realize(scenario, 1, replication), policy).live() for scenario in (RESTLESS, restless_lab(400))
        )
        np.testing.assert_array_equal(short.used.served_tokens, long.used.served_tokens[:300])
        flows = list(FLOWS)
        np.testing.assert_allclose(short.books.cash_usd[:, flows], long.books.cash_usd[:300, flows], rtol=1e-12)
        told = [[(r.day, r.step.action) for r in run.replans if r.day < 300] for run in (short, long)]
        assert told[0] == told[1]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(RESTLESS, (RENT, *FLEXIBLE), replications=3)


def test_replans_are_saved_and_come_back(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path / "with")
    table = comparison.replans_table
    assert len(table) > 3
    assert not set(table["policy"]) & {"rent"}
    pd.testing.assert_frame_equal(load(tmp_path / "with").replans, table, check_dtype=False, rtol=1e-12)
    assert (table["seen_tokens_per_day"] < table["band_low_tokens_per_day"]).any()
    assert (table["seen_tokens_per_day"] > table["band_high_tokens_per_day"]).any()


def test_who_never_changes_course_saves_no_such_table(comparison: Comparison, tmp_path: Path) -> None:
    save(replace(comparison, policies=(RENT,) * 5), tmp_path / "without")
    assert not (tmp_path / "without" / "replans.csv").exists()
    assert load(tmp_path / "without").replans.empty


def test_a_study_in_python_is_said_again_with_its_option(comparison: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "again.toml"
    path.write_text(study_text_of(comparison), encoding="utf-8")
    study = load_study(path)
    assert study.policies == comparison.policies
    told = meaning(study)
    assert "rent, flexible may change course: requantize, resell, retrain" in told
    assert "A release slips in 30% of cases, by 30 days on average." in told
    assert "rent may change course" not in told


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            'replan = { actions = ["distil"] }',
            'distillation: must be described for the replan action "distil" to be used',
        ),
        ('replan = { actions = ["resel"] }', "did you mean 'resell'"),
        ("replan = { band_sd = 0.0 }", "replan.band_sd: must be greater than 0"),
        ("replan = { least_savings = 0.1 }", "did you mean 'least_saving'"),
        ("replan = { resell_after_days = 1e9 }", "resell_after_days"),
    ],
)
def test_what_is_wrong_with_an_option_is_told(tmp_path: Path, table: str, said: str) -> None:
    path = tmp_path / "wrong.toml"
    text = study_toml(RESTLESS, StudyInputs(), ())
    path.write_text(f'{text}\n[[policy]]\nname = "p"\n{table}\n', encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_study(path)
    assert said in str(caught.value)
