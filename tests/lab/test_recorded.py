"""Runs that were really done: hours times price through the whole simulator, against what sources print."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from strategies import Flat, observed

from simulator.lab.accounts import Stage
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recorded import NOT_PUBLISHED, Recorded
from simulator.study.files import ScenarioError, load_scenario, load_study
from simulator.study.stages import stage_usd
from simulator.world.market import Quote
from simulator.world.scenario import Misplaced, Roofline, Scenario
from simulator.world.world import realize

STARTER = Path(__file__).resolve().parents[2] / "simulator" / "study" / "starter.toml"
KNOWN, FRONTIER = load_scenario("known_demand"), load_scenario("frontier_lab")


def lab(accelerator: str, usd: float, train_days: int = 90, failures: float = 0.0) -> Scenario:
    """One release, planned to serve for as long as it does, on one kind of GPU at one price."""
    quote = Quote(accelerator=accelerator, on_demand_usd_per_gpu_hour=usd, source="a test")
    due = date(2026, 1, 1) + timedelta(days=train_days)
    release = KNOWN.roadmap.release[0].model_copy(update={"due": due})
    return KNOWN.model_copy(
        update={
            "market": KNOWN.market.model_copy(update={"quote": (quote,)}),
            "roadmap": KNOWN.roadmap.model_copy(update={"train_days": train_days, "release": (release,)}),
            "training": KNOWN.training.model_copy(
                update={
                    "failures_per_gpu_year": failures,
                    "checkpoint_minutes": 1.0,
                    "data_usd_per_million_tokens": 0.5,
                }
            ),
            "opening_model": FRONTIER.opening_model,
        }
    )


def live(scenario: Scenario, run: str) -> Run:
    return simulate(scenario, Policy("recorded", Recorded(run=run), RentOnDemand(), Expected()))


@pytest.mark.parametrize("failures", [0.0, 0.2])
@pytest.mark.parametrize(("run", "kind", "usd_per_hour", "published", "within"), [
    # numbers: DeepSeek papers, 2 USD an H800-hour; hours x cloud price of GPT-4 and Gemini Ultra, AI Index and Epoch
    ("DeepSeek-V3", "H100", 2.0, 5.576e6, 1e-6),
    ("DeepSeek-R1", "H100", 2.0, 294_672, 1e-6),
    ("GPT-4", "A100", 1.36, 78e6, 0.01),
    ("Gemini 1.0 Ultra", "TPU v4", 1.45, 198.9e6, 0.01),
    # BLOOM: Cottier et al. 2024 print 1.984 million; its hours at their 1.83 USD
    ("BLOOM", "A100", 1.83, 1.984e6, 0.01),
])  # fmt: skip
def test_cost_is_hours_times_price_through_the_whole_lab(
    run: str, kind: str, usd_per_hour: float, published: float, within: float, failures: float
) -> None:
    lived = live(lab(kind, usd_per_hour, train_days=150, failures=failures), run)
    (cost,) = lived.books.releases
    assert cost.training_usd - cost.data_usd == pytest.approx(published, rel=within)
    recorded = Recorded(run=run).recorded()
    assert cost.training_usd - cost.data_usd == pytest.approx(recorded.gpu_hours * usd_per_hour, rel=1e-6)
    stages = dict(zip(Stage, stage_usd(lived.books, lived.releases).tolist(), strict=True))
    stage = Stage.TRAINING if recorded.from_scratch else Stage.FINE_TUNING
    assert stages[stage] == pytest.approx(recorded.gpu_hours * usd_per_hour, rel=1e-6)


def test_bloom_is_what_was_trained() -> None:
    (made,) = live(lab("A100", 1.5, train_days=118), "bloom").releases
    choice, model = made.choice, made.choice.model
    assert (choice.size.gpus, choice.size.gpu_hours) == (384, 1_082_990)
    assert choice.size.days == pytest.approx(117.5, abs=0.05)
    assert (model.n_parameters, model.n_training_tokens) == (176.247e9, 366e9)
    assert choice.training_flop == pytest.approx(3.870e23, rel=1e-3)  # numbers: 6 N D
    assert choice.data_usd == pytest.approx(366e9 / 1e6 * 0.5)
    # Served as the law of FLOP has it: 2 N a token at 37.5 % of 312 TFLOP/s.
    assert model.gpu_seconds_per_token == pytest.approx([2 * 176.247e9 / (0.375 * 312e12)])
    assert not choice.quality_met


def test_where_only_hours_are_known_the_model_before_serves_on() -> None:
    run = live(lab("A100", 1.36, train_days=100), "GPT-4")
    (made,) = run.releases
    opening = FRONTIER.opening_model
    assert opening is not None
    assert made.choice.limit == NOT_PUBLISHED
    assert made.choice.data_usd == 0.0
    assert made.choice.model.n_parameters == opening.n_parameters
    served = run.used.serving_rented_hours
    np.testing.assert_allclose(served[120:], served[0])


def test_gpus_that_are_not_recorded_are_those_that_finish_in_time() -> None:
    (made,) = live(lab("A100", 1.5, train_days=60), "Llama 2 70B").releases
    assert made.choice.size.gpus == -(-1_720_320 // (24 * 60))
    assert made.days_late == 0


@pytest.mark.parametrize(
    ("run", "scenario", "says"),
    [
        ("Blum", lab("A100", 1.5), "recipe.run: is no known run; did you mean 'BLOOM'"),
        ("BLOOM", lab("H100", 2.0), "recipe.run: ran on the A100, which needs a .*quote.*; there are H100"),
        ("GPT-4", lab("A100", 1.36, 0).model_copy(update={"opening_model": None}), "opening_model: is needed"),
    ],
)
def test_what_is_not_known_is_told(run: str, scenario: Scenario, says: str) -> None:
    with pytest.raises(Misplaced, match=says):
        Recorded(run=run).choose(observed(realize(scenario)), scenario.releases[0], Flat(1e9), RentOnDemand())


@pytest.mark.parametrize("run", ["BLOOM", "GPT-4"])
def test_a_run_that_was_done_needs_no_sharding(run: str) -> None:
    scenario = lab("A100", 1.5, train_days=150)
    whole = scenario.model_copy(update={"training": scenario.training.model_copy(update={"sharding": "none"})})
    (made,) = live(whole, run).releases
    assert made.choice.size.gpus == {"BLOOM": 384, "GPT-4": 25_000}[run]


def test_all_weights_of_a_mixture_of_experts_are_held() -> None:
    (made,) = live(lab("H100", 2.0), "DeepSeek-V3").releases
    assert (made.choice.model.n_parameters, made.choice.n_held_parameters) == (37e9, 671e9)


def test_a_run_on_gpus_not_yet_on_sale_or_of_a_model_no_gpu_serves_is_refused() -> None:
    scenario = lab("A100", 1.5, train_days=0)
    late = Quote(accelerator="A100", on_demand_usd_per_gpu_hour=1.5, available=date(2026, 6, 1), source="a test")
    market = scenario.market.model_copy(update={"quote": (*KNOWN.market.quote, late)})
    with pytest.raises(ValueError, match=r"market\.quote: must offer the A100 when the model is decided"):
        live(scenario.model_copy(update={"market": market}), "BLOOM")
    slow = scenario.model_copy(update={"serving": Roofline(max_seconds_per_token=1e-4)})
    with pytest.raises(ValueError, match=r"market\.quote: must offer a GPU that can serve BLOOM"):
        live(slow, "BLOOM")


def test_a_file_with_an_unknown_run_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = STARTER.read_text(encoding="utf-8")
    path.write_text(
        f'{text}\n[[policy]]\nname = "p"\nrecipe = {{ kind = "recorded", run = "BLOM" }}\n', encoding="utf-8"
    )
    with pytest.raises(ScenarioError, match=r"(?s)recipe\.run.*did you mean 'BLOOM'"):
        load_study(path)
