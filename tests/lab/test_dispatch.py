"""The vector pass against an hour-by-hour lab, on random days; and conservation of GPU-hours and tokens."""

from __future__ import annotations

from datetime import date

import numpy as np
from hourly_lab import Day, live_through
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import plain_scenario

from simulator.lab.dispatch import Workload, dispatch
from simulator.lab.fleet import Fleet
from simulator.lab.level import Level
from simulator.lab.models import ServedModel, work_flop_per_gpu_hour
from simulator.lab.orders import Lease
from simulator.laws.precision import BF16
from simulator.world.scenario import Roofline, Scenario
from simulator.world.world import realize

PROFILE = tuple(0.5 + hour / 23 for hour in range(24))


def two_kinds(spares: int) -> Scenario:
    """Two kinds of GPU, the newer one second in the market's list: it comes first in merit."""
    plain = plain_scenario()
    old = plain.accelerator[0]
    new = old.model_copy(update={"name": "New", "launch": date(2026, 1, 1), "bf16_tflop_per_second": 2000.0})
    quotes = (plain.market.quote[0], plain.market.quote[0].model_copy(update={"accelerator": "New"}))
    return plain.model_copy(
        update={
            "horizon_days": 1,
            "accelerator": (old, new),
            "market": plain.market.model_copy(update={"quote": quotes, "event": ()}),
            "serving": Roofline(spare_replicas=spares),
            "demand": plain.demand.model_copy(update={"hour_profile": PROFILE}),
        }
    )


@st.composite
def days(draw: st.DrawFn) -> Day:
    gpus = st.integers(0, 40).map(float)
    return Day(
        asked_tokens=draw(st.just(0.0) | st.floats(1.0, 3e9)),
        profile=PROFILE,
        held_gpus=(draw(gpus), draw(gpus)),
        training_gpus=(draw(gpus), draw(gpus)),
        tokens_per_gpu_second=(draw(st.sampled_from([0.0, 500.0, 1000.0])), draw(st.sampled_from([900.0, 2000.0]))),
        rented=1,
        replica_gpus=draw(st.sampled_from([0.0, 2.0, 8.0])),
        spares=draw(st.integers(0, 2)),
        cap_gpus=draw(st.sampled_from([0.0, 3.0, 1e9])),
        research_flop=draw(st.just(0.0) | st.floats(1.0, 5e21)),
        flop_per_gpu_hour=(3.6e18, 1.8e18),
        work_rented=0,
    )


@settings(max_examples=150, deadline=None)
@given(days())
def test_it_equals_the_hourly_lab(day: Day) -> None:
    scenario = two_kinds(day.spares)
    world = realize(scenario)
    object.__setattr__(world, "demand_tokens", np.full(world.calendar.n_days, day.asked_tokens))
    fleet, work = Fleet(2), work_flop_per_gpu_hour(scenario)
    # The lab lists the older kind first; merit order has the newer one first.
    for kind, slot in ((1, 0), (0, 1)):
        fleet.begin(Lease(kind, int(day.held_gpus[slot]), 1.0, 0.0, 0, 9))
        fleet.training[kind].set(0, day.training_gpus[slot])
    fleet.rental_cap.set(0, day.cap_gpus)
    rented = 1 - day.rented
    with np.errstate(divide="ignore"):
        seconds = 1.0 / np.array(day.tokens_per_gpu_second[::-1])
    model = ServedModel("m", 1e9, 1e9, BF16, 1.0, seconds, np.full(2, day.replica_gpus))
    workload = Workload([model], Level(0.0), Level(rented), Level(0.0), Level(day.research_flop))
    oracle = live_through(
        Day(**{**vars(day), "flop_per_gpu_hour": (work[1], work[0]), "work_rented": 1, "rented": day.rented})
    )
    used = dispatch(world, fleet, workload)

    def by_merit(hours: np.ndarray) -> list[float]:
        """Newer kind first, 0 for a kind never touched."""
        return [float(hours[used.kinds.index(kind), 0]) if kind in used.kinds else 0.0 for kind in (1, 0)]

    scale = 24 * 80
    np.testing.assert_allclose(used.served_tokens[0], oracle.served_tokens, rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(by_merit(used.serving_sunk_hours), oracle.serving_sunk_hours, atol=1e-9 * scale)
    np.testing.assert_allclose(used.serving_rented_hours[0], oracle.serving_rented_hours, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(by_merit(used.training_rented_hours), oracle.training_rented_hours, atol=1e-9)
    np.testing.assert_allclose(by_merit(used.research_sunk_hours), oracle.research_sunk_hours, atol=1e-9 * scale)
    np.testing.assert_allclose(
        used.research_rented_hours[0] + used.research_spot_hours[0], oracle.research_rented_hours, atol=1e-6
    )
    # Conservation: what is held is used or idle, and nothing is served that was not asked.
    busy = used.training_sunk_hours + used.serving_sunk_hours + used.research_sunk_hours
    assert (busy <= used.held_hours + 1e-9 * scale).all()
    assert 0.0 <= used.served_tokens[0] <= used.asked_tokens[0] * (1 + 1e-12)
