"""Runs that find too few GPUs: four GPUs are asked for 144 GPU-hours, a day and a half, for a model due on day 2."""

from __future__ import annotations

import numpy as np
import pytest
from small_lab import FixedOrders, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.observation import Observation
from simulator.lab.orders import Order
from simulator.lab.policy import Policy, PolicyInputs
from simulator.lab.shortage import Cluster, RentMissing, Shortage, ShrinkRun, WaitForGpus
from simulator.world.scenario import OwnedInputs, Scenario


def lab(horizon_days: int = 10, old_gpus: int = 0, lead_days: float = 3.0) -> Scenario:
    plain = plain_scenario()
    old = OwnedInputs(accelerator="Unit", gpus=max(old_gpus, 1), age_days=10, paid_usd_per_gpu=10_000.0)
    market = plain.market.model_copy(update={"event": (), "lead_days": lead_days})
    return plain.model_copy(
        update={"horizon_days": horizon_days, "market": market, "opening_fleet": (old,) if old_gpus else ()}
    )


def live(scenario: Scenario, shortage: Shortage, buys: tuple[int, ...] = (), recipe: FixedRecipe | None = None) -> Run:
    return simulate(
        scenario, Policy("by hand", recipe or FixedRecipe(), FixedOrders(buys=buys), Expected(), shortage=shortage)
    )


def trained(run: Run) -> list[float]:
    """GPU-hours of training by day, held or rented."""
    used = run.used
    hours = used.training_sunk_hours.sum(axis=0) + used.training_rented_hours.sum(axis=0)
    return [round(float(each), 6) for each in hours]


def test_by_default_what_is_missing_is_rented_at_once() -> None:
    run = live(lab(old_gpus=1), RentMissing())
    assert trained(run) == [96.0, 48.0] + [0.0] * 8
    # On average over its last day the run holds two GPUs, one of them owned.
    assert run.used.training_rented_hours.sum() == pytest.approx(72 + 24)
    assert run.releases[0].days_late == 0


def test_a_run_waits_for_the_gpus_that_are_on_their_way() -> None:
    run = live(lab(), WaitForGpus(), buys=(8,))
    assert trained(run) == [0.0] * 3 + [96.0, 48.0] + [0.0] * 5
    assert not run.used.training_rented_hours.any()
    # Due on day 2, begun on day 3, done in the middle of day 4, in service on the morning of day 5.
    assert (run.releases[0].deploy_day, run.releases[0].days_late) == (5, 3)
    # Until then the opening model serves, twice as large: 240 GPU-hours a day, then 120.
    serving = run.used.serving_sunk_hours.sum(axis=0) + run.used.serving_rented_hours
    np.testing.assert_allclose(serving, [240.0] * 5 + [120.0] * 5)


def test_patience_has_an_end() -> None:
    run = live(lab(), WaitForGpus(patience_days=2), buys=(8,))
    assert trained(run)[:5] == [0.0, 0.0, 96.0, 48.0, 0.0]
    # On day 3 the GPUs are there: the rest of the run is theirs.
    assert run.used.training_rented_hours.sum() == pytest.approx(96.0)
    assert run.releases[0].days_late == 2


def test_too_few_gpus_are_waited_for_as_none_are() -> None:
    run = live(lab(), WaitForGpus(patience_days=6), buys=(3,))
    assert trained(run)[:8] == [0.0] * 6 + [96.0, 48.0]
    assert run.used.training_rented_hours.sum() == pytest.approx(24)


def test_a_run_that_waits_in_vain_is_late_and_costs_nothing() -> None:
    run = live(lab(horizon_days=5), WaitForGpus())
    assert trained(run) == [0.0] * 5
    (release,) = run.releases
    assert release.deploy_day == 5 + 2
    assert run.books.releases[0].training_usd == 0.0
    assert not run.books.cash_usd[:, Account.CLOSING_MODELS].any()


def test_a_run_shrinks_to_the_gpus_there_are() -> None:
    run = live(lab(old_gpus=2), ShrinkRun(), recipe=FixedRecipe(n_parameters=1.25e10))
    assert trained(run)[:4] == [48.0, 48.0, 48.0, 0.0]
    assert not run.used.training_rented_hours.any()
    assert (run.releases[0].choice.size.gpus, run.releases[0].days_late) == (2, 1)
    # Serving has nothing left of them for three days.
    np.testing.assert_allclose(run.used.serving_rented_hours[:3], 240.0)
    # A model of 1.25e11 parameters needs four GPUs to hold it: two are rented beside the two there are.
    large = live(lab(old_gpus=2), ShrinkRun())
    assert large.releases[0].choice.size.gpus == 4
    assert large.used.training_rented_hours.sum() == pytest.approx(48.0)


def test_a_lab_without_gpus_has_nothing_to_shrink_to() -> None:
    assert trained(live(lab(), ShrinkRun()))[:3] == [96.0, 48.0, 0.0]


@pytest.mark.parametrize(
    ("free", "waited", "rent", "wait", "shrink"),
    [
        (10.0, 0, 8, 8, 8),
        (8.0, 0, 8, 8, 8),
        (7.9, 0, 8, None, 7),
        (7.9, 60, 8, 8, 7),
        (1.0, 0, 8, None, 3),
        (0.0, 0, 8, None, 8),
    ],
)
def test_each_rule_by_cases(free: float, waited: int, rent: int, wait: int | None, shrink: int) -> None:
    cluster = Cluster(asked_gpus=8, fewest_gpus=3, free_gpus=free)
    assert RentMissing().begin(cluster, waited) == rent
    assert WaitForGpus().begin(cluster, waited) == wait
    assert ShrinkRun().begin(cluster, waited) == shrink


def test_one_kind_of_gpu_is_chosen_for_the_whole_run() -> None:
    free_flop = np.array([3e18, 9e18, 0.0])
    assert RentMissing().accelerator(2, free_flop) == 2
    assert WaitForGpus().accelerator(2, free_flop) == 1
    assert ShrinkRun().accelerator(2, np.zeros(3)) == 2


def test_a_policy_table_may_say_it() -> None:
    inputs = PolicyInputs.model_validate({"name": "patient", "shortage": {"kind": "wait", "patience_days": 9}})
    assert inputs.policy().shortage == WaitForGpus(patience_days=9)
    assert PolicyInputs.model_validate({"name": "usual"}).policy().shortage == RentMissing()


def test_a_model_that_waits_for_gpus_is_not_thought_to_serve() -> None:
    """Due on day 2, begun on day 6, in service on day 8: until then reviews plan with the opening model."""

    class Planner(FixedOrders):
        def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
            model = observation.model_on(observation.day)
            assert model is not None
            seen.append(model.name)
            return super().review(observation, forecast)

    seen: list[str] = []
    policy = Policy("by hand", FixedRecipe(), Planner(), Expected(), shortage=WaitForGpus(patience_days=6))
    simulate(lab(), policy)
    assert seen == ["opening model"] * 8 + ["next"] * 2
