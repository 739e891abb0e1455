"""What to train next: the cheapest model, over training and planned service, that meets the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import Field

from simulator.lab.candidates import SAMPLES, Candidates, candidates, fine_row, reached_flop
from simulator.lab.forecast import Forecast
from simulator.lab.models import RunSize, ServedModel, run_size, served_model, work_flop_per_gpu_hour
from simulator.lab.observation import Observation
from simulator.lab.procurement import PlanningPrice, Procurement
from simulator.laws.finance import discount_factors
from simulator.laws.scaling import training_flop
from simulator.laws.units import SECONDS_PER_HOUR, FloatArray
from simulator.world.inputs import Inputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, Scenario


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
        total = plan.training_usd(flop, table.flop_per_gpu_hour[:, precisions, samples])
        total += plan.serving_usd(table.gpu_seconds_per_token[:, precisions, samples])
        wanted = self._wanted(total, flop)
        best = wanted.argmin(axis=2)
        costs = _at_bottom(wanted, total, best)
        kind, draws = divmod(int(costs.argmin()), best.shape[1])
        column = int(best[kind, draws])
        if not np.isfinite(total[kind, draws, column]):
            return None
        ended = column > 0 and not np.isfinite(flop[kind, draws, column - 1])
        model = self._polished(plan, table, kind, draws, column)
        return plan.choice(model, quality_met=True, limit="data" if ended else "")

    def _wanted(self, total: FloatArray, flop: FloatArray) -> FloatArray:
        """What is least at the best size: all cost, or without overtraining the run's FLOP, whatever serving costs."""
        return total if Lever.OVERTRAIN in self.levers else np.where(np.isfinite(total), flop, np.inf)

    def _polished(self, plan: Plan, table: Candidates, precision: int, samples: int, column: int) -> ServedModel:
        """The best model between the neighbours of a column: a finer row, and the parabola at its bottom."""
        row = fine_row(plan.scenario, plan.release, precision, samples, column)
        total = plan.training_usd(row.training_flop, row.flop_per_gpu_hour)
        wanted = self._wanted(total + plan.serving_usd(row.gpu_seconds_per_token), row.training_flop)
        best = int(wanted.argmin())
        return table.model(row, best, _bottom(wanted, best))

    def _nearest(self, plan: Plan) -> Choice:
        """Nothing meets the target: the best that all the data there is can give."""
        scenario, release = plan.scenario, plan.release
        precisions, samples = self._allowed()
        most_tokens = scenario.training.max_epochs * scenario.training.unique_tokens
        servable = [
            model
            for precision in scenario.precisions[precisions]
            for draws in SAMPLES[samples][[0, -1]]
            for size in _spread(candidates(scenario, release).sizes)
            if (
                model := served_model(scenario, release.name, float(size), most_tokens, precision, float(draws))
            ).tokens_per_gpu_second.any()
        ]
        if not servable:
            kinds = ", ".join(accelerator.name for accelerator in scenario.accelerators)
            rule = f"must offer a GPU that can serve a model for {release.name} within the time per token"
            raise Misplaced("market.quote", rule, kinds)
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
        if not np.isfinite(usd_per_flop[cheapest]):
            rule = f"must offer a GPU to train {release.name} on from {scenario.calendar.date_of(observation.day)}"
            raise Misplaced("market.quote", rule, ", ".join(kind.name for kind in scenario.accelerators))
        return Plan(
            scenario,
            release,
            prices,
            tokens,
            float(tokens.dot(_discounts(scenario.discount_per_year, release.due_day - observation.day, tokens.size))),
            cheapest,
            float(prices.training_usd_per_gpu_hour[cheapest]),
        )

    def training_usd(self, training_flop: FloatArray, flop_per_gpu_hour: FloatArray) -> FloatArray:
        """Cost of runs on the chosen kind of GPU; `flop_per_gpu_hour` is by accelerator too [USD]."""
        return training_flop * (self.training_usd_per_gpu_hour / flop_per_gpu_hour[self.accelerator])

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


@lru_cache(maxsize=256)
def _discounts(rate_per_year: float, first_day: int, n_days: int) -> FloatArray:
    return discount_factors(np.arange(first_day, first_day + n_days, dtype=np.float64), rate_per_year)


def _spread(sizes: FloatArray) -> FloatArray:
    """Some sizes over the whole range, its ends among them."""
    return sizes[np.linspace(0, sizes.size - 1, 24).astype(np.int64)]


def _bottom(wanted: FloatArray, best: int) -> float:
    """Where the parabola through the lowest value and its neighbours has its bottom, in steps from it."""
    return float(_shift(*wanted[best - 1 : best + 2])) if 0 < best < wanted.size - 1 else 0.0


def _at_bottom(wanted: FloatArray, total: FloatArray, best: npt.NDArray[np.int64]) -> FloatArray:
    """Total cost at the size where what is wanted is least, between the columns, for every kind and sample count."""
    wanted, total = wanted.reshape(best.size, -1), total.reshape(best.size, -1)
    rows, column = np.arange(best.size), best.reshape(-1)
    if best.size == 1:
        return total[rows, column]
    inside = np.clip(column, 1, wanted.shape[1] - 2)
    before, here, after = (total[rows, inside + step] for step in (-1, 0, 1))
    with np.errstate(invalid="ignore"):
        shift = _shift(*(wanted[rows, inside + step] for step in (-1, 0, 1)))
        between = here + shift * ((after - before) / 2.0 + shift * ((before + after) / 2.0 - here))
    return np.where(np.isfinite(between) & (inside == column), between, total[rows, column])


def _shift(before: FloatArray, here: FloatArray, after: FloatArray) -> FloatArray:
    """The bottom of parabolas through three neighbours, in steps from the middle; 0 where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        bend = before - 2.0 * here + after
        shift = np.clip(0.5 * (before - after) / bend, -0.5, 0.5)
    return np.where(np.isfinite(bend) & (bend > 0.0), shift, 0.0)
