"""Prices as drawn: what GPUs and power cost on each day of one world. Nothing here forces a fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.laws.units import DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.calendar import DAYS_PER_QUARTER, Calendar
from simulator.world.dice import Dice, arrivals, autoregression, decayed_sum, fading
from simulator.world.market import MarketInputs, PriceShocks
from simulator.world.price_outlook import PriceOutlook, Record


@dataclass(frozen=True, slots=True)
class Prices:
    """One replication's prices: the outlook times ups and downs by accelerator and day, which kinds may share."""

    outlook: PriceOutlook
    rental_factor: FloatArray
    spot_factor: FloatArray
    purchase_factor: FloatArray
    electricity_usd_per_kwh: FloatArray
    spot_availability: FloatArray
    purchase_lead_days: IntArray
    """By quarter (91 days) since the start."""

    def freeze(self) -> None:
        """Nothing drawn can be written any more."""
        for drawn in (
            self.rental_factor,
            self.spot_factor,
            self.purchase_factor,
            self.electricity_usd_per_kwh,
            self.spot_availability,
            self.purchase_lead_days,
        ):
            drawn.setflags(write=False)

    def rents_on(self, index: int) -> FloatArray:
        """On-demand rent of every kind on one day [USD/GPU-hour]; inf where not on offer."""
        return self.outlook.on_demand_usd_per_gpu_hour[:, index] * self.rental_factor[:, index]

    def spots_on(self, index: int) -> FloatArray:
        """Spot rent of every kind on one day [USD/GPU-hour]; inf where none is offered."""
        return self.outlook.spot_usd_per_gpu_hour[:, index] * self.spot_factor[:, index]

    def purchases_on(self, index: int) -> FloatArray:
        """Price of every kind on one day [USD/GPU]; inf where not for sale."""
        return self.outlook.purchase_usd_per_gpu[:, index] * self.purchase_factor[:, index]

    def rent_path(self, kind: int | IntArray, index: IntArray | slice) -> FloatArray:
        """On-demand rent of one kind, or of one kind a day, on these days [USD/GPU-hour]."""
        return _at(self.outlook.on_demand_usd_per_gpu_hour, kind, index) * _at(self.rental_factor, kind, index)

    def spot_path(self, kind: int | IntArray, index: IntArray | slice) -> FloatArray:
        """Spot rent of one kind, or of one kind a day, on these days [USD/GPU-hour]."""
        return _at(self.outlook.spot_usd_per_gpu_hour, kind, index) * _at(self.spot_factor, kind, index)

    def purchase_path(self, kind: int | IntArray, index: IntArray | slice) -> FloatArray:
        """Price of one kind, or of one kind a day, on these days [USD/GPU]."""
        return _at(self.outlook.purchase_usd_per_gpu, kind, index) * _at(self.purchase_factor, kind, index)


def _at(table: FloatArray, kind: int | IntArray, index: IntArray | slice) -> FloatArray:
    """table[kind, index]; of one kind a day by flat places, which is four times as fast."""
    if isinstance(kind, int) or isinstance(index, slice):
        return table[kind, index]
    if table.strides[0] == 0:  # one path that all kinds share
        return table[0].take(index)
    return table.take(kind * table.shape[1] + index)


def draw_prices(
    market: MarketInputs,
    view: PriceOutlook,
    growth_luck: FloatArray,
    regime_years: FloatArray,
    dice: Dice,
    calendar: Calendar,
) -> Prices:
    """One path of every price.

    `growth_luck` holds demand's unit normals by regime of its growth, and `regime_years` the years spent in each
    by index of the calendar: the drift of rents is uncertain by the same regimes. All kinds share the market's ups
    and downs; one whose price is recorded has none while it is, and from then on those that are still to come.
    """
    drift = _Drift.drawn(market, growth_luck, regime_years, dice)
    n_kinds = view.available_day.size

    def rental(start: int) -> FloatArray:
        noise = _mean_reverting(
            market.rental_noise_sigma, market.rental_noise_half_life_days, dice, "market.rental", start, calendar
        )
        return noise * _rises(market.rental_shocks, dice, start, calendar) * drift.since(start)

    def spot(start: int) -> FloatArray:
        sigma, half_life = market.spot_noise_sigma, market.spot_noise_half_life_days
        return rental(start) * _mean_reverting(sigma, half_life, dice, "market.spot", start, calendar)

    def purchase(start: int) -> FloatArray:
        sigma, half_life = market.purchase_noise_sigma, market.purchase_noise_half_life_days
        return _mean_reverting(sigma, half_life, dice, "market.purchase", start, calendar)

    rents = _by_kind(rental, n_kinds, view.records.on_demand, calendar)
    spot_is_rent = market.spot_noise_sigma == 0.0 and view.records.spot == view.records.on_demand
    electricity = view.electricity_usd_per_kwh * _mean_reverting(
        market.electricity_noise_sigma,
        market.electricity_noise_half_life_days,
        dice,
        "market.electricity",
        calendar.index(0),
        calendar,
    )
    normals = dice.stream("market.lead").standard_normal(-(-calendar.n_days // DAYS_PER_QUARTER))
    return Prices(
        view,
        rents,
        rents if spot_is_rent else _by_kind(spot, n_kinds, view.records.spot, calendar),
        _by_kind(purchase, n_kinds, view.records.purchase, calendar),
        electricity,
        _availability(market, dice, calendar.n_days),
        np.rint(market.lead_days * np.exp(market.lead_sigma * normals)).astype(np.int64),
    )


def _by_kind(
    path_since: Callable[[int], FloatArray], n_kinds: int, records: Sequence[Record], calendar: Calendar
) -> FloatArray:
    """Factors by kind and day: one path that all share, but for those with a record."""
    start = calendar.index(0)
    shared = path_since(start)
    shared.setflags(write=False)
    if not records:
        return np.broadcast_to(shared, (n_kinds, calendar.n_days))
    paths = np.tile(shared, (n_kinds, 1))
    for kind, first, last in records:
        end = min(last + 1, calendar.n_days)
        paths[kind, max(first, 0) : end] = 1.0
        if end < calendar.n_days:
            paths[kind, end:] = path_since(max(last, start))[end:]
    return paths


@dataclass(frozen=True, slots=True)
class _Drift:
    """Luck of the yearly log drift of rents, by regime of demand's growth, and the years spent in each by day."""

    luck: FloatArray
    years: FloatArray
    sigma: float

    @staticmethod
    def drawn(market: MarketInputs, growth_luck: FloatArray, regime_years: FloatArray, dice: Dice) -> _Drift:
        """Unit normals that have the declared correlation with those of demand."""
        rho = market.growth_correlation
        if market.rental_fall_sigma == 0.0:
            return _Drift(growth_luck, regime_years, 0.0)
        own = dice.stream("market.drift").standard_normal(growth_luck.size)
        return _Drift(rho * growth_luck + np.sqrt(1.0 - rho**2) * own, regime_years, market.rental_fall_sigma)

    def since(self, start: int) -> FloatArray | float:
        """Its factor on every day, 1 until the index `start`, mean one."""
        if self.sigma == 0.0:
            return 1.0
        years = self.sigma * np.maximum(self.years - self.years[:, start : start + 1], 0.0)
        factor: FloatArray = np.exp((self.luck[:, None] * years).sum(axis=0) - (years**2).sum(axis=0) / 2.0)
        return factor


def _mean_reverting(
    sigma: float, half_life_days: float, dice: Dice, name: str, start: int, calendar: Calendar
) -> FloatArray:
    """exp of a mean-reverting AR(1) in the log, mean one; prices are known at the index `start` and part from there.

    The variance of the log grows to sigma^2 as 1 - persistence^(2 days).
    """
    if sigma == 0.0:
        return np.ones(calendar.n_days)
    persistence = 0.5 ** (1.0 / half_life_days)
    normals = dice.stream(name).standard_normal(calendar.n_days)
    normals[: start + 1] = 0.0
    log = decayed_sum(normals * (sigma * np.sqrt(1.0 - persistence**2)), persistence)
    age = np.maximum(np.arange(calendar.n_days) - start, 0)
    variance = sigma**2 * -np.expm1(2.0 * np.log(persistence) * age)
    return np.exp(log - variance / 2.0)


def _rises(shocks: PriceShocks, dice: Dice, start: int, calendar: Calendar) -> FloatArray:
    """Rises since prices were known: those before are in them; quotes are of the morning of day 0."""
    factor = np.ones(calendar.n_days)
    if shocks.per_year == 0.0:
        return factor
    ahead = calendar.n_days - calendar.history_days
    for day in arrivals(dice.stream("market.rises"), shocks.per_year / DAYS_PER_YEAR, ahead):
        index = calendar.index(day)
        if index > start or start == calendar.index(0):
            factor[index:] *= 1.0 + fading(shocks.size, shocks.decay_days, calendar.n_days - index)
    return factor


def _availability(market: MarketInputs, dice: Dice, n_days: int) -> FloatArray:
    if market.spot_availability_sigma == 0.0 or market.spot_availability in (0.0, 1.0):
        return np.full(n_days, market.spot_availability)
    odds = np.log(market.spot_availability / (1.0 - market.spot_availability))
    normals = dice.stream("market.spot_availability").standard_normal(n_days)
    path = autoregression(normals, market.spot_availability_persistence, market.spot_availability_sigma)
    return 1.0 / (1.0 + np.exp(-odds - path))
