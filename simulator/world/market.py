"""Prices and lead times: what GPUs and power cost, and how that moves. Nothing here forces a fall."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated

import numpy as np
from pydantic import Field, field_validator

from simulator.laws.units import DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice, arrivals, autoregression, decayed_sum
from simulator.world.inputs import Inputs, Misplaced, NotNegative, OpenShare, Positive, Share

DAYS_PER_QUARTER = 91


class Quote(Inputs):
    """What one kind of GPU costs on the day it is quoted, at the price really paid."""

    accelerator: str = Field(description="name in the catalogue or of an [[accelerator]] table")
    available: date | None = Field(None, description="first day it can be had; default: the start")
    on_demand_usd_per_gpu_hour: Positive = Field(description="rent by the hour [USD/GPU-hour]")
    spot_usd_per_gpu_hour: Positive | None = Field(None, description="interruptible rent; default: none offered")
    purchase_usd_per_gpu: Positive | None = Field(None, description="price of the GPU alone; default: not for sale")
    source: str = Field(description="where the prices were read, and when")


class Commitment(Inputs):
    """A reserved term: GPUs paid for, used or not, at a discount on the on-demand price of that day."""

    term_days: Annotated[int, Field(gt=0)] = Field(description="length of the lease [days]")
    discount: OpenShare = Field(description="off the on-demand price: 0.19 is 19 % cheaper")
    source: str = Field("", description="where the discount was read, and when")


class MarketEvent(Inputs):
    """A dated change of prices that lasts: a cut, a shortage. No built-in policy plans with it before its day."""

    day: date = Field(description="the day prices change")
    accelerator: str | None = Field(None, description="the kind it touches; default: all")
    on_demand_factor: Positive = Field(1.0, description="on-demand, spot and new reserved prices x this")
    purchase_factor: Positive = Field(1.0, description="purchase prices x this")
    note: str = Field("", description="what happened")
    source: str = Field("", description="where it was read")


class PriceShocks(Inputs):
    """Rises of rent that come at random and fade: rents rose 38 % in five months of 2025-26."""

    per_year: NotNegative = Field(0.0, description="mean number a year (Poisson)")
    size: Annotated[float, Field(gt=-1)] = Field(0.3, description="rise on the first day: 0.3 is 30 % dearer")
    decay_days: Positive = Field(180.0, description="days until it has faded to 1/e")


class MarketInputs(Inputs):
    """How prices move from their quotes on. A negative fall is a rise."""

    quote: tuple[Quote, ...] = Field(description="the GPUs on offer and their prices at the start")
    commitment: tuple[Commitment, ...] = Field((), description="reserved terms on offer")
    event: tuple[MarketEvent, ...] = Field((), description="dated changes of price")
    rental_fall_per_year: Annotated[float, Field(lt=1)] = Field(
        0.0, description="stated drift of rents: 0.15 falls 15 % a year, -0.1 rises 10 %"
    )
    list_fall_per_year: Annotated[float, Field(lt=1)] = Field(
        0.08, description="fall of one chip's own purchase price (not of price-performance)"
    )
    rental_noise_sigma: NotNegative = Field(0.0, description="sd of the log of rents, long after they were quoted")
    rental_noise_half_life_days: Positive = Field(90.0, description="days until a deviation has halved")
    purchase_noise_sigma: NotNegative = Field(0.0, description="sd of the log of purchase prices, long after")
    purchase_noise_half_life_days: Positive = Field(90.0, description="days until a deviation has halved")
    rental_shocks: PriceShocks = Field(PriceShocks(), description="rises of rent that come at random")
    spot_availability: Share = Field(0.8, description="part of the spot GPUs asked for that can be had on a median day")
    spot_availability_sigma: NotNegative = Field(0.0, description="sd of its log-odds from day to day")
    negotiated_discount: OpenShare = Field(0.0, description="off every quote: list price is not paid price")
    lead_days: NotNegative = Field(90.0, description="median days from order to GPUs in service")
    lead_sigma: NotNegative = Field(0.0, description="sd of the log of the lead time, drawn by quarter")
    electricity_usd_per_kwh: NotNegative = Field(0.0826, description="US industrial 2025")
    electricity_growth_per_year: Positive = Field(1.0, description="factor per year")
    electricity_source: str = Field("", description="where the price of power was read")

    def discount(self, term_days: int) -> float:
        """Off the on-demand price for a term that is on offer."""
        for offered in self.commitment:
            if offered.term_days == term_days:
                return offered.discount
        terms = ", ".join(str(offered.term_days) for offered in self.commitment) or "none"
        raise Misplaced("market.commitment", f"must offer the term of {term_days} days that is to be reserved", terms)

    @field_validator("quote")
    @classmethod
    def _something_is_on_offer(cls, quotes: tuple[Quote, ...]) -> tuple[Quote, ...]:
        if not quotes:
            raise ValueError("must hold at least 1 quote: nothing can be rented or bought otherwise")
        return quotes


@dataclass(frozen=True, slots=True)
class PriceOutlook:
    """Prices before anything is drawn, [accelerator, index of the calendar]; inf where not (yet) on offer."""

    on_demand_usd_per_gpu_hour: FloatArray
    spot_usd_per_gpu_hour: FloatArray
    purchase_usd_per_gpu: FloatArray
    electricity_usd_per_kwh: FloatArray
    available_day: IntArray


@dataclass(frozen=True, slots=True)
class Prices:
    """One replication's prices: the outlook times the market's ups and downs, which all kinds share."""

    outlook: PriceOutlook
    rental_factor: FloatArray
    purchase_factor: FloatArray
    spot_availability: FloatArray
    purchase_lead_days: IntArray
    """By quarter (91 days) since the start."""

    def freeze(self) -> None:
        """Nothing drawn can be written any more."""
        for drawn in (self.rental_factor, self.purchase_factor, self.spot_availability, self.purchase_lead_days):
            drawn.setflags(write=False)

    def rents_on(self, index: int) -> FloatArray:
        """On-demand rent of every kind on one day [USD/GPU-hour]; inf where not on offer."""
        return self.outlook.on_demand_usd_per_gpu_hour[:, index] * self.rental_factor[index]

    def spots_on(self, index: int) -> FloatArray:
        """Spot rent of every kind on one day [USD/GPU-hour]; inf where none is offered."""
        return self.outlook.spot_usd_per_gpu_hour[:, index] * self.rental_factor[index]

    def purchases_on(self, index: int) -> FloatArray:
        """Price of every kind on one day [USD/GPU]; inf where not for sale."""
        return self.outlook.purchase_usd_per_gpu[:, index] * self.purchase_factor[index]

    def rent_path(self, kind: int | IntArray, index: IntArray) -> FloatArray:
        """On-demand rent of one kind, or of one kind a day, on these days [USD/GPU-hour]."""
        return self.outlook.on_demand_usd_per_gpu_hour[kind, index] * self.rental_factor[index]

    def spot_path(self, kind: int | IntArray, index: IntArray) -> FloatArray:
        """Spot rent of one kind, or of one kind a day, on these days [USD/GPU-hour]."""
        return self.outlook.spot_usd_per_gpu_hour[kind, index] * self.rental_factor[index]

    def purchase_path(self, kind: int, index: IntArray) -> FloatArray:
        """Price of one kind on these days [USD/GPU]."""
        return self.outlook.purchase_usd_per_gpu[kind, index] * self.purchase_factor[index]


def price_outlook(market: MarketInputs, calendar: Calendar) -> PriceOutlook:
    """Quotes, drift and dated events, without noise."""
    n_days, paid = calendar.n_days, 1.0 - market.negotiated_discount
    on_demand, spot, purchase = (np.full((len(market.quote), n_days), np.inf) for _ in range(3))
    available = np.zeros(len(market.quote), dtype=np.int64)
    for row, quote in enumerate(market.quote):
        last = calendar.n_days - calendar.history_days
        available[row] = 0 if quote.available is None else min(max(calendar.day_of(quote.available), 0), last)
        years = (calendar.days - available[row]) / DAYS_PER_YEAR
        rental = (1.0 - market.rental_fall_per_year) ** years
        rental_steps, list_steps = _event_steps(market, quote.accelerator, int(available[row]), calendar)
        on_demand[row] = quote.on_demand_usd_per_gpu_hour * paid * rental * rental_steps
        if quote.spot_usd_per_gpu_hour is not None:
            spot[row] = quote.spot_usd_per_gpu_hour * paid * rental * rental_steps
        if quote.purchase_usd_per_gpu is not None:
            fall = (1.0 - market.list_fall_per_year) ** years
            purchase[row] = quote.purchase_usd_per_gpu * paid * fall * list_steps
        for prices in (on_demand, spot, purchase):
            prices[row, : calendar.index(int(available[row]))] = np.inf
    electricity = market.electricity_usd_per_kwh * market.electricity_growth_per_year**calendar.years
    for prices in (on_demand, spot, purchase, electricity):
        prices.setflags(write=False)
    return PriceOutlook(on_demand, spot, purchase, electricity, available)


def _event_steps(
    market: MarketInputs, accelerator: str, quoted_day: int, calendar: Calendar
) -> tuple[FloatArray, FloatArray]:
    """Factors of rent and purchase by day; what happened before the quote is in the quote."""
    rental, purchase = np.ones(calendar.n_days), np.ones(calendar.n_days)
    for event in market.event:
        day = calendar.day_of(event.day)
        if event.accelerator in (None, accelerator) and day > quoted_day:
            rental[calendar.days >= day] *= event.on_demand_factor
            purchase[calendar.days >= day] *= event.purchase_factor
    return rental, purchase


def draw_prices(market: MarketInputs, view: PriceOutlook, dice: Dice, calendar: Calendar) -> Prices:
    """One path of every price; all kinds share the market's ups and downs."""
    n_days = calendar.n_days
    rental = _mean_reverting(
        market.rental_noise_sigma, market.rental_noise_half_life_days, dice, "market.rental", calendar
    )
    purchase = _mean_reverting(
        market.purchase_noise_sigma, market.purchase_noise_half_life_days, dice, "market.purchase", calendar
    )
    normals = dice.stream("market.lead").standard_normal(-(-n_days // DAYS_PER_QUARTER))
    return Prices(
        view,
        rental * _rises(market.rental_shocks, dice, calendar),
        purchase,
        _availability(market, dice, n_days),
        np.rint(market.lead_days * np.exp(market.lead_sigma * normals)).astype(np.int64),
    )


def _mean_reverting(sigma: float, half_life_days: float, dice: Dice, name: str, calendar: Calendar) -> FloatArray:
    """exp of a mean-reverting AR(1) in the log, mean one; prices start at their quotes and part from them.

    The variance of the log grows to sigma^2 as 1 - persistence^(2 days).
    """
    if sigma == 0.0:
        return np.ones(calendar.n_days)
    persistence = 0.5 ** (1.0 / half_life_days)
    normals = dice.stream(name).standard_normal(calendar.n_days)
    normals[: calendar.history_days + 1] = 0.0
    log = decayed_sum(normals * (sigma * np.sqrt(1.0 - persistence**2)), persistence)
    variance = sigma**2 * -np.expm1(2.0 * np.log(persistence) * np.maximum(calendar.days, 0))
    return np.exp(log - variance / 2.0)


def _rises(shocks: PriceShocks, dice: Dice, calendar: Calendar) -> FloatArray:
    """Rises since the start: those before it are in the quotes."""
    factor = np.ones(calendar.n_days)
    if shocks.per_year == 0.0:
        return factor
    ahead = calendar.n_days - calendar.history_days
    for day in arrivals(dice.stream("market.rises"), shocks.per_year / DAYS_PER_YEAR, ahead):
        index = calendar.index(day)
        age = np.arange(calendar.n_days - index)
        factor[index:] *= 1.0 + shocks.size * np.exp(-age / shocks.decay_days)
    return factor


def _availability(market: MarketInputs, dice: Dice, n_days: int) -> FloatArray:
    if market.spot_availability_sigma == 0.0 or market.spot_availability in (0.0, 1.0):
        return np.full(n_days, market.spot_availability)
    odds = np.log(market.spot_availability / (1.0 - market.spot_availability))
    normals = dice.stream("market.spot_availability").standard_normal(n_days)
    return 1.0 / (1.0 + np.exp(-odds - autoregression(normals, 0.9, market.spot_availability_sigma)))
