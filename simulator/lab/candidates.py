"""Every model that meets a release's target, in one table that all replications share.

By precision, samples per answer and size: the tokens that just meet the target, the FLOP of that run, and the
GPU-seconds a user token takes on each kind of GPU. A decision is then one argmin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.lab.models import ServedModel, ServingTable, planned_gpus, run_gpu_hours, serving_table
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

SIZE_STEP = 1.02
"""Neighbouring model sizes differ by this factor; the best is polished between its neighbours."""
SMALLEST, LARGEST = 0.02, 8.0
"""Sizes searched, as multiples of the compute-optimal size of the release."""
SAMPLES: FloatArray = np.geomspace(1.0, MAX_SAMPLES, 12, dtype=np.float64)
"""Samples per answer searched by the test-time lever; the first is one."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The table of one release: [precision, samples, size], with the accelerator before these where it matters.

    Tokens, FLOP and GPU-seconds are inf where the target cannot be met or the model cannot be served.
    """

    scenario: Scenario
    release: Release
    serving: ServingTable
    loss_needed: FloatArray
    """By number of samples [nats per token]."""
    n_training_tokens: FloatArray
    training_flop: FloatArray
    training_gpu_hours: FloatArray
    gpu_seconds_per_token: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """Model sizes, in equal ratios [parameters]."""
        return self.serving.n_parameters

    def row(self, precision: int, samples: int, columns: FloatArray) -> Row:
        """Models of any sizes, also between the columns: tokens by the law, speeds interpolated in logs.

        Log-log interpolation is exact where speed is a power of size, and good to 1e-4 on the roofline.
        """
        sizes: FloatArray = self.sizes[0] * SIZE_STEP**columns
        tokens = _tokens_for_loss(self.scenario, sizes, self.scenario.precisions[precision], self.loss_needed[samples])
        low = np.minimum(columns.astype(np.int64), self.sizes.size - 2)
        part, seconds = columns - low, self.gpu_seconds_per_token[:, precision, samples]
        between = seconds[:, low] ** (1.0 - part) * seconds[:, low + 1] ** part
        return Row(sizes, tokens, training_flop(sizes, tokens), between)

    def model(self, precision: int, samples: int, column: float) -> ServedModel:
        """The model of one size."""
        row = self.row(precision, samples, np.array([column]))
        return ServedModel(
            self.release.name,
            float(row.n_parameters[0]),
            float(row.n_training_tokens[0]),
            self.scenario.precisions[precision],
            float(SAMPLES[samples]),
            row.gpu_seconds_per_token[:, 0],
            self.serving.replica_gpus[:, precision, int(column)],
        )


@dataclass(frozen=True, slots=True)
class Row:
    """Candidates of one precision and number of samples, by size; GPU-seconds by accelerator too."""

    n_parameters: FloatArray
    n_training_tokens: FloatArray
    training_flop: FloatArray
    gpu_seconds_per_token: FloatArray


@lru_cache(maxsize=64)
def candidates(scenario: Scenario, release: Release) -> Candidates:
    """The table of one release; nothing in it was drawn."""
    physical = release.target_flop / (release.progress * scenario.roadmap.data_gain)
    optimal_size = float(compute_optimal(scenario.scaling_fit, physical)[0])
    n_sizes = int(np.log(LARGEST / SMALLEST) / np.log(SIZE_STEP)) + 1
    sizes: FloatArray = optimal_size * SMALLEST * SIZE_STEP ** np.arange(float(n_sizes))
    serving = serving_table(scenario, sizes, scenario.precisions)
    needed = optimal_loss(scenario.scaling_fit, physical / gain(SAMPLES))
    tokens = np.stack([_tokens_for_loss(scenario, sizes, kind, needed[:, None]) for kind in scenario.precisions])
    seconds = np.stack([serving.per_user_token(scenario, samples) for samples in SAMPLES], axis=2)
    flop = training_flop(sizes, tokens)
    hours = np.stack([planned_gpu_hours(scenario, release, kind, flop, sizes) for kind in scenario.accelerators])
    return Candidates(scenario, release, serving, needed, tokens, flop, hours, seconds)


def planned_gpu_hours(
    scenario: Scenario, release: Release, kind: Accelerator, training_flop: FloatArray, n_parameters: FloatArray
) -> FloatArray:
    """GPU-hours of many runs at once, each on the GPUs that finish it in time."""
    gpus = planned_gpus(scenario, kind, training_flop, n_parameters, release.train_days)
    return run_gpu_hours(scenario, kind, training_flop, gpus, scenario.training.failures_per_gpu_year)


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
