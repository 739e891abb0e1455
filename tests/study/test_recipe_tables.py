"""Recipes as tables of a file: those in the starter load as they stand and come back; mistakes have a place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.lab.forecast import Trend
from simulator.lab.policy import Policy
from simulator.lab.portfolio import Portfolio, PortfolioModel
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import Recipe
from simulator.lab.recorded import Recorded
from simulator.study.equal_service import USUAL_SERVICE
from simulator.study.files import ScenarioError, load_scenario, load_study
from simulator.study.restated import study_text

STARTER = Path(__file__).resolve().parents[2] / "simulator" / "study" / "starter.toml"
SHOWN = {
    found[2]: found[1]
    for found in re.finditer(r'^#\s+# (\{ kind = "(\w+)".*\})', STARTER.read_text(encoding="utf-8"), re.MULTILINE)
}


def with_recipe(folder: Path, table: str) -> Path:
    path = folder / "mine.toml"
    text = STARTER.read_text(encoding="utf-8")
    path.write_text(f'{text}\n[[policy]]\nname = "p"\nrecipe = {table}\n', encoding="utf-8")
    return path


@pytest.mark.parametrize(("kind", "recipe"), [
    ("recorded", Recorded(run="Llama 3.1 405B")),
    ("portfolio", Portfolio(model=(PortfolioModel(n_parameters=70e9, n_training_tokens=1.4e12, share=1.0),))),
])  # fmt: skip
def test_what_the_starter_shows_loads_and_is_whole(kind: str, recipe: Recipe, tmp_path: Path) -> None:
    (policy,) = load_study(with_recipe(tmp_path, SHOWN[kind])).policies
    assert policy.recipe == recipe
    fields = set(type(recipe).model_fields)
    if isinstance(recipe, Portfolio):
        fields |= set(type(recipe.model[0]).model_fields)
    assert all(f"{name} = " in SHOWN[kind] for name in fields)


def test_a_study_of_such_recipes_is_told_and_read_again(tmp_path: Path) -> None:
    two = {"model": [{"n_parameters": 70e9, "share": 0.25}, {"n_parameters": 7e9, "share": 0.75, "quality": 0.1}]}
    policies = tuple(
        Policy(name, recipe, RentOnDemand(), Trend())
        for name, recipe in (("two", Portfolio.model_validate(two)), ("once", Recorded(run="DeepSeek-V3")))
    )
    path = tmp_path / "again.toml"
    scenario = load_scenario("frontier_lab")
    path.write_text(study_text(scenario, policies, 1, 2, USUAL_SERVICE), encoding="utf-8")
    again = load_study(path)
    assert again.policies == policies
    assert again.scenario == scenario


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('{ kind = "recorded", run = "Lama 3.1 405B" }', "did you mean 'Llama 3.1 405B'"),
        ('{ kind = "recorded", run = "BLOOM" }', r"ran on the A100, which needs a \[\[market.quote\]\]"),
        ('{ kind = "portfolio", model = [] }', "at least 1 item"),
        ('{ kind = "portfolio", model = [{ n_parameters = 7e9, share = 0.5 }] }', "must sum to 1"),
        ('{ kind = "portfolio", model = [{ n_parameters = 1e99, share = 1 }] }', "1e"),
        ('{ kind = "portfolio", model = [{ n_parameters = nan, share = 1 }] }', "finite"),
    ],
)
def test_a_mistake_has_a_place(table: str, says: str, tmp_path: Path) -> None:
    path = with_recipe(tmp_path, table)
    line = 1 + path.read_text(encoding="utf-8").splitlines().index(f"recipe = {table}")
    with pytest.raises(ScenarioError, match=says) as refused:
        load_study(path)
    assert f"mine.toml:{line}: policy" in str(refused.value)
