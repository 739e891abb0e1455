"""A leased base: what is lacking is signed for today, what is needed of leases that end is signed for in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import NamedTuple

import numpy as np

from simulator.lab.forecast import Forecast
from simulator.lab.need import ROUNDING, Need, days_of, sampled, whole_gpus
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

    def orders(
        self, observation: Observation, forecast: Forecast, hours: FloatArray, ordered: Sequence[Bound] = ()
    ) -> Iterator[Reserve]:
        """Leases that follow old ones, then what is lacking from today on.

        Parameters
        ----------
        hours
            Load of each hour of the day over its mean.
        ordered
            Of this review, to be counted on though not yet committed.
        """
        today, next_review = observation.day, observation.day + self.review_days
        held = observation.fleet.leases(today)
        counted = [*ordered, *(_bound(lease) for lease in held if lease.first_day >= next_review)]
        soon_over = sorted((lease for lease in held if lease.end_day < next_review), key=_end_day)
        for day, ending in groupby(soon_over, _end_day):
            need = self._need(observation, forecast, day, counted, self.term_days)
            if need is None:
                continue
            # Less what an extra review, called by an event, has signed for already.
            changes = [*((lease, 1) for lease in ending), *((lease, -1) for lease in held if lease.first_day == day)]
            most = sum(sign * lease.gpus / need.hours_for_one[lease.accelerator] for lease, sign in changes)
            gpus = whole_gpus(min(need.short_of(self.quantile, hours), most))
            if gpus > 0:
                counted.append(Bound(need.accelerator, gpus, day, day + self.term_days))
                yield Reserve(need.accelerator, gpus, self.term_days, f"{self.reason}, leased again", day)
        # What is needed only later can be leased later.
        soon = self._lacking(observation, forecast, hours, counted, self.review_days)
        if soon is not None:
            always = self._lacking(observation, forecast, hours, counted, self.term_days)
            if always is not None and always.accelerator == soon.accelerator:
                gpus = whole_gpus(min(soon.gpus, always.gpus))
                yield Reserve(soon.accelerator, gpus, self.term_days, self.reason)

    def _lacking(
        self,
        observation: Observation,
        forecast: Forecast,
        hours: FloatArray,
        counted: Sequence[Bound],
        span_days: int,
    ) -> _Lacking | None:
        """What a span from today on lacks, if it is worth a lease."""
        need = self._need(observation, forecast, observation.day, counted, span_days)
        if need is None:
            return None
        least = max(self.least_gpus - ROUNDING, self.least_share * float(need.gpus.mean()))
        gpus = need.short_of(self.quantile, hours, least)
        return None if gpus == -inf else _Lacking(need.accelerator, gpus)

    def _need(
        self,
        observation: Observation,
        forecast: Forecast,
        day: int,
        counted: Sequence[Bound],
        span_days: int,
    ) -> Need | None:
        """Over a span from a day on, beside what is counted on."""
        days = days_of(day, span_days) if span_days < self.term_days else sampled(day, span_days)
        discount = observation.scenario.market.discount(self.term_days)
        need = Need.on(observation, forecast, days, observation.on_demand_usd_per_gpu_hour * (1.0 - discount))
        if need is None:
            return None
        # Those that have not run out by the next review will be leased again.
        until_then = np.minimum(days, observation.day + self.review_days - 1)
        leased = observation.fleet.leased_as(1.0 / need.hours_for_one, until_then)
        return need._replace(committed=need.committed + leased + bound_as(need, counted, days))


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
