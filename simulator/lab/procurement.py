"""When to buy, reserve and rent: each rule reviews what it sees, orders, and says what a used GPU-hour will cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Forecast
from simulator.lab.leases import Base
from simulator.lab.need import (
    FINEST,
    ROUNDING,
    Ahead,
    Need,
    days_of,
    needed_by_all_but,
    planned_hours,
    sampled,
    typical_spread,
    whole_gpus,
)
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, CapRental, Order
from simulator.laws.finance import annuity
from simulator.laws.uncertain_load import UncertainLoad
from simulator.laws.units import (
    DAYS_PER_MONTH,
    DAYS_PER_WEEK,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    FloatArray,
    IntArray,
)
from simulator.world.inputs import Inputs, NotNegative, Positive, Share
from simulator.world.ownership import OwnershipInputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario

_WEEK: IntArray = np.arange(DAYS_PER_WEEK)


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

    def order_days(self, scenario: Scenario) -> tuple[int, ...]:
        """Days beside the steady pace on which to be asked what to order; by default none."""
        return ()

    def check(self, scenario: Scenario) -> None:
        """Refuse a scenario this rule cannot work in, before anything is simulated."""

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        """By default everything is rented: today's quote with the stated drift, whatever the forecast."""
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
    """Leases the GPUs that all but the quietest hours of the term will need, and rents the rest.

    What of a lease is still needed when it ends is signed for again in time, and counted on until then (see
    `simulator.lab.leases`). Hours are counted over the days of the term and over the errors the forecast may make:
    the wider its spread, the more hours may be quiet, and the smaller the base.
    """

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
        """Lease what the base lacks over the coming term, and again what is needed of leases that end."""
        reason = f"base of {self.quantile:.0%} of hours over {self.term_days} days"
        base = Base(self.quantile, self.term_days, self.least_gpus, self.review_days, reason)
        ahead = Ahead.over(observation, forecast, base.spans(observation))
        return [*base.orders(observation, ahead, planned_hours(observation))]

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        """The base at the lease price, paid used or not, and rent above it.

        The spread is that over a term from today: later leases will be signed on later knowledge.
        """
        rent = _rent(observation, release)
        discount = observation.scenario.market.discount(self.term_days)
        spread = typical_spread(observation, forecast, sampled(observation.day, self.term_days))
        load = UncertainLoad(observation.scenario.planned_profile, spread)
        base = needed_by_all_but(self.quantile, load)
        sunk = rent.serving_usd_per_gpu_hour * (1.0 - discount)
        serving = _blend(sunk, rent.serving_usd_per_gpu_hour, base, load.overflow_share(base))
        return PlanningPrice(rent.training_usd_per_gpu_hour, serving)


class BuyToForecast(Procurement):
    """Buys what the forecast says the mean need will be when the order arrives, and rents peaks and training.

    A rule of thumb that ignores the spread, in orders and in its price alike; `Newsvendor` takes it into account.
    """

    kind: Literal["buy_to_forecast"] = "buy_to_forecast"
    headroom: Positive = Field(1.0, description="GPUs owned / mean need forecast for the week of delivery")
    least_gpus: Annotated[int, Field(gt=0)] = Field(8, description="smallest order worth placing [GPUs]")

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Order what will be short when it can arrive."""
        arrival = arrival_day(observation)
        need = Need.on(observation, forecast, arrival + _WEEK, owned_usd_per_gpu_hour(observation))
        if need is None:
            return []
        need = need.beside(need.leased)
        short = with_spares(observation, (self.headroom * need.gpus - need.committed).sum() / _WEEK.size)
        if short < self.least_gpus:
            return []
        return [Buy(need.accelerator, short, f"{self.headroom:g} x the need forecast for day {arrival}")]

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        """Owned GPUs at their all-in cost over the hours they are used, and rent above them."""
        rent = _rent(observation, release)
        owned = owned_usd_per_gpu_hour(observation)
        above = float(observation.scenario.planned_profile.overflow_share(self.headroom))
        serving = _blend(owned, rent.serving_usd_per_gpu_hour, self.headroom, above)
        cheaper = np.minimum(serving, rent.serving_usd_per_gpu_hour)
        return PlanningPrice(rent.training_usd_per_gpu_hour, cheaper)


class Newsvendor(Procurement):
    """Buys until the chance that one GPU more is needed is what it costs / what renting it costs, and rents the rest.

    The newsvendor rule (Arrow, Harris & Marschak 1951) on the forecast's distribution of hourly need, over the days
    from delivery until the next review's order could arrive: until then only today's order can help. Renting is priced
    over the useful life of what is bought. The rule looks no further, which is best while need grows (Veinott 1965);
    where it falls too much was bought, for orders only add.
    """

    kind: Literal["newsvendor"] = "newsvendor"
    least_gpus: Annotated[int, Field(gt=0)] = Field(8, description="smallest order worth placing [GPUs]")

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        """Order what the best capacity lacks when it can arrive."""
        arrival = arrival_day(observation)
        owned = owned_usd_per_gpu_hour(observation)
        days = days_of(arrival, self.review_days)
        need = Need.on(observation, forecast, days, owned)
        if need is None:
            return []
        need = need.beside(need.leased)
        rent = float((_rent_for_life(observation, arrival) * need.hours_for_one).min())
        chance = float(owned[need.accelerator]) / rent
        if chance > 1.0 - FINEST:
            return []
        least = working_gpus(observation, self.least_gpus)
        short = need.short_of(1.0 - chance, planned_hours(observation), least)
        if short == -inf:
            return []
        return [
            Buy(
                need.accelerator,
                with_spares(observation, short),
                f"needed with chance {chance:.0%} on day {arrival}: owned / rented cost",
            )
        ]

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        """The best capacity at its all-in cost, used or not, and rent above it: a wider spread makes both dearer.

        The spread is that at delivery, not that of the far service life: the fleet will follow what is then known.
        """
        rent, owned = _rent(observation, release), owned_usd_per_gpu_hour(observation)
        days = days_of(arrival_day(observation), self.review_days)
        load = UncertainLoad(observation.scenario.planned_profile, typical_spread(observation, forecast, days))
        price = rent.serving_usd_per_gpu_hour.copy()
        with np.errstate(invalid="ignore"):
            chance = owned / _rent_for_life(observation, release.due_day)
        for kind in np.flatnonzero((chance > 0.0) & (chance < 1.0) & np.isfinite(price)):
            capacity = load.capacity(float(chance[kind]))
            both = owned[kind] * capacity + price[kind] * load.overflow_share(capacity)
            price[kind] = min(price[kind], both)
        return PlanningPrice(rent.training_usd_per_gpu_hour, price)


def arrival_day(observation: Observation) -> int:
    """The day an order placed today is expected in service."""
    return observation.day + observation.scenario.days_from_order_to_service


def with_spares(observation: Observation, working_gpus: float) -> int:
    """Whole GPUs to own so that so many work: spares make up for those out for repair."""
    return whole_gpus(working_gpus / observation.scenario.ownership.working_share)


def working_gpus(observation: Observation, gpus: int) -> float:
    """The other way round: how many must be lacking for so many to be bought."""
    return (gpus - ROUNDING) * observation.scenario.ownership.working_share


def owned_usd_per_gpu_hour(observation: Observation) -> FloatArray:
    """All-in cost of owning a GPU for its useful life per hour it works: capital, power, hosting, upkeep.

    Capital is an annuity at the scenario's discount rate on what is not got back by the final sale; what is borrowed
    costs its instalments. Hours out for repair are paid by those that work.
    """
    cost = _ownership(observation.scenario)
    per_kw = cost.kwh_per_rated_kw_hour * observation.electricity_usd_per_kwh + cost.hosting_usd_per_kw_hour
    held = observation.purchase_usd_per_gpu * cost.capital_per_hour + cost.rated_kw * per_kw
    return held / observation.scenario.ownership.working_share


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
    lost = own.all_in_factor * loan_factor(own, rate) - sold / (1.0 + rate) ** years
    per_year = lost * float(annuity(rate, years)) + own.upkeep_per_year
    hosting = own.hosting_usd_per_kw_month / (DAYS_PER_MONTH * HOURS_PER_DAY)
    rated_kw = np.array([accelerator.server_power_kw for accelerator in scenario.accelerators])
    return _Ownership(per_year / HOURS_PER_YEAR, own.average_draw * own.pue, hosting, rated_kw)


def loan_factor(own: OwnershipInputs, rate: float) -> float:
    """What a price costs today that is partly paid in monthly instalments / that price, at a discount rate.

    A loan that outlives the GPUs is repaid when they are sold.
    """
    loan = own.loan
    if loan is None:
        return 1.0
    per_month, years = loan.rate_per_year / MONTHS_PER_YEAR, min(loan.years, own.useful_life_years)
    instalment = float(annuity(per_month, MONTHS_PER_YEAR * loan.years))
    months_left = MONTHS_PER_YEAR * (loan.years - years)
    owed = instalment / float(annuity(per_month, months_left)) if months_left > 0.0 else 0.0
    paid = MONTHS_PER_YEAR * instalment / float(annuity(rate, years)) + owed / (1.0 + rate) ** years
    return 1.0 - loan.share + loan.share * paid


def _rent(observation: Observation, release: Release) -> PlanningPrice:
    return PlanningPrice(
        observation.rents_ahead(observation.day, release.train_days),
        observation.rents_ahead(release.due_day, release.life_days),
    )


def _rent_for_life(observation: Observation, first_day: int) -> FloatArray:
    """Mean rent over the useful life of a GPU that is bought, by accelerator [USD/GPU-hour]."""
    return observation.rents_ahead(first_day, observation.scenario.ownership.useful_life_days)


def _blend(sunk: FloatArray, rent: FloatArray, base: float, above: float) -> FloatArray:
    """USD per used GPU-hour where `base` x mean need is held, and the part of it `above` that base is rented."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(sunk), sunk * base + rent * above, rent)
