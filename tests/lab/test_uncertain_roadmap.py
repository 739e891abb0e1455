"""A roadmap that luck moves: what is owed, when it comes, and when a lab learns of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Annotated

import numpy as np
import pytest
from pydantic import Field
from small_lab import MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Lab, simulate
from simulator.lab.observation import Observation
from simulator.lab.orders import Order
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy, default_policies
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.study.files import load_scenario
from simulator.world.roadmap import Release, ReleaseInputs
from simulator.world.scenario import Scenario
from simulator.world.world import realize


def lab(**roadmap: object) -> Scenario:
    """Twelve plain days at steady prices, a release due on day 2 and planned to serve for 10 days."""
    plain = plain_scenario()
    return plain.model_copy(
        update={
            "horizon_days": 12,
            "market": plain.market.model_copy(update={"event": ()}),
            "roadmap": plain.roadmap.model_copy(update={"service_days": 10, **roadmap}),
        }
    )


class Notes(Procurement):
    """Notes on every day when the next model is expected."""

    review_days: int = 1
    expected: Annotated[dict[int, list[int]], Field(default_factory=dict)]

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        self.expected[observation.day] = [planned.deploy_day for planned in observation.coming]
        return []


def test_a_slip_is_learnt_of_when_the_release_is_due() -> None:
    world = replace(realize(lab()), slip_days=(3,))
    notes = Notes(expected={})
    run = Lab(world, Policy("p", FixedRecipe(gpu_hours=96.0), notes, Expected())).live()
    # Due on day 2: until then the lab counts on it, and from then on on day 5.
    seen = notes.expected
    assert [seen[day] for day in range(6)] == [[2], [2], [5], [5], [5], []]
    (release,) = run.releases
    assert (release.deploy_day, release.days_late) == (5, 3)
    np.testing.assert_allclose(run.used.serving_rented_hours, [240.0] * 5 + [120.0] * 7)
    assert run.books.releases[0].served_tokens == pytest.approx(7 * TOKENS_PER_DAY)
    assert run.books.cash_usd.sum() == pytest.approx(run.books.economic_usd.sum())
    # The run itself is as long as ever, and paid.
    assert run.books.releases[0].training_usd == pytest.approx(192.0)
    assert run.books.cash_usd[-1, Account.CLOSING_MODELS] == 0.0


def test_a_late_run_that_slips_is_late_by_both() -> None:
    world = replace(realize(lab()), slip_days=(3,))
    run = Lab(world, Policy("p", FixedRecipe(gpu_hours=4 * 96.0), RentOnDemand(), Expected())).live()
    assert run.releases[0].days_late == 2 + 3


def test_a_release_that_slips_past_the_next_never_serves() -> None:
    rows = tuple(ReleaseInputs(name=f"on {day}", due=MONDAY + timedelta(days=day)) for day in (2, 6))
    world = replace(realize(lab(release=rows)), slip_days=(5, 0))
    run = Lab(world, Policy("p", FixedRecipe(gpu_hours=96.0), RentOnDemand(), Expected())).live()
    assert [cost.served_tokens for cost in run.books.releases] == pytest.approx([0.0, 6 * TOKENS_PER_DAY])


def test_slips_are_the_same_for_all_policies_and_move_nothing_else() -> None:
    scenario = load_scenario("frontier_lab", ["horizon_days=600"])
    slipping = load_scenario("frontier_lab", ["horizon_days=600", "roadmap.slip_chance=0.6", "roadmap.slip_days=40"])
    for replication in range(3):
        sure, world = realize(scenario, 5, replication), realize(slipping, 5, replication)
        np.testing.assert_array_equal(sure.demand_tokens, world.demand_tokens)
        np.testing.assert_array_equal(sure.prices.rental_factor, world.prices.rental_factor)
        assert world.releases == sure.releases
        for policy in default_policies()[4:]:
            on_time, late = (Lab(each, policy).live() for each in (sure, world))
            pairs = zip(on_time.releases, late.releases, strict=True)
            assert [b.deploy_day - a.deploy_day for a, b in pairs] == list(world.slip_days[: len(late.releases)])


@dataclass
class Witness:
    """Another recipe, watched: which target it was shown, and when."""

    inner: FixedRecipe
    shown: list[tuple[int, float]] = field(default_factory=list)

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        self.shown.append((observation.day, release.target_flop))
        return self.inner.choose(observation, release, forecast, procurement)


def test_a_target_is_shown_on_its_decision_day_and_what_is_declared_before() -> None:
    scenario = lab(target_growth_sigma=0.5)
    world = realize(scenario, 2, 3)
    assert world.releases[0].target_flop != scenario.releases[0].target_flop
    witness = Witness(FixedRecipe(gpu_hours=96.0))
    Lab(world, Policy("p", witness, RentOnDemand(), Expected())).live()
    assert witness.shown == [(0, world.releases[0].target_flop)]


def test_all_policies_owe_the_same_in_a_world_and_reach_it() -> None:
    changes = ["horizon_days=500", "roadmap.target_growth_sigma=0.5", "roadmap.progress_sigma=0.2"]
    scenario = load_scenario("frontier_lab", changes)
    targets = set()
    for replication in range(4):
        world = realize(scenario, 1, replication)
        for policy in default_policies()[:5]:
            run = Lab(world, policy).live()
            assert [made.release for made in run.releases] == list(world.releases[: len(run.releases)])
            for made in run.releases:
                assert made.choice.quality_met
                assert made.reached_flop == pytest.approx(made.release.target_flop, rel=1e-6)
        targets.add(world.releases[0].target_flop)
    assert len(targets) > 1
    assert simulate(scenario, default_policies()[4], 1, 0).releases[0].release == realize(scenario, 1, 0).releases[0]
