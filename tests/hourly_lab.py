"""The same dispatch, hour by hour in plain Python: slow, obvious, and independent of the vector pass."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Day:
    """One day's inputs; lists are by accelerator, in merit order."""

    asked_tokens: float
    profile: tuple[float, ...]
    held_gpus: tuple[float, ...]
    training_gpus: tuple[float, ...]
    tokens_per_gpu_second: tuple[float, ...]
    rented: int
    replica_gpus: float
    spares: int
    cap_gpus: float
    research_flop: float
    flop_per_gpu_hour: tuple[float, ...]
    work_rented: int


@dataclass(frozen=True)
class Served:
    """What became of it."""

    served_tokens: float
    serving_sunk_hours: tuple[float, ...]
    serving_rented_hours: float
    training_rented_hours: tuple[float, ...]
    research_sunk_hours: tuple[float, ...]
    research_rented_hours: float


def live_through(day: Day) -> Served:
    """Fill each hour's need, kind by kind; then let research have what is idle."""
    kinds = range(len(day.held_gpus))
    on_held = [min(day.training_gpus[k], day.held_gpus[k]) for k in kinds]
    left = [day.held_gpus[k] - on_held[k] for k in kinds]
    speed = day.tokens_per_gpu_second
    replica_tokens = day.replica_gpus * speed[day.rented]
    mean = day.asked_tokens / 86_400
    peak = mean * max(day.profile)
    rounding = ceil(peak / replica_tokens - 1e-12) * replica_tokens / peak if replica_tokens and peak else 1.0
    spare = day.spares * replica_tokens
    sunk_hours, rented_hours, served = [0.0 for _ in kinds], 0.0, 0.0
    for factor in day.profile:
        wanted = mean * rounding * factor
        need, capacity = wanted + spare, 0.0
        for k in kinds:
            used = min(need, left[k] * speed[k])
            need -= used
            capacity += left[k] * speed[k]
            sunk_hours[k] += used / speed[k] if speed[k] else 0.0
        rent = min(need, day.cap_gpus * speed[day.rented])
        capacity += day.cap_gpus * speed[day.rented]
        rented_hours += rent / speed[day.rented]
        served += min(wanted, capacity) / rounding * 3600
    research, research_hours = day.research_flop, [0.0 for _ in kinds]
    for k in kinds:
        research_hours[k] = min(24 * left[k] - sunk_hours[k], research / day.flop_per_gpu_hour[k])
        research -= research_hours[k] * day.flop_per_gpu_hour[k]
    return Served(
        served,
        tuple(sunk_hours),
        rented_hours,
        tuple(24 * (day.training_gpus[k] - on_held[k]) for k in kinds),
        tuple(research_hours),
        research / day.flop_per_gpu_hour[day.work_rented],
    )
