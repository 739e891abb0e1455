"""What is paid for GPUs, and when: deposit, the rest, the loan behind it, and the days of a lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from simulator.lab.orders import Lease, Purchase
from simulator.laws.finance import annuity
from simulator.laws.units import DAYS_PER_MONTH, MONTHS_PER_YEAR, FloatArray, IntArray
from simulator.world.ownership import OwnershipInputs


class Payments(NamedTuple):
    """What a contract asks for, by day; several may fall on one day."""

    day: IntArray
    usd: FloatArray


def payments(own: OwnershipInputs, bound: Purchase | Lease) -> Payments:
    """All that is to be paid for GPUs bought or leased, but for running them [USD]."""
    if isinstance(bound, Lease):
        days = np.arange(max(bound.first_day, 0), bound.end_day)
        usd = np.full(days.size, bound.usd_per_day * (1.0 - bound.upfront_share))
        if bound.first_day >= 0:
            usd[0] += bound.usd_per_day * bound.upfront_share * days.size
        return Payments(days, usd)
    price, loan = price_payments(own, bound), Loan.of(own, bound)
    days, usd = np.array([day for day, _ in price], dtype=np.int64), np.array([usd for _, usd in price])
    if loan is None:
        return Payments(days, usd)
    n_days = int(loan.days[-1]) + 1
    flow = loan.principal(n_days) + loan.interest(n_days)
    due = np.flatnonzero(flow)
    return Payments(np.concatenate((days, due)), np.concatenate((usd, flow[due])))


def price_payments(own: OwnershipInputs, purchase: Purchase) -> list[tuple[int, float]]:
    """The days and amounts in which a tranche is paid; nothing for GPUs the lab brought with it [USD]."""
    if purchase.ordered_day is None:
        return []
    deposit = all_in_usd(own, purchase) * own.deposit_share
    due = purchase.agreed_day + own.payment_days
    rest = (due, all_in_usd(own, purchase) - deposit)
    return [rest] if deposit == 0.0 else [(purchase.ordered_day, deposit), rest]


def all_in_usd(own: OwnershipInputs, purchase: Purchase) -> float:
    """Price of a tranche with server and network [USD]."""
    return purchase.gpus * purchase.paid_usd_per_gpu * own.all_in_factor


@dataclass(frozen=True, slots=True)
class Loan:
    """Money borrowed for one tranche: equal instalments at the end of each month, the rest at once when it is sold.

    `days` holds the day it is drawn and then the end of every month; `owed_usd` what is owed after each.
    """

    days: IntArray
    owed_usd: FloatArray
    rate_per_month: float
    end_day: int

    @staticmethod
    def of(own: OwnershipInputs, purchase: Purchase) -> Loan | None:
        """The loan of a tranche; None if nothing is borrowed for it, or it was sold before the price was due."""
        if own.loan is None:
            return None
        payments = price_payments(own, purchase)
        if not payments or payments[-1][0] >= purchase.end_day:
            return None
        months = max(round(own.loan.years * MONTHS_PER_YEAR), 1)
        rate, number = own.loan.rate_per_year / MONTHS_PER_YEAR, np.arange(months + 1)
        borrowed = own.loan.share * all_in_usd(own, purchase)
        # What one dollar has grown to after each month, less what as many instalments have.
        grown = (1.0 + rate) ** number
        paid = (grown - 1.0) / rate if rate else number
        owed = borrowed * (grown - paid * float(annuity(rate, months)))
        owed[-1] = 0.0
        days = payments[-1][0] + np.rint(number * DAYS_PER_MONTH).astype(np.int64)
        return Loan(days, owed, rate, purchase.end_day)

    def principal(self, n_days: int) -> FloatArray:
        """Drawn (negative) and repaid on each of the first `n_days` days [USD]."""
        flow = np.zeros(max(n_days, int(self.days[-1]) + 1, self.end_day + 1))
        flow[self.days[0]] = -self.owed_usd[0]
        flow[self.days[1:]] += self.owed_usd[:-1] - self.owed_usd[1:]
        if self.end_day < flow.size:
            flow[self.end_day] += flow[self.end_day + 1 :].sum()
            flow[self.end_day + 1 :] = 0.0
        return flow[:n_days]

    def accrued(self, n_days: int) -> FloatArray:
        """Interest of each of the first `n_days` days, paid then or later [USD]."""
        spans = np.diff(self.days)
        by_day = np.repeat(self.owed_usd[:-1] * self.rate_per_month / spans, spans)
        flow = np.zeros(max(n_days, int(self.days[-1])))
        flow[self.days[0] : self.days[0] + by_day.size] = by_day
        flow[self.end_day :] = 0.0
        return flow[:n_days]

    def interest(self, n_days: int) -> FloatArray:
        """Interest paid on each of the first `n_days` days: at the end of a month, or when the loan is repaid [USD]."""
        last = max(n_days, int(self.days[-1]) + 1)
        grown = np.concatenate(([0.0], np.cumsum(self.accrued(last))))
        due = np.unique(np.minimum(self.days, self.end_day))
        flow = np.zeros(last + 1)
        flow[due[1:]] = np.diff(grown[due])
        return flow[:n_days]
