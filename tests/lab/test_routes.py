"""The further levers and the fixed recipes: what they cost, what they gain, and where they refuse."""

from __future__ import annotations

from datetime import date
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Flat, observed

from simulator.lab.accounts import Account
from simulator.lab.candidates import reached_flop
from simulator.lab.explain import explain
from simulator.lab.forecast import Expected
from simulator.lab.lab import simulate
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy, default_policies
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import Erdil, FineTune, Fixed, LeverRecipe, Recipe
from simulator.lab.routes import MAIN_LEVERS, Lever
from simulator.laws.fits import BESI
from simulator.laws.scaling import compute_optimal, loss, optimal_loss, tokens_for_loss
from simulator.study.files import load_scenario
from simulator.world.models import PublishedModelInputs
from simulator.world.scenario import (
    DataMixingInputs,
    DistillationInputs,
    Misplaced,
    PromptingInputs,
    Roofline,
    RoutingInputs,
    Scenario,
    TrainingInputs,
)
from simulator.world.world import realize

KNOWN = load_scenario("known_demand")
TARGET = 5.41548e23
OPTIMAL_TOKENS = 1.2894e12
SETS = [frozenset(chosen) for n in range(len(Lever) + 1) for chosen in combinations(sorted(Lever), n)]


def assuming(gain: float = 2.0, token_worth: float = 4.0, search_share: float = 0.05, usd: float = 0.0) -> Scenario:
    """The known-demand lab with every lever described."""
    return KNOWN.model_copy(
        update={
            "data_mixing": DataMixingInputs(gain=gain, search_share=search_share, usd_per_release=usd),
            "distillation": DistillationInputs(token_worth=token_worth),
            "prompting": PromptingInputs(gain=1.3, prompt_factor=2.0),
            "routing": RoutingInputs(easy_share=0.6, easy_quality=0.1),
        }
    )


def choose(recipe: Recipe, scenario: Scenario = KNOWN, tokens_per_day: float = 1e13 / 365) -> Choice:
    return recipe.choose(observed(realize(scenario)), scenario.releases[0], Flat(tokens_per_day), RentOnDemand())


# Erdil's abstract trade ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "beta", "share"), [
    # Erdil 2024, table of shares alpha / (alpha + beta); the overtraining and n@k rows of Villalobos & Atkinson 2023
    (1, 1, 0.5), (2, 1, 0.6667), (1, 2, 0.3333), (0.1, 1, 0.09091), (10, 1, 0.9091),
    (0.7, 1.2, 0.3684), (1.2, 0.7, 0.6316), (1, 1.45, 0.4082),
])  # fmt: skip
def test_training_gets_its_share_through_the_simulator(alpha: float, beta: float, share: float) -> None:
    run = simulate(KNOWN, Policy("erdil", Erdil(alpha=alpha, beta=beta), RentOnDemand(), Expected()))
    (cost,) = run.books.releases
    assert cost.training_usd / (cost.training_usd + cost.serving_usd) == pytest.approx(share, abs=5e-5)


def test_a_used_up_trade_stops_at_its_limit() -> None:
    # From 1 : 10,000 with one order of magnitude to give: 10 and 1,000, a share of 0.0099.
    start = choose(LeverRecipe())
    demand = start.planned_training_usd * 1e4 / (start.planned_serving_usd / (1e13 / 365))
    stopped = choose(Erdil(max_oom=1.0), tokens_per_day=demand)
    assert stopped.limit == "trade used up"
    assert stopped.planned_training_usd == pytest.approx(10 * start.planned_training_usd)
    assert stopped.planned_training_usd / stopped.planned_usd == pytest.approx(0.00990, abs=5e-6)


# Fixed habits ----------------------------------------------------------------------------------------------------


def test_one_times_compute_optimal_is_chinchilla() -> None:
    model = choose(Fixed()).model
    assert model.n_parameters == pytest.approx(70e9, rel=1e-4)
    assert model.n_training_tokens == pytest.approx(OPTIMAL_TOKENS, rel=1e-4)


@pytest.mark.parametrize(
    ("factor", "precision", "samples"), [(10.0, "bf16", 1.0), (1.0, "int4", 1.0), (3.0, "fp8", 16.0)]
)
def test_a_fixed_habit_meets_the_target_in_its_ratio(factor: float, precision: str, samples: float) -> None:
    choice = choose(Fixed(overtraining_factor=factor, precision=precision, samples=samples))
    model = choice.model
    assert (model.precision.name, model.samples) == (precision, samples)
    assert reached_flop(KNOWN, KNOWN.releases[0], model) == pytest.approx(TARGET, rel=1e-6)
    size, tokens = compute_optimal(BESI, TARGET / samples ** (1 / 1.45))
    assert model.n_training_tokens / model.n_parameters == pytest.approx(factor * float(tokens / size), rel=1e-3)


def test_a_habit_that_data_cannot_feed_is_told() -> None:
    scarce = KNOWN.model_copy(update={"training": KNOWN.training.model_copy(update={"unique_tokens": 1e11})})
    assert choose(Fixed(overtraining_factor=100.0), scarce).limit == "target out of reach"


# Fine-tuning -----------------------------------------------------------------------------------------------------


def test_a_base_is_trained_on_what_it_lacks() -> None:
    # Llama 2 7B read 2e12 tokens; the target's loss (of 70B on 1.2894e12) at 6.738e9 parameters takes more.
    wanted = float(tokens_for_loss(BESI, 6.738e9, float(loss(BESI, 70e9, OPTIMAL_TOKENS))))
    if not np.isfinite(wanted):  # no amount of data makes a 7B that good
        assert choose(FineTune(base="Llama 2 7B")).quality_met is False
    choice = choose(FineTune(base="Llama 2 13B"))
    lacking = float(tokens_for_loss(BESI, 13.016e9, float(loss(BESI, 70e9, OPTIMAL_TOKENS)))) - 2e12
    assert choice.route == "fine-tune Llama 2 13B"
    assert choice.training_flop == pytest.approx(6 * 13.016e9 * lacking, rel=1e-3)
    assert reached_flop(KNOWN, KNOWN.releases[0], choice.model) == pytest.approx(TARGET, rel=1e-6)


def test_a_base_that_cannot_reach_the_target_is_trained_on_to_the_end_of_data_and_never_from_scratch() -> None:
    scarce = KNOWN.model_copy(update={"training": KNOWN.training.model_copy(update={"unique_tokens": 1e12})})
    choice = choose(FineTune(base="Llama 2 7B"), scarce)
    assert (choice.route, choice.quality_met) == ("fine-tune Llama 2 7B", False)
    assert choice.limit == "target out of reach"
    assert choice.training_flop == pytest.approx(6 * 6.738e9 * (16e12 - 2e12), rel=1e-9)
    # 16 epochs are worth 10.58246 of fresh text (Muennighoff et al. 2023).
    reached = float(optimal_loss(BESI, np.array([reached_flop(scarce, scarce.releases[0], choice.model)]))[0])
    assert reached == pytest.approx(float(loss(BESI, 6.738e9, 10.58246e12)), rel=1e-6)


def test_a_base_better_than_the_target_takes_the_least_tokens() -> None:
    choice = choose(FineTune(base="Llama 3.1 405B"))
    assert choice.training_flop == pytest.approx(6 * 405.85e9 * 1e9, rel=1e-3)
    assert reached_flop(KNOWN, KNOWN.releases[0], choice.model) > TARGET


def test_a_mixture_of_experts_trains_its_active_parameters() -> None:
    choice = choose(FineTune(base="DeepSeek-V3"))
    assert choice.training_flop == pytest.approx(6 * 37e9 * 1e9, rel=1e-6)


def test_the_cheapest_base_is_never_dearer_than_one_of_them() -> None:
    best = choose(LeverRecipe(levers={Lever.FINE_TUNE}))
    for base in ("Llama 2 13B", "Llama 3.1 8B", "Llama 3.1 70B", "BLOOM"):
        one = choose(FineTune(base=base))
        assert not one.quality_met or best.planned_usd <= one.planned_usd * (1 + 1e-9)


@pytest.mark.parametrize(("base", "says"), [("Chinchilla", "must have open weights"), ("Lama 3.1 8B", "Llama 3.1 8B")])
def test_a_base_that_cannot_be_had_is_refused(base: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        choose(FineTune(base=base))


def test_a_base_of_the_scenarios_own_can_be_trained_on() -> None:
    """By hand: 6 x 30e9 x what a 30B lacks beyond its 1e12 tokens, by the law of loss."""
    own = PublishedModelInputs(
        name="Ours 30B", n_parameters=30e9, n_training_tokens=1e12, release=date(2025, 6, 1), source="a test"
    )
    scenario = KNOWN.model_copy(update={"model": (own,)})
    choice = choose(FineTune(base="ours-30b"), scenario)
    lacking = float(tokens_for_loss(BESI, 30e9, float(loss(BESI, 70e9, OPTIMAL_TOKENS)))) - 1e12
    assert choice.route == "fine-tune Ours 30B"
    assert choice.training_flop == pytest.approx(6 * 30e9 * lacking, rel=1e-3)
    free = choose(LeverRecipe(levers={Lever.FINE_TUNE}), scenario)
    assert free.planned_usd <= choice.planned_usd * (1 + 1e-9)


def test_a_known_base_described_anew_is_the_one_trained_on() -> None:
    closed = PublishedModelInputs(
        name="Llama 3.1 8B",
        n_parameters=8e9,
        n_training_tokens=15e12,
        release=date(2024, 7, 23),
        open_weights=False,
        source="a test",
    )
    with pytest.raises(Misplaced, match="must have open weights"):
        choose(FineTune(base="Llama 3.1 8B"), KNOWN.model_copy(update={"model": (closed,)}))


def test_a_base_that_is_not_out_yet_is_refused() -> None:
    early = KNOWN.start.replace(year=2024)
    roadmap = KNOWN.roadmap.model_copy(
        update={"release": (KNOWN.roadmap.release[0].model_copy(update={"due": early}),)}
    )
    with pytest.raises(Misplaced, match="must be out when the model is decided"):
        choose(FineTune(base="Llama 3.1 8B"), KNOWN.model_copy(update={"start": early, "roadmap": roadmap}))


# Data mixing and distillation ------------------------------------------------------------------------------------


def test_a_better_mix_is_worth_its_factor_of_compute() -> None:
    # Without overtraining and search, a gain of 2 is a compute-optimal model of half the FLOP.
    choice = choose(LeverRecipe(levers={Lever.DATA_MIXING}), assuming(gain=2.0, search_share=0.0))
    assert choice.route == "pre-train, mixed data"
    assert choice.training_flop == pytest.approx(TARGET / 2, rel=1e-4)
    assert reached_flop(KNOWN, KNOWN.releases[0], choice.model) == pytest.approx(TARGET, rel=1e-6)


def test_a_mix_breaks_even_at_what_it_saves() -> None:
    free = choose(LeverRecipe(levers={Lever.DATA_MIXING}), assuming(search_share=0.0))
    saved = choose(LeverRecipe()).planned_usd - free.planned_usd
    mixing = LeverRecipe(levers={Lever.DATA_MIXING})
    assert choose(mixing, assuming(search_share=0.0, usd=0.999 * saved)).route == "pre-train, mixed data"
    assert choose(mixing, assuming(search_share=0.0, usd=1.001 * saved)).route == "pre-train"


def test_what_a_mix_costs_is_paid_for_data() -> None:
    scenario = assuming(gain=3.0, usd=12_345.0)
    run = simulate(scenario, Policy("mix", LeverRecipe(levers={Lever.DATA_MIXING}), RentOnDemand(), Expected()))
    assert run.books.cash_usd[:, Account.DATA].sum() == pytest.approx(12_345.0)


def test_a_student_pays_for_its_teacher() -> None:
    # 6 N D of its own, 2 N_teacher D for the answers, and the teacher's own compute-optimal run.
    choice = choose(LeverRecipe(levers={Lever.OVERTRAIN, Lever.DISTIL}), assuming(token_worth=30.0), 1e15)
    model = choice.model
    assert choice.route.startswith("distil")
    expected = (6 * model.n_parameters + 2 * 70e9) * model.n_training_tokens + TARGET
    assert choice.training_flop == pytest.approx(expected, rel=1e-4)
    assert reached_flop(KNOWN, KNOWN.releases[0], model) == pytest.approx(TARGET, rel=1e-6)


def test_a_teacher_that_teaches_nothing_is_not_hired() -> None:
    plain = choose(LeverRecipe(levers={Lever.OVERTRAIN}))
    assert choose(LeverRecipe(levers={Lever.OVERTRAIN, Lever.DISTIL}), assuming(token_worth=1.0)).route == plain.route


@pytest.mark.parametrize("lever", [Lever.DATA_MIXING, Lever.DISTIL, Lever.PROMPTING, Lever.ROUTING])
def test_a_lever_that_is_not_described_is_refused(lever: Lever) -> None:
    with pytest.raises(Misplaced, match=f"for the {lever} lever"):
        choose(LeverRecipe(levers={lever}))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SETS), st.sampled_from(SETS), st.floats(8, 15).map(lambda oom: 10.0**oom))
def test_more_levers_are_never_dearer(some: frozenset[Lever], others: frozenset[Lever], tokens: float) -> None:
    scenario = assuming()
    fewer, more = (choose(LeverRecipe(levers=levers), scenario, tokens) for levers in (some, some | others))
    assert more.planned_usd <= fewer.planned_usd * (1 + 1e-5)


# Limits ----------------------------------------------------------------------------------------------------------


def test_the_deadline_limits_the_trade() -> None:
    # Failures make clusters beyond some 250,000 GPUs pointless: little time, and overtraining stops short.
    frail = TrainingInputs(failures_per_gpu_year=0.2, unique_tokens=1e16)
    hurried = KNOWN.model_copy(update={"training": frail})
    free = choose(LeverRecipe(levers={Lever.OVERTRAIN}), tokens_per_day=1e14)
    late = choose(LeverRecipe(levers={Lever.OVERTRAIN}), hurried, tokens_per_day=1e14)
    assert late.limit == "time"
    assert late.quality_met
    assert late.training_flop < free.training_flop
    assert late.size.days <= 1.0 + 1e-6


def test_a_tighter_latency_is_never_cheaper() -> None:
    frontier = load_scenario("frontier_lab", ["horizon_days=400"])
    cost = [
        choose(
            LeverRecipe(levers=MAIN_LEVERS),
            frontier.model_copy(update={"serving": Roofline(max_seconds_per_token=seconds)}),
            5e12,
        ).planned_usd
        for seconds in (0.2, 0.1, 0.05, 0.02, 0.01)
    ]
    assert cost == sorted(cost)


# Explaining ------------------------------------------------------------------------------------------------------


def test_a_decision_is_explained_by_its_alternatives() -> None:
    frontier = load_scenario("frontier_lab", ["horizon_days=700"])
    policy = next(policy for policy in default_policies() if policy.name == "all-rent")
    seen = explain(realize(frontier, 1), policy, day=100)
    assert seen is not None
    assert (seen.release.name, seen.day) == ("R2", frontier.releases[1].decision_day)
    assert len(seen.options) == 8
    costs = [option.choice.planned_usd for option in seen.options]
    assert costs == sorted(costs)
    assert seen.options[0].choice.planned_usd == pytest.approx(seen.chosen.planned_usd)
    # Watching changes nothing.
    (chosen,) = (r.choice for r in simulate(frontier, policy, 1).releases if r.release.name == "R2")
    assert chosen.planned_usd == seen.chosen.planned_usd
    assert chosen.model.n_parameters == seen.chosen.model.n_parameters


def test_after_the_last_decision_there_is_nothing_to_explain() -> None:
    assert explain(realize(KNOWN), default_policies()[0], day=1) is None
