"""Every model that meets a release's target, in tables that all replications share.

By precision, samples per answer and size: the tokens that just meet the target, the FLOP of that run, and the
GPU-seconds a user token takes on each kind of GPU. A decision is then one argmin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.lab.models import (
    ServedModel,
    ServingTable,
    clusters,
    flop_per_gpu_hour,
    planned_gpus,
    prompted,
    serving_table,
)
from simulator.lab.routes import PRETRAIN, Route, mixed, physical_flop
from simulator.laws.data_limit import effective_tokens, tokens_for_effective
from simulator.laws.precision import Precision, quantization_penalty, tokens_for_loss_quantized
from simulator.laws.scaling import compute_optimal, equivalent_flop, loss, optimal_loss
from simulator.laws.test_time import MAX_SAMPLES, gain
from simulator.laws.units import HOURS_PER_DAY, FloatArray, Numbers
from simulator.world.hardware import Accelerator
from simulator.world.models import PublishedModel
from simulator.world.prompting import PromptingInputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario

SIZE_STEP = 1.06
"""Neighbouring model sizes differ by this factor; the best is polished between its neighbours."""
SMALLEST, LARGEST = 0.03, 8.0
"""Sizes searched, as multiples of the compute-optimal size of the release; below 0.045 of it nothing is enough."""
_FINE_STEP = 1.002
"""The same for the table of speeds that all releases share."""
FINE_STEPS: FloatArray = np.linspace(-1.0, 1.0, 65, dtype=np.float64)
"""Sizes searched once more around the best column, in columns."""
_ROUNDING = 1e-6
"""By how much interpolated goodput may make a run seem too long."""
SAMPLES: FloatArray = np.geomspace(1.0, MAX_SAMPLES, 24, dtype=np.float64)
"""Samples per answer searched by the test-time lever; the first is one."""


@dataclass(frozen=True, slots=True)
class Row:
    """Models of one precision and number of samples, by size; speeds and hours by accelerator too."""

    route: Route
    precision: int
    samples: int
    n_parameters: FloatArray
    n_training_tokens: FloatArray
    n_tokens_read: FloatArray
    """Those it is trained on now, a base's own left out."""
    training_flop: FloatArray
    gpu_hours_per_flop: FloatArray
    gpu_seconds_per_token: FloatArray
    replica_gpus: FloatArray


@dataclass(frozen=True, slots=True)
class Candidates:
    """The table of one release on one route: [precision, samples, size]; the accelerator comes before these.

    Tokens, FLOP, hours and GPU-seconds are inf where the target cannot be met, the run cannot be done in time or
    the model cannot be served. Sizes are in equal ratios, or those of the `bases` that are trained on.
    """

    scenario: Scenario
    release: Release
    route: Route
    bases: tuple[PublishedModel, ...]
    sizes: FloatArray
    loss_needed: FloatArray
    """By number of samples [nats per token]."""
    n_training_tokens: FloatArray
    n_tokens_read: FloatArray
    training_flop: FloatArray
    gpu_hours_per_flop: FloatArray
    """Of a run of that size, after failures and checkpoints."""
    gpu_seconds_per_token: FloatArray
    replica_gpus: FloatArray
    """By [accelerator, precision, size]."""
    slowest_ratio: FloatArray
    """The most that one accelerator takes per token / another, over the whole table [accelerator, other]."""

    def around(self, precision: int, samples: int, column: int) -> Row:
        """The sizes between the neighbours of a column; a base has none."""
        if not self.bases:
            return _fine_row(self.scenario, self.release, self.route, precision, samples, column)
        here = slice(column, column + 1)
        return Row(
            self.route,
            precision,
            samples,
            self.sizes[here],
            self.n_training_tokens[precision, samples, here],
            self.n_tokens_read[precision, samples, here],
            self.training_flop[precision, samples, here],
            self.gpu_hours_per_flop[:, precision, samples, here],
            self.gpu_seconds_per_token[:, precision, samples, here],
            self.replica_gpus[:, precision, here],
        )

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
            self.route.token_worth,
            self.route.quality_gain,
            self.scenario.planned_mix(self.release),
            self.route.prompting,
        )


@lru_cache(maxsize=128)
def candidates(scenario: Scenario, release: Release, route: Route = PRETRAIN) -> Candidates:
    """The table of one release; nothing in it was drawn but what is owed, one of few values."""
    n_sizes = int(np.log(LARGEST / SMALLEST) / np.log(SIZE_STEP)) + 1
    sizes: FloatArray = _optimal_size(scenario, release, route) * SMALLEST * SIZE_STEP ** np.arange(float(n_sizes))
    speeds = _speeds(scenario, release, route).between(sizes)
    tokens = _tokens_by_precision(scenario, release, route, sizes)
    return _table(scenario, release, route, (), sizes, sizes, tokens, tokens, speeds)


@lru_cache(maxsize=128)
def fine_tuned(scenario: Scenario, release: Release, route: Route, names: tuple[str, ...] = ()) -> Candidates | None:
    """Open-weight models that can be trained on to meet the target; None if none is out yet.

    The tokens a base was trained on count as they are and cost nothing; only what is missing is trained, at least
    `fine_tuning.min_tokens`. A mixture of experts counts with its active parameters, which is cautious.
    """
    when = scenario.calendar.date_of(release.decision_day)
    bases = tuple(m for m in scenario.models if m.open_weights and m.release <= when and (m.name in names or not names))
    if not bases:
        return None
    sizes, total, read = (
        np.array([getattr(base, field) for base in bases])
        for field in ("n_active_parameters", "n_parameters", "n_training_tokens")
    )
    speeds = serving_table(scenario, sizes, scenario.precisions, total, route.prompting)
    tokens = np.maximum(_tokens_by_precision(scenario, release, route, sizes), read + scenario.fine_tuning.min_tokens)
    return _table(scenario, release, route, bases, sizes, total, tokens, tokens - read, speeds)


def _tokens_by_precision(scenario: Scenario, release: Release, route: Route, sizes: FloatArray) -> FloatArray:
    """Training tokens that just meet the target [precision, samples, size]."""
    needed = _loss_needed(scenario, release, route)[:, None]
    return np.stack([_tokens(scenario, route, sizes, kind, needed) for kind in scenario.precisions])


def _table(
    scenario: Scenario,
    release: Release,
    route: Route,
    bases: tuple[PublishedModel, ...],
    sizes: FloatArray,
    n_total_parameters: FloatArray,
    n_training_tokens: FloatArray,
    n_tokens_read: FloatArray,
    speeds: ServingTable,
) -> Candidates:
    """What follows from sizes and tokens: FLOP and hours of what is read now, and the time a user token takes."""
    flop = route.flop(sizes, n_tokens_read)
    mix = prompted(route.prompting, scenario.planned_mix(release))
    seconds = np.stack([speeds.per_user_token(scenario, samples, mix) for samples in SAMPLES], axis=2)
    hours = [
        _hours_per_flop(scenario, release, route, kind, flop, n_total_parameters) for kind in scenario.accelerators
    ]
    return Candidates(
        scenario=scenario,
        release=release,
        route=route,
        bases=bases,
        sizes=sizes,
        loss_needed=_loss_needed(scenario, release, route),
        n_training_tokens=n_training_tokens,
        n_tokens_read=n_tokens_read,
        training_flop=flop,
        gpu_hours_per_flop=np.stack(hours),
        gpu_seconds_per_token=seconds,
        replica_gpus=speeds.replica_gpus,
        slowest_ratio=_slowest_ratio(seconds),
    )


def _slowest_ratio(seconds: FloatArray) -> FloatArray:
    """max over the table of seconds of one kind / seconds of another; inf where only the other can serve."""
    flat = seconds.reshape(seconds.shape[0], -1)
    with np.errstate(invalid="ignore"):
        ratios = flat[:, None, :] / flat[None, :, :]
    return np.nan_to_num(ratios, nan=0.0, posinf=np.inf).max(axis=2)


@lru_cache(maxsize=8192)
def _fine_row(scenario: Scenario, release: Release, route: Route, precision: int, samples: int, column: int) -> Row:
    """The sizes between the neighbours of a column: tokens by the law, speeds from the scenario's fine table.

    Nothing in it was drawn either: replications that come near the same size share it.
    """
    table = candidates(scenario, release, route)
    columns = np.clip(column + FINE_STEPS, 0.0, table.sizes.size - 1.0)
    sizes: FloatArray = table.sizes[0] * SIZE_STEP**columns
    tokens = _tokens(scenario, route, sizes, scenario.precisions[precision], table.loss_needed[samples])
    flop = route.flop(sizes, tokens)
    speeds = _speeds(scenario, release, route).of(precision).between(sizes)
    mix = prompted(route.prompting, scenario.planned_mix(release))
    return Row(
        route,
        precision,
        samples,
        sizes,
        tokens,
        tokens,
        flop,
        np.stack([_hours_per_flop(scenario, release, route, kind, flop, sizes) for kind in scenario.accelerators]),
        speeds.per_user_token(scenario, SAMPLES[samples], mix)[:, 0],
        speeds.replica_gpus[:, 0],
    )


@lru_cache(maxsize=8)
def serving_speeds(scenario: Scenario, prompting: PromptingInputs | None = None) -> ServingTable:
    """Speeds of all sizes that are searched for the releases as declared, 0.2 % apart.

    Log-log interpolation between them is exact where speed is a power of size; where the best replica size
    switches, speeds jump, and the jump is smeared over those 0.2 %.
    """
    better = [PRETRAIN, *([mixed(scenario, PRETRAIN)] if scenario.data_mixing else [])]
    optima = [_optimal_size(scenario, release, route) for release in scenario.releases for route in better]
    return _speeds_from(scenario, min(optima), max(optima), prompting)


def _speeds(scenario: Scenario, release: Release, route: Route) -> ServingTable:
    """Speeds of the sizes searched for any release: luck and later runs may ask for others than were declared."""
    optimum = _optimal_size(scenario, release, route)
    if scenario.releases:
        table = serving_speeds(scenario, route.prompting).n_parameters
        if table[0] <= SMALLEST * optimum and LARGEST * optimum <= table[-1]:
            return serving_speeds(scenario, route.prompting)
    return _octave_speeds(scenario, int(np.floor(np.log2(optimum))), route.prompting)


@lru_cache(maxsize=16)
def _octave_speeds(scenario: Scenario, octave: int, prompting: PromptingInputs | None) -> ServingTable:
    """For compute-optimal sizes from one power of two to the next."""
    return _speeds_from(scenario, 2.0**octave, 2.0 ** (octave + 1), prompting)


def _speeds_from(
    scenario: Scenario, least_optimum: float, largest_optimum: float, prompting: PromptingInputs | None
) -> ServingTable:
    smallest, largest = SMALLEST * least_optimum / SIZE_STEP, LARGEST * largest_optimum * SIZE_STEP
    n_sizes = int(np.log(largest / smallest) / np.log(_FINE_STEP)) + 1
    sizes: FloatArray = smallest * _FINE_STEP ** np.arange(float(n_sizes))
    return serving_table(scenario, sizes, scenario.precisions, prompting=prompting)


def _optimal_size(scenario: Scenario, release: Release, route: Route) -> float:
    return float(compute_optimal(scenario.scaling_fit, physical_flop(scenario, release) / route.quality_gain)[0])


def _loss_needed(scenario: Scenario, release: Release, route: Route) -> FloatArray:
    """By number of samples: what test-time compute and a better mix of data gain need not be trained."""
    return optimal_loss(scenario.scaling_fit, physical_flop(scenario, release) / (gain(SAMPLES) * route.quality_gain))


def tokens_needed(
    scenario: Scenario, release: Release, n_parameters: Numbers, precision: Precision, samples: float
) -> FloatArray:
    """Training tokens with which a model of any size just meets a release's target; inf if none do [tokens]."""
    needed = optimal_loss(scenario.scaling_fit, physical_flop(scenario, release) / gain(samples))
    return _tokens(scenario, PRETRAIN, n_parameters, precision, needed)


def _tokens(
    scenario: Scenario, route: Route, n_parameters: Numbers, precision: Precision, loss_needed: Numbers
) -> FloatArray:
    """Training tokens with which a model just reaches a loss, repeated text counted; inf if none do [tokens]."""
    training = scenario.training
    fresh = tokens_for_loss_quantized(scenario.scaling_fit, n_parameters, loss_needed, precision.reference_penalty_nats)
    tokens = tokens_for_effective(fresh / route.token_worth, training.unique_tokens)
    return np.where(tokens <= training.max_epochs * training.unique_tokens, tokens, np.inf)


def _hours_per_flop(
    scenario: Scenario,
    release: Release,
    route: Route,
    kind: Accelerator,
    training_flop: FloatArray,
    n_parameters: FloatArray,
) -> FloatArray:
    """GPU-hours per FLOP of many runs at once, each on the GPUs that finish it in time; inf where none do."""
    gpus = planned_gpus(scenario, kind, training_flop, n_parameters, release.train_days, route.method)
    table = clusters(scenario.training, scenario.training.failures_per_gpu_year)
    hours = 1.0 / (flop_per_gpu_hour(scenario, kind) * table.goodput(gpus))
    in_time = gpus * HOURS_PER_DAY * max(release.train_days, 1) * (1.0 + _ROUNDING)
    return np.where((training_flop * hours <= in_time) & np.isfinite(gpus), hours, np.inf)


def reached_flop(scenario: Scenario, release: Release, model: ServedModel) -> float:
    """Equivalent training FLOP of a model on the release's decision day: quality in one currency [FLOP].

    Of a portfolio what the member reaches that falls shortest of what its traffic needs, as if all traffic needed it.
    """
    if model.members:
        asked = [member for member in model.members if member.quality > 0.0]
        return min(reached_flop(scenario, release, member.model) / member.quality for member in asked)
    fit = scenario.scaling_fit
    fresh = model.token_worth * effective_tokens(model.n_training_tokens, scenario.training.unique_tokens)
    penalty = quantization_penalty(model.precision.reference_penalty_nats, model.n_parameters, fresh)
    at = np.array([model.n_parameters])
    reached = equivalent_flop(fit, loss(fit, at, fresh) + penalty)[0] * model.quality_gain
    return float(reached * gain(model.samples) * release.progress * scenario.roadmap.data_gain)
