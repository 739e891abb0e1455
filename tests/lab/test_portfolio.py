"""Several models that share the traffic: closed forms, FLOP by hand, and days of a lab that serves with two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import FixedOrders, FixedRecipe, plain_scenario
from strategies import Flat, observed

from simulator.lab.candidates import reached_flop
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import simulate
from simulator.lab.models import Member, requantized, served_model, slowed_by_mix, together
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice, Plan
from simulator.lab.policy import Policy
from simulator.lab.portfolio import Portfolio, shared
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.lab.recipe import LeverRecipe, Recipe
from simulator.lab.routes import Lever
from simulator.laws.fine_tuning import qlora
from simulator.laws.fits import BESI
from simulator.laws.precision import BF16, FP8
from simulator.laws.scaling import compute_optimal
from simulator.study.files import load_scenario
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, RoutingInputs, Scenario
from simulator.world.segments import Mix
from simulator.world.world import realize

KNOWN, FRONTIER = load_scenario("known_demand"), load_scenario("frontier_lab", ["horizon_days=400"])
TARGET, DAYS = 5.41548e23, 365
USD_PER_FLOP = 2.89 / (989e12 * 0.375 * 3600)
"""Of the known-demand lab, on either side."""
ROUTE = frozenset({Lever.ROUTING})
BOTH = frozenset({Lever.ROUTING, Lever.OVERTRAIN})


def routing(**told: float) -> Scenario:
    return KNOWN.model_copy(update={"routing": RoutingInputs.model_validate(told)})


def choose(recipe: Recipe, scenario: Scenario, tokens_per_day: float = 1e11) -> Choice:
    return recipe.choose(observed(realize(scenario)), scenario.releases[0], Flat(tokens_per_day), RentOnDemand())


# Routing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "small", "large", "router"),
    [
        ({"easy_share": 0.6, "easy_quality": 0.1}, 0.6, 0.4, 0.0),
        # A tenth of the easy 60 % goes to the large model, a tenth of the hard 40 % to the small one first.
        ({"easy_share": 0.6, "easy_quality": 0.1, "misrouted_share": 0.1}, 0.58, 0.46, 0.0),
        ({"easy_share": 0.6, "easy_quality": 0.1, "router_parameters": 2e9}, 0.6, 0.4, 2e9),
    ],
)
def test_two_compute_optimal_models_by_hand(told: dict[str, float], small: float, large: float, router: float) -> None:
    choice = choose(LeverRecipe(levers=ROUTE), routing(**told))
    n_large, n_small = (float(compute_optimal(BESI, share * TARGET)[0]) for share in (1.0, 0.1))
    assert choice.training_flop == pytest.approx(1.1 * TARGET, rel=1e-4)
    # 2 N a token; the router reads prompts alone, half of the tokens.
    flop = 2 * (large * n_large + small * n_small) + 2 * router * 0.5
    assert choice.planned_serving_usd == pytest.approx(flop * 1e11 * DAYS * USD_PER_FLOP, rel=1e-4)
    assert choice.planned_usd == pytest.approx((1.1 * TARGET + flop * 1e11 * DAYS) * USD_PER_FLOP, rel=1e-4)
    assert choice.route == "routed 70B + 21.5B, pre-train"
    assert choice.quality_met


def test_every_model_is_as_good_as_its_traffic_needs() -> None:
    choice = choose(LeverRecipe(levers=BOTH), routing(easy_share=0.7, easy_quality=0.05))
    release = KNOWN.releases[0]
    reached = [reached_flop(KNOWN, release, member.model) for member in choice.model.members]
    assert reached == pytest.approx([TARGET, 0.05 * TARGET], rel=1e-6)
    assert reached_flop(KNOWN, release, choice.model) == pytest.approx(TARGET, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.0, 0.99),
    st.floats(0.01, 1.0),
    st.floats(0.0, 0.5),
    st.floats(7.0, 13.0).map(lambda log10: 10.0**log10),
)
def test_two_models_are_trained_exactly_if_they_are_cheaper(
    easy: float, quality: float, lost: float, tokens: float
) -> None:
    choice = choose(
        LeverRecipe(levers=ROUTE), routing(easy_share=easy, easy_quality=quality, misrouted_share=lost), tokens
    )
    n_large, n_small = (float(compute_optimal(BESI, share * TARGET)[0]) for share in (1.0, quality))
    first = easy * (1 - lost) + (1 - easy) * lost
    served = 2 * tokens * DAYS
    one = TARGET + n_large * served
    two = TARGET * (1 + quality) + (n_small * first + n_large * (1 - easy * (1 - lost))) * served
    assert choice.planned_usd == pytest.approx(min(one, two) * USD_PER_FLOP, rel=1e-4)
    if abs(one - two) > 1e-3 * one:
        assert bool(choice.model.members) == (two < one)


def test_what_each_half_serves_decides_how_far_it_is_overtrained() -> None:
    # The small model of a tenth of the quality for half of the tokens is the one that a lab with such a target and so
    # many tokens would train.
    choice = choose(LeverRecipe(levers=BOTH), routing(easy_share=0.5, easy_quality=0.1), 1e12)
    eased = KNOWN.model_copy(update={"roadmap": KNOWN.roadmap.model_copy(update={"target_flop": 0.1 * TARGET})})
    alone = choose(LeverRecipe(levers={Lever.OVERTRAIN}), eased, 0.5e12)
    (_, small) = choice.model.members
    assert small.model.n_parameters == pytest.approx(alone.model.n_parameters, rel=1e-4)
    assert small.model.n_training_tokens == pytest.approx(alone.model.n_training_tokens, rel=1e-4)


def test_the_memory_of_the_largest_is_enough() -> None:
    roadmap = FRONTIER.roadmap.model_copy(update={"train_days": 100})
    scenario = FRONTIER.model_copy(
        update={"routing": RoutingInputs(easy_share=0.5, easy_quality=0.01), "roadmap": roadmap}
    )
    choice = choose(LeverRecipe(levers=ROUTE), scenario, 1e13)
    assert choice.model.n_parameters == max(member.model.n_parameters for member in choice.model.members)
    assert choice.size.days <= scenario.releases[0].train_days


# A fixed portfolio -----------------------------------------------------------------------------------------------


def portfolio(*models: dict[str, object]) -> Portfolio:
    return Portfolio.model_validate({"model": models})


def test_three_of_175_billion_against_one_giant() -> None:
    """Compute-optimal tokens grow as N^(alpha/beta): three thirds take 3^(-alpha/beta) of the giant's FLOP, 35 %."""
    third = {"n_parameters": 175e9, "share": 1 / 3, "quality": 0.1}
    three = choose(portfolio(third, third, third), KNOWN)
    giant = choose(portfolio({"n_parameters": 525e9, "share": 1.0}), KNOWN)
    assert three.training_flop / giant.training_flop == pytest.approx(3 ** (-BESI.alpha / BESI.beta), rel=1e-9)
    assert 3 ** (-BESI.alpha / BESI.beta) == pytest.approx(0.352, abs=5e-4)
    assert three.planned_serving_usd / giant.planned_serving_usd == pytest.approx(1 / 3)
    assert three.route == "175B + 175B + 175B, pre-train"
    size, tokens = compute_optimal(BESI, giant.training_flop)
    assert (giant.model.n_parameters, giant.model.n_training_tokens) == pytest.approx((float(size), float(tokens)))


def test_a_portfolio_is_as_good_as_its_weakest_part() -> None:
    told = {"n_parameters": 20e9, "n_training_tokens": 1e12, "share": 0.4}
    good = {"n_parameters": 100e9, "n_training_tokens": 2e12, "share": 0.6}
    reached = reached_flop(KNOWN, KNOWN.releases[0], choose(portfolio({**told, "share": 1.0}), KNOWN).model)
    for asked, met in ((reached / TARGET * 0.999, True), (reached / TARGET * 1.001, False)):
        choice = choose(portfolio(good, {**told, "quality": asked}), KNOWN)
        assert (choice.quality_met, choice.limit) == (met, "" if met else "target out of reach")
        assert reached_flop(KNOWN, KNOWN.releases[0], choice.model) == pytest.approx(reached / asked)


def test_shares_must_be_a_whole() -> None:
    with pytest.raises(ValueError, match=r"must sum to 1 .*sum 0.9"):
        portfolio({"n_parameters": 1e9, "share": 0.5}, {"n_parameters": 2e9, "share": 0.4})


def test_routing_needs_to_be_described() -> None:
    with pytest.raises(Misplaced, match="routing: must be described"):
        choose(LeverRecipe(levers=ROUTE), KNOWN)


def test_models_no_gpu_can_serve_are_refused() -> None:
    with pytest.raises(Misplaced, match=r"must offer a GPU that can serve 1e\+15 parameters"):
        choose(portfolio({"n_parameters": 7e9, "share": 0.5}, {"n_parameters": 1e15, "share": 0.5}), FRONTIER)


def test_who_needs_most_memory_to_train_sets_the_least_gpus() -> None:
    """400B in QLoRA holds 0.55 bytes a parameter, 222 GB; 70B from scratch 16, 1,120 GB: 24 GPUs of 80 GB at 60 %."""
    observation = observed(realize(KNOWN))
    plan = Plan.of(observation, replace(KNOWN.releases[0], train_days=36_500), Flat(1e9), RentOnDemand())
    tuned, scratch = (plan.as_told(size, 1e9, "bf16", "a test") for size in (400e9, 70e9))
    tuned = replace(tuned, method=qlora(0.002))
    members = [Member(tuned.model, 0.5, 1.0), Member(scratch.model, 0.5, 1.0)]
    for parts in ((tuned, scratch), (scratch, tuned)):
        assert shared(plan, parts, members, "").size.gpus == 24


def test_a_portfolio_is_described_by_a_model_that_answers() -> None:
    answers, router = (served_model(KNOWN, "one", size, 1e12, BF16, s) for size, s in ((70e9, 1.0), (75e9, 0.0)))
    model = together("both", [Member(answers, 1.0, 1.0), Member(router, 1.0, 0.0)])
    assert (model.n_parameters, model.samples) == (70e9, 1.0)
    # 2 N for every token, and 2 N of the router for prompts, half of them.
    assert model.gpu_seconds_per_token == pytest.approx([2 * (70e9 + 75e9 / 2) / (989e12 * 0.375)])


# In service ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwoModels(FixedRecipe):
    """A quarter of the traffic to a model of the opening one's size, three to one of a tenth of it."""

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        choice = super().choose(observation, release, forecast, procurement)
        large, small = (served_model(observation.scenario, "m", size, 1e12, BF16, 1.0) for size in (2.5e11, 2.5e10))
        return replace(choice, model=together("two", [Member(large, 0.25, 1.0), Member(small, 0.75, 0.1)]))


def test_three_days_of_a_lab_with_two_models() -> None:
    # 240 GPU-hours a day of the opening model; then 0.25 x 240 + 0.75 x 24 = 78.
    run = simulate(plain_scenario(), Policy("two", TwoModels(), FixedOrders(), Expected()))
    np.testing.assert_allclose(run.used.serving_rented_hours, [240.0, 240.0, 78.0])
    np.testing.assert_array_equal(run.used.served_tokens, run.used.asked_tokens)


def two(scenario: Scenario) -> list[Member]:
    large, small = (served_model(scenario, "m", size, 1e13, BF16, 1.0) for size in (70e9, 8e9))
    return [Member(large, 0.3, 1.0), Member(small, 0.7, 0.1)]


def test_a_mix_that_drifts_slows_each_model_in_its_own_way() -> None:
    # Prompts are cheap and completions dear, and the more so the larger a model is.
    members = two(FRONTIER)
    pair = together("two", members)
    other = Mix(np.array([0.1, 0.9]), np.array([0.0, 0.4]), np.array([0.9, 0.1]))
    at_start = FRONTIER.demand.mix_at_start

    def seconds(mix: Mix) -> np.ndarray:
        found = [
            member.share * member.model.gpu_seconds_per_token[:, None] * slowed_by_mix(FRONTIER, member.model, mix)
            for member in members
        ]
        return np.sum(found, axis=0)

    expected = seconds(other) / seconds(at_start)
    np.testing.assert_allclose(slowed_by_mix(FRONTIER, pair, other), expected, rtol=1e-12)
    assert not np.allclose(expected, slowed_by_mix(FRONTIER, members[0].model, other))


def test_in_another_precision_all_of_them_are() -> None:
    members = two(FRONTIER)
    other = requantized(FRONTIER, together("two", members), FP8)
    expected = sum(m.share * requantized(FRONTIER, m.model, FP8).gpu_seconds_per_token for m in members)
    np.testing.assert_allclose(other.gpu_seconds_per_token, expected, rtol=1e-12)
    assert {member.model.precision for member in other.members} == {FP8}
    assert other.precision == FP8
