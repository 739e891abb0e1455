"""Orders turned into contracts: what is paid or fetched on the day, from when to when, and the record of each."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from simulator.lab.books import resale_bid_on_day_usd
from simulator.lab.fleet import Fleet
from simulator.lab.limits import Allowed, Limits
from simulator.lab.orders import Buy, Lease, OrderRecord, Purchase, Reserve, Sell, Tenure
from simulator.world.calendar import DAYS_PER_QUARTER
from simulator.world.world import World


class Contracts:
    """What was ordered, sold and signed for one fleet in one world; the record of what cannot be had says why."""

    def __init__(self, world: World, fleet: Fleet) -> None:
        self.records: list[OrderRecord] = []
        self.limits = Limits(world, fleet)
        self.signed: list[tuple[int, Purchase | Lease]] = []
        """What was bought and leased, by the day it was; a sale takes a purchase back and agrees on one that ends."""
        self._world, self._scenario, self._fleet = world, world.scenario, fleet
        self._look_day, self._seen, self._owned_kw = -1, "", 0.0

    def is_possible(self, order: Buy | Reserve | Sell, day: int) -> bool:
        """Whole GPUs, of a kind there is, from today on: anything else is a mistake of the policy, not of its plans."""
        if isinstance(order, Reserve) and order.first_day is not None and order.first_day < day:
            return False
        return order.gpus > 0 and order.gpus % 1 == 0 and 0 <= order.accelerator < len(self._fleet.owned)

    def buy(self, order: Buy, day: int) -> int | None:
        """A tranche at today's price, in service after the market's lead time and its installation.

        Returns its place among the fleet's purchases; None if nothing of it can be had.
        """
        price, installed = self._list_price(order.accelerator, day), self._scenario.ownership.installation_days
        life, agreed_day = self._scenario.ownership.useful_life_days, day + round(self._scenario.market.lead_days)
        expected, first_day = agreed_day + installed, day + self._world.purchase_lead_days(day) + installed
        asked = Purchase(order.accelerator, order.gpus, price, expected, expected + life, day, agreed_day)
        allowed = Allowed(0, "is for sale: nothing") if not isfinite(price) else self._had(asked, day)
        place, usd = None, 0.0
        if allowed.gpus:
            # What is agreed on counts as agreed; the delivery comes when it comes.
            agreed = asked if allowed.gpus == asked.gpus else replace(asked, gpus=allowed.gpus)
            usd = agreed.gpus * price * self._scenario.ownership.all_in_factor
            place = self._fleet.order(replace(agreed, first_day=first_day, end_day=first_day + life), expected)
            self._agree(agreed, day)
        self._record(order, Tenure.OWNED, allowed, day, first_day, first_day + life, usd)
        return place

    def sign(self, order: Reserve, day: int) -> Lease | None:
        """A lease from today or a later day, at today's rent less the term's discount; None if none can be had."""
        rent = float(self._world.prices.rents_on(self._world.calendar.index(day))[order.accelerator])
        term = self._scenario.market.term(order.term_days)
        first_day = day if order.first_day is None else order.first_day
        price, end = rent * (1.0 - term.discount), first_day + order.term_days
        asked = Lease(order.accelerator, order.gpus, price, term.discount, first_day, end, term.upfront_share)
        allowed = Allowed(0, "is on offer: nothing") if not isfinite(rent) else self.limits.allowed(asked)
        signed = asked if allowed.gpus == asked.gpus else replace(asked, gpus=allowed.gpus)
        usd = signed.usd_per_day * order.term_days if signed.gpus else 0.0
        self._record(order, Tenure.RESERVED, allowed, day, first_day, end, usd)
        if not signed.gpus:
            return None
        self._agree(signed, day)
        self._fleet.sign(signed)
        return signed

    def bring_in(self, lease: Lease) -> None:
        """A lease of before the start."""
        self._agree(lease, lease.first_day)
        self._fleet.sign(lease)

    def sell(self, order: Sell, day: int) -> None:
        """GPUs leave this afternoon at today's bid."""
        new = self._list_price(order.accelerator, day)
        sold = self._fleet.sell(order.accelerator, order.gpus, day)
        for gone in sold:
            if gone.ordered_day is not None:  # what is still owed for them is owed as for GPUs that end today
                own = self._scenario.ownership
                life_end = gone.agreed_day + own.installation_days + own.useful_life_days
                self._agree(replace(gone, gpus=-gone.gpus, end_day=life_end), day)
                self._agree(gone, day)
        usd = sum(resale_bid_on_day_usd(self._scenario.ownership, tranche, day, new) for tranche in sold)
        allowed = Allowed(sum(tranche.gpus for tranche in sold), "is there to be sold")
        self._record(order, Tenure.OWNED, allowed, day, day, day, -usd)

    def limit_rental(self, day: int, days_to_review: int) -> None:
        """Where money is limited, what is left of it may be rented for; what is lacking is told."""
        if self.limits.bound_money:
            self._fleet.rental_usd_per_day.set(day, self.limits.rental_usd_per_day(days_to_review))
            if self.limits.overrun_usd:
                told = f"what is agreed on exceeds the budget of the year by {self.limits.overrun_usd:,.0f} USD"
                self._look(day, Tenure.ON_DEMAND)
                seen = self._seen, self._owned_kw
                self.records.append(OrderRecord(day, "", Tenure.ON_DEMAND, 0, 0, day, day, 0.0, told, *seen))

    def _agree(self, bound: Purchase | Lease, day: int) -> None:
        self.signed.append((day, bound))
        self.limits.owe(bound)

    def _had(self, asked: Purchase, day: int) -> Allowed:
        """How many GPUs supply, power and money leave."""
        found, limit = self.limits.allowed(asked), self._scenario.supply.purchase_gpus
        left = float(limit[asked.accelerator, day // DAYS_PER_QUARTER])
        if isfinite(left):
            quarter = day // DAYS_PER_QUARTER
            ordered = (
                past.gpus
                for past in self._fleet.purchases
                if past.accelerator == asked.accelerator
                and past.ordered_day is not None
                and past.ordered_day // DAYS_PER_QUARTER == quarter
            )
            supplied = max(int(left) - sum(ordered), 0)
            found = min(found, Allowed(supplied, "the quarter had left"), key=lambda each: each.gpus)
        return found

    def _list_price(self, accelerator: int, day: int) -> float:
        return float(self._world.prices.purchases_on(self._world.calendar.index(day))[accelerator])

    def _look(self, day: int, tenure: Tenure) -> None:
        """What is seen changes by the day; what is owned, with each order of GPUs to own too."""
        if day != self._look_day:
            index = self._world.calendar.index(day)
            week = min(index, 7)
            mean = self._world.meter.mean(index - week, index) if week else 0.0
            self._seen = f"{mean:.3g} tokens a day last week" if week else "no meter yet"
        if day != self._look_day or tenure is Tenure.OWNED:
            self._owned_kw = self.limits.owned_kw(day)
        self._look_day = day

    def _record(
        self,
        order: Buy | Reserve | Sell,
        tenure: Tenure,
        allowed: Allowed,
        day: int,
        first_day: int,
        end_day: int,
        usd: float,
    ) -> None:
        self._look(day, tenure)
        name, cut = self._scenario.accelerators[order.accelerator].name, ""
        if allowed.gpus < order.gpus:
            cut = f"; {order.gpus} asked, cut to what {allowed.limit}"
        self.records.append(
            OrderRecord(
                day,
                name,
                tenure,
                order.gpus,
                allowed.gpus,
                first_day,
                end_day,
                usd,
                order.reason + cut,
                self._seen,
                self._owned_kw,
            )
        )
