"""The stopping rule: it stops where it should, says so, and leaves the bytes of a study of as many worlds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from small_study import CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab, with_costs

from simulator.cli import main
from simulator.show.stopping_said import precision_said
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare, processes
from simulator.study.stopping import Precision

RULE = 0.004


@pytest.fixture(scope="module")
def stopped() -> tuple[Precision, Comparison]:
    rule = Precision(RULE)
    return rule, compare(growing_lab(60), (RENT, RESERVE, CAPPED), replications=16, more=rule)


def test_it_stops_when_every_difference_is_known(stopped: tuple[Precision, Comparison]) -> None:
    rule, comparison = stopped
    assert comparison.replications > 16, "sixteen worlds are not enough here"
    assert rule.is_met
    found = comparison.controlled_percent(1)
    assert found.half_width <= 100 * RULE
    assert rule.rounds[-1].widest_percent == pytest.approx(found.half_width)
    for earlier, later in zip(rule.rounds, rule.rounds[1:], strict=False):
        assert earlier.replications < later.replications <= 2 * earlier.replications
        assert earlier.widest_percent > 100 * RULE
    assert f"took {comparison.replications} worlds in {len(rule.rounds)} rounds" in precision_said(rule)


def test_it_is_the_study_of_as_many_worlds(stopped: tuple[Precision, Comparison]) -> None:
    _, comparison = stopped
    plain = compare(growing_lab(60), (RENT, RESERVE, CAPPED), replications=comparison.replications)
    assert comparison.replications_table.equals(plain.replications_table)
    assert comparison.daily_table.equals(plain.daily_table)
    assert repr(comparison.summary_records()) == repr(plain.summary_records())


def test_workers_and_chunks_change_nothing(stopped: tuple[Precision, Comparison]) -> None:
    rule, comparison = stopped
    again = Precision(RULE)
    with processes(2) as executor:
        other = compare(
            growing_lab(60), (RENT, RESERVE, CAPPED), replications=16, more=again, executor=executor, chunk_size=5
        )
    assert again.rounds == rule.rounds
    assert other.replications_table.equals(comparison.replications_table)


def test_the_most_allowed_ends_it_and_is_told() -> None:
    rule = Precision(1e-6, most=20)
    comparison = compare(growing_lab(60), (RENT, RESERVE), replications=rule.first(4), more=rule)
    assert comparison.replications == 20
    assert not rule.is_met
    assert "not reached after 20 worlds in 2 rounds, the most allowed; still wider: reserve" in precision_said(rule)


def test_it_begins_with_sixteen_worlds_or_what_is_allowed() -> None:
    assert Precision(0.01).first(2) == 16
    assert Precision(0.01).first(100) == 100
    assert Precision(0.01, most=8).first(100) == 8


def told(costs: Sequence[float], precision: float) -> int:
    small = compare(growing_lab(20), (RENT, OVERTRAIN), replications=16)
    rule = Precision(precision)
    return rule(with_costs(small, {"rent": [100.0] * 16, "overtrain": costs}))


def test_it_asks_for_as_many_as_the_variance_wants() -> None:
    # Differences of -1 and 1: sd 1.0328, half-width t(15) x 0.2582 = 0.5503 % of 100. To 0.45 %: 16 x 1.4955 x 1.1.
    costs = [99.0, 101.0] * 8
    assert told(costs, 0.006) == 16
    assert told(costs, 0.0045) in (26, 27)
    assert told(costs, 0.0001) == 32, "at most double"


def test_nothing_to_compare_is_told() -> None:
    rule = Precision(0.01)
    compare(growing_lab(20), (RENT,), replications=16, more=rule)
    assert "nothing is comparable" in precision_said(rule)
    assert [at.replications for at in rule.rounds] == [16]


def test_progress_knows_the_rounds() -> None:
    seen: list[tuple[int, int]] = []
    rule = Precision(1e-9, most=40)
    compare(growing_lab(20), (RENT, RESERVE), replications=16, more=rule, progress=lambda *at: seen.append(at))
    assert [at[0] for at in seen] == list(range(1, 41))
    assert sorted({at[1] for at in seen}) == [16, 32, 40]


def test_the_command_says_how_many_and_can_be_run_again(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.plots.save_plots", lambda *_: [])
    words = ["compare", str(small_toml), "--set", "horizon_days=130", "--out"]
    assert main([*words, str(tmp_path / "until"), "--until", "0.5%"]) == 0
    assert "Until 0.5" in capsys.readouterr().out
    kept = json.loads((tmp_path / "until" / "manifest.json").read_text(encoding="utf-8"))
    assert main([*words, str(tmp_path / "plain"), "--replications", str(kept["replications"])]) == 0
    again = json.loads((tmp_path / "plain" / "manifest.json").read_text(encoding="utf-8"))
    assert kept["replications"] >= 16
    assert kept["sha256"] == again["sha256"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--until", "1"), "must be a percentage"),
        (("--until", "0%"), "must be a percentage"),
        (("--until", "nan%"), "must be a percentage"),
        (("--until", "much%"), "like 1% (got 'much%')"),
        (("--most-replications", "5"), "is for --until"),
        (("--until", "1%", "--shard", "1/2"), "--until: not with --shard"),
    ],
)
def test_bad_input_is_refused(
    small_toml: Path, tmp_path: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(small_toml), *words, "--out", str(tmp_path / "found")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "found").exists()


def test_json_stays_alone_on_stdout(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.plots.save_plots", lambda *_: [])
    words = ["compare", str(small_toml), "--set", "horizon_days=130", "--until", "5%", "--json"]
    assert main([*words, "--out", str(tmp_path / "found")]) == 0
    shown = capsys.readouterr()
    assert [row["replications"] for row in json.loads(shown.out)] == [16, 16]
    assert "Until 5" in shown.err
    assert np.isfinite(json.loads(shown.out)[1]["controlled_difference_percent"])


def test_a_finished_folder_is_held_against_the_rule(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.plots.save_plots", lambda *_: [])
    out = tmp_path / "found"
    words = ["compare", str(small_toml), "--set", "horizon_days=130", "--out", str(out), "--resume", "--until"]
    assert main([*words, "5%"]) == 0
    capsys.readouterr()
    assert main([*words, "5%"]) == 0
    assert capsys.readouterr().err == f"{out}: is finished.\n"
    assert main([*words, "0.001%"]) == 2
    assert "is finished with 16 worlds, and" in capsys.readouterr().err
    assert main([*words, "5%", "--seed", "99"]) == 2
    assert "holds the results of another study" in capsys.readouterr().err
