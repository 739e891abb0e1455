"""Money: cash by day and account, economic cost by day and use; the two total the same over the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simulator.lab.accounts import Account, Use
from simulator.lab.dispatch import Dispatch
from simulator.lab.fleet import Fleet
from simulator.lab.orders import Lease, Purchase
from simulator.lab.payments import Loan, all_in_usd, price_payments
from simulator.laws.units import DAYS_PER_YEAR, HOURS_PER_DAY, FloatArray, IntArray
from simulator.world.scenario import OwnershipInputs
from simulator.world.world import World


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A run as it was carried out, and the plan it followed."""

    release: int
    accelerator: int
    gpus: float
    first_day: int
    days: float
    data_usd: float
    due_day: int
    deploy_day: int
    planned_tokens_by_day: FloatArray

    def gpu_hours(self, n_days: int) -> FloatArray:
        """GPU-hours on each day of the window; the last day carries the fraction it used."""
        share = np.clip(self.days - (np.arange(n_days) - self.first_day), 0.0, 1.0)
        share[: self.first_day] = 0.0
        hours: FloatArray = HOURS_PER_DAY * self.gpus * share
        return hours

    def planned_after(self, day: int) -> float:
        """Share of the tokens it was made for that were planned for `day` and later."""
        planned = float(self.planned_tokens_by_day.sum())
        return float(self.planned_tokens_by_day[max(day - self.due_day, 0) :].sum()) / planned if planned else 0.0


@dataclass(frozen=True, slots=True)
class ReleaseCost:
    """What one release cost over the part of its life that was lived [USD], and what it served [tokens]."""

    training_usd: float
    serving_usd: float
    served_tokens: float
    data_usd: float
    """The part of training that was paid for data."""


class Deployment(NamedTuple):
    """A trained model goes into service."""

    day: int
    usd: float


@dataclass(frozen=True, slots=True)
class Books:
    """The two money tables of one run [day, column] in USD, and the cost of each release."""

    cash_usd: FloatArray
    economic_usd: FloatArray
    releases: tuple[ReleaseCost, ...]


class _HeldCost(NamedTuple):
    """Cost of the GPUs held [kind, day] in USD: of every hour alike, and of the hours they are busy alone."""

    all_day: FloatArray
    busy: FloatArray


def settle(
    world: World, fleet: Fleet, used: Dispatch, runs: Sequence[TrainingRun], deployments: Sequence[Deployment] = ()
) -> Books:
    """Turn GPU-hours, prices and the fleet's history into money, in one pass."""
    n_days = world.calendar.horizon_days
    # Columns lie one after the other in memory: accounts are written whole, and those never used cost nothing.
    cash = np.zeros((len(Account), n_days)).T
    economic = np.zeros((len(Use), n_days)).T
    held_cost = _held(world, fleet, used, cash)
    training_unit = _charge_held(used, held_cost, economic)
    _charge_rented(world, used, cash, economic, training_unit)
    releases = _charge_releases(world, used, runs, training_unit, cash, economic)
    for deployed in deployments:
        if deployed.day < n_days:
            cash[deployed.day, Account.DEPLOYMENT] += deployed.usd
            economic[deployed.day, Use.DEPLOYMENT] += deployed.usd
    _lease(world, fleet.leases, cash, economic)
    return Books(cash, economic, releases)


def _held(world: World, fleet: Fleet, used: Dispatch, cash: FloatArray) -> _HeldCost:
    """Cost of the GPUs held, used or not; posts their cash accounts."""
    scenario, lived, own = world.scenario, world.calendar.lived, world.scenario.ownership
    usd_per_kwh = world.prices.electricity_usd_per_kwh[lived]
    cost = _HeldCost(np.zeros_like(used.owned_gpus), np.zeros_like(used.owned_gpus))
    for row, kind in enumerate(used.kinds):
        leased = fleet.lease_usd_per_day[kind].path(cash.shape[0])
        rated_kw = used.owned_gpus[row] * scenario.accelerators[kind].server_power_kw
        power = rated_kw * own.kwh_per_rated_kw_day * usd_per_kwh
        if own.idle_draw is not None:
            saved = rated_kw * (own.idle_saving_kwh_per_rated_kw_hour * HOURS_PER_DAY) * usd_per_kwh
            busy = _per_hour(used.busy_hours[row], used.held_hours[row])
            power -= saved * (1.0 - busy)
            cost.busy[row] = saved * busy
        hosting = rated_kw * own.hosting_usd_per_kw_day
        cost.all_day[row] = leased + power + hosting - cost.busy[row]
        cash[:, Account.RESERVED] += leased
        cash[:, Account.POWER] += power
        cash[:, Account.HOSTING] += hosting
    bought = {purchase.accelerator for purchase in fleet.purchases}
    list_price = {kind: world.prices.purchase_path(kind, lived) for kind in bought}
    for purchase in fleet.purchases:
        row = cost.all_day[used.kinds.index(purchase.accelerator)]
        _pay(own, purchase, row, cash)
        if purchase.first_day < cash.shape[0]:
            _own(world, purchase, list_price[purchase.accelerator], row, cash)
    return cost


def _pay(own: OwnershipInputs, purchase: Purchase, cost: FloatArray, cash: FloatArray) -> None:
    """What is paid for a tranche and when, its loan, and what of both is open at the end; interest joins the cost."""
    n_days = cash.shape[0]
    payments = price_payments(own, purchase)
    for day, usd in payments:
        if day < n_days:
            cash[day, Account.PURCHASE] += usd
    is_delivered = bool(payments) and purchase.first_day < n_days
    due = all_in_usd(own, purchase) if is_delivered else 0.0
    paid = sum(usd for day, usd in payments if day < n_days)
    if due != paid:
        cash[-1, Account.CLOSING_PAYMENTS] += due - paid
    loan = Loan.of(own, purchase)
    if loan is not None:
        principal, interest, accrued = loan.principal(n_days), loan.interest(n_days), loan.accrued(n_days)
        cash[:, Account.LOAN] += principal
        cash[:, Account.INTEREST] += interest
        cash[-1, Account.CLOSING_LOANS] += float(accrued.sum() - interest.sum() - principal.sum())
        cost += accrued


def _own(world: World, purchase: Purchase, list_price: FloatArray, cost: FloatArray, cash: FloatArray) -> None:
    """Value loss and upkeep of one tranche, added to the cost of its kind; posts what was got back and is left."""
    n_days, own = cash.shape[0], world.scenario.ownership
    first, end = max(purchase.first_day, 0), purchase.end_day
    bid = resale_bid_usd(own, purchase, list_price[: end + 1])
    held = bid[: end - first]
    brought_in = purchase.ordered_day is None
    if brought_in:
        cash[first, Account.OPENING_FLEET] += held[0]
    upkeep = purchase.gpus * own.upkeep_usd_per_day(purchase.paid_usd_per_gpu)
    cash[first:end, Account.MAINTENANCE] += upkeep
    cost[first:end] += upkeep
    cost[first] += 0.0 if brought_in else all_in_usd(own, purchase) - held[0]
    cost[first + 1 : end] += held[:-1] - held[1:]
    if end < n_days:
        cash[end, Account.RESALE] -= bid[end - first]
        cost[end] += held[-1] - bid[end - first]
    else:
        cash[-1, Account.CLOSING_FLEET] -= held[-1]


def resale_bid_usd(own: OwnershipInputs, purchase: Purchase, list_price: FloatArray) -> FloatArray:
    """What a buyer would pay for the tranche on each day from its first on [USD].

    Server parts x 10^(-0.14 age), never above today's new price, less the spread; network and installation
    fetch nothing (Cottier et al. 2024 for the fall in value). `list_price` is by day lived, to the last day wanted.
    """
    first = max(purchase.first_day, 0)
    left = _value_left(own.value_fall_oom_per_year, list_price.size - purchase.first_day)
    per_gpu = np.minimum(purchase.paid_usd_per_gpu * left[first - purchase.first_day :], list_price[first:])
    per_gpu *= purchase.gpus * own.server_overhead * (1.0 - own.resale_spread)
    return per_gpu


def resale_bid_on_day_usd(own: OwnershipInputs, purchase: Purchase, day: int, list_price: float) -> float:
    """The same on one day, at that day's list price [USD]."""
    left = _value_left(own.value_fall_oom_per_year, day - purchase.first_day + 1)
    used_price = purchase.paid_usd_per_gpu * float(left[-1])
    return min(used_price, list_price) * (purchase.gpus * own.server_overhead * (1.0 - own.resale_spread))


def _value_left(fall_oom_per_year: float, n_days: int) -> FloatArray:
    """Value of a used GPU / its price when new, by days of age."""
    return _values_left(fall_oom_per_year, max(n_days - 1, 1).bit_length())[:n_days]


@lru_cache(maxsize=64)
def _values_left(fall_oom_per_year: float, n_doublings: int) -> FloatArray:
    """The same for two days of age, doubled so many times: one table serves all tranches of nearly its length."""
    return np.power(10.0, -fall_oom_per_year / DAYS_PER_YEAR * np.arange(2**n_doublings))


def _charge_held(used: Dispatch, cost: _HeldCost, economic: FloatArray) -> FloatArray:
    """Split the cost of GPUs held by the hours used; returns training's part [kind, day]."""
    per_hour = _per_hour(cost.all_day, used.held_hours) + _per_hour(cost.busy, used.busy_hours)
    training = per_hour * used.training_sunk_hours
    serving = (per_hour * used.serving_sunk_hours).sum(axis=0)
    research = (per_hour * used.research_sunk_hours).sum(axis=0)
    economic[:, Use.TRAINING] += training.sum(axis=0)
    economic[:, Use.SERVING] += serving
    economic[:, Use.RESEARCH] += research
    in_all = cost.all_day.sum(axis=0) + cost.busy.sum(axis=0)
    economic[:, Use.IDLE] += in_all - training.sum(axis=0) - serving - research
    return training


def _charge_rented(world: World, used: Dispatch, cash: FloatArray, economic: FloatArray, training: FloatArray) -> None:
    """Rent by the hour goes to the use it was rented for; adds to training's part [kind, day]."""
    prices, days, lived = world.prices, world.calendar.lived_indices, world.calendar.lived
    served = _usd(prices.rent_path, used.serving_rental, days, used.serving_billed_hours)
    served_on_spot = _usd(prices.spot_path, used.serving_rental, days, used.serving_spot_hours)
    bought = used.bought_tokens * world.bought_usd_per_token()
    researched = _usd(prices.rent_path, used.work_rental, days, used.research_rented_hours)
    on_spot = _usd(prices.spot_path, used.work_rental, days, used.research_spot_hours)
    trained = np.zeros(days.size)
    for row, kind in enumerate(used.kinds):
        run = _usd(prices.rent_path, kind, lived, used.training_rented_hours[row])
        training[row] += run
        trained += run
    cash[:, Account.ON_DEMAND] += trained + served + researched
    cash[:, Account.SPOT] += on_spot + served_on_spot
    cash[:, Account.API] += bought
    economic[:, Use.TRAINING] += trained
    economic[:, Use.SERVING] += served + served_on_spot + bought
    economic[:, Use.RESEARCH] += researched + on_spot


def _per_hour(cost: FloatArray, hours: FloatArray) -> FloatArray:
    return np.divide(cost, hours, out=np.zeros_like(cost), where=hours > 0.0)


def _usd(
    price_path: Callable[[int | IntArray, IntArray | slice], FloatArray],
    kind: int | IntArray,
    days: IntArray | slice,
    hours: FloatArray,
) -> FloatArray:
    """price x hours, nothing where nothing was used: what is not on offer has no finite price."""
    nothing = np.zeros_like(hours)
    if not hours.any():
        return nothing
    return np.multiply(price_path(kind, days), hours, out=nothing, where=hours > 0.0)


def _charge_releases(
    world: World,
    used: Dispatch,
    runs: Sequence[TrainingRun],
    training: FloatArray,
    cash: FloatArray,
    economic: FloatArray,
) -> tuple[ReleaseCost, ...]:
    """Data bought, the cost of each release, and the part of a model that has not yet been used up."""
    n_days = cash.shape[0]
    hours = used.training_sunk_hours + used.training_rented_hours
    per_hour = _per_hour(training, hours)
    serving = economic[:, Use.SERVING].copy()
    costs = []
    for run in runs:
        if run.first_day >= n_days:  # it waited for GPUs in vain
            costs.append(ReleaseCost(0.0, 0.0, 0.0, 0.0))
            continue
        cash[run.first_day, Account.DATA] += run.data_usd
        economic[run.first_day, Use.TRAINING] += run.data_usd
        trained = float(per_hour[used.kinds.index(run.accelerator)] @ run.gpu_hours(n_days)) + run.data_usd
        replaced = _replaced_day(run, runs, n_days)
        life = slice(min(run.deploy_day, n_days), min(replaced, n_days))
        served = float(used.served_tokens[life].sum())
        costs.append(ReleaseCost(trained, float(serving[life].sum()), served, run.data_usd))
        if replaced >= n_days:
            left = run.planned_after(n_days) - _planned_for_rerun(run, runs)
            cash[-1, Account.CLOSING_MODELS] -= trained * left
            economic[-1, Use.TRAINING] -= trained * left
    return tuple(costs)


def _replaced_day(run: TrainingRun, runs: Sequence[TrainingRun], n_days: int) -> int:
    """The day a later release or run takes over; the day it comes itself if one already has."""
    later = [other.deploy_day for other in runs if other.release > run.release]
    later += [rerun.deploy_day for rerun in _reruns(run, runs)]
    return max(min([*later, n_days]), min(run.deploy_day, n_days))


def _reruns(run: TrainingRun, runs: Sequence[TrainingRun]) -> list[TrainingRun]:
    """Later runs of the same release, which replace it when they are done."""
    return [other for other in runs if other.release == run.release and other.first_day > run.first_day]


def _planned_for_rerun(run: TrainingRun, runs: Sequence[TrainingRun]) -> float:
    """Share of a run's planned tokens that a rerun still in training will serve in its place."""
    reruns = _reruns(run, runs)
    return run.planned_after(min(rerun.deploy_day for rerun in reruns)) if reruns else 0.0


def _lease(world: World, leases: Sequence[Lease], cash: FloatArray, economic: FloatArray) -> None:
    """What of a lease is paid upfront, and what is owed for it at either end of the window.

    A lease that runs on is a debt: what is still to be paid, less what subletting it would bring. Subletting fetches
    that day's price of a lease of its own term less the resale spread, and no more than was agreed: so a lease signed
    in the last week cannot lower the total. One that has not begun is no GPU to sublet yet: it is a debt as far as it
    is dearer than the day's price.
    """
    last = world.calendar.horizon_days - 1
    opening, closing = (world.prices.rents_on(world.calendar.index(day)) for day in (0, last))
    for lease in leases:
        first, has_begun = lease.first_day, lease.first_day <= last
        prepaid = lease.upfront_share * lease.usd_per_day if has_begun else 0.0
        if prepaid > 0.0:
            cash[first : lease.end_day, Account.RESERVED] -= prepaid
            cash[first, Account.RESERVED] += prepaid * (lease.end_day - first)
        left = lease.end_day - max(last + 1, first)
        if left > 0:
            spread = world.scenario.ownership.resale_spread if has_begun else 0.0
            debt = left * _above_market(lease, closing, spread)
            cash[last, Account.CLOSING_LEASES] += debt
            cash[last, Account.CLOSING_PREPAID] -= left * prepaid
            economic[last, Use.IDLE] += debt
        if lease.first_day < 0:
            debt = lease.end_day * _above_market(lease, opening, world.scenario.ownership.resale_spread)
            cash[0, Account.OPENING_LEASES] -= debt
            economic[0, Use.IDLE] -= debt


def _above_market(lease: Lease, rent: FloatArray, spread: float) -> float:
    """What a lease costs a day beyond what another would pay for it [USD]."""
    fetched = rent[lease.accelerator] * (1.0 - lease.discount) * (1.0 - spread)
    return HOURS_PER_DAY * lease.gpus * max(lease.usd_per_gpu_hour - fetched, 0.0)
