"""What to train next: the cheapest model, over training and planned service, that meets the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
from pydantic import Field

from simulator.lab.candidates import SAMPLES, Candidates, candidates, reached_flop
from simulator.lab.forecast import Forecast
from simulator.lab.models import RunSize, ServedModel, run_size, served_model, work_flop_per_gpu_hour
from simulator.lab.observation import Observation
from simulator.lab.procurement import PlanningPrice, Procurement
from simulator.laws.finance import discount_factors
from simulator.laws.scaling import training_flop
from simulator.laws.units import SECONDS_PER_HOUR, FloatArray
from simulator.world.inputs import Inputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario


class Lever(StrEnum):
    """What a recipe may use beside compute-optimal training."""

    OVERTRAIN = "overtrain"
    QUANTIZE = "quantize"
    TEST_TIME = "test_time"


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to train, the run that makes it, and what was planned with it."""

    model: ServedModel
    training_flop: float
    accelerator: int
    size: RunSize
    planned_tokens: float
    planned_training_usd: float
    planned_serving_usd: float
    quality_met: bool
    limit: str
    """What ended the trade before cost did: "data", "target out of reach", or nothing."""


class Recipe(Protocol):
    """Chooses the model of a release."""

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The model to train for this release, given what is seen today."""
        ...


class LeverRecipe(Inputs):
    """Searches the levers it is allowed; with none it is Chinchilla: the least training FLOP for the target."""

    kind: Literal["levers"] = "levers"
    levers: frozenset[Lever] = Field(frozenset(), description="any of overtrain, quantize, test_time")

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The cheapest model over its run and its planned service life."""
        plan = Plan.of(observation, release, forecast, procurement)
        table = candidates(observation.scenario, release)
        return self._cheapest(plan, table) or self._nearest(plan)

    def _cheapest(self, plan: Plan, table: Candidates) -> Choice | None:
        precisions, samples = self._allowed()
        flop = table.training_flop[precisions, samples]
        total = plan.training_usd_per_flop * flop + plan.serving_usd(
            table.gpu_seconds_per_token[:, precisions, samples]
        )
        # Without overtraining the size is the compute-optimal one, whatever serving will cost.
        wanted = total if Lever.OVERTRAIN in self.levers else np.where(np.isfinite(total), flop, np.inf)
        best = np.argmin(wanted, axis=2)
        costs = np.take_along_axis(total, best[..., None], axis=2)[..., 0]
        kind, draws = (int(i) for i in np.unravel_index(np.argmin(costs), costs.shape))
        if not np.isfinite(costs[kind, draws]):
            return None
        column = int(best[kind, draws])
        ended = column > 0 and not np.isfinite(flop[kind, draws, column - 1])
        model = table.model(kind, draws, _polished(wanted[kind, draws], column))
        return plan.choice(model, quality_met=True, limit="data" if ended else "")

    def _nearest(self, plan: Plan) -> Choice:
        """Nothing meets the target: the best that all the data there is can give."""
        scenario, release = plan.scenario, plan.release
        precisions, samples = self._allowed()
        most_tokens = scenario.training.max_epochs * scenario.training.unique_tokens
        servable = [
            model
            for precision in scenario.precisions[precisions]
            for draws in SAMPLES[samples][[0, -1]]
            for size in candidates(scenario, release).sizes[::32]
            if (
                model := served_model(scenario, release.name, float(size), most_tokens, precision, float(draws))
            ).tokens_per_gpu_second.any()
        ]
        if not servable:
            raise ValueError(f"no GPU on offer can serve any model for {release.name} within the time per token")
        best = max(servable, key=lambda model: reached_flop(scenario, release, model))
        return plan.choice(best, quality_met=False, limit="target out of reach")

    def _allowed(self) -> tuple[slice, slice]:
        """The rows of the table that the levers open: precisions, and samples per answer."""
        precisions = slice(None) if Lever.QUANTIZE in self.levers else slice(1)
        return precisions, slice(None) if Lever.TEST_TIME in self.levers else slice(1)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a decision weighs: one release, planning prices, and the tokens it is expected to serve."""

    scenario: Scenario
    release: Release
    prices: PlanningPrice
    planned_tokens: float
    discounted_tokens: float
    accelerator: int
    training_usd_per_flop: float

    @staticmethod
    def of(observation: Observation, release: Release, forecast: Forecast, procurement: Procurement) -> Plan:
        """Today's plan for a release; its run goes to the kind of GPU with the cheapest FLOP."""
        scenario = observation.scenario
        days = release.due_day + np.arange(release.life_days)
        tokens = forecast.ahead(observation, days)[0]
        prices = procurement.planning_price(observation, release)
        usd_per_flop = prices.training_usd_per_gpu_hour / work_flop_per_gpu_hour(scenario)
        cheapest = int(np.argmin(usd_per_flop))
        return Plan(
            scenario,
            release,
            prices,
            float(tokens.sum()),
            float(np.dot(tokens, discount_factors(days - float(observation.day), scenario.discount_per_year))),
            cheapest,
            float(usd_per_flop[cheapest]),
        )

    def serving_usd(self, gpu_seconds_per_token: FloatArray) -> FloatArray:
        """Discounted cost of the planned service, on the cheapest kind of GPU for each model [USD]."""
        usd_per_second = self.prices.serving_usd_per_gpu_hour / SECONDS_PER_HOUR
        cost = np.full(gpu_seconds_per_token.shape[1:], np.inf)
        for seconds, usd in zip(gpu_seconds_per_token, usd_per_second, strict=True):
            if np.isfinite(usd):
                np.minimum(cost, seconds * (usd * self.discounted_tokens), out=cost)
        return cost

    def choice(self, model: ServedModel, quality_met: bool, limit: str) -> Choice:
        """The model as it would be trained and served."""
        flop = float(training_flop(model.n_parameters, model.n_training_tokens))
        usd_per_second = self.prices.serving_usd_per_gpu_hour / SECONDS_PER_HOUR
        size = run_size(
            self.scenario,
            self.scenario.accelerators[self.accelerator],
            flop,
            model.n_parameters,
            self.release.train_days,
        )
        return Choice(
            model,
            flop,
            self.accelerator,
            size,
            self.planned_tokens,
            float(self.prices.training_usd_per_gpu_hour[self.accelerator]) * size.gpu_hours,
            float(np.min(model.gpu_seconds_per_token * usd_per_second)) * self.discounted_tokens,
            quality_met,
            limit,
        )


def _polished(costs: FloatArray, column: int) -> float:
    """The lowest point of the parabola through the best of a row and its neighbours, as a fractional column."""
    if not 0 < column < costs.size - 1:
        return float(column)
    before, here, after = costs[column - 1 : column + 2]
    bend = before - 2.0 * here + after
    if not np.isfinite(bend) or bend <= 0.0:
        return float(column)
    return column + float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5))
