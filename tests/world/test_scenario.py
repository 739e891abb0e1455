"""The declared inputs as one object: what is refused and where, equality, copies, and how far it looks ahead."""

from __future__ import annotations

from datetime import timedelta

import cloudpickle
import numpy as np
import pytest
from pydantic import ValidationError
from small_lab import MONDAY, plain_scenario

from simulator.study.files import load_scenario
from simulator.world.market import MarketEvent
from simulator.world.roadmap import ReleaseInputs
from simulator.world.scenario import Misplaced, OwnedInputs, Roofline, Scenario, UnknownName
from simulator.world.world import realize


def with_releases(*due_days: int, **changes: object) -> Scenario:
    plain = plain_scenario()
    rows = tuple(
        ReleaseInputs(name=f"R{number}", due=MONDAY + timedelta(days=day)) for number, day in enumerate(due_days)
    )
    roadmap = plain.roadmap.model_copy(update={"release": rows, "train_days": 2, **changes})
    return plain.model_copy(update={"roadmap": roadmap})


def complaint(error: ValidationError) -> Misplaced:
    (only,) = error.errors()
    found = only["ctx"]["error"]
    assert isinstance(found, Misplaced)
    return found


# What is refused -------------------------------------------------------------------------------------------------


def test_a_release_that_cannot_be_trained_in_time_is_refused() -> None:
    with pytest.raises(ValidationError) as caught:
        with_releases(1, 9)
    found = complaint(caught.value)
    assert found.where == "roadmap.release.0.due"
    assert found.value == "2026-06-02"
    assert "2026-06-03 or later" in found.rule  # two training days after Monday, June 1


def test_a_release_before_the_start_is_refused() -> None:
    with pytest.raises(ValidationError) as caught:
        with_releases(-10)
    assert complaint(caught.value).where == "roadmap.release.0.due"


@pytest.mark.parametrize("due_days", [(9, 5), (9, 9), (5, 20, 12)])
def test_unordered_releases_are_refused(due_days: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        with_releases(*due_days)
    found = complaint(caught.value)
    assert found.where.startswith("roadmap.release.")
    assert "order" in found.rule


def test_somebody_must_serve_until_the_first_release() -> None:
    with pytest.raises(ValidationError) as caught:
        with_releases(5).model_copy(update={"opening_model": None})
    found = complaint(caught.value)
    assert found.where == "opening_model"
    assert "5 days" in found.rule
    with pytest.raises(ValidationError, match="opening_model"):
        with_releases().model_copy(update={"opening_model": None})
    assert with_releases(0, train_days=0).model_copy(update={"opening_model": None}).opening_model is None


@pytest.mark.parametrize(
    ("where", "changes"),
    [
        ("market.quote.0.accelerator", {"quote": "H1000"}),
        ("market.event.0.accelerator", {"event": "A100"}),
        ("opening_fleet.0.accelerator", {"fleet": "H100"}),
    ],
)
def test_an_unknown_kind_of_gpu_is_refused_with_those_there_are(where: str, changes: dict[str, str]) -> None:
    plain = plain_scenario()
    market = plain.market
    if "quote" in changes:
        market = market.model_copy(
            update={"quote": (market.quote[0].model_copy(update={"accelerator": changes["quote"]}),)}
        )
    if "event" in changes:
        market = market.model_copy(update={"event": (MarketEvent(day=MONDAY, accelerator=changes["event"]),)})
    fleet = (OwnedInputs(accelerator=changes["fleet"], gpus=1, paid_usd_per_gpu=1.0),) if "fleet" in changes else ()
    with pytest.raises(ValidationError) as caught:
        plain.model_copy(update={"market": market, "opening_fleet": fleet})
    found = complaint(caught.value)
    assert isinstance(found, UnknownName)
    assert found.where == where
    # A quote may name any kind in the catalogue or the scenario; an event or a fleet only a quoted one.
    assert ({"H100", "B200", "Unit"} <= set(found.known)) if "quote" in changes else (found.known == ("Unit",))


def test_gpus_older_than_their_useful_life_are_refused() -> None:
    # They would be sold before the start.
    old = OwnedInputs(accelerator="Unit", gpus=4, age_days=3000, paid_usd_per_gpu=10_000.0)
    with pytest.raises(ValidationError, match="opening_fleet"):
        plain_scenario().model_copy(update={"opening_fleet": (old,)})


def test_gpus_as_old_as_their_useful_life_in_whole_days_are_refused() -> None:
    # 0.0028 years are 1.02 days: GPUs serve one, so one delivered yesterday is sold this morning.
    plain = plain_scenario()
    ownership = plain.ownership.model_copy(update={"useful_life_years": 0.0028})
    old = OwnedInputs(accelerator="Unit", gpus=2, age_days=1, paid_usd_per_gpu=10_000.0)
    with pytest.raises(ValidationError, match="opening_fleet"):
        plain.model_copy(update={"ownership": ownership, "opening_fleet": (old,)})


def test_a_kind_quoted_twice_is_refused() -> None:
    market = plain_scenario().market
    with pytest.raises(ValidationError, match=r"market\.quote"):
        plain_scenario().model_copy(
            update={"market": market.model_copy(update={"quote": (market.quote[0], market.quote[0])})}
        )


@pytest.mark.parametrize("changes", [{"horizon_days": 0}, {"history_days": -1}, {"discount_per_year": -1.0}])
def test_a_copy_is_checked_anew(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        plain_scenario().model_copy(update=changes)


def test_nothing_declared_can_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        plain_scenario().horizon_days = 4


# Equality and copies ---------------------------------------------------------------------------------------------


def test_scenarios_are_equal_if_they_declare_the_same() -> None:
    one, other = plain_scenario(), plain_scenario()
    assert one is not other
    assert one == other
    assert hash(one) == hash(other)
    assert one != one.model_copy(update={"horizon_days": 4})
    assert one != "three days"
    assert len({one, other, one.model_copy(update={"title": "another"})}) == 2


def test_looking_at_a_scenario_does_not_change_it() -> None:
    looked_at = plain_scenario()
    _ = looked_at.demand_outlook, looked_at.price_outlook, looked_at.calendar, looked_at.hour_profile
    assert looked_at == plain_scenario()
    assert hash(looked_at) == hash(plain_scenario())


def test_a_copy_carries_no_cached_result() -> None:
    one = plain_scenario()
    before = one.demand_outlook.tokens[0], one.calendar.n_days, one.releases[0].due_day, one.price_outlook
    twice = one.demand.model_copy(update={"tokens_per_day": 2 * one.demand.tokens_per_day})
    other = one.model_copy(update={"demand": twice, "horizon_days": 10, "start": MONDAY - timedelta(days=7)})
    assert other.demand_outlook.tokens[0] == pytest.approx(2 * before[0])
    assert other.calendar.horizon_days == 10
    assert other.releases[0].due_day == before[2] + 7
    assert hash(other) != hash(one)
    assert one.demand_outlook.tokens[0] == before[0]


def test_pickling_keeps_a_scenario_equal() -> None:
    one = load_scenario("frontier_lab")
    world = realize(one, 3, 1)
    back = cloudpickle.loads(cloudpickle.dumps(one))
    assert back == one
    assert hash(back) == hash(one)
    np.testing.assert_array_equal(realize(back, 3, 1).demand_tokens, world.demand_tokens)


# How far it looks ------------------------------------------------------------------------------------------------


def test_it_looks_ahead_as_far_as_any_release_decided_in_it_is_planned_to_serve() -> None:
    for horizon_days in (3, 90, 400, 700):
        for service_days in (30, 365, 2000):
            scenario = with_releases(100, 350, 900, service_days=service_days).model_copy(
                update={"horizon_days": horizon_days}
            )
            last_day = int(scenario.calendar.days[-1])
            assert last_day >= horizon_days - 1 + scenario.longest_term_days
            for release in scenario.releases:
                if release.decision_day < horizon_days:
                    assert last_day >= release.due_day + release.life_days - 1


def test_research_is_a_multiple_of_the_compute_optimal_run_of_the_target() -> None:
    scenario = with_releases(1461, research_multiple=4.0, progress_per_year=3.0, data_gain=2.0)
    (release,) = scenario.releases
    # Physical FLOP: what is owed, less what progress by the decision day and better data save.
    physical = 1e20 * 12.7**4 / (3.0 ** ((1461 - 2) / 365.25) * 2.0)
    assert scenario.research_flop(release) == pytest.approx(4.0 * physical, rel=1e-9)


def test_the_all_in_price_of_a_gpu_is_2_0247_times_its_own() -> None:
    # Cottier et al. 2024: server x 1.64, network 19 % of the cluster (numbers H5).
    assert load_scenario("frontier_lab").ownership.all_in_factor == pytest.approx(2.0247, abs=5e-5)


def test_a_cached_prompt_costs_a_tenth() -> None:
    assert Roofline().prompt_cost(0.0) == 1.0
    assert Roofline().prompt_cost(0.4) == pytest.approx(0.6 + 0.4 * 0.1)
    assert Roofline(cached_prompt_cost=1.0).prompt_cost(0.4) == 1.0


def test_the_precisions_are_bf16_and_those_the_lever_may_choose() -> None:
    names = [precision.name for precision in plain_scenario().model_copy(update={"quantize_to": ("int4",)}).precisions]
    assert names == ["bf16", "int4"]
