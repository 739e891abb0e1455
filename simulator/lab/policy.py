"""A policy: what to train, how to get GPUs, what demand to believe in, when to change course or renew the fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from simulator.lab.altered_forecast import Biased, Certain, PlainKinds, Quantile
from simulator.lab.break_even import BreakEven
from simulator.lab.fixed_plan import FixedPlan
from simulator.lab.forecast import Forecast, Trend
from simulator.lab.given import Given
from simulator.lab.ladder import Ladder
from simulator.lab.portfolio import Portfolio
from simulator.lab.procurement import BuyToForecast, Newsvendor, Procurement, RentOnDemand, ReserveBase
from simulator.lab.recipe import Erdil, FineTune, Fixed, LeverRecipe, Recipe
from simulator.lab.recorded import Recorded
from simulator.lab.refresh import Refresh
from simulator.lab.replan import Replan
from simulator.lab.routes import MAIN_LEVERS, Lever
from simulator.lab.shortage import RentMissing, Shortage, ShrinkRun, WaitForGpus
from simulator.world.inputs import Inputs

_RENT = RentMissing()


@dataclass(frozen=True, slots=True)
class Policy:
    """Three parts, each an object with one question to answer; then whether to change course, what short runs do, and
    whether to renew owned GPUs.

    Write your own in plain Python.

    Examples
    --------
    >>> policy = Policy("overtrain-rent", LeverRecipe(levers={Lever.OVERTRAIN}), RentOnDemand(), Trend())
    >>> policy.recipe.levers
    frozenset({<Lever.OVERTRAIN: 'overtrain'>})
    """

    name: str
    recipe: Recipe
    procurement: Procurement
    forecast: Forecast
    replan: Replan | None = None
    shortage: Shortage = _RENT
    refresh: Refresh | None = None


ProcurementKinds = RentOnDemand | ReserveBase | BuyToForecast | Newsvendor | BreakEven | Ladder | FixedPlan
"""The rules a scenario file may name."""


class PolicyInputs(Inputs):
    """A [[policy]] table of a scenario file."""

    name: str = Field(min_length=1, description="what the policy is called in tables and pictures")
    recipe: Annotated[
        LeverRecipe | FineTune | Fixed | Given | Portfolio | Recorded | Erdil, Field(discriminator="kind")
    ] = LeverRecipe()
    procurement: Annotated[ProcurementKinds, Field(discriminator="kind")] = RentOnDemand()
    forecast: Annotated[PlainKinds | Biased | Quantile | Certain, Field(discriminator="kind")] = Trend()
    replan: Replan | None = None
    shortage: Annotated[RentMissing | WaitForGpus | ShrinkRun, Field(discriminator="kind")] = RentMissing()
    refresh: Refresh | None = None

    def policy(self) -> Policy:
        """The policy this table declares."""
        return Policy(self.name, self.recipe, self.procurement, self.forecast, self.replan, self.shortage, self.refresh)


def default_policies() -> tuple[Policy, ...]:
    """The set compared when a scenario names none; the first is the baseline."""
    rent, chinchilla, every = RentOnDemand(), LeverRecipe(), LeverRecipe(levers=MAIN_LEVERS)

    def one(lever: Lever) -> LeverRecipe:
        return LeverRecipe(levers=frozenset({lever}))

    return (
        Policy("chinchilla-rent", chinchilla, rent, Trend()),
        Policy("overtrain-rent", one(Lever.OVERTRAIN), rent, Trend()),
        Policy("quantize-rent", one(Lever.QUANTIZE), rent, Trend()),
        Policy("test-time-rent", one(Lever.TEST_TIME), rent, Trend()),
        Policy("all-rent", every, rent, Trend()),
        Policy("all-reserve", every, ReserveBase(), Trend()),
        Policy("all-buy", every, BuyToForecast(), Trend()),
    )
