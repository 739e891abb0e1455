"""What can be moved on the page: from half to twice what is declared, and nothing that a scenario refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.show.knobs import Knob, knobs
from simulator.study.files import load_study
from simulator.study.varied import varied_in, with_growth


def by_name(path: str | Path, *settings: str) -> dict[str, Knob]:
    return {knob.name: knob for knob in knobs(load_study(path, settings).scenario)}


@pytest.mark.parametrize("scenario", ["frontier_lab", "known_demand"])
def test_every_position_is_a_scenario_and_the_declared_one_changes_nothing(scenario: str) -> None:
    declared = load_study(scenario)
    found = knobs(declared.scenario)
    assert found
    for knob in found:
        assert knob.settings(knob.declared) == ()
        assert list(knob.positions) == sorted(set(knob.positions))
        for position in knob.positions:
            study = load_study(scenario, knob.settings(position))
            assert (study.scenario == declared.scenario) == (position == knob.declared)
            assert study.scenario == varied_in(declared.scenario, knob.changes(position))


def test_ranges_go_from_half_to_twice_what_is_declared() -> None:
    found = by_name("frontier_lab")
    lead, fall = found["Lead time"], found["Fall of rents"]
    assert (lead.positions[0], lead.declared, lead.positions[-1]) == (45.0, 90.0, 180.0)
    assert (fall.positions[0], fall.declared, fall.positions[-1]) == (0.043, 0.086, 0.172)
    assert lead.said(45.0) == "45 days"
    assert fall.said(0.043) == "4.3\xa0% a year"


def test_growth_moves_all_regimes_together() -> None:
    declared = load_study("frontier_lab").scenario
    moved = load_study("frontier_lab", by_name("frontier_lab")["Growth of demand"].settings(2.0)).scenario
    assert moved == with_growth(declared, 2.0)


def test_volatility_goes_down_to_a_demand_that_is_known() -> None:
    knob = by_name("frontier_lab")["Volatility of demand"]
    demand = load_study("frontier_lab", knob.settings(0.0)).scenario.demand
    assert demand.noise_sigma == 0.0
    assert {regime.growth_sigma for regime in demand.regime} == {0.0}
    assert by_name("known_demand")["Volatility of demand"].keys == ("demand.level_sigma",)


def test_what_a_rule_forbids_is_not_offered(small_toml: Path) -> None:
    fall = by_name(small_toml, "market.rental_fall_per_year=0.6")["Fall of rents"]
    assert fall.positions[-1] == pytest.approx(0.96)  # 0.6 x 1.6; a fall by all or more is none
    rise = by_name(small_toml, "market.rental_fall_per_year=-0.1")["Fall of rents"]
    assert (rise.positions[0], rise.positions[-1]) == (-0.2, -0.05)


def test_only_what_a_scenario_has_can_be_moved() -> None:
    assert {"Fall of purchase prices", "Lead time"} <= set(by_name("frontier_lab"))
    assert not {"Fall of purchase prices", "Lead time"} & set(by_name("known_demand"))  # nothing is for sale
    assert "Lead time" not in by_name("frontier_lab", "market.lead_days=0")


def test_adoption_is_moved_where_growth_is_its_own(small_toml: Path) -> None:
    settings = (
        'demand.curve={form="bass", ceiling_tokens_per_day=1e12, innovation_per_year=0.03, imitation_per_year=0.4}',
        "demand.growth_per_year=1",
        "demand.regime=[]",
    )
    knob = by_name(small_toml, *settings)["Growth of demand"]
    assert knob.settings(2.0) == (
        "demand.curve.innovation_per_year=0.06",
        "demand.curve.imitation_per_year=0.8",
    )
