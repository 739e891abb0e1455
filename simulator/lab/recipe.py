"""What to train next: the cheapest model, over training and planned service, that meets the target."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import Field

from simulator.lab.candidates import SAMPLES, Candidates, candidates, fine_tuned, reached_flop
from simulator.lab.forecast import Forecast
from simulator.lab.models import clusters, flop_per_gpu_hour, served_model
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice, Plan
from simulator.lab.procurement import Procurement
from simulator.lab.routes import PRETRAIN, Lever, routes
from simulator.laws.scaling import training_flop
from simulator.laws.units import HOURS_PER_DAY, FloatArray
from simulator.world.inputs import Inputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced


class Recipe(Protocol):
    """Chooses the model of a release."""

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The model to train for this release, given what is seen today."""
        ...


class _Place(NamedTuple):
    """The cheapest place of a table, and what it costs."""

    usd: float
    table: Candidates
    precision: int
    samples: int
    column: int


class LeverRecipe(Inputs):
    """Searches the levers it is allowed; with none it is Chinchilla: the least training FLOP for the target."""

    kind: Literal["levers"] = "levers"
    levers: frozenset[Lever] = Field(
        frozenset(), description="any of overtrain, quantize, test_time, fine_tune, data_mixing, distil"
    )
    bases: tuple[str, ...] = Field(
        (), description="open-weight models fine_tune may start from; default: all that are out"
    )

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The cheapest model over its run and its planned service life."""
        plan = Plan.of(observation, release, forecast, procurement)
        places = [self._cheapest(plan, table) for table in self._tables(plan)]
        best = min(places, key=lambda place: place.usd)
        return self._polished(plan, best) if np.isfinite(best.usd) else self._nearest(plan)

    def _tables(self, plan: Plan) -> list[Candidates]:
        """One table for each way to train that the levers open."""
        scenario, release = plan.scenario, plan.release
        tables = [candidates(scenario, release, route) for route in routes(scenario, release, self.levers)]
        bases = fine_tuned(scenario, release, self.bases) if Lever.FINE_TUNE in self.levers else None
        return tables if bases is None else [*tables, bases]

    def _cheapest(self, plan: Plan, table: Candidates) -> _Place:
        precisions, samples = self._allowed()
        flop = table.training_flop[precisions, samples]
        total = plan.training_usd(flop, table.gpu_hours_per_flop[:, precisions, samples])
        total += plan.data_usd(table.route, table.n_tokens_read[precisions, samples])
        total += plan.serving_usd(table.gpu_seconds_per_token[:, precisions, samples])
        wanted = self._wanted(table, total, flop)
        best = wanted.argmin(axis=2)
        costs = np.take_along_axis(total, best[..., None], axis=2) if table.bases else _at_bottom(wanted, total, best)
        kind, draws = divmod(int(costs.argmin()), best.shape[1])
        column = int(best[kind, draws])
        return _Place(float(costs.min()), table, kind, draws, column)

    def _wanted(self, table: Candidates, total: FloatArray, flop: FloatArray) -> FloatArray:
        """What is least at the best size: all cost, or without overtraining the run's FLOP, whatever serving costs."""
        if Lever.OVERTRAIN in self.levers or table.bases:
            return total
        return np.where(np.isfinite(total), flop, np.inf)

    def _polished(self, plan: Plan, place: _Place) -> Choice:
        """The best model between the neighbours of a column: a finer row, and the parabola at its bottom."""
        table, column = place.table, place.column
        row = table.around(place.precision, place.samples, column)
        wanted = self._wanted(table, plan.row_usd(row), row.training_flop)
        best = int(wanted.argmin())
        model = table.model(row, best, _bottom(wanted, best))
        if table.bases:
            flop, read = float(row.training_flop[0]), float(row.n_tokens_read[0])
            return plan.choice(model, flop, table.route, read, base=table.bases[column].name)
        flop = float(table.route.flop(model.n_parameters, model.n_training_tokens))
        return plan.choice(model, flop, table.route, model.n_training_tokens, self._limit(plan, place))

    def _limit(self, plan: Plan, place: _Place) -> str:
        """What keeps the next smaller size from being trained."""
        smaller = (place.precision, place.samples, max(place.column - 1, 0))
        if not np.isfinite(place.table.training_flop[smaller]):
            return "data"
        return "" if np.isfinite(place.table.gpu_hours_per_flop[(plan.accelerator, *smaller)]) else "time"

    def _nearest(self, plan: Plan) -> Choice:
        """Nothing meets the target: the best that all the data and time there are can give."""
        scenario, release = plan.scenario, plan.release
        precisions, samples = self._allowed()
        most_tokens = scenario.training.max_epochs * scenario.training.unique_tokens
        most_flop = self._most_flop(plan)
        servable = [
            model
            for precision in scenario.precisions[precisions]
            for draws in SAMPLES[samples][[0, -1]]
            for size in _spread(candidates(scenario, release).sizes)
            if (
                model := served_model(
                    scenario,
                    release.name,
                    float(size),
                    min(most_tokens, most_flop / (6.0 * float(size))),
                    precision,
                    float(draws),
                )
            ).tokens_per_gpu_second.any()
        ]
        if not servable:
            kinds = ", ".join(accelerator.name for accelerator in scenario.accelerators)
            rule = f"must offer a GPU that can serve a model for {release.name} within the time per token"
            raise Misplaced("market.quote", rule, kinds)
        best = max(servable, key=lambda model: reached_flop(scenario, release, model))
        flop = float(training_flop(best.n_parameters, best.n_training_tokens))
        return plan.choice(best, flop, PRETRAIN, best.n_training_tokens, "target out of reach", quality_met=False)

    def _most_flop(self, plan: Plan) -> float:
        """FLOP of the largest run that the fastest cluster finishes in time."""
        training = plan.scenario.training
        useful = clusters(training, training.failures_per_gpu_year).useful_gpus[-1]
        per_hour = flop_per_gpu_hour(plan.scenario, plan.scenario.accelerators[plan.accelerator])
        return float(useful) * per_hour * HOURS_PER_DAY * max(plan.release.train_days, 1)

    def _allowed(self) -> tuple[slice, slice]:
        """The rows of the table that the levers open: precisions, and samples per answer."""
        precisions = slice(None) if Lever.QUANTIZE in self.levers else slice(1)
        return precisions, slice(None) if Lever.TEST_TIME in self.levers else slice(1)


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
