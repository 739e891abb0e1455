"""The textbook split, through the whole simulator: numbers from Sardana et al. 2024 with Besiroglu's coefficients."""

from __future__ import annotations

import pytest

from simulator.lab.lab import Run, simulate
from simulator.lab.policy import Policy, default_policies
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import Lever
from simulator.study.files import load_study

HALF_PERCENT = 0.005


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    study = load_study("scenarios/known_demand.toml")
    return {policy.name: simulate(study.scenario, policy, study.seed) for policy in study.policies}


def test_overtraining_picks_the_published_model(runs: dict[str, Run]) -> None:
    # BESI, quality of a 70B model, 1e13 tokens: N* 3.2765e10, D* 3.6680e12, saving 29.11 % of FLOP.
    model = runs["overtrain"].releases[0].choice.model
    assert model.n_parameters == pytest.approx(3.2765e10, rel=HALF_PERCENT)
    assert model.n_training_tokens == pytest.approx(3.6680e12, rel=HALF_PERCENT)


def test_dollars_are_flop(runs: dict[str, Run]) -> None:
    cost = {name: run.books.cash_usd.sum() for name, run in runs.items()}
    assert 1 - cost["overtrain"] / cost["chinchilla"] == pytest.approx(0.2911, rel=HALF_PERCENT)
    # 6 N D + 2 N T at 989e12 x 0.375 FLOP/s and 2.89 USD an hour.
    flop = 6 * 3.2765e10 * 3.6680e12 + 2 * 3.2765e10 * 1e13
    assert cost["overtrain"] == pytest.approx(flop / (989e12 * 0.375 * 3600) * 2.89, rel=HALF_PERCENT)


def test_chinchilla_is_compute_optimal(runs: dict[str, Run]) -> None:
    # Compute-optimal 70B under BESI: D0 1.2894e12.
    model = runs["chinchilla"].releases[0].choice.model
    assert model.n_parameters == pytest.approx(70e9, rel=HALF_PERCENT)
    assert model.n_training_tokens == pytest.approx(1.2894e12, rel=HALF_PERCENT)


def test_all_policies_reach_the_target_exactly(runs: dict[str, Run]) -> None:
    for run in runs.values():
        (release,) = run.releases
        assert release.reached_flop == pytest.approx(release.release.target_flop, rel=1e-6)
        assert run.used.served_tokens.sum() == pytest.approx(1e13)


@pytest.mark.parametrize("tokens", ["1e11", "1e12", "1e14"])
def test_the_rest_of_the_published_row(tokens: str) -> None:
    published = {"1e11": (6.7637e10, 0.04353), "1e12": (5.4961e10, 2.574), "1e14": (2.0170e10, 61.51)}
    size, saving_percent = published[tokens]
    study = load_study("scenarios/known_demand.toml", [f"demand.tokens_per_day={float(tokens) / 365}"])
    chinchilla = default_policies()[0]
    recipe = LeverRecipe(levers=frozenset({Lever.OVERTRAIN}))
    overtrain = Policy("overtrain", recipe, chinchilla.procurement, study.policies[0].forecast)
    found = simulate(study.scenario, overtrain)
    base = simulate(study.scenario, study.policies[0])
    assert found.releases[0].choice.model.n_parameters == pytest.approx(size, rel=HALF_PERCENT)
    saving = 100 * (1 - found.books.cash_usd.sum() / base.books.cash_usd.sum())
    assert saving == pytest.approx(saving_percent, abs=0.1)
