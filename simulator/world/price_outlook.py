"""Prices as declared: quotes, drift, dated events and what is recorded, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simulator.laws.units import DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.calendar import Calendar
from simulator.world.market import MarketEvent, MarketInputs, PriceReplay
from simulator.world.quote import Quote


class Record(NamedTuple):
    """One recorded price of one kind: indices of the calendar of its first and last day, inside it or not.

    From the last day on the price is the model's again, and parts from what was last recorded.
    """

    kind: int
    first: int
    last: int


class Records(NamedTuple):
    """What is recorded of each of the three prices."""

    on_demand: tuple[Record, ...] = ()
    spot: tuple[Record, ...] = ()
    purchase: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class PriceOutlook:
    """Prices before anything is drawn, [accelerator, index of the calendar]; inf where not (yet) on offer."""

    on_demand_usd_per_gpu_hour: FloatArray
    spot_usd_per_gpu_hour: FloatArray
    purchase_usd_per_gpu: FloatArray
    electricity_usd_per_kwh: FloatArray
    available_day: IntArray
    records: Records

    def recorded_moves(self, least: float) -> set[int]:
        """Indices on which a recorded price has moved by a part of `least` or more since it last had."""
        prices = (self.on_demand_usd_per_gpu_hour, self.spot_usd_per_gpu_hour, self.purchase_usd_per_gpu)
        moved: set[int] = set()
        for by_kind, records in zip(prices, self.records, strict=True):
            for kind, first, last in records:
                known = np.inf
                for index, usd in enumerate(by_kind[kind, : last + 1].tolist()):
                    if index >= first and usd < np.inf and abs(usd / known - 1.0) >= least:
                        moved.add(index)
                        known = usd
        return moved


class _Way(NamedTuple):
    """How one of the three prices goes from the day it is known."""

    quoted: Callable[[Quote], float | None]
    fall_per_year: Callable[[MarketInputs], float]
    step: Callable[[MarketEvent], float]

    def on(self, market: MarketInputs, kind: str, usd: float, known_day: int, calendar: Calendar) -> FloatArray:
        """By index of the calendar: its drift, and the dated events after that day; those before are in the price."""
        path: FloatArray = usd * (1.0 - self.fall_per_year(market)) ** ((calendar.days - known_day) / DAYS_PER_YEAR)
        steps = np.ones(calendar.n_days)
        for event in market.event:
            day = calendar.day_of(event.day)
            if event.accelerator in (None, kind) and day > known_day:
                steps[calendar.days >= day] *= self.step(event)
        return path * steps


_ON_DEMAND = _Way(
    lambda quote: quote.on_demand_usd_per_gpu_hour,
    lambda market: market.rental_fall_per_year,
    lambda event: event.on_demand_factor,
)
_SPOT = _Way(
    lambda quote: quote.spot_usd_per_gpu_hour,
    lambda market: market.rental_fall_per_year,
    lambda event: event.on_demand_factor if event.spot_factor is None else event.spot_factor,
)
_PURCHASE = _Way(
    lambda quote: quote.purchase_usd_per_gpu,
    lambda market: market.list_fall_per_year,
    lambda event: event.purchase_factor,
)
_WAYS = (_ON_DEMAND, _SPOT, _PURCHASE)


def price_outlook(market: MarketInputs, quotes: Sequence[Quote], calendar: Calendar) -> PriceOutlook:
    """Quotes, drift, dated events and records, without noise."""
    paths = [np.full((len(quotes), calendar.n_days), np.inf) for _ in _WAYS]
    available = np.array([_available_day(quote, calendar) for quote in quotes], dtype=np.int64)
    for row, quote in enumerate(quotes):
        for way, prices in zip(_WAYS, paths, strict=True):
            usd = way.quoted(quote)
            if usd is not None:
                paid = usd * (1.0 - market.negotiated_discount)
                prices[row] = way.on(market, quote.accelerator, paid, int(available[row]), calendar)
    records = _replay(market, quotes, calendar, paths)
    for row, day in enumerate(available.tolist()):
        for prices in paths:
            prices[row, : calendar.index(day)] = np.inf
    electricity = market.electricity_usd_per_kwh * market.electricity_growth_per_year**calendar.years
    for prices in (*paths, electricity):
        prices.setflags(write=False)
    on_demand, spot, purchase = paths
    return PriceOutlook(on_demand, spot, purchase, electricity, available, records)


def _available_day(quote: Quote, calendar: Calendar) -> int:
    if quote.available is None:
        return 0
    return min(max(calendar.day_of(quote.available), 0), calendar.n_days - calendar.history_days)


def _replay(market: MarketInputs, quotes: Sequence[Quote], calendar: Calendar, paths: Sequence[FloatArray]) -> Records:
    """Put recorded prices in their place, and after each the model, from the last recorded price on."""
    names = [quote.accelerator for quote in quotes]
    found: tuple[list[Record], ...] = ([], [], [])
    for replay in market.replay:
        kind, days = names.index(replay.accelerator), _recorded_days(replay, calendar)
        first, last = int(days[0]), int(days[-1])
        held = np.searchsorted(days, calendar.days, side="right") - 1
        for way, usd, prices, records in zip(_WAYS, replay.series, paths, found, strict=True):
            if usd:
                after = way.on(market, replay.accelerator, usd[-1], last, calendar)
                known = np.where(calendar.days > last, after, np.asarray(usd)[held])
                prices[kind] = np.where(held >= 0, known, prices[kind])
                records.append(Record(kind, calendar.index(first), calendar.index(last)))
    return Records(*map(tuple, found))


def _recorded_days(replay: PriceReplay, calendar: Calendar) -> IntArray:
    if not replay.day:
        raise ValueError("a replay needs its days and prices: load it from its file first")
    return np.array([calendar.day_of(day) for day in replay.day])
