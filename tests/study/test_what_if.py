"""What is on the page as a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from simulator.study.files import ScenarioError, load_study
from simulator.study.what_if import WhatIf, policies_of, scenarios_beside, worlds_offered, written_settings


def test_the_text_of_what_is_asked_is_the_same_study_without_options(small_toml: Path, tmp_path: Path) -> None:
    study = WhatIf(str(small_toml), ("market.lead_days=120",), ("trained longer", "plain"), 8, 3).study()
    path = tmp_path / "saved.toml"
    path.write_text(study.text, encoding="utf-8")
    again = load_study(path)
    assert again == study
    assert (again.seed, again.replications, again.scenario.market.lead_days) == (3, 8, 120.0)
    assert [policy.name for policy in again.policies] == ["trained longer", "plain"]


def test_mistakes_are_those_that_check_tells(small_toml: Path) -> None:
    asked = WhatIf(str(small_toml), ("demand.noise_sigma=-1", "market.lead_dayz=3"), ("plain",), 2, 1)
    with pytest.raises(ScenarioError) as told:
        asked.study()
    with pytest.raises(ScenarioError) as checked:
        load_study(small_toml, asked.settings)
    assert str(told.value) == str(checked.value)
    assert "did you mean 'lead_days'?" in str(told.value)
    with pytest.raises(ScenarioError, match="choose at least one"):
        replace(asked, settings=(), policies=()).study()


def test_what_there_is_to_choose(small_toml: Path) -> None:
    assert policies_of(load_study(small_toml))[:3] == ("plain", "trained longer", "chinchilla-rent")
    assert policies_of(load_study("frontier_lab"))[0] == "chinchilla-rent"
    assert {str(small_toml), "frontier_lab", "known_demand"} <= set(scenarios_beside(str(small_toml)))
    beside = scenarios_beside("known_demand")
    assert (beside[0], beside.count("known_demand"), "frontier_lab" in beside) == ("known_demand", 1, True)
    assert worlds_offered(100) == (4, 8, 16, 32, 64, 100, 128, 256)
    assert written_settings(" # no\n\n a=1\nb = 2 ") == ("a=1", "b = 2")
