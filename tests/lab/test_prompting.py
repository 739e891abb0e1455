"""Better prompts: worth their factor of compute, paid for by every prompt, by hand and against longer prompts."""

from __future__ import annotations

import numpy as np
import pytest
from strategies import Flat, observed

from simulator.lab.accounts import Account
from simulator.lab.candidates import reached_flop
from simulator.lab.forecast import Expected
from simulator.lab.lab import simulate
from simulator.lab.models import requantized, served_model, slowed_by_mix
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import FineTune, LeverRecipe, Recipe
from simulator.lab.routes import Lever
from simulator.laws.fits import BESI
from simulator.laws.precision import BF16, FP8
from simulator.laws.scaling import compute_optimal
from simulator.study.files import load_scenario
from simulator.world.scenario import DataMixingInputs, PromptingInputs, Scenario
from simulator.world.segments import Mix
from simulator.world.world import realize

KNOWN, FRONTIER = load_scenario("known_demand"), load_scenario("frontier_lab", ["horizon_days=400"])
TARGET = 5.41548e23
PROMPTS = LeverRecipe(levers={Lever.PROMPTING})


def prompting(gain: float = 2.0, factor: float = 3.0, cached: float = 0.0, usd: float = 0.0) -> Scenario:
    told = PromptingInputs(gain=gain, prompt_factor=factor, cached_share=cached, usd_per_release=usd)
    return KNOWN.model_copy(update={"prompting": told})


def choose(recipe: Recipe, scenario: Scenario, tokens_per_day: float = 1e9) -> Choice:
    return recipe.choose(observed(realize(scenario)), scenario.releases[0], Flat(tokens_per_day), RentOnDemand())


def test_prompts_are_worth_their_factor_of_compute_and_cost_every_token() -> None:
    choice = choose(PROMPTS, prompting())
    model = choice.model
    assert choice.route == "pre-train, prompted"
    assert choice.training_flop == pytest.approx(TARGET / 2, rel=1e-4)
    assert reached_flop(KNOWN, KNOWN.releases[0], model) == pytest.approx(TARGET, rel=1e-6)
    # Half of the tokens are prompts: 3 x 0.5 + 0.5 tokens are worked on for each, 2 N FLOP each.
    assert model.gpu_seconds_per_token == pytest.approx([2 * model.n_parameters * 2.0 / (989e12 * 0.375)])


@pytest.mark.parametrize(("tokens_per_day", "is_prompted"), [(0.4, True), (0.9, True), (1.1, False), (5.0, False)])
def test_prompts_pay_until_their_tokens_cost_what_training_saves(tokens_per_day: float, is_prompted: bool) -> None:
    # Prompted: C/2 + 4 N' T; plain: C + 2 N T. Equal where T = C / 2 / (4 N' - 2 N).
    large, small = (float(compute_optimal(BESI, flop)[0]) for flop in (TARGET, TARGET / 2))
    even = TARGET / 2 / (4 * small - 2 * large) / 365
    choice = choose(PROMPTS, prompting(), tokens_per_day * even)
    assert (choice.model.prompting is not None) == is_prompted


def test_what_writing_prompts_may_cost() -> None:
    plain, free = choose(LeverRecipe(), KNOWN), choose(PROMPTS, prompting())
    saved = plain.planned_usd - free.planned_usd
    kept, dropped = (choose(PROMPTS, prompting(usd=part * saved)) for part in (0.999, 1.001))
    assert (kept.model.prompting is not None, dropped.model.prompting is not None) == (True, False)
    assert kept.planned_usd == pytest.approx(free.planned_usd + 0.999 * saved)


def test_prompts_are_paid_for_on_the_day_of_deployment() -> None:
    run = simulate(prompting(gain=10.0, usd=1234.0), Policy("p", PROMPTS, RentOnDemand(), Expected()))
    assert run.books.cash_usd[0, Account.DEPLOYMENT] == 1234.0
    assert run.books.cash_usd[:, Account.DEPLOYMENT].sum() == 1234.0


def test_what_is_added_may_come_from_the_cache() -> None:
    # Of 3 prompt tokens one is the user's, and 90 % of the two others cost a tenth: 1 + 2 x (0.1 + 0.9 x 0.1) = 1.38.
    scenario = prompting(cached=0.9)
    with_cache = scenario.model_copy(
        update={"serving": scenario.serving.model_copy(update={"cached_prompt_cost": 0.1})}
    )
    model = choose(PROMPTS, with_cache).model
    assert model.gpu_seconds_per_token == pytest.approx(
        [2 * model.n_parameters * (1.38 * 0.5 + 0.5) / (989e12 * 0.375)]
    )


def test_prompts_go_with_every_other_lever() -> None:
    scenario = prompting().model_copy(update={"data_mixing": DataMixingInputs(gain=2.0, search_share=0.0)})
    both = choose(LeverRecipe(levers={Lever.PROMPTING, Lever.DATA_MIXING}), scenario)
    assert both.route == "pre-train, mixed data, prompted"
    assert both.training_flop == pytest.approx(TARGET / 4, rel=1e-4)
    # Llama 2 13B lacks tokens for the target; behind prompts worth ten times the compute it is good enough as it is.
    bare, prompted = (
        choose(FineTune(base="Llama 2 13B", levers=levers), prompting(gain=10.0))
        for levers in (frozenset(), frozenset({Lever.PROMPTING}))
    )
    assert prompted.training_flop == pytest.approx(6 * 13.016e9 * 1e9)
    assert prompted.training_flop < bare.training_flop
    assert prompted.route == "fine-tune, prompted Llama 2 13B"


# Against a lab whose users write the longer prompts themselves ------------------------------------------------------


LONGER = PromptingInputs(gain=2.0, prompt_factor=3.0)
ADDED = FRONTIER.demand.prompt_share * 2.0
"""Tokens added for each the users send."""


def written_out() -> Scenario:
    """The same requests, the additions counted as users' own: more tokens, more of them prompts, longer contexts."""
    demand = FRONTIER.demand
    own = demand.cached_share
    told = {
        "context_tokens": demand.context_tokens * (1.0 + ADDED),
        "prompt_share": demand.prompt_share * 3.0 / (1.0 + ADDED),
        "cached_share": own / 3.0,
    }
    return FRONTIER.model_copy(update={"demand": demand.model_copy(update=told)})


@pytest.mark.parametrize("size", [1e9, 8e9, 70e9, 400e9])
def test_longer_prompts_take_the_time_of_longer_prompts(size: float) -> None:
    assert not FRONTIER.demand.segment
    prompted = served_model(FRONTIER, "m", size, 1e13, BF16, 1.0, prompting=LONGER)
    out = served_model(written_out(), "m", size, 1e13, BF16, 1.0)
    np.testing.assert_allclose(prompted.gpu_seconds_per_token, out.gpu_seconds_per_token * (1.0 + ADDED), rtol=1e-9)
    np.testing.assert_array_equal(prompted.replica_gpus, out.replica_gpus)
    plain = served_model(FRONTIER, "m", size, 1e13, BF16, 1.0)
    assert (prompted.gpu_seconds_per_token > plain.gpu_seconds_per_token).all()


def test_prompts_stay_where_the_precision_or_the_mix_changes() -> None:
    prompted = served_model(FRONTIER, "m", 70e9, 1e13, BF16, 1.0, prompting=LONGER)
    other = requantized(FRONTIER, prompted, FP8)
    expected = served_model(FRONTIER, "m", 70e9, 1e13, FP8, 1.0, prompting=LONGER)
    np.testing.assert_allclose(other.gpu_seconds_per_token, expected.gpu_seconds_per_token, rtol=1e-12)
    # All completions: nothing is added, and the rest is as slow as without prompts, but for the longer contexts.
    bare = Mix(np.zeros(1), np.zeros(1), np.ones(1))
    slowed = slowed_by_mix(FRONTIER, prompted, bare)[:, 0] * prompted.gpu_seconds_per_token
    longer = served_model(written_out(), "m", 70e9, 1e13, BF16, 1.0)
    out = slowed_by_mix(written_out(), longer, bare)[:, 0] * longer.gpu_seconds_per_token
    np.testing.assert_allclose(slowed, out, rtol=1e-9)
