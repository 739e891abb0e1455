"""The lab, lived: SimPy wakes it only when something changes; the books are settled once at the end.

Order within one day: deliveries and expiries; finished runs go into service; announcements; then decisions, so
that they see the whole morning (a release first, then the review of GPUs); then the day is served and charged.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
import simpy
from simpy.events import EventPriority

from simulator.lab.accounts import FLOWS
from simulator.lab.books import Books, Deployment, TrainingRun, settle
from simulator.lab.contracts import Contracts
from simulator.lab.dispatch import Dispatch, Workload, dispatch
from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import held_in
from simulator.lab.level import Level
from simulator.lab.limits import BUDGET_YEAR_DAYS
from simulator.lab.models import ServedModel, served_model, work_flop_per_gpu_hour
from simulator.lab.observation import Observation, PlannedModel
from simulator.lab.orders import Buy, CapRental, Lease, OrderRecord, Purchase, Reserve, Sell
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement
from simulator.lab.replan import Replan, ReplanRecord, Requantize, Rerun, Resell, Service
from simulator.lab.runs import Assignment, ReleaseRecord, Runs
from simulator.lab.users_rent import rent_for_users
from simulator.laws.precision import PRECISIONS
from simulator.world.market import SpotWork
from simulator.world.scenario import Scenario
from simulator.world.world import MeterReading, World, realize

Process = Generator[simpy.Event, None, None]

_DECIDE_RELEASE, _REVIEW_FLEET = 2, 3
"""Priorities of the afternoon: after every morning event, the release before the review."""
_EVENT_SIZE = 0.1
"""A shock of demand, or a move of a recorded price, smaller than this does not call an extra review."""


@dataclass(frozen=True, slots=True)
class Run:
    """One policy, lived through one world: what was used, what it cost, and what was decided."""

    policy: str
    world: World
    used: Dispatch
    books: Books
    releases: tuple[ReleaseRecord, ...]
    orders: tuple[OrderRecord, ...]
    signed: tuple[tuple[int, Purchase | Lease], ...]
    """What was bought and leased, by the day it was; a sale takes a purchase back and agrees on one that ends."""
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
        self.fleet = Fleet(len(self.scenario.accelerators), self.scenario.ownership.working_share)
        self.more_gpus = self.env.event()
        """Comes when GPUs are delivered, leased or given back: who waits for them looks again."""
        self.models: list[ServedModel] = []
        self.coming: list[PlannedModel] = []
        self.deployments: list[Deployment] = []
        self.model_in_service = Level(-1.0)
        self.service: Service | None = None
        self.reviewed_day = -1
        self.serving_rental, self.work_rental = Level(), Level()
        self.research_flop_per_day = Level()
        self.contracts = Contracts(world, self.fleet)
        self.runs = Runs(world, self.fleet, self.contracts.limits)
        self.waiting: list[Assignment] = []
        self.replans: list[ReplanRecord] = []
        for part in (policy.procurement, policy.replan):
            if isinstance(part, Procurement | Replan):
                part.check(self.scenario)

    # The story -------------------------------------------------------------------------------------------------

    def live(self) -> Run:
        """Open, live to the horizon, settle."""
        self._open()
        for process in (self.market, self.demand, self.roadmap, self.research, self.procurement):
            self.env.process(process())
        if self.scenario.limits.budget_usd_per_year is not None:
            self.env.process(self.reviews(range(BUDGET_YEAR_DAYS, self.world.calendar.horizon_days, BUDGET_YEAR_DAYS)))
        planned = self.policy.procurement.order_days(self.scenario)
        if planned:
            self.env.process(self.reviews(sorted({day for day in planned if day > 0})))
        while self.env.peek() < self.world.calendar.horizon_days:
            self.env.step()
            self.n_events += 1
        for assigned in self.waiting:  # in vain
            self.runs.begin(assigned, self.world.calendar.horizon_days)
        used, books = self._settled(self.world)
        contracts = self.contracts
        told = tuple(self.runs.releases), tuple(contracts.records), tuple(contracts.signed), tuple(self.replans)
        return Run(self.policy.name, self.world, used, books, *told, self.n_events)

    def market(self) -> Process:
        """New kinds of GPU and dated changes of price: rent what is now cheapest, and review at once."""
        for day in self.scenario.announcement_days(_EVENT_SIZE):
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
            self.env.process(self.train(Assignment(release, choice, self.world.slip_days[release.number])))

    def research(self) -> Process:
        """Experiments towards each release, spread evenly until it is due; equal for all policies."""
        for release in self.world.releases:
            days = max(release.due_day - self.today, 1)
            flop_per_day = self.scenario.research_flop(release) / days
            self.research_flop_per_day.set(self.today, flop_per_day)
            self.contracts.limits.owe_research(self.today, days, flop_per_day)
            yield self.env.timeout(days)
        self.research_flop_per_day.set(self.today, 0.0)

    def procurement(self) -> Process:
        """Reviews at a steady pace: order, reserve, and set the rental cap."""
        while True:
            yield self._afternoon(_REVIEW_FLEET)
            self.review()
            yield self.env.timeout(self.policy.procurement.review_days)

    def reviews(self, days: Iterable[int]) -> Process:
        """A review on each of some days: of new budget years, or those that procurement asked for beforehand."""
        for day in days:
            yield self.env.timeout(day - self.today)
            yield self._afternoon(_REVIEW_FLEET)
            self.review()

    def review(self) -> None:
        """One review a day: every order becomes a process of its own, and what was planned is looked at again."""
        today = self.today
        if self.reviewed_day == today:
            return
        self.reviewed_day = today
        self._look_at_money()
        self.replan()
        seen, procurement, refresh = self.observe(), self.policy.procurement, self.policy.refresh
        orders = procurement.review if refresh is None else partial(refresh.orders, procurement)
        for order in orders(seen, self.forecast):
            match order:
                case Buy() if self.contracts.is_possible(order, today):
                    place = self.contracts.buy(order, today)
                    if place is not None:
                        self.env.process(self.own(place))
                case Reserve() if self.contracts.is_possible(order, today):
                    lease = self.contracts.sign(order, today)
                    if lease is not None:
                        self.env.process(self.hold(lease))
                case Sell() if self.contracts.is_possible(order, today):
                    self.contracts.sell(order, today)
                case CapRental(gpus) if gpus >= 0.0:
                    self.fleet.rental_cap.set(today, gpus)
                case _:
                    raise ValueError(f"{self.policy.name} gave an order that cannot be carried out: {order!r}")
        self.contracts.limit_rental(today, self.policy.procurement.review_days)

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
                    self.env.process(self.train(Assignment(step.release, step.choice, is_rerun=True)))
                case Resell():
                    self.contracts.sell(step.order, self.today)
            self.replans.append(ReplanRecord(self.today, service.release.name, band, step))

    def train(self, assigned: Assignment) -> Process:
        """A run begins when it has its GPUs and holds them until it is done; its last day carries the part it used."""
        ready = yield from self.gather(assigned)
        run = self.runs.begin(ready, self.today)
        self.env.process(self.deploy(run, ready))
        held = self.fleet.training[run.accelerator]
        whole, rest = divmod(run.days, 1.0)
        held.add(self.today, run.gpus)
        yield self.env.timeout(whole)
        held.add(self.today, run.gpus * rest - run.gpus)
        yield self.env.timeout(1)
        held.add(self.today, -run.gpus * rest)
        self._more_gpus()

    def gather(self, assigned: Assignment) -> Generator[simpy.Event, None, Assignment]:
        """Where GPUs are short a run rents, shrinks or waits, as the policy says."""
        shortage, first_day = self.policy.shortage, self.today
        ready = self.runs.on_free_gpus(assigned, shortage, 0)
        if ready is None:
            planned = PlannedModel(assigned.choice.model, assigned.release.due_day)
            self._expect(planned)
            self.waiting.append(assigned)
            while ready is None:
                yield self.more_gpus | self.env.timeout(shortage.patience_left(self.today - first_day))
                ready = self.runs.on_free_gpus(assigned, shortage, self.today - first_day)
            self.waiting.remove(assigned)
            self._no_longer(planned)
        return ready

    def deploy(self, run: TrainingRun, made: Assignment) -> Process:
        """All demand moves to the new model on the morning it is due and ready, unless a later release came first."""
        model = made.choice.model
        yield from self._await(PlannedModel(model, run.deploy_day - made.slip_days))
        if made.slip_days:  # which nobody knew before
            yield from self._await(PlannedModel(model, run.deploy_day))
        if self.service is None or run.release >= self.service.release.number:
            self.service = Service.of(made.release, made.choice)
            usd = self.scenario.deployment.usd_per_release + made.choice.rollout_usd
            self.deployments.append(Deployment(self.today, usd))
            self._serve(model)

    def requantize(self, model: ServedModel) -> Process:
        """From tomorrow the model in service serves in another precision, unless another one has taken over."""
        present = self.models[-1]
        yield from self._await(PlannedModel(model, self.today + 1))
        if self.models[-1] is present:
            self._serve(model)

    def own(self, place: int) -> Process:
        """GPUs arrive after the lead time, serve to the end of their useful life, and are sold that morning."""
        yield self.env.timeout(max(self.fleet.purchases[place].first_day - self.today, 0))
        self.fleet.deliver(place)
        self._more_gpus()
        yield self.env.timeout(self.fleet.purchases[place].end_day - self.today)
        self.fleet.retire(place, self.today)

    def hold(self, lease: Lease) -> Process:
        """Reserved GPUs are there from the day agreed, and paid for the whole term, used or not."""
        if lease.first_day > self.today:
            yield self.env.timeout(lease.first_day - self.today)
        self.fleet.begin(lease)
        self._more_gpus()
        yield self.env.timeout(lease.end_day - self.today)
        self.fleet.end(lease)

    # What the story needs --------------------------------------------------------------------------------------

    @property
    def today(self) -> int:
        """Whole days since the start."""
        return int(self.env.now)

    def observe(self) -> Observation:
        """What a policy sees this afternoon: yesterday's meter, today's quotes, the fleet."""
        today = self.today
        index = self.world.calendar.index(today)
        return Observation(
            today,
            self.scenario,
            MeterReading(self.world.meter, index),
            self.world.prices.rents_on(index),
            self.world.prices.purchases_on(index),
            float(self.world.prices.electricity_usd_per_kwh[index]),
            Holdings(self.fleet),
            self.models[int(self.model_in_service.value)] if self.models else None,
            tuple(planned.seen_on(today) for planned in self.coming),
            self.foreseen_rents,
        )

    def _afternoon(self, priority: int) -> simpy.Event:
        """Later today, when the whole morning has happened."""
        event = simpy.Event(self.env)
        event._ok, event._value = True, None
        self.env.schedule(event, EventPriority(priority))
        return event

    def _settled(self, world: World) -> tuple[Dispatch, Books]:
        """Who used which GPU-hours until the world's end, and what it cost."""
        workload = Workload(
            self.models, self.model_in_service, self.serving_rental, self.work_rental, self.research_flop_per_day
        )
        used = dispatch(world, self.fleet, workload)
        return used, settle(world, self.fleet, used, self.runs.begun, self.deployments)

    def _look_at_money(self) -> None:
        """Where money is limited: what was spent until yesterday, and whether what is agreed on goes beyond."""
        limits = self.contracts.limits
        if limits.bound_money:
            spent = np.zeros(0)
            if self.today:
                spent = self._settled(self.world.until(self.today))[1].cash_usd[:, : len(FLOWS)].sum(axis=1)
            seen = self.observe()
            users = rent_for_users(seen, self.forecast, limits.days, self.policy.procurement.review_days)
            limits.look(self.today, spent, users)

    def _more_gpus(self) -> None:
        """Whoever waits for GPUs looks again."""
        if self.more_gpus.callbacks:
            self.more_gpus.succeed()
            self.more_gpus = self.env.event()

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
        life = self.scenario.ownership.useful_life_days
        for old in self.scenario.opening_fleet:
            kind = names.index(old.accelerator)
            tranche = Purchase(kind, old.gpus, old.paid_usd_per_gpu, -old.age_days, life - old.age_days)
            self.env.process(self.own(self.fleet.order(tranche, 0)))
        for left in self.scenario.opening_lease:
            discount = self.scenario.market.discount_of_rest(left.days_left)
            kind = names.index(left.accelerator)
            lease = Lease(kind, left.gpus, left.usd_per_gpu_hour, discount, -1, left.days_left)
            self.contracts.bring_in(lease)
            self.env.process(self.hold(lease))
        self._choose_rental()
        if self.policy.replan is not None:
            self.service = Service.opening(self.observe(), self.forecast)

    def _await(self, planned: PlannedModel) -> Process:
        """A model is expected on its day, and no longer when it has come."""
        self._expect(planned)
        yield self.env.timeout(planned.deploy_day - self.today)
        self._no_longer(planned)

    def _expect(self, planned: PlannedModel) -> None:
        self.coming = sorted([*self.coming, planned], key=lambda coming: coming.deploy_day)

    def _no_longer(self, planned: PlannedModel) -> None:
        self.coming = [coming for coming in self.coming if coming is not planned]

    def _serve(self, model: ServedModel) -> None:
        self.models.append(model)
        self.model_in_service.set(self.today, len(self.models) - 1)
        self._choose_rental()

    def _choose_rental(self) -> None:
        """Rent the kind with the cheapest token for serving, and with the cheapest FLOP, part on spot, for research."""
        rent = self.world.prices.rents_on(self.world.calendar.index(self.today))
        spot = self.world.prices.spots_on(self.world.calendar.index(self.today))
        spot *= self.scenario.market.spot_factor(SpotWork.RESEARCH)
        had = self.scenario.market.spot_availability
        mixed = np.where(spot < rent, had * np.where(np.isfinite(spot), spot, 0.0) + (1.0 - had) * rent, rent)
        self.work_rental.set(self.today, int(np.argmin(mixed / work_flop_per_gpu_hour(self.scenario))))
        if self.models:
            seconds = self.models[int(self.model_in_service.value)].gpu_seconds_per_token
            self.serving_rental.set(self.today, int(np.argmin(rent * seconds)))
