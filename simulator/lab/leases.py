"""A leased base: what is lacking is signed for today, what is needed of leases that end is signed for in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import NamedTuple

import numpy as np

from simulator.lab.need import ROUNDING, Ahead, Need, Span, days_of, sampled, whole_gpus
from simulator.lab.observation import Observation
from simulator.lab.orders import Lease, Reserve
from simulator.laws.units import FloatArray, IntArray


class Bound(NamedTuple):
    """GPUs to count on beside those committed: ordered a moment ago, or expected to be leased again."""

    accelerator: int
    gpus: float
    """Of owned ones, those that work."""
    first_day: int
    end_day: int


class _Lacking(NamedTuple):
    """GPUs of a kind to be leased."""

    accelerator: int
    gpus: float


@dataclass(frozen=True, slots=True)
class Base:
    """GPUs to lease for a term: those that all but a part of its hours, the quietest, will need.

    A lease that ends before the next review is looked at now: what of it will be needed over a term from that day on
    is signed for today, to begin when the old lease ends, on the kind cheapest per token today. Leases that
    end later are counted on for the whole term, since their turn will come: so no GPU is leased twice for one hour.
    From today on only that is leased which is needed until the next review too: the rest can be leased then.
    """

    quantile: float
    """Share of the term's hours that may need less."""
    term_days: int
    least_gpus: int
    """Smallest lease worth signing; one that goes on an old one may be smaller."""
    review_days: int
    """Until the next review."""
    reason: str
    least_share: float = 0.0
    """The same as a share of the mean need."""

    def spans(self, observation: Observation) -> list[Span]:
        """What to look at: a term from each day on which leases end, the days until the next review, and a term."""
        today, last = observation.day, observation.day + self.review_days - 1
        over = dict.fromkeys(lease.end_day for lease in self._soon_over(observation))
        term = sampled(today, self.term_days)
        soon = days_of(today, self.review_days) if self.review_days < self.term_days else term
        # Leases that have not run out by the next review will be leased again.
        return [Span.of(days, last) for days in (*(sampled(day, self.term_days) for day in over), soon, term)]

    def orders(
        self, observation: Observation, aheads: Sequence[Ahead], hours: FloatArray, ordered: Sequence[Bound] = ()
    ) -> Iterator[Reserve]:
        """Leases that follow old ones, then what is lacking from today on.

        Parameters
        ----------
        aheads
            What is ahead over `spans`.
        hours
            Load of each hour of the day over its mean.
        ordered
            Of this review, to be counted on though not yet committed.
        """
        *then, soon, always = aheads
        held, next_review = observation.fleet.leases(observation.day), observation.day + self.review_days
        counted = [*ordered, *(_bound(lease) for lease in held if lease.first_day >= next_review)]
        for ahead, (day, ending) in zip(then, groupby(self._soon_over(observation), _end_day), strict=True):
            need = self._need(observation, ahead, counted)
            if need is None:
                continue
            # Less what an extra review, called by an event, has signed for already.
            changes = [*((lease, 1) for lease in ending), *((lease, -1) for lease in held if lease.first_day == day)]
            most = sum(sign * lease.gpus / need.hours_for_one[lease.accelerator] for lease, sign in changes)
            gpus = whole_gpus(need.short_of(self.quantile, hours, at_most=most))
            if gpus > 0:
                counted.append(Bound(need.accelerator, gpus, day, day + self.term_days))
                yield Reserve(need.accelerator, gpus, self.term_days, f"{self.reason}, leased again", day)
        # What is needed only later can be leased later.
        lacking = self._lacking(self._need(observation, soon, counted), hours)
        if lacking is not None:
            lacking = self._lacking(self._need(observation, always, counted), hours, lacking)
            if lacking is not None:
                yield Reserve(lacking.accelerator, whole_gpus(lacking.gpus), self.term_days, self.reason)

    def _soon_over(self, observation: Observation) -> list[Lease]:
        """Leases that end before the next review, in that order."""
        next_review = observation.day + self.review_days
        return sorted(
            (lease for lease in observation.fleet.leases(observation.day) if lease.end_day < next_review), key=_end_day
        )

    def _lacking(self, need: Need | None, hours: FloatArray, at_most: _Lacking | None = None) -> _Lacking | None:
        """What of a kind is lacking, if it is worth a lease; at most so much of that very kind."""
        if need is None or (at_most is not None and need.accelerator != at_most.accelerator):
            return None
        least = max(self.least_gpus - ROUNDING, self.least_share * need.mean_gpus)
        gpus = need.short_of(self.quantile, hours, least, inf if at_most is None else at_most.gpus)
        return None if gpus == -inf else _Lacking(need.accelerator, gpus)

    def _need(self, observation: Observation, ahead: Ahead, counted: Sequence[Bound]) -> Need | None:
        """Over a span, beside leases and what else is counted on, at today's price of a lease."""
        discount = observation.scenario.market.discount(self.term_days)
        need = ahead.need(observation, observation.on_demand_usd_per_gpu_hour * (1.0 - discount))
        if need is None:
            return None
        return need.beside(need.leased + bound_as(need, counted, ahead.days) if counted else need.leased)


def _end_day(lease: Lease) -> int:
    return lease.end_day


def _bound(lease: Lease) -> Bound:
    return Bound(lease.accelerator, lease.gpus, lease.first_day, lease.end_day)


def bound_as(need: Need, counted: Sequence[Bound], days: IntArray) -> FloatArray:
    """GPUs counted on, in GPUs of the kind that is needed [day]."""
    held = np.zeros(days.size)
    for kind, gpus, since, until in counted:
        held += gpus / need.hours_for_one[kind] * ((days >= since) & (days < until))
    return held
