"""What to train next: the cheapest model, over training and planned service, that meets the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
from pydantic import Field

from simulator.lab.candidates import SAMPLES, Candidates, Row, candidates, planned_gpu_hours, reached_flop
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

_FINE: FloatArray = np.linspace(-1.0, 1.0, 17, dtype=np.float64)
"""Columns of the table around the best, searched once more."""


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
    planned_tokens_by_day: FloatArray
    """Tokens it was expected to serve on each day of its planned life."""
    planned_training_usd: float
    planned_serving_usd: float
    quality_met: bool
    limit: str
    """What ended the trade before cost did: "data", "target out of reach", or nothing."""

    @property
    def planned_tokens(self) -> float:
        """Tokens it was expected to serve in its planned life [tokens]."""
        return float(self.planned_tokens_by_day.sum())


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
        training = plan.training_usd_per_gpu_hour * table.training_gpu_hours[plan.accelerator, precisions, samples]
        total = training + plan.serving_usd(table.gpu_seconds_per_token[:, precisions, samples])
        # Without overtraining the size is the compute-optimal one, whatever serving will cost.
        wanted = total if Lever.OVERTRAIN in self.levers else np.where(np.isfinite(total), flop, np.inf)
        best = np.argmin(wanted, axis=2)
        costs = np.take_along_axis(total, best[..., None], axis=2)[..., 0]
        kind, draws = (int(i) for i in np.unravel_index(np.argmin(costs), costs.shape))
        if not np.isfinite(costs[kind, draws]):
            return None
        column = int(best[kind, draws])
        ended = column > 0 and not np.isfinite(flop[kind, draws, column - 1])
        model = table.model(kind, draws, self._polished(plan, table, kind, draws, column))
        return plan.choice(model, quality_met=True, limit="data" if ended else "")

    def _polished(self, plan: Plan, table: Candidates, precision: int, samples: int, column: int) -> float:
        """The best size between the neighbours of a column, found on a finer row and the parabola at its bottom."""
        columns = np.clip(column + _FINE, 0.0, table.sizes.size - 1.0)
        row = table.row(precision, samples, columns)
        wanted = row.training_flop
        if Lever.OVERTRAIN in self.levers:
            wanted = plan.training_usd(row) + plan.serving_usd(row.gpu_seconds_per_token)
        best = int(np.argmin(wanted))
        return float(columns[best] + (_FINE[1] - _FINE[0]) * _bottom(wanted, best))

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
    tokens_by_day: FloatArray
    discounted_tokens: float
    accelerator: int
    training_usd_per_gpu_hour: float

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
            tokens,
            float(
                np.dot(
                    tokens, discount_factors((days - observation.day).astype(np.float64), scenario.discount_per_year)
                )
            ),
            cheapest,
            float(prices.training_usd_per_gpu_hour[cheapest]),
        )

    def training_usd(self, row: Row) -> FloatArray:
        """Cost of the runs of a row on the chosen kind of GPU [USD]."""
        kind = self.scenario.accelerators[self.accelerator]
        hours = planned_gpu_hours(self.scenario, self.release, kind, row.training_flop, row.n_parameters)
        return self.training_usd_per_gpu_hour * hours

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
            self.tokens_by_day,
            self.training_usd_per_gpu_hour * size.gpu_hours,
            float(np.min(model.gpu_seconds_per_token * usd_per_second)) * self.discounted_tokens,
            quality_met,
            limit,
        )


def _bottom(costs: FloatArray, best: int) -> float:
    """Where the parabola through the lowest cost and its neighbours has its bottom, in steps from it."""
    if not 0 < best < costs.size - 1:
        return 0.0
    before, here, after = costs[best - 1 : best + 2]
    bend = before - 2.0 * here + after
    return float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) if np.isfinite(bend) and bend > 0.0 else 0.0
