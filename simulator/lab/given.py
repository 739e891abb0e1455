"""Train one given model as it stands, whether or not theory would: what Gopher's choice would have cost us."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from simulator.lab.forecast import Forecast
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice, Plan
from simulator.lab.procurement import Procurement
from simulator.world.inputs import Inputs
from simulator.world.models import PublishedModel, model_named
from simulator.world.names import NotInCatalogue
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, PrecisionName, Scenario


class Given(Inputs):
    """Trains one dense model of the catalogue, or of a [[model]] table, from scratch for every release."""

    kind: Literal["given"] = "given"
    model: str = Field(description='whose parameters and training tokens are taken, such as "Gopher"')
    precision: PrecisionName = Field("bf16", description="precision it is served in")
    train_on: str | None = Field(None, description="kind of GPU it is trained on; default: the cheapest FLOP")

    def check(self, scenario: Scenario) -> None:
        """Refuse a model or a kind of GPU that the scenario does not know, and a mixture of experts."""
        self.model_of(scenario)
        self._kind_of(scenario)

    def model_of(self, scenario: Scenario) -> PublishedModel:
        """The model to train."""
        try:
            found = model_named(self.model, scenario.models)
        except NotInCatalogue as error:
            raise Misplaced("recipe.model", f"is no known model; {error.hint}", repr(self.model)) from None
        if found.n_active_parameters != found.n_parameters:
            raise Misplaced("recipe.model", "must be dense, not a mixture of experts", repr(found.name))
        return found

    def _kind_of(self, scenario: Scenario) -> int | None:
        """The kind of GPU to train on, by its place among the quotes."""
        if self.train_on is None:
            return None
        names = [kind.name for kind in scenario.accelerators]
        if self.train_on not in names:
            raise Misplaced("recipe.train_on", f"must be on offer: {', '.join(names)}", repr(self.train_on))
        return names.index(self.train_on)

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """The model as it stands; whether it is good enough for the target is told, and changes nothing."""
        scenario, given = observation.scenario, self.model_of(observation.scenario)
        plan = Plan.of(observation, release, forecast, procurement)
        kind = self._kind_of(scenario)
        if kind is not None:
            plan = plan.on(kind)
        return plan.as_told(given.n_parameters, given.n_training_tokens, self.precision, given.name)
