"""The same dispatch, hour by hour in plain Python: slow, obvious, and independent of the vector pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, inf


@dataclass(frozen=True)
class Day:
    """One day's inputs; lists are by accelerator, the most FLOP per kWh first. Batch tokens wait for an hour of it."""

    asked_tokens: float
    profile: tuple[float, ...]
    held_gpus: tuple[float, ...]
    training_gpus: tuple[float, ...]
    tokens_per_gpu_second: tuple[float, ...]
    server_kw: tuple[float, ...]
    rented: int
    replica_gpus: float
    spares: int
    cap_gpus: float
    minimum_hours: int
    start_hours: int
    batch_share: float
    buyable_tokens: float
    research_flop: float
    flop_per_gpu_hour: tuple[float, ...]
    work_rented: int


@dataclass(frozen=True)
class Served:
    """What became of it."""

    served_tokens: float
    batch_tokens: float
    bought_tokens: float
    serving_sunk_hours: tuple[float, ...]
    serving_rented_hours: float
    serving_billed_hours: float
    training_rented_hours: tuple[float, ...]
    research_sunk_hours: tuple[float, ...]
    research_rented_hours: float


def live_through(day: Day) -> Served:
    """Fill each hour's need, kind by kind; then batch tokens take what is idle, and research what then is."""
    kinds = range(len(day.held_gpus))
    on_held = [min(day.training_gpus[k], day.held_gpus[k]) for k in kinds]
    left = [day.held_gpus[k] - on_held[k] for k in kinds]
    speed, rented_speed = day.tokens_per_gpu_second, day.tokens_per_gpu_second[day.rented]
    by_merit = sorted(kinds, key=lambda k: -speed[k] / day.server_kw[k])
    replica_tokens = day.replica_gpus * rented_speed
    mean = day.asked_tokens * (1 - day.batch_share) / 86_400
    peak = mean * max(day.profile)
    rounding = ceil(peak / replica_tokens - 1e-12) * replica_tokens / peak if replica_tokens and peak else 1.0
    spare = day.spares * replica_tokens if day.batch_share < 1 else 0.0
    busy = [[0.0] * 24 for _ in kinds]
    rents, served, refused = [], 0.0, 0.0
    for hour, factor in enumerate(day.profile):
        wanted = mean * rounding * factor
        need, capacity = wanted + spare, 0.0
        for k in by_merit:
            used = min(need, left[k] * speed[k])
            need -= used
            capacity += left[k] * speed[k]
            busy[k][hour] = used / speed[k] if speed[k] else 0.0
        can_rent = day.cap_gpus * rented_speed if rented_speed else 0.0
        rents.append(min(need, can_rent) / rented_speed if rented_speed else 0.0)
        served += min(wanted, capacity + can_rent) / rounding * 3600
        refused += max(wanted - capacity - can_rent, 0.0) / rounding * 3600
    billed, rented_hours = billed_hours(rents, day.minimum_hours, day.start_hours), sum(rents)
    bought = min(refused, day.buyable_tokens)

    batch = waiting = day.asked_tokens * day.batch_share
    for k in by_merit:
        for hour in range(24):
            taken = min(waiting, (left[k] - busy[k][hour]) * speed[k] * 3600)
            waiting -= taken
            busy[k][hour] += taken / speed[k] / 3600 if speed[k] else 0.0
    room = (24 * day.cap_gpus - billed if day.cap_gpus < inf else inf) if rented_speed else 0.0
    rented_batch = min(waiting / rented_speed / 3600, max(room, 0.0)) if rented_speed else 0.0
    waiting -= rented_batch * rented_speed * 3600
    bought_batch = min(waiting, day.buyable_tokens - bought)
    batch -= waiting - bought_batch

    research, research_hours = day.research_flop, [0.0 for _ in kinds]
    for k in kinds:
        research_hours[k] = min(24 * left[k] - sum(busy[k]), research / day.flop_per_gpu_hour[k])
        research -= research_hours[k] * day.flop_per_gpu_hour[k]
    return Served(
        served + bought + batch,
        batch,
        bought + bought_batch,
        tuple(sum(hours) for hours in busy),
        rented_hours + rented_batch,
        billed + rented_batch,
        tuple(24 * (day.training_gpus[k] - on_held[k]) for k in kinds),
        tuple(research_hours),
        research / day.flop_per_gpu_hour[day.work_rented],
    )


def billed_hours(gpus_by_hour: list[float], minimum: int, start: int) -> float:
    """GPU-hours paid, GPU by GPU: one that serves h hours pays h and those of its start, `minimum` at least."""
    levels, paid = sorted({0.0, *gpus_by_hour}), 0.0
    for low, high in pairwise(levels):
        hours = sum(gpus > low for gpus in gpus_by_hour)
        paid += (high - low) * min(max(hours + start, minimum), 24)
    return paid
