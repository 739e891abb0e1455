"""A planner's own orders, each on its date."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from simulator.lab.forecast import Forecast
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, CapRental, Order, Reserve, Sell
from simulator.lab.procurement import Procurement
from simulator.world.inputs import Inputs, Misplaced, UnknownName
from simulator.world.scenario import Scenario

MOST_ORDERS = 10_000
MOST_GPUS = 100_000_000
"""More than were ever made."""


class PlannedOrder(Inputs):
    """One order of a plan: a row of its CSV."""

    date: datetime.date = Field(description="the day it is placed")
    action: Literal["buy", "reserve", "sell", "cap"] = Field(
        description="cap: most GPUs rented on demand for serving, from that day on"
    )
    accelerator: str = Field("", description="the kind of GPU; none for a cap")
    gpus: Annotated[int, Field(ge=0, le=MOST_GPUS)] = Field(description="how many [GPUs]")
    term_days: Annotated[int, Field(gt=0)] | None = Field(None, description="length of the lease, for reserve [days]")
    reason: str = Field("", max_length=1000, description="why, for orders.csv")

    @model_validator(mode="after")
    def _says_what_it_needs(self) -> PlannedOrder:
        is_cap, is_lease = self.action == "cap", self.action == "reserve"
        if self.gpus == 0 and not is_cap:
            raise Misplaced("gpus", "must be greater than 0; only a cap may be 0", "0")
        if is_cap and self.accelerator:
            raise Misplaced("accelerator", "must be empty for a cap, which is for all kinds", repr(self.accelerator))
        if not is_cap and not self.accelerator:
            raise Misplaced("accelerator", f"must name the kind of GPU to {self.action}", "nothing")
        if is_lease and self.term_days is None:
            raise Misplaced("term_days", "must say the length of the lease", "nothing")
        if not is_lease and self.term_days is not None:
            raise Misplaced("term_days", f"must be empty: a {self.action} has no term", str(self.term_days))
        return self

    def misfit(self, scenario: Scenario) -> Misplaced | None:
        """Why it cannot be placed in a scenario, if it cannot: its date, its kind, its term."""
        if not 0 <= (self.date - scenario.start).days < scenario.horizon_days:
            end = scenario.calendar.date_of(scenario.horizon_days)
            return Misplaced("date", f"must be {scenario.start} or later, and before {end}", str(self.date))
        kinds = tuple(kind.name for kind in scenario.accelerators)
        if self.action != "cap" and self.accelerator not in kinds:
            return UnknownName("accelerator", self.accelerator, kinds)
        terms = [offered.term_days for offered in scenario.market.commitment]
        if self.term_days is not None and self.term_days not in terms:
            on_offer = ", ".join(map(str, terms)) or "none"
            return Misplaced("term_days", f"must be a term on offer: {on_offer}", str(self.term_days))
        return None


class UnfitPlan(Misplaced):
    """Orders of a plan that a scenario does not allow, each with its number in the plan."""

    def __init__(self, found: tuple[tuple[int, Misplaced], ...]) -> None:
        number, first = found[0]
        super().__init__(f"order.{number}.{first.where}", first.rule, first.value)
        self.args = (found,)
        self.found = found


class FixedPlan(Procurement):
    """Places the orders of a plan, each on its date, whatever it sees; what they do not hold is rented up to the cap.

    Its planning price is the rent: what the plan buys or leases is spent whatever model is trained, and an hour more
    or less of use moves what is rented.
    """

    kind: Literal["fixed_plan"] = "fixed_plan"
    csv: str = Field("", description="the file the orders are read from, relative to the scenario file")
    order: Annotated[tuple[PlannedOrder, ...], Field(max_length=MOST_ORDERS)] = Field(
        (), description="the orders, in any order of date (filled from the file)"
    )

    @model_validator(mode="after")
    def _has_orders(self) -> FixedPlan:
        if not (self.order or self.csv):
            raise ValueError("needs a csv, or orders written out")
        return self

    def misfits(self, scenario: Scenario) -> Iterator[tuple[int, Misplaced]]:
        """The orders that cannot be placed in a scenario, by number."""
        for number, order in enumerate(self.order):
            misfit = order.misfit(scenario)
            if misfit is not None:
                yield number, misfit

    def check(self, scenario: Scenario) -> None:
        """Every order must be on a day lived, for a kind and a term on offer."""
        found = tuple(self.misfits(scenario))
        if found:
            raise UnfitPlan(found)

    def order_days(self, scenario: Scenario) -> tuple[int, ...]:
        """The days of the plan."""
        return tuple((order.date - scenario.start).days for order in self.order)

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """What the plan says for today."""
        scenario = observation.scenario
        names = [kind.name for kind in scenario.accelerators]
        today = scenario.calendar.date_of(observation.day)
        return [_placed(order, names) for order in self._by_date.get(today, ())]

    @cached_property
    def _by_date(self) -> dict[datetime.date, list[PlannedOrder]]:
        found: dict[datetime.date, list[PlannedOrder]] = {}
        for order in self.order:
            found.setdefault(order.date, []).append(order)
        return found


def _placed(order: PlannedOrder, names: list[str]) -> Order:
    reason = order.reason or "as planned"
    match order.action:
        case "cap":
            return CapRental(order.gpus)
        case "buy":
            return Buy(names.index(order.accelerator), order.gpus, reason)
        case "sell":
            return Sell(names.index(order.accelerator), order.gpus, reason)
        case "reserve":
            return Reserve(names.index(order.accelerator), order.gpus, order.term_days or 0, reason)
