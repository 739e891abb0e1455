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

SIZE_STEP = 1.04
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
    flop_per_gpu_hour: FloatArray
    """Of a run of that size, after failures and checkpoints, by accelerator too."""
    gpu_seconds_per_token: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """Model sizes, in equal ratios [parameters]."""
        return self.serving.n_parameters

    def row(self, precision: int, samples: int, columns: FloatArray) -> Row:
        """Models of sizes between the columns: tokens by the law, the rest interpolated.

        Log-log interpolation is exact where speed is a power of size, and good to 2e-4 on the roofline.
        """
        sizes: FloatArray = self.sizes[0] * SIZE_STEP**columns
        tokens = _tokens_for_loss(self.scenario, sizes, self.scenario.precisions[precision], self.loss_needed[samples])
        low = np.minimum(columns.astype(np.int64), self.sizes.size - 2)
        part, seconds = columns - low, self.gpu_seconds_per_token[:, precision, samples]
        work = self.flop_per_gpu_hour[:, precision, samples]
        return Row(
            sizes,
            tokens,
            training_flop(sizes, tokens),
            work[:, low] * (1.0 - part) + work[:, low + 1] * part,
            seconds[:, low] ** (1.0 - part) * seconds[:, low + 1] ** part,
        )

    def model(self, precision: int, samples: int, size: float, tokens: float, seconds: FloatArray) -> ServedModel:
        """The model of one size of a row."""
        column = int(np.log(size / self.sizes[0]) / np.log(SIZE_STEP))
        replica = self.serving.replica_gpus[:, precision, min(column, self.sizes.size - 1)]
        kind = self.scenario.precisions[precision]
        return ServedModel(self.release.name, size, tokens, kind, float(SAMPLES[samples]), seconds, replica)


@dataclass(frozen=True, slots=True)
class Row:
    """Candidates of one precision and number of samples, by size; GPU-seconds by accelerator too."""

    n_parameters: FloatArray
    n_training_tokens: FloatArray
    training_flop: FloatArray
    flop_per_gpu_hour: FloatArray
    gpu_seconds_per_token: FloatArray

    def at(self, column: int, shift: float) -> tuple[float, float, FloatArray]:
        """Size, tokens and GPU-seconds at `shift` steps from a column, on the parabolas of their logs."""
        seconds = self.gpu_seconds_per_token[:, column]
        if shift == 0.0:
            return float(self.n_parameters[column]), float(self.n_training_tokens[column]), seconds
        near = slice(column - 1, column + 2)
        weights = np.array([shift * (shift - 1.0) / 2.0, 1.0 - shift * shift, shift * (shift + 1.0) / 2.0])
        around = self.gpu_seconds_per_token[:, near]
        if np.isfinite(around).all():
            seconds = np.exp(np.log(around) @ weights)
        size, tokens = np.exp(np.log([self.n_parameters[near], self.n_training_tokens[near]]) @ weights)
        return float(size), float(tokens), seconds


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
    work = np.stack([_work(scenario, release, kind, flop, sizes) for kind in scenario.accelerators])
    return Candidates(scenario, release, serving, needed, tokens, flop, work, seconds)


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
