"""A dispatch of chosen days without a lab around it: what is asked, what is held, how fast it serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from math import inf
from typing import Any

import numpy as np
from small_lab import plain_scenario

from simulator.lab.dispatch import Dispatch, Workload, dispatch
from simulator.lab.fleet import Fleet
from simulator.lab.level import Level
from simulator.lab.models import ServedModel
from simulator.lab.orders import Lease
from simulator.laws.precision import BF16
from simulator.world.api_fallback import ApiFallback
from simulator.world.scenario import Roofline, Scenario
from simulator.world.world import World, realize


def several_kinds(
    bf16_tflop: Sequence[float] = (1000.0,),
    server_kw: Sequence[float] = (2.0,),
    *,
    days: int = 1,
    spares: int = 0,
    demand: Mapping[str, Any] | None = None,
    quote: Mapping[str, Any] | None = None,
    market: Mapping[str, Any] | None = None,
    provider: ApiFallback | None = None,
) -> Scenario:
    """The plain scenario with several kinds of GPU and nothing to train."""
    plain = plain_scenario()
    chip, offer = plain.accelerator[0], plain.market.quote[0].model_copy(update=quote or {})
    names = [f"K{row}" for row in range(len(bf16_tflop))]
    chips = tuple(
        chip.model_copy(
            update={
                "name": name,
                "launch": date(2026, 1, 1),
                "bf16_tflop_per_second": tflop,
                "power_kw": kw / chip.server_power_factor,
            }
        )
        for name, tflop, kw in zip(names, bf16_tflop, server_kw, strict=True)
    )
    quotes = tuple(offer.model_copy(update={"accelerator": name}) for name in names)
    return plain.model_copy(
        update={
            "horizon_days": days,
            "accelerator": chips,
            "market": plain.market.model_copy(update={"quote": quotes, "event": (), **(market or {})}),
            "serving": Roofline(spare_replicas=spares),
            "demand": plain.demand.model_copy(update=demand or {}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
            "api_fallback": provider,
        }
    )


def selling(most_tokens_per_day: float) -> ApiFallback | None:
    """Another provider who sells so much a day, none for 0, and any amount for inf."""
    if most_tokens_per_day == 0.0:
        return None
    return ApiFallback(
        usd_per_million_prompt_tokens=1.0,
        usd_per_million_completion_tokens=3.0,
        most_tokens_per_day=None if most_tokens_per_day == inf else most_tokens_per_day,
    )


def asked_of(scenario: Scenario, asked: Sequence[float]) -> World:
    """A world of these tokens a day."""
    world = realize(scenario)
    tokens = np.zeros(world.calendar.n_days)
    tokens[world.calendar.lived] = asked
    object.__setattr__(world, "demand_tokens", tokens)
    return world


def model_of(tokens_per_gpu_second: Sequence[float], replica_gpus: float = 0.0) -> ServedModel:
    """A model this fast on each kind."""
    with np.errstate(divide="ignore"):
        seconds = 1.0 / np.array(tokens_per_gpu_second)
    return ServedModel("m", 1e9, 1e9, BF16, 1.0, seconds, np.full(seconds.size, replica_gpus))


def fleet_of(held: Sequence[float], training: Sequence[float] = (), cap: float = 0.0) -> Fleet:
    """GPUs of each kind held from day 0 on, some training."""
    fleet = Fleet(len(held))
    for kind, gpus in enumerate(held):
        fleet.begin(Lease(kind, int(gpus), 1.0, 0.0, 0, 10**6))
        fleet.training[kind].set(0, training[kind] if training else 0.0)
    fleet.rental_cap.set(0, cap)
    return fleet


def settled(
    world: World,
    fleet: Fleet,
    models: Sequence[ServedModel],
    *,
    in_service: Level | None = None,
    rental: int = 0,
    work_rental: int = 0,
    research_flop: float = 0.0,
) -> Dispatch:
    """Who used what."""
    levels = Level(rental), Level(work_rental), Level(research_flop)
    return dispatch(world, fleet, Workload(models, in_service or Level(0.0), *levels))
