"""What a policy may see: the metered past, today's quotes, the fleet, and declared inputs; never drawn values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from simulator.lab.fleet import Holdings
from simulator.lab.models import ServedModel
from simulator.laws.units import FloatArray
from simulator.world.scenario import Scenario
from simulator.world.world import MeterReading, World, expected_rent


class ForeseenRents:
    """The rents of one world, known before they come: only a forecast that was asked to foresee prices has them."""

    __slots__ = ("_world",)

    def __init__(self, world: World) -> None:
        self._world = world

    def mean(self, first_day: int, n_days: int) -> FloatArray:
        """Mean rent by accelerator over a span of days; inf where not on offer throughout [USD/GPU-hour].

        The last day the world has stands for all later ones; a span of no days is its first day.
        """
        calendar, prices = self._world.calendar, self._world.prices
        days = np.minimum(calendar.index(first_day) + np.arange(max(n_days, 1)), calendar.n_days - 1)
        kinds = np.arange(prices.outlook.available_day.size)
        mean: FloatArray = prices.rent_path(kinds[:, None], days).mean(axis=1)
        return mean


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """A model being trained: what it will be and when it goes into service."""

    model: ServedModel
    deploy_day: int

    def seen_on(self, day: int) -> PlannedModel:
        """As it is expected on a day: one that still waits for GPUs when it is due comes tomorrow at the earliest."""
        return self if self.deploy_day > day else replace(self, deploy_day=day + 1)


@dataclass(frozen=True, slots=True)
class Observation:
    """The lab's view on one afternoon.

    Attributes
    ----------
    day
        Today, in days since the start.
    scenario
        The declared inputs.
    meter
        Tokens asked on every day up to yesterday, as sums over any window; its last index is `meter.end - 1`.
    on_demand_usd_per_gpu_hour, purchase_usd_per_gpu
        Today's quotes by accelerator; inf where not on offer.
    fleet
        What is held and owed.
    serving
        The model in service, None before the first.
    coming
        The models in training, in order of deployment.
    foreseen_rents
        What rents will be, None for all who cannot know.
    """

    day: int
    scenario: Scenario
    meter: MeterReading
    on_demand_usd_per_gpu_hour: FloatArray
    purchase_usd_per_gpu: FloatArray
    electricity_usd_per_kwh: float
    fleet: Holdings
    serving: ServedModel | None
    coming: tuple[PlannedModel, ...]
    foreseen_rents: ForeseenRents | None = None

    def rents_ahead(self, first_day: int, n_days: int) -> FloatArray:
        """Mean on-demand rent by accelerator to expect over a span of days; inf where not on offer [USD/GPU-hour].

        Today's quote with the scenario's stated drift, unless rents are foreseen.
        """
        if self.foreseen_rents is not None:
            return self.foreseen_rents.mean(first_day, n_days)
        return self.on_demand_usd_per_gpu_hour * expected_rent(self.scenario, first_day - self.day, n_days)

    @property
    def past_tokens(self) -> FloatArray:
        """Tokens asked on every metered day, oldest first: a copy; index -1 is yesterday [tokens]."""
        return self.meter.tokens()

    def model_on(self, day: int) -> ServedModel | None:
        """The model planned to serve on a later day."""
        model = self.serving
        for planned in self.coming:
            if planned.deploy_day <= day:
                model = planned.model
        return model if model is not None or not self.coming else self.coming[0].model
