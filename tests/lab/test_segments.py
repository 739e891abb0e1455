"""Demand in segments, served: hours of the day's own mix, by hand, and a plan at the mix of the planned life."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from simulator.lab.forecast import Expected
from simulator.lab.lab import Lab
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.world.scenario import Scenario
from simulator.world.segments import Segment, mix_of
from simulator.world.world import realize
from tests.small_lab import TOKENS_PER_DAY, FixedRecipe, plain_scenario

CHAT = Segment(name="chat", share=0.75, prompt_share=0.5)
AGENTS = Segment(name="agents", share=0.25, prompt_share=0.9, growth_per_year=365.25**2, quality_tier=1.0)


def in_segments(*segments: Segment) -> Scenario:
    plain = plain_scenario()
    demand = plain.demand.model_copy(update={"segment": segments})
    return plain.model_copy(update={"demand": demand})


def hours(scenario: Scenario) -> np.ndarray:
    policy = Policy("plain", FixedRecipe(), RentOnDemand(), Expected())
    return Lab(realize(scenario), policy).live().used.serving_rented_hours


def test_one_segment_is_the_whole_of_demand() -> None:
    # Serving by FLOP: a prompt token costs what a completion token does.
    np.testing.assert_allclose(
        hours(in_segments(Segment(name="all", share=1.0, prompt_share=0.5))), hours(plain_scenario())
    )


def test_a_higher_tier_writes_more_answers() -> None:
    # Tier 2 takes 2^1.45 = 2.732 answers for each given: (0.5 + 0.5 x 2.732) times the GPU-hours of a user token.
    tier = in_segments(Segment(name="all", share=1.0, prompt_share=0.5, quality_tier=2.0))
    np.testing.assert_allclose(hours(tier), hours(plain_scenario()) * (0.5 + 0.5 * 2**1.45), rtol=1e-12)


def test_gpu_hours_follow_the_mix_of_each_day() -> None:
    # The deep segment doubles its answers' FLOP at tier 2; its share of tokens grows from 1/4 on.
    deep = Segment(name="deep", share=0.25, prompt_share=0.5, quality_tier=2.0, growth_per_year=1.09**365.25)
    found = hours(in_segments(CHAT, deep))
    asked = np.array([0.75 + 0.25 * 1.09**day for day in range(3)])  # 9 % more every day
    work = np.array([0.75 + 0.25 * 1.09**day * (0.5 + 0.5 * 2**1.45) for day in range(3)])
    per_token = hours(plain_scenario()) / TOKENS_PER_DAY
    np.testing.assert_allclose(found, TOKENS_PER_DAY * work * per_token, rtol=1e-9)
    np.testing.assert_allclose(realize(in_segments(CHAT, deep)).demand_tokens[:3], TOKENS_PER_DAY * asked, rtol=1e-12)


def test_cached_prompts_are_counted_among_the_prompts_of_their_segment() -> None:
    segments = (
        Segment(name="one", share=0.5, prompt_share=0.8, cached_share=0.5),
        Segment(name="two", share=0.5, prompt_share=0.4),
    )
    mix = mix_of(segments, np.array([1.0, 3.0]))  # by hand: 0.25 x 0.8 + 0.75 x 0.4, 0.25 x 0.4 cached
    assert mix.prompt_share == pytest.approx(0.5)
    assert mix.cached_share == pytest.approx(0.1 / 0.5)
    assert mix.completions == pytest.approx(0.5)


def test_a_recipe_plans_for_the_mix_of_its_models_life() -> None:
    # Answers that need ten times the FLOP make serving dear, so a smaller model is trained longer.
    lever = LeverRecipe.model_validate({"levers": ["overtrain"]})

    def planned(tier: float) -> float:
        scenario = in_segments(Segment(name="all", share=1.0, prompt_share=0.5, quality_tier=tier))
        policy = Policy("overtrain", lever, RentOnDemand(), Expected())
        return Lab(realize(scenario), policy).live().releases[0].choice.model.n_parameters

    assert planned(10.0) < planned(1.0)


@pytest.mark.parametrize(
    ("segments", "says"),
    [((CHAT,), "must sum to 1|sum 0.75"), ((CHAT, AGENTS.model_copy(update={"name": "chat"})), "must differ")],
)
def test_segments_that_make_no_sense_are_refused(segments: tuple[Segment, ...], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        in_segments(*segments).demand.model_validate({**plain_scenario().demand.model_dump(), "segment": segments})
