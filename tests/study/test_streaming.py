from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_study import RENT, growing_lab
from streamed_study import STUDY, WORLDS, compared, files, gone_on, in_memory, placed, stopped

from simulator.lab.lab import simulate
from simulator.study import identity, journal
from simulator.study.equal_service import EqualService
from simulator.study.experiment import compare
from simulator.study.identity import NotThisStudy, Shard
from simulator.study.shards import merge
from simulator.study.stopping import Precision
from simulator.study.store import load, save
from simulator.study.streaming import Streamed, begin, finish, finish_shard, live_on, reopen

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    found = in_memory(tmp_path_factory.mktemp("expected"))
    assert {"ranks.csv", "beats.csv", "regret.csv", "break_evens.csv"} < found.keys()
    return found


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every chunk is on disk as soon as it is done."""
    monkeypatch.setattr(journal, "SAVE_SECONDS", 0.0)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chunk_size=st.integers(1, WORLDS + 1),
    threads=st.integers(0, 3),
    stops=st.lists(st.integers(0, WORLDS), max_size=3),
    shards=st.integers(1, WORLDS),
    seconds=st.sampled_from([0.0, 1000.0]),
)
def test_no_byte_depends_on_how_it_was_lived(
    expected: dict[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
    chunk_size: int,
    threads: int,
    stops: list[int],
    shards: int,
    seconds: float,
) -> None:
    """Chunks, executors, stops, how often parts are written, and shards in any order."""
    folder = tmp_path_factory.mktemp("lived")
    parts = [placed(folder / f"shard-{n}", shard=Shard(n, shards)) for n in range(1, shards + 1)]
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(max(threads, 1)) as executor:
        patch.setattr(journal, "SAVE_SECONDS", seconds)
        for study in parts:
            for stop in sorted(stops):
                stopped(study, stop, chunk_size)
            book = reopen(study) if stops else begin(study)
            live_on(study, book, executor=executor if threads else None, chunk_size=chunk_size)
            if shards == 1:
                finish(study, book)
            else:
                finish_shard(book)
    if shards == 1:
        assert files(parts[0].folder) == expected
    else:
        (folder / "whole").mkdir()
        merge([study.folder for study in reversed(parts)], folder / "whole", command=STUDY.command)
        assert files(folder / "whole") == expected


def test_two_processes_change_no_byte(expected: dict[str, bytes], tmp_path: Path) -> None:
    study = placed(tmp_path / "two")
    book = begin(study)
    live_on(study, book, workers=2, chunk_size=2)
    finish(study, book)
    assert files(study.folder) == expected


def test_row_groups_do_not_follow_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: None) -> None:
    monkeypatch.setattr("simulator.study.part_files._GROUP_ROWS", 4)
    whole = in_memory(tmp_path / "whole")
    study = placed(tmp_path / "parts")
    stopped(study, WORLDS)
    assert gone_on(study)["replications.parquet"] == whole["replications.parquet"]


def test_a_streamed_study_answers_as_one_in_memory(tmp_path: Path) -> None:
    study = placed(tmp_path / "streamed")
    book = begin(study)
    live_on(study, book)
    found = finish(study, book)
    memory = compared(WORLDS)
    assert found.summary().equals(memory.summary())
    assert found.daily_table.equals(memory.daily_table)
    assert found.most_tokens_per_parameter() == pytest.approx(memory.most_tokens_per_parameter(), rel=1e-15)
    for name in ("replications", "releases", "orders", "commitments", "replans", "fleet"):
        mine, theirs = getattr(found, f"{name}_table"), getattr(memory, f"{name}_table")
        pd.testing.assert_frame_equal(mine, theirs, check_dtype=False, rtol=1e-12)


# What is kept ----------------------------------------------------------------------------------------------------


FORKS = """
import os, random, signal, sys, time
from pathlib import Path
from dataclasses import replace
from streamed_study import STUDY
from simulator.study import journal
from simulator.study.streaming import begin, finish, is_begun, live_on, reopen

journal.SAVE_SECONDS = 0.0
folder, worlds, dice = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
study = replace(STUDY, folder=folder, replications=worlds)

def run():
    book = reopen(study) if is_begun(folder) else begin(study)
    live_on(study, book)
    finish(study, book)

def on_disk():
    parts = [path for path in folder.glob(".unfinished/part-*") if path.suffix != ".tmp"]
    return max((int(path.name[-9:]) for path in parts), default=0)

for kill in range(10):
    before = on_disk()
    child = os.fork()
    if child == 0:
        os.setsid()
        run()
        os._exit(0)
    enough = before + dice.randrange(1, 5)
    while on_disk() < enough:
        time.sleep(0.001)
    time.sleep(dice.random() * 0.02)
    os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was finished before it could be killed"
    assert on_disk() >= enough, "nothing that was on disk is lost"
    print(kill, before, on_disk(), flush=True)
run()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_ten_kills_at_random_chunks_lose_nothing(tmp_path: Path) -> None:
    worlds, folder = 100, tmp_path / "killed"
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS, folder, str(worlds), "1"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 10
    save(compared(worlds), tmp_path / "never", command=STUDY.command)
    assert files(folder) == files(tmp_path / "never")


def test_only_the_newest_part_holds_the_days(tmp_path: Path, at_once: None) -> None:
    study = placed(tmp_path / "parts")
    stopped(study, 5)
    parts = sorted((study.folder / ".unfinished").glob("part-*"))
    assert [part.name for part in parts] == [f"part-{n:09}-{n + 1:09}" for n in range(5)]
    assert [(part / "days.npz").exists() for part in parts] == [False] * 4 + [True]


def test_a_full_disk_leaves_what_was_written(
    expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: None
) -> None:
    study, to_disk = placed(tmp_path / "full"), journal.to_disk

    def full(path: Path) -> None:
        if len(list((tmp_path / "full" / ".unfinished").glob("part-*"))) > 3:
            raise OSError(28, "No space left on device", str(path))
        to_disk(path)

    monkeypatch.setattr(journal, "to_disk", full)
    with pytest.raises(OSError, match="No space left"):
        live_on(study, begin(study))
    monkeypatch.setattr(journal, "to_disk", to_disk)
    assert not list(study.folder.glob(".unfinished/*.tmp"))
    assert reopen(study).n_saved == 3
    assert gone_on(study) == expected


def test_a_crash_while_results_are_made_loses_no_world(expected: dict[str, bytes], tmp_path: Path) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("no ink")

    study = placed(tmp_path / "drawn")
    book = begin(study)
    live_on(study, book)
    with pytest.raises(RuntimeError, match="no ink"):
        finish(study, book, crash)
    assert [path.name for path in study.folder.iterdir()] == [".unfinished"]
    assert gone_on(study) == expected


# Foreign and damaged folders -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda study: replace(study, seed=4), "made with seed 3, this is seed 4"),
        (lambda study: replace(study, replications=8), "of 7 replications, this of 8"),
        (lambda study: replace(study, policies=study.policies[:2]), "its policies are others: buy "),
        (lambda study: replace(study, policies=study.policies[::-1]), "in another order, not in this order"),
        (lambda study: replace(study, scenario=growing_lab(91)), "its scenario is another one"),
        (lambda study: replace(study, keeps_paths=True), "keeps every path"),
        (lambda study: replace(study, equal_service=EqualService(0.02, 4.0)), "late_tolerance_days 3.0, not late_tol"),
        (
            lambda study: replace(study, until=Precision(0.01)),
            "a fixed number of worlds, this worlds until",
        ),
        (lambda study: replace(study, shard=Shard(1, 2)), "it is shard 1/1, this is 1/2"),
    ],
)
def test_the_folder_of_another_study_is_refused(
    tmp_path: Path, at_once: None, change: Callable[[Streamed], Streamed], said: str
) -> None:
    study = placed(tmp_path / "mine")
    stopped(study, 2)
    with pytest.raises(NotThisStudy, match="holds another study") as refused:
        reopen(change(study))
    assert said in str(refused.value)
    assert reopen(study).n_saved == 2, "nothing was touched"


def test_the_folder_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: None
) -> None:
    study = placed(tmp_path / "old")
    stopped(study, 2)
    monkeypatch.setattr(identity, "__version__", "9.9.9")
    with pytest.raises(NotThisStudy, match=r"it was made by labspend 0\.\d+\.\d+, this is labspend 9\.9\.9"):
        reopen(study)


def rewrite(key: str, value: object) -> Callable[[Path], object]:
    def change(work: Path) -> None:
        told = json.loads((work / "study.json").read_text())
        (work / "study.json").write_text(json.dumps({**told, key: value}))

    return change


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda work: (work / "study.json").unlink(), r"holds no study that could go on \(no study\.json\)"),
        (lambda work: (work / "study.json").write_bytes(b"\xff{"), r"study\.json: is damaged"),
        (rewrite("seed", "many"), r"study\.json: is damaged: seed: Input should be a valid integer"),
        (lambda work: (work / "part-000000001-000000002").rename(work / "x"), "replications 1 to 1 are missing"),
        (lambda work: (work / "part-000000000-000000001").rename(work / "x"), "does not begin with replication 0"),
        (lambda work: (work / "part-000000002-000000003" / "days.npz").write_bytes(b"PK"), r"days\.npz: is damaged"),
        (lambda work: (work / "part-000000002-000000003" / "days.npz").unlink(), r"days\.npz: is missing"),
        (lambda work: np.save(work / "part-000000000-000000001" / "scalars.npy", np.ones(3)), "does not hold the runs"),
        (lambda work: (work / "part-000000000-000000001" / "scalars.npy").write_bytes(b"x"), r"scalars\.npy: is dama"),
    ],
)
def test_a_damaged_folder_is_told(tmp_path: Path, at_once: None, damage: Callable[[Path], object], said: str) -> None:
    study = placed(tmp_path / "mine")
    stopped(study, 3)
    damage(study.folder / ".unfinished")
    with pytest.raises(NotThisStudy, match=said):
        reopen(study)


def test_days_of_a_larger_study_are_not_taken(tmp_path: Path, at_once: None) -> None:
    study, other = placed(tmp_path / "mine"), placed(tmp_path / "other", policies=(RENT,))
    stopped(study, 2)
    stopped(other, 2)
    name = ".unfinished/part-000000001-000000002/days.npz"
    (study.folder / name).write_bytes((other.folder / name).read_bytes())
    with pytest.raises(NotThisStudy, match="must have 3 policies"):
        reopen(study)


def test_a_finished_folder_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    study = placed(tmp_path / "done")
    book = begin(study)
    live_on(study, book)
    finish(study, book)
    with pytest.raises(NotThisStudy, match="is finished"):
        reopen(study)
    assert load(study.folder).replications["replication"].nunique() == WORLDS


# Paths -----------------------------------------------------------------------------------------------------------


def test_paths_are_those_of_each_run_lived_again(tmp_path: Path, at_once: None) -> None:
    study = placed(tmp_path / "paths", keeps_paths=True)
    stopped(study, 3)
    book = reopen(study)
    live_on(study, book, chunk_size=2)
    finish(study, book)
    paths = pd.read_parquet(study.folder / "paths.parquet")
    assert list(paths.columns[:3]) == ["policy", "replication", "date"]
    assert len(paths) == WORLDS * 3 * 90
    run = simulate(STUDY.scenario, STUDY.policies[2], STUDY.seed, 4)
    one = paths[(paths["policy"] == "buy") & (paths["replication"] == 4)]
    assert one["date"].tolist() == list(pd.date_range("2026-01-01", periods=90))
    np.testing.assert_allclose(one["served_tokens"], run.used.served_tokens, rtol=1e-6)
    np.testing.assert_allclose(one["purchase_usd"], run.books.cash_usd[:, 0], rtol=1e-6)
    daily = pd.read_parquet(study.folder / "daily.parquet")
    assert set(paths.columns) - set(daily.columns) == {"replication", "cumulative_cash_usd"}
    means = paths[paths["policy"] == "buy"].groupby("date")["on_demand_usd"].mean()
    np.testing.assert_allclose(means, daily.loc[daily["policy"] == "buy", "on_demand_usd"], rtol=1e-5)

    in_one_go = placed(tmp_path / "one", keeps_paths=True)
    book = begin(in_one_go)
    live_on(in_one_go, book)
    finish(in_one_go, book)
    assert files(in_one_go.folder) == files(study.folder)


# Until differences are known -------------------------------------------------------------------------------------


RULE = 0.0025


@pytest.fixture(scope="module")
def enough() -> tuple[int, Precision]:
    """How many worlds the rule takes in memory, from 16 on."""
    rule = Precision(RULE)
    found = compare(
        STUDY.scenario,
        STUDY.policies,
        replications=16,
        seed=STUDY.seed,
        equal_service=STUDY.equal_service,
        more=rule,
    )
    assert len(rule.rounds) > 1
    return found.replications, rule


@pytest.mark.parametrize("stops", [(), (10,), (16, 17), (20, 29)])
def test_rounds_end_with_the_study_of_as_many_worlds(
    enough: tuple[int, Precision], tmp_path: Path, at_once: None, stops: tuple[int, ...]
) -> None:
    n, rule = enough
    for stop in stops:
        stopped(placed(tmp_path / "until", until=Precision(RULE)), stop, chunk_size=3)
    study = placed(tmp_path / "until", until=Precision(RULE))
    book = reopen(study) if stops else begin(study)
    live_on(study, book, chunk_size=5)
    finish(study, book)
    assert study.until is not None
    assert study.until.rounds == rule.rounds
    save(compared(n), tmp_path / "plain", command=STUDY.command)
    assert files(study.folder) == files(tmp_path / "plain")


def test_two_processes_live_all_rounds(enough: tuple[int, Precision], tmp_path: Path) -> None:
    study = placed(tmp_path / "two", until=Precision(RULE))
    book = begin(study)
    live_on(study, book, workers=2)
    assert finish(study, book).replications == enough[0]
    save(compared(enough[0]), tmp_path / "plain", command=STUDY.command)
    assert files(study.folder) == files(tmp_path / "plain")


def test_another_rule_is_another_study(tmp_path: Path, at_once: None) -> None:
    stopped(placed(tmp_path / "until", until=Precision(RULE)), 3)
    with pytest.raises(NotThisStudy, match=r"it draws worlds until .* 0\.0025, 10000 at most, this .* 0\.003"):
        reopen(placed(tmp_path / "until", until=Precision(0.003)))


def test_a_shard_cannot_know_when_it_is_enough(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a shard knows only its own worlds"):
        begin(placed(tmp_path / "shard", until=Precision(RULE), shard=Shard(1, 2)))
