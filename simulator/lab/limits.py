"""How far money and power go: what is owed on later days, what of an order can be had, and what is left for renting."""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

from simulator.lab.fleet import Fleet
from simulator.lab.holding import running_usd_per_day
from simulator.lab.models import work_flop_per_gpu_hour
from simulator.lab.orders import Lease, Purchase
from simulator.lab.payments import payments
from simulator.laws.units import FloatArray, IntArray
from simulator.world.world import World

BUDGET_YEAR_DAYS = 365
"""Budgets are for years of so many days from the start."""
_ROUNDING = 1e-9
_FOR_EVER = 10**9


class UsersRent(NamedTuple):
    """What serving today's users takes beyond the GPUs held or on order, were all of it rented by the hour."""

    usd: FloatArray
    """A day, on each day of the world from the start on [day]."""
    usd_per_gpu_day: FloatArray
    """What a day of a GPU of each kind saves of it [accelerator]."""


class Allowed(NamedTuple):
    """How many GPUs can be ordered, and what keeps it from being more."""

    gpus: int
    limit: str


class Limits:
    """The limits of one lab. Money is counted by day, and only where it is limited."""

    def __init__(self, world: World, fleet: Fleet) -> None:
        self._world, self._fleet, self._inputs = world, fleet, world.scenario.limits
        self.bound_money = self._inputs.bound_money
        calendar = world.calendar
        n_days = calendar.horizon_days + calendar.look_ahead_days if self.bound_money else 0
        self._agreed_usd = np.zeros(-(-n_days // BUDGET_YEAR_DAYS) * BUDGET_YEAR_DAYS)
        """What contracts and work under way ask for, by the day it must be paid."""
        self._running_usd = np.zeros(self._agreed_usd.size)
        """What the GPUs owned, or to come, cost to run and keep, at the tariff of the last look."""
        self._users = UsersRent(np.zeros(self._agreed_usd.size), np.zeros(len(world.scenario.accelerators)))
        self._spent_usd = 0.0
        """Before today."""
        self._spent_this_year_usd = 0.0
        self._today = 0
        rated_kw = np.array([kind.server_power_kw for kind in world.scenario.accelerators])
        self._kw = rated_kw * world.scenario.ownership.pue

    def owe(self, bound: Purchase | Lease) -> None:
        """From now on what this costs comes first."""
        if self.bound_money:
            self._agreed_usd += self._payments(bound)
            if isinstance(bound, Purchase):
                self._running_usd += self._running(bound)
            self._users = self._users._replace(usd=self._users.usd - self._saved(bound))

    def owe_by_day(self, first_day: int, days: float, usd_per_day: float) -> None:
        """The same of work that goes on for some days, such as a training run."""
        if self.bound_money:
            span = np.arange(first_day, min(first_day + int(np.ceil(days)), self._agreed_usd.size))
            self._agreed_usd[span] += usd_per_day * np.minimum(days - (span - first_day), 1.0)

    def owe_research(self, first_day: int, days: int, flop_per_day: float) -> None:
        """The same of experiments, at the rent they would cost today."""
        if self.bound_money:
            rents = self._world.prices.rents_on(self._world.calendar.index(first_day))
            usd_per_flop = float((rents / work_flop_per_gpu_hour(self._world.scenario)).min())
            self.owe_by_day(first_day, days, flop_per_day * usd_per_flop)

    @property
    def days(self) -> IntArray:
        """The days for which money is counted."""
        return np.arange(self._agreed_usd.size)

    def look(self, day: int, spent_usd: FloatArray, users: UsersRent) -> None:
        """Take in what was really spent on every day before today [USD], and what users will need."""
        self._users = users
        self._today, self._spent_usd = day, float(spent_usd.sum())
        self._spent_this_year_usd = float(spent_usd[day - day % BUDGET_YEAR_DAYS :].sum())
        held = [tranche for tranche in self._fleet.purchases if tranche.end_day > day]
        self._running_usd = sum((self._running(tranche) for tranche in held), np.zeros(self._agreed_usd.size))

    @property
    def overrun_usd(self) -> float:
        """What is agreed on for the rest of the budget year beyond what the year has left [USD]."""
        if self._inputs.budget_usd_per_year is None:
            return 0.0
        return max(-float(self._budget_left_usd()[self._today // BUDGET_YEAR_DAYS]), 0.0)

    def rental_usd_per_day(self, days_to_review: int) -> float:
        """What may go to serving on rented GPUs and to tokens bought, until the next review [USD a day].

        A budget is spread over the days left of its year, as users will need it while orders are still to come, and
        never less than evenly; cash over those until the next review.
        """
        left = [np.inf]
        if self._inputs.budget_usd_per_year is not None:
            usd = float(self._budget_left_usd()[self._today // BUDGET_YEAR_DAYS])
            needed = self._users.usd[self._today :][: BUDGET_YEAR_DAYS - self._today % BUDGET_YEAR_DAYS]
            soon, total = float(needed[:days_to_review].mean()), float(needed.sum())
            left.append(usd * max(1.0 / needed.size, soon / total if total else 0.0))
        if self._inputs.cash_usd is not None:
            left.append(float(self._cash_left_usd().min()) / max(days_to_review, 1))
        return max(min(left), 0.0)

    def owned_kw(self, day: int) -> float:
        """The most power that owned GPUs, held or to come, will draw on any day from this one on, as rated [kW]."""
        return self._fleet.most_owned(self._kw, day, _FOR_EVER)

    def allowed(self, asked: Purchase | Lease) -> Allowed:
        """How many of the GPUs asked for there is power and money for.

        Money must do for what they ask for, and beside it for serving today's users on rented GPUs, less the rent that
        those asked for will save: nobody is refused for the sake of an order.
        """
        found = [Allowed(asked.gpus, "")]
        if self._inputs.power_kw is not None and isinstance(asked, Purchase):
            held = self._fleet.most_owned(self._kw, asked.first_day, asked.end_day)
            gpus = (self._inputs.power_kw - held) / float(self._kw[asked.accelerator])
            found.append(Allowed(_whole(gpus), "the building has power for"))
        if self.bound_money:
            due = self._payments(asked)
            if isinstance(asked, Purchase):
                due += self._running(asked)
            users, net = self._users.usd, due - self._saved(asked)
            if self._inputs.budget_usd_per_year is not None:
                left = self._budget_left_usd()
                share = min(_share(left, _by_year(due)), _share(left - _by_year(users), _by_year(net)))
                found.append(Allowed(_whole(share * asked.gpus), "the budget allows"))
            if self._inputs.cash_usd is not None:
                due, net, users = (np.cumsum(usd[self._today :]) for usd in (due, net, users))
                left = self._cash_left_usd()
                share = min(_share(left, due), _share(left - users, net))
                found.append(Allowed(_whole(share * asked.gpus), "cash on hand allows"))
        return min(found, key=lambda each: each.gpus)

    def _budget_left_usd(self) -> FloatArray:
        """Of every budget year, once all that is agreed on is paid; those that are over have nothing [year]."""
        year, due = self._today // BUDGET_YEAR_DAYS, self._agreed_usd + self._running_usd
        due[: self._today] = 0.0
        left: FloatArray = (self._inputs.budget_usd_per_year or 0.0) - _by_year(due)
        left[year] -= self._spent_this_year_usd
        left[:year] = 0.0
        return left

    def _cash_left_usd(self) -> FloatArray:
        """On every day from today on, once all that is agreed on until then is paid, with the income until then."""
        days = np.arange(self._today, self._agreed_usd.size, dtype=np.float64)
        in_hand = (self._inputs.cash_usd or 0.0) + self._inputs.income_usd_per_day * days - self._spent_usd
        left: FloatArray = in_hand - np.cumsum((self._agreed_usd + self._running_usd)[self._today :])
        return left

    def _saved(self, bound: Purchase | Lease) -> FloatArray:
        """What GPUs save by day of the rent that users need [USD]."""
        working = self._fleet.working_share if isinstance(bound, Purchase) else 1.0
        saved = np.zeros(self._users.usd.size)
        days = slice(max(bound.first_day, 0), bound.end_day)
        most = bound.gpus * working * float(self._users.usd_per_gpu_day[bound.accelerator])
        saved[days] = np.minimum(self._users.usd[days], most)
        return saved

    def _payments(self, bound: Purchase | Lease) -> FloatArray:
        """What a contract asks for by day [USD]."""
        n_days, owed = self._agreed_usd.size, payments(self._world.scenario.ownership, bound)
        seen = owed.day < n_days
        due = np.zeros(n_days)
        np.add.at(due, owed.day[seen], owed.usd[seen])
        return due

    def _running(self, tranche: Purchase) -> FloatArray:
        """What owned GPUs cost to run by day, at today's tariff; those to come from the day agreed on [USD]."""
        scenario, world = self._world.scenario, self._world
        tariff = float(world.prices.electricity_usd_per_kwh[world.calendar.index(self._today)])
        first_day = max(tranche.first_day, 0)
        if first_day > self._today:
            first_day = max(tranche.agreed_day + scenario.ownership.installation_days, self._today)
        usd = np.zeros(self._agreed_usd.size)
        usd[first_day : tranche.end_day] = running_usd_per_day(scenario, tranche, tariff)
        return usd


def _by_year(usd: FloatArray) -> FloatArray:
    by_year: FloatArray = usd.reshape(-1, BUDGET_YEAR_DAYS).sum(axis=1)
    return by_year


def _share(left: FloatArray, needed: FloatArray) -> float:
    """The largest part of what is needed that is left, wherever something is."""
    bound = needed > 0.0
    return max(float((left[bound] / needed[bound]).min()), 0.0) if bound.any() else 1.0


def _whole(gpus: float) -> int:
    """Whole GPUs, none below zero; the last bit of a sum does not cost one."""
    return max(floor(gpus + _ROUNDING), 0)
