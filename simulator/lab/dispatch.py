"""Who uses which GPU-hours: one vector pass over the days, with no memory from day to day.

Training holds whole GPUs all day. Serving follows the hours of the day on what is left of the GPUs already paid
for, the most FLOP per kWh first, then on rented ones up to the policy's cap and what the market can let; what is
beyond goes unserved. Research takes what is idle, then spot as far as it can be had, then on-demand; neither it nor
training, which plan ahead, is limited by what can be rented for serving by the hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.lab.fleet import Fleet
from simulator.lab.level import Level
from simulator.lab.models import ServedModel, slowed_by_mix, work_flop_per_gpu_hour
from simulator.laws.load import HourProfile
from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_DAY, FloatArray, IntArray
from simulator.world.world import World


@dataclass(frozen=True, slots=True)
class Workload:
    """What the lab wanted done on each day, as the step functions its events traced."""

    models: Sequence[ServedModel]
    model_in_service: Level
    """Index into `models`; -1 before the first."""
    serving_rental: Level
    """Accelerator rented for serving."""
    work_rental: Level
    """Accelerator rented for research."""
    research_flop_per_day: Level


@dataclass(frozen=True, slots=True)
class Dispatch:
    """GPU-hours by day; [kind, day] on GPUs held or rented for training, [day] for the rest.

    `kinds` are the accelerators ever held or trained on, in merit order: the most FLOP per kWh first.
    """

    kinds: tuple[int, ...]
    asked_tokens: FloatArray
    served_tokens: FloatArray
    owned_gpus: FloatArray
    reserved_gpus: FloatArray
    training_sunk_hours: FloatArray
    training_rented_hours: FloatArray
    serving_sunk_hours: FloatArray
    serving_rented_hours: FloatArray
    research_sunk_hours: FloatArray
    research_spot_hours: FloatArray
    research_rented_hours: FloatArray
    serving_rental: IntArray
    work_rental: IntArray

    @property
    def held_hours(self) -> FloatArray:
        """GPU-hours owned or reserved, used or not [kind, day]."""
        return HOURS_PER_DAY * (self.owned_gpus + self.reserved_gpus)

    @property
    def busy_hours(self) -> FloatArray:
        """GPU-hours of those held that were used [kind, day]."""
        return self.training_sunk_hours + self.serving_sunk_hours + self.research_sunk_hours


@dataclass(frozen=True, slots=True)
class _Load:
    """The day's serving need in tokens per second: a mean that follows the hours, and a constant spare."""

    mean: FloatArray
    spare: FloatArray
    rounding: FloatArray
    profile: HourProfile

    def used(self, capacity: FloatArray) -> FloatArray:
        """Mean over the hours of min(load + spare, capacity)."""
        above = np.maximum(capacity - self.spare, 0.0)
        return np.minimum(capacity, self.spare) + self.mean * self._share(above)

    def served(self, capacity: FloatArray) -> FloatArray:
        """User tokens a second served with this capacity; the spare is used up before anybody is refused."""
        return self.mean * self._share(capacity) / self.rounding

    def _share(self, capacity: FloatArray) -> FloatArray:
        return self.profile.served_share(_per(capacity, self.mean))


def dispatch(world: World, fleet: Fleet, workload: Workload) -> Dispatch:
    """Use the fleet's GPU-hours, day by day, in merit order."""
    scenario, n_days = world.scenario, world.calendar.horizon_days
    asked = world.demand_tokens[world.calendar.lived]
    kinds = tuple(sorted(fleet.kinds(), key=lambda kind: scenario.accelerators[kind].flop_per_kwh, reverse=True))
    owned, reserved, training = (
        _paths(levels, kinds, n_days) for levels in (fleet.owned, fleet.reserved, fleet.training)
    )
    working = owned * fleet.working_share + reserved
    training_sunk = np.minimum(training, working)
    left = working - training_sunk
    model = workload.model_in_service.path(n_days).astype(np.int64)
    speeds, replicas = _speeds(workload, len(scenario.accelerators))
    serving_rental = workload.serving_rental.path(n_days).astype(np.int64)
    on_offer = np.isfinite(world.prices.rent_path(serving_rental, world.calendar.lived_indices))
    slowed = _slowed(world, workload, model)
    rented_speed = np.where(on_offer, speeds[model, serving_rental], 0.0)
    if slowed is not None:
        rented_speed /= slowed[serving_rental, np.arange(n_days)]
    replica_tokens = rented_speed * replicas[model, serving_rental]
    load = _load(scenario.hour_profile, asked, replica_tokens, scenario.serving.spare_replicas)

    serving_sunk = np.zeros_like(left)
    capacity = filled = np.zeros(n_days)
    for row, kind in enumerate(kinds):
        if left[row].any():
            speed, before = speeds[model, kind], filled
            if slowed is not None:
                speed = speed / slowed[kind]
            capacity = capacity + left[row] * speed
            filled = load.used(capacity)
            serving_sunk[row] = HOURS_PER_DAY * _per(filled - before, speed)
    limit = scenario.supply.on_demand_gpus[serving_rental, world.calendar.lived_indices]
    with np.errstate(invalid="ignore"):
        rentable = np.where(rented_speed > 0.0, np.minimum(fleet.rental_cap.path(n_days), limit) * rented_speed, 0.0)
    rented = load.used(capacity + rentable) - filled
    return Dispatch(
        kinds,
        asked,
        SECONDS_PER_DAY * load.served(capacity + rentable),
        owned,
        reserved,
        HOURS_PER_DAY * training_sunk,
        HOURS_PER_DAY * (training - training_sunk),
        serving_sunk,
        HOURS_PER_DAY * _per(rented, rented_speed),
        *_research(world, workload, kinds, HOURS_PER_DAY * left - serving_sunk),
        serving_rental,
        workload.work_rental.path(n_days).astype(np.int64),
    )


def _paths(levels: Sequence[Level], kinds: Sequence[int], n_days: int) -> FloatArray:
    paths = np.zeros((len(kinds), n_days))
    for path, kind in zip(paths, kinds, strict=True):
        if not levels[kind].is_zero:
            path[:] = levels[kind].path(n_days)
    return paths


def _speeds(workload: Workload, n_accelerators: int) -> tuple[FloatArray, FloatArray]:
    """Tokens per GPU-second and GPUs per replica, [model, accelerator]; the last row is for no model."""
    nothing = np.zeros(n_accelerators)
    speeds = np.array([*(model.tokens_per_gpu_second for model in workload.models), nothing])
    return speeds, np.array([*(model.replica_gpus for model in workload.models), nothing])


def _slowed(world: World, workload: Workload, model: IntArray) -> FloatArray | None:
    """What segments of demand in other proportions than planned do to GPU-seconds per token [accelerator, day]."""
    if world.mix is None:
        return None
    slowed = np.ones((len(world.scenario.accelerators), model.size))
    for number, served in enumerate(workload.models):
        days = np.flatnonzero(model == number)
        slowed[:, days] = slowed_by_mix(world.scenario, served, world.mix.on(world.calendar.index(0) + days))
    return slowed


def _load(profile: HourProfile, asked: FloatArray, replica_tokens: FloatArray, spares: int) -> _Load:
    """The need in tokens a second: the peak rounded up to whole replicas, and spare ones beside it."""
    mean = asked / SECONDS_PER_DAY
    peak = mean * profile.peak
    whole = np.ceil(_per(peak, replica_tokens)) * replica_tokens
    rounding = np.where(whole > 0.0, _per(whole, peak), 1.0)
    return _Load(mean * rounding, spares * replica_tokens, rounding, profile)


def _research(
    world: World, workload: Workload, kinds: Sequence[int], idle_hours: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """GPU-hours of research: idle ones, spot, on-demand."""
    n_days, days = idle_hours.shape[1], world.calendar.lived_indices
    flop = work_flop_per_gpu_hour(world.scenario)
    need = workload.research_flop_per_day.path(n_days)
    sunk = np.zeros_like(idle_hours)
    for row, kind in enumerate(kinds):
        if idle_hours[row].any():
            sunk[row] = np.minimum(need / flop[kind], np.maximum(idle_hours[row], 0.0))
            need = np.maximum(need - sunk[row] * flop[kind], 0.0)
    rental = workload.work_rental.path(n_days).astype(np.int64)
    rent = world.prices.rent_path(rental, days)
    rented = np.where(np.isfinite(rent), need / flop[rental], 0.0)
    cheaper = world.prices.spot_path(rental, days) < rent
    spot = np.where(cheaper, rented * world.prices.spot_availability[days], 0.0)
    return sunk, spot, rented - spot


def _per(amount: FloatArray, rate: FloatArray) -> FloatArray:
    """amount / rate, 0 where the rate is 0."""
    return np.divide(amount, rate, out=np.zeros(np.broadcast(amount, rate).shape), where=rate > 0.0)
