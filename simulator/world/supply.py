"""How many GPUs there are to be had: limits on what one customer can rent by the hour, and order in a quarter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.laws.units import DAYS_PER_YEAR, FloatArray, IntArray
from simulator.world.calendar import DAYS_PER_QUARTER, Calendar
from simulator.world.quote import Quote


@dataclass(frozen=True, slots=True)
class Supply:
    """Declared limits in GPUs; inf where there is none."""

    on_demand_gpus: FloatArray
    """Rented by the hour for serving, [accelerator, index of the calendar]."""
    purchase_gpus: FloatArray
    """Ordered in a quarter of 91 days since the start, [accelerator, quarter]; whole GPUs."""


def supply(quotes: Sequence[Quote], available_day: IntArray, calendar: Calendar) -> Supply:
    """The limits of every kind, grown from the first day it can be had."""
    quarters = np.arange(-(-calendar.n_days // DAYS_PER_QUARTER)) * DAYS_PER_QUARTER
    rented = [quote.on_demand_limit_gpus for quote in quotes]
    ordered = [quote.purchase_limit_gpus_per_quarter for quote in quotes]
    growth = np.array([quote.limit_growth_per_year for quote in quotes])
    found = Supply(
        _limits(rented, growth, calendar.days, available_day),
        np.floor(_limits(ordered, growth, quarters, available_day)),
    )
    for limits in (found.on_demand_gpus, found.purchase_gpus):
        limits.setflags(write=False)
    return found


def _limits(
    declared: Sequence[float | None], growth: FloatArray, days: IntArray, available_day: IntArray
) -> FloatArray:
    if all(gpus is None for gpus in declared):
        return np.broadcast_to(np.inf, (len(declared), days.size))
    today = np.array([np.inf if gpus is None else gpus for gpus in declared])
    years = np.maximum(days - available_day[:, None], 0) / DAYS_PER_YEAR
    grown: FloatArray = today[:, None] * growth[:, None] ** years
    return grown
