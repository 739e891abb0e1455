"""`labspend calibrate` as a user meets it: a process, its exit status, what it prints and what it writes."""

from __future__ import annotations

import csv
import json
import tomllib
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from conftest import SMALL_SCENARIO, Labspend

from simulator.cli import main
from simulator.study.files import load_scenario

N_DAYS = 60


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Sixty days that grow 1 % a day, with quiet weekends and a little noise."""
    rng = np.random.default_rng(7)
    rows = ["date,total_tokens"]
    for at in range(N_DAYS):
        day = date(2026, 3, 2) + timedelta(days=at)
        tokens = 1e12 * 1.01**at * (0.8 if day.weekday() > 4 else 1.08) * np.exp(0.03 * rng.standard_normal())
        rows.append(f"{day},{tokens:.0f}")
    path = tmp_path / "usage.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def not_json(constant: str) -> object:
    raise AssertionError(f"{constant} is not JSON")


def test_it_prints_the_fit_and_the_block_and_draws_the_trace(labspend: Labspend, trace: Path) -> None:
    shown = labspend("calibrate", "usage.csv")
    assert (shown.returncode, shown.stderr) == (0, "")
    for part in (
        "What usage.csv says of demand (60 whole days)",
        "Weekend / weekday",
        "Noise, AR(1) corrected",
        "inside the 90 % band of 1,000 simulated worlds",
        "- no hour profile: rows are days.",
        "# start = 2026-05-01",
        f"Results: {Path('out', 'calibrate-usage')}",
    ):
        assert part in shown.stdout
    assert "\x1b" not in shown.stdout
    folder = trace.parent / "out" / "calibrate-usage"
    names = ["days.csv", "demand.toml", "fit.csv", "trace_against_band.png", "trace_against_band.svg"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "demand.toml").read_text(encoding="utf-8") in shown.stdout
    with (folder / "fit.csv").open(encoding="utf-8") as file:
        fit = {row["name"]: row for row in csv.DictReader(file)}
    growth, error = (float(fit["growth_per_day_0"][key]) for key in ("value", "standard_error"))
    assert abs(growth - 0.01) < 4 * error
    assert error < 0.001
    assert labspend("calibrate", "usage.csv", "--json").returncode == 0
    assert (trace.parent / "out" / "calibrate-usage-2" / "fit.csv").is_file()


def test_the_block_alone_is_toml_that_a_scenario_takes(labspend: Labspend, trace: Path) -> None:
    shown = labspend("calibrate", "usage.csv", "--toml", "--from", "2026-03-09", "--start", "2026-04-01")
    assert (shown.returncode, shown.stderr) == (0, "")
    block = tomllib.loads(shown.stdout)["demand"]
    assert block["tokens_per_day"] == pytest.approx(1e12 * 1.01**30, rel=0.05)
    head, _, rest = SMALL_SCENARIO.partition("[demand]")
    (trace.parent / "mine.toml").write_text(head + shown.stdout + rest[rest.index("[[market") :], encoding="utf-8")
    demand = load_scenario(trace.parent / "mine.toml").demand
    assert demand.growth_per_year == pytest.approx(1.01**365.25, rel=0.2)
    assert demand.weekday_factors == tuple(block["weekday_factors"])
    assert labspend("check", "mine.toml").returncode == 0


def test_json_is_alone_on_the_output(labspend: Labspend, trace: Path) -> None:
    shown = labspend("calibrate", "usage.csv", "--json", "--out", "fitted")
    found = json.loads(shown.stdout, parse_constant=not_json)
    assert found["calibration"]["daily"]["weekdays"]["weekend_over_weekday"]["value"] == pytest.approx(0.74, abs=0.03)
    assert found["calibration"]["lengths"] is None
    assert {line["name"] for line in found["lines"]} >= {"tokens_per_day", "residual_sd", "ar1", "inside_90"}
    assert tomllib.loads(found["demand_toml"])["demand"]["noise_sigma"] == pytest.approx(0.03, abs=0.015)
    again = labspend("calibrate", "usage.csv", "--out", "fitted")
    assert again.returncode == 2
    assert "fitted: is not empty, and nothing is written over" in again.stderr
    assert trace.is_file()


def test_the_same_trace_gives_the_same_bytes(trace: Path) -> None:
    for name in ("one", "two"):
        assert main(["calibrate", str(trace), "--toml", "--out", str(trace.parent / name)]) == 0
    for path in (trace.parent / "one").iterdir():
        assert path.read_bytes() == (trace.parent / "two" / path.name).read_bytes()


def test_a_short_trace_of_requests_says_what_it_cannot_tell(labspend: Labspend, tmp_path: Path) -> None:
    rows = [f"2026-06-01 10:00:{at:02}.{at:02},{100 + at},{20}" for at in range(30)]
    text = "\n".join(["timestamp,context_tokens,generated_tokens", *rows])
    (tmp_path / "requests.csv").write_text(text, encoding="utf-8")
    shown = labspend("calibrate", "requests.csv", "--out", "fitted")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "not even a level is given" in shown.stdout
    assert "No picture: it takes 14 whole days." in shown.stdout
    assert sorted(path.name for path in (tmp_path / "fitted").iterdir()) == ["demand.toml", "fit.csv"]
    block = tomllib.loads((tmp_path / "fitted" / "demand.toml").read_text(encoding="utf-8"))["demand"]
    assert set(block) == {"prompt_share", "context_tokens"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.csv"], "gone.csv: there is no such file"),
        (["usage.csv", "--tokens", "totl_tokens"], "usage.csv:1: has no column 'totl_tokens'; it has date"),
        (["usage.csv", "--to", "2027-01-01"], "usage.csv:61: --to: must be a day of the trace, 2026-03-02 (row 2)"),
        (["usage.csv", "--from", "soon"], "does not match the format"),
        (["usage.csv", "--start", "2026-07-01"], "usage.csv:61: --start: must be a day of the trace"),
        (["usage.csv", "--unit", "letters"], "'letters' is not one of"),
        (["usage.csv", "--json", "--toml"], "only one of them can be alone"),
        (["bad.csv"], "the trace cannot be used.\nbad.csv:3: date: no day may be left out"),
    ],
)  # fmt: skip
def test_wrong_use_is_status_2_and_leaves_nothing(labspend: Labspend, trace: Path, words: list[str], said: str) -> None:
    bad = "date,total_tokens\n2026-06-01,1e9\n2026-06-03,1e9\n2026-06-04,4.4T\n"
    (trace.parent / "bad.csv").write_text(bad, encoding="utf-8")
    shown = labspend("calibrate", *words)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not (trace.parent / "out").exists()
