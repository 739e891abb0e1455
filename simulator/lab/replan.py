"""The option to change course: when demand leaves the band a model was planned in, what then pays is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from math import exp, floor
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from simulator.lab.candidates import candidates, reached_flop
from simulator.lab.forecast import Forecast
from simulator.lab.holding import holding_usd
from simulator.lab.models import ServedModel, requantized
from simulator.lab.observation import Observation, PlannedModel
from simulator.lab.orders import Sell
from simulator.lab.plan import Choice, Plan
from simulator.lab.procurement import BuyToForecast, Procurement
from simulator.lab.recipe import LeverRecipe, Recipe
from simulator.lab.routes import Lever, routes
from simulator.lab.search import cheapest
from simulator.laws.units import (
    DAYS_PER_WEEK,
    SECONDS_PER_DAY,
    FloatArray,
)
from simulator.world.inputs import Inputs, OpenShare, Positive, Share
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, Scenario

_SAMPLE_DAYS = 25
"""What stays idle is looked at every 25 days, on all weekdays in turn."""
_ROUNDING = 1e-6
"""The last bit of a sum does not cost a GPU."""


class Action(StrEnum):
    """What may be done when demand is not what a model was planned for."""

    REQUANTIZE = "requantize"
    DISTIL = "distil"
    RETRAIN = "retrain"
    RESELL = "resell"


class Band(NamedTuple):
    """Last week's demand, and between what it was expected to be [tokens a day]."""

    seen: float
    low: float
    high: float

    @property
    def is_left(self) -> bool:
        """Whether demand is outside."""
        return not self.low <= self.seen <= self.high


@dataclass(frozen=True, slots=True)
class Service:
    """What was planned with the model in service: for which release, and from its due day on, which demand."""

    release: Release
    tokens_by_day: FloatArray
    log_sd_by_day: FloatArray

    @staticmethod
    def of(release: Release, choice: Choice) -> Service:
        """As it was when the model was chosen."""
        tokens, log_sd = choice.planned_tokens_by_day, choice.planned_log_sd_by_day
        return Service(release, tokens, np.zeros(tokens.size) if log_sd is None else log_sd)

    @staticmethod
    def opening(observation: Observation, forecast: Forecast) -> Service | None:
        """The opening model owes the quality it has, until the first release is due; None if that is at once."""
        scenario, model = observation.scenario, observation.serving
        roadmap = scenario.roadmap
        life = scenario.releases[0].due_day if scenario.releases else roadmap.service_days
        if model is None or life <= 0:
            return None
        owed = Release(-1, model.name, 0, roadmap.train_days, life, 0.0, 1.0)
        owed = replace(owed, target_flop=reached_flop(scenario, owed, model))
        return Service(owed, *forecast.ahead(observation, np.arange(life)))

    def last_week(self, day: int) -> slice | None:
        """The last seven days within the plan; None if it does not cover them all."""
        end = day - self.release.due_day
        covered = end >= DAYS_PER_WEEK and end <= self.tokens_by_day.size
        return slice(end - DAYS_PER_WEEK, end) if covered else None


@dataclass(frozen=True, slots=True)
class Step:
    """One change of course, what it is planned to save over the rest of the service, and in words what is done."""

    action: Action
    saving_usd: float
    done: str


@dataclass(frozen=True, slots=True)
class Requantize(Step):
    """Serve the same weights in another precision from tomorrow."""

    model: ServedModel


@dataclass(frozen=True, slots=True)
class Rerun(Step):
    """Train another model for the same release, from today."""

    release: Release
    choice: Choice


@dataclass(frozen=True, slots=True)
class Resell(Step):
    """Sell GPUs that would stand idle."""

    order: Sell


@dataclass(frozen=True, slots=True)
class ReplanRecord:
    """One change of course: a row of replans.csv."""

    day: int
    release: str
    band: Band
    step: Step


class Replan(Inputs):
    """Compares last week's demand with the plan at every review; outside its band, does what saves enough."""

    actions: frozenset[Action] = Field(
        frozenset({Action.REQUANTIZE, Action.RETRAIN, Action.RESELL}),
        description="any of requantize, distil, retrain, resell",
    )
    band_sd: Positive = Field(1.645, description="half the band, in sds of the log as forecast; 1.645 holds 90 %")
    least_change: OpenShare = Field(0.2, description="part by which demand must differ from the plan in any case")
    least_saving: Share = Field(0.02, description="part of the cost of service still planned that a step must save")
    resell_after_days: Annotated[int, Field(gt=0, le=3650)] = Field(
        180, description="days that owned GPUs must be expected to stay idle to be sold [days]"
    )

    def check(self, scenario: Scenario) -> None:
        """Refuse to distil where the scenario does not say what that is worth, before anything is simulated."""
        if Action.DISTIL in self.actions and scenario.distillation is None:
            raise Misplaced("distillation", 'must be described for the replan action "distil" to be used', "absent")

    def band(self, observation: Observation, service: Service) -> Band | None:
        """Where last week's demand was expected; None before a week of the plan is metered, or after its end."""
        week = service.last_week(observation.day)
        if week is None or observation.meter.end < DAYS_PER_WEEK:
            return None
        seen = observation.meter.mean(observation.meter.end - DAYS_PER_WEEK, observation.meter.end)
        mean, sd = float(service.tokens_by_day[week].mean()), float(service.log_sd_by_day[week].mean())
        # Of a lognormal with this mean; never narrower than the least change worth noticing.
        low, high = (mean * exp(side * self.band_sd * sd - sd * sd / 2.0) for side in (-1.0, 1.0))
        return Band(seen, min(low, mean * (1.0 - self.least_change)), max(high, mean * (1.0 + self.least_change)))

    def steps(
        self,
        observation: Observation,
        service: Service,
        progress: float,
        forecast: Forecast,
        recipe: Recipe,
        procurement: Procurement,
    ) -> Iterator[Step]:
        """What pays today; `progress` is that of algorithms by now. Each step counts on those before it."""
        release = service.release
        planned_end = release.due_day + release.life_days
        end = observation.coming[0].deploy_day if observation.coming else planned_end
        rest = replace(release, due_day=observation.day + 1, train_days=0, life_days=end - observation.day - 1)
        if observation.serving is None or rest.life_days <= 0:
            return
        plan = Plan.of(observation, rest, forecast, procurement)
        enough = self.least_saving * plan.service_usd(observation.serving)
        if Action.REQUANTIZE in self.actions:
            other = _requantized(plan, release, observation.serving)
            saving = plan.service_usd(observation.serving) - plan.service_usd(other)
            if saving > 0.0 and saving >= enough:
                said = f"{observation.serving.precision.name} to {other.precision.name}"
                yield Requantize(Action.REQUANTIZE, saving, said, other)
                observation = replace(observation, serving=other)
        due = observation.day + release.train_days
        again = replace(release, due_day=due, life_days=end - due, progress=progress)
        if again.life_days > 0:
            rerun = self._rerun(observation, again, forecast, recipe, procurement)
            if rerun is not None and rerun.saving_usd > 0.0 and rerun.saving_usd >= enough:
                yield rerun
                observation = replace(observation, coming=(PlannedModel(rerun.choice.model, due), *observation.coming))
        if Action.RESELL in self.actions:
            headroom = procurement.headroom if isinstance(procurement, BuyToForecast) else 1.0
            for sale in self._sales(observation, forecast, headroom):
                if sale.saving_usd > 0.0 and sale.saving_usd >= enough:
                    yield sale

    def _rerun(
        self, observation: Observation, again: Release, forecast: Forecast, recipe: Recipe, procurement: Procurement
    ) -> Rerun | None:
        """The cheapest of the runs allowed, with what it saves over serving on; None if none meets the target."""
        plan = Plan.of(observation, again, forecast, procurement)
        chosen: list[tuple[Action, Choice]] = []
        if Action.RETRAIN in self.actions:
            chosen.append((Action.RETRAIN, recipe.choose(observation, again, forecast, procurement)))
        if Action.DISTIL in self.actions:
            allowed = recipe.levers if isinstance(recipe, LeverRecipe) else frozenset()
            levers = allowed - {Lever.FINE_TUNE} | {Lever.OVERTRAIN, Lever.DISTIL}
            distilled = [route for route in routes(plan.scenario, again, levers) if route.teacher_flop]
            tables = [candidates(plan.scenario, again, route) for route in distilled]
            chosen.append((Action.DISTIL, cheapest(plan, tables, levers)))
        met = [(action, choice) for action, choice in chosen if choice.quality_met]
        if not met or observation.serving is None:
            return None
        action, choice = min(met, key=lambda each: each[1].planned_usd)
        costs = choice.planned_usd + plan.scenario.deployment.usd_per_release
        new, saving = choice.model, plan.service_usd(observation.serving) - costs
        said = f"{new.n_parameters:.3g} parameters, {new.n_training_tokens:.3g} tokens, {new.precision.name}"
        return Rerun(action, saving, said, again, choice)

    def _sales(self, observation: Observation, forecast: Forecast, headroom: float) -> Iterator[Resell]:
        """GPUs beyond the need on every day of the coming months, the least FLOP per kWh first."""
        scenario = observation.scenario
        days = observation.day + np.arange(0, self.resell_after_days, _SAMPLE_DAYS)
        models = [observation.model_on(int(day)) for day in days]
        nothing = np.zeros(len(scenario.accelerators))
        # Tokens a GPU serves a day, and tokens to spare [accelerator, day], [day].
        speed = SECONDS_PER_DAY * np.array([nothing if m is None else m.tokens_per_gpu_second for m in models]).T
        spare = (observation.fleet.committed(days) * speed).sum(axis=0)
        spare -= headroom * forecast.ahead(observation, days)[0]
        for kind in sorted(range(nothing.size), key=lambda kind: scenario.accelerators[kind].flop_per_kwh):
            idle = np.divide(spare, speed[kind], out=np.full(days.size, np.inf), where=speed[kind] > 0.0).min()
            # Those that train are not idle.
            held = observation.fleet.owned_gpus(kind) - observation.fleet.training_gpus(kind)
            tranches = observation.fleet.oldest(kind, max(floor(min(idle, held) + _ROUNDING), 0), observation.day)
            gpus = sum(tranche.gpus for tranche in tranches)
            if gpus:
                saving = sum(holding_usd(observation, tranche, self.resell_after_days) for tranche in tranches)
                reason = f"expected to stay idle for {self.resell_after_days} days"
                said = f"{gpus:,} {scenario.accelerators[kind].name} sold"
                yield Resell(Action.RESELL, saving, said, Sell(kind, gpus, reason))
                spare = spare - gpus * speed[kind]


def _requantized(plan: Plan, release: Release, model: ServedModel) -> ServedModel:
    """The same model in the precision that is cheapest to serve and as good as it must be, or as it is."""
    owed = min(release.target_flop, reached_flop(plan.scenario, release, model))
    others = [requantized(plan.scenario, model, kind) for kind in plan.scenario.precisions if kind != model.precision]
    good = [other for other in others if reached_flop(plan.scenario, release, other) >= owed]
    return min([model, *good], key=plan.service_usd)
