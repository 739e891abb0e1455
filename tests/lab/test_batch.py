"""Tokens that can wait: by hand, against a linear program over a block, and what no world may break."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from small_dispatch import asked_of, fleet_of, model_of, selling, settled, several_kinds

from simulator.lab.dispatch import Dispatch
from simulator.lab.level import Level
from simulator.world.market import SpotWork

FLAT = (1.0,) * 24
DAY = 86_400.0


def batch(share: float, patience: int = 1, profile: tuple[float, ...] = FLAT) -> dict[str, object]:
    return {"hour_profile": profile, "batch": {"share": share, "patience_days": patience}}


def test_a_quiet_day_serves_what_a_busy_one_could_not() -> None:
    # 1,000 tokens/s a GPU, ten held; 8,000 then 16,000 tokens/s asked, half of which can wait, for one day or for two.
    def served(patience: int) -> Dispatch:
        scenario = several_kinds(days=3, demand=batch(0.5, patience))
        return settled(asked_of(scenario, np.array([8e3, 16e3, 30e3]) * DAY), fleet_of([10]), [model_of([1000.0])])

    np.testing.assert_allclose(served(1).served_tokens / DAY, [8e3, 10e3, 10e3])
    two = served(2)
    # Users take 4 and 8 GPUs, which leaves 6 and 2 for 12,000: all is used, 6,000 the first day, 2,000 the second.
    np.testing.assert_allclose(two.served_tokens / DAY, [10e3, 10e3, 10e3])
    assert two.batch is not None
    np.testing.assert_allclose(two.batch.served_tokens / DAY, [6e3, 2e3, 0.0], atol=1e-9)
    np.testing.assert_allclose(two.serving_sunk_hours[0], 240.0)


def test_days_with_more_room_than_the_block_needs_share_it_evenly() -> None:
    # 2,000 and 4,000 tokens/s of users leave 28 and 26 GPUs of thirty for 6,000 that can wait: either would do alone.
    scenario = several_kinds(days=2, demand=batch(0.5, 2))
    used = settled(asked_of(scenario, np.array([4e3, 8e3]) * DAY), fleet_of([30]), [model_of([1000.0])])
    assert used.batch is not None
    np.testing.assert_allclose(used.batch.served_tokens / DAY, [3e3, 3e3])


def test_batch_comes_before_research_and_after_users() -> None:
    scenario = several_kinds(days=1, demand=batch(0.5))
    fleet, model = fleet_of([10]), model_of([1000.0])
    used = settled(asked_of(scenario, [8e3 * DAY]), fleet, [model], research_flop=1e30)
    np.testing.assert_allclose(used.serving_sunk_hours[0], 24 * 8)
    np.testing.assert_allclose(used.research_sunk_hours[0], 24 * 2)


def test_spot_by_hand() -> None:
    # Nothing held, 4,000 tokens/s that can wait, 1,000 a GPU: 96 GPU-hours of work a day. Spot has half of what is
    # asked and loses a fifth, so 48 h of work are 60 h paid; the cap of one GPU lets 24 h more on demand; 24 are left.
    market = {"spot_work": ["batch"], "spot_availability": 0.5, "spot_lost_share": 0.2}
    scenario = several_kinds(demand=batch(1.0), quote={"spot_usd_per_gpu_hour": 1.0}, market=market)
    used = settled(asked_of(scenario, [4e3 * DAY]), fleet_of([0], cap=1.0), [model_of([1000.0])], research_flop=1.8e19)
    assert used.serving_spot_hours[0] == pytest.approx(60.0)
    assert used.serving_rented_hours[0] == pytest.approx(24.0)
    assert used.served_tokens[0] == pytest.approx(3e3 * DAY)
    assert not used.research_spot_hours.any(), "research may not use it here"
    assert used.research_rented_hours[0] == pytest.approx(10.0)


@pytest.mark.parametrize(("usd", "lost", "hours"), [(1.0, 0.4, 48 / 0.6), (1.0, 0.5, 0.0), (1.99, 0.0, 48.0)])
def test_spot_is_used_where_an_hour_of_work_kept_is_cheaper(usd: float, lost: float, hours: float) -> None:
    # On demand costs 2: at a price of 1 that is reached when half the work is lost.
    market = {"spot_work": ["batch", "research"], "spot_availability": 0.5, "spot_lost_share": lost}
    scenario = several_kinds(demand=batch(1.0), quote={"spot_usd_per_gpu_hour": usd}, market=market)
    used = settled(
        asked_of(scenario, [4e3 * DAY]), fleet_of([0], cap=inf), [model_of([1000.0])], research_flop=1.728e20
    )
    assert used.serving_spot_hours[0] == pytest.approx(hours)
    assert used.research_spot_hours[0] == pytest.approx(hours), "96 GPU-hours of research, the same by hand"
    kept = hours * (1.0 - lost)
    assert used.serving_rented_hours[0] == pytest.approx(96.0 - kept)
    assert used.research_rented_hours[0] == pytest.approx(96.0 - kept)


def test_users_never_use_spot() -> None:
    market = {"spot_work": list(SpotWork), "spot_availability": 1.0}
    scenario = several_kinds(quote={"spot_usd_per_gpu_hour": 0.01}, market=market)
    used = settled(asked_of(scenario, [4e3 * DAY]), fleet_of([0], cap=inf), [model_of([1000.0])])
    assert not used.serving_spot_hours.any()
    assert used.serving_rented_hours[0] == pytest.approx(96.0)


def test_the_first_days_do_not_know_the_last() -> None:
    rng = np.random.default_rng(1)
    asked = rng.uniform(1e3, 3e4, 40) * DAY
    model, names = (
        model_of([1000.0]),
        ("served_tokens", "serving_rented_hours", "bought_tokens", "research_rented_hours"),
    )

    def lived(days: int) -> Dispatch:
        scenario = several_kinds(days=days, demand=batch(0.4, 3), provider=selling(1e8))
        return settled(asked_of(scenario, asked[:days]), fleet_of([9], cap=4.0), [model], research_flop=1e20)

    short, long = lived(29), lived(40)
    for name in names:  # the block of day 27 is cut by the horizon
        np.testing.assert_array_equal(getattr(short, name)[:27], getattr(long, name)[:27])


ASKED = st.just(0.0) | st.floats(1e-3, 4e4)
SPEED = st.sampled_from([0.0, 500.0, 1000.0, 2500.0])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(ASKED, min_size=5, max_size=5),
    st.lists(st.integers(0, 20), min_size=2, max_size=2),
    st.tuples(SPEED, SPEED),
    st.tuples(SPEED, SPEED),
    st.sampled_from([0.0, 3.0, inf]),
    st.sampled_from([0.2, 0.7, 1.0]),
    st.integers(1, 7),
    st.sampled_from([0.0, 3e8, inf]),
    st.sampled_from([(1, 0), (6, 2)]),
)
def test_what_no_world_may_break(
    asked: list[float],
    held: list[int],
    first: tuple[float, float],
    second: tuple[float, float],
    cap: float,
    share: float,
    patience: int,
    buyable: float,
    terms: tuple[int, int],
) -> None:
    profile = tuple(0.5 + hour / 23 for hour in range(24))
    quote = {
        "on_demand_minimum_hours": terms[0],
        "on_demand_start_hours": terms[1],
        "spot_usd_per_gpu_hour": 1.0,
    }
    scenario = several_kinds(
        (1000.0, 2000.0),
        (2.0, 3.0),
        days=5,
        spares=1,
        demand=batch(share, patience, profile),
        quote=quote,
        market={"spot_work": ["batch", "research"], "spot_availability": 0.5, "spot_lost_share": 0.1},
        provider=selling(buyable),
    )
    service = Level(0.0)
    service.set(2, 1.0)
    fleet, world = fleet_of(held, cap=cap), asked_of(scenario, np.array(asked) * DAY)
    used = settled(world, fleet, [model_of(first, 2.0), model_of(second, 2.0)], in_service=service, research_flop=1e20)
    assert used.batch is not None
    # Nothing is negative, and no GPU held works more than its 24 hours.
    hours = (
        used.serving_sunk_hours, used.serving_spot_hours, used.serving_rented_hours, used.research_sunk_hours,
        used.research_spot_hours, used.research_rented_hours, used.batch.sunk_hours, used.batch.rented_hours,
        used.served_tokens, used.bought_tokens, used.batch.served_tokens, used.batch.bought_tokens,
    )  # fmt: skip
    assert all((found >= 0.0).all() for found in hours)
    idle = used.held_hours - used.serving_sunk_hours - used.research_sunk_hours
    assert (idle >= -1e-6).all()
    assert (used.serving_billed_hours >= used.serving_rented_hours - 1e-9).all()
    assert (used.serving_billed_hours <= 24.0 * cap + 1e-6).all()
    # Served is what GPUs of each tenure made and what was bought, and a block never serves more than it was asked.
    speed = np.array([first, first, second, second, second]).T
    spot_work = used.serving_spot_hours * (1.0 - 0.1)
    made = (speed[list(used.kinds)] * used.batch.sunk_hours).sum(axis=0)
    made = (made + speed[0] * (used.batch.rented_hours + spot_work)) * 3600
    np.testing.assert_allclose(made + used.batch.bought_tokens, used.batch.served_tokens, rtol=1e-9, atol=1e-3)
    blocks = [slice(day, day + patience) for day in range(0, 5, patience)]
    for block in blocks:
        waiting = share * used.asked_tokens[block].sum()
        assert used.batch.served_tokens[block].sum() <= waiting * (1 + 1e-12) + 1e-6
    users = used.served_tokens - used.batch.served_tokens
    assert (users <= (1 - share) * used.asked_tokens * (1 + 1e-12) + 1e-3).all()
    # Nothing is bought before what can be rented is, and nothing is refused that could be bought.
    assert (used.bought_tokens <= buyable * (1 + 1e-12)).all()
    for block in blocks:
        if used.batch.bought_tokens[block].any() or (
            used.batch.served_tokens[block].sum() < share * used.asked_tokens[block].sum() * (1 - 1e-9) - 1e-3
        ):
            full = (speed[0, block] == 0.0) | (used.serving_billed_hours[block] >= 24.0 * cap * (1 - 1e-9) - 1e-6)
            assert full.all()
        if buyable == inf:
            assert used.served_tokens[block].sum() == pytest.approx(used.asked_tokens[block].sum(), rel=1e-9, abs=1e-3)
    peak = (used.bought_tokens - used.batch.bought_tokens) > 0.0
    assert not (peak & (cap == inf) & (speed[0] > 0.0)).any()


@settings(max_examples=40, deadline=None)
@given(st.lists(ASKED, min_size=4, max_size=4), st.integers(0, 20), st.integers(0, 9), st.integers(1, 4))
def test_a_block_serves_as_much_as_any_plan_of_its_days(asked: list[float], held: int, cap: int, patience: int) -> None:
    # A linear program may move tokens between the days of a block as it likes; so much is served, and no more.
    scenario = several_kinds(days=4, demand=batch(0.6, patience))
    used = settled(asked_of(scenario, np.array(asked) * DAY), fleet_of([held], cap=cap), [model_of([1000.0])])
    users = np.minimum(0.4 * np.array(asked), 1000.0 * (held + cap))
    room = 1000.0 * (held + cap) - users
    best = 0.0
    for start in range(0, 4, patience):
        days = room[start : start + patience]
        waiting = 0.6 * sum(asked[start : start + patience])
        plan = linprog(-np.ones(days.size), A_ub=[np.ones(days.size)], b_ub=[waiting], bounds=[(0.0, d) for d in days])
        best -= plan.fun
    assert used.served_tokens.sum() / DAY == pytest.approx(users.sum() + best, rel=1e-9, abs=1e-6)
