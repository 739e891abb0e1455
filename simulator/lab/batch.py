"""Tokens that can wait: pooled with capacity in blocks of days, served where it costs least.

A block's tokens go to the idle hours of GPUs held, then to spot if they may, then to GPUs rented by the hour under what
users leave of the cap, then to another provider; what is left is unserved. They need no peak and no spare replica.
Within a block the order of days does not count: each takes part by how much of the block it could serve alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.lab.rental_money import RentalMoney
from simulator.lab.serving_load import Held, Rental, per
from simulator.laws.units import SECONDS_PER_HOUR, FloatArray, IntArray
from simulator.world.market import SpotWork
from simulator.world.world import World


@dataclass(frozen=True, slots=True)
class BatchUse:
    """What became of tokens that can wait, by day."""

    served_tokens: FloatArray
    """Those bought from another provider too."""
    sunk_hours: FloatArray
    """On GPUs held [kind, day]."""
    spot_hours: FloatArray
    """Paid, those lost to interruptions too."""
    rented_hours: FloatArray
    bought_tokens: FloatArray


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Days in blocks of equal length, a last one shorter."""

    first: IntArray
    length: IntArray

    @staticmethod
    def of(n_days: int, days: int) -> _Blocks:
        first = np.arange(0, n_days, days)
        return _Blocks(first, np.diff(first, append=n_days))

    def total(self, by_day: FloatArray) -> FloatArray:
        found: FloatArray = np.add.reduceat(by_day, self.first)
        return found

    def on_days(self, by_block: FloatArray) -> FloatArray:
        return np.repeat(by_block, self.length)

    def take(self, left: FloatArray, capacity: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What capacity [day] takes of what is left [block], and what then is left [block]."""
        could = np.minimum(capacity, self.on_days(left))
        total = self.total(could)
        served = np.minimum(left, total)
        return could * self.on_days(per(served, total)), left - served


def serve_batch(
    world: World,
    asked: FloatArray,
    held: Held,
    idle_hours: FloatArray,
    rental: Rental,
    rentable_tokens: FloatArray,
    buyable_tokens: FloatArray,
    money: RentalMoney,
) -> BatchUse:
    """Serve the tokens `asked` by day that can wait.

    Parameters
    ----------
    idle_hours
        Of GPUs held [kind, day].
    rentable_tokens, buyable_tokens
        What users leave of the on-demand cap, and of what another provider sells, in tokens a day; inf if no limit.
    money
        What users leave of what may be spent.
    """
    # Where money is limited, what a day has spent must not depend on the days after it.
    blocks = _Blocks.of(asked.size, 1 if money.is_limited else world.scenario.demand.batch.patience_days)
    left = blocks.total(asked)
    idle, served = held.by_rank(idle_hours), np.zeros(asked.size)
    sunk = np.zeros_like(idle)
    for rank, speed in enumerate(held.speed):
        taken, left = blocks.take(left, idle[rank] * speed * SECONDS_PER_HOUR)
        sunk[rank] = per(taken, speed * SECONDS_PER_HOUR)
        served += taken
    hourly, kept = rental.speed * SECONDS_PER_HOUR, 1.0 - world.scenario.market.spot_lost_share
    on_spot, left = blocks.take(left, money.rents_spot(_spot_tokens(world, blocks, left, rental), kept))
    spot_hours = per(on_spot, hourly) / kept
    money = money.less(spot_hours=spot_hours)
    rented, left = blocks.take(left, money.rents(rentable_tokens))
    rented_hours = per(rented, hourly)
    bought, left = blocks.take(left, money.less(hours=rented_hours).buys(buyable_tokens))
    return BatchUse(
        served + on_spot + rented + bought,
        held.by_kind(sunk, idle_hours.shape[0]),
        spot_hours,
        rented_hours,
        bought,
    )


def _spot_tokens(world: World, blocks: _Blocks, left: FloatArray, rental: Rental) -> FloatArray:
    """Tokens spot may serve: every day asks for an equal part of the block, and gets what is then to be had."""
    days, prices = world.calendar.lived_indices, world.prices
    is_open = (rental.speed > 0.0).astype(np.float64)
    asked = blocks.on_days(per(left, blocks.total(is_open))) * is_open
    kept_usd = prices.spot_path(rental.kind, days) * world.scenario.market.spot_factor(SpotWork.BATCH)
    cheaper = kept_usd < prices.rent_path(rental.kind, days)
    return np.where(cheaper, asked * prices.spot_availability[days], 0.0)
