"""A given model is trained as it stands: its size, tokens and FLOP, where it was told to, and honest about quality."""

from __future__ import annotations

import pytest

from simulator.lab.accounts import Account
from simulator.lab.given import Given
from simulator.lab.lab import Run, simulate
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.study.files import ScenarioError, load_scenario, load_study

TWO_KINDS = (
    'market.quote=[{ accelerator = "H100", on_demand_usd_per_gpu_hour = 3.0, source = "a test" }, '
    '{ accelerator = "A100", on_demand_usd_per_gpu_hour = 1.5, source = "a test" }]'
)


def lived(recipe: Given, *overrides: str) -> Run:
    scenario = load_scenario("known_demand", overrides)
    return simulate(scenario, Policy("given", recipe, RentOnDemand(), load_study("known_demand").policies[0].forecast))


def test_it_is_trained_and_served_as_it_stands() -> None:
    run = lived(Given(model="Chinchilla"))
    choice = run.releases[0].choice
    assert (choice.model.n_parameters, choice.model.n_training_tokens) == (70e9, 1.4e12)
    assert choice.training_flop == pytest.approx(6 * 70e9 * 1.4e12)
    # 6 N D + 2 N T at 989e12 x 0.375 FLOP/s and 2.89 USD an hour, by hand.
    flop = 6 * 70e9 * 1.4e12 + 2 * 70e9 * 1e13
    assert run.books.cash_usd[:, Account.ON_DEMAND].sum() == pytest.approx(flop / (989e12 * 0.375 * 3600) * 2.89)


@pytest.mark.parametrize(("model", "is_met"), [("Chinchilla", True), ("Gopher", False), ("GPT-3", False)])
def test_it_says_whether_it_is_good_enough(model: str, is_met: bool) -> None:
    # The target is a compute-optimal 70B: 1.97618 nats; Chinchilla has 1.97388, Gopher 1.99961, GPT-3 2.00854.
    choice = lived(Given(model=model)).releases[0].choice
    assert (choice.quality_met, choice.limit) == (is_met, "" if is_met else "target out of reach")


@pytest.mark.parametrize(
    # FLOP a dollar: 989 / 3 = 330 on the H100, 312 / 1.5 = 208 on the A100.
    ("train_on", "kind", "usd_per_gpu_hour", "tflop"),
    [(None, 0, 3.0, 989e12), ("H100", 0, 3.0, 989e12), ("A100", 1, 1.5, 312e12)],
)
def test_it_trains_where_it_is_told_to(train_on: str | None, kind: int, usd_per_gpu_hour: float, tflop: float) -> None:
    choice = lived(Given(model="Chinchilla", train_on=train_on), TWO_KINDS).releases[0].choice
    assert choice.accelerator == kind
    hours = 6 * 70e9 * 1.4e12 / (tflop * 0.375 * 3600)
    assert choice.planned_training_usd == pytest.approx(hours * usd_per_gpu_hour)


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ('{ kind = "given", model = "Chinchila" }', "is no known model; did you mean 'Chinchilla'?"),
        ('{ kind = "given", model = "DeepSeek-V3" }', "must be dense, not a mixture of experts"),
        ('{ kind = "given", model = "Gopher", train_on = "TPU v4" }', "must be on offer: H100"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_runs(recipe: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=told) as refused:
        load_study("known_demand", [f"policy.0.recipe={recipe}"])
    assert "policy.0.recipe" in str(refused.value)


def test_a_model_no_gpu_can_serve_is_refused() -> None:
    overrides = ('serving={ law = "roofline", max_seconds_per_token = 0.001 }',)
    with pytest.raises(ValueError, match="must offer a GPU that can serve Gopher"):
        lived(Given(model="Gopher"), *overrides)
