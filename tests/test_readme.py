"""What the README tells a user to do, done."""

from __future__ import annotations

import csv
import os
import re
import shlex
import signal
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from browser import served

PROJECT = Path(__file__).resolve().parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line, comments=True) for line in re.findall(r"^    \.venv/bin/labspend (.*)$", README, re.MULTILINE)
]


def run(words: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_for_your_own_lab_work_in_order(tmp_path: Path) -> None:
    mine = [words for words in COMMANDS if "my_lab.toml" in words]
    assert [words[0] for words in mine] == ["new", "check", "compare", "explain"]
    for words in mine:
        fewer = ["--replications", "2"] if words[0] == "compare" else []
        run(["-m", "simulator", *words, *fewer], tmp_path)
    assert (tmp_path / "out" / "my_lab" / "summary.csv").is_file()


def test_the_picture_is_made_by_the_command_under_it(tmp_path: Path) -> None:
    (words,) = (words for words in COMMANDS if words[-2:] == ["--out", "first"])
    run(["-m", "simulator", *words, "--replications", "2"], tmp_path)
    (shown,) = re.findall(r"!\[[^]]{40,}\]\(([^)]+)\)", README)
    made, kept = tmp_path / "first" / Path(shown).name, PROJECT / shown
    width_and_height = slice(16, 24)
    assert kept.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert kept.read_bytes()[width_and_height] == made.read_bytes()[width_and_height]


def test_what_is_read_aloud_is_what_came_out() -> None:
    with (PROJECT / "scenarios" / "frontier_lab.expected.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["policy"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}
    best, base = rows["all-buy"], next(iter(rows.values()))
    told = re.search(
        r'"all-buy costs (\d+) % less than ([\w-]+) \[.*cheapest in (\d+) of 32\sworlds', README, re.DOTALL
    )
    assert told is not None
    assert float(told[1]) == pytest.approx(-float(best["difference_percent"]), abs=1.0), "which is without the control"
    assert (told[2], float(told[3])) == (base["policy"], 32.0 * float(best["chance_cheapest"]))


def test_a_trace_becomes_a_demand_table(tmp_path: Path) -> None:
    (words,) = (words for words in COMMANDS if words[0] == "calibrate")
    rows = ["date,total_tokens", *(f"2026-06-{day:02},{1e9 * (1 + day % 7)}" for day in range(1, 31))]
    (tmp_path / "tokens.csv").write_text("\n".join(rows), encoding="utf-8")
    assert "[demand]" in run(["-m", "simulator", *words], tmp_path)
    assert (tmp_path / "fitted" / "trace_against_band.png").is_file()


def test_forecasts_are_scored(tmp_path: Path) -> None:
    asked = [words for words in COMMANDS if words[0] == "backtest"]
    days = [date(2023, 1, 1) + timedelta(days=at) for at in range(1300)]
    rows = [f"{day},{1e9 * (1 + day.day % 7)},A100,{2 + day.day % 3}" for day in days]
    for name in ("tokens.csv", "rents.csv"):
        (tmp_path / name).write_text("\n".join(["date,total_tokens,gpu,spot", *rows]), encoding="utf-8")
    for words, record in zip(asked, ("google", "tokens.csv", "rents.csv"), strict=True):
        said = run(["-m", "simulator", *words, "--worlds", "100"], tmp_path)
        assert said.startswith(f"{record}, ")
        assert "Inside the 50" in said


def test_the_laws_are_printed(tmp_path: Path) -> None:
    (words,) = (words for words in COMMANDS if words[0] == "laws")
    assert "Training compute" in run(["-m", "simulator", *words], tmp_path)


def test_the_catalogue_is_listed(tmp_path: Path) -> None:
    (words,) = (words for words in COMMANDS if words[0] == "catalog")
    assert "p4d.24xlarge" in run(["-m", "simulator", *words], tmp_path)


def test_rent_or_buy_is_answered(tmp_path: Path) -> None:
    (words,) = (words for words in COMMANDS if words[0] == "rent-or-buy")
    assert "How many to own" in run(["-m", "simulator", *words], tmp_path)


def test_claims_are_verified(tmp_path: Path) -> None:
    asked = [words for words in COMMANDS if words[0] == "verify"]
    assert len(asked) == 2
    assert "passed" in run(["-m", "simulator", *asked[1]], tmp_path)


def test_what_would_change_the_answer_is_asked(tmp_path: Path) -> None:
    asked = [words for words in COMMANDS if words[0] != "backtest" and {"--until", "--vary"} & {*words}]
    assert [words[0] for words in asked] == ["compare", "thresholds", "sweep"]
    for words, few in zip(asked, (["--most-replications", "4"], [], []), strict=True):
        short = ["--set", "horizon_days=30", "--replications", "1", "--policy", "all-rent", "--policy", "all-buy"]
        assert "Results: " in run(["-m", "simulator", *words, *short, *few], tmp_path)


def test_a_report_with_sliders_is_made(tmp_path: Path) -> None:
    (words,) = (words for words in COMMANDS if words[0] == "report")
    short = ["--set", "horizon_days=30", "--replications", "1", "--policy", "all-rent", "--policy", "all-buy"]
    run(["-m", "simulator", "compare", "frontier_lab", *short], tmp_path)
    run(["-m", "simulator", *words, "--slide", "growth=0.5,1"], tmp_path)
    assert (tmp_path / "out" / "frontier_lab" / "report-2.html").is_file()


def test_the_page_is_served_until_ctrl_c(tmp_path: Path) -> None:
    pytest.importorskip("streamlit")
    (words,) = (words for words in COMMANDS if words[0] == "app")
    with served(*words[1:], folder=tmp_path) as (server, url):
        assert "127.0.0.1" in url
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 0
    assert f"The page is at {url} and stops with Ctrl-C." in (tmp_path / "server.log").read_text()


@pytest.mark.parametrize("program", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_the_programs_run(program: str, tmp_path: Path) -> None:
    if "statsmodels" in program:
        pytest.importorskip("statsmodels")
    named = re.search(r'\("([a-z-]+)", [A-Z]', program)  # what the program calls its policy
    assert named is not None
    assert named[1] in run(["-c", program], tmp_path)


def test_the_scenarios_that_ship_are_in_the_table() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE))
    assert named == {path.stem for path in (PROJECT / "scenarios").glob("*.toml")}
