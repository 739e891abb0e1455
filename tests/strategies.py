"""What hypothesis draws: changes of a level, sets of levers, levels of demand; and a lab's view of one afternoon."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from simpy import Environment

from simulator.lab.forecast import Expected
from simulator.lab.lab import Lab
from simulator.lab.models import ServedModel
from simulator.lab.observation import Observation
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import MAIN_LEVERS, Lever
from simulator.laws.units import FloatArray, IntArray
from simulator.world.world import World

Changes = list[tuple[int, float]]
LONGEST_DAYS = 60


def changes() -> st.SearchStrategy[Changes]:
    """Changes of a step function, (day, by how much), in order of day; several may fall on one day."""
    gpus = st.integers(-50, 50).map(float)
    return st.lists(st.tuples(st.integers(0, LONGEST_DAYS), gpus), max_size=30).map(
        lambda found: sorted(found, key=lambda change: change[0])
    )


def lever_sets() -> st.SearchStrategy[frozenset[Lever]]:
    """Any of the eight sets of levers."""
    return st.frozensets(st.sampled_from(sorted(MAIN_LEVERS)))


def tokens_a_day() -> st.SearchStrategy[float]:
    """Levels of demand from a prototype to the largest router, even in logs [tokens a day]."""
    return st.floats(8.0, 13.0).map(lambda log10: 10.0**log10)


# What a lab sees, without living to that day -------------------------------------------------------------------


def observed(world: World, day: int = 0, serving: ServedModel | None = None) -> Observation:
    """The view of a lab that holds no GPUs, on one afternoon."""
    lab = Lab(world, Policy("onlooker", LeverRecipe(), RentOnDemand(), Expected()))
    lab.env = Environment(initial_time=day)
    return replace(lab.observe(), serving=serving)


@dataclass(frozen=True)
class Flat:
    """A forecast of so many tokens every day, held without doubt unless a spread is given."""

    tokens_per_day: float
    spread: float = 0.0

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        return np.full(days.size, self.tokens_per_day), np.full(days.size, self.spread)
