"""The command line on studies that are stopped, resumed, split and merged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.cli import main
from simulator.study import journal

Captured = pytest.CaptureFixture[str]


def results(folder: Path) -> dict[str, object]:
    """Every file; of the manifest all but the command."""
    found: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name[0] != "."}
    manifest = json.loads((folder / "manifest.json").read_text())
    return {**found, "manifest.json": {**manifest, "command": ""}}


def compare(small_toml: Path, out: Path, *words: str) -> int:
    return main(["compare", str(small_toml), "--replications", "3", "--out", str(out), "--quiet", *words])


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take most of the time, and follow from the rest."""
    monkeypatch.setattr("simulator.show.plots.save_plots", lambda *_: None)


@pytest.fixture
def whole(small_toml: Path, tmp_path: Path) -> Path:
    assert compare(small_toml, tmp_path / "whole") == 0
    return tmp_path / "whole"


def stop_after(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C when so many parts are on disk, each world being one."""
    monkeypatch.setattr(journal, "SAVE_SECONDS", 0.0)
    take = journal.Journal.take

    def stopping(self: journal.Journal, part: object) -> None:
        if self.n_saved == n:
            raise KeyboardInterrupt
        take(self, part)  # type: ignore[arg-type]

    monkeypatch.setattr(journal.Journal, "take", stopping)


def test_the_command_it_names_ends_with_the_same_bytes(
    small_toml: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    out = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        stop_after(2, patch)
        assert compare(small_toml, out) == 130
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"Interrupted: 2 of 3 worlds are kept in {out}. To go on:"
    assert main(told[1].split()[1:]) == 0
    assert results(out) == results(whole)


def test_resume_starts_where_there_is_nothing_and_ends_where_all_is_done(
    small_toml: Path, whole: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "again"
    assert compare(small_toml, out, "--resume") == 0
    assert results(out) == results(whole)
    capsys.readouterr()
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert compare(small_toml, out, "--resume") == 0
    assert capsys.readouterr().err == f"{out}: is finished.\n"
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before


def test_shards_merge_into_the_whole(small_toml: Path, whole: Path, tmp_path: Path, capsys: Captured) -> None:
    for number in (1, 2):
        assert compare(small_toml, tmp_path / str(number), "--shard", f"{number}/2") == 0
        assert compare(small_toml, tmp_path / str(number), "--shard", f"{number}/2", "--resume") == 0, "is finished"
    folders = [str(tmp_path / "2"), str(tmp_path / "1")]
    assert main(["merge", *folders, "--out", str(tmp_path / "merged"), "--quiet"]) == 0
    assert results(tmp_path / "merged") == results(whole)
    capsys.readouterr()
    assert main(["merge", folders[0], "--out", str(tmp_path / "half")]) == 2
    assert "shards are missing: 1/2" in capsys.readouterr().err
    assert not (tmp_path / "half").exists()


def test_a_shard_is_stopped_and_gone_on_with(
    small_toml: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stop_after(1, patch)
        assert compare(small_toml, tmp_path / "2", "--shard", "2/2") == 130
    assert compare(small_toml, tmp_path / "2", "--shard", "2/2", "--resume") == 0
    assert compare(small_toml, tmp_path / "1", "--shard", "1/2") == 0
    assert main(["merge", str(tmp_path / "1"), str(tmp_path / "2"), "--out", str(tmp_path / "m"), "--quiet"]) == 0
    assert results(tmp_path / "m") == results(whole)


def test_paths_are_kept_only_when_asked(small_toml: Path, whole: Path, tmp_path: Path) -> None:
    assert compare(small_toml, tmp_path / "paths", "--paths") == 0
    with_paths, without = results(tmp_path / "paths"), results(whole)
    assert set(with_paths) - set(without) == {"paths.parquet"}
    assert all(with_paths[name] == without[name] for name in set(without) - {"manifest.json"})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--resume",), "--resume needs --out DIR, the folder to go on in"),
        (("--shard", "3"), "--shard '3': must be one part of so many, as 3/10"),
        (("--shard", "1/9"), "shard 1/9: has nothing to do, of 2 replications"),
        (("--cluster", "dask", "--scheduler", "tcp://x"), "name one of them"),
        (("--cluster", "ray"), "'ray' is not 'dask'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(small_toml.parent)
    assert main(["compare", str(small_toml), *words]) == 2
    assert said in capsys.readouterr().err
    assert not (small_toml.parent / "out").exists()


def test_the_folder_of_another_seed_is_refused(
    small_toml: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    with monkeypatch.context() as patch:
        stop_after(1, patch)
        compare(small_toml, tmp_path / "begun")
    capsys.readouterr()
    for folder, said in ((tmp_path / "begun", "made with seed 7, this is seed 8"), (whole, "results of another study")):
        assert compare(small_toml, folder, "--resume", "--seed", "8") == 2
        assert said in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert compare(small_toml, tmp_path / "mine", "--resume") == 2
    assert "holds no study that could go on" in capsys.readouterr().err
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


def test_without_dask_it_says_how_to_get_it(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert compare(small_toml, tmp_path / "dask", "--cluster", "dask") == 2
    assert "Dask is not installed: pip install 'labspend[cluster]'" in capsys.readouterr().err
    assert not (tmp_path / "dask").exists()
