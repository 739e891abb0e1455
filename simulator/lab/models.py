"""Models as the lab serves and trains them: tokens per GPU-second on each kind of GPU, and the size of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, isfinite

import numpy as np

from simulator.laws.chip import peak_flop_per_second
from simulator.laws.fine_tuning import TrainingMethod
from simulator.laws.precision import BF16, Precision
from simulator.laws.training_speed import goodput, least_gpus
from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_HOUR, FloatArray, Numbers
from simulator.world.hardware import Accelerator
from simulator.world.prompting import PromptingInputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, Scenario, TrainingInputs
from simulator.world.segments import Mix

_LARGEST_CLUSTER = 1e8
"""More GPUs than were ever made."""


@dataclass(frozen=True, slots=True)
class ServingTable:
    """GPU-seconds per token by [accelerator, precision, model size]; inf where a model cannot be served."""

    n_parameters: FloatArray
    prompt_gpu_seconds: FloatArray
    completion_gpu_seconds: FloatArray
    replica_gpus: FloatArray

    def of(self, precision: int) -> ServingTable:
        """The part of one precision."""
        kept = slice(precision, precision + 1)
        return ServingTable(
            self.n_parameters,
            self.prompt_gpu_seconds[:, kept],
            self.completion_gpu_seconds[:, kept],
            self.replica_gpus[:, kept],
        )

    def between(self, n_parameters: FloatArray) -> ServingTable:
        """The same for other sizes, interpolated in logs; replicas are those of the size below."""
        position = np.log(n_parameters / self.n_parameters[0]) / np.log(self.n_parameters[1] / self.n_parameters[0])
        low = np.clip(position.astype(np.int64), 0, self.n_parameters.size - 2)
        part = position - low

        def mix(table: FloatArray) -> FloatArray:
            mixed: FloatArray = table[..., low] ** (1.0 - part) * table[..., low + 1] ** part
            return mixed

        return ServingTable(
            n_parameters,
            mix(self.prompt_gpu_seconds),
            mix(self.completion_gpu_seconds),
            self.replica_gpus[..., low],
        )

    def per_user_token(self, scenario: Scenario, samples: Numbers, mix: Mix) -> FloatArray:
        """GPU-seconds per user token at the planned utilisation; `samples` multiplies completions only."""
        serving = scenario.serving
        with np.errstate(invalid="ignore"):  # no share of what cannot be served: it stays out of reach
            prompt = mix.prompt_share * serving.prompt_cost(mix.cached_share) * self.prompt_gpu_seconds
            completion = mix.completions * np.asarray(samples) * self.completion_gpu_seconds
        seconds: FloatArray = (prompt + completion) / serving.target_utilization
        return np.where(np.isnan(seconds), np.inf, seconds)


def serving_table(
    scenario: Scenario,
    n_parameters: FloatArray,
    precisions: tuple[Precision, ...],
    n_total_parameters: FloatArray | None = None,
    prompting: PromptingInputs | None = None,
) -> ServingTable:
    """Speeds of models of these sizes (active parameters; total ones too if they differ), on every kind of GPU."""
    n_total = n_parameters if n_total_parameters is None else n_total_parameters
    asked = scenario.asked(prompting)
    shape = (len(scenario.accelerators), len(precisions), n_parameters.size)
    prompt, completion, replica = np.empty(shape), np.empty(shape), np.empty(shape)
    for row, accelerator in enumerate(scenario.accelerators):
        for column, precision in enumerate(precisions):
            speed = scenario.serving.speed(n_parameters, n_total, precision, accelerator.chip, asked)
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
    token_worth: float = 1.0
    """Fresh tokens of ordinary text that one of its training tokens was worth."""
    quality_gain: float = 1.0
    """Equivalent FLOP gained by the mix of its data, as a factor."""
    mix: Mix | None = None
    """Of user tokens, at which its speed was planned; by default that of the start."""
    prompting: PromptingInputs | None = None
    """What is put before users' prompts; its gain is part of `quality_gain`."""
    members: tuple[Member, ...] = ()
    """The models of a portfolio, which is described by its largest; speed and replicas are those of all together."""

    @property
    def tokens_per_gpu_second(self) -> FloatArray:
        """User tokens per GPU-second by accelerator; 0 where it cannot be served."""
        return 1.0 / self.gpu_seconds_per_token


def must_be_served(scenario: Scenario, model: ServedModel, what: str) -> None:
    """Refuse a model, told as `what`, that no kind of GPU can serve."""
    if not np.isfinite(model.gpu_seconds_per_token).any():
        raise unservable(scenario, what)


def unservable(scenario: Scenario, what: str) -> Misplaced:
    """That no kind of GPU on offer can serve `what`."""
    rule = f"must offer a GPU that can serve {what} within the time per token"
    return Misplaced("market.quote", rule, ", ".join(each.name for each in scenario.accelerators))


@dataclass(frozen=True, slots=True)
class Member:
    """One model of a portfolio."""

    model: ServedModel
    share: float
    """User tokens it works on / all; in all more than 1 where some are worked on twice."""
    quality: float
    """Equivalent FLOP its traffic needs / the release's target; 0 for one that answers nobody."""


def together(name: str, members: Sequence[Member]) -> ServedModel:
    """Models that share the traffic, as one: GPU-seconds by their shares, a replica of one replica of each.

    All are served on one kind of GPU, the cheapest for them together. Whole replicas are counted in sets, one of each
    member, which rounds up a little more than each on its own.
    """
    answering = [member.model for member in members if member.quality > 0.0]
    lead = max(answering, key=lambda model: model.n_parameters)
    seconds = sum((member.share * member.model.gpu_seconds_per_token for member in members), np.zeros(1))
    replica = sum((member.model.replica_gpus for member in members), np.zeros(1))
    return replace(
        lead, name=name, gpu_seconds_per_token=seconds, replica_gpus=replica, prompting=None, members=tuple(members)
    )


@lru_cache(maxsize=256)
def served_model(
    scenario: Scenario,
    name: str,
    n_parameters: float,
    n_training_tokens: float,
    precision: Precision,
    samples: float,
    release: Release | None = None,
    prompting: PromptingInputs | None = None,
) -> ServedModel:
    """The model with its speed on every kind of GPU on offer, at the mix planned for a release or today's."""
    mix = scenario.demand.mix_at_start if release is None else scenario.planned_mix(release)
    table = _speeds(scenario, n_parameters, precision, prompting)
    seconds = table.per_user_token(scenario, samples, prompted(prompting, mix))[:, 0, 0]
    replica = table.replica_gpus[:, 0, 0]
    made = ServedModel(name, n_parameters, n_training_tokens, precision, samples, seconds, replica, mix=mix)
    return made if prompting is None else replace(made, prompting=prompting, quality_gain=prompting.gain)


@lru_cache(maxsize=256)
def _speeds(
    scenario: Scenario, n_parameters: float, precision: Precision, prompting: PromptingInputs | None
) -> ServingTable:
    return serving_table(scenario, np.array([n_parameters]), (precision,), prompting=prompting)


def prompted(prompting: PromptingInputs | None, mix: Mix) -> Mix:
    """What a user token asks of a server behind these prompts."""
    return mix if prompting is None else prompting.longer(mix)


def slowed_by_mix(scenario: Scenario, model: ServedModel, mix: Mix) -> FloatArray:
    """GPU-seconds a user token takes on each day's mix / on the mix the model was planned for [accelerator, day]."""
    planned = scenario.demand.mix_at_start if model.mix is None else model.mix
    now, then = (_seconds_on(scenario, model, each) for each in (mix, planned))
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(then) & np.isfinite(now), now / then, 1.0)


def _seconds_on(scenario: Scenario, model: ServedModel, mix: Mix) -> FloatArray:
    """GPU-seconds a user token takes by the serving law, on a mix or on that of each day [accelerator, day]."""
    if model.members:
        shares = (member.share * _seconds_on(scenario, member.model, mix) for member in model.members)
        return sum(shares, np.zeros(1))
    table = _speeds(scenario, model.n_parameters, model.precision, model.prompting)
    return table.per_user_token(scenario, model.samples, prompted(model.prompting, mix))[:, 0]


def requantized(scenario: Scenario, model: ServedModel, precision: Precision) -> ServedModel:
    """The same weights and tokens served in another precision, faster or slower by what the serving law says."""
    if model.members:
        others = [replace(each, model=requantized(scenario, each.model, precision)) for each in model.members]
        return together(model.name, others)
    size, tokens = model.n_parameters, model.n_training_tokens
    now, then = (
        served_model(scenario, model.name, size, tokens, kind, model.samples, prompting=model.prompting)
        for kind in (model.precision, precision)
    )
    with np.errstate(invalid="ignore"):
        seconds = model.gpu_seconds_per_token * (then.gpu_seconds_per_token / now.gpu_seconds_per_token)
    known = np.isfinite(model.gpu_seconds_per_token) & np.isfinite(now.gpu_seconds_per_token)
    return replace(
        model,
        precision=precision,
        gpu_seconds_per_token=np.where(known, seconds, then.gpu_seconds_per_token),
        replica_gpus=then.replica_gpus,
    )


@dataclass(frozen=True, slots=True)
class RunSize:
    """GPUs of a training run and the GPU-hours it takes."""

    gpus: int
    gpu_hours: float

    @property
    def days(self) -> float:
        """How long it runs [days]."""
        return self.gpu_hours / (HOURS_PER_DAY * self.gpus)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters up to the fastest: beyond it failures cost a run more than another GPU adds.

    Goodput is read between 1,600 sizes in equal ratios, good to 1e-6.
    """

    gpus: FloatArray
    useful_gpus: FloatArray
    """What they amount to after failures and checkpoints."""

    def needed(self, useful: Numbers) -> FloatArray:
        """GPUs whose useful work amounts to `useful` GPUs; the fastest cluster if none does."""
        kept: FloatArray = np.asarray(np.interp(useful, self.useful_gpus, self.gpus))
        return kept

    def goodput(self, gpus: Numbers) -> FloatArray:
        """Share of the time of so many GPUs that ends up in the model."""
        within = np.minimum(gpus, self.gpus[-1])
        kept: FloatArray = np.interp(within, self.gpus, self.useful_gpus) / within
        return kept


@lru_cache(maxsize=64)
def clusters(training: TrainingInputs, failures_per_gpu_year: float) -> Clusters:
    """What failures and checkpoints leave of clusters of all sizes."""
    gpus = np.geomspace(1.0, _LARGEST_CLUSTER, 1601)
    kept = goodput(gpus, failures_per_gpu_year, training.checkpoint_minutes, training.restart_minutes)
    fastest = int(np.argmax(gpus * kept)) + 1
    return Clusters(gpus[:fastest], (gpus * kept)[:fastest])


def run_gpu_hours(
    scenario: Scenario, accelerator: Accelerator, training_flop: Numbers, gpus: Numbers, failures_per_gpu_year: float
) -> FloatArray:
    """GPU-hours of a run on so many GPUs: FLOP over peak, MFU and what failures and checkpoints leave."""
    kept = clusters(scenario.training, failures_per_gpu_year).goodput(gpus)
    return np.asarray(training_flop) / (flop_per_gpu_hour(scenario, accelerator) * kept)


def planned_gpus(
    scenario: Scenario,
    accelerator: Accelerator,
    training_flop: Numbers,
    n_parameters: Numbers,
    train_days: int,
    method: TrainingMethod | None = None,
) -> FloatArray:
    """The fewest GPUs that hold the model and finish in time, before rounding to whole ones.

    A run of 0 days is done within its day. Never more than the fastest cluster there can be: beyond it a run is late.
    Infinite where the training state fits on no number of GPUs. `method` is by default that of training from scratch.
    """
    flop_per_gpu = flop_per_gpu_hour(scenario, accelerator) * HOURS_PER_DAY * max(train_days, 1)
    table = clusters(scenario.training, scenario.training.failures_per_gpu_year)
    fewest = fewest_gpus(scenario, accelerator, n_parameters, method)
    return np.maximum(table.needed(np.asarray(training_flop) / flop_per_gpu), fewest)


def fewest_gpus(
    scenario: Scenario, accelerator: Accelerator, n_parameters: Numbers, method: TrainingMethod | None
) -> FloatArray:
    """The fewest GPUs that hold the training state; infinite where no number does."""
    held = scenario.training.method if method is None else method
    return least_gpus(n_parameters, accelerator.chip.memory_bytes, held.memory_share, held.stage)


def run_size(
    scenario: Scenario,
    accelerator: Accelerator,
    training_flop: float,
    n_parameters: float,
    train_days: int,
    method: TrainingMethod | None = None,
) -> RunSize:
    """The run of `planned_gpus`, in whole GPUs.

    Raises
    ------
    Misplaced
        Where the training state fits on no number of GPUs.
    """
    planned = float(planned_gpus(scenario, accelerator, training_flop, n_parameters, train_days, method))
    if not isfinite(planned):
        rule = f"must let {n_parameters:.3g} parameters be trained on the {accelerator.name}; share out more"
        raise Misplaced("training.sharding", rule, repr(scenario.training.sharding))
    gpus = ceil(planned)
    failures = scenario.training.failures_per_gpu_year
    return RunSize(gpus, float(run_gpu_hours(scenario, accelerator, training_flop, gpus, failures)))


@lru_cache(maxsize=64)
def work_flop_per_gpu_hour(scenario: Scenario) -> FloatArray:
    """Useful FLOP of one GPU-hour of work too small to fail, by accelerator [FLOP]."""
    return np.array([flop_per_gpu_hour(scenario, accelerator) for accelerator in scenario.accelerators])


def flop_per_gpu_hour(scenario: Scenario, accelerator: Accelerator) -> float:
    """FLOP of one GPU-hour at the training MFU, before failures [FLOP]."""
    return peak_flop_per_second(accelerator.chip, BF16) * scenario.mfu_on(accelerator) * SECONDS_PER_HOUR
