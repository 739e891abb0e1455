"""The vector pass against an hour-by-hour lab, on random days; and conservation of GPU-hours and tokens."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from hourly_lab import Day, live_through
from hypothesis import given, settings
from hypothesis import strategies as st
from small_dispatch import asked_of, fleet_of, model_of, selling, settled, several_kinds

from simulator.lab.models import work_flop_per_gpu_hour

PROFILE = tuple(0.5 + hour / 23 for hour in range(24))


@st.composite
def days(draw: st.DrawFn) -> Day:
    gpus = st.integers(0, 40).map(float)
    return Day(
        asked_tokens=draw(st.just(0.0) | st.floats(1.0, 3e9)),
        profile=PROFILE,
        held_gpus=(draw(gpus), draw(gpus)),
        training_gpus=(draw(gpus), draw(gpus)),
        tokens_per_gpu_second=(
            draw(st.sampled_from([0.0, 500.0, 1000.0, 4000.0])),
            draw(st.sampled_from([900.0, 2000.0])),
        ),
        server_kw=(3.2, 2.0),
        rented=1,
        replica_gpus=draw(st.sampled_from([0.0, 2.0, 8.0])),
        spares=draw(st.integers(0, 2)),
        cap_gpus=draw(st.sampled_from([0.0, 3.0, 1e9])),
        minimum_hours=draw(st.sampled_from([1, 4, 24])),
        start_hours=draw(st.sampled_from([0, 1, 5, 23])),
        batch_share=draw(st.sampled_from([0.0, 0.3, 1.0])),
        buyable_tokens=draw(st.sampled_from([0.0, 1e8, inf])),
        research_flop=draw(st.just(0.0) | st.floats(1.0, 5e21)),
        flop_per_gpu_hour=(3.6e18, 1.8e18),
        work_rented=0,
    )


@settings(max_examples=150, deadline=None)
@given(days())
def test_it_equals_the_hourly_lab(day: Day) -> None:
    # The lab lists the older kind first; in FLOP per kWh the newer one comes first, and in tokens per kWh either may.
    scenario = several_kinds(
        (1000.0, 2000.0),
        day.server_kw[::-1],
        spares=day.spares,
        demand={"hour_profile": PROFILE, "batch": {"share": day.batch_share}},
        quote={"on_demand_minimum_hours": day.minimum_hours, "on_demand_start_hours": day.start_hours},
        provider=selling(day.buyable_tokens),
    )
    work = work_flop_per_gpu_hour(scenario)
    oracle = live_through(replace(day, flop_per_gpu_hour=(work[1], work[0]), work_rented=1))
    used = settled(
        asked_of(scenario, [day.asked_tokens]),
        fleet_of(day.held_gpus[::-1], day.training_gpus[::-1], day.cap_gpus),
        [model_of(day.tokens_per_gpu_second[::-1], day.replica_gpus)],
        rental=1 - day.rented,
        research_flop=day.research_flop,
    )

    def by_merit(hours: np.ndarray) -> list[float]:
        """Newer kind first, 0 for a kind never touched."""
        return [float(hours[used.kinds.index(kind), 0]) if kind in used.kinds else 0.0 for kind in (1, 0)]

    scale = 24 * 80
    rented = {"rtol": 1e-9, "atol": 1e-9 * scale}
    np.testing.assert_allclose(used.served_tokens[0], oracle.served_tokens, rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(used.bought_tokens[0], oracle.bought_tokens, rtol=1e-9, atol=1e-2)
    np.testing.assert_allclose(by_merit(used.serving_sunk_hours), oracle.serving_sunk_hours, atol=1e-9 * scale)
    np.testing.assert_allclose(used.serving_rented_hours[0], oracle.serving_rented_hours, **rented)
    np.testing.assert_allclose(used.serving_billed_hours[0], oracle.serving_billed_hours, **rented)
    np.testing.assert_allclose(by_merit(used.training_rented_hours), oracle.training_rented_hours, atol=1e-9)
    np.testing.assert_allclose(by_merit(used.research_sunk_hours), oracle.research_sunk_hours, atol=1e-9 * scale)
    np.testing.assert_allclose(
        used.research_rented_hours[0] + used.research_spot_hours[0], oracle.research_rented_hours, atol=1e-6
    )
    waited = 0.0 if used.batch is None else used.batch.served_tokens[0]
    np.testing.assert_allclose(waited, oracle.batch_tokens, rtol=1e-9, atol=1e-2)
    # Conservation: what is held is used or idle, and nothing is served that was not asked.
    busy = used.training_sunk_hours + used.serving_sunk_hours + used.research_sunk_hours
    assert (busy <= used.held_hours + 1e-9 * scale).all()
    assert 0.0 <= used.served_tokens[0] <= used.asked_tokens[0] * (1 + 1e-12)
