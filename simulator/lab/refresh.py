"""A fleet kept up to date: owned GPUs leave when renting is cheaper than running them, or when new ones are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Annotated

import numpy as np
from pydantic import Field

from simulator.lab.forecast import Forecast
from simulator.lab.holding import holding_usd, running_usd_per_day
from simulator.lab.need import whole_gpus
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order, Purchase, Reserve, Sell
from simulator.lab.procurement import Procurement, arrival_day, owned_usd_per_gpu_hour
from simulator.laws.units import DAYS_PER_WEEK, HOURS_PER_DAY, SECONDS_PER_DAY, FloatArray
from simulator.world.inputs import Inputs, OpenShare

_WEEK = np.arange(DAYS_PER_WEEK)


class Refresh(Inputs):
    """At each review, sells owned GPUs whose tokens cost too much, and lets procurement replace what it still wants.

    Retire early: where power, hosting and maintenance alone cost more per token than the cheapest rent, GPUs are sold
    at once, and procurement buys none like them. Refresh: where these, with the loss of resale value, cost more per
    token than another kind costs all in, procurement no longer counts on the old GPUs from the day new ones can
    arrive, and buys by its own rule. The old are sold as new ones stand beside them: never below the mean need of the
    coming week, nor below what procurement wants without them. GPUs that train are kept, and so are all while a cap
    limits what may be rented. Nothing is remembered: each review looks afresh.
    """

    look_days: Annotated[int, Field(gt=0, le=3650)] = Field(
        180, description="days over which running, renting and the loss of resale value are compared [days]"
    )
    least_saving: OpenShare = Field(
        0.1, description="part of the cost per token that new GPUs must save for old ones to be replaced"
    )

    def orders(self, procurement: Procurement, observation: Observation, forecast: Forecast) -> list[Order]:
        """What procurement orders when it does not count on what goes, and the sales of today."""
        costs = _Costs.on(observation, self.look_days)
        if costs is None:
            return procurement.review(observation, forecast)
        retired, old = self._dear(observation, costs)
        fleet = observation.fleet.without(retired, observation.day)
        renewed = replace(observation, fleet=fleet.without(old, arrival_day(observation)))
        orders = procurement.review(renewed, forecast)
        if old and not any(isinstance(order, Buy) for order in orders):  # leases are no reason to give them up
            orders = procurement.review(replace(observation, fleet=fleet), forecast)
        orders = [order for order in orders if not (isinstance(order, Buy) and costs.is_dear_to_run(order))]
        replaced = _replaced(renewed, retired, old, orders, forecast, costs)
        spoken_for = {order.accelerator for order in orders if isinstance(order, Sell)}
        sales = [
            *_sales(retired, f"running them costs more than renting for {self.look_days} days"),
            *_sales(replaced, f"{costs.cheapest} costs less all in"),
        ]
        return [*orders, *(sale for sale in sales if sale.accelerator not in spoken_for)]

    def _dear(self, observation: Observation, costs: _Costs) -> tuple[list[Purchase], list[Purchase]]:
        """Of what could be sold today: what is to be retired, and what is to be replaced; of each kind the oldest."""
        fleet = observation.fleet
        if np.isfinite(fleet.rental_cap_gpus):
            return [], []
        retired: list[Purchase] = []
        old: list[Purchase] = []
        for kind in range(costs.seconds.size):
            idle = max(fleet.owned_gpus(kind) - fleet.training_gpus(kind), 0.0)
            tranches = fleet.oldest(kind, idle, observation.day)
            gone = [*takewhile(costs.is_dear_to_run, tranches)]
            retired += gone
            rest = tranches[len(gone) :]
            old += takewhile(lambda tranche: costs.is_dear_to_hold(tranche, self.least_saving), rest)
        return retired, old


@dataclass(frozen=True, slots=True)
class _Costs:
    """What an hour of each way to serve costs, per token: in USD an hour times GPU-seconds per token."""

    observation: Observation
    look_days: int
    seconds: FloatArray
    """GPU-seconds per token of the model in service, by accelerator."""
    rented: float
    """On the kind cheapest to rent."""
    new: int
    """The kind cheapest to own."""
    owned: float
    """On that kind, all in."""

    @staticmethod
    def on(observation: Observation, look_days: int) -> _Costs | None:
        """As today's quotes have it; None while nothing is served."""
        if observation.serving is None:
            return None
        seconds = observation.serving.gpu_seconds_per_token
        rented = observation.rents_ahead(observation.day, look_days) * seconds
        owned = owned_usd_per_gpu_hour(observation) * seconds
        new = int(owned.argmin())
        return _Costs(observation, look_days, seconds, float(rented.min()), new, float(owned[new]))

    @property
    def cheapest(self) -> str:
        """The kind cheapest to own."""
        return self.observation.scenario.accelerators[self.new].name

    @property
    def _working_hours(self) -> float:
        """Of an owned GPU a day."""
        return HOURS_PER_DAY * self.observation.fleet.working_share

    def is_dear_to_run(self, tranche: Purchase | Buy) -> bool:
        """Whether running it, here or when it comes, costs more than to rent."""
        if isinstance(tranche, Buy):
            price, day = float(self.observation.purchase_usd_per_gpu[tranche.accelerator]), self.observation.day
            tranche = Purchase(tranche.accelerator, tranche.gpus, price, day, day)
        usd = running_usd_per_day(self.observation.scenario, tranche, self.observation.electricity_usd_per_kwh) / (
            tranche.gpus * self._working_hours
        )
        return usd * self.seconds[tranche.accelerator] > self.rented

    def is_dear_to_hold(self, tranche: Purchase, least_saving: float) -> bool:
        """Whether keeping it costs so much more than the kind cheapest to own."""
        if tranche.accelerator == self.new or not np.isfinite(self.seconds[tranche.accelerator]):
            return False
        usd = holding_usd(self.observation, tranche, self.look_days)
        usd /= self.look_days * tranche.gpus * self._working_hours
        return usd * self.seconds[tranche.accelerator] * (1.0 - least_saving) > self.owned


def _replaced(
    renewed: Observation,
    retired: Sequence[Purchase],
    old: Sequence[Purchase],
    orders: Sequence[Order],
    forecast: Forecast,
    costs: _Costs,
) -> Iterator[Purchase]:
    """Of the old GPUs those that can go today; `renewed` no longer counts on them from the day new ones arrive."""
    if not old:
        return
    fleet, today, arrival = renewed.fleet, renewed.day, arrival_day(renewed)
    speed = 1.0 / costs.seconds
    kinds = range(speed.size)
    owned_speed = fleet.working_share * speed
    held = np.array([fleet.working_gpus(kind) - fleet.training_gpus(kind) for kind in kinds])
    there = float(np.maximum(held, 0.0) @ speed) - _capacity(retired, owned_speed)
    wanted = fleet.committed(np.array([arrival]))[:, 0]
    for order in orders:
        if isinstance(order, Buy | Reserve):
            wanted[order.accelerator] += order.gpus * (fleet.working_share if isinstance(order, Buy) else 1.0)
    need_now, need_then = (float(forecast.ahead(renewed, day + _WEEK)[0].mean()) for day in (today, arrival))
    # What procurement wants when new GPUs could come, brought back to today's need.
    wanted_now = float(wanted @ speed) * min(need_now / need_then, 1.0) if need_then else 0.0
    left = min(there - _capacity(old, owned_speed), there - max(need_now / SECONDS_PER_DAY, wanted_now))
    for tranche in old:
        gpus = min(tranche.gpus, whole_gpus(left / owned_speed[tranche.accelerator]))
        if gpus > 0:
            left -= gpus * owned_speed[tranche.accelerator]
            yield replace(tranche, gpus=gpus)


def _capacity(tranches: Sequence[Purchase], speed: FloatArray) -> float:
    """Tokens a second that GPUs serve."""
    return float(sum(tranche.gpus * speed[tranche.accelerator] for tranche in tranches))


def _sales(tranches: Iterable[Purchase], reason: str) -> list[Sell]:
    """One sale of each kind."""
    gpus: dict[int, int] = {}
    for tranche in tranches:
        gpus[tranche.accelerator] = gpus.get(tranche.accelerator, 0) + tranche.gpus
    return [Sell(kind, number, reason) for kind, number in gpus.items()]
