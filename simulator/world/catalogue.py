"""All there is to look up: kinds of GPU, models and how they were trained, published prices, and techniques."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from simulator.laws.quantization_table import REPORTED_QUANTIZATION
from simulator.laws.serving_savers import REPORTED_SAVERS
from simulator.laws.techniques import TECHNIQUES
from simulator.world.hardware import CATALOGUE, Accelerator
from simulator.world.models import MODELS, PublishedModel
from simulator.world.names import joined
from simulator.world.price_history import PRICES, PublishedPrice
from simulator.world.scenario import Scenario
from simulator.world.training_runs import TRAINING_RUNS, TrainingRun


@dataclass(frozen=True, slots=True)
class TechniqueRow:
    """What one technique is reported to do; nan where its source gives no such figure."""

    group: str
    name: str
    effect: str
    source: str
    training_span_oom: float = math.nan
    """How far training can be traded [orders of magnitude]."""
    inference_span_oom: float = math.nan
    weight_memory_factor: float = math.nan
    """Memory of the weights / that of 16 bits."""
    highest_speedup: float = math.nan
    price_factor: float = math.nan
    """List price of the tokens it touches / that of others."""


def _techniques() -> Iterator[TechniqueRow]:
    for each in TECHNIQUES:
        effect = f"effect of scale: {each.effect_of_scale}; models of 2023 sit at {each.models_sit_at}"
        row = TechniqueRow("training for inference", each.name, effect, each.source)
        yield replace(row, training_span_oom=each.training_span_oom, inference_span_oom=each.inference_span_oom)
    for told in REPORTED_QUANTIZATION:
        row = TechniqueRow("quantization", told.method, told.quality, told.citation)
        faster = told.highest_speedup if told.highest_speedup > 1.0 else math.nan
        yield replace(row, weight_memory_factor=told.weight_memory_factor, highest_speedup=faster)
    for saver in REPORTED_SAVERS:
        row = TechniqueRow("serving", saver.method, saver.effect, saver.citation)
        faster = saver.highest_speedup if saver.highest_speedup > 1.0 else math.nan
        yield replace(
            row, highest_speedup=faster, price_factor=saver.price_factor if saver.price_factor < 1.0 else math.nan
        )


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What can be looked up, each row with its source."""

    hardware: tuple[Accelerator, ...] = CATALOGUE
    models: tuple[PublishedModel, ...] = MODELS
    runs: tuple[TrainingRun, ...] = TRAINING_RUNS
    prices: tuple[PublishedPrice, ...] = PRICES
    techniques: tuple[TechniqueRow, ...] = tuple(_techniques())


def catalogue_of(scenario: Scenario) -> Catalogue:
    """The catalogue with the rows a scenario adds, or describes anew."""
    hardware = joined(CATALOGUE, [row.accelerator() for row in scenario.accelerator])
    return Catalogue(hardware=hardware, models=scenario.models)
