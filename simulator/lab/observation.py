"""What a policy may see: the metered past, today's quotes, the fleet, and declared inputs; never drawn values."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.lab.fleet import Holdings
from simulator.lab.models import ServedModel
from simulator.laws.units import FloatArray
from simulator.world.scenario import Scenario
from simulator.world.world import MeterReading


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """A model being trained: what it will be and when it goes into service."""

    model: ServedModel
    deploy_day: int


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
