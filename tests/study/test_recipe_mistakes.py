"""Mistakes in the recipes of a file: told with file, line and key, each once."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.study.files import ScenarioError, load_study

KNOWN = Path(__file__).resolve().parents[2] / "scenarios" / "known_demand.toml"
HEAD = f'extends = "{KNOWN}"\n[[policy]]\nname = "p"\n'


def complaint(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as raised:
        load_study(path)
    return str(raised.value)


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ('kind = "portfolio", model = []', "model: must have at least 1 item (got [])"),
        (
            'kind = "portfolio", model = [{ n_parameters = 1e308, share = 1.0 }]',
            "model.0.n_parameters: must be less than or equal to 1000000000000000 (got 1e+308)",
        ),
        (
            'kind = "portfolio", model = [{ n_parameters = 7e9, share = 0.5 }, { n_parameters = 8e9, share = 0.4 }]',
            "model.0.share: and those of all other models must sum to 1 (got sum 0.9)",
        ),
        ('kind = "levers", levers = ["routing"]', "levers: need a [routing] table to use this one (got 'routing')"),
        ('kind = "levers", levers = ["distil"]', "levers: need a [distillation] table to use this one (got 'distil')"),
        (
            'kind = "fine_tune", base = "Llama 3.1 8B", levers = ["prompting"]',
            "levers: need a [prompting] table to use this one (got 'prompting')",
        ),
    ],
)
def test_told_once_with_file_line_and_key(tmp_path: Path, recipe: str, said: str) -> None:
    message = complaint(tmp_path, f"{HEAD}recipe = {{ {recipe} }}\n")
    assert message.endswith(f"mine.toml:4: policy.0.recipe.{said}")
    assert message.count("policy.0") == 1


@pytest.mark.parametrize("easy", ["1.0", "-0.1", "nan", "1e308"])
def test_shares_of_easy_traffic_are_shares(tmp_path: Path, easy: str) -> None:
    table = f"[routing]\neasy_share = {easy}\neasy_quality = 0.1\n"
    assert "mine.toml:6: routing.easy_share: must be" in complaint(tmp_path, f"{HEAD}\n{table}")
