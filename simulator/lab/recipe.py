"""What to train next. Each recipe meets the same target in its own way; `search` finds the cheapest model it allows.

Of demand a recipe uses the mean alone: once a model is chosen its service costs so much a token, so expected cost is
linear in demand, and whatever the spread the best model for the mean is the best there is. The spread does count where
cost is not linear, in GPUs held for a need that may not come: it enters through the procurement's planning price.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field

from simulator.lab.candidates import Candidates, candidates, fine_tuned, tokens_needed
from simulator.lab.forecast import Forecast
from simulator.lab.models import served_model
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice, Plan
from simulator.lab.portfolio import routed
from simulator.lab.procurement import Procurement
from simulator.lab.routes import PRETRAIN, Lever, physical_flop, routes, tuning_routes
from simulator.lab.search import best_attainable, cheapest
from simulator.laws.exchange import best_split
from simulator.laws.precision import PRECISIONS
from simulator.laws.scaling import compute_optimal
from simulator.laws.test_time import MAX_SAMPLES, gain
from simulator.world.inputs import Inputs, NotNegative, Positive
from simulator.world.models import PublishedModel, model_named
from simulator.world.names import NotInCatalogue
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, PrecisionName, Scenario


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
    levers: frozenset[Lever] = Field(
        frozenset(),
        description="any of overtrain, quantize, test_time, fine_tune, data_mixing, distil, prompting, routing",
    )

    def check(self, scenario: Scenario) -> None:
        """Refuse a lever that the scenario does not describe."""
        _described(self.levers, scenario)

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The cheapest model over its run and its planned service life, by any way to train that is allowed."""
        plan = Plan.of(observation, release, forecast, procurement)
        alone = self._best(plan)
        if Lever.ROUTING not in self.levers:
            return alone
        return min(alone, routed(plan, self._best), key=lambda choice: _rank(choice, release))

    def _best(self, plan: Plan) -> Choice:
        """The cheapest single model."""
        scenario, release = plan.scenario, plan.release
        tables = [candidates(scenario, release, route) for route in routes(scenario, release, self.levers)]
        if Lever.FINE_TUNE in self.levers:
            tables += _tuned(scenario, release, self.levers)
        return cheapest(plan, tables, self.levers)


def _tuned(
    scenario: Scenario, release: Release, levers: frozenset[Lever], names: tuple[str, ...] = ()
) -> list[Candidates]:
    """The bases of these names, or all that are out, by every way to train them on; none where none is out."""
    found = (fine_tuned(scenario, release, route, names) for route in tuning_routes(scenario, levers))
    return [table for table in found if table is not None]


def _described(levers: frozenset[Lever], scenario: Scenario) -> None:
    for lever, name, table in (
        (Lever.DATA_MIXING, "data_mixing", scenario.data_mixing),
        (Lever.DISTIL, "distillation", scenario.distillation),
        (Lever.PROMPTING, "prompting", scenario.prompting),
        (Lever.ROUTING, "routing", scenario.routing),
    ):
        if lever in levers and table is None:
            raise Misplaced("recipe.levers", f"need a [{name}] table to use this one", repr(lever.value))


def _rank(choice: Choice, release: Release) -> tuple[bool, bool, float]:
    """Quality before time before cost; a run of 0 days is done within its day."""
    is_late = choice.size.days > max(release.train_days, 1) * (1.0 + _ROUNDING)
    return not choice.quality_met, is_late, choice.planned_usd


class FineTune(Inputs):
    """Trains on from one open-weight model, of the catalogue or a [[model]] table, and never from scratch."""

    kind: Literal["fine_tune"] = "fine_tune"
    base: str = Field(description='the model to start from, such as "Llama 3.1 8B"')
    levers: frozenset[Lever] = Field(frozenset(), description="any of quantize, test_time, prompting")

    def check(self, scenario: Scenario) -> None:
        """Refuse a base that the scenario does not know or that may not be built upon, and levers not described."""
        self.start_of(scenario)
        _described(self.levers, scenario)

    def start_of(self, scenario: Scenario) -> PublishedModel:
        """The model to start from."""
        try:
            base = model_named(self.base, scenario.models)
        except NotInCatalogue as error:
            raise Misplaced("recipe.base", f"is no known model; {error.hint}", repr(self.base)) from None
        if not base.open_weights:
            raise Misplaced("recipe.base", "must have open weights", repr(base.name))
        return base

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The tokens that the base still lacks for the target."""
        base = self.start_of(observation.scenario)
        tables = _tuned(observation.scenario, release, self.levers, (base.name,))
        if not tables:
            rule = f"must be out when {release.name} is decided"
            raise Misplaced("recipe.base", rule, f"{base.name}, {base.release}")
        return cheapest(Plan.of(observation, release, forecast, procurement), tables, self.levers)


class Fixed(Inputs):
    """The same habit for every release: so many times the compute-optimal tokens per parameter, one precision."""

    kind: Literal["fixed"] = "fixed"
    overtraining_factor: Positive = Field(
        1.0, description="tokens per parameter / compute-optimal tokens per parameter"
    )
    precision: PrecisionName = Field("bf16", description="precision it is served in")
    samples: Annotated[float, Field(ge=1, le=MAX_SAMPLES)] = Field(1.0, description="samples per answer (best of n)")

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The size at which the tokens that meet the target stand in that ratio to it."""
        scenario = observation.scenario
        plan = Plan.of(observation, release, forecast, procurement)
        precision = next(kind for kind in PRECISIONS if kind.name == self.precision)
        optimal_size, optimal_tokens = compute_optimal(
            scenario.scaling_fit, physical_flop(scenario, release) / gain(self.samples)
        )
        sizes = np.geomspace(_SMALLEST * float(optimal_size), float(optimal_size) / _SMALLEST, _SIZES)
        per_parameter = tokens_needed(scenario, release, sizes, precision, self.samples) / sizes
        wanted = self.overtraining_factor * float(optimal_tokens / optimal_size)
        met = np.isfinite(per_parameter)
        if not met.any() or not per_parameter[met].min() <= wanted <= per_parameter[met].max():
            return best_attainable(plan, (precision,), np.array([self.samples]))
        size = float(np.exp(np.interp(np.log(wanted), np.log(per_parameter[met][::-1]), np.log(sizes[met][::-1]))))
        tokens = float(tokens_needed(scenario, release, size, precision, self.samples))
        model = served_model(scenario, release.name, size, tokens, precision, self.samples, release)
        return plan.choice(model, float(PRETRAIN.flop(size, tokens)), PRETRAIN, tokens)


class Erdil(Inputs):
    """The abstract trade T^alpha I^beta = const from the compute-optimal model: training gets alpha / (alpha + beta).

    Erdil 2024. Quality is equal by assumption; sizes and tokens stay those of the compute-optimal model, only the
    FLOP of the run and the cost of a token are traded, at most `max_oom` orders of magnitude either way.
    """

    kind: Literal["erdil"] = "erdil"
    alpha: Positive = Field(1.0, description="OOM less inference bought by ...")
    beta: Positive = Field(1.0, description="... so many OOM more training")
    max_oom: NotNegative = Field(3.0, description="how far training can be raised or lowered [OOM]")

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The compute-optimal run and service, traded until dollars stand as alpha to beta."""
        plan = Plan.of(observation, release, forecast, procurement)
        start = cheapest(plan, [candidates(observation.scenario, release)], frozenset())
        if not start.planned_serving_usd:
            return start
        split = best_split(
            start.planned_training_usd,
            start.planned_serving_usd,
            self.alpha,
            self.beta,
            most_oom_more=self.max_oom,
            most_oom_less=self.max_oom,
        )
        more = float(split.training_flop) / start.planned_training_usd
        less = float(split.inference_flop) / start.planned_serving_usd
        model = replace(start.model, gpu_seconds_per_token=start.model.gpu_seconds_per_token * less)
        limit = "trade used up" if split.binding else ""
        tokens = start.model.n_training_tokens
        return plan.choice(model, start.training_flop * more, PRETRAIN, tokens, limit, quality_met=start.quality_met)


_SMALLEST = 0.01
"""Of the compute-optimal size: below it no tokens are enough under any published fit."""
_SIZES = 4001
_ROUNDING = 1e-6
