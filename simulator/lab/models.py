"""Models as the lab serves and trains them: tokens per GPU-second on each kind of GPU, and the size of a run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from simulator.laws.chip import peak_flop_per_second
from simulator.laws.precision import BF16, Precision
from simulator.laws.training_speed import goodput, least_gpus
from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_HOUR, FloatArray, Numbers
from simulator.world.hardware import Accelerator
from simulator.world.scenario import Scenario

_LARGEST_CLUSTER = 1e8
"""More GPUs than were ever made."""


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
        prompt = demand.prompt_share * serving.prompt_cost(demand.cached_share) * self.prompt_gpu_seconds
        completion = (1.0 - demand.prompt_share) * self.completion_gpu_seconds
        return (prompt + np.asarray(samples) * completion) / serving.target_utilization


def serving_table(scenario: Scenario, n_parameters: FloatArray, precisions: tuple[Precision, ...]) -> ServingTable:
    """Speeds of models of these sizes, on every kind of GPU, in every precision."""
    shape = (len(scenario.accelerators), len(precisions), n_parameters.size)
    prompt, completion, replica = np.empty(shape), np.empty(shape), np.empty(shape)
    for row, accelerator in enumerate(scenario.accelerators):
        for column, precision in enumerate(precisions):
            speed = scenario.serving.speed(n_parameters, precision, accelerator.chip, scenario.demand)
            with np.errstate(divide="ignore"):
                prompt[row, column] = 1.0 / speed.prefill_tokens_per_gpu_second
                completion[row, column] = 1.0 / speed.decode_tokens_per_gpu_second
            replica[row, column] = speed.replica_gpus
    return ServingTable(n_parameters, prompt, completion, replica)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model in service, or about to be.

    `gpu_seconds_per_token` and `replica_gpus` are by accelerator; tokens are user tokens at the planned
    utilisation, inf where it cannot be served; replicas of 0 GPUs mean divisible ones.
    """

    name: str
    n_parameters: float
    n_training_tokens: float
    precision: Precision
    samples: float
    gpu_seconds_per_token: FloatArray
    replica_gpus: FloatArray

    @property
    def tokens_per_gpu_second(self) -> FloatArray:
        """User tokens per GPU-second by accelerator; 0 where it cannot be served."""
        return 1.0 / self.gpu_seconds_per_token


@lru_cache(maxsize=256)
def served_model(
    scenario: Scenario, name: str, n_parameters: float, n_training_tokens: float, precision: Precision, samples: float
) -> ServedModel:
    """The model with its speed on every kind of GPU on offer."""
    table = serving_table(scenario, np.array([n_parameters]), (precision,))
    seconds = table.per_user_token(scenario, samples)[:, 0, 0]
    return ServedModel(name, n_parameters, n_training_tokens, precision, samples, seconds, table.replica_gpus[:, 0, 0])


@dataclass(frozen=True, slots=True)
class RunSize:
    """GPUs of a training run and the GPU-hours it takes."""

    gpus: int
    gpu_hours: float

    @property
    def days(self) -> float:
        """How long it runs [days]."""
        return self.gpu_hours / (HOURS_PER_DAY * self.gpus)


def run_gpu_hours(
    scenario: Scenario, accelerator: Accelerator, training_flop: float, gpus: float, failures_per_gpu_year: float
) -> float:
    """GPU-hours of a run on so many GPUs: FLOP over peak, MFU and what failures and checkpoints leave."""
    training = scenario.training
    kept = goodput(gpus, failures_per_gpu_year, training.checkpoint_minutes, training.restart_minutes)
    return training_flop / (flop_per_gpu_hour(scenario, accelerator) * float(kept))


def run_size(
    scenario: Scenario, accelerator: Accelerator, training_flop: float, n_parameters: float, train_days: int
) -> RunSize:
    """The fewest GPUs that hold the model and finish in `train_days` (a run of 0 days is done within its day).

    Never more than the fastest cluster there can be: beyond it a run is late.
    """
    failures = scenario.training.failures_per_gpu_year
    hours = HOURS_PER_DAY * max(train_days, 1)
    useful = training_flop / (flop_per_gpu_hour(scenario, accelerator) * hours)
    fewest = int(least_gpus(n_parameters, accelerator.chip.memory_bytes))
    clusters = _clusters(scenario)
    most = max(int(clusters.gpus[-1]), fewest)
    gpus = min(max(ceil(np.interp(useful, clusters.useful_gpus, clusters.gpus)), fewest), most)
    gpu_hours = run_gpu_hours(scenario, accelerator, training_flop, gpus, failures)
    while gpu_hours > gpus * hours and gpus < most:
        gpus = min(max(ceil(gpu_hours / hours), gpus + 1), most)
        gpu_hours = run_gpu_hours(scenario, accelerator, training_flop, gpus, failures)
    return RunSize(gpus, gpu_hours)


def planned_gpu_hours(
    scenario: Scenario, accelerator: Accelerator, training_flop: FloatArray, n_parameters: FloatArray, train_days: int
) -> FloatArray:
    """GPU-hours of many runs at once, as `run_size` would let them go, but for rounding to whole GPUs."""
    clusters, per_hour = _clusters(scenario), flop_per_gpu_hour(scenario, accelerator)
    useful = training_flop / (per_hour * HOURS_PER_DAY * max(train_days, 1))
    fewest = least_gpus(n_parameters, accelerator.chip.memory_bytes)
    gpus = np.maximum(np.interp(useful, clusters.useful_gpus, clusters.gpus), fewest)
    kept = np.interp(gpus, clusters.gpus, clusters.useful_gpus) / np.minimum(gpus, clusters.gpus[-1])
    return training_flop / (per_hour * kept)


@dataclass(frozen=True, slots=True)
class _Clusters:
    """Clusters up to the fastest: beyond it failures cost a run more than another GPU adds."""

    gpus: FloatArray
    useful_gpus: FloatArray
    """What they amount to after failures and checkpoints."""


@lru_cache(maxsize=64)
def _clusters(scenario: Scenario) -> _Clusters:
    training = scenario.training
    gpus = np.geomspace(1.0, _LARGEST_CLUSTER, 1601)
    kept = goodput(gpus, training.failures_per_gpu_year, training.checkpoint_minutes, training.restart_minutes)
    fastest = int(np.argmax(gpus * kept)) + 1
    return _Clusters(gpus[:fastest], (gpus * kept)[:fastest])


@lru_cache(maxsize=64)
def work_flop_per_gpu_hour(scenario: Scenario) -> FloatArray:
    """Useful FLOP of one GPU-hour of work too small to fail, by accelerator [FLOP]."""
    return np.array([flop_per_gpu_hour(scenario, accelerator) for accelerator in scenario.accelerators])


def flop_per_gpu_hour(scenario: Scenario, accelerator: Accelerator) -> float:
    """FLOP of one GPU-hour at the training MFU, before failures [FLOP]."""
    return peak_flop_per_second(accelerator.chip, BF16) * scenario.training.mfu * SECONDS_PER_HOUR
