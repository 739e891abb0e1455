from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from small_study import BUY, CAPPED, RENT, RESERVE, growing_lab

from simulator.lab.forecast import Forecast
from simulator.lab.observation import Observation
from simulator.lab.orders import Order
from simulator.lab.procurement import ReserveBase
from simulator.study import store
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.files import load_study
from simulator.study.frames import frame
from simulator.study.price_book import PriceRow, price_book
from simulator.study.store import load, save

POLICIES = (RENT, RESERVE, BUY, CAPPED)
STUDY_TEXT = 'title = "growing lab"\n'


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), POLICIES, replications=3)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_saved_comes_back(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path / "new" / "results", command="labspend compare x", study_text=STUDY_TEXT)
    stored = load(tmp_path / "new" / "results")
    assert stored.scenario_text == STUDY_TEXT
    pairs = (
        (stored.replications, comparison.replications_table),
        (stored.daily, comparison.daily_table),
        (stored.releases, comparison.releases_table),
        (stored.orders, comparison.orders_table),
        (stored.price_book, frame(price_book(comparison.scenario), PriceRow)),
        (stored.summary, comparison.summary()),
    )
    for found, kept in pairs:
        pd.testing.assert_frame_equal(found, kept, check_dtype=False, rtol=1e-12)


def test_equal_studies_make_equal_bytes(comparison: Comparison, tmp_path: Path) -> None:
    spread = compare(growing_lab(), POLICIES, replications=3, workers=2)
    for name, study in (("one", comparison), ("two", spread)):
        save(study, tmp_path / name, command="the same", study_text=STUDY_TEXT)
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_the_manifest_tells_where_numbers_come_from(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path, command="labspend compare x", study_text=STUDY_TEXT)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["replications"] == 3
    assert manifest["command"] == "labspend compare x"
    assert [policy["name"] for policy in manifest["policies"]] == ["rent", "reserve", "buy", "capped"]
    assert set(manifest["versions"]) >= {"labspend", "python", "numpy", "simpy", "pandas"}
    assert "price_book" not in manifest, "prices are told once, in a file"
    assert "price_book.csv" in manifest["sha256"]
    for name, digest in manifest["sha256"].items():
        assert sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert set(manifest["sha256"]) == set(files(tmp_path)) - {"manifest.json"}


def test_the_price_book_is_a_table_of_dated_prices(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path)
    first, second = (tmp_path / "price_book.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert first == "price,item,date,quoted,paid,unit,source"
    quote = comparison.scenario.market.quote[0]
    usd = quote.on_demand_usd_per_gpu_hour
    assert second == f"on-demand,{quote.accelerator},2026-01-01,{usd},{usd},USD/GPU-hour,a test"


def test_nothing_is_written_over(comparison: Comparison, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not empty, and nothing is written over"):
        save(comparison, tmp_path)
    assert files(tmp_path) == {"mine.txt": b"mine"}


def test_a_crash_leaves_no_half_folder(comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(table: pd.DataFrame, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write_parquet", full)
    with pytest.raises(OSError, match="No space left"):
        save(comparison, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_by_default_the_scenario_is_written_from_the_comparison(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path)
    again = load_study(tmp_path / "scenario.toml")
    assert (again.scenario, again.policies) == (comparison.scenario, comparison.policies)
    assert (again.seed, again.replications) == (1, 3)
    assert (tmp_path / "scenario.toml").read_text(encoding="utf-8") == again.text


def test_a_hand_written_policy_is_told_in_a_comment(tmp_path: Path) -> None:
    class Never(ReserveBase):
        """Signs nothing."""

        def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
            return []

    mine = replace(RENT, name="mine", procurement=Never())
    save(compare(growing_lab(120), (mine, BUY), replications=1), tmp_path / "both")
    text = (tmp_path / "both" / "scenario.toml").read_text(encoding="utf-8")
    assert "#   'mine': LeverRecipe {" in text
    assert "Never {" in text
    assert [policy.name for policy in load_study(tmp_path / "both" / "scenario.toml").policies] == ["buy"]
    save(compare(growing_lab(120), (mine,), replications=1), tmp_path / "one")
    assert "# So there are no tables of policies" in (tmp_path / "one" / "scenario.toml").read_text(encoding="utf-8")


def test_pictures_are_part_of_the_whole_or_nothing_is_there(comparison: Comparison, tmp_path: Path) -> None:
    def draw(_: Comparison, folder: Path) -> None:
        (folder / "cost.png").write_bytes(b"a picture")

    save(comparison, tmp_path / "whole", pictures=draw)
    assert "cost.png" in json.loads((tmp_path / "whole" / "manifest.json").read_text())["sha256"]

    def stop(_: Comparison, folder: Path) -> None:
        draw(_, folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save(comparison, tmp_path / "stopped", pictures=stop)
    assert list((tmp_path / "stopped").iterdir()) == []


def test_an_unfinished_folder_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no manifest\.json"):
        load(tmp_path)


def test_no_cell_is_taken_for_a_formula(tmp_path: Path) -> None:
    evil = replace(BUY, name="=1+1")
    study = compare(growing_lab(120), (evil,), replications=1)
    save(study, tmp_path)
    for name in ("summary.csv", "releases.csv", "orders.csv"):
        lines = (tmp_path / name).read_text().splitlines()
        assert all(line.startswith("'=1+1,") for line in lines[1:])
    assert load(tmp_path).orders["policy"].tolist() == ["=1+1"] * len(study.orders)


def test_csv_dates_are_iso_and_lines_end_alike_everywhere(comparison: Comparison, tmp_path: Path) -> None:
    save(comparison, tmp_path)
    text = (tmp_path / "releases.csv").read_bytes()
    assert b"\r" not in text
    assert b",2026-04-01," in text
    assert b"00:00" not in text
