"""The order of a day, and what becomes of runs, deliveries, leases and models, in labs small enough to do by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import pytest
from small_lab import MONDAY, TOKENS_PER_DAY, FixedOrders, FixedRecipe, plain_scenario

from simulator.lab.accounts import Account
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Lab, Run, simulate
from simulator.lab.models import RunSize, served_model
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order
from simulator.lab.plan import Choice
from simulator.lab.policy import Policy
from simulator.lab.procurement import PlanningPrice, Procurement, RentOnDemand
from simulator.laws.precision import BF16
from simulator.world.roadmap import Release, ReleaseInputs
from simulator.world.scenario import OwnedInputs, Scenario
from simulator.world.shocks import Shocks
from simulator.world.world import realize

UNIT_FLOP_PER_GPU_HOUR = 1.8e18
"""1e15 FLOP/s at an MFU of one half."""


def lab(horizon_days: int = 10, releases: tuple[ReleaseInputs, ...] | None = None, **changes: object) -> Scenario:
    """The plain scenario, longer and without its cut of prices, with other releases or other fields."""
    plain = plain_scenario()
    rows = plain.roadmap.release if releases is None else releases
    roadmap = plain.roadmap.model_copy(update={"release": rows})
    market = plain.market.model_copy(update={"event": ()})
    return plain.model_copy(update={"horizon_days": horizon_days, "roadmap": roadmap, "market": market, **changes})


def due(day: int, name: str = "next", train_days: int | None = 2) -> ReleaseInputs:
    return ReleaseInputs(name=name, due=MONDAY + timedelta(days=day), train_days=train_days)


def live(scenario: Scenario, recipe: object | None = None, procurement: Procurement | None = None) -> Run:
    policy = Policy("by hand", recipe or FixedRecipe(), procurement or RentOnDemand(review_days=1), Expected())
    return simulate(scenario, policy)


@dataclass(frozen=True)
class ByName:
    """Trains each release for its own GPU-hours on four GPUs; models are half the size of the opening one, or less."""

    gpu_hours: dict[str, float]
    n_parameters: dict[str, float] = field(default_factory=dict)

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        size = self.n_parameters.get(release.name, 1.25e11)
        return FixedRecipe(size, 4, self.gpu_hours[release.name]).choose(observation, release, forecast, procurement)


@dataclass(frozen=True)
class Watch:
    """Orders eight GPUs on some days, rents the rest, and notes what it saw at each review."""

    look: Callable[[Observation], object]
    review_days: int = 1
    buy_on: tuple[int, ...] = ()
    notes: list[object] = field(default_factory=list)

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        self.notes.append(self.look(observation))
        return [Buy(0, 8, "told to")] if observation.day in self.buy_on else []

    def order_days(self, scenario: Scenario) -> tuple[int, ...]:
        return ()

    def planning_price(self, observation: Observation, release: Release, forecast: Forecast) -> PlanningPrice:
        return RentOnDemand().planning_price(observation, release, forecast)


def watched(scenario: Scenario, look: Callable[[Observation], object], **fields: object) -> list[object]:
    watch = Watch(look, **fields)
    live(scenario, procurement=watch)
    return watch.notes


# The order of a day ----------------------------------------------------------------------------------------------


def test_a_release_is_decided_before_the_review_of_the_same_afternoon() -> None:
    # The recipe chooses on day 0; the first review already knows the model in training and the day it is due.
    plans = watched(lab(), lambda seen: [(planned.model.n_parameters, planned.deploy_day) for planned in seen.coming])
    assert plans[0] == plans[1] == [(1.25e11, 2)]
    assert plans[2:] == [[]] * 8


def test_a_review_sees_the_run_that_began_the_same_afternoon() -> None:
    training = watched(lab(), lambda seen: seen.fleet.training_gpus(0))
    # 144 GPU-hours on four GPUs: all of day 0, half of day 1.
    assert training[:3] == [4.0, 2.0, 0.0]


@pytest.mark.parametrize("lead_days", [0, 1, 2, 5])
def test_a_delivery_is_seen_by_the_review_of_its_day(lead_days: int) -> None:
    plain = lab()
    scenario = plain.model_copy(update={"market": plain.market.model_copy(update={"lead_days": float(lead_days)})})
    owned = watched(scenario, lambda seen: seen.fleet.owned_gpus(0), buy_on=(1,))
    arrives = 1 + lead_days
    # GPUs ordered in the afternoon of day 1 without a lead time are there that day, but after that review.
    first_seen = arrives if lead_days else 2
    assert owned == [0.0] * first_seen + [8.0] * (10 - first_seen)


def test_what_is_on_order_is_known_from_the_day_of_the_order() -> None:
    plain = lab()
    scenario = plain.model_copy(update={"market": plain.market.model_copy(update={"lead_days": 3.0})})
    ahead = np.arange(10)
    known = watched(scenario, lambda seen: seen.fleet.committed(ahead)[0].tolist(), buy_on=(1,))
    assert known[1] == [0.0] * 10
    assert known[2] == [0.0] * 4 + [8.0] * 6


def test_a_deployment_is_seen_by_the_review_of_its_day() -> None:
    names = watched(lab(), lambda seen: seen.serving.name)
    assert names == ["opening model"] * 2 + ["next"] * 8


def test_an_announcement_calls_a_review_that_sees_it() -> None:
    cut = plain_scenario().model_copy(update={"horizon_days": 10})
    assert watched(cut, lambda seen: (seen.day, float(seen.on_demand_usd_per_gpu_hour[0])), review_days=4) == [
        (0, 2.0),
        (1, 1.8),
        (4, 1.8),
        (8, 1.8),
    ]


def test_the_meter_is_read_until_yesterday() -> None:
    plain = lab()
    demand = plain.demand.model_copy(update={"growth_per_year": 100.0})
    scenario = plain.model_copy(update={"demand": demand, "history_days": 3})
    yesterday = watched(scenario, lambda seen: float(seen.past_tokens[-1]), review_days=3)
    expected = [TOKENS_PER_DAY * 100.0 ** (max(day - 1, -1) / 365.25) for day in (0, 3, 6, 9)]
    expected[0] = TOKENS_PER_DAY  # before the start demand was flat
    assert yesterday == pytest.approx(expected)


def test_a_burst_of_demand_calls_a_review() -> None:
    plain = lab(300)
    demand = plain.demand.model_copy(update={"shocks": Shocks(per_year=6.0, size=0.5)})
    scenario = plain.model_copy(update={"demand": demand})
    days = {shock.day for shock in realize(scenario).shocks if 0 <= shock.day < 299}
    assert days
    reviews = watched(scenario, lambda seen: (seen.day, seen.past_tokens[-2:].tolist()), review_days=1000)
    # The day after, when the meter has read it: demand has jumped by half from one day to the next.
    assert {day for day, _ in reviews} == {0} | {day + 1 for day in days}
    assert all(seen[-1] > 1.3 * seen[0] for day, seen in reviews if day - 1 in days and len(seen) == 2)
    small = demand.model_copy(update={"shocks": Shocks(per_year=6.0, size=0.05)})
    quiet = watched(plain.model_copy(update={"demand": small}), lambda seen: seen.day, review_days=1000)
    assert quiet == [0]


# Runs and models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gpu_hours", "deploy_day"), [(96.0, 2), (192.0, 2), (192.1, 3), (288.0, 3), (480.0, 5)])
def test_a_run_that_cannot_finish_in_time_is_late_and_says_so(gpu_hours: float, deploy_day: int) -> None:
    # Four GPUs do 96 GPU-hours a day; the release is due on the morning of day 2.
    run = live(lab(), FixedRecipe(gpu_hours=gpu_hours))
    (release,) = run.releases
    assert (release.deploy_day, release.days_late) == (deploy_day, deploy_day - 2)
    # Until then the opening model serves, with 240 GPU-hours a day; then one of half its size, with 120.
    hours = run.used.serving_rented_hours
    np.testing.assert_allclose(hours, np.where(np.arange(10) < deploy_day, 240.0, 120.0))
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY)


@pytest.mark.parametrize("gpu_hours", [1.0, 96.0, 100.0, 144.0, 500.0])
def test_a_run_uses_the_gpu_hours_it_needs(gpu_hours: float) -> None:
    used = live(lab(), FixedRecipe(gpu_hours=gpu_hours)).used
    assert used.training_rented_hours.sum() == pytest.approx(gpu_hours, rel=1e-7)
    assert used.training_rented_hours.max() <= 96.0 + 1e-9


def test_failures_of_the_world_make_a_run_late() -> None:
    # Failures and their luck are the world's: 200 a GPU-year stop four GPUs every 11 hours, for an hour each.
    plain = lab()
    unlucky = plain.training.model_copy(update={"failures_per_gpu_year": 200.0, "restart_minutes": 60.0})
    run = live(plain.model_copy(update={"training": unlucky}), FixedRecipe(gpu_hours=190.0))
    (release,) = run.releases
    assert release.days_late == 1
    mean_hours = 8766 / (4 * 200.0)
    assert run.used.training_rented_hours.sum() == pytest.approx(190.0 * np.exp(1 / mean_hours), rel=0.01)


def test_a_run_without_training_days_serves_on_its_day() -> None:
    scenario = lab(releases=(due(0, train_days=0),), opening_model=None)
    run = live(scenario, FixedRecipe(gpu_hours=48.0))
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY)
    np.testing.assert_allclose(run.used.serving_rented_hours, 120.0)
    assert run.releases[0].days_late == 0
    assert run.used.training_rented_hours[0].tolist() == pytest.approx([48.0] + [0.0] * 9)


def test_runs_side_by_side_share_the_day() -> None:
    scenario = lab(releases=(due(4, "A", 4), due(5, "B", 4)))
    run = live(scenario, ByName({"A": 240.0, "B": 96.0}))
    # A: 96, 96, 48 from day 0; B: 96 from day 1.
    assert run.used.training_rented_hours[0][:5].tolist() == pytest.approx([96.0, 192.0, 48.0, 0.0, 0.0])
    assert [release.deploy_day for release in run.releases] == [4, 5]
    costs = [cost.training_usd for cost in run.books.releases]
    assert costs == pytest.approx([240 * 2.0, 96 * 2.0])


def test_an_older_model_that_comes_late_never_replaces_a_newer_one() -> None:
    # A is due on day 2 and ready on day 7; B is due and ready on day 4, and smaller.
    scenario = lab(releases=(due(2, "A"), due(4, "B")))
    run = live(scenario, ByName({"A": 7 * 96.0, "B": 96.0}, {"B": 0.625e11}))
    assert {record.release.name: record.deploy_day for record in run.releases}["B"] == 4
    np.testing.assert_allclose(run.used.serving_rented_hours[:4], 240.0)
    np.testing.assert_allclose(run.used.serving_rented_hours[4:], 60.0)


def test_a_later_release_may_be_decided_first() -> None:
    # B trains for 6 days and is decided on day 0, A for one day and is decided on day 2; A serves from day 3, B from 6.
    scenario = lab(releases=(due(3, "A", 1), due(6, "B", 6)))
    run = live(scenario, ByName({"A": 48.0, "B": 96.0}, {"B": 0.625e11}))
    by_name = {
        record.release.name: cost.served_tokens for record, cost in zip(run.releases, run.books.releases, strict=True)
    }
    np.testing.assert_allclose(run.used.serving_rented_hours, [240.0] * 3 + [120.0] * 3 + [60.0] * 4)
    assert by_name == pytest.approx({"A": 3 * TOKENS_PER_DAY, "B": 4 * TOKENS_PER_DAY})


def test_a_lab_that_trains_nothing_still_serves() -> None:
    run = live(lab(releases=()))
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY)
    np.testing.assert_allclose(run.books.cash_usd.sum(axis=1), 480.0)
    assert run.releases == ()


def test_a_lab_may_stop_before_its_first_decision() -> None:
    run = live(lab(horizon_days=5, releases=(due(100, "far away"),)))
    np.testing.assert_allclose(run.used.served_tokens, TOKENS_PER_DAY)
    assert run.used.training_rented_hours.sum() == 0.0


# Research --------------------------------------------------------------------------------------------------------


def test_research_is_its_multiple_of_the_target_spread_until_each_is_due() -> None:
    rows = (due(2, "A"), due(7, "B"))
    plain = lab(releases=rows)
    scenario = plain.model_copy(
        update={
            "roadmap": plain.roadmap.model_copy(
                update={"research_multiple": 3.0, "progress_per_year": 2.0, "data_gain": 1.25}
            )
        }
    )
    used = live(scenario, ByName({"A": 96.0, "B": 96.0})).used
    done = used.research_rented_hours * UNIT_FLOP_PER_GPU_HOUR

    def owed(due_day: int) -> float:
        target = 1e20 * 12.7 ** (due_day / 365.25)
        return 3.0 * target / (2.0 ** ((due_day - 2) / 365.25) * 1.25)

    np.testing.assert_allclose(done, [owed(2) / 2] * 2 + [owed(7) / 5] * 5 + [0.0] * 3, rtol=1e-9)


def test_research_is_the_same_whatever_is_trained() -> None:
    plain = lab()
    scenario = plain.model_copy(update={"roadmap": plain.roadmap.model_copy(update={"research_multiple": 3.0})})
    small, large = (live(scenario, FixedRecipe(gpu_hours=hours)).used for hours in (24.0, 480.0))
    np.testing.assert_array_equal(small.research_rented_hours, large.research_rented_hours)


# The fleet -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("term_days", [1, 5, 9, 10, 400])
def test_a_lease_ends_with_its_term(term_days: int) -> None:
    run = live(lab(), procurement=FixedOrders(on_days=(1,), reserves=(4,), term_days=term_days))
    days = np.arange(10)
    held = np.where((days >= 1) & (days < 1 + term_days), 4.0, 0.0)
    np.testing.assert_array_equal(run.used.reserved_gpus[0], held)
    np.testing.assert_allclose(run.books.cash_usd[:, Account.RESERVED], held * 24 * 2.0 * 0.75)
    (order,) = run.orders
    assert (order.day, order.first_day, order.last_day) == (1, 1, 1 + term_days)


def test_gpus_are_sold_at_the_end_of_their_useful_life() -> None:
    plain = lab()
    own = plain.ownership.model_copy(update={"useful_life_years": 4 / 365.25})
    run = live(plain.model_copy(update={"ownership": own}), procurement=FixedOrders(buys=(8,)))
    # Ordered on day 0, in service on day 1, sold on the morning of day 5.
    np.testing.assert_array_equal(run.used.owned_gpus[0], [0.0] + [8.0] * 4 + [0.0] * 5)
    # 0.36525 orders of magnitude a year: four days are a factor of 10^-0.004.
    bid = 8 * 10_000 * 1.5 * 0.9 * 10**-0.004
    assert run.books.cash_usd[5, Account.RESALE] == pytest.approx(-bid)
    assert run.books.cash_usd[:, Account.RESALE].sum() == pytest.approx(-bid)
    assert run.books.cash_usd[-1, Account.CLOSING_FLEET] == 0.0


def test_the_lab_brings_its_fleet_at_the_bid_of_the_day() -> None:
    old = OwnedInputs(accelerator="Unit", gpus=4, age_days=100, paid_usd_per_gpu=9_000.0)
    run = live(lab(opening_fleet=(old,)))
    np.testing.assert_array_equal(run.used.owned_gpus[0], 4.0)
    # 100 days at 0.001 orders of magnitude a day.
    bid = 4 * 9_000 * 1.5 * 0.9 * 10**-0.1
    assert run.books.cash_usd[0, Account.OPENING_FLEET] == pytest.approx(bid)
    assert run.books.cash_usd[:, Account.PURCHASE].sum() == 0.0
    assert run.books.cash_usd[-1, Account.CLOSING_FLEET] == pytest.approx(-bid * 10**-0.009)


def test_an_old_fleet_is_sold_when_its_time_comes() -> None:
    plain = lab()
    own = plain.ownership.model_copy(update={"useful_life_years": 103 / 365.25})
    old = OwnedInputs(accelerator="Unit", gpus=4, age_days=100, paid_usd_per_gpu=9_000.0)
    run = live(plain.model_copy(update={"ownership": own, "opening_fleet": (old,)}))
    np.testing.assert_array_equal(run.used.owned_gpus[0], [4.0] * 3 + [0.0] * 7)
    assert run.books.cash_usd[3, Account.RESALE] == pytest.approx(-4 * 9_000 * 1.5 * 0.9 * 10**-0.103)


def test_nothing_is_rented_before_anything_is_on_offer() -> None:
    # The only kind of GPU comes on day 3; a refused token costs no money.
    plain = lab(releases=(due(6, "next"),))
    quote = plain.market.quote[0].model_copy(update={"available": MONDAY + timedelta(days=3)})
    market = plain.market.model_copy(update={"quote": (quote,), "event": ()})
    run = live(plain.model_copy(update={"market": market}))
    assert np.isfinite(run.books.cash_usd).all()
    np.testing.assert_allclose(run.used.served_tokens, [0.0] * 3 + [TOKENS_PER_DAY] * 7)


def test_buying_what_is_not_for_sale_is_refused_and_told() -> None:
    plain = lab()
    quote = plain.market.quote[0].model_copy(update={"purchase_usd_per_gpu": None})
    scenario = plain.model_copy(update={"market": plain.market.model_copy(update={"quote": (quote,)})})
    run = live(scenario, procurement=FixedOrders(buys=(8,)))
    assert [(order.asked_gpus, order.gpus, order.usd) for order in run.orders] == [(8, 0, 0.0)]
    assert run.orders[0].reason == "as planned; 8 asked, cut to what is for sale: nothing"
    assert not run.used.owned_gpus.any()


def test_a_cheaper_kind_is_rented_from_the_day_it_is_announced() -> None:
    # A second kind, twice as fast at the same rent, from day 4 on: half the hours, at the same price each.
    plain = lab(releases=())
    fast = plain.accelerator[0].model_copy(update={"name": "Fast", "bf16_tflop_per_second": 2000.0})
    quotes = (
        plain.market.quote[0],
        plain.market.quote[0].model_copy(update={"accelerator": "Fast", "available": MONDAY + timedelta(days=4)}),
    )
    scenario = plain.model_copy(
        update={
            "accelerator": (*plain.accelerator, fast),
            "market": plain.market.model_copy(update={"quote": quotes, "event": ()}),
        }
    )
    run = live(scenario, procurement=RentOnDemand(review_days=1000))
    np.testing.assert_allclose(run.used.serving_rented_hours, [240.0] * 4 + [120.0] * 6)
    np.testing.assert_array_equal(run.used.serving_rental, [0] * 4 + [1] * 6)


# Events ----------------------------------------------------------------------------------------------------------


def test_the_events_of_an_idle_lab_are_counted_by_hand() -> None:
    scenario = lab(horizon_days=1, releases=())
    run = live(scenario, procurement=RentOnDemand(review_days=1000))
    # Five processes begin, four of them end at once, and one waits for the afternoon of its review.
    assert run.n_events == 5 + 4 + 1
    assert (
        live(scenario.model_copy(update={"horizon_days": 1000}), procurement=RentOnDemand(review_days=1000)).n_events
        == 10
    )


def test_every_review_is_two_events() -> None:
    scenario = lab(horizon_days=100, releases=())
    # A day passes, an afternoon comes; the first review needs no day to pass.
    for pace, reviews in ((1000, 1), (50, 2), (10, 10), (1, 100)):
        assert live(scenario, procurement=RentOnDemand(review_days=pace)).n_events == 9 + 2 * reviews - 1


def test_a_lab_lives_the_same_life_twice() -> None:
    world = realize(lab())
    policy = Policy("by hand", FixedRecipe(), FixedOrders(buys=(8,), reserves=(2,)), Expected())
    one, other = Lab(world, policy).live(), Lab(world, policy).live()
    np.testing.assert_array_equal(one.books.cash_usd, other.books.cash_usd)
    assert one.orders == other.orders
    assert one.n_events == other.n_events


def test_a_model_is_served_as_it_was_trained() -> None:
    run = live(lab())
    model = run.releases[0].choice.model
    assert model == served_model(run.world.scenario, "next", 1.25e11, model.n_training_tokens, BF16, 1.0)
    assert run.releases[0].choice.size == RunSize(4, 144.0)
