"""Orders turned into contracts: what is paid or fetched on the day, from when to when, and the record of each."""

from __future__ import annotations

from math import isfinite

from simulator.lab.books import resale_bid_on_day_usd
from simulator.lab.fleet import Fleet
from simulator.lab.orders import Buy, Lease, OrderRecord, Purchase, Reserve, Sell, Tenure
from simulator.laws.units import DAYS_PER_YEAR, HOURS_PER_DAY
from simulator.world.calendar import DAYS_PER_QUARTER
from simulator.world.world import World


class Contracts:
    """What was ordered, sold and signed for one fleet in one world."""

    def __init__(self, world: World, fleet: Fleet) -> None:
        self.records: list[OrderRecord] = []
        self._world, self._scenario, self._fleet = world, world.scenario, fleet

    @property
    def useful_life_days(self) -> int:
        """How long GPUs serve before they are sold [days]."""
        return round(self._scenario.ownership.useful_life_years * DAYS_PER_YEAR)

    def is_possible(self, order: Buy | Reserve | Sell, day: int) -> bool:
        """Whole GPUs, of a kind there is, from today on; those to sell must be there, and not since today."""
        if not (order.gpus > 0 and order.gpus % 1 == 0 and 0 <= order.accelerator < len(self._fleet.owned)):
            return False
        if isinstance(order, Reserve):
            return order.first_day is None or order.first_day >= day
        if not isinstance(order, Sell):
            return True
        for_sale = self._fleet.oldest(order.accelerator, order.gpus, day)
        return sum(tranche.gpus for _, tranche in for_sale) == order.gpus

    def buy(self, order: Buy, day: int) -> Purchase:
        """A tranche at today's price, to arrive after the market's lead time."""
        price = self._list_price(order.accelerator, day)
        if not isfinite(price):
            raise ValueError(f"{self._name(order)} is not for sale on day {day}")
        arrives = day + self._world.purchase_lead_days(day)
        sold = arrives + self.useful_life_days
        purchase = Purchase(order.accelerator, order.gpus, price, arrives, sold)
        self._fleet.commit(purchase, day + round(self._scenario.market.lead_days))
        usd = order.gpus * price * self._scenario.ownership.all_in_factor
        self._record(order, Tenure.OWNED, day, arrives, sold, usd)
        return purchase

    def as_supplied(self, order: Buy, day: int) -> Buy:
        """The order, cut to what can still be ordered of its kind this quarter."""
        name, quarter = self._name(order), day // DAYS_PER_QUARTER
        limit = float(self._scenario.supply.purchase_gpus[order.accelerator, quarter])
        if not isfinite(limit):
            return order
        made = (past for past in self.records if past.tenure is Tenure.OWNED and past.accelerator == name)
        ordered = (past.gpus for past in made if past.usd >= 0.0 and past.day // DAYS_PER_QUARTER == quarter)
        left = int(limit) - sum(ordered)
        if order.gpus <= left:
            return order
        return Buy(order.accelerator, left, f"{order.reason}; {order.gpus} asked, cut to what the quarter had left")

    def sign(self, order: Reserve, day: int) -> Lease:
        """A lease from today or a later day, at today's rent less the term's discount."""
        rent = float(self._world.prices.rents_on(self._world.calendar.index(day))[order.accelerator])
        if not isfinite(rent):
            raise ValueError(f"{self._name(order)} is not on offer on day {day}")
        discount = self._scenario.market.discount(order.term_days)
        first = day if order.first_day is None else order.first_day
        price, end = rent * (1.0 - discount), first + order.term_days
        lease = Lease(order.accelerator, order.gpus, price, discount, first, end)
        self._fleet.sign(lease)
        self._record(order, Tenure.RESERVED, day, first, end, order.gpus * price * HOURS_PER_DAY * order.term_days)
        return lease

    def sell(self, order: Sell, day: int) -> None:
        """GPUs leave this afternoon at today's bid."""
        new = self._list_price(order.accelerator, day)
        sold = self._fleet.sell(order.accelerator, order.gpus, day)
        usd = sum(resale_bid_on_day_usd(self._scenario.ownership, tranche, day, new) for tranche in sold)
        self._record(order, Tenure.OWNED, day, day, day, -usd)

    def _list_price(self, accelerator: int, day: int) -> float:
        return float(self._world.prices.purchases_on(self._world.calendar.index(day))[accelerator])

    def _name(self, order: Buy | Reserve | Sell) -> str:
        return self._scenario.accelerators[order.accelerator].name

    def _record(
        self, order: Buy | Reserve | Sell, tenure: Tenure, day: int, first_day: int, end_day: int, usd: float
    ) -> None:
        index = self._world.calendar.index(day)
        week = min(index, 7)
        seen = f"{self._world.meter.mean(index - week, index):.3g} tokens a day last week" if week else "no meter yet"
        self.records.append(
            OrderRecord(day, self._name(order), tenure, order.gpus, first_day, end_day, usd, order.reason, seen)
        )
