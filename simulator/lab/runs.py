"""Training runs: what is to be trained, on which GPUs it can begin, and the record of each run and release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

import numpy as np

from simulator.lab.books import TrainingRun
from simulator.lab.candidates import reached_flop
from simulator.lab.fleet import Fleet
from simulator.lab.limits import Limits
from simulator.lab.models import RunSize, fewest_gpus, run_gpu_hours, run_size, work_flop_per_gpu_hour
from simulator.lab.plan import Choice
from simulator.lab.shortage import Cluster, Shortage
from simulator.laws.units import HOURS_PER_DAY
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario
from simulator.world.world import World

_FRACTIONS = 2.0**32
_LAST_BIT = 1e-6
"""Days by which rounding may push a run past midnight without making it a day late."""


class Assignment(NamedTuple):
    """A run that was decided on."""

    release: Release
    choice: Choice
    slip_days: int = 0
    """By how much its release will come later than planned, which nobody knows yet [days]."""
    is_rerun: bool = False
    """Whether another model of the release was in service already: then nobody waits for it."""


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """A release as it was planned and came to be."""

    scenario: Scenario
    release: Release
    choice: Choice
    deploy_day: int
    is_rerun: bool = False

    @property
    def reached_flop(self) -> float:
        """Equivalent training FLOP of the model on the decision day [FLOP]."""
        return reached_flop(self.scenario, self.release, self.choice.model)

    @property
    def days_late(self) -> int:
        """Days between due and in service."""
        return 0 if self.is_rerun else max(self.deploy_day - self.release.due_day, 0)


class Runs:
    """The runs of one lab, and what each release came to."""

    def __init__(self, world: World, fleet: Fleet, limits: Limits) -> None:
        self.begun: list[TrainingRun] = []
        self.releases: list[ReleaseRecord] = []
        self._world, self._scenario, self._fleet, self._limits = world, world.scenario, fleet, limits

    def on_free_gpus(self, assigned: Assignment, shortage: Shortage, waited_days: int) -> Assignment | None:
        """The run on the GPUs it may begin with today; None if it must wait for more."""
        scenario, choice = self._scenario, assigned.choice
        free = np.array([self._free(kind) for kind in range(len(scenario.accelerators))])
        kind = shortage.accelerator(choice.accelerator, free * work_flop_per_gpu_hour(scenario))
        accelerator, n_parameters = scenario.accelerators[kind], choice.n_held_parameters
        size = choice.size
        if kind != choice.accelerator:
            flop, days = choice.flop_at_our_mfu, assigned.release.train_days
            size = run_size(scenario, accelerator, flop, n_parameters, days, choice.method)
        # A run that was really done fitted on its GPUs, whatever the scenario says of sharding.
        fewest = ceil(min(float(fewest_gpus(scenario, accelerator, n_parameters, choice.method)), size.gpus))
        gpus = shortage.begin(Cluster(size.gpus, fewest, float(free[kind])), waited_days)
        if gpus is None:
            return None
        if gpus != size.gpus:
            failures = scenario.training.failures_per_gpu_year
            hours = run_gpu_hours(scenario, accelerator, choice.flop_at_our_mfu, gpus, failures)
            size = RunSize(gpus, float(hours))
        return assigned._replace(choice=replace(choice, accelerator=kind, size=size))

    def begin(self, assigned: Assignment, day: int) -> TrainingRun:
        """A run starts; from now on its data and rented GPUs come before new orders."""
        run = self._planned(assigned, day)
        self.begun.append(run)
        self.releases.append(
            ReleaseRecord(self._scenario, assigned.release, assigned.choice, run.deploy_day, assigned.is_rerun)
        )
        if self._limits.bound_money and day < self._world.calendar.horizon_days:
            rented = max(run.gpus - max(self._free(run.accelerator), 0.0), 0.0)
            rent = float(self._world.prices.rents_on(self._world.calendar.index(day))[run.accelerator])
            self._limits.owe_by_day(day, run.days, rented * rent * HOURS_PER_DAY)
            self._limits.owe_by_day(day, 1.0, run.data_usd)
            planned = run.deploy_day - assigned.slip_days
            rollout_usd = self._scenario.deployment.usd_per_release + assigned.choice.rollout_usd
            self._limits.owe_by_day(planned, 1.0, rollout_usd)
        return run

    def _free(self, kind: int) -> float:
        return self._fleet.working(kind) - self._fleet.training[kind].value

    def _planned(self, assigned: Assignment, day: int) -> TrainingRun:
        """The run as the world's luck with failures lets it go, on the GPUs it begins with."""
        release, choice = assigned.release, assigned.choice
        kind, gpus = self._scenario.accelerators[choice.accelerator], float(choice.size.gpus)
        failures = self._world.failures_per_gpu_year
        hours = run_gpu_hours(self._scenario, kind, choice.flop_at_our_mfu, gpus, failures)
        # Binary fractions of a day, so that GPUs taken and given back add up to exactly nothing.
        days = round(float(hours) / HOURS_PER_DAY / gpus * _FRACTIONS) / _FRACTIONS
        ready = day + (ceil(days - _LAST_BIT) if release.train_days else 0)
        read_usd = self._scenario.training.data_usd(choice.model.n_training_tokens)
        return TrainingRun(
            release=release.number,
            accelerator=choice.accelerator,
            gpus=gpus,
            first_day=day,
            days=days,
            data_usd=float(read_usd if choice.data_usd is None else choice.data_usd),
            due_day=release.due_day,
            deploy_day=max(ready, release.due_day) + assigned.slip_days,
            planned_tokens_by_day=choice.planned_tokens_by_day,
        )
