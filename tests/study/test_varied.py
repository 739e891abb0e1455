"""One declared value changed by its name: any field there is, checked like a file's, and mistakes told."""

from __future__ import annotations

from datetime import date

import pytest

from simulator.study.files import load_scenario
from simulator.study.varied import varied, with_growth
from simulator.world.scenario import Misplaced, Scenario


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return load_scenario("frontier_lab")


def test_a_value_changes_and_nothing_else(lab: Scenario) -> None:
    found = varied(lab, "market.rental_fall_per_year", 0.3)
    assert found.market.rental_fall_per_year == 0.3
    assert lab.market.rental_fall_per_year == 0.086
    assert varied(found, "market.rental_fall_per_year", 0.086) == lab


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("horizon_days", 400),
        ("market.quote.1.spot_usd_per_gpu_hour", 1.5),
        ("market.quote.0.spot_usd_per_gpu_hour", 0.5),  # not declared in the file
        ("demand.regime.3.growth_per_year", 2.0),
        ("demand.shocks.per_year", 0.0),
        ("serving.target_utilization", 0.5),
        ("ownership.resale_spread", 0.2),
        ("demand.cached_share", 0),
        ("start", date(2026, 6, 8)),
        ("opening_model.precision", "bf16"),
        ("quantize_to.0", "fp8"),
    ],
)
def test_any_field_of_the_schema(lab: Scenario, field: str, value: float | str | date) -> None:
    held: object = varied(lab, field, value)
    for part in field.split("."):
        held = held[int(part)] if isinstance(held, tuple) else getattr(held, part)
    assert held == value


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("market.rental_fal_per_year", 0.1, "did you mean 'market.rental_fall_per_year'"),
        ("lead_days", 10, "did you mean 'market.lead_days'"),
        ("markt.lead_days", 10, "did you mean 'market.lead_days'"),
        ("market", 1, "scenario: has no value of this name"),
        ("", 1, "scenario: has no value of this name"),
        ("market.lead_days.x", 1, "did you mean 'market.lead_days'"),
        ("x" * 10_000, 1, "scenario: has no value of this name"),
        ("market.quote.9.purchase_usd_per_gpu", 1.0, "market.quote holds 5, the first is 0"),
        ("market.lead_days", -1, r"market.lead_days: must be greater than or equal to 0 \(got -1\)"),
        ("market.lead_days", "soon", "market.lead_days: must be a number"),
        ("market.lead_days", float("nan"), "market.lead_days: must be a finite number"),
        ("horizon_days", 10.5, "horizon_days: must be a whole number"),
        ("market.quote.0.accelerator", "H1OO", "is not known; there are A100"),
        ("demand.weekday_factors.0", 9.0, "must have mean 1"),
        ("start", date(2027, 1, 1), "roadmap.release.0.due must leave 90 training days"),
    ],
)
def test_mistakes_are_told(lab: Scenario, field: str, value: float | str | date, told: str) -> None:
    with pytest.raises(Misplaced, match=told):
        varied(lab, field, value)


def test_growth_is_scaled_in_all_its_regimes(lab: Scenario) -> None:
    demand = with_growth(lab, 2.0).demand
    assert [demand.growth_per_year, *(regime.growth_per_year for regime in demand.regime)] == [708, 10, 5, 3, 2.4]
    assert with_growth(lab, 1.0) == lab


def test_a_bass_curve_is_adopted_so_many_times_as_fast(lab: Scenario) -> None:
    bass = {
        "form": "bass",
        "ceiling_tokens_per_day": 1e15,
        "innovation_per_year": 0.1,
        "imitation_per_year": 0.4,
    }
    free = {"growth_per_year": 1.0, "history_growth_per_year": 1.0, "regime": (), "curve": bass}
    scenario = lab.model_copy(update={"demand": {**lab.demand.model_dump(), **free}})
    found = with_growth(scenario, 2.0)
    # Bass 1969: time enters as (p + q) t and q / p alone, so a year is lived in half of one.
    slow = scenario.demand_outlook.tokens[scenario.calendar.index(730)]
    fast = found.demand_outlook.tokens[found.calendar.index(365)]
    assert fast / slow == pytest.approx(lab.demand.weekday_factors[1] / lab.demand.weekday_factors[2], rel=1e-3)
