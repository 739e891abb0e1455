"""When the plan is left, and what is done then: by hand, against brute force, and what it is worth after a jump."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import lognorm
from small_lab import MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import Flat, observed

from simulator.lab.accounts import Account
from simulator.lab.candidates import tokens_needed
from simulator.lab.forecast import Expected, Forecast, Trend
from simulator.lab.lab import Lab, Run, simulate
from simulator.lab.models import served_model
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, Procurement, RentOnDemand
from simulator.lab.recipe import LeverRecipe, Recipe
from simulator.lab.replan import Action, Band, Replan, Rerun, Service, Step
from simulator.lab.routes import Lever
from simulator.laws.precision import BF16
from simulator.laws.units import FloatArray, IntArray
from simulator.world.demand import DemandInputs, Trace
from simulator.world.roadmap import Release, ReleaseInputs
from simulator.world.scenario import DeploymentInputs, DistillationInputs, Misplaced, OwnedInputs, Scenario
from simulator.world.world import realize

CENT = 0.005
CHIP = plain_scenario().accelerator[0].model_copy(update={"fp8_tflop_per_second": 2000, "int8_tflop_per_second": 4000})
"""Twice as fast in fp8, which costs no loss, and four times in int8, which does."""


def lab(horizon_days: int = 30, tokens_per_day: float = TOKENS_PER_DAY, **roadmap: object) -> Scenario:
    """The plain scenario at steady prices, one release due on day 2 that is planned to serve for 30 days."""
    plain = plain_scenario()
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "accelerator": (CHIP,),
            "quantize_to": ("fp8", "int8"),
            "market": plain.market.model_copy(update={"event": ()}),
            "demand": plain.demand.model_copy(update={"tokens_per_day": tokens_per_day}),
            "roadmap": plain.roadmap.model_copy(update={"service_days": 30, **roadmap}),
            "ownership": plain.ownership.model_copy(update={"maintenance_per_year": 0.0}),
        }
    )


def only(*actions: Action, **changes: object) -> Replan:
    return Replan.model_validate({"actions": frozenset(actions), **changes})


def live(
    scenario: Scenario,
    replan: Replan | None,
    recipe: Recipe | None = None,
    forecast: Forecast | None = None,
    procurement: Procurement | None = None,
) -> Run:
    parts = recipe or FixedRecipe(gpu_hours=96.0), procurement or RentOnDemand(review_days=1), forecast or Expected()
    return simulate(scenario, Policy("by hand", *parts, replan))


# The band --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log_sd", [0.3, 0.5, 1.0])
def test_the_band_holds_nine_worlds_of_ten(log_sd: float) -> None:
    # Demand with this mean and spread, if it is lognormal: its own 5 % and 95 % points.
    seen = observed(realize(lab()), 20)
    plan = Service(lab().releases[0], np.full(30, 1e9), np.full(30, log_sd))
    band = Replan(least_change=0.0).band(seen, plan)
    truth = lognorm(s=log_sd, scale=1e9 * np.exp(-(log_sd**2) / 2))
    assert band is not None
    assert (band.low, band.high) == pytest.approx((truth.ppf(0.05), truth.ppf(0.95)), rel=1e-3)
    assert band.seen == pytest.approx(TOKENS_PER_DAY)


@pytest.mark.parametrize(
    ("factor", "is_left"), [(0.79, True), (0.81, False), (1.0, False), (1.19, False), (1.21, True)]
)
def test_a_plan_without_doubt_is_left_at_the_least_change(factor: float, is_left: bool) -> None:
    # The fixed recipe plans 8.64e8 a day and says nothing of a spread; a fifth more or less calls for another plan.
    run = live(lab(tokens_per_day=factor * TOKENS_PER_DAY), only(Action.REQUANTIZE))
    assert [made.day for made in run.replans] == ([9] if is_left else [])


@dataclass(frozen=True)
class Doubtful(FixedRecipe):
    """The fixed recipe, with a spread on what it plans."""

    gpu_hours: float = 96.0
    log_sd: float = 0.0

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        choice = super().choose(observation, release, forecast, procurement)
        return replace(choice, planned_log_sd_by_day=np.full(release.life_days, self.log_sd))


@settings(deadline=None, max_examples=40)
@given(st.floats(-3.0, 3.0).map(np.exp), st.floats(0.0, 1.0), st.floats(0.5, 3.0))
def test_something_is_done_only_outside_the_band(factor: float, log_sd: float, band_sd: float) -> None:
    sds = np.array([-band_sd, band_sd]) * log_sd
    low, high = np.exp(sds - log_sd**2 / 2)
    low, high = min(low, 0.8), max(high, 1.2)
    assume(min(abs(factor - low), abs(factor - high)) > 1e-9)
    replan = only(Action.REQUANTIZE, band_sd=band_sd)
    run = live(lab(12, tokens_per_day=factor * TOKENS_PER_DAY), replan, Doubtful(log_sd=log_sd))
    assert bool(run.replans) == (not low < factor < high)


def test_the_plan_is_not_judged_before_a_week_of_it_nor_after_its_end() -> None:
    seen, plan = realize(lab(60)), Service(lab().releases[0], np.full(30, 1e9), np.zeros(30))
    judged = [day for day in range(60) if Replan().band(observed(seen, day), plan) is not None]
    assert judged == list(range(9, 33))  # due on day 2, planned for 30 days


# Another precision -----------------------------------------------------------------------------------------------


def test_the_days_of_a_model_served_in_another_precision() -> None:
    # Twice the demand of the plan. The model is half as large as the opening one: 2 x 120 GPU-hours a day in bf16,
    # 120 in fp8 from the day after the first whole week. int8 would halve that again, and is not good enough.
    run = live(lab(tokens_per_day=2 * TOKENS_PER_DAY), only(Action.REQUANTIZE))
    hours = [480.0] * 2 + [240.0] * 8 + [120.0] * 20
    np.testing.assert_allclose(run.used.serving_rented_hours, hours)
    np.testing.assert_allclose(run.used.served_tokens, 2 * TOKENS_PER_DAY)
    (made,) = run.replans
    assert (made.day, made.release, made.step.action, made.step.done) == (9, "next", Action.REQUANTIZE, "bf16 to fp8")
    assert made.band == pytest.approx(Band(2 * TOKENS_PER_DAY, 0.8 * TOKENS_PER_DAY, 1.2 * TOKENS_PER_DAY))
    # Days 10 to 31 at 120 GPU-hours less, 2.00 each.
    assert made.step.saving_usd == pytest.approx(22 * 120 * 2.0)
    # The run itself took 96 GPU-hours on day 0.
    expected = 2.0 * np.array(hours) + np.array([2.0 * 96, *[0.0] * 29])
    np.testing.assert_allclose(run.books.cash_usd[:, Account.ON_DEMAND], expected, atol=CENT)
    (release,) = run.releases
    assert release.reached_flop == live(lab(), None).releases[0].reached_flop


def test_a_model_better_than_it_must_be_may_lose_some() -> None:
    # Its release asks for so little that even int8 is enough: 4 times as fast.
    run = live(lab(tokens_per_day=2 * TOKENS_PER_DAY, target_flop=1e12), only(Action.REQUANTIZE))
    assert run.used.serving_rented_hours[10:] == pytest.approx(60.0)
    (made,) = run.replans
    assert made.step.done == "bf16 to int8"


def test_a_step_must_save_its_part_of_what_is_planned() -> None:
    # Half of the cost of service is saved.
    for share, fires in ((0.49, True), (0.51, False)):
        run = live(lab(tokens_per_day=2 * TOKENS_PER_DAY), only(Action.REQUANTIZE, least_saving=share))
        assert bool(run.replans) == fires


def test_a_model_that_comes_meanwhile_is_not_replaced() -> None:
    # The next release goes into service on day 10, the morning the other precision would.
    rows = tuple(ReleaseInputs(name=f"on {day}", due=MONDAY + timedelta(days=day)) for day in (2, 10))
    run = live(
        lab(tokens_per_day=2 * TOKENS_PER_DAY, release=rows), only(Action.REQUANTIZE), FixedRecipe(gpu_hours=96.0)
    )
    assert [made.day for made in run.replans] == [17]
    assert run.used.serving_rented_hours[10:18] == pytest.approx(240.0)
    assert run.used.serving_rented_hours[18:] == pytest.approx(120.0)


# Another run -----------------------------------------------------------------------------------------------------


class Forced(Replan):
    """Trains a model a quarter of the opening one's size again, on one day."""

    on_day: int = 4
    gpu_hours: float = 96.0

    def band(self, observation: Observation, service: Service) -> Band | None:
        return Band(1.0, 0.0, 0.0) if observation.day == self.on_day else None

    def steps(
        self,
        observation: Observation,
        service: Service,
        progress: float,
        forecast: Forecast,
        recipe: Recipe,
        procurement: Procurement,
    ) -> Iterator[Step]:
        due = observation.day + 2
        end = service.release.due_day + service.release.life_days
        again = replace(service.release, due_day=due, life_days=end - due)
        choice = FixedRecipe(0.625e11, 4, self.gpu_hours).choose(observation, again, forecast, procurement)
        yield Rerun(Action.RETRAIN, 0.0, "told to", again, choice)


@pytest.mark.parametrize(
    ("horizon_days", "left_of_first", "left_of_second"),
    [
        # In training: the first serves days 5 of its ten (2 to 11), and hands over on day 6.
        (5, 1 / 10, 1.0),
        # In service: the first is used up, of the second's six days (6 to 11) four are left.
        (8, 0.0, 4 / 6),
        (12, 0.0, 0.0),
    ],
)
def test_a_release_with_two_runs_in_the_books(horizon_days: int, left_of_first: float, left_of_second: float) -> None:
    run = live(lab(horizon_days, service_days=10), Forced())
    hours = np.array([240.0] * 2 + [120.0] * 4 + [60.0] * 6)[:horizon_days]
    np.testing.assert_allclose(run.used.serving_rented_hours, hours)
    first, second = run.books.releases
    assert first.training_usd == second.training_usd == pytest.approx(96 * 2.0)
    assert first.served_tokens == pytest.approx(TOKENS_PER_DAY * min(horizon_days - 2, 4))
    assert second.served_tokens == pytest.approx(TOKENS_PER_DAY * max(horizon_days - 6, 0))
    assert first.serving_usd == pytest.approx(2.0 * hours[2:6].sum())
    closing = -run.books.cash_usd[-1, Account.CLOSING_MODELS]
    assert closing == pytest.approx(192.0 * (left_of_first + left_of_second))
    assert run.books.cash_usd.sum() == pytest.approx(run.books.economic_usd.sum(), abs=CENT)


def test_nobody_waits_for_a_second_run() -> None:
    run = live(lab(service_days=20), Forced(gpu_hours=5 * 96.0))  # five days instead of two
    assert [(made.deploy_day, made.days_late, made.is_rerun) for made in run.releases] == [(2, 0, False), (9, 0, True)]
    np.testing.assert_allclose(run.used.serving_rented_hours[2:10], [120.0] * 7 + [60.0])


def test_a_second_run_never_replaces_a_later_release() -> None:
    rows = tuple(ReleaseInputs(name=f"on {day}", due=MONDAY + timedelta(days=day)) for day in (2, 7))
    run = live(lab(release=rows), Forced(gpu_hours=8 * 96.0))  # ready on day 12
    np.testing.assert_allclose(run.used.serving_rented_hours[2:], 120.0)
    assert [cost.served_tokens / TOKENS_PER_DAY for cost in run.books.releases] == pytest.approx([5.0, 0.0, 23.0])


def brute_force(scenario: Scenario, again: Release, tokens: float, present_size: float) -> tuple[float, float]:
    """USD to serve on, and least USD of another run and its service, over sizes 0.1 % apart, priced by hand."""
    sizes = np.geomspace(1e9, 1e12, 6909)
    needed = tokens_needed(scenario, again, sizes, BF16, 1.0)
    usd_per_flop = 2.0 / (0.5e15 * 3600)
    served = tokens * again.life_days
    return 2 * present_size * served * usd_per_flop, float(
        ((6 * sizes * needed + 2 * sizes * served) * usd_per_flop).min()
    )


@pytest.mark.parametrize("tokens_per_day", [1e7, 1e9, 3e10, 6e10, 1e11, 1e12])
@pytest.mark.parametrize("least_saving", [0.0, 0.2])
@pytest.mark.parametrize("rollout_usd", [0.0, 50_000.0])
def test_a_run_is_repeated_exactly_if_that_is_cheaper(
    tokens_per_day: float, least_saving: float, rollout_usd: float
) -> None:
    plain = lab(400, release=(ReleaseInputs(name="next", due=MONDAY + timedelta(days=30)),), train_days=30)
    roadmap = plain.roadmap.model_copy(update={"service_days": 300, "target_flop": 1e22})
    rollout = DeploymentInputs(usd_per_release=rollout_usd)
    scenario = plain.model_copy(update={"roadmap": roadmap, "deployment": rollout})
    (release,) = scenario.releases
    size = 1e10
    model = served_model(scenario, "next", size, float(tokens_needed(scenario, release, size, BF16, 1.0)), BF16, 1.0)
    seen = observed(realize(scenario), 50, model)
    service = Service(release, np.full(300, 1e9), np.zeros(300))
    replan = only(Action.RETRAIN, least_saving=least_saving)
    recipe, progress = LeverRecipe(levers=frozenset({Lever.OVERTRAIN})), 1.1 * release.progress
    steps = [*replan.steps(seen, service, progress, Flat(tokens_per_day), recipe, RentOnDemand())]
    # Day 50: in service by day 80, until day 330; until then the present model serves either way.
    again = replace(release, due_day=80, life_days=250, progress=progress)
    stays, best = brute_force(scenario, again, tokens_per_day, size)
    best += rollout_usd
    rest = stays * 279 / 250
    assert bool(steps) == (stays - best > 0.0 and stays - best >= least_saving * rest)
    for step in steps:
        assert isinstance(step, Rerun)
        assert step.saving_usd == pytest.approx(stays - best, rel=1e-5)
        assert (step.release.due_day, step.release.life_days) == (80, 250)


def test_both_answers_of_the_brute_force_occur() -> None:
    # Or the test above would not tell much: at little demand no run pays, at much demand one does.
    scenario = lab(400, target_flop=1e22)
    (release,) = scenario.releases
    verdicts = [np.subtract(*brute_force(scenario, release, tokens, 1e10)) > 0.0 for tokens in (1e7, 1e12)]
    assert verdicts == [False, True]


def test_distilling_needs_to_be_described_and_takes_the_distil_route() -> None:
    plain = lab(60, tokens_per_day=1000 * TOKENS_PER_DAY, service_days=300)
    replan = only(Action.DISTIL)
    with pytest.raises(Misplaced, match='distillation: must be described for the replan action "distil"'):
        live(plain, replan)
    rich = plain.model_copy(update={"distillation": DistillationInputs(token_worth=3.0)})
    run = live(rich, replan, procurement=RentOnDemand(review_days=10))
    (made,) = run.replans
    assert made.step.action is Action.DISTIL
    assert run.releases[1].choice.route.startswith("distil")
    assert run.releases[1].reached_flop == pytest.approx(run.releases[1].release.target_flop, rel=1e-6)


# A sale ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Disappointed:
    """Expects twice the demand on day 0, and from then on what there is."""

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        factor = 2.0 if observation.day == 0 else 1.0
        return np.full(days.size, factor * TOKENS_PER_DAY), np.zeros(days.size)


@pytest.mark.parametrize(("headroom", "sold"), [(None, 10), (1.5, 5), (2.0, 0)])
def test_what_would_stand_idle_is_sold(headroom: float | None, sold: int) -> None:
    # Twenty GPUs, of which the mean need is ten; day 7 is the first on which a week of the plan is metered.
    old = OwnedInputs(accelerator="Unit", gpus=20, age_days=10, paid_usd_per_gpu=10_000.0)
    scenario = lab(20, release=()).model_copy(update={"opening_fleet": (old,)})
    rule = (
        RentOnDemand(review_days=1)
        if headroom is None
        else BuyToForecast(review_days=1, headroom=headroom, least_gpus=10**6)
    )
    run = live(scenario, only(Action.RESELL, least_saving=0.0), forecast=Disappointed(), procurement=rule)
    np.testing.assert_array_equal(run.used.owned_gpus[0], [20.0] * 7 + [20.0 - sold] * 13)
    assert [(made.day, made.step.action, made.step.done) for made in run.replans] == (
        [(7, Action.RESELL, f"{sold} Unit sold")] if sold else []
    )
    if sold:
        # Held for 180 days more: power 4.32 and hosting 12 a day, and what they fetch falls with age.
        bid = 13_500.0 * 10 ** (-0.001 * 17)
        holding = sold * (180 * (4.32 + 12.0) + bid * (1 - 10 ** (-0.001 * 180)))
        assert run.replans[0].step.saving_usd == pytest.approx(holding)
        assert run.orders[0].usd == pytest.approx(-sold * bid)


# What it is worth ------------------------------------------------------------------------------------------------


def jumped(factor: float) -> Scenario:
    """A release chosen at a steady demand, which is `factor` times as large from a month after it is in service."""
    plain = lab(500, release=(ReleaseInputs(name="next", due=MONDAY + timedelta(days=40)),), train_days=20)
    before, level = 56, 100 * TOKENS_PER_DAY
    tokens = (level,) * (before + 70) + (factor * level,) * 430
    trace = Trace(first_day=MONDAY - timedelta(days=before), tokens=tokens)
    demand = DemandInputs(tokens_per_day=level, prompt_share=0.5, trace=trace)
    roadmap = plain.roadmap.model_copy(update={"service_days": 700, "target_flop": 1e22})
    return plain.model_copy(update={"history_days": before, "demand": demand, "roadmap": roadmap})


def test_after_a_tenfold_jump_the_option_to_retrain_is_worth_having() -> None:
    world = realize(jumped(10.0))
    recipe = LeverRecipe(levers=frozenset({Lever.OVERTRAIN}))
    stubborn, flexible = (
        Lab(world, Policy("p", recipe, RentOnDemand(), Trend(), replan)).live()
        for replan in (None, only(Action.RETRAIN))
    )
    costs = [float(run.books.cash_usd.sum()) for run in (stubborn, flexible)]
    # 3.97 million USD against 3.66, 7.8 % less: one run decided on day 90, in service from day 110.
    assert costs[1] < 0.95 * costs[0]
    assert flexible.replans[0].step.action is Action.RETRAIN
    assert all(made.day >= 70 for made in flexible.replans)
    np.testing.assert_allclose(flexible.used.served_tokens, stubborn.used.served_tokens)
    for made in flexible.releases:
        assert made.reached_flop == pytest.approx(made.release.target_flop, rel=1e-6)
        # Nothing was retrained into the same model.
    sizes = [made.choice.model.n_parameters for made in flexible.releases]
    assert sizes == sorted(sizes, reverse=True)


def test_without_a_jump_the_option_changes_nothing() -> None:
    world = realize(jumped(1.0))
    policy = Policy("p", LeverRecipe(levers=frozenset({Lever.OVERTRAIN})), RentOnDemand(), Trend())
    plain, optioned = (Lab(world, replace(policy, replan=replan)).live() for replan in (None, Replan()))
    assert optioned.replans == ()
    np.testing.assert_array_equal(plain.books.cash_usd, optioned.books.cash_usd)
