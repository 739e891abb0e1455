"""The command line as a user meets it: real processes, their exit status and what they print where."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PROJECT, Labspend, environment

from simulator import __version__, compare, load_study
from simulator.cli import labspend as command_line
from simulator.cli import main
from simulator.lab.procurement import RentOnDemand
from simulator.laws.fits import SCALING_FITS
from simulator.laws.precision import PRECISIONS
from simulator.world.scenario import Misplaced

HEAVY = ("numpy", "pandas", "matplotlib", "scipy", "simpy", "pydantic", "pyarrow", "rich", "importlib.metadata")


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["compare", "--help"],
        ["check", "--help"],
        ["new", "--help"],
        ["laws", "--help"],
        ["calibrate", "--help"],
        ["catalog", "--help"],
        ["app", "--help"],
        ["thresholds", "--help"],
        ["sweep", "--help"],
        ["--version"],
    ],
)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        f"import sys; from simulator.cli import main; main({words!r}); print([m for m in {HEAVY} if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"
    assert words == ["--version"] or "Example" in shown.stdout or "labspend new" in shown.stdout


def test_help_tells_of_every_command_in_full(labspend: Labspend) -> None:
    shown = labspend("--help").stdout.partition("Commands:")[2]
    assert "..." not in shown
    for name in command_line.commands:
        assert name in shown


def test_version(labspend: Labspend) -> None:
    assert labspend("--version").stdout == f"labspend {__version__}\n"


def test_check_says_what_a_scenario_means(labspend: Labspend, small_toml: Path) -> None:
    shown = labspend("check", small_toml)
    assert (shown.returncode, shown.stderr) == (0, "")
    for part in (
        "Small lab",
        "From 2026-06-01 to 2026-12-17",
        "next: due 2026-09-15",
        "H100: 2.89",
        "plain (baseline)",
    ):
        assert part in shown.stdout


def test_check_finds_a_packaged_scenario(labspend: Labspend) -> None:
    assert labspend("check", "known_demand").returncode == 0


def test_bad_input_is_one_message_and_status_2(labspend: Labspend, small_toml: Path) -> None:
    small_toml.write_text(small_toml.read_text(encoding="utf-8").replace("growth_per", "grwoth_per"), encoding="utf-8")
    for command in ("check", "compare"):
        shown = labspend(command, "small.toml")
        assert (shown.returncode, shown.stdout) == (2, "")
        assert "small.toml:7: demand.grwoth_per_year: is not a known key (got 3)" in shown.stderr
        assert "Traceback" not in shown.stderr
    assert not (small_toml.parent / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare", "small.toml", "--policy", "plane"], "Error: --policy: no policy has this name"),
        (["compare", "small.toml", "--policy", "plane"], "(got 'plane'); did you mean 'plain'?"),
        (["compare", "small.toml", "--replications", "0"], "0 is not in the range x>=1"),
        (["compare", "small.toml", "--workers", "0"], "0 is not in the range x>=1"),
        (["compare", "small.toml", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["compare", "small.toml", "--replictions", "3"], "Did you mean"),
        (["compare", "small.toml", "--set", "demand"], "must be written key=value"),
        (["compare", "gone.toml"], "gone.toml: there is no such file. Scenarios that come with labspend: "),
        (["check", ""], "Error: '': must be the name of a scenario. "),
        (["compare"], "Missing argument 'SCENARIO'"),
        (["new", "lab.txt"], "try lab.toml"),
        (["laws", "Lama 3 70B", "H100"], "did you mean 'Llama 3 70B'?"),
        (["laws", "Chinchilla", "H10"], "did you mean 'H100'?"),
        (["laws", "Chinchilla"], "HARDWARE is missing"),
        (["catalog", "hardwear"], "'hardwear' is not one of"),
        (["catalog", "models", "--scenario", "gone.toml"], "gone.toml: there is no such file"),
        (["laws", "7B:1T", "H100"], "parameters must be a number, got '7B'"),
        (["laws", "Chinchilla", "H100", "--usd-per-gpu-hour", "-1"], "must be greater than 0 and finite, got -1"),
        (["laws", "Chinchilla", "H100", "--precision", "fp6"], "'fp6' is not one of"),
        (["laws", "Chinchilla", "H100", "--prompt-share", "80"], "must be between 0 and 1, got 80"),
        (["new", "gone/lab.toml"], "gone/lab.toml: cannot be written: No such file or directory"),
        (["new", "small.toml"], "small.toml: is there already, and is not overwritten"),
    ],
)
def test_wrong_use_is_status_2(labspend: Labspend, small_toml: Path, words: list[str], said: str) -> None:
    shown = labspend(*words)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr


def test_laws_prints_figures_with_their_laws(labspend: Labspend) -> None:
    shown = labspend("laws", "Llama 3.1 70B", "H100", "--precision", "fp8", "--usd-per-gpu-hour", "2")
    assert (shown.returncode, shown.stderr) == (0, "")
    for part in (
        "on H100, served in fp8",
        "> Loss, fit BESI",
        "1.93005 nats",
        "scaling.loss: Besiroglu",
        "$2 a GPU-hour, as given",
    ):
        assert part in shown.stdout
    assert "\x1b" not in shown.stdout


def test_laws_as_json(labspend: Labspend) -> None:
    shown = labspend("laws", "DeepSeek-V3", "H100", "--json")
    assert (shown.returncode, shown.stderr) == (0, "")
    found = json.loads(shown.stdout, parse_constant=not_json)
    values = {line["name"]: line["value"] for line in found["lines"]}
    assert values["training_flop"] == pytest.approx(6 * 37e9 * 14.8e12)
    assert values["replica_gpus"] is None, "671e9 parameters in bf16 do not fit 16 H100"


def test_laws_alone_lists_models_and_hardware(labspend: Labspend) -> None:
    shown = labspend("laws")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Llama 3.1 405B" in shown.stdout
    assert "MI300X" in shown.stdout
    found = json.loads(labspend("laws", "--json").stdout, parse_constant=not_json)
    assert found["models"][0]["name"] == "GPT-3"
    assert found["hardware"][0]["name"] == "V100 16GB"


OWN_ROWS = """
[[accelerator]]
name = "X1"
bf16_tflop_per_second = 1000
memory_gb = 96
memory_tb_per_second = 4
power_kw = 0.8
launch = 2027-01-01
source = "a data sheet"

[[model]]
name = "Ours 12B"
n_parameters = 12e9
n_training_tokens = 6e12
release = 2026-03-01
source = "our records"
"""


def test_catalog_lists_each_section(labspend: Labspend) -> None:
    shown = labspend("catalog")
    assert (shown.returncode, shown.stderr) == (0, "")
    for section, part in (
        ("hardware", "MI355X"),
        ("models", "Llama 4 Scout"),
        ("runs", "30,840,000"),
        ("prices", "p4d.24xlarge / 8"),
        ("techniques", "SmoothQuant"),
    ):
        assert f"labspend catalog {section}" in shown.stdout
        listed = labspend("catalog", section)
        assert (listed.returncode, listed.stderr) == (0, "")
        assert part in listed.stdout


def test_catalog_as_json(labspend: Labspend) -> None:
    rows = json.loads(labspend("catalog", "prices", "--json").stdout, parse_constant=not_json)
    assert rows[0]["kind"] == "on-demand"
    assert rows[0]["unit"] == "USD/GPU-hour"
    assert rows[0]["day"] == "2018-06-08"
    every = json.loads(labspend("catalog", "--json").stdout, parse_constant=not_json)
    assert list(every) == ["hardware", "models", "runs", "prices", "techniques"]
    assert every["prices"] == rows
    assert every["techniques"][-1]["training_span_oom"] is None


def test_rows_of_a_scenario_are_listed_and_can_be_asked_about(labspend: Labspend, small_toml: Path) -> None:
    with small_toml.open("a", encoding="utf-8") as file:
        file.write(OWN_ROWS)
    assert "X1" in labspend("catalog", "hardware", "--scenario", "small.toml").stdout
    assert "our records" in labspend("catalog", "models", "--scenario", "small.toml").stdout
    assert "Ours 12B" in labspend("laws", "--scenario", "small.toml").stdout
    shown = labspend("laws", "ours 12b", "H100", "--scenario", "small.toml")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Ours 12B (12.0B parameters" in shown.stdout
    assert "$2.89 a GPU-hour on demand, as quoted in the scenario 'Small lab' (a test)" in " ".join(
        shown.stdout.split()
    )


def test_a_scenario_with_an_unknown_base_still_lists_what_there_is(labspend: Labspend, small_toml: Path) -> None:
    text = small_toml.read_text(encoding="utf-8")
    recipe = '{ kind = "fine_tune", base = "Ours" }'
    small_toml.write_text(text.replace('{ levers = ["overtrain"] }', recipe), encoding="utf-8")
    shown = labspend("compare", "small.toml")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "small.toml:40: policy.1.recipe.base: is no known model; labspend catalog models lists them" in shown.stderr
    assert labspend("catalog", "models", "--scenario", "small.toml").returncode == 0


def test_laws_offers_every_precision_and_fit() -> None:
    choices = {option.name: option.type for option in command_line.commands["laws"].params}
    assert list(choices["precision"].choices) == [found.name for found in PRECISIONS]
    assert sorted(choices["fit"].choices) == sorted(found.name for found in SCALING_FITS)


def test_new_writes_a_scenario_that_checks(labspend: Labspend, tmp_path: Path) -> None:
    assert labspend("new", "mine.toml").returncode == 0
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8").startswith("# A scenario of labspend")
    assert labspend("check", "mine.toml").returncode == 0


def test_new_writes_a_scenario_that_runs(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path / "mine.toml")]) == 0
    study = load_study(tmp_path / "mine.toml")
    rows = compare(study.scenario, study.policies, replications=1, seed=study.seed).summary_records()
    assert [row.policy for row in rows] == [policy.name for policy in study.policies]
    assert all(row.served_share > 0.99 and row.quality_met for row in rows)


# --- results folders ------------------------------------------------------------------------------------


def test_a_folder_that_is_not_empty_is_refused_before_the_work(labspend: Labspend, small_toml: Path) -> None:
    folder = small_toml.parent / "full"
    folder.mkdir()
    (folder / "mine.txt").write_text("keep me", encoding="utf-8")
    shown = labspend("compare", "small.toml", "--out", "full", "--replications", "1000000")
    assert shown.returncode == 2
    assert "full: is not empty, and nothing is written over" in shown.stderr
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is unwritable here")
def test_an_unwritable_folder_is_refused_before_the_work(labspend: Labspend, small_toml: Path) -> None:
    folder = small_toml.parent / "locked"
    folder.mkdir(mode=0o500)
    shown = labspend("compare", "small.toml", "--out", "locked", "--replications", "1000000")
    assert (shown.returncode, "locked: results cannot be written here" in shown.stderr) == (2, True)


def test_a_folder_that_takes_no_file_is_refused(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    out = small_toml.parent / "locked"
    assert main(["compare", str(small_toml), "--out", str(out)]) == 2
    assert f"{out}: results cannot be written here: Permission denied" in capsys.readouterr().err
    assert not out.exists()


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(labspend: Labspend, small_toml: Path) -> None:
    shown = labspend("compare", "small.toml", "--out", "small.toml/results", "--replications", "1000000")
    assert shown.returncode == 2
    assert "small.toml/results: results cannot be written here" in shown.stderr


def test_compare_prints_a_table_and_writes_nothing_over(labspend: Labspend, small_toml: Path) -> None:
    shown = labspend("compare", "small.toml", "--policy", "trained longer", "--policy", "plain")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.index("trained longer") < shown.stdout.index("plain")
    assert f"Results: {Path('out', 'small')}" in shown.stdout
    assert "\x1b" not in shown.stdout
    again = labspend("compare", "small.toml", "--quiet")
    assert (again.returncode, again.stdout, again.stderr) == (0, f"{Path('out', 'small-2')}\n", "")
    for folder in ("out/small", "out/small-2"):
        assert (small_toml.parent / folder / "summary.csv").exists()
        assert (small_toml.parent / folder / "scenario.toml").exists()


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals there")
def test_json_is_alone_on_stdout_and_progress_is_at_the_terminal(small_toml: Path) -> None:
    words = [sys.executable, "-m", "simulator", "compare", "small.toml", "--json", "--replications", "3", "--seed", "4"]
    ours, theirs = os.openpty()
    with subprocess.Popen(
        words,
        cwd=small_toml.parent,
        env={**environment(), "NO_COLOR": "1", "TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as process:
        os.close(theirs)
        stderr = read_to_the_end(ours)
        stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Comparing" in stderr
    assert b"\x1b[3" not in stderr, "NO_COLOR is honoured"
    rows = json.loads(stdout, parse_constant=not_json)
    assert [row["policy"] for row in rows] == ["plain", "trained longer"]
    resolved = load_study(small_toml.parent / "out" / "small" / "scenario.toml")
    assert resolved == load_study(small_toml, replications=3, seed=4)


def read_to_the_end(terminal: int) -> bytes:
    shown = b""
    try:
        while more := os.read(terminal, 65536):
            shown += more
    except OSError:
        pass  # Linux says so when the other side is gone
    os.close(terminal)
    return shown


def not_json(constant: str) -> object:
    raise AssertionError(f"{constant} is not JSON")


# --- Ctrl-C ---------------------------------------------------------------------------------------------


@pytest.fixture
def endless(small_toml: Path) -> Iterator[subprocess.Popen[str]]:
    """A comparison that would take hours, on two workers, in a process group of its own as a terminal makes it."""
    words = [sys.executable, "-m", "simulator", "compare", "small.toml", "--workers", "2", "--replications", "1000000"]
    process = subprocess.Popen(
        words,
        cwd=small_toml.parent,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent another way there")
def test_ctrl_c_in_the_middle_is_status_130_and_keeps_what_is_done(
    endless: subprocess.Popen[str], small_toml: Path
) -> None:
    folder = small_toml.parent / "out" / "small"
    deadline = time.monotonic() + 60
    while not list(folder.glob(".unfinished/part-*0")) and time.monotonic() < deadline and endless.poll() is None:
        time.sleep(0.05)
    os.killpg(endless.pid, signal.SIGINT)
    stdout, stderr = endless.communicate(timeout=30)
    assert endless.returncode == 130, stderr
    assert stdout == ""
    first, second = stderr.strip().splitlines()
    assert re.fullmatch(r"Interrupted: \d+ of 1000000 worlds are kept in out/small\. To go on:", first)
    words = "labspend compare small.toml --workers 2 --replications 1000000 --out out/small --resume"
    assert second == f"  {words}"
    assert [path.name for path in folder.iterdir()] == [".unfinished"]


def test_an_interrupt_before_anything_is_done_leaves_nothing(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simulator.cli.compare._live_on", stop)
    out = small_toml.parent / "results"
    assert main(["compare", str(small_toml), "--out", str(out)]) == 130
    assert capsys.readouterr().err == ("Interrupted: nothing was written. The same command gives the same results.\n")
    assert not out.exists()


@pytest.mark.parametrize("words", [("compare", "--policy", "all-reserve"), ("check", "--set", "policy=[]")])
def test_a_policy_that_does_not_suit_the_market_is_found_before_the_run(
    labspend: Labspend, small_toml: Path, words: tuple[str, ...]
) -> None:
    shown = labspend(words[0], "small.toml", *words[1:])  # the market has no leases
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "small.toml:14: market.commitment: must offer " in shown.stderr
    assert ", for 'all-reserve'" in shown.stderr
    assert "or name the policies to compare in [study] policies or with --policy" in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not (small_toml.parent / "out").exists()


def test_what_only_the_run_finds_is_one_message(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise Misplaced("market.commitment", "must be", "none")

    monkeypatch.setattr(RentOnDemand, "review", refuse)
    assert main(["compare", str(small_toml), "--out", str(small_toml.parent / "out")]) == 2
    assert "market.commitment: must be (got none); in policy 'plain', seed 7, replication 0" in capsys.readouterr().err
    assert not (small_toml.parent / "out").exists()


def test_an_interrupt_while_drawing_keeps_the_worlds(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(comparison: object, folder: Path) -> None:
        (folder / "difference.png").touch()
        raise KeyboardInterrupt

    out = small_toml.parent / "results"
    words = ["compare", str(small_toml), "--out", str(out)]
    with monkeypatch.context() as patch:
        patch.setattr("simulator.show.plots.save_plots", stop)
        assert main(words) == 130
    assert f"Interrupted: 2 of 2 worlds are kept in {out}. To go on:" in capsys.readouterr().err
    assert main([*words, "--resume", "--quiet"]) == 0
    assert (out / "difference.png").stat().st_size > 0
    assert not (out / ".unfinished").exists()


def test_a_full_disk_is_status_1_and_the_study_goes_on(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(comparison: object, folder: Path) -> None:
        raise OSError(28, "No space left on device", "summary.csv")

    out = small_toml.parent / "results"
    words = ["compare", str(small_toml), "--out", str(out)]
    with monkeypatch.context() as patch:
        patch.setattr("simulator.show.plots.save_plots", fail)
        assert main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: summary.csv: No space left on device\n2 of 2 worlds are kept in ")
    assert said.rstrip().endswith("--resume")
    assert main([*words, "--resume", "--quiet"]) == 0


def test_the_module_is_the_command() -> None:
    assert (PROJECT / "simulator" / "__main__.py").read_text(encoding="utf-8").count(
        "from simulator.cli import main"
    ) == 1


# explain ---------------------------------------------------------------------------------------------------------


def test_a_decision_is_explained(labspend: Labspend) -> None:
    shown = labspend("explain", "known_demand", "--policy", "overtrain")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "the model: decided 2026-01-01 by overtrain" in shown.stdout
    assert "none: compute-optimal" in shown.stdout
    assert "32.8B" in shown.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("known_demand", "--date", "2027-01-01"), "decides no release on or after 2027-01-01"),
        (("known_demand", "--policy", "overtrane"), "did you mean 'overtrain'?"),
        (("known_demand", "--date", "soon"), "does not match the format"),
        (
            ("frontier_lab", "--set", "policy=[{name='x', recipe={levers=['distil']}}]"),
            "levers: need a [distillation] table to use this one",
        ),
    ],
)
def test_what_cannot_be_explained_is_told(labspend: Labspend, words: tuple[str, ...], says: str) -> None:
    shown = labspend("explain", *words)
    assert shown.returncode == 2
    assert says in shown.stderr
    assert "Traceback" not in shown.stderr
