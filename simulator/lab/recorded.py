"""A run that was really done: its GPU-hours, on its own kind of GPU, at this scenario's prices."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Literal

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Forecast
from simulator.lab.models import RunSize, ServedModel, flop_per_gpu_hour, must_be_served, run_gpu_hours, serving_table
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice, Plan
from simulator.lab.procurement import Procurement
from simulator.laws.precision import BF16
from simulator.laws.scaling import training_flop
from simulator.laws.units import HOURS_PER_DAY
from simulator.world.hardware import Accelerator
from simulator.world.inputs import Inputs
from simulator.world.models import PublishedModel, model_named
from simulator.world.names import NotInCatalogue
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, Scenario
from simulator.world.training_runs import TrainingRun, run_named

NOT_PUBLISHED = "size not published"
"""Of a run whose model cannot be served: the model before serves on, and quality is that model's."""


class Recorded(Inputs):
    """Trains what a published run trained, in as many GPU-hours as it took, for every release.

    Where the size of the model was never published the run is paid for, and the model before serves on.
    """

    kind: Literal["recorded"] = "recorded"
    run: str = Field(description='a run of the catalogue, such as "BLOOM"; see labspend catalog runs')

    def check(self, scenario: Scenario) -> None:
        """Refuse a run that is not known, or whose kind of GPU the scenario does not quote."""
        self.accelerator(scenario)

    def recorded(self) -> TrainingRun:
        """The run of the catalogue."""
        try:
            return run_named(self.run)
        except NotInCatalogue as error:
            raise Misplaced("recipe.run", f"is no known run; {error.hint}", repr(self.run)) from None

    def accelerator(self, scenario: Scenario) -> int:
        """The kind it ran on, as the scenario counts them."""
        run, kinds = self.recorded(), [kind.name for kind in scenario.accelerators]
        if run.accelerator not in kinds:
            rule = f"ran on the {run.accelerator}, which needs a [[market.quote]]; there are {', '.join(kinds)}"
            raise Misplaced("recipe.run", rule, repr(run.model))
        return kinds.index(run.accelerator)

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The recorded hours, on the GPUs recorded or else as many as finish in time."""
        scenario, run, at = observation.scenario, self.recorded(), self.accelerator(observation.scenario)
        plan, kind = Plan.of(observation, release, forecast, procurement).on(at), scenario.accelerators[at]
        model, flop = _model(observation, release, run, kind)
        must_be_served(scenario, model, run.model)
        gpus = run.gpus or ceil(run.gpu_hours / (HOURS_PER_DAY * max(release.train_days, 1)))
        at_our_mfu = run_gpu_hours(scenario, kind, flop, gpus, scenario.training.failures_per_gpu_year)
        read = model.n_training_tokens if run.size_published and run.from_scratch else 0.0
        return Choice(
            model,
            flop,
            at,
            RunSize(gpus, run.gpu_hours),
            plan.tokens_by_day,
            plan.training_usd_per_gpu_hour * run.gpu_hours,
            plan.service_usd(model),
            plan.is_met_by(model),
            "" if run.size_published else NOT_PUBLISHED,
            f"recorded {run.model}",
            float(scenario.training.data_usd(read)),
            plan.log_sd_by_day,
            0.0 if run.from_scratch else 1.0,
            n_total_parameters=_trained(scenario, run).n_parameters if run.size_published else None,
            hours_factor=run.gpu_hours / float(at_our_mfu),
        )


def _model(
    observation: Observation, release: Release, run: TrainingRun, kind: Accelerator
) -> tuple[ServedModel, float]:
    """What is served after the run, and the FLOP it took: 6 N D, or what its hours hold at the scenario's MFU."""
    scenario = observation.scenario
    hours_flop = run.gpu_hours * flop_per_gpu_hour(scenario, kind)
    if not run.size_published:
        if observation.serving is None:
            rule = f"is needed, as the size of {run.model} was not published and nothing else could serve"
            raise Misplaced("opening_model", rule, "absent")
        return replace(observation.serving, name=release.name), hours_flop
    trained = _trained(scenario, run)
    active, total = np.array([trained.n_active_parameters]), np.array([trained.n_parameters])
    table, mix = serving_table(scenario, active, (BF16,), total), scenario.planned_mix(release)
    model = ServedModel(
        release.name,
        trained.n_active_parameters,
        trained.n_training_tokens,
        BF16,
        1.0,
        table.per_user_token(scenario, 1.0, mix)[:, 0, 0],
        table.replica_gpus[:, 0, 0],
        mix=mix,
    )
    if not run.from_scratch:
        return model, hours_flop
    return model, float(training_flop(trained.n_active_parameters, trained.n_training_tokens))


def _trained(scenario: Scenario, run: TrainingRun) -> PublishedModel:
    return model_named(run.model, scenario.models)
