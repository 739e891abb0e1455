"""Who uses which GPU-hours: one vector pass over the days, with no memory from day to day.

Training holds whole GPUs all day. Serving follows the hours of the day on what is left of the GPUs already paid for,
the least energy per token first, then on rented ones up to the policy's cap and what the market can let; what is beyond
is bought from another provider if there is one, or goes unserved. Tokens that can wait (`batch`) take idle hours next.
Research takes what is then idle, the most FLOP per kWh first, then spot as far as it can be had, then on-demand;
neither it nor training, which plan ahead, is limited by what can be rented for serving by the hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.lab.batch import BatchUse, serve_batch
from simulator.lab.fleet import Fleet
from simulator.lab.level import Level
from simulator.lab.models import ServedModel, slowed_by_mix, work_flop_per_gpu_hour
from simulator.lab.rental_money import RentalMoney
from simulator.lab.serving_load import Held, Load, Rental, per
from simulator.laws.load import PaidHours
from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_DAY, BoolArray, FloatArray, IntArray
from simulator.world.market import SpotWork
from simulator.world.scenario import Scenario
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

    `kinds` are the accelerators ever held or trained on, the most FLOP per kWh first. Serving contains batch tokens;
    those of patience above one day may be served on another day of their block than they were asked on.
    """

    kinds: tuple[int, ...]
    asked_tokens: FloatArray
    served_tokens: FloatArray
    bought_tokens: FloatArray
    """Those of the served that were bought from another provider."""
    owned_gpus: FloatArray
    reserved_gpus: FloatArray
    training_sunk_hours: FloatArray
    training_rented_hours: FloatArray
    serving_sunk_hours: FloatArray
    serving_spot_hours: FloatArray
    serving_rented_hours: FloatArray
    serving_billed_hours: FloatArray
    """Rented hours paid: those used, and those of starting up and of least terms."""
    research_sunk_hours: FloatArray
    research_spot_hours: FloatArray
    research_rented_hours: FloatArray
    serving_rental: IntArray
    work_rental: IntArray
    batch: BatchUse | None = None
    """The part of serving that could wait; None if nothing could."""

    @property
    def held_hours(self) -> FloatArray:
        """GPU-hours owned or reserved, used or not [kind, day]."""
        return HOURS_PER_DAY * (self.owned_gpus + self.reserved_gpus)

    @property
    def busy_hours(self) -> FloatArray:
        """GPU-hours of those held that were used [kind, day]."""
        return self.training_sunk_hours + self.serving_sunk_hours + self.research_sunk_hours


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
    served = _serve(world, fleet, workload, asked, kinds, left)
    return Dispatch(
        kinds,
        asked,
        served.tokens,
        served.bought_tokens,
        owned,
        reserved,
        HOURS_PER_DAY * training_sunk,
        HOURS_PER_DAY * (training - training_sunk),
        served.sunk_hours,
        served.spot_hours,
        served.rented_hours,
        served.billed_hours,
        *_research(world, workload, kinds, HOURS_PER_DAY * left - served.sunk_hours),
        served.rental,
        workload.work_rental.path(n_days).astype(np.int64),
        served.batch,
    )


@dataclass(frozen=True, slots=True)
class _Served:
    """The serving part of a dispatch, in its words."""

    tokens: FloatArray
    bought_tokens: FloatArray
    sunk_hours: FloatArray
    spot_hours: FloatArray
    rented_hours: FloatArray
    billed_hours: FloatArray
    rental: IntArray
    batch: BatchUse | None


def _serve(
    world: World, fleet: Fleet, workload: Workload, asked: FloatArray, kinds: Sequence[int], left: FloatArray
) -> _Served:
    """Users who wait for an answer first, hour by hour; then, on what is idle, those who do not."""
    scenario, share = world.scenario, world.scenario.demand.batch.share
    held, rental, replica_tokens = _servers(world, fleet, workload, kinds, left)
    spares = scenario.serving.spare_replicas if share < 1.0 else 0
    load = Load.of(scenario.hour_profile, (1.0 - share) * asked, replica_tokens, spares)

    sunk = np.zeros_like(held.gpus)
    capacity = filled = np.zeros(asked.size)
    for rank, (gpus, speed) in enumerate(zip(held.gpus, held.speed, strict=True)):
        before, capacity = filled, capacity + gpus * speed
        filled = load.used(capacity)
        sunk[rank] = HOURS_PER_DAY * per(filled - before, speed)
    sunk_hours = held.by_kind(sunk, len(kinds))
    terms, money = _terms(scenario, rental), RentalMoney.of(world, fleet, rental)
    most = money.within(load, terms, capacity, capacity + rental.capacity)
    used = load.used(most) - filled
    billed = _billed(load, terms, capacity, most, used)
    rented_hours = HOURS_PER_DAY * per(used, rental.speed)
    billed_hours = rented_hours if billed is used else HOURS_PER_DAY * per(billed, rental.speed)
    money = money.less(hours=billed_hours)
    tokens = SECONDS_PER_DAY * load.served(most)
    bought = buyable = nothing = np.zeros(asked.size)
    if scenario.api_fallback is not None:
        limit = scenario.api_fallback.most_tokens_per_day
        buyable = np.full(asked.size, np.inf if limit is None else limit)
        bought = money.buys(np.minimum(SECONDS_PER_DAY * load.refused(most), buyable))
        tokens, buyable, money = tokens + bought, buyable - bought, money.less(tokens=bought)
    if share == 0.0:
        return _Served(tokens, bought, sunk_hours, nothing, rented_hours, billed_hours, rental.kind, None)
    idle_hours = np.maximum(HOURS_PER_DAY * left - sunk_hours, 0.0)
    rentable = SECONDS_PER_DAY * np.maximum(rental.capacity - billed, 0.0)
    batch = serve_batch(world, share * asked, held, idle_hours, rental, rentable, buyable, money)
    return _Served(
        tokens + batch.served_tokens,
        bought + batch.bought_tokens,
        sunk_hours + batch.sunk_hours,
        batch.spot_hours,
        rented_hours + batch.rented_hours,
        billed_hours + batch.rented_hours,
        rental.kind,
        batch,
    )


def _servers(
    world: World, fleet: Fleet, workload: Workload, kinds: Sequence[int], left: FloatArray
) -> tuple[Held, Rental, FloatArray]:
    """What serves the model of each day: GPUs held, GPUs to rent, and the tokens a second of a rented replica."""
    scenario, n_days = world.scenario, world.calendar.horizon_days
    model = workload.model_in_service.path(n_days).astype(np.int64)
    speeds, replicas = _speeds(workload, len(scenario.accelerators))
    kind = workload.serving_rental.path(n_days).astype(np.int64)
    place = model * speeds.shape[1] + kind  # of [model, kind] in a row: so numpy takes them fastest
    on_offer = np.isfinite(world.prices.rent_path(kind, world.calendar.lived_indices))
    rented_speed = np.where(on_offer, speeds.take(place), 0.0)
    rows = np.flatnonzero(left.any(axis=1))
    held_kinds = np.array(kinds, dtype=np.int64)[rows]
    speed = speeds.T[held_kinds[:, np.newaxis], model]
    slowed = _slowed(world, workload, model)
    if slowed is not None:
        rented_speed /= slowed[kind, np.arange(n_days)]
        speed /= slowed[held_kinds]
    limit = scenario.supply.on_demand_gpus[kind, world.calendar.lived_indices]
    with np.errstate(invalid="ignore"):
        rentable = np.where(rented_speed > 0.0, np.minimum(fleet.rental_cap.path(n_days), limit) * rented_speed, 0.0)
    server_kw = np.array([scenario.accelerators[held].server_power_kw for held in held_kinds])
    held = Held.ranked(left, rows, speed, server_kw)
    return held, Rental(kind, rented_speed, rentable), rented_speed * replicas.take(place)


def _terms(scenario: Scenario, rental: Rental) -> list[tuple[BoolArray, PaidHours]]:
    """Where more hours of a rented kind are paid than it works: on which days, and how many."""
    return [
        (rental.kind == kind, scenario.hour_profile.paid(quote.on_demand_minimum_hours, quote.on_demand_start_hours))
        for kind, quote in enumerate(scenario.quotes)
        if quote.pays_for_waiting
    ]


def _billed(
    load: Load, terms: Sequence[tuple[BoolArray, PaidHours]], held: FloatArray, most: FloatArray, used: FloatArray
) -> FloatArray:
    """Tokens a second that the rented hours paid could have served, on average over the day; `used` without terms."""
    billed = used
    for days, hours in terms:
        billed = np.where(days, np.maximum(load.paid(most, hours) - load.paid(held, hours), used), billed)
    return billed


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


def _research(
    world: World, workload: Workload, kinds: Sequence[int], idle_hours: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """GPU-hours of research: idle ones, spot, on-demand."""
    scenario, n_days, days = world.scenario, idle_hours.shape[1], world.calendar.lived_indices
    flop = work_flop_per_gpu_hour(scenario)
    need = workload.research_flop_per_day.path(n_days)
    sunk = np.zeros_like(idle_hours)
    for row, kind in enumerate(kinds):
        if idle_hours[row].any():
            sunk[row] = np.minimum(need / flop[kind], np.maximum(idle_hours[row], 0.0))
            need = np.maximum(need - sunk[row] * flop[kind], 0.0)
    rental = workload.work_rental.path(n_days).astype(np.int64)
    rent = world.prices.rent_path(rental, days)
    rented = np.where(np.isfinite(rent), need / flop[rental], 0.0)
    cheaper = world.prices.spot_path(rental, days) * scenario.market.spot_factor(SpotWork.RESEARCH) < rent
    spot = np.where(cheaper, rented * world.prices.spot_availability[days], 0.0)
    return sunk, spot / (1.0 - scenario.market.spot_lost_share), rented - spot
