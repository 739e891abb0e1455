"""The real lab against the same lab stepped daily in SimPy, and against the loop over days and hours alone."""

from __future__ import annotations

import gc
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from benchmarks.daily_lab import DailyLab, plan, policy, scenario
from benchmarks.timing import Figures, also, cpu_seconds, told

from simulator.lab.lab import Lab, Run
from simulator.world.world import realize

ROUNDS = 7
LEAST_NAIVE = 25.0
ToLoop = Callable[..., float]


def scalar_loop(asked, owned, reserved, training, speed, rent, factors) -> float:  # type: ignore[no-untyped-def]
    """What is rented, in USD, hour by hour for a fleet that is given: no events, no books, nothing but the loop."""
    usd = 0.0
    for day in range(asked.size):
        held = owned[day] + reserved[day]
        on_held = min(training[day], held)
        rented = 24.0 * (training[day] - on_held)
        for hour in range(24):
            rented += max(asked[day] * factors[hour] / 86_400.0 / speed[day] - (held - on_held), 0.0)
        usd += rented * rent[day]
    return usd


def naive() -> Figures:
    """How many times longer the daily step takes than our lab, and our lab than the bare loop."""
    print("\nten years of one small lab (quartiles of paired ratios)")
    orders, lab_policy, lab_scenario = plan(), policy(), scenario()
    compiled = find_spec("numba") is not None
    loop: ToLoop = import_module("numba").njit(scalar_loop) if compiled else scalar_loop
    ratios, floors, runs = [], [], list[Run]()
    for number in range(ROUNDS + 1):  # the first makes the tables, and compiles
        world = realize(lab_scenario, 1, number)
        gc.collect(0)
        ours = cpu_seconds(lambda world=world: runs.append(Lab(world, lab_policy).live()))
        stepped = cpu_seconds(lambda world=world: DailyLab(world, orders).live())
        inputs = _loop_inputs(runs[-1])
        floor = cpu_seconds(lambda inputs=inputs: loop(*inputs))
        ratios.append(stepped / ours)
        floors.append(ours / max(floor, 1e-6))
    name = "our lab / the loop over hours, " + ("compiled" if compiled else "plain Python")
    if not compiled:
        print("numba is not installed: the loop over hours alone runs in plain Python")
    return {
        "stepped daily / ours": told(
            "stepped daily in SimPy / our lab", ratios[1:], LEAST_NAIVE, "8.1f", at_least=True
        ),
        name: also(name, floors[1:], "8.2f"),
    }


def _loop_inputs(run: Run) -> tuple[np.ndarray, ...]:
    used, world = run.used, run.world
    training = (used.training_sunk_hours + used.training_rented_hours).sum(axis=0) / 24.0
    (release,) = world.releases
    speed = np.where(np.arange(training.size) < release.due_day, 1000.0, 2000.0)
    rent = world.prices.rent_path(0, world.calendar.lived_indices)
    factors = np.array(world.scenario.demand.hour_profile)
    return used.asked_tokens, used.owned_gpus[0], used.reserved_gpus[0], training, speed, rent, factors
