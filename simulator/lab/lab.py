"""The lab, lived: SimPy wakes it only when something changes; the books are settled once at the end.

Order within one day: deliveries and expiries; finished runs go into service; announcements; then decisions, so
that they see the whole morning (a release first, then the review of GPUs); then the day is served and charged.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
import simpy
from simpy.events import EventPriority

from simulator.lab.books import Books, TrainingRun, settle
from simulator.lab.candidates import reached_flop
from simulator.lab.contracts import Contracts
from simulator.lab.dispatch import Dispatch, Workload, dispatch
from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import held_in
from simulator.lab.level import Level
from simulator.lab.models import ServedModel, run_gpu_hours, served_model, work_flop_per_gpu_hour
from simulator.lab.observation import Observation, PlannedModel
from simulator.lab.orders import Buy, CapRental, OrderRecord, Purchase, Reserve, Sell
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.replan import ReplanRecord, Requantize, Rerun, Resell, Service
from simulator.laws.precision import PRECISIONS
from simulator.laws.units import HOURS_PER_DAY
from simulator.world.roadmap import Release
from simulator.world.scenario import Scenario
from simulator.world.world import MeterReading, World, realize

Process = Generator[simpy.Event, None, None]

_DECIDE_RELEASE, _REVIEW_FLEET = 2, 3
"""Priorities of the afternoon: after every morning event, the release before the review."""
_FRACTIONS = 2.0**32
_LAST_BIT = 1e-6
"""Days by which rounding may push a run past midnight without making it a day late."""
_EVENT_SIZE = 0.1
"""A shock of demand, or a move of a recorded price, smaller than this does not call an extra review."""


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """A release as it was planned and came to be."""

    scenario: Scenario
    release: Release
    choice: Choice
    deploy_day: int
    is_rerun: bool = False
    """Whether another model of the release was in service already: then nobody waits for it."""

    @property
    def reached_flop(self) -> float:
        """Equivalent training FLOP of the model on the decision day [FLOP]."""
        return reached_flop(self.scenario, self.release, self.choice.model)

    @property
    def days_late(self) -> int:
        """Days between due and in service."""
        return 0 if self.is_rerun else max(self.deploy_day - self.release.due_day, 0)


@dataclass(frozen=True, slots=True)
class Run:
    """One policy, lived through one world: what was used, what it cost, and what was decided."""

    policy: str
    world: World
    used: Dispatch
    books: Books
    releases: tuple[ReleaseRecord, ...]
    orders: tuple[OrderRecord, ...]
    replans: tuple[ReplanRecord, ...]
    n_events: int


def simulate(scenario: Scenario, policy: Policy, seed: int = 0, replication: int = 0) -> Run:
    """Live one replication of a scenario under a policy.

    Examples
    --------
    >>> from simulator import default_policies, load_scenario, simulate
    >>> run = simulate(load_scenario("known_demand"), default_policies()[1])
    >>> f"{run.releases[0].choice.model.n_parameters:.2e}"
    '3.28e+10'
    """
    return Lab(realize(scenario, seed, replication), policy).live()


class Lab:
    """The state of a lab and the processes that change it."""

    def __init__(self, world: World, policy: Policy) -> None:
        self.world, self.scenario, self.policy = world, world.scenario, policy
        self.forecast, self.foreseen_rents = held_in(world, policy.forecast)
        self.env = simpy.Environment()
        self.n_events = 0
        self.fleet = Fleet(len(self.scenario.accelerators))
        self.models: list[ServedModel] = []
        self.coming: list[PlannedModel] = []
        self.model_in_service = Level(-1.0)
        self.service: Service | None = None
        self.reviewed_day = -1
        self.serving_rental, self.work_rental = Level(), Level()
        self.research_flop_per_day = Level()
        self.runs: list[TrainingRun] = []
        self.releases: list[ReleaseRecord] = []
        self.contracts = Contracts(world, self.fleet)
        self.replans: list[ReplanRecord] = []
        if policy.replan is not None:
            policy.replan.check(self.scenario)

    # The story -------------------------------------------------------------------------------------------------

    def live(self) -> Run:
        """Open, live to the horizon, settle."""
        self._open()
        for process in (self.market(), self.demand(), self.roadmap(), self.research(), self.procurement()):
            self.env.process(process)
        if self.policy.procurement.order_days(self.scenario):
            self.env.process(self.planned_reviews())
        while self.env.peek() < self.world.calendar.horizon_days:
            self.env.step()
            self.n_events += 1
        workload = Workload(
            self.models, self.model_in_service, self.serving_rental, self.work_rental, self.research_flop_per_day
        )
        used = dispatch(self.world, self.fleet, workload)
        books = settle(self.world, self.fleet, used, self.runs)
        told = tuple(self.releases), tuple(self.contracts.records), tuple(self.replans)
        return Run(self.policy.name, self.world, used, books, *told, self.n_events)

    def market(self) -> Process:
        """New kinds of GPU and dated changes of price: rent what is now cheapest, and review at once."""
        for day in self._announcement_days():
            yield self.env.timeout(day - self.today)
            self._choose_rental()
            yield self._afternoon(_REVIEW_FLEET)
            self.review()

    def demand(self) -> Process:
        """A burst large enough to notice calls an extra review the day after, when the meter has read it."""
        for shock in self.world.shocks:
            if shock.day >= self.today and abs(shock.size) >= _EVENT_SIZE:
                yield self.env.timeout(shock.day + 1 - self.today)
                yield self._afternoon(_REVIEW_FLEET)
                self.review()

    def roadmap(self) -> Process:
        """Each release: on the day training must begin, its recipe is chosen."""
        for release in sorted(self.world.releases, key=lambda release: release.decision_day):
            yield self.env.timeout(release.decision_day - self.today)
            yield self._afternoon(_DECIDE_RELEASE)
            choice = self.policy.recipe.choose(self.observe(), release, self.forecast, self.policy.procurement)
            self._begin(release, choice, self.world.slip_days[release.number])

    def research(self) -> Process:
        """Experiments towards each release, spread evenly until it is due; equal for all policies."""
        for release in self.world.releases:
            days = max(release.due_day - self.today, 1)
            self.research_flop_per_day.set(self.today, self.scenario.research_flop(release) / days)
            yield self.env.timeout(days)
        self.research_flop_per_day.set(self.today, 0.0)

    def procurement(self) -> Process:
        """Reviews at a steady pace: order, reserve, and set the rental cap."""
        while True:
            yield self._afternoon(_REVIEW_FLEET)
            self.review()
            yield self.env.timeout(self.policy.procurement.review_days)

    def planned_reviews(self) -> Process:
        """On the days that procurement asked for beforehand, a review as well."""
        for day in sorted({day for day in self.policy.procurement.order_days(self.scenario) if day > 0}):
            yield self.env.timeout(day - self.today)
            yield self._afternoon(_REVIEW_FLEET)
            self.review()

    def review(self) -> None:
        """One review a day: every order becomes a process of its own, and what was planned is looked at again."""
        if self.reviewed_day == self.today:
            return
        self.reviewed_day = self.today
        self.replan()
        seen, procurement, refresh = self.observe(), self.policy.procurement, self.policy.refresh
        orders = procurement.review if refresh is None else partial(refresh.orders, procurement)
        for order in orders(seen, self.forecast):
            match order:
                case Buy() if self.contracts.is_possible(order, self.today):
                    self.env.process(self.deliver(order))
                case Reserve() if self.contracts.is_possible(order, self.today):
                    self.env.process(self.lease(order))
                case Sell() if self.contracts.is_possible(order, self.today):
                    self.contracts.sell(order, self.today)
                case CapRental(gpus) if gpus >= 0.0:
                    self.fleet.rental_cap.set(self.today, gpus)
                case _:
                    raise ValueError(f"{self.policy.name} gave an order that cannot be carried out: {order!r}")

    def replan(self) -> None:
        """When demand has left the band it was planned in: another precision, another run, a sale."""
        policy, service = self.policy, self.service
        if policy.replan is None or service is None:
            return
        seen = self.observe()
        band = policy.replan.band(seen, service)
        if band is None or not band.is_left:
            return
        progress = self.world.progress_on(self.today)
        for step in policy.replan.steps(seen, service, progress, self.forecast, policy.recipe, policy.procurement):
            match step:
                case Requantize():
                    self.env.process(self.requantize(step.model))
                case Rerun():
                    self._begin(step.release, step.choice, is_rerun=True)
                case Resell():
                    self.contracts.sell(step.order, self.today)
            self.replans.append(ReplanRecord(self.today, service.release.name, band, step))

    def train(self, run: TrainingRun) -> Process:
        """A run holds its GPUs until it is done; its last day carries the fraction it used."""
        held = self.fleet.training[run.accelerator]
        whole, rest = divmod(run.days, 1.0)
        held.add(self.today, run.gpus)
        yield self.env.timeout(whole)
        held.add(self.today, run.gpus * rest - run.gpus)
        yield self.env.timeout(1)
        held.add(self.today, -run.gpus * rest)

    def deploy(self, run: TrainingRun, service: Service, model: ServedModel, slip_days: int) -> Process:
        """All demand moves to the new model on the morning it is due and ready, unless a later release came first."""
        yield from self._await(PlannedModel(model, run.deploy_day - slip_days))
        if slip_days:  # which nobody knew before
            yield from self._await(PlannedModel(model, run.deploy_day))
        if self.service is None or run.release >= self.service.release.number:
            self.service = service
            self._serve(model)

    def requantize(self, model: ServedModel) -> Process:
        """From tomorrow the model in service serves in another precision, unless another one has taken over."""
        present = self.models[-1]
        yield from self._await(PlannedModel(model, self.today + 1))
        if self.models[-1] is present:
            self._serve(model)

    def deliver(self, order: Buy) -> Process:
        """Bought GPUs arrive after the lead time, serve their useful life, and are sold."""
        purchase = self.contracts.buy(self.contracts.as_supplied(order, self.today), self.today)
        if not purchase.gpus:
            return
        yield self.env.timeout(purchase.first_day - self.today)
        yield from self.own(purchase)

    def own(self, purchase: Purchase) -> Process:
        """GPUs serve until the end of their useful life, and are sold that morning."""
        place = self.fleet.deliver(purchase)
        yield self.env.timeout(purchase.end_day - self.today)
        self.fleet.retire(place, self.today)

    def lease(self, order: Reserve) -> Process:
        """Reserved GPUs start today, or when it was agreed, and are paid for the whole term, used or not."""
        lease = self.contracts.sign(order, self.today)
        if lease.first_day > self.today:
            yield self.env.timeout(lease.first_day - self.today)
        self.fleet.begin(lease)
        yield self.env.timeout(order.term_days)
        self.fleet.end(lease)

    # What the story needs --------------------------------------------------------------------------------------

    @property
    def today(self) -> int:
        """Whole days since the start."""
        return int(self.env.now)

    def observe(self) -> Observation:
        """What a policy sees this afternoon: yesterday's meter, today's quotes, the fleet."""
        index = self.world.calendar.index(self.today)
        return Observation(
            self.today,
            self.scenario,
            MeterReading(self.world.meter, index),
            self.world.prices.rents_on(index),
            self.world.prices.purchases_on(index),
            float(self.world.prices.electricity_usd_per_kwh[index]),
            Holdings(self.fleet),
            self.models[int(self.model_in_service.value)] if self.models else None,
            tuple(self.coming),
            self.foreseen_rents,
        )

    def _afternoon(self, priority: int) -> simpy.Event:
        """Later today, when the whole morning has happened."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None
        self.env.schedule(event, EventPriority(priority))
        return event

    def _announcement_days(self) -> list[int]:
        calendar = self.world.calendar
        days = {calendar.day_of(event.day) for event in self.scenario.market.event}
        days |= {int(day) for day in self.scenario.price_outlook.available_day}
        days |= {index - calendar.history_days for index in self.scenario.price_outlook.recorded_moves(_EVENT_SIZE)}
        return sorted(day for day in days if 0 < day < calendar.horizon_days)

    def _open(self) -> None:
        """Day 0: what the lab brings with it."""
        opening = self.scenario.opening_model
        if opening is not None:
            precision = next(kind for kind in PRECISIONS if kind.name == opening.precision)
            self._serve(
                served_model(
                    self.scenario, "opening model", opening.n_parameters, opening.n_training_tokens, precision, 1.0
                )
            )
        names = [kind.name for kind in self.scenario.accelerators]
        life = self.contracts.useful_life_days
        for inputs in self.scenario.opening_fleet:
            purchase = Purchase(
                names.index(inputs.accelerator),
                inputs.gpus,
                inputs.paid_usd_per_gpu,
                -inputs.age_days,
                life - inputs.age_days,
            )
            self.fleet.commit(purchase, 0)
            self.env.process(self.own(purchase))
        self._choose_rental()
        if self.policy.replan is not None:
            self.service = Service.opening(self.observe(), self.forecast)

    def _await(self, planned: PlannedModel) -> Process:
        """A model is expected on its day, and no longer when it has come."""
        self.coming = sorted([*self.coming, planned], key=lambda coming: coming.deploy_day)
        yield self.env.timeout(planned.deploy_day - self.today)
        self.coming = [coming for coming in self.coming if coming is not planned]

    def _serve(self, model: ServedModel) -> None:
        self.models.append(model)
        self.model_in_service.set(self.today, len(self.models) - 1)
        self._choose_rental()

    def _choose_rental(self) -> None:
        """Rent the kind with the cheapest token for serving, and with the cheapest FLOP, part on spot, for research."""
        rent = self.world.prices.rents_on(self.world.calendar.index(self.today))
        spot = self.world.prices.spots_on(self.world.calendar.index(self.today))
        had = self.scenario.market.spot_availability
        mixed = np.where(spot < rent, had * np.where(np.isfinite(spot), spot, 0.0) + (1.0 - had) * rent, rent)
        self.work_rental.set(self.today, int(np.argmin(mixed / work_flop_per_gpu_hour(self.scenario))))
        if self.models:
            seconds = self.models[int(self.model_in_service.value)].gpu_seconds_per_token
            self.serving_rental.set(self.today, int(np.argmin(rent * seconds)))

    def _begin(self, release: Release, choice: Choice, slip_days: int = 0, *, is_rerun: bool = False) -> None:
        """A run starts this afternoon."""
        run = self._plan_run(release, choice, slip_days)
        self.runs.append(run)
        self.releases.append(ReleaseRecord(self.scenario, release, choice, run.deploy_day, is_rerun))
        self.env.process(self.train(run))
        self.env.process(self.deploy(run, Service.of(release, choice), choice.model, slip_days))

    def _plan_run(self, release: Release, choice: Choice, slip_days: int) -> TrainingRun:
        """The run as the world's luck with failures lets it go, on the GPUs that were asked for."""
        kind, gpus = self.scenario.accelerators[choice.accelerator], float(choice.size.gpus)
        hours = run_gpu_hours(self.scenario, kind, choice.training_flop, gpus, self.world.failures_per_gpu_year)
        # Binary fractions of a day, so that GPUs taken and given back add up to exactly nothing.
        days = round(float(hours) / HOURS_PER_DAY / gpus * _FRACTIONS) / _FRACTIONS
        ready = self.today + (ceil(days - _LAST_BIT) if release.train_days else 0)
        read_usd = self.scenario.training.data_usd(choice.model.n_training_tokens)
        return TrainingRun(
            release=release.number,
            accelerator=choice.accelerator,
            gpus=gpus,
            first_day=self.today,
            days=days,
            data_usd=float(read_usd if choice.data_usd is None else choice.data_usd),
            due_day=release.due_day,
            deploy_day=max(ready, release.due_day) + slip_days,
            planned_tokens_by_day=choice.planned_tokens_by_day,
        )
