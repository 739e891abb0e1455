"""Serving and research each use as little energy as any assignment of GPUs could: against linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from small_dispatch import asked_of, fleet_of, model_of, settled, several_kinds
from small_lab import HALF_AND_HALF

from simulator.lab.level import Level
from simulator.lab.models import work_flop_per_gpu_hour

SPEEDS = st.sampled_from([0.0, 300.0, 700.0, 1000.0, 1500.0, 2600.0])


def least_kwh(hourly_work: float, work_per_hour: np.ndarray, gpu_hours: np.ndarray, server_kw: np.ndarray) -> float:
    """The least energy that does this work, or all that can be done of it, on so many GPU-hours of each kind [kWh]."""
    done = min(hourly_work, float(work_per_hour @ gpu_hours))
    best = linprog(
        server_kw, A_eq=[work_per_hour / work_per_hour.max()], b_eq=[done / work_per_hour.max()],
        bounds=[(0.0, hours) for hours in gpu_hours],
    )  # fmt: skip
    assert best.status == 0, best.message
    return float(best.fun)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(SPEEDS.filter(bool), st.integers(0, 9), st.sampled_from([0.7, 1.0, 2.0]), st.integers(500, 3000)),
        min_size=2,
        max_size=3,
    ),
    st.floats(1.0, 20_000.0),
)
def test_users_are_served_with_the_least_energy(kinds: list[tuple[float, int, float, int]], tokens: float) -> None:
    speeds, gpus, kw, tflop = (np.array(column, dtype=np.float64) for column in zip(*kinds, strict=True))
    scenario = several_kinds(tflop, kw, demand={"hour_profile": HALF_AND_HALF})
    used = settled(asked_of(scenario, [tokens * 86_400]), fleet_of(gpus), [model_of(speeds)])
    kwh = sum(kw[kind] * used.serving_sunk_hours[row, 0] for row, kind in enumerate(used.kinds))
    least = 12 * sum(least_kwh(tokens * factor, speeds, gpus, kw) for factor in set(HALF_AND_HALF))
    assert kwh == pytest.approx(least, rel=1e-6, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from([0.7, 1.0, 2.0]), st.integers(500, 3000)), min_size=2, max_size=3
    ),
    st.floats(0.01, 1.5),
)
def test_research_alone_uses_the_least_energy(kinds: list[tuple[int, float, int]], part: float) -> None:
    gpus, kw, tflop = (np.array(column, dtype=np.float64) for column in zip(*kinds, strict=True))
    scenario = several_kinds(tflop, kw)
    flop = work_flop_per_gpu_hour(scenario)
    work = part * float(flop @ (24 * gpus))
    used = settled(asked_of(scenario, [0.0]), fleet_of(gpus), [model_of([0.0] * gpus.size)], research_flop=work)
    kwh = sum(kw[kind] * used.research_sunk_hours[row, 0] for row, kind in enumerate(used.kinds))
    assert kwh == pytest.approx(least_kwh(work, flop, 24 * gpus, kw), rel=1e-6, abs=1e-6)


def test_every_assignment_of_whole_gpus_by_hand_is_no_better() -> None:
    # Ten GPUs of two kinds, flat load: all ways to put a whole number of each to work, enumerated.
    speeds, kw, gpus = (1000.0, 700.0), (2.0, 1.0), (4, 6)
    scenario = several_kinds((4000.0, 1000.0), kw, demand={"hour_profile": (1.0,) * 24})
    used = settled(asked_of(scenario, [6200.0 * 86_400]), fleet_of(gpus), [model_of(speeds)])
    # By FLOP per kWh the first kind is better (2000 to 1000), by tokens per kWh the second (500 to 700).
    assert used.kinds == (0, 1)
    np.testing.assert_allclose(used.serving_sunk_hours[:, 0], [24 * 2, 24 * 6])
    ways = [(a, b) for a in range(5) for b in range(7) if a * speeds[0] + b * speeds[1] >= 6200.0]
    assert min(ways, key=lambda way: way[0] * kw[0] + way[1] * kw[1]) == (2, 6)


def test_each_day_follows_its_own_model() -> None:
    # Tokens a kWh: the first model's 1333 on kind 0 and 1000 on kind 1, the second's 2000 and 2400, where it is slower.
    scenario = several_kinds((1600.0, 1000.0), (1.5, 1.0), days=4, demand={"hour_profile": (1.0,) * 24})
    service = Level(0.0)
    service.set(2, 1.0)
    models = [model_of((2000.0, 1000.0)), model_of((3000.0, 2400.0))]
    used = settled(asked_of(scenario, [3000.0 * 86_400] * 4), fleet_of((2, 2)), models, in_service=service)
    assert used.kinds == (0, 1)
    np.testing.assert_allclose(used.serving_sunk_hours, 24 * np.array([[1.5, 1.5, 0.0, 0.0], [0.0, 0.0, 1.25, 1.25]]))
    # What one model would do on all days is what it does on its own.
    for number, days in ((0, slice(0, 2)), (1, slice(2, 4))):
        alone = settled(asked_of(scenario, [3000.0 * 86_400] * 4), fleet_of((2, 2)), [models[number]])
        np.testing.assert_array_equal(alone.serving_sunk_hours[:, days], used.serving_sunk_hours[:, days])
