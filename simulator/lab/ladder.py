"""Tenures in layers: an owned base, a leased middle, and a rented top."""

from __future__ import annotations

from math import inf
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from simulator.lab.forecast import Forecast
from simulator.lab.leases import Base, Bound
from simulator.lab.need import Ahead, Span, days_of, needed_by_all_but, planned_hours, sampled, typical_spread
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order
from simulator.lab.procurement import (
    PlanningPrice,
    Procurement,
    arrival_day,
    owned_usd_per_gpu_hour,
    with_spares,
    working_gpus,
)
from simulator.laws.uncertain_load import UncertainLoad
from simulator.laws.units import FloatArray
from simulator.world.inputs import Misplaced, Share
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario


class Ladder(Procurement):
    """Owns what nearly every hour needs, leases what most hours need, and rents what is above.

    The owned base is looked at over the first `look_days` of what is bought, beside what is owned or on order already;
    leases do not count there, for they run out, but nothing is bought while leases that the middle does not need stand
    in for it. The leased middle is looked at over its term, beside all that is committed;
    it is leased again as it ends, as `ReserveBase` does, less what has been bought meanwhile.
    """

    kind: Literal["ladder"] = "ladder"
    owned_quantile: Share = Field(0.05, description="share of hours that may need less than the owned base")
    reserved_quantile: Share = Field(0.3, description="share of hours that may need less than what is owned or leased")
    look_days: Annotated[int, Field(gt=0, le=3650)] = Field(
        365, description="days from delivery over which the owned base must be needed [days]"
    )
    term_days: Annotated[int, Field(gt=0)] = Field(365, description="length of each lease [days]")
    least_gpus: Annotated[int, Field(gt=0)] = Field(8, description="smallest order or lease worth placing [GPUs]")
    least_share: Share = Field(0.05, description="smallest order or lease worth placing / mean need")

    @model_validator(mode="after")
    def _base_below_middle(self) -> Ladder:
        if self.owned_quantile > self.reserved_quantile:
            rule = f"must not be above reserved_quantile, {self.reserved_quantile:g}: the base lies below the middle"
            raise Misplaced("owned_quantile", rule, f"{self.owned_quantile:g}")
        return self

    def check(self, scenario: Scenario) -> None:
        """The term must be on offer."""
        scenario.market.discount(self.term_days)

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Order what the base lacks when it can arrive, and lease what the middle lacks."""
        reason = f"all but {self.reserved_quantile:.0%} of hours over {self.term_days} days need it"
        middle = Base(
            self.reserved_quantile, self.term_days, self.least_gpus, self.review_days, reason, self.least_share
        )
        arrival, hours = arrival_day(observation), planned_hours(observation)
        spans = [Span.of(days_of(arrival, self.review_days)), Span.of(sampled(arrival, self.look_days))]
        soon, later, *aheads = Ahead.over(observation, forecast, [*spans, *middle.spans(observation)])
        bought = self._base(observation, soon, later, hours)
        ordered = []
        if bought is not None:
            life = observation.scenario.ownership.useful_life_days
            ordered.append(
                Bound(bought.accelerator, bought.gpus * observation.fleet.working_share, arrival, arrival + life)
            )
        leases = middle.orders(observation, aheads, hours, ordered)
        return [*([] if bought is None else [bought]), *leases]

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        """Owned base, leased middle and rented top of a day's hours; leased where a kind is not for sale.

        The spread is that over a term from today: later orders will be made on later knowledge.
        """
        rent = super().planning_price(observation, release, forecast)
        top = rent.serving_usd_per_gpu_hour
        spread = typical_spread(observation, forecast, sampled(observation.day, self.term_days))
        load = UncertainLoad(observation.scenario.planned_profile, spread)
        base, held = (needed_by_all_but(quantile, load) for quantile in (self.owned_quantile, self.reserved_quantile))
        lease = top * (1.0 - observation.scenario.market.discount(self.term_days))
        owned = owned_usd_per_gpu_hour(observation)
        owned = np.where(np.isfinite(owned), owned, lease)
        with np.errstate(invalid="ignore"):
            layers = owned * base + lease * (held - base) + top * load.overflow_share(held)
        return PlanningPrice(rent.training_usd_per_gpu_hour, np.where(np.isfinite(top), layers, top))

    def _base(self, observation: Observation, soon: Ahead, later: Ahead, hours: FloatArray) -> Buy | None:
        """What the base lacks as soon as an order can arrive, and over the days it is looked at."""
        owned = owned_usd_per_gpu_hour(observation)
        first = soon.need(observation, owned)
        if first is None:
            return None
        least = max(working_gpus(observation, self.least_gpus), self.least_share * first.mean_gpus)
        short = first.short_of(self.owned_quantile, hours, least)
        if short == -inf:
            return None
        # Leases that the middle does not need stand in for the base.
        leased = float(first.leased.min())
        middle = first.short_of(self.reserved_quantile, hours, at_most=short + leased) - short
        need = later.need(observation, owned)
        if need is None or need.accelerator != first.accelerator:
            return None
        short = need.short_of(self.owned_quantile, hours, least, short - max(leased - middle, 0.0))
        if short < least:
            return None
        reason = f"all but {self.owned_quantile:.0%} of hours from day {arrival_day(observation)} on need it"
        return Buy(need.accelerator, with_spares(observation, short), reason)
