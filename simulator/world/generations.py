"""Kinds of GPU to come, by trend: each is one interval of progress beyond the one before, at its own price."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated, NamedTuple

from pydantic import Field

from simulator.laws.chip import Chip
from simulator.laws.trends import trend_factor
from simulator.laws.units import DAYS_PER_YEAR
from simulator.world.calendar import Calendar
from simulator.world.hardware import Accelerator
from simulator.world.inputs import Inputs, Positive
from simulator.world.quote import Quote

DoublingYears = Annotated[float, Field(ge=0.5)]
"""Years until something has doubled."""


class NewGenerations(Inputs):
    """Kinds of GPU to come, by trend from one that is quoted. The base counts as the generation before the first."""

    base: str = Field(description="the quoted kind they follow")
    first: date = Field(description="day the first of them can be had")
    interval_years: Annotated[float, Field(ge=0.25)] = Field(
        2.15, description="years from one generation to the next, and of progress from the base to the first [years]"
    )
    doubling_years: DoublingYears = Field(
        2.15, description="years in which FLOP per dollar double (published: 2.07 to 2.46) [years]"
    )
    memory_doubling_years: DoublingYears = Field(4.0, description="the same of memory (Epoch 2023) [years]")
    bandwidth_doubling_years: DoublingYears = Field(4.1, description="of memory bandwidth (Epoch 2023) [years]")
    flop_per_kw_doubling_years: DoublingYears = Field(3.0, description="of FLOP per kW (Epoch 2023) [years]")
    price_factor: Positive = Field(
        1.0, description="price when it comes / the base's quote; FLOP grow with it: FLOP per dollar keep to the trend"
    )
    name: str | None = Field(None, description='what "+1", "+2" and so on are added to; default: the base')


class Generation(NamedTuple):
    """A kind of GPU to come, as if it had been declared."""

    quote: Quote
    accelerator: Accelerator


def generations(trend: NewGenerations, base: Generation, calendar: Calendar) -> Iterator[Generation]:
    """Every generation that comes before the last day looked at; one more day never changes those before it."""
    number, end = 1, calendar.n_days - calendar.history_days
    first = calendar.day_of(trend.first)
    while (day := first + round((number - 1) * trend.interval_years * DAYS_PER_YEAR)) < end:
        yield _generation(trend, base, number, calendar.date_of(day))
        number += 1


def _generation(trend: NewGenerations, base: Generation, number: int, day: date) -> Generation:
    years, price = number * trend.interval_years, trend.price_factor
    flop = price * float(trend_factor(years, trend.doubling_years))
    old, quote = base.accelerator, base.quote
    name = f"{trend.name or trend.base}+{number}"
    source = f"trend of [market.new_generations], {years:g} years of progress from {trend.base}"
    chip = Chip(
        name,
        old.chip.bf16_flop_per_second * flop,
        old.chip.fp8_flop_per_second * flop,
        old.chip.int8_flop_per_second * flop,
        old.chip.fp4_flop_per_second * flop,
        old.chip.memory_bytes * float(trend_factor(years, trend.memory_doubling_years)),
        old.chip.memory_bytes_per_second * float(trend_factor(years, trend.bandwidth_doubling_years)),
    )
    power_kw = old.power_kw * flop / float(trend_factor(years, trend.flop_per_kw_doubling_years))
    offered = quote.model_copy(
        update={
            "accelerator": name,
            "available": day,
            "on_demand_usd_per_gpu_hour": quote.on_demand_usd_per_gpu_hour * price,
            "spot_usd_per_gpu_hour": _times(quote.spot_usd_per_gpu_hour, price),
            "purchase_usd_per_gpu": _times(quote.purchase_usd_per_gpu, price),
            "source": source,
        }
    )
    return Generation(offered, Accelerator(name, chip, power_kw, old.server_power_factor, day, source))


def _times(usd: float | None, factor: float) -> float | None:
    return None if usd is None else usd * factor
