"""A forecast taken otherwise: one quantile of it, its mean alone, or wrong by a factor.

They may be put inside each other in one order, which loses nothing: `Seasonal` in `Biased` in `Quantile` or `Certain`.
"""

from __future__ import annotations

from abc import abstractmethod
from statistics import NormalDist
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Belief, Expected, Forecast, PerfectForesight, Trend
from simulator.lab.observation import Observation
from simulator.lab.seasonal import LearnedKinds, Seasonal
from simulator.laws.units import FloatArray, IntArray
from simulator.world.inputs import Positive
from simulator.world.world import World

PlainKinds = LearnedKinds | Expected | PerfectForesight | Seasonal

_NORMAL = NormalDist()


class _Altered(Belief):
    """What another forecast says, changed."""

    base: Belief

    def in_world(self, world: World) -> Forecast:
        """With its base as it is held there."""
        return self.model_copy(update={"base": self.base.in_world(world)})

    @property
    def foresees_rents(self) -> bool:
        """If its base does."""
        return self.base.foresees_rents

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        """The base's answer, changed."""
        return self._changed(*self.base.ahead(observation, days))

    @abstractmethod
    def _changed(self, mean: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Another mean and spread in place of these."""


class Biased(_Altered):
    """Wrong by a factor, and as sure of it as before: "a tenfold wrong forecast" is factor 10 or 0.1."""

    kind: Literal["biased"] = "biased"
    base: Annotated[PlainKinds, Field(discriminator="kind")] = Field(Trend(), description="the forecast it bends")
    factor: Positive = Field(description="mean told / mean of the base")

    def _changed(self, mean: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        return mean * self.factor, spread


class Quantile(_Altered):
    """Plans on one quantile of another forecast as if it were sure: 0.9 is a cautious plan, 0.5 the median."""

    kind: Literal["quantile"] = "quantile"
    base: Annotated[PlainKinds | Biased, Field(discriminator="kind")] = Field(
        Trend(), description="the forecast it takes a quantile of"
    )
    at: Annotated[float, Field(gt=0, lt=1)] = Field(description="chance that demand of a day stays below the plan")

    def _changed(self, mean: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        quantile: FloatArray = mean * np.exp(spread * (_NORMAL.inv_cdf(self.at) - spread / 2.0))
        return quantile, np.zeros(spread.size)


class Certain(_Altered):
    """The mean of another forecast, believed without doubt: what deciding on the mean alone costs, and a spread saves.

    The difference is the value of the stochastic solution (Birge & Louveaux 2011, Introduction to Stochastic
    Programming, chapter 4).
    """

    kind: Literal["certain"] = "certain"
    base: Annotated[PlainKinds | Biased, Field(discriminator="kind")] = Field(
        Trend(), description="the forecast whose mean it takes"
    )

    def _changed(self, mean: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        return mean, np.zeros(spread.size)
