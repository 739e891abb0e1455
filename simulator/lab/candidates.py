"""Every model that meets a release's target, in one table that all replications share.

By precision, samples per answer and size: the tokens that just meet the target, the FLOP of that run, and the
GPU-seconds a user token takes on each kind of GPU. A decision is then one argmin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.lab.models import ServedModel, ServingTable, clusters, flop_per_gpu_hour, planned_gpus, serving_table
from simulator.laws.data_limit import effective_tokens, tokens_for_effective
from simulator.laws.precision import Precision, quantization_penalty, tokens_for_loss_quantized
from simulator.laws.scaling import (
    compute_optimal,
    equivalent_flop,
    loss,
    optimal_loss,
    training_flop,
)
from simulator.laws.test_time import MAX_SAMPLES, gain
from simulator.laws.units import FloatArray, Numbers
from simulator.world.hardware import Accelerator
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario

SIZE_STEP = 1.06
"""Neighbouring model sizes differ by this factor; the best is polished between its neighbours."""
SMALLEST, LARGEST = 0.02, 8.0
"""Sizes searched, as multiples of the compute-optimal size of the release."""
_FINE_STEP = 1.005
"""The same for the table of speeds that all releases share."""
FINE_STEPS: FloatArray = np.linspace(-1.0, 1.0, 33, dtype=np.float64)
"""Sizes searched once more around the best column, in columns."""
SAMPLES: FloatArray = np.geomspace(1.0, MAX_SAMPLES, 24, dtype=np.float64)
"""Samples per answer searched by the test-time lever; the first is one."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The table of one release: [precision, samples, size], with the accelerator before these where it matters.

    Tokens, FLOP and GPU-seconds are inf where the target cannot be met or the model cannot be served.
    """

    scenario: Scenario
    release: Release
    sizes: FloatArray
    """In equal ratios [parameters]."""
    loss_needed: FloatArray
    """By number of samples [nats per token]."""
    n_training_tokens: FloatArray
    training_flop: FloatArray
    flop_per_gpu_hour: FloatArray
    """Of a run of that size, after failures and checkpoints, by accelerator too."""
    gpu_seconds_per_token: FloatArray

    def model(self, row: Row, column: int, shift: float) -> ServedModel:
        """The model at `shift` steps from a column of a row, on the parabolas of the logs of its neighbours."""
        size, tokens = row.n_parameters[column], row.n_training_tokens[column]
        seconds = row.gpu_seconds_per_token[:, column]
        if shift:
            near = slice(column - 1, column + 2)
            weights = np.array([shift * (shift - 1.0) / 2.0, 1.0 - shift * shift, shift * (shift + 1.0) / 2.0])
            size, tokens = np.exp(np.log([row.n_parameters[near], row.n_training_tokens[near]]) @ weights)
            beside = row.gpu_seconds_per_token[:, column + (1 if shift > 0.0 else -1)]
            seconds = seconds ** (1.0 - abs(shift)) * beside ** abs(shift)
        return ServedModel(
            self.release.name,
            float(size),
            float(tokens),
            self.scenario.precisions[row.precision],
            float(SAMPLES[row.samples]),
            seconds,
            row.replica_gpus[:, column],
        )


@dataclass(frozen=True, slots=True)
class Row:
    """Candidates of one precision and number of samples around a column, finely; speeds by accelerator too."""

    precision: int
    samples: int
    n_parameters: FloatArray
    n_training_tokens: FloatArray
    training_flop: FloatArray
    flop_per_gpu_hour: FloatArray
    gpu_seconds_per_token: FloatArray
    replica_gpus: FloatArray


@lru_cache(maxsize=64)
def candidates(scenario: Scenario, release: Release) -> Candidates:
    """The table of one release; nothing in it was drawn."""
    physical, optimal_size = _optimum(scenario, release)
    n_sizes = int(np.log(LARGEST / SMALLEST) / np.log(SIZE_STEP)) + 1
    sizes: FloatArray = optimal_size * SMALLEST * SIZE_STEP ** np.arange(float(n_sizes))
    serving = serving_speeds(scenario).between(sizes)
    needed = optimal_loss(scenario.scaling_fit, physical / gain(SAMPLES))
    tokens = np.stack([_tokens_for_loss(scenario, sizes, kind, needed[:, None]) for kind in scenario.precisions])
    seconds = np.stack([serving.per_user_token(scenario, samples) for samples in SAMPLES], axis=2)
    flop = training_flop(sizes, tokens)
    work = np.stack([_work(scenario, release, kind, flop, sizes) for kind in scenario.accelerators])
    return Candidates(scenario, release, sizes, needed, tokens, flop, work, seconds)


@lru_cache(maxsize=8192)
def fine_row(scenario: Scenario, release: Release, precision: int, samples: int, column: int) -> Row:
    """The sizes between the neighbours of a column: tokens by the law, speeds from the scenario's fine table.

    Nothing in it was drawn either: replications that come near the same size share it.
    """
    table = candidates(scenario, release)
    columns = np.clip(column + FINE_STEPS, 0.0, table.sizes.size - 1.0)
    sizes: FloatArray = table.sizes[0] * SIZE_STEP**columns
    tokens = _tokens_for_loss(scenario, sizes, scenario.precisions[precision], table.loss_needed[samples])
    flop = training_flop(sizes, tokens)
    speeds = serving_speeds(scenario).of(precision).between(sizes)
    return Row(
        precision,
        samples,
        sizes,
        tokens,
        flop,
        np.stack([_work(scenario, release, kind, flop, sizes) for kind in scenario.accelerators]),
        speeds.per_user_token(scenario, SAMPLES[samples])[:, 0],
        speeds.replica_gpus[:, 0],
    )


def _optimum(scenario: Scenario, release: Release) -> tuple[float, float]:
    """Physical FLOP of the compute-optimal bf16 run that meets a target, and its model size."""
    physical = release.target_flop / (release.progress * scenario.roadmap.data_gain)
    return physical, float(compute_optimal(scenario.scaling_fit, physical)[0])


@lru_cache(maxsize=8)
def serving_speeds(scenario: Scenario) -> ServingTable:
    """Speeds of all sizes that are ever searched, half a per cent apart.

    Log-log interpolation between them is exact where speed is a power of size; where the best replica size
    switches, speeds jump, and the jump is smeared over that half per cent.
    """
    optima = [_optimum(scenario, release)[1] for release in scenario.releases]
    smallest, largest = SMALLEST * min(optima) / SIZE_STEP, LARGEST * max(optima) * SIZE_STEP
    n_sizes = int(np.log(largest / smallest) / np.log(_FINE_STEP)) + 1
    sizes: FloatArray = smallest * _FINE_STEP ** np.arange(float(n_sizes))
    return serving_table(scenario, sizes, scenario.precisions)


def _work(
    scenario: Scenario, release: Release, kind: Accelerator, training_flop: FloatArray, n_parameters: FloatArray
) -> FloatArray:
    """FLOP per GPU-hour of many runs at once, each on the GPUs that finish it in time [FLOP]."""
    gpus = planned_gpus(scenario, kind, training_flop, n_parameters, release.train_days)
    failures = scenario.training.failures_per_gpu_year
    return flop_per_gpu_hour(scenario, kind) * clusters(scenario.training, failures).goodput(gpus)


def _tokens_for_loss(
    scenario: Scenario, n_parameters: Numbers, precision: Precision, loss_needed: Numbers
) -> FloatArray:
    """Training tokens with which a model just reaches a loss, repeated text counted; inf if none do [tokens]."""
    training = scenario.training
    fresh = tokens_for_loss_quantized(scenario.scaling_fit, n_parameters, loss_needed, precision.reference_penalty_nats)
    tokens = tokens_for_effective(fresh, training.unique_tokens)
    return np.where(tokens <= training.max_epochs * training.unique_tokens, tokens, np.inf)


def reached_flop(scenario: Scenario, release: Release, model: ServedModel) -> float:
    """Equivalent training FLOP of a model on the release's decision day: quality in one currency [FLOP]."""
    fit = scenario.scaling_fit
    fresh = effective_tokens(model.n_training_tokens, scenario.training.unique_tokens)
    penalty = quantization_penalty(model.precision.reference_penalty_nats, model.n_parameters, fresh)
    reached = equivalent_flop(fit, loss(fit, model.n_parameters, fresh) + penalty)
    return float(reached * gain(model.samples) * release.progress * scenario.roadmap.data_gain)
