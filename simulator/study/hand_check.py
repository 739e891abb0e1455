"""What every law says of one model on one kind of GPU, so that a planner can check the simulator by hand.

Every figure is that of the function the simulator itself calls, at the defaults of a scenario; each says which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from simulator.lab.models import RunSize, clusters, run_gpu_hours, run_size, serving_table
from simulator.laws.chip import peak_flop_per_second, supported_math
from simulator.laws.fits import BESI, SCALING_FITS, ScalingFit
from simulator.laws.precision import BF16, PRECISIONS, Precision, quantization_penalty, weight_bytes
from simulator.laws.scaling import (
    FITTED_PARAMETERS,
    compute_optimal,
    equivalent_flop,
    loss,
    optimal_loss,
    training_flop,
)
from simulator.laws.serving_speed import (
    MEMORY_SHARE,
    REPLICA_SIZES,
    critical_batch,
    efficiency_of,
    kv_bytes_per_token,
)
from simulator.laws.training_speed import TRAINING_MEMORY_SHARE, least_gpus
from simulator.laws.units import SECONDS_PER_HOUR, TOKENS_PER_MILLION_TOKENS
from simulator.study.files import load_scenario
from simulator.world.demand import DemandInputs
from simulator.world.hardware import CATALOGUE, Accelerator, AcceleratorInputs
from simulator.world.market import MarketInputs, Quote
from simulator.world.models import MODELS, PARAMETERS, TOKENS, PublishedModel, model_named
from simulator.world.names import NotInCatalogue, joined, named
from simulator.world.roadmap import RoadmapInputs
from simulator.world.scenario import ModelInputs, Roofline, Scenario

if TYPE_CHECKING:
    from simulator.laws.serving_speed import ServingSpeed

PRICED_BY = "frontier_lab"
"""The scenario whose quotes are taken where no price is given."""
_HOFFMANN = "Hoffmann et al. 2022"
_KUMAR = "exponents of Kumar et al. 2024, size assumed"
_BOOK = "How to Scale Your Model 2025"
_ROOFLINE = f"{_BOOK}; latency of Erdil 2025"
_BILLION = 1e9


class CannotCheck(ValueError):
    """The model, the hardware or a figure asked for makes no sense."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The model looked at; a token uses `n_active_parameters` of its `n_parameters`."""

    name: str
    n_parameters: float
    n_active_parameters: float
    n_training_tokens: float
    source: str

    @property
    def is_mixture(self) -> bool:
        """Whether a token uses only part of the model."""
        return self.n_active_parameters < self.n_parameters


@dataclass(frozen=True, slots=True)
class Terms:
    """What is chosen beside model and hardware; without a price, that of the scenario is taken if it has one."""

    precision: Precision = BF16
    fit: ScalingFit = BESI
    usd_per_gpu_hour: float | None = None
    context_tokens: float = 2000.0
    prompt_share: float = 0.8
    scenario: Scenario | None = None
    """Whose own models, kinds of GPU and prices count too; default: `PRICED_BY`, for its prices."""

    @property
    def models(self) -> tuple[PublishedModel, ...]:
        """The models that can be asked about."""
        return MODELS if self.scenario is None else self.scenario.models

    @property
    def added_hardware(self) -> tuple[AcceleratorInputs, ...]:
        """The kinds of GPU that can be asked about beside those of the catalogue."""
        return () if self.scenario is None else self.scenario.accelerator


@dataclass(frozen=True, slots=True)
class Line:
    """One figure, with the function that gives it and where its law was published; nan is no figure."""

    section: str
    name: str
    label: str
    value: float
    unit: str
    law: str
    source: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class HandCheck:
    """All the figures, and what they assume."""

    model: Subject
    hardware: str
    precision: str
    scaling_fit: str
    usd_per_gpu_hour: float
    assumptions: tuple[str, ...]
    lines: tuple[Line, ...]

    def value(self, name: str) -> float:
        """The figure of this name."""
        return next(line.value for line in self.lines if line.name == name)


def subject(text: str, models: Iterable[PublishedModel] = MODELS) -> Subject:
    """A model of the catalogue, or parameters and training tokens written as 70e9:1.4e12."""
    if ":" not in text:
        try:
            found = model_named(text, models)
        except NotInCatalogue as error:
            raise CannotCheck(f"{error} (or give parameters and training tokens, as 70e9:1.4e12)") from None
        size = (found.n_parameters, found.n_active_parameters, found.n_training_tokens)
        return Subject(found.name, *size, found.source)
    first, second = text.split(":", 1)
    n = _number(first, "parameters", "70e9 is 70 billion", PARAMETERS)
    d = _number(second, "training tokens", "1.4e12 is 1.4 trillion", TOKENS)
    return Subject(text, n, n, d, "as given")


def _number(text: str, what: str, example: str, bounds: tuple[float, float]) -> float:
    try:
        number = float(text)
    except ValueError:
        raise CannotCheck(f"{what} must be a number, got {text!r}; {example}") from None
    if not bounds[0] <= number <= bounds[1]:
        low, high = (f"{bound:.0e}".replace("e+0", "e").replace("e+", "e") for bound in bounds)
        raise CannotCheck(f"{what} must be between {low} and {high}, got {text}; {example}")
    return number


def hardware_named(name: str, added: Iterable[AcceleratorInputs] = ()) -> Accelerator:
    """The kind of GPU of this name in the catalogue or among those added, however it is spelt."""
    try:
        return named(name, joined(CATALOGUE, [row.accelerator() for row in added]), "hardware")
    except NotInCatalogue as error:
        raise CannotCheck(str(error)) from None


def hand_check(model: Subject, accelerator: Accelerator, terms: Terms = Terms()) -> HandCheck:
    """Every law's answer for this model on this kind of GPU."""
    _refuse_nonsense(terms)
    price, priced_by = _price(accelerator, terms)
    scenario = _scenario(model, accelerator, terms)
    lines = (
        *_quality(model, terms),
        *_memory(model, terms),
        *_training(model, accelerator, scenario, price),
        *_serving(model, accelerator, terms, scenario, price),
    )
    told = tuple(_assumptions(model, accelerator, terms, scenario, priced_by))
    if any(line.name == "batch" and math.isnan(line.value) for line in lines):
        told += (f"Not served: too large for {REPLICA_SIZES[-1]} GPUs, or slower than the time per token allows.",)
    return HandCheck(model, accelerator.name, terms.precision.name, terms.fit.name, price, told, lines)


def asked(model: str, hardware: str, precision: str, fit: str, terms: Terms = Terms()) -> HandCheck:
    """The same by the names of model, hardware, precision and fit."""
    chosen = replace(
        terms,
        precision=next(found for found in PRECISIONS if found.name == precision),
        fit=next(found for found in SCALING_FITS if found.name == fit),
    )
    return hand_check(subject(model, terms.models), hardware_named(hardware, terms.added_hardware), chosen)


def _refuse_nonsense(terms: Terms) -> None:
    price = terms.usd_per_gpu_hour
    if price is not None and not (price > 0.0 and math.isfinite(price)):
        raise CannotCheck(f"the price of a GPU-hour must be greater than 0 and finite, got {price:g}")
    if not 1.0 <= terms.context_tokens <= TOKENS[0]:
        raise CannotCheck(f"the context must be between 1 and {TOKENS[0]:,.0f} tokens, got {terms.context_tokens:g}")
    if not 0.0 <= terms.prompt_share <= 1.0:
        raise CannotCheck(f"the share of prompts must be between 0 and 1, got {terms.prompt_share:g}")


def _price(accelerator: Accelerator, terms: Terms) -> tuple[float, str]:
    """USD per GPU-hour and who says so; nan if nobody does."""
    if terms.usd_per_gpu_hour is not None:
        return terms.usd_per_gpu_hour, f"${terms.usd_per_gpu_hour:g} a GPU-hour, as given"
    name, scenario = PRICED_BY, terms.scenario
    if scenario is None:
        scenario = load_scenario(PRICED_BY)
    else:
        name = repr(scenario.title)
    for quote in scenario.quotes:
        if quote.accelerator == accelerator.name:
            usd = quote.on_demand_usd_per_gpu_hour
            return usd, f"${usd:g} a GPU-hour on demand, as quoted in the scenario {name} ({quote.source})"
    return math.nan, f"no price of {accelerator.name} is known: give one with --usd-per-gpu-hour"


def _scenario(model: Subject, accelerator: Accelerator, terms: Terms) -> Scenario:
    """The defaults of a scenario around this one model, as the laws of the lab need them."""
    return Scenario(
        title="By hand",
        start=date(2026, 1, 1),
        horizon_days=1,
        demand=DemandInputs(tokens_per_day=1.0, prompt_share=terms.prompt_share, context_tokens=terms.context_tokens),
        market=MarketInputs(
            quote=(Quote(accelerator=accelerator.name, on_demand_usd_per_gpu_hour=1.0, source="by hand"),)
        ),
        roadmap=RoadmapInputs(target_flop=1.0),
        accelerator=terms.added_hardware,
        opening_model=ModelInputs(n_parameters=model.n_active_parameters, n_training_tokens=model.n_training_tokens),
    )


def _quality(model: Subject, terms: Terms) -> Iterator[Line]:
    section, n, d, fit = "Quality", model.n_active_parameters, model.n_training_tokens, terms.fit
    flop = float(training_flop(n, d))
    reached = float(loss(fit, n, d))
    penalty = float(quantization_penalty(terms.precision.reference_penalty_nats, n, d))
    best_n, best_d = compute_optimal(fit, flop)
    yield Line(section, "training_flop", "Training compute, 6 N D", flop, "FLOP", "scaling.training_flop", _HOFFMANN)
    yield Line(section, "tokens_per_parameter", "Tokens per parameter, D / N", d / n, "", "", "")
    for each in SCALING_FITS:
        yield Line(
            section,
            f"loss_{each.name}",
            f"Loss, fit {each.name}",
            float(loss(each, n, d)),
            "nats",
            "scaling.loss",
            re.sub(r" \(.*\)", "", each.citation),
            each is fit,
        )
    law, eq = "scaling.compute_optimal", "scaling.equivalent_flop"
    yield Line(section, "optimal_n_parameters", "Best N for that compute", float(best_n), "parameters", law, _HOFFMANN)
    yield Line(section, "optimal_n_training_tokens", "Best D for that compute", float(best_d), "tokens", law, _HOFFMANN)
    best = float(optimal_loss(fit, flop))
    yield Line(section, "optimal_loss", "Loss of that best run", best, "nats", "scaling.optimal_loss", _HOFFMANN)
    equivalent = float(equivalent_flop(fit, reached))
    yield Line(
        section, "equivalent_flop", "Equivalent compute", equivalent, "FLOP", eq, "the best run of the same loss"
    )
    name = terms.precision.name
    law = "precision.quantization_penalty"
    yield Line(section, "quantization_penalty_nats", f"Loss added by {name}", penalty, "nats", law, _KUMAR)
    left = float(equivalent_flop(fit, reached + penalty))
    yield Line(
        section, "quantized_equivalent_flop", f"Equivalent compute in {name}", left, "FLOP", eq, "the best run as good"
    )
    yield Line(section, "equivalent_flop_kept", f"Part kept in {name}", left / equivalent, "share", eq, "the ratio")


def _memory(model: Subject, terms: Terms) -> Iterator[Line]:
    section = "Memory"
    for each in PRECISIONS:
        held = float(weight_bytes(model.n_parameters, each.weight_bits))
        name, label = f"weight_bytes_{each.name}", f"Weights in {each.name}"
        law = "precision.weight_bytes"
        yield Line(section, name, label, held, "bytes", law, "N bits / 8", each is terms.precision)
    cache = float(kv_bytes_per_token(model.n_active_parameters, terms.precision.kv_bits))
    law, source = "serving_speed.kv_bytes_per_token", "power law through Llama 3 8B, 70B and 405B"
    label = f"Cache of a token, {terms.precision.kv_bits:g} bits"
    yield Line(section, "kv_bytes_per_token", label, cache, "bytes", law, source)
    whole = cache * terms.context_tokens
    label = f"Cache of {terms.context_tokens:,.0f} tokens"
    yield Line(section, "kv_bytes_per_sequence", label, whole, "bytes", law, source)


def _training(model: Subject, accelerator: Accelerator, scenario: Scenario, price: float) -> Iterator[Line]:
    section, flop = "Training", float(training_flop(model.n_active_parameters, model.n_training_tokens))
    peak, limit = peak_flop_per_second(accelerator.chip, BF16), "ZeRO stage 3, Rajbhandari et al. 2019"
    days = scenario.roadmap.train_days
    failures = scenario.training.failures_per_gpu_year
    fewest = int(least_gpus(model.n_parameters, accelerator.chip.memory_bytes))
    smallest = RunSize(fewest, float(run_gpu_hours(scenario, accelerator, flop, fewest, failures)))
    planned = run_size(scenario, accelerator, flop, model.n_parameters, days)
    yield Line(
        section, "peak_flop_per_second", "Peak of a GPU, bf16", peak, "FLOP/s", "chip.peak_flop_per_second", "dense"
    )
    least = ("least_gpus", "Fewest GPUs, by memory", float(fewest), "GPUs", "training_speed.least_gpus", limit)
    yield Line(section, *least)
    yield from _run("fewest", "on the fewest", smallest, scenario, price)
    label, law = f"GPUs to finish in {days} days", "lab.models.run_size"
    yield Line(section, "planned_gpus", label, float(planned.gpus), "GPUs", law, "fewest in time and memory")
    yield from _run("planned", "on those", planned, scenario, price)


def _run(name: str, words: str, run: RunSize, scenario: Scenario, price: float) -> Iterator[Line]:
    section, training = "Training", scenario.training
    kept = float(clusters(training, training.failures_per_gpu_year).goodput(float(run.gpus)))
    hours, law = run.gpu_hours, "lab.models.run_gpu_hours"
    yield Line(section, f"{name}_goodput", f"Goodput {words}", kept, "share", "training_speed.goodput", "Daly 2006")
    yield Line(section, f"{name}_gpu_hours", f"GPU-hours {words}", hours, "GPU h", law, "FLOP / (peak MFU goodput)")
    yield Line(section, f"{name}_days", f"Days {words}", run.days, "days", law, "GPU-hours / (24 GPUs)")
    yield Line(section, f"{name}_usd", f"Cost {words}", hours * price, "USD", law, "GPU-hours x price")


def _serving(
    model: Subject, accelerator: Accelerator, terms: Terms, scenario: Scenario, price: float
) -> Iterator[Line]:
    section, chip, precision = "Serving", accelerator.chip, terms.precision
    active, total = np.array([model.n_active_parameters]), np.array([model.n_parameters])
    speed = scenario.serving.speed(active, total, precision, chip, scenario.asked())
    table = serving_table(scenario, active, (precision,), total)
    peak = peak_flop_per_second(chip, precision)
    label = f"Peak of a GPU, {supported_math(chip, precision).name.lower()}"
    yield Line(section, "serving_peak_flop_per_second", label, peak, "FLOP/s", "chip.peak_flop_per_second", "dense")
    turn = float(critical_batch(peak, chip.memory_bytes_per_second, precision.weight_bits))
    law, book = "serving_speed.critical_batch", f"{_BOOK}, F bytes / (2 BW)"
    yield Line(section, "critical_batch", "Critical batch, without cache", turn, "sequences", law, book)
    yield from _speed(speed)
    usd = price / SECONDS_PER_HOUR * TOKENS_PER_MILLION_TOKENS
    law, busy = "serving_speed.roofline", "GPUs always busy"
    prompt, completion = float(table.prompt_gpu_seconds[0, 0, 0]), float(table.completion_gpu_seconds[0, 0, 0])
    user = (
        float(table.per_user_token(scenario, 1.0, scenario.demand.mix_at_start)[0, 0, 0])
        if math.isfinite(completion)
        else math.inf
    )
    label = "A million prompt tokens"
    yield Line(section, "usd_per_million_prompt_tokens", label, _cost(usd, prompt), "USD", law, busy)
    label = "A million completion tokens"
    yield Line(section, "usd_per_million_completion_tokens", label, _cost(usd, completion), "USD", law, busy)
    mixed = f"{terms.prompt_share:.0%} prompts, GPUs {scenario.serving.target_utilization:.0%} busy"
    label, law = "A million user tokens", "lab.models.ServingTable.per_user_token"
    yield Line(section, "usd_per_million_user_tokens", label, _cost(usd, user), "USD", law, mixed)


def _speed(speed: ServingSpeed) -> Iterator[Line]:
    section, law = "Serving", "serving_speed.roofline"
    is_served = bool(speed.replica_gpus[0] > 0)
    for name, label, values, unit, source in (
        ("replica_gpus", "GPUs of a replica", speed.replica_gpus, "GPUs", "the cheapest of 1, 2, 4, 8, 16"),
        ("batch", "Sequences at a time", speed.batch, "sequences", "what memory and the time per token allow"),
        ("seconds_per_output_token", "Time per output token", speed.seconds_per_output_token, "s", _ROOFLINE),
        ("decode_tokens_per_gpu_second", "Tokens written", speed.decode_tokens_per_gpu_second, "/ GPU s", _ROOFLINE),
        ("prefill_tokens_per_gpu_second", "Tokens read", speed.prefill_tokens_per_gpu_second, "/ GPU s", _ROOFLINE),
    ):  # fmt: skip
        yield Line(section, name, label, float(values[0]) if is_served else math.nan, unit, law, source)


def _cost(usd_per_million_seconds: float, gpu_seconds: float) -> float:
    return usd_per_million_seconds * gpu_seconds if math.isfinite(gpu_seconds) else math.nan


def _assumptions(
    model: Subject, accelerator: Accelerator, terms: Terms, scenario: Scenario, priced_by: str
) -> Iterator[str]:
    training, serving, precision = scenario.training, scenario.serving, terms.precision
    factor = efficiency_of(accelerator.chip, precision)
    yield f"Model: {model.source}. Hardware: {accelerator.source}; dense peaks."
    yield f"Price: {priced_by}."
    yield (
        f"Training: MFU {training.mfu:g} in bf16; {training.failures_per_gpu_year:g} failures a GPU and year, "
        f"checkpoints of {training.checkpoint_minutes:g} and restarts of {training.restart_minutes:g} minutes; "
        f"{TRAINING_MEMORY_SHARE:.0%} of memory for weights, gradients and optimizer."
    )
    limit = f"{serving.max_seconds_per_token:g} s per token at most; " if isinstance(serving, Roofline) else ""
    yield (
        f"Serving: {limit}{terms.context_tokens:,.0f} tokens of context; {MEMORY_SHARE:.0%} of memory for weights "
        f"and cache; {factor.prefill_mfu:.0%} of peak while reading, {factor.decode_efficiency:.0%} of the roofline "
        f"while writing (calibrated on measured throughput; int8 is set equal to fp8)."
    )
    smallest, largest = FITTED_PARAMETERS
    if not smallest <= model.n_active_parameters <= largest:
        span = f"{smallest / _BILLION:g} to {largest / _BILLION:g} billion"
        yield f"Loss: extrapolated; the fits rest on models of about {span} parameters."
    if model.is_mixture:
        yield (
            f"Mixture of experts: a token uses {model.n_active_parameters / _BILLION:g} of "
            f"{model.n_parameters / _BILLION:g} billion parameters; these count for FLOP, loss and cache, all of them "
            "for memory. The laws of loss, penalty, cache and critical batch are those of dense models."
        )
