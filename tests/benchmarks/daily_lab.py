"""A naive lab, stepped every day in SimPy with plain loops over hours and tranches: the oracle and yardstick of ours.

It tells the same story in the same world: demand, rent, GPUs bought and leased on fixed days, delivered, run out and
sold, and one training run. Nothing is looked ahead and nothing is vectorised, so it is slow, obvious and independent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import simpy
from small_lab import MONDAY, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account
from simulator.lab.fixed_plan import FixedPlan, PlannedOrder
from simulator.lab.forecast import Expected
from simulator.lab.policy import Policy
from simulator.world.roadmap import ReleaseInputs
from simulator.world.scenario import Scenario
from simulator.world.world import World

TEN_YEARS = 3652
HOURS = 24
SECONDS_PER_HOUR = 3600
HOURLY_LOAD = tuple(0.7 + 0.6 * (7 * hour % 24) / 23 for hour in range(HOURS))
RECIPE = FixedRecipe(n_parameters=1.25e11, gpus=30, gpu_hours=30 * 24 * 87.5)


def scenario(horizon_days: int = TEN_YEARS) -> Scenario:
    """The lab of the three days, for longer, in a market and a demand that fluctuate."""
    plain = plain_scenario()
    market = {"event": (), "list_fall_per_year": 0.1, "lead_days": 60.0, "lead_sigma": 0.4}
    market |= {"rental_noise_sigma": 0.15, "purchase_noise_sigma": 0.05, "electricity_noise_sigma": 0.1}
    release = ReleaseInputs(name="next", due=MONDAY + timedelta(days=min(400, horizon_days // 2)))
    demand = {"growth_per_year": 1.3, "noise_sigma": 0.1, "hour_profile": HOURLY_LOAD}
    roadmap = {"train_days": 90, "release": (release,)}
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "demand": plain.demand.model_copy(update=demand),
            "market": plain.market.model_copy(update=market),
            "roadmap": plain.roadmap.model_copy(update=roadmap),
        }
    )


def plan(horizon_days: int = TEN_YEARS) -> FixedPlan:
    """A purchase and two leases every half-year."""
    orders = []
    for day in range(3, horizon_days, 182):
        told = {"date": MONDAY + timedelta(days=day), "accelerator": "Unit"}
        orders.append(PlannedOrder.model_validate(told | {"action": "buy", "gpus": 3 + day // 400}))
        for term, gpus in ((400, 2), (100, 3)):
            orders.append(PlannedOrder.model_validate(told | {"action": "reserve", "gpus": gpus, "term_days": term}))
    return FixedPlan(order=tuple(orders), review_days=horizon_days)


def policy(horizon_days: int = TEN_YEARS) -> Policy:
    """The same orders, for the real lab."""
    return Policy("as planned", RECIPE, plan(horizon_days), Expected())


@dataclass
class Tranche:
    """GPUs bought or leased: from when to when, and at what price."""

    gpus: int
    usd: float
    first_day: int
    end_day: int
    due_day: int = -1
    """Of a purchase: when it is paid."""


@dataclass
class Day:
    """What one day came to: money by account, GPU-hours, and tokens."""

    cash_usd: dict[Account, float] = field(default_factory=lambda: dict.fromkeys(Account, 0.0))
    owned_gpus: int = 0
    reserved_gpus: int = 0
    training_hours: float = 0.0
    serving_sunk_hours: float = 0.0
    serving_rented_hours: float = 0.0
    served_tokens: float = 0.0


class DailyLab:
    """One process, a day at a time."""

    def __init__(self, world: World, orders: FixedPlan) -> None:
        self.world, self.plan = world, orders
        self.env = simpy.Environment()
        self.owned: list[Tranche] = []
        self.leased: list[Tranche] = []
        self.gpu_hours_to_train = 0.0
        self.tokens_per_gpu_second = 1000.0  # of the opening model
        self.ledger: list[Day] = []

    def live(self) -> list[Day]:
        """All days up to the horizon."""
        self.env.process(self.days())
        self.env.run(until=self.world.calendar.horizon_days)
        return self.ledger

    def days(self) -> simpy.events.ProcessGenerator:
        """Morning, decisions, service, bills."""
        while True:
            self.today, self.index = int(self.env.now), self.world.calendar.index(int(self.env.now))
            self.day = Day()
            self.ledger.append(self.day)
            self.deploy()
            self.sell_old_gpus()
            self.order()
            self.serve(*self.train(*self.held()))
            self.pay()
            yield self.env.timeout(1)

    def deploy(self) -> None:
        """The new model is half as large and twice as fast."""
        (release,) = self.world.releases
        if self.today == release.decision_day:
            self.gpu_hours_to_train = RECIPE.gpu_hours
        if self.today == release.due_day:
            self.tokens_per_gpu_second = 2000.0

    def sell_old_gpus(self) -> None:
        """At the end of their life, at what a used GPU fetches."""
        for tranche in self.owned:
            if tranche.end_day == self.today:
                self.day.cash_usd[Account.RESALE] -= self.bid(tranche)
        self.owned = [tranche for tranche in self.owned if tranche.end_day > self.today]
        self.leased = [tranche for tranche in self.leased if tranche.end_day > self.today]

    def bid(self, tranche: Tranche) -> float:
        """Value of a used server, never above a new one, less the spread."""
        own = self.world.scenario.ownership
        age = self.today - tranche.first_day
        used = tranche.usd * 10 ** (-own.value_fall_oom_per_year * age / 365.25)
        return min(used, self.list_price()) * tranche.gpus * own.server_overhead * (1 - own.resale_spread)

    def order(self) -> None:
        """What the plan says for today, at today's price."""
        today, own = MONDAY + timedelta(days=self.today), self.world.scenario.ownership
        for order in self.plan.order:
            if order.date == today and order.action == "buy":
                first = self.today + self.world.purchase_lead_days(self.today)
                end = first + round(own.useful_life_years * 365.25)
                due = self.today + round(self.world.scenario.market.lead_days)
                self.owned.append(Tranche(order.gpus, self.list_price(), first, end, due))
            if order.date == today and order.action == "reserve":
                price = self.rent() * (1 - self.world.scenario.market.discount(order.term_days or 0))
                self.leased.append(Tranche(order.gpus, price, self.today, self.today + (order.term_days or 0)))

    def held(self) -> tuple[int, int]:
        """GPUs owned and leased today."""
        for tranche in self.owned:
            if tranche.first_day <= self.today:
                self.day.owned_gpus += tranche.gpus
        for tranche in self.leased:
            self.day.reserved_gpus += tranche.gpus
        return self.day.owned_gpus, self.day.reserved_gpus

    def train(self, owned: int, reserved: int) -> tuple[float, float]:
        """The run takes its GPUs first, and rents those that lack; what is left can serve."""
        gpus = min(self.gpu_hours_to_train / HOURS, RECIPE.gpus)
        self.gpu_hours_to_train -= gpus * HOURS
        self.day.training_hours = gpus * HOURS
        on_held = min(gpus, owned + reserved)
        return owned + reserved - on_held, gpus - on_held

    def serve(self, free_gpus: float, rented_for_training: float) -> None:
        """Every hour on what is free, then on rented GPUs."""
        rented_hours = rented_for_training * HOURS
        asked = float(self.world.demand_tokens[self.index])
        for factor in self.world.scenario.demand.hour_profile:
            tokens = asked / HOURS * factor
            gpus = tokens / SECONDS_PER_HOUR / self.tokens_per_gpu_second
            on_held = min(gpus, free_gpus)
            self.day.serving_sunk_hours += on_held
            self.day.serving_rented_hours += gpus - on_held
            self.day.served_tokens += tokens
        rented_hours += self.day.serving_rented_hours
        self.day.cash_usd[Account.ON_DEMAND] = rented_hours * self.rent()

    def pay(self) -> None:
        """Purchases on the day agreed, and what it costs to keep GPUs."""
        own, cash = self.world.scenario.ownership, self.day.cash_usd
        tariff = float(self.world.prices.electricity_usd_per_kwh[self.index])
        rated_kw = self.world.scenario.accelerators[0].server_power_kw
        for tranche in self.owned:
            all_in = tranche.gpus * tranche.usd * own.server_overhead / (1 - own.interconnect_share)
            if tranche.due_day == self.today:
                cash[Account.PURCHASE] += all_in
            if tranche.first_day <= self.today:
                cash[Account.MAINTENANCE] += all_in * own.maintenance_per_year / 365.25
                cash[Account.POWER] += tranche.gpus * rated_kw * own.average_draw * own.pue * HOURS * tariff
                cash[Account.HOSTING] += tranche.gpus * rated_kw * own.hosting_usd_per_kw_month * 12 / 365.25
        for tranche in self.leased:
            cash[Account.RESERVED] += tranche.gpus * tranche.usd * HOURS

    def rent(self) -> float:
        """USD per GPU-hour today."""
        return float(self.world.prices.rents_on(self.index)[0])

    def list_price(self) -> float:
        """USD per GPU today."""
        return float(self.world.prices.purchases_on(self.index)[0])
