"""`labspend verify`, as a user runs it."""

from __future__ import annotations

import json

import pytest
from conftest import Labspend

from simulator.cli import main
from simulator.study import claim_list
from simulator.study.claims import published


def test_the_published_world_holds_in_a_few_seconds(labspend: Labspend) -> None:
    done = labspend("verify", "--fast", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    verdicts = [row["verdict"] for row in rows]
    assert set(verdicts) == {"passed", "accounted", "illustrative", "unexplained", "shown"}
    bills = [row for row in rows if "bottom up" in row["claim"]]
    assert [row["verdict"] for row in bills] == ["unexplained"] * 2
    assert all(row["factor"] == pytest.approx(row["published_low"] / row["simulated"]) for row in bills)
    assert all(row["published_low"] is None for row in rows if row["verdict"] == "shown")


def test_one_scenario_is_a_table_with_a_count(labspend: Labspend) -> None:
    done = labspend("verify", "data_mixing")
    assert done.returncode == 0
    assert "gopher" not in done.stdout
    assert done.stdout.splitlines()[-1] == "4 claims: 2 illustrative, 2 shown."


@pytest.mark.parametrize(("name", "told"), [("erdil", "did you mean"), ("frontier_lab", "nothing is claimed of it")])
def test_a_name_without_claims_is_a_mistake(labspend: Labspend, name: str, told: str) -> None:
    done = labspend("verify", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_claim_that_fails_is_named_and_the_status_is_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses() -> float:
        raise ValueError("no GPU is on offer")

    wrong = (
        published("erdil_2024", "two and two", "arithmetic", 4.0, lambda: 5.0),
        published("erdil_2024", "three and three", "arithmetic", 6.0, refuses),
    )
    monkeypatch.setattr(claim_list, "CLAIMS", wrong)
    assert main(["verify"]) == 1
    told = capsys.readouterr().out
    assert "FAILED erdil_2024: two and two\n" in told
    assert "FAILED erdil_2024: three and three (no GPU is on offer)" in told
