"""Cost by stage: a lab computed by hand to the cent, and stages that add up whatever was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from small_lab import MONDAY, FixedOrders, FixedRecipe, plain_scenario
from small_study import BUY, OVERTRAIN, RENT, RESERVE, growing_lab, policy

from simulator.lab.accounts import Account, Stage, Use
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.lab.routes import Lever
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.stages import stage_usd
from simulator.world.deployment import DeploymentInputs
from simulator.world.roadmap import Release, ReleaseInputs
from simulator.world.scenario import DataMixingInputs, LeasedInputs, OwnedInputs, Scenario

CENT = 0.005


def stages_of(run: Run) -> dict[Stage, float]:
    return dict(zip(Stage, stage_usd(run.books, run.releases).tolist(), strict=True))


def three_days(**changes: object) -> Scenario:
    """The lab of test_three_days with data at 2 USD per million tokens and 1,000 USD for each deployment."""
    plain = plain_scenario()
    return plain.model_copy(
        update={
            "training": plain.training.model_copy(update={"data_usd_per_million_tokens": 2.0}),
            "deployment": DeploymentInputs(usd_per_release=1000.0),
            **changes,
        }
    )


# All of it by hand in tests/lab/test_three_days.py: eight GPUs bought, which serve, train and stand idle.
ALL_IN, BID_1 = 8 * 10_000 * 1.5 / 0.75, 8 * 10_000 * 1.5 * 0.9
RUNNING = 34.56 + 96.0 + ALL_IN * 0.036525 / 365.25
DAY_1, DAY_2 = ALL_IN - BID_1 + RUNNING, BID_1 * (1 - 10**-0.001) + RUNNING
TRAINED = 96 * 2.00 + DAY_1 * 48 / 192
READ = 2.0 * 144 * 1.8e18 / (6 * 1.25e11) / 1e6  # 345.6 million tokens


def bought(recipe: FixedRecipe) -> Run:
    return simulate(three_days(), Policy("by hand", recipe, FixedOrders(buys=(8,)), Expected()))


def test_three_days_by_hand() -> None:
    run = bought(FixedRecipe())
    expected = {
        Stage.DATA_PREPARATION: READ,
        Stage.TRAINING: TRAINED,
        Stage.FINE_TUNING: 0.0,
        Stage.RESEARCH: 0.0,
        Stage.DEPLOYMENT: 1000.0,
        Stage.SERVING: 240 * 2.00 + DAY_1 * 132 / 192 + 108 * 1.80 + DAY_2 * 120 / 192,
        Stage.IDLE: DAY_1 * 12 / 192 + DAY_2 * 72 / 192,
        Stage.HARDWARE_LEFT_OVER: 0.0,
        Stage.MODELS_LEFT_OVER: -(TRAINED + READ) * 2 / 3,
    }
    assert stages_of(run) == pytest.approx(expected, abs=CENT)
    np.testing.assert_array_equal(run.books.cash_usd[:, Account.DEPLOYMENT], [0.0, 0.0, 1000.0])
    np.testing.assert_array_equal(run.books.economic_usd[:, Use.DEPLOYMENT], [0.0, 0.0, 1000.0])


class FromABase(FixedRecipe):
    """The same run on top of another model."""

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        return replace(super().choose(observation, release, forecast, procurement), tuned_share=1.0)


def test_a_run_on_top_of_another_model_is_fine_tuning() -> None:
    scratch, tuned = stages_of(bought(FixedRecipe())), stages_of(bought(FromABase()))
    assert tuned[Stage.FINE_TUNING] == scratch[Stage.TRAINING]
    assert tuned[Stage.TRAINING] == 0.0
    moved = (Stage.TRAINING, Stage.FINE_TUNING)
    assert all(tuned[stage] == scratch[stage] for stage in Stage if stage not in moved)


def test_leases_that_run_on_stand_apart_from_idle_gpus() -> None:
    # 100 leased for 365 days at 1.50: serving and training take 240 + 96, 240 + 48 and 120 of 2,400 hours a day. What
    # is owed beyond the end, less subletting at 1.80 x 0.75 less a tenth, is no cost of GPUs that stood idle.
    leased = simulate(three_days(), Policy("by hand", FixedRecipe(), FixedOrders(reserves=(100,)), Expected()))
    found = stages_of(leased)
    assert found[Stage.IDLE] == pytest.approx(1.50 * (3 * 2400 - 336 - 288 - 120), abs=CENT)
    assert found[Stage.HARDWARE_LEFT_OVER] == pytest.approx(362 * 24 * 100 * (1.50 - 1.80 * 0.75 * 0.9), abs=CENT)


def test_every_model_that_goes_into_service_is_paid_for_once() -> None:
    days = (2, 5, 40)
    rows = tuple(ReleaseInputs(name=f"on {day}", due=MONDAY + timedelta(days=day)) for day in days)
    roadmap = plain_scenario().roadmap.model_copy(update={"release": rows})
    scenario = three_days(horizon_days=30, roadmap=roadmap)
    run = simulate(scenario, Policy("by hand", FixedRecipe(), RentOnDemand(), Expected()))
    paid = run.books.cash_usd[:, Account.DEPLOYMENT]
    assert np.flatnonzero(paid).tolist() == [2, 5]
    assert paid.sum() == 2000.0


# Whatever is done ------------------------------------------------------------------------------------------------

FINE_TUNE = policy("fine-tune", RentOnDemand(), frozenset({Lever.FINE_TUNE}))
MIXED = policy("mixed", RentOnDemand(), frozenset({Lever.OVERTRAIN, Lever.DATA_MIXING}))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    plain = growing_lab(200)
    scenario = plain.model_copy(
        update={
            "training": plain.training.model_copy(update={"data_usd_per_million_tokens": 1.0}),
            "data_mixing": DataMixingInputs(gain=1.5, usd_per_release=2e6),
            "deployment": DeploymentInputs(usd_per_release=3e6),
            "opening_fleet": (OwnedInputs(accelerator="H100", gpus=500, age_days=400, paid_usd_per_gpu=25e3),),
            "opening_lease": (LeasedInputs(accelerator="H100", gpus=400, usd_per_gpu_hour=3.5, days_left=300),),
        }
    )
    return compare(scenario, (RENT, OVERTRAIN, RESERVE, BUY, FINE_TUNE, MIXED), replications=3)


def test_stages_add_up_to_the_cumulative_cost(comparison: Comparison) -> None:
    for row in comparison.rows:
        scale = np.abs(row.account_usd).sum()
        assert row.stage_usd.sum() == pytest.approx(row.summary.cumulative_cost_usd, abs=1e-12 * scale)
    means = comparison.by_policy("cumulative_cost_usd").mean(axis=1)
    np.testing.assert_allclose(comparison.stage_usd.sum(axis=1), means, rtol=1e-11)
    table: pd.DataFrame = comparison.stages_table
    assert table.groupby("policy", sort=False)["usd"].sum().to_numpy() == pytest.approx(means)
    assert table.groupby("policy")["share"].sum().to_numpy() == pytest.approx(1.0)


def test_stages_are_estimated_as_the_cost_they_add_up_to() -> None:
    found = compare(growing_lab(200), (RENT, OVERTRAIN, BUY), replications=16)
    rows = found.summary_records()
    assert [row.cost_variance_factor < 0.5 for row in rows] == [True, True, False], "whose luck in demand is taken out"
    costs = [row.controlled_cost_usd for row in rows]
    np.testing.assert_allclose(found.controlled_stage_usd.sum(axis=1), costs, rtol=1e-9)
    assert found.stages_table.groupby("policy", sort=False)["controlled_usd"].sum().to_numpy() == pytest.approx(costs)
    serving = list(Stage).index(Stage.SERVING)
    moved = ~np.isclose(found.controlled_stage_usd, found.stage_usd, rtol=1e-9)[:, serving]
    assert moved.tolist() == [True, True, False]


def at(comparison: Comparison, name: str, stage: Stage) -> float:
    return float(comparison.stage_usd[comparison.policy_names.index(name), list(Stage).index(stage)])


def test_each_stage_is_used_by_those_that_do_such_a_thing(comparison: Comparison) -> None:
    names: Sequence[str] = comparison.policy_names
    tuned = [at(comparison, name, Stage.FINE_TUNING) > 0.0 for name in names]
    assert tuned == [name == "fine-tune" for name in names]
    # Two releases of 3 million each, but for the second, due after the end.
    assert [at(comparison, name, Stage.DEPLOYMENT) for name in names] == [3e6] * len(names)
    # The mix is paid for at both runs' beginning, beside the tokens read.
    read = comparison.releases_table.query("policy == 'mixed'")["n_training_tokens"].sum() / 3
    assert at(comparison, "mixed", Stage.DATA_PREPARATION) == pytest.approx(2 * 2e6 + read / 1e6)
    assert all(at(comparison, name, Stage.MODELS_LEFT_OVER) < 0.0 for name in names)
    # The lease brought in costs more than the market: what of it lies beyond the end, less what was owed at the start.
    assert at(comparison, "rent", Stage.HARDWARE_LEFT_OVER) < 0.0 < at(comparison, "reserve", Stage.IDLE)
