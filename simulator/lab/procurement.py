"""When to buy, reserve and rent: each rule reviews what it sees, orders, and says what a used GPU-hour will cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from math import floor, isfinite
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Forecast
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, CapRental, Order, Reserve
from simulator.laws.finance import annuity
from simulator.laws.units import (
    DAYS_PER_MONTH,
    DAYS_PER_WEEK,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    SECONDS_PER_DAY,
    FloatArray,
    IntArray,
)
from simulator.world.inputs import Inputs, NotNegative, Positive, Share
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario
from simulator.world.world import expected_rent

_WEEK: IntArray = np.arange(DAYS_PER_WEEK)
_LEASE_SAMPLE_DAYS = 25
"""A lease's term is looked at every 25 days, on all weekdays in turn: enough for levels that move over months."""


@dataclass(frozen=True, slots=True)
class PlanningPrice:
    """Expected USD per *used* GPU-hour by accelerator: for the run, and over the service life."""

    training_usd_per_gpu_hour: FloatArray
    serving_usd_per_gpu_hour: FloatArray


class Procurement(Inputs, ABC):
    """A rule for ordering GPUs. Override `review`, and `planning_price` where GPUs are not simply rented."""

    review_days: Annotated[int, Field(gt=0)] = Field(30, description="days between reviews")

    @abstractmethod
    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """What to order today."""

    def check(self, scenario: Scenario) -> None:
        """Refuse a scenario this rule cannot work in, before anything is simulated."""

    def planning_price(self, observation: Observation, release: Release) -> PlanningPrice:
        """By default everything is rented: today's quote with the stated drift."""
        return _rent(observation, release)


class RentOnDemand(Procurement):
    """Owns nothing: every GPU-hour is rented as it is used, at most `cap_gpus` for serving."""

    kind: Literal["rent_on_demand"] = "rent_on_demand"
    cap_gpus: NotNegative | None = Field(None, description="most GPUs rented for serving; default: no limit")

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Nothing to order, only the limit to set."""
        if self.cap_gpus is None or observation.fleet.rental_cap_gpus == self.cap_gpus:
            return []
        return [CapRental(self.cap_gpus)]


class ReserveBase(Procurement):
    """Leases the GPUs that all but the quietest hours of the term will need, and rents the rest."""

    kind: Literal["reserve_base"] = "reserve_base"
    quantile: Share = Field(
        0.2, description="share of the term's hours that may need less than the base (best: 1 - lease/rent price)"
    )
    term_days: Annotated[int, Field(gt=0)] = Field(365, description="length of each lease [days]")
    least_gpus: Annotated[int, Field(gt=0)] = Field(8, description="smallest lease worth signing [GPUs]")

    def check(self, scenario: Scenario) -> None:
        """The term must be on offer."""
        scenario.market.discount(self.term_days)

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Lease what the base lacks over the coming term."""
        discount = observation.scenario.market.discount(self.term_days)
        lease_price = observation.on_demand_usd_per_gpu_hour * (1.0 - discount)
        days = observation.day + np.arange(0, self.term_days, _LEASE_SAMPLE_DAYS)
        need = _Need.on(observation, forecast, days, lease_price)
        if need is None:
            return []
        short_by_hour = need.gpus[:, None] * _profile(observation) - need.committed[:, None]
        rank = int(self.quantile * (short_by_hour.size - 1))
        short = _whole(np.partition(short_by_hour.reshape(-1), rank)[rank])
        if short < self.least_gpus:
            return []
        reason = f"base of {self.quantile:.0%} of hours over {self.term_days} days"
        return [Reserve(need.accelerator, short, self.term_days, reason)]

    def planning_price(self, observation: Observation, release: Release) -> PlanningPrice:
        """The base at the lease price, paid used or not, and rent above it."""
        rent = _rent(observation, release)
        discount = observation.scenario.market.discount(self.term_days)
        base = _hour_quantile(observation.scenario, self.quantile)
        sunk = rent.serving_usd_per_gpu_hour * (1.0 - discount)
        return PlanningPrice(
            rent.training_usd_per_gpu_hour, _blend(observation, sunk, rent.serving_usd_per_gpu_hour, base)
        )


class BuyToForecast(Procurement):
    """Buys what the forecast says the mean need will be when the order arrives, and rents peaks and training."""

    kind: Literal["buy_to_forecast"] = "buy_to_forecast"
    headroom: Positive = Field(1.0, description="GPUs owned / mean need forecast for the week of delivery")
    least_gpus: Annotated[int, Field(gt=0)] = Field(8, description="smallest order worth placing [GPUs]")

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Order what will be short when it can arrive."""
        arrival = observation.day + round(observation.scenario.market.lead_days)
        need = _Need.on(observation, forecast, arrival + _WEEK, owned_usd_per_gpu_hour(observation))
        if need is None:
            return []
        short = _whole((self.headroom * need.gpus - need.committed).sum() / _WEEK.size)
        if short < self.least_gpus:
            return []
        return [Buy(need.accelerator, short, f"{self.headroom:g} x the need forecast for day {arrival}")]

    def planning_price(self, observation: Observation, release: Release) -> PlanningPrice:
        """Owned GPUs at their all-in cost over the hours they are used, and rent above them."""
        rent = _rent(observation, release)
        owned = owned_usd_per_gpu_hour(observation)
        serving = _blend(observation, owned, rent.serving_usd_per_gpu_hour, self.headroom)
        cheaper = np.minimum(serving, rent.serving_usd_per_gpu_hour)
        return PlanningPrice(rent.training_usd_per_gpu_hour, cheaper)


class _Need(NamedTuple):
    """GPUs of one kind needed to serve on each of some days, and what is committed already, in GPUs of that kind."""

    accelerator: int
    gpus: FloatArray
    committed: FloatArray

    @staticmethod
    def on(observation: Observation, forecast: Forecast, days: IntArray, price: FloatArray) -> _Need | None:
        """For the model planned to serve in the middle of these days, on the kind that serves it cheapest.

        None if nothing is served then, or no kind that can is on offer at a price.
        """
        model = observation.model_on(int(days[days.size // 2]))
        if model is None:
            return None
        seconds = model.gpu_seconds_per_token
        usd_per_token = price * seconds
        accelerator = int(usd_per_token.argmin())
        if not isfinite(usd_per_token[accelerator]):
            return None
        tokens = forecast.ahead(observation, days)[0]
        committed = observation.fleet.committed_as(seconds[accelerator] / seconds, days)
        return _Need(accelerator, tokens * (seconds[accelerator] / SECONDS_PER_DAY), committed)


def owned_usd_per_gpu_hour(observation: Observation) -> FloatArray:
    """All-in cost of owning a GPU for its useful life per hour held: capital, power, hosting, maintenance.

    Capital is an annuity at the scenario's discount rate on what is not got back by the final sale.
    """
    cost = _ownership(observation.scenario)
    per_kw = cost.kwh_per_rated_kw_hour * observation.electricity_usd_per_kwh + cost.hosting_usd_per_kw_hour
    return observation.purchase_usd_per_gpu * cost.capital_per_hour + cost.rated_kw * per_kw


@dataclass(frozen=True, slots=True)
class _Ownership:
    """What a price and a tariff must be multiplied by to give the cost of an owned hour."""

    capital_per_hour: float
    kwh_per_rated_kw_hour: float
    hosting_usd_per_kw_hour: float
    rated_kw: FloatArray


@lru_cache(maxsize=64)
def _ownership(scenario: Scenario) -> _Ownership:
    own, rate = scenario.ownership, scenario.discount_per_year
    years = own.useful_life_years
    sold = own.server_overhead * (1.0 - own.resale_spread) * 10.0 ** (-own.value_fall_oom_per_year * years)
    lost = own.all_in_factor - sold / (1.0 + rate) ** years
    per_year = lost * float(annuity(rate, years)) + own.all_in_factor * own.maintenance_per_year
    hosting = own.hosting_usd_per_kw_month / (DAYS_PER_MONTH * HOURS_PER_DAY)
    rated_kw = np.array([accelerator.server_power_kw for accelerator in scenario.accelerators])
    return _Ownership(per_year / HOURS_PER_YEAR, own.average_draw * own.pue, hosting, rated_kw)


def _rent(observation: Observation, release: Release) -> PlanningPrice:
    scenario, today = observation.scenario, observation.on_demand_usd_per_gpu_hour
    wait = release.due_day - observation.day
    return PlanningPrice(
        today * expected_rent(scenario, 0, release.train_days),
        today * expected_rent(scenario, wait, release.life_days),
    )


def _blend(observation: Observation, sunk: FloatArray, rent: FloatArray, base: float) -> FloatArray:
    """USD per used GPU-hour where `base` x the day's mean need is held and the hours above it are rented."""
    above = float(observation.scenario.hour_profile.overflow_share(base))
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(sunk), sunk * base + rent * above, rent)


def _whole(gpus: float) -> int:
    """Whole GPUs; the last bit of a sum does not cost one."""
    return floor(gpus + 1e-6)


@lru_cache(maxsize=64)
def _hour_quantile(scenario: Scenario, quantile: float) -> float:
    return float(np.quantile(scenario.hour_profile.factors, quantile))


def _profile(observation: Observation) -> FloatArray:
    return np.asarray(observation.scenario.hour_profile.factors)
