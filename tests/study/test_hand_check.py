"""What a planner reads is what the simulator uses, and what one can work out on paper."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.lab.models import run_size, served_model
from simulator.laws.fits import BESI, HOFF, SCALING_FITS, ScalingFit
from simulator.laws.precision import BF16, FP8, INT4, PRECISIONS, Precision
from simulator.laws.training_speed import goodput, training_gpu_seconds
from simulator.study.files import load_scenario
from simulator.study.hand_check import CannotCheck, HandCheck, Terms, asked, hand_check, hardware_named, subject
from simulator.world.demand import DemandInputs
from simulator.world.hardware import CATALOGUE, AcceleratorInputs
from simulator.world.market import MarketInputs, Quote
from simulator.world.models import MODELS, PublishedModelInputs
from simulator.world.roadmap import RoadmapInputs
from simulator.world.scenario import ModelInputs, Scenario

# Properties are tried far beyond what was ever trained.
pytestmark = pytest.mark.filterwarnings("ignore::simulator.laws.ranges.ExtrapolationWarning")

CHINCHILLA = subject("Chinchilla")
H100 = hardware_named("H100")


def lab(hardware: str, prompt_share: float = 0.8, context: float = 2000.0) -> Scenario:
    """A scenario made apart from the one under test."""
    return Scenario(
        title="A lab",
        start=date(2026, 1, 1),
        horizon_days=100,
        demand=DemandInputs(tokens_per_day=1e9, prompt_share=prompt_share, context_tokens=context),
        market=MarketInputs(quote=(Quote(accelerator=hardware, on_demand_usd_per_gpu_hour=2.0, source="a test"),)),
        roadmap=RoadmapInputs(target_flop=1e23),
        opening_model=ModelInputs(n_parameters=1e9, n_training_tokens=1e11),
    )


# --- by hand ----------------------------------------------------------------------------------------------


def test_chinchilla_on_h100_worked_out_on_paper() -> None:
    """70e9 parameters, 1.4e12 tokens, H100 (989 TFLOP/s, 80 GB, 3.35 TB/s), 2 USD an hour."""
    check = hand_check(CHINCHILLA, H100, Terms(usd_per_gpu_hour=2.0))
    assert check.value("training_flop") == pytest.approx(6 * 70e9 * 1.4e12)
    assert check.value("tokens_per_parameter") == pytest.approx(20.0)
    assert check.value("loss_BESI") == pytest.approx(1.97388, abs=1e-5)
    assert check.value("loss_HOFF") == pytest.approx(1.93665, abs=1e-5)
    assert check.value("optimal_n_training_tokens") / check.value("optimal_n_parameters") == pytest.approx(
        18.38, rel=1e-3
    )
    assert check.value("weight_bytes_bf16") == pytest.approx(140e9)
    assert check.value("weight_bytes_int4") == pytest.approx(35e9)
    assert check.value("least_gpus") == math.ceil(16 * 70e9 / (0.6 * 80e9)) == 24
    hours = 5.88e23 / (989e12 * 0.375 * 3600)
    for run in ("fewest", "planned"):
        assert check.value(f"{run}_gpu_hours") == pytest.approx(hours / check.value(f"{run}_goodput"), rel=1e-9)
        assert check.value(f"{run}_usd") == pytest.approx(2.0 * check.value(f"{run}_gpu_hours"))
    gpus = check.value("planned_gpus")
    assert check.value("planned_days") == pytest.approx(check.value("planned_gpu_hours") / 24 / gpus)
    assert 89 < check.value("planned_days") <= 90
    assert check.value("planned_goodput") == pytest.approx(float(goodput(gpus, 0.173, 1.0, 10.0)), abs=1e-6)
    assert check.value("critical_batch") == pytest.approx(989e12 / 3.35e12, rel=1e-9)
    per_second = check.value("decode_tokens_per_gpu_second")
    assert check.value("usd_per_million_completion_tokens") == pytest.approx(2.0 / 3600 / per_second * 1e6)
    prompt = check.value("usd_per_million_prompt_tokens")
    completion = check.value("usd_per_million_completion_tokens")
    assert check.value("usd_per_million_user_tokens") == pytest.approx((0.8 * prompt + 0.2 * completion) / 0.7)


def test_quantization_costs_loss_and_so_equivalent_compute() -> None:
    bare, quantized = (hand_check(CHINCHILLA, H100, Terms(each)) for each in (BF16, INT4))
    assert bare.value("quantization_penalty_nats") == 0.0
    assert bare.value("equivalent_flop_kept") == 1.0
    penalty = 0.008 * (1.4 / 15) ** 0.5068 * (70.55 / 70) ** 0.3439
    assert quantized.value("quantization_penalty_nats") == pytest.approx(penalty)
    assert quantized.value("equivalent_flop") == bare.value("equivalent_flop")
    assert quantized.value("equivalent_flop_kept") < 1.0
    assert quantized.value("kv_bytes_per_token") == bare.value("kv_bytes_per_token"), "int4 is weights only"


# --- the same as the simulator ------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.floats(8.5, 12.3),
    st.floats(10, 13.5),
    st.sampled_from(PRECISIONS),
    st.sampled_from(CATALOGUE),
    st.floats(0.01, 0.99),
    st.floats(100, 30_000),
)
def test_every_figure_is_the_simulators_own(
    log_n: float,
    log_d: float,
    precision: Precision,
    hardware,
    prompts: float,
    context: float,  # type: ignore[no-untyped-def]
) -> None:
    model = subject(f"{10**log_n!r}:{10**log_d!r}")
    n, d = model.n_parameters, model.n_training_tokens
    check = hand_check(model, hardware, Terms(precision, BESI, 3.0, context, prompts))
    scenario = lab(hardware.name, prompts, context)
    accelerator = scenario.accelerators[0]
    served = served_model(scenario, "it", n, d, precision, 1.0)
    usd = check.value("usd_per_million_user_tokens")
    if math.isnan(usd):
        assert np.isinf(served.gpu_seconds_per_token[0])
        assert "Not served" in check.assumptions[-1]
    else:
        assert usd == pytest.approx(3.0 / 3600 * 1e6 * served.gpu_seconds_per_token[0], rel=1e-12)
        assert check.value("replica_gpus") == served.replica_gpus[0]
    size = run_size(scenario, accelerator, 6 * n * d, n, 90)
    assert (check.value("planned_gpus"), check.value("planned_gpu_hours")) == (size.gpus, pytest.approx(size.gpu_hours))
    kept = check.value("planned_goodput")
    seconds = training_gpu_seconds(6 * n * d, accelerator.chip.bf16_flop_per_second, 0.375, kept)
    assert check.value("planned_gpu_hours") == pytest.approx(float(seconds) / 3600, rel=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_on_every_kind_of_gpu(model) -> None:  # type: ignore[no-untyped-def]
    for hardware in CATALOGUE:
        for precision in PRECISIONS:
            check = hand_check(subject(model.name), hardware, Terms(precision, usd_per_gpu_hour=2.0))
            assert len({line.name for line in check.lines}) == len(check.lines)
            for line in check.lines:
                assert line.value >= 0.0 or (math.isnan(line.value) and line.section == "Serving"), line
                assert line.law or line.name == "tokens_per_parameter"


def test_the_laws_named_are_there() -> None:
    """What a line names as its law can be looked up: simulator.laws.X, or simulator.lab.X."""
    import importlib

    for line in hand_check(CHINCHILLA, H100).lines:
        if not line.law:
            continue
        module, *names = line.law.removeprefix("lab.").split(".")
        found: object = importlib.import_module(
            f"simulator.{'lab' if line.law.startswith('lab.') else 'laws'}.{module}"
        )
        for name in names:
            found = getattr(found, name)
        assert callable(found), line.law


@pytest.mark.parametrize("fit", SCALING_FITS, ids=lambda fit: fit.name)
def test_one_fit_is_chosen_and_all_are_shown(fit: ScalingFit) -> None:
    check = hand_check(CHINCHILLA, H100, Terms(fit=fit))
    losses = [line for line in check.lines if line.name.startswith("loss_")]
    assert [line.name for line in losses if line.is_chosen] == [f"loss_{fit.name}"]
    assert len(losses) == 5
    assert check.scaling_fit == fit.name


# --- mixtures, prices, range ---------------------------------------------------------------------------------


def test_a_mixture_computes_with_active_and_holds_all() -> None:
    """DeepSeek-V3: 6 x 37e9 x 14.8e12 FLOP, 671 GB in 8 bits; it fits 16 H100 in fp8, not in bf16."""
    check = hand_check(subject("DeepSeek-V3"), H100, Terms(FP8))
    assert check.value("training_flop") == pytest.approx(3.2856e24)
    assert check.value("weight_bytes_fp8") == pytest.approx(671e9)
    assert check.value("least_gpus") == math.ceil(16 * 671e9 / (0.6 * 80e9))
    assert check.value("replica_gpus") == 16
    assert any("37 of 671 billion" in told for told in check.assumptions)
    whole = hand_check(subject("DeepSeek-V3"), H100)
    assert math.isnan(whole.value("replica_gpus"))
    assert math.isnan(whole.value("usd_per_million_user_tokens"))
    assert "Not served" in whole.assumptions[-1]


def test_the_price_is_that_of_the_shipped_scenario_unless_given() -> None:
    quotes = {quote.accelerator: quote for quote in load_scenario("frontier_lab").market.quote}
    check = hand_check(CHINCHILLA, H100)
    assert check.usd_per_gpu_hour == quotes["H100"].on_demand_usd_per_gpu_hour
    assert any("frontier_lab" in told and quotes["H100"].source in told for told in check.assumptions)
    assert hand_check(CHINCHILLA, H100, Terms(usd_per_gpu_hour=7.0)).usd_per_gpu_hour == 7.0
    unpriced = hand_check(CHINCHILLA, hardware_named("GB200"))
    assert math.isnan(unpriced.value("planned_usd"))
    assert unpriced.value("decode_tokens_per_gpu_second") > 0
    assert any("give one with --usd-per-gpu-hour" in told for told in unpriced.assumptions)


def test_extrapolation_of_the_loss_is_said() -> None:
    assert any("extrapolated" in told for told in hand_check(CHINCHILLA, H100).assumptions)
    assert not any("extrapolated" in told for told in hand_check(subject("7e9:1e12"), H100).assumptions)


def test_names_choose_what_objects_do() -> None:
    by_name = asked("chinchilla", "h100", "int4", "HOFF", Terms(usd_per_gpu_hour=2.0))
    by_object: HandCheck = hand_check(CHINCHILLA, H100, Terms(INT4, HOFF, 2.0))
    assert by_name == by_object


# --- mistakes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chincilla", "did you mean 'Chinchilla'? (or give parameters and training tokens, as 70e9:1.4e12)"),
        ("70:1.4e12", "parameters must be between 1e6 and 1e15, got 70; 70e9 is 70 billion"),
        ("70e9:1.4", "training tokens must be between 1e6 and 1e18, got 1.4"),
        ("nan:1e12", "parameters must be between"),
        ("-7e9:1e12", "parameters must be between"),
        ("7e9:inf", "training tokens must be between"),
        ("7B:1e12", "parameters must be a number, got '7B'"),
        ("7e9:", "training tokens must be a number, got ''"),
        ("7e9:1e12:3", "training tokens must be a number, got '1e12:3'"),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(CannotCheck) as caught:
        subject(text)
    assert said in str(caught.value)


def test_unknown_hardware_gets_its_nearest_or_where_to_look() -> None:
    with pytest.raises(CannotCheck, match="did you mean 'H100'"):
        hardware_named("H10O")
    with pytest.raises(CannotCheck, match="labspend catalog hardware lists them"):
        hardware_named("abacus")
    assert hardware_named("mi300x").name == "MI300X"
    assert hardware_named("tpu-v5e").name == "TPU v5e"


def test_rows_and_prices_of_a_scenario_can_be_asked_about() -> None:
    own = AcceleratorInputs(
        name="X1",
        bf16_tflop_per_second=1000,
        memory_gb=100,
        memory_tb_per_second=4,
        power_kw=1,
        launch=date(2026, 1, 1),
        source="a test",
    )
    base = load_scenario("known_demand")
    quote = Quote(accelerator="X1", on_demand_usd_per_gpu_hour=4.0, source="a list")
    model = PublishedModelInputs(
        name="Ours", n_parameters=2e9, n_training_tokens=1e11, release=date(2026, 1, 1), source="a test"
    )
    scenario = base.model_copy(
        update={
            "accelerator": (own,),
            "model": (model,),
            "market": base.market.model_copy(update={"quote": (*base.market.quote, quote)}),
        }
    )
    check = asked("ours", "x1", "bf16", "BESI", Terms(scenario=scenario))
    assert check.value("training_flop") == pytest.approx(6 * 2e9 * 1e11)
    assert check.usd_per_gpu_hour == 4.0
    assert any("'Known demand' (a list)" in told for told in check.assumptions)
    with pytest.raises(CannotCheck, match="there is no 'Ours'"):
        asked("Ours", "H100", "bf16", "BESI")


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (Terms(usd_per_gpu_hour=0.0), "the price of a GPU-hour must be greater than 0"),
        (Terms(usd_per_gpu_hour=math.nan), "the price of a GPU-hour must be greater than 0"),
        (Terms(usd_per_gpu_hour=math.inf), "and finite, got inf"),
        (Terms(context_tokens=0.0), "the context must be between 1 and 1,000,000 tokens, got 0"),
        (Terms(prompt_share=1.2), "the share of prompts must be between 0 and 1, got 1.2"),
        (Terms(prompt_share=math.nan), "the share of prompts must be between 0 and 1, got nan"),
    ],
)
def test_terms_that_make_no_sense_are_refused(terms: Terms, said: str) -> None:
    with pytest.raises(CannotCheck) as caught:
        hand_check(CHINCHILLA, H100, terms)
    assert said in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_prompts_or_none(share: float) -> None:
    check = hand_check(CHINCHILLA, H100, Terms(usd_per_gpu_hour=2.0, prompt_share=share))
    part = "prompt" if share else "completion"
    assert check.value("usd_per_million_user_tokens") == pytest.approx(
        check.value(f"usd_per_million_{part}_tokens") / 0.7
    )
    large = replace(CHINCHILLA, n_parameters=1e13, n_active_parameters=1e13)
    assert math.isnan(hand_check(large, H100, Terms(prompt_share=share)).value("usd_per_million_user_tokens"))
