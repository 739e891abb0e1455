"""Why a recipe chose what it chose: the same decision with every set of levers, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from simulator.lab.forecast import Forecast
from simulator.lab.lab import Lab
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement
from simulator.lab.recipe import LeverRecipe, Recipe
from simulator.lab.routes import MAIN_LEVERS, Lever
from simulator.world.roadmap import Release
from simulator.world.world import World


@dataclass(frozen=True, slots=True)
class Option:
    """What the recipe would have chosen with these levers, at the same prices and the same forecast."""

    levers: frozenset[Lever]
    choice: Choice


@dataclass(frozen=True, slots=True)
class Explanation:
    """One decision: what was chosen, and what else there was, cheapest first."""

    policy: str
    day: int
    release: Release
    chosen: Choice
    options: tuple[Option, ...]


def explain(world: World, policy: Policy, day: int = 0) -> Explanation | None:
    """The first release a policy decides on `day` or later in this world; None if it decides none."""
    witness = _Witness(policy, day)
    Lab(world, replace(policy, recipe=witness)).live()
    return witness.seen


class _Witness:
    """The policy's own recipe, watched at one decision."""

    def __init__(self, policy: Policy, day: int) -> None:
        self._policy, self._day = policy, day
        self.seen: Explanation | None = None

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """Choose as the policy does, and note the alternatives."""
        chosen = self._policy.recipe.choose(observation, release, forecast, procurement)
        if self.seen is None and observation.day >= self._day:
            options = [
                Option(levers, LeverRecipe(levers=levers).choose(observation, release, forecast, procurement))
                for levers in _sets(self._policy.recipe)
            ]
            options.sort(key=lambda option: (not option.choice.quality_met, option.choice.planned_usd))
            self.seen = Explanation(self._policy.name, observation.day, release, chosen, tuple(options))
        return chosen


def _sets(recipe: Recipe) -> Sequence[frozenset[Lever]]:
    """Every subset of the levers a recipe is allowed; of the usual ones for a recipe that has no search."""
    levers = sorted(recipe.levers if isinstance(recipe, LeverRecipe) else MAIN_LEVERS)
    return [frozenset(chosen) for n in range(len(levers) + 1) for chosen in combinations(levers, n)]
