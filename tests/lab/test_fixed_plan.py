"""A planner's own orders: each on its day, and only those that can be placed."""

from __future__ import annotations

import pickle
from datetime import timedelta

import numpy as np
import pytest
from pydantic import ValidationError
from small_lab import MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import observed

from simulator.lab.fixed_plan import FixedPlan, PlannedOrder, UnfitPlan
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.orders import Tenure
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.world.scenario import Scenario
from simulator.world.world import realize


def lab(horizon_days: int = 12) -> Scenario:
    plain = plain_scenario()
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": ()}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
        }
    )


def row(day: int, action: str, gpus: int, term_days: int | None = None, kind: str = "Unit") -> PlannedOrder:
    told = {"date": MONDAY + timedelta(days=day), "action": action, "gpus": gpus, "term_days": term_days}
    return PlannedOrder.model_validate(told | ({} if action == "cap" else {"accelerator": kind}))


PLAN = FixedPlan(order=(row(8, "cap", 0), row(1, "buy", 3), row(3, "reserve", 5, 3), row(6, "sell", 2)))


def live(scenario: Scenario, plan: FixedPlan) -> Run:
    return simulate(scenario, Policy("by hand", FixedRecipe(), plan, Expected()))


def test_every_order_is_placed_on_its_day() -> None:
    # Bought on day 1, in service on day 2; two of three sold on day 6. Between them reviews are a month apart.
    run = live(lab(), PLAN)
    np.testing.assert_array_equal(run.used.owned_gpus[0], [0, 0, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(run.used.reserved_gpus[0], [0, 0, 0, 5, 5, 5, 0, 0, 0, 0, 0, 0])
    told = [(order.day, order.tenure, order.gpus, order.reason) for order in run.orders]
    assert told == [
        (1, Tenure.OWNED, 3, "as planned"),
        (3, Tenure.RESERVED, 5, "as planned"),
        (6, Tenure.OWNED, 2, "as planned"),
    ]
    # Half the hours need 5 GPUs and half 15, until from day 8 on there is but the one that is left: 24 of 240 hours.
    served = TOKENS_PER_DAY * np.array([1.0] * 8 + [0.1] * 4)
    np.testing.assert_allclose(run.used.served_tokens, served)


def test_a_day_may_have_several_orders_and_day_0_too() -> None:
    run = live(lab(), FixedPlan(order=(row(0, "buy", 1), row(0, "reserve", 2, 9), row(0, "reserve", 3, 10))))
    assert [(order.day, order.gpus) for order in run.orders] == [(0, 1), (0, 2), (0, 3)]


def test_what_cannot_be_had_is_told_and_the_plan_goes_on() -> None:
    run = live(lab(), FixedPlan(order=(row(1, "sell", 2), row(2, "buy", 3), row(5, "sell", 9), row(7, "buy", 1))))
    assert [(order.asked_gpus, order.gpus) for order in run.orders] == [(2, 0), (3, 3), (9, 3), (1, 1)]
    assert run.orders[2].reason == "as planned; 9 asked, cut to what is there to be sold"


def test_the_plan_does_not_change_what_a_model_is_planned_to_cost() -> None:
    scenario = plain_scenario()
    seen, (release,) = observed(realize(scenario)), scenario.releases
    plan, rent = (rule.planning_price(seen, release, Expected()) for rule in (PLAN, RentOnDemand()))
    np.testing.assert_array_equal(plan.serving_usd_per_gpu_hour, rent.serving_usd_per_gpu_hour)
    np.testing.assert_array_equal(plan.training_usd_per_gpu_hour, rent.training_usd_per_gpu_hour)


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "where", "rule"),
    [
        (row(-1, "buy", 1), "date", "must be 2026-06-01 or later, and before 2026-06-13"),
        (row(12, "buy", 1), "date", "must be 2026-06-01 or later, and before 2026-06-13"),
        (row(1, "buy", 1, kind="Unti"), "accelerator", "is not known; there are Unit"),
        (row(1, "reserve", 1, 4), "term_days", "must be a term on offer: 365, 1, 3, 5, 9, 10, 100, 400"),
    ],
)
def test_what_a_scenario_does_not_allow(order: PlannedOrder, where: str, rule: str) -> None:
    plan = FixedPlan(order=(row(1, "buy", 1), order))
    with pytest.raises(UnfitPlan, match=f"order.1.{where}: {rule}") as refused:
        plan.check(lab())
    ((number, misfit),) = refused.value.found
    assert (number, misfit.where) == (1, where)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    PLAN.check(lab())


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus": 0},
        {"gpus": -1},
        {"gpus": 1.5},
        {"gpus": 10**9},
        {"action": "bye"},
        {"action": "reserve"},
        {"action": "cap"},
        {"accelerator": ""},
        {"term_days": 365},
        {"date": "tomorrow"},
        {"colour": "red"},
    ],
    ids=str,
)
def test_what_no_order_may_say(wrong: dict[str, object]) -> None:
    right = {"date": MONDAY, "action": "buy", "accelerator": "Unit", "gpus": 1}
    PlannedOrder.model_validate(right)
    with pytest.raises(ValidationError):
        PlannedOrder.model_validate(right | wrong)


def test_an_empty_plan_is_none() -> None:
    with pytest.raises(ValidationError, match="needs a csv, or orders written out"):
        FixedPlan()
