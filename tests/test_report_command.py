"""`labspend report`: made again beside the first, with sliders; nothing written over, nothing half written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy
import pytest
from conftest import SMALL_SCENARIO
from report_page import page_of

from simulator.cli import main

Captured = pytest.CaptureFixture[str]
FEW = ("--slide", "growth=0.5,1", "--slide", "market.rental_fall_per_year=0:0.2:2")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results without pictures: they take most of the time."""
    home = tmp_path_factory.mktemp("made")
    (home / "small.toml").write_text(SMALL_SCENARIO, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simulator.show.plots.save_plots", lambda *_: None)
        assert main(["compare", str(home / "small.toml"), "--out", str(home / "r"), "--quiet"]) == 0
    return home / "r"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of them to write to."""
    shutil.copytree(made, tmp_path / "r")
    return tmp_path / "r"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_compare_writes_it_and_report_writes_another(made: Path, folder: Path, capsys: Captured) -> None:
    before = files(folder)
    assert not page_of(folder / "report.html").all("input")
    capsys.readouterr()
    assert main(["report", str(folder), *FEW]) == 0
    assert capsys.readouterr().out == f"Report: {folder / 'report-2.html'}\n"
    page = page_of(folder / "report-2.html")
    assert len(page.all("input")) == 2
    assert "lived at 4 grid points, 2 worlds each, with the luck of the table above" in page.with_id("what-if").text
    assert f"labspend compare {made.parent / 'small.toml'}" in page.with_id("provenance").text
    after = files(folder)
    assert set(after) - set(before) == {"report-2.html"}
    assert all(after[name] == before[name] for name in before)
    assert main(["report", str(folder), *FEW, "--workers", "2", "--quiet"]) == 0
    assert capsys.readouterr().out == f"{folder / 'report-3.html'}\n"
    assert files(folder)["report-3.html"] == after["report-2.html"]


def test_by_default_growth_rents_and_uncertainty_slide(folder: Path, tmp_path: Path) -> None:
    assert main(["report", str(folder), "--replications", "1", "--out", str(tmp_path / "one.html"), "--quiet"]) == 0
    page = page_of(tmp_path / "one.html")
    assert ["Growth of demand" in found.text for found in page.all("label")] == [True, False]
    assert "2 worlds" in page.with_id("provenance").text
    assert "15 grid points, 1 world each, the first of those of the table above" in page.with_id("what-if").text


def test_versions_are_those_that_made_the_results(folder: Path, tmp_path: Path) -> None:
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"numpy": "', '"numpy": "0.0.'))
    assert main(["report", str(folder), *FEW, "--out", str(tmp_path / "old.html"), "--quiet"]) == 0
    told = page_of(tmp_path / "old.html").with_id("provenance").text
    assert f"numpy0.0.{numpy.__version__}" in told
    assert re.search(rf"Sliders lived with.*numpy {re.escape(numpy.__version__)}", told)
    assert "Sliders lived with" not in page_of(folder / "report.html").with_id("provenance").text


def test_without_sliders_nothing_is_simulated(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.study.slider_grid.slider_grid", None)
    assert main(["report", str(folder), "--no-sliders", "--out", str(tmp_path / "plain.html"), "--quiet"]) == 0
    assert not page_of(tmp_path / "plain.html").all("script")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--slide", "growth"), "--slide growth: must be written KEY=VALUES"),
        (("--slide", "growth=1"), "growth: must be two values or more"),
        (("--slide", "growth=1,2", "--slide", "growth=3,4"), "--slide growth: is named twice"),
        (("--slide", "growth=1:2"), "--slide growth: a grid needs a list"),
        (("--slide", "demand.grwth_per_year=1,2"), "did you mean 'demand.growth_per_year'?"),
        (("--slide", "title=a,b"), "title: must be numbers"),
        (("--slide", "growth=1:2:150", "--slide", "market.lead_days=1:2:4"), "at most 500 points (got 600)"),
        (("--no-sliders", "--replications", "2"), "--no-sliders: simulates nothing"),
        (("--out", "there.html"), "there.html: is there, and nothing is written over"),
        (("--out", "no/such/r.html"), "r.html: cannot be written"),
    ],
)
def test_mistakes_are_told_before_anything_is_lived(
    folder: Path, words: tuple[str, ...], said: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    (folder.parent / "there.html").write_text("mine")
    before = files(folder)
    capsys.readouterr()
    assert main(["report", str(folder), *words]) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert files(folder) == before
    assert (folder.parent / "there.html").read_text() == "mine"


def test_a_folder_that_is_none_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "so it is no finished results folder" in capsys.readouterr().err


def test_ctrl_c_leaves_nothing(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = files(folder)
    monkeypatch.setattr("simulator.study.sweep.try_many", stop)
    capsys.readouterr()
    assert main(["report", str(folder), *FEW]) == 130
    assert capsys.readouterr().err == "Interrupted: nothing was written. The same command gives the same report.\n"
    assert files(folder) == before
