"""Models as the lab serves and trains them: tokens per GPU-second on each kind of GPU, and the size of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.laws.chip import peak_flop_per_second
from simulator.laws.precision import BF16, Precision
from simulator.laws.training_speed import goodput, least_gpus
from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_HOUR, FloatArray, Numbers
from simulator.world.hardware import Accelerator
from simulator.world.scenario import Scenario

_SIZING_ROUNDS = 6
"""Rounds of the fixed point between GPUs of a run and the goodput at that size; settled long before."""


@dataclass(frozen=True, slots=True)
class ServingTable:
    """GPU-seconds per token by [accelerator, precision, model size]; inf where a model cannot be served."""

    n_parameters: FloatArray
    prompt_gpu_seconds: FloatArray
    completion_gpu_seconds: FloatArray
    replica_gpus: FloatArray

    def per_user_token(self, scenario: Scenario, samples: Numbers) -> FloatArray:
        """GPU-seconds per user token at the planned utilisation; `samples` multiplies completions only."""
        demand, serving = scenario.demand, scenario.serving
        uncached = 1.0 - demand.cached_share * (1.0 - serving.cached_prompt_cost)
        prompt = demand.prompt_share * uncached * self.prompt_gpu_seconds
        completion = (1.0 - demand.prompt_share) * self.completion_gpu_seconds
        return (prompt + np.asarray(samples) * completion) / serving.target_utilization


def serving_table(scenario: Scenario, n_parameters: FloatArray, precisions: tuple[Precision, ...]) -> ServingTable:
    """Speeds of models of these sizes, on every kind of GPU, in every precision."""
    shape = (len(scenario.accelerators), len(precisions), n_parameters.size)
    prompt, completion, replica = np.empty(shape), np.empty(shape), np.empty(shape)
    for row, accelerator in enumerate(scenario.accelerators):
        for column, precision in enumerate(precisions):
            speed = scenario.serving.speed(n_parameters, precision, accelerator.chip, scenario.demand.context_tokens)
            with np.errstate(divide="ignore"):
                prompt[row, column] = 1.0 / speed.prefill_tokens_per_gpu_second
                completion[row, column] = 1.0 / speed.decode_tokens_per_gpu_second
            replica[row, column] = speed.replica_gpus
    return ServingTable(n_parameters, prompt, completion, replica)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model in service, or about to be.

    `tokens_per_gpu_second` and `replica_gpus` are by accelerator; tokens are user tokens at the planned
    utilisation, 0 where it cannot be served; replicas of 0 GPUs mean divisible ones.
    """

    name: str
    n_parameters: float
    n_training_tokens: float
    precision: Precision
    samples: float
    tokens_per_gpu_second: FloatArray
    replica_gpus: FloatArray


@lru_cache(maxsize=256)
def served_model(
    scenario: Scenario, name: str, n_parameters: float, n_training_tokens: float, precision: Precision, samples: float
) -> ServedModel:
    """The model with its speed on every kind of GPU on offer."""
    table = serving_table(scenario, np.array([n_parameters]), (precision,))
    with np.errstate(divide="ignore"):
        speed = 1.0 / table.per_user_token(scenario, samples)[:, 0, 0]
    return ServedModel(
        name, n_parameters, n_training_tokens, precision, samples, speed, table.replica_gpus[:, 0, 0]
    )


@dataclass(frozen=True, slots=True)
class RunSize:
    """GPUs of a training run and the GPU-hours it takes; arrays where sizes were."""

    gpus: FloatArray
    gpu_hours: FloatArray

    @property
    def days(self) -> FloatArray:
        """How long it runs [days]."""
        return self.gpu_hours / (HOURS_PER_DAY * self.gpus)


def run_gpu_hours(
    scenario: Scenario, accelerator: Accelerator, training_flop: Numbers, gpus: Numbers, failures_per_gpu_year: float
) -> FloatArray:
    """GPU-hours of a run on so many GPUs: FLOP over peak, MFU and what failures and checkpoints leave."""
    training = scenario.training
    kept = goodput(gpus, failures_per_gpu_year, training.checkpoint_minutes, training.restart_minutes)
    return np.asarray(training_flop) / (flop_per_gpu_hour(scenario, accelerator) * kept)


def run_size(
    scenario: Scenario, accelerator: Accelerator, training_flop: Numbers, n_parameters: Numbers, train_days: int
) -> RunSize:
    """The fewest GPUs that hold the model and finish in `train_days` (a run of 0 days is done within its day)."""
    failures = scenario.training.failures_per_gpu_year
    hours = HOURS_PER_DAY * max(train_days, 1)
    gpus = least_gpus(n_parameters, accelerator.chip.memory_bytes)
    for _ in range(_SIZING_ROUNDS):
        gpu_hours = run_gpu_hours(scenario, accelerator, training_flop, gpus, failures)
        gpus = np.maximum(np.ceil(gpu_hours / hours), gpus)
    return RunSize(gpus, run_gpu_hours(scenario, accelerator, training_flop, gpus, failures))


def flop_per_gpu_hour(scenario: Scenario, accelerator: Accelerator) -> float:
    """Useful FLOP of one GPU-hour of small work, such as experiments [FLOP]."""
    return peak_flop_per_second(accelerator.chip, BF16) * scenario.training.mfu * SECONDS_PER_HOUR
