"""What may be spent each day on serving with GPUs rented by the hour and with tokens bought, where money is limited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.lab.fleet import Fleet
from simulator.lab.serving_load import Load, Rental, per
from simulator.laws.load import PaidHours
from simulator.laws.units import HOURS_PER_DAY, SECONDS_PER_HOUR, BoolArray, FloatArray, Numbers
from simulator.world.world import World

_LAST_BIT = 1e-12
"""Part of the money that rounding may leave of it."""


@dataclass(frozen=True, slots=True)
class RentalMoney:
    """Money left on each day, and what it buys. Without a limit it never runs out, and nothing is counted."""

    usd: FloatArray
    """Left [day]."""
    rent: FloatArray
    spot: FloatArray
    """Of an hour of the kind that is rented for serving [USD/GPU-hour by day]."""
    token: FloatArray
    """Of a token from another provider [USD by day]; 0 if there is none."""
    tokens_per_hour: FloatArray
    """Of a GPU that is rented for serving."""
    is_limited: bool

    @staticmethod
    def of(world: World, fleet: Fleet, rental: Rental) -> RentalMoney:
        """What the lab's limits allow on each day."""
        days = world.calendar.lived_indices
        usd = fleet.rental_usd_per_day.path(days.size)
        if not np.isfinite(usd).any():
            return RentalMoney(usd, usd, usd, usd, usd, is_limited=False)
        rent, spot = world.prices.rent_path(rental.kind, days), world.prices.spot_path(rental.kind, days)
        return RentalMoney(
            usd, rent, spot, world.bought_usd_per_token(), rental.speed * SECONDS_PER_HOUR, is_limited=True
        )

    def within(
        self, load: Load, terms: Sequence[tuple[BoolArray, PaidHours]], held: FloatArray, most: FloatArray
    ) -> FloatArray:
        """The capacity, up to `most`, of which the part above `held` can be paid: hours paid count, used or not."""
        if not self.is_limited:
            return most
        # Paid hours, as the tokens a second they could have served on average over the day.
        payable = per(self.usd, self.rent) / HOURS_PER_DAY * self.tokens_per_hour / SECONDS_PER_HOUR
        wanted, affordable = load.used(most), load.capacity_for(load.used(held) + payable)
        is_enough = wanted - load.used(held) <= payable
        for days, hours in terms:
            below = load.paid(held, hours)
            affordable = np.where(days, load.capacity_for(below + payable, hours), affordable)
            is_enough = np.where(days, load.paid(most, hours) - below <= payable, is_enough)
        return np.where(is_enough, most, np.maximum(np.minimum(affordable, most), held))

    def buys(self, tokens: FloatArray) -> FloatArray:
        """Tokens from another provider, as far as money goes [tokens by day]."""
        if not self.is_limited:
            return tokens
        return np.minimum(tokens, np.where(self.token > 0.0, per(self.usd, self.token), np.inf))

    def rents(self, tokens: FloatArray) -> FloatArray:
        """Tokens on GPUs rented by the hour, as far as money goes [tokens by day]."""
        if not self.is_limited:
            return tokens
        return np.minimum(tokens, per(self.usd, self.rent) * self.tokens_per_hour)

    def rents_spot(self, tokens: FloatArray, kept_share: float) -> FloatArray:
        """Tokens on spot GPUs, of whose work a share is kept, as far as money goes [tokens by day]."""
        if not self.is_limited:
            return tokens
        return np.minimum(tokens, per(self.usd, self.spot) * self.tokens_per_hour * kept_share)

    def less(self, hours: Numbers = 0.0, spot_hours: Numbers = 0.0, tokens: Numbers = 0.0) -> RentalMoney:
        """What is left after so many hours rented, on spot, and tokens bought."""
        if not self.is_limited:
            return self
        spent = _cost(self.rent, hours) + _cost(self.spot, spot_hours) + self.token * tokens
        left = self.usd - spent
        return replace(self, usd=np.where(left > _LAST_BIT * self.usd, left, 0.0))


def _cost(price: FloatArray, hours: Numbers) -> FloatArray:
    """What is not on offer has no finite price, and no hours."""
    amount = np.broadcast_to(np.asarray(hours, dtype=np.float64), price.shape)
    return np.multiply(price, amount, out=np.zeros(price.shape), where=amount > 0.0)
