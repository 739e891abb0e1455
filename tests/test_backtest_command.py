"""`labspend backtest` as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simulator.cli import main


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_it_prints_the_score_and_writes_points_band_and_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backtest", "google", "--until", "2025-07-31", "--worlds", "100", "--out", str(tmp_path / "o")]) == 0
    shown = capsys.readouterr().out
    assert "google, user tokens per day: forecast on 2025-07-23, and what came" in shown
    assert "Inside the 50 % band: 0 of 2" in shown.replace("\u00a0", " ")
    assert {path.name for path in (tmp_path / "o").iterdir()} == {
        "backtest.csv",
        "backtest.png",
        "backtest.svg",
        "band.csv",
    }
    points = rows(tmp_path / "o" / "backtest.csv")
    assert [point["day"] for point in points] == ["2025-10-09", "2026-05-20"]
    band = rows(tmp_path / "o" / "band.csv")
    assert (band[0]["date"], band[-1]["date"]) == ("2025-07-23", "2026-05-20")
    assert band[-1]["p50"] == points[-1]["p50"]


def test_json_is_alone_on_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prices.csv"
    days = [f"2025-{month:02}-{day:02}" for month in range(1, 13) for day in (1, 8, 15, 22)]
    lines = [f"{day},H100,{2.0 + 0.01 * (at % 5)}" for at, day in enumerate(days)]
    path.write_text("\n".join(["date,gpu,usd", *lines]) + "\n", encoding="utf-8")
    words = ["--until", "2025-09-30", "--prices", "usd", "--where", "gpu=H100", "--worlds", "100", "--json"]
    assert main(["backtest", str(path), *words, "--out", str(tmp_path / "o")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_known"], found["n_points"], found["until"]) == (36, 12, "2025-09-22")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv", "--until", "2025-01-01"], "none.csv: there is no such file"),
        (["google", "--until", "2025-06-01"], "google: --until 2025-06-01: leaves 2 values to fit, it takes 3"),
        (["google", "--until", "2030-01-01"], "leaves nothing to score: the record ends on 2026-05-20"),
        (["google"], "Missing option '--until'"),
        (["x.csv", "--until", "2025-01-01", "--prices", "a", "--reports", "b"], "a record holds only one of them"),
        (["x.csv", "--until", "2025-01-01", "--where", "a=b"], "--where: is for --reports and --prices"),
        (["x.csv", "--until", "2025-01-01", "--prices", "a", "--where", "ab"], "--where: must be COLUMN=VALUE"),
    ],
)
def test_mistakes_are_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backtest", *words]) == 2
    assert said in capsys.readouterr().err


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    assert main(["backtest", "google", "--until", "2025-07-31", "--worlds", "100", "--out", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
