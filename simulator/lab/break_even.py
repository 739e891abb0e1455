"""Buy what is used enough to beat renting, now and over its life: the break-even utilisation, GPU by GPU."""

from __future__ import annotations

from math import ceil, isfinite
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Forecast
from simulator.lab.need import Ahead, Need, Span, days_of, planned_hours, sampled
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order
from simulator.lab.procurement import PlanningPrice, Procurement, arrival_day, owned_usd_per_gpu_hour, with_spares
from simulator.laws.finance import break_even_utilization
from simulator.laws.uncertain_load import UncertainLoad
from simulator.laws.units import FloatArray
from simulator.world.inputs import Positive
from simulator.world.roadmap import Release

_LAST_BIT = 1e-6
"""Rounding does not cost a GPU."""


class BreakEven(Procurement):
    """Buys every GPU that is expected to be used enough to be cheaper owned, at once and for life, and rents the rest.

    Enough is the break-even utilisation, owned cost / rented cost of an hour, times `safety`. It must be reached over
    a sample of days from delivery to the end of the useful life, and over the days until the next review's order
    could arrive: what is used enough only later can be bought later. Both at the mean forecast, beside all that is
    committed. `Newsvendor` asks it of the coming days alone, and weighs the forecast's spread: it buys more where need
    is about to fall, and where it is uncertain.
    """

    kind: Literal["break_even"] = "break_even"
    safety: Positive = Field(1.0, description="times the break-even utilisation that must be expected")
    least_gpus: Annotated[int, Field(gt=0)] = Field(8, description="smallest order worth placing [GPUs]")

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Order the GPUs beyond those committed that break even."""
        arrival, life = arrival_day(observation), observation.scenario.ownership.useful_life_days
        owned = owned_usd_per_gpu_hour(observation)
        soon, always = Span.of(days_of(arrival, self.review_days)), Span.of(sampled(arrival, life))
        first, in_all = (ahead.need(observation, owned) for ahead in Ahead.over(observation, forecast, (soon, always)))
        if first is None or in_all is None:
            return []
        first, in_all = first.beside(first.leased), in_all.beside(in_all.leased)
        kind = first.accelerator
        rent = float((observation.rents_ahead(arrival, life) * first.hours_for_one).min())
        least = self.safety * _break_even(float(owned[kind]), rent)
        hours = planned_hours(observation)
        enough = min(used_enough(_short(need, hours) * need.hours_for_one[kind], least) for need in (first, in_all))
        gpus = with_spares(observation, enough)
        if gpus < self.least_gpus:
            return []
        return [Buy(kind, gpus, f"used for {least:.0%} of its life or more, and from day {arrival} on")]

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        """The hours of a day that break even at the all-in cost of owned GPUs, used or not, and rent above them."""
        rent, owned = super().planning_price(observation, release, forecast), owned_usd_per_gpu_hour(observation)
        later = observation.rents_ahead(release.due_day, observation.scenario.ownership.useful_life_days)
        load = UncertainLoad(observation.scenario.planned_profile, 0.0)  # at the mean forecast
        price = rent.serving_usd_per_gpu_hour.copy()
        for kind in np.flatnonzero(np.isfinite(owned) & np.isfinite(price)):
            least = self.safety * _break_even(float(owned[kind]), float(later[kind]))
            if 0.0 < least < 1.0:
                base = load.capacity(least)
                price[kind] = min(price[kind], owned[kind] * base + price[kind] * load.overflow_share(base))
        return PlanningPrice(rent.training_usd_per_gpu_hour, price)


def used_enough(short: FloatArray, least: float) -> int:
    """Of GPUs added one by one, those that are in use for at least a part `least` of the hours.

    The k-th is in use as far as the hour's `short` exceeds k - 1, up to one GPU: 12.5 GPUs use the thirteenth half.

    >>> used_enough(np.array([5.0, 5.0, 15.0, 15.0]), 0.6), used_enough(np.array([5.0, 5.0, 15.0, 15.0]), 0.5)
    (5, 15)
    """
    if least > 1.0:
        return 0
    rank = min(max(ceil(least * short.size - _LAST_BIT), 1), short.size)
    # So many hours need at least this; whole GPUs of it are in use in all of them, one more perhaps in part.
    full = int(max(np.partition(short, short.size - rank)[short.size - rank] + _LAST_BIT, 0.0))
    more = float(np.clip(short - full, 0.0, 1.0).mean())
    return full + (more > 0.0 and more >= least - _LAST_BIT)


def _short(need: Need, hours: FloatArray) -> FloatArray:
    """GPUs lacking in every hour of the days looked at, at the mean forecast."""
    return (need.gpus[:, np.newaxis] * hours - need.committed[:, np.newaxis]).reshape(-1)


def _break_even(owned_usd: float, rented_usd: float) -> float:
    """Share of hours above which owning is cheaper; any use is enough where nothing can be rented."""
    return float(break_even_utilization(owned_usd, rented_usd)) if isfinite(rented_usd) else 0.0
