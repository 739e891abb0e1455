"""How training is done: adapters, memory shared out or not, thin networks; least GPUs and cost, by hand."""

from __future__ import annotations

from datetime import date, timedelta
from math import ceil

import numpy as np
import pytest
from strategies import Flat, observed

from simulator.lab.accounts import Stage
from simulator.lab.forecast import Expected
from simulator.lab.lab import simulate
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import FineTune, Fixed, LeverRecipe, Recipe
from simulator.lab.routes import Lever
from simulator.study.files import load_scenario
from simulator.study.stages import stage_usd
from simulator.world.hardware import AcceleratorInputs
from simulator.world.market import Quote
from simulator.world.scenario import FineTuningInputs, Misplaced, Scenario
from simulator.world.world import realize

KNOWN = load_scenario("known_demand")
SEVENTY = 68.977e9
"""Parameters of Llama 2 70B; it read 2e12 tokens, so it is better than the target and trains the least tokens."""


def choose(recipe: Recipe, scenario: Scenario, tokens_per_day: float = 1e9) -> Choice:
    return recipe.choose(observed(realize(scenario)), scenario.releases[0], Flat(tokens_per_day), RentOnDemand())


def tuning(method: str, train_days: int = 0, **changes: object) -> Scenario:
    """An enterprise that fine-tunes Llama 2 70B on some billion tokens, on A100s at 1.50 USD an hour."""
    told = FineTuningInputs.model_validate({"method": method, "min_tokens": 10e9, **changes})
    quote = Quote(accelerator="A100", on_demand_usd_per_gpu_hour=1.50, source="CUDO 2025-03")
    due = date(2026, 1, 1) + timedelta(days=train_days)
    release = KNOWN.roadmap.release[0].model_copy(update={"due": due})
    return KNOWN.model_copy(
        update={
            "fine_tuning": told,
            "market": KNOWN.market.model_copy(update={"quote": (quote,)}),
            "roadmap": KNOWN.roadmap.model_copy(update={"train_days": train_days, "release": (release,)}),
            "opening_model": load_scenario("frontier_lab").opening_model,
        }
    )


@pytest.mark.parametrize(
    ("method", "flop_per_parameter", "fewest"), [("full", 6.0, 23), ("lora", 4.012, 2), ("qlora", 4.012, 1)]
)
def test_the_least_gpus_and_the_flop_of_each_method(method: str, flop_per_parameter: float, fewest: int) -> None:
    # 69e9 x 16 bytes in 0.6 x 80 GB; x 2.032 and x 0.548 in 0.9 x 80 GB.
    choice = choose(FineTune(base="Llama 2 70B"), tuning(method, train_days=3650))
    assert choice.size.gpus == fewest
    assert choice.training_flop == pytest.approx(flop_per_parameter * SEVENTY * 10e9)
    hours = choice.training_flop / (312e12 * 0.375 * 3600)
    assert choice.size.gpu_hours == pytest.approx(hours)


def test_fine_tuning_a_70b_takes_tens_of_thousands_of_dollars() -> None:
    """Twenty billion tokens: 6 x 69e9 x 2e10 FLOP on A100s at 1.50 USD; pre-training took 2.6 million."""
    usd = {}
    for method in ("full", "lora"):
        scenario = tuning(method, train_days=20, min_tokens=20e9)
        policy = Policy(method, FineTune(base="Llama 2 70B"), RentOnDemand(), Expected())
        run = simulate(scenario, policy)
        stages = dict(zip(Stage, stage_usd(run.books, run.releases).tolist(), strict=True))
        assert stages[Stage.TRAINING] == 0.0
        usd[method] = stages[Stage.FINE_TUNING]
    assert usd["full"] == pytest.approx(6 * SEVENTY * 2e10 / (312e12 * 0.375 * 3600) * 1.50, rel=1e-6)
    assert 10_000 < usd["lora"] < usd["full"] < 99_000
    assert usd["lora"] / usd["full"] == pytest.approx(4.012 / 6.0, rel=1e-6)


def test_all_experts_of_a_mixture_are_held() -> None:
    # DeepSeek-V3: a token uses 37B of 671B. In 4 bits with adapters these are 367 GB, on GPUs of which 72 GB are free.
    choice = choose(FineTune(base="DeepSeek-V3"), tuning("qlora", train_days=3650))
    assert choice.size.gpus == ceil(671e9 * (4.127 / 8 + 0.002 * 16) / 72e9) == 6
    assert choice.training_flop == pytest.approx(4.012 * 37e9 * 10e9)


# Sharding --------------------------------------------------------------------------------------------------------


def chip(name: str, memory_gb: float) -> AcceleratorInputs:
    return AcceleratorInputs(
        name=name,
        bf16_tflop_per_second=1000,
        memory_gb=memory_gb,
        memory_tb_per_second=3,
        power_kw=0.7,
        launch=date(2025, 1, 1),
        source="round numbers",
    )


def cluster(sharding: str, large_usd: float = 3.0, link: float | None = None, large_gb: float = 2000.0) -> Scenario:
    """Small GPUs at 1 USD an hour, and large ones, equally fast: the 70B of the target takes 1,120 GB to train."""
    quotes = (
        Quote(accelerator="small", on_demand_usd_per_gpu_hour=1.0, link_gb_per_second=link, source="round numbers"),
        Quote(accelerator="large", on_demand_usd_per_gpu_hour=large_usd, source="round numbers"),
    )
    plain = tuning("full", 3650)
    return plain.model_copy(
        update={
            "accelerator": (chip("small", 40.0), chip("large", large_gb)),
            "market": plain.market.model_copy(update={"quote": quotes}),
            "training": plain.training.model_copy(update={"sharding": sharding, "mfu": 0.4}),
        }
    )


@pytest.mark.parametrize(
    ("sharding", "kind", "large_gb", "replicated", "sharded"),
    [("none", 1, 2000, 16, 0), ("stage_1", 1, 500, 4, 12), ("stage_2", 1, 300, 2, 14), ("stage_3", 0, 500, 0, 16)],
)
def test_only_whole_sharding_lets_small_gpus_train_a_large_model(
    sharding: str, kind: int, large_gb: float, replicated: int, sharded: int
) -> None:
    # 24 GB of each small GPU hold no 70B unless its weights are shared out. Five GPUs are fast enough for ten years.
    choice = choose(LeverRecipe(), cluster(sharding, large_gb=large_gb))
    size = choice.model.n_parameters
    assert choice.accelerator == kind
    room = 0.6e9 * (40, large_gb)[kind]
    assert choice.size.gpus == max(ceil(sharded * size / (room - replicated * size)), 5)


def test_cheap_gpus_cost_less_unless_their_network_is_thin() -> None:
    # Stage 3 moves 6 N bytes for 6 N FLOP a token: at 4,096 tokens and 10 GB/s the MFU is 4096 x 1e10 / 1e15 = 4.1 %,
    # so that a small GPU is a tenth as fast as a large one at three times the price.
    fast, thin = (choose(LeverRecipe(), cluster("stage_3", link=link)) for link in (None, 10.0))
    assert (fast.accelerator, thin.accelerator) == (0, 1)
    assert thin.planned_training_usd / fast.planned_training_usd == pytest.approx(3.0, rel=1e-3)
    alone = cluster("stage_3", large_usd=1e6, link=10.0)
    slow = choose(LeverRecipe(), alone)
    assert slow.size.gpu_hours == pytest.approx(fast.size.gpu_hours * 0.4 / (4096 * 10e9 / 1e15), rel=1e-6)


def test_whole_weights_exchange_gradients_alone() -> None:
    # Two thirds of the bytes: on the same thin network stage 2 has half as much MFU again.
    flop = {}
    for sharding in ("stage_2", "stage_3"):
        scenario = cluster(sharding, link=20.0)
        flop[sharding] = scenario.mfu_on(scenario.accelerators[0])
    assert flop["stage_3"] == pytest.approx(4096 * 20e9 / 1e15)
    assert flop["stage_2"] == pytest.approx(1.5 * flop["stage_3"])


def test_what_fits_on_no_number_of_gpus_is_told() -> None:
    scenario = cluster("none")
    small = scenario.model_copy(
        update={"market": scenario.market.model_copy(update={"quote": scenario.market.quote[:1]})}
    )
    for recipe in (LeverRecipe(), LeverRecipe(levers=frozenset({Lever.OVERTRAIN})), Fixed()):
        with pytest.raises(Misplaced, match=r"training.sharding: must let .* be trained on the small"):
            choose(recipe, small)


def test_defaults_share_out_everything_and_know_no_network() -> None:
    frontier = load_scenario("frontier_lab")
    assert frontier.training.sharding == "stage_3"
    assert [frontier.mfu_on(kind) for kind in frontier.accelerators] == [frontier.training.mfu] * len(
        frontier.accelerators
    )
    assert np.isfinite(choose(LeverRecipe(), frontier).planned_usd)
