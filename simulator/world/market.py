"""What a market is declared to be: quotes, events, records, generations to come, and how sure of it all one is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from itertools import pairwise
from typing import Annotated

from pydantic import Field, field_serializer, field_validator, model_validator

from simulator.world.generations import NewGenerations
from simulator.world.inputs import Inputs, Misplaced, NotNegative, OpenShare, Positive, Share
from simulator.world.quote import Quote as Quote


class SpotWork(StrEnum):
    """Work that can be interrupted and go on later."""

    RESEARCH = "research"
    BATCH = "batch"


class Commitment(Inputs):
    """A reserved term: GPUs paid for, used or not, at a discount on the on-demand price of that day."""

    term_days: Annotated[int, Field(gt=0)] = Field(description="length of the lease [days]")
    discount: OpenShare = Field(description="off the on-demand price: 0.19 is 19 % cheaper")
    upfront_share: Share = Field(
        0.0, description="part of the lease that is paid on its first day; the rest day by day"
    )
    source: str = Field("", description="where the discount was read, and when")


class MarketEvent(Inputs):
    """A dated change of prices that lasts: a cut, a shortage. No built-in policy plans with it before its day."""

    day: date = Field(description="the day prices change")
    accelerator: str | None = Field(None, description="the kind it touches; default: all")
    on_demand_factor: Positive = Field(1.0, description="on-demand and new reserved prices x this")
    spot_factor: Positive | None = Field(None, description="spot prices x this; default: the same as on demand")
    purchase_factor: Positive = Field(1.0, description="purchase prices x this")
    note: str = Field("", description="what happened")
    source: str = Field("", description="where it was read")


class PriceShocks(Inputs):
    """Rises of rent that come at random and fade: rents rose 38 % in five months of 2025-26."""

    per_year: NotNegative = Field(0.0, description="mean number a year (Poisson)")
    size: Annotated[float, Field(gt=-1)] = Field(0.3, description="rise on the first day: 0.3 is 30 % dearer")
    decay_days: Positive = Field(180.0, description="days until it has faded to 1/e")


class PriceReplay(Inputs):
    """Recorded prices of one kind: they hold, as prices really paid, from the first recorded day to the last.

    Each price holds until the next one. Before the first day, and for what is not replayed, the market is as
    declared; after the last day it goes on from the last recorded price.
    """

    accelerator: str = Field(description="the kind whose prices were recorded")
    csv: str = Field("", description="the file they were read from, relative to the scenario file")
    date_column: str = Field("date", description="the column of the file that holds the day, as 2026-06-01")
    on_demand_column: str | None = Field(None, description="its column of rents by the hour [USD/GPU-hour]")
    spot_column: str | None = Field(None, description="its column of interruptible rents [USD/GPU-hour]")
    purchase_column: str | None = Field(None, description="its column of prices of the GPU alone [USD/GPU]")
    source: str = Field("", description="who recorded them; default: the file")
    where: dict[str, str] = Field({}, description="rows to read: column = value; default: all")
    day: tuple[date, ...] = Field((), description="recorded days, in order (filled from the file)")
    on_demand_usd: tuple[Positive, ...] = Field((), description="rent by the hour on each [USD/GPU-hour] (filled)")
    spot_usd: tuple[Positive, ...] = Field((), description="interruptible rent on each [USD/GPU-hour] (filled)")
    purchase_usd: tuple[Positive, ...] = Field((), description="price of the GPU alone on each [USD/GPU] (filled)")

    @property
    def series(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """On-demand, spot and purchase prices; empty where they are not replayed."""
        return self.on_demand_usd, self.spot_usd, self.purchase_usd

    @model_validator(mode="after")
    def _days_and_prices_go_together(self) -> PriceReplay:
        if not (self.day or self.csv):
            raise ValueError("needs a csv, or day and prices written out")
        if not any((*self.series, self.on_demand_column, self.spot_column, self.purchase_column)):
            raise ValueError("needs a price: name the on_demand_column, spot_column or purchase_column of its csv")
        for earlier, later in pairwise(self.day):
            if later <= earlier:
                raise ValueError(f"days must be in order: {later} follows {earlier}")
        for usd in self.series:
            if usd and len(usd) != len(self.day):
                raise ValueError(f"needs a price for each of {len(self.day)} days, has {len(usd)}")
        return self


class MarketInputs(Inputs):
    """How prices move from their quotes on. A negative fall is a rise."""

    quote: tuple[Quote, ...] = Field(description="the GPUs on offer and their prices at the start")
    commitment: tuple[Commitment, ...] = Field((), description="reserved terms on offer")
    event: tuple[MarketEvent, ...] = Field((), description="dated changes of price")
    replay: tuple[PriceReplay, ...] = Field((), description="recorded prices, instead of drawn ones")
    new_generations: NewGenerations | None = Field(None, description="kinds of GPU to come, by trend")
    rental_fall_per_year: Annotated[float, Field(lt=1)] = Field(
        0.0, description="stated drift of rents: 0.15 falls 15 % a year, -0.1 rises 10 %"
    )
    rental_fall_sigma: NotNegative = Field(
        0.0, description="sd of the yearly log drift of rents, one draw per regime of demand and replication"
    )
    growth_correlation: Annotated[float, Field(ge=-1, le=1)] = Field(
        0.0,
        description="of that luck with demand's: at 0.5, where demand outgrows what is declared, rents tend to rise",
    )
    list_fall_per_year: Annotated[float, Field(lt=1)] = Field(
        0.08, description="fall of one chip's own purchase price (not of price-performance)"
    )
    rental_noise_sigma: NotNegative = Field(0.0, description="sd of the log of rents, long after they were quoted")
    rental_noise_half_life_days: Positive = Field(90.0, description="days until a deviation has halved")
    spot_noise_sigma: NotNegative = Field(0.0, description="sd of the log of spot / on-demand price, long after")
    spot_noise_half_life_days: Positive = Field(180.0, description="days until a deviation has halved")
    purchase_noise_sigma: NotNegative = Field(0.0, description="sd of the log of purchase prices, long after")
    purchase_noise_half_life_days: Positive = Field(90.0, description="days until a deviation has halved")
    rental_shocks: PriceShocks = Field(PriceShocks(), description="rises of rent that come at random")
    spot_availability: Share = Field(0.8, description="part of the spot GPUs asked for that can be had on a median day")
    spot_availability_sigma: NotNegative = Field(0.0, description="sd of its log-odds from day to day")
    spot_availability_persistence: OpenShare = Field(0.9, description="correlation of those from day to day, AR(1)")
    spot_lost_share: OpenShare = Field(
        0.0, description="part of the work on spot GPUs that is lost to interruptions and done again"
    )
    spot_work: frozenset[SpotWork] = Field(
        frozenset({SpotWork.RESEARCH}),
        description="work that may use spot: research, and batch tokens. Never a user who waits for an answer, nor a "
        "training run: one interruption stops all its GPUs",
    )
    negotiated_discount: OpenShare = Field(0.0, description="off every quote: list price is not paid price")
    lead_days: NotNegative = Field(90.0, description="median days from order to GPUs in service")
    lead_sigma: NotNegative = Field(0.0, description="sd of the log of the lead time, drawn by quarter")
    electricity_usd_per_kwh: NotNegative = Field(0.0826, description="US industrial 2025")
    electricity_growth_per_year: Positive = Field(1.0, description="factor per year")
    electricity_source: str = Field("", description="where the price of power was read")
    electricity_noise_sigma: NotNegative = Field(0.0, description="sd of the log of power prices, long after")
    electricity_noise_half_life_days: Positive = Field(30.0, description="days until a deviation has halved")

    def discount(self, term_days: int) -> float:
        """Off the on-demand price for a term that is on offer."""
        return self.term(term_days).discount

    def term(self, term_days: int) -> Commitment:
        """The reserved term of this length, which must be on offer."""
        for offered in self.commitment:
            if offered.term_days == term_days:
                return offered
        terms = ", ".join(str(offered.term_days) for offered in self.commitment) or "none"
        raise Misplaced("market.commitment", f"must offer the term of {term_days} days that is to be reserved", terms)

    def discount_of_rest(self, days_left: int) -> float:
        """Off the on-demand price for the rest of a lease: that of the nearest term on offer, if there is one."""
        nearest = min(self.commitment, key=lambda term: abs(term.term_days - days_left), default=None)
        return 0.0 if nearest is None else nearest.discount

    def spot_factor(self, work: SpotWork) -> float:
        """Spot hours paid / hours of work kept; inf for work that may not use spot."""
        return 1.0 / (1.0 - self.spot_lost_share) if work in self.spot_work else math.inf

    @field_serializer("spot_work", when_used="json")
    def _in_order(self, found: Iterable[SpotWork]) -> list[str]:
        """Equal sets are written alike."""
        return sorted(found)

    @model_validator(mode="after")
    def _a_price_is_replayed_once(self) -> MarketInputs:
        replayed: set[tuple[str, int]] = set()
        for row, replay in enumerate(self.replay):
            prices = {(replay.accelerator, number) for number, usd in enumerate(replay.series) if usd}
            if prices & replayed:
                raise Misplaced(f"replay.{row}", "must not replay what an earlier one does", repr(replay.accelerator))
            replayed |= prices
        return self

    @field_validator("quote")
    @classmethod
    def _something_is_on_offer(cls, quotes: tuple[Quote, ...]) -> tuple[Quote, ...]:
        if not quotes:
            raise ValueError("must hold at least 1 quote: nothing can be rented or bought otherwise")
        return quotes
