"""Recorded prices from a CSV file: what is read, what is said of every mistake, and the real thing."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from conftest import SMALL_SCENARIO

from simulator.study.files import ScenarioError, load_scenario, load_study
from simulator.study.meaning import meaning
from simulator.world.world import realize

ROWS = [
    "when,gpu,region,list,spot",
    "2026-05-30,H100,us,3.0,2.0",
    "2026-05-30,A100,us,1.0,0.5",
    "2026-06-10,H100,us,3.5,2.5",
    "2026-06-10,H100,us,3.5,2.5",
    "",
    "2026-07-01,H100,us,4.0,",
]
REPLAY = """
[[market.replay]]
accelerator = "H100"
csv = "data/prices.csv"
date_column = "when"
on_demand_column = "list"
where = { gpu = "H100" }
"""

Write = Callable[..., Path]


@pytest.fixture
def replayed(tmp_path: Path) -> Write:
    """The small scenario with recorded prices."""

    def write(rows: list[str] = ROWS, replay: str = REPLAY) -> Path:
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "prices.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        path = tmp_path / "replayed.toml"
        path.write_text(SMALL_SCENARIO.replace("[roadmap]", f"{replay}\n[roadmap]"), encoding="utf-8")
        return path

    return write


def complaint(path: Path, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_study(path, overrides)
    return str(caught.value)


def test_a_record_is_filled_from_its_file_and_needs_it_no_more(replayed: Write, tmp_path: Path) -> None:
    study = load_study(replayed())
    (replay,) = study.scenario.market.replay
    # A day said twice with the same price is one day; only the rows and columns asked for are read.
    assert replay.day == (date(2026, 5, 30), date(2026, 6, 10), date(2026, 7, 1))
    assert replay.on_demand_usd == (3.0, 3.5, 4.0)
    assert replay.spot_usd == replay.purchase_usd == ()
    asked = realize(study.scenario).prices.rent_path(0, study.scenario.calendar.lived_indices)
    np.testing.assert_array_equal(asked[:31], [3.0] * 9 + [3.5] * 21 + [4.0])
    said = meaning(study)
    assert "Recorded from data/prices.csv: H100 on demand, 3 prices, 2026-05-30 to 2026-07-01" in said
    (tmp_path / "data" / "prices.csv").unlink()
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(study.text, encoding="utf-8")
    assert load_study(resolved) == study


def test_a_later_word_on_what_to_read_is_obeyed(replayed: Write, tmp_path: Path) -> None:
    study = load_study(replayed())
    (tmp_path / "data" / "prices.csv").unlink()
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(study.text, encoding="utf-8")
    # The figures in the file are those of other rows: they may not be kept.
    for word in ('where={gpu="A100"}', "where.gpu=A100", "on_demand_column=spot", "csv=other.csv"):
        assert "there is no such file" in complaint(resolved, f"market.replay.0.{word}")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("2026-07-02,H100,us,,1", "list: must be a number (got '')"),
        ("2026-07-02,H100,us,nan,1", "list: must be a finite number (got nan)"),
        ("2026-07-02,H100,us,1e999,1", "list: must be a finite number (got 1e999)"),
        ("2026-07-02,H100,us,0,1", "list: must be greater than 0 (got 0)"),
        ("2026-07-02,H100,us,-1,1", "list: must be greater than 0 (got -1)"),
        ("2026-07-01,H100,us,5.0,1", "when: a day has one price (got 2026-07-01 again); does `where` mix products?"),
        ("2026-06-30,H100,us,5.0,1",
         "when: days must be in order (got 2026-06-30 after 2026-07-01); does `where` mix products?"),
        ("01.07.2026,H100,us,5.0,1", "when: must be a day like 2026-06-01 (got '01.07.2026')"),
        ("2026-07-02,H100,us,5.0", "has 4 cells where the header has 5"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_file_row_and_value(replayed: Write, tmp_path: Path, row: str, said: str) -> None:
    lines = complaint(replayed([*ROWS, row])).splitlines()
    assert "market.replay.0.csv: cannot be used:" in lines[0]
    assert lines[1] == f"{tmp_path / 'data' / 'prices.csv'}:8: {said}"


def test_rows_not_asked_for_may_be_anything(replayed: Write) -> None:
    rows = [*ROWS, "soon,A100,us,free,"]
    assert load_study(replayed(rows)).scenario.market.replay[0].on_demand_usd == (3.0, 3.5, 4.0)


def test_columns_and_rows_that_are_not_there_are_told_with_those_that_are(replayed: Write) -> None:
    path = replayed()
    said = complaint(path, "market.replay.0.on_demand_column=lists")
    assert "prices.csv:1: has no column 'lists'; it has when, gpu, region, list, spot; did you mean 'list'?" in said
    assert "has no column 'gpus'" in complaint(path, 'market.replay.0.where={gpus="H100"}')
    said = complaint(path, 'market.replay.0.where={gpu="H10", region="us"}')
    assert "has no row where gpu = 'H10' and region = 'us'; gpu is 'H100', 'A100' (did you mean 'H100'?)" in said
    assert "is empty: it needs a row per price" in complaint(replayed(ROWS[:1]))


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("accelerator=H10", "market.replay.0.accelerator: is not known; there are H100 (got 'H10'); did you mean"),
        ("where={gpu=8}", 'market.replay.0.where.gpu: must be text, written "in quotes" (got 8)'),
        ("csv=3", 'market.replay.0.csv: must be text, written "in quotes" (got 3)'),
        ("spot=1", "market.replay.0.spot: is not a known key (got 1); did you mean 'spot_usd'?"),
    ],
)
def test_a_wrong_key_of_a_record_is_told(replayed: Write, override: str, said: str) -> None:
    assert said in complaint(replayed(), f"market.replay.0.{override}")


def test_a_record_of_nothing_is_told(replayed: Write) -> None:
    columnless = REPLAY.replace('on_demand_column = "list"\n', "")
    assert "needs a price: name the on_demand_column, spot_column" in complaint(replayed(replay=columnless))
    fileless = REPLAY.replace('csv = "data/prices.csv"\n', "")
    assert "market.replay.0.day: is missing: name a csv, or write out day and on_demand_usd" in complaint(
        replayed(replay=fileless)
    )


@pytest.mark.parametrize(("year", "is_inside"), [(2020, False), (2026, True), (2029, False)])
def test_a_record_outside_the_world_is_refused(replayed: Write, year: int, is_inside: bool) -> None:
    path = replayed([row.replace("2026-", f"{year}-") for row in ROWS])
    if is_inside:
        assert load_study(path).scenario.market.replay[0].day[0].year == year
    else:
        said = complaint(path)
        assert "market.replay.0: must hold days between 56 before the start and the horizon" in said
        assert f"(got {year}-05-30 to {year}-07-01)" in said


@pytest.mark.parametrize(
    ("region", "first", "low", "last"),
    [("us-central1", 7.7435, 2.5457, 6.3262), ("europe-west4", 9.8581, 2.5511, 5.5148)],
)
def test_the_h100s_two_years_on_spot_from_the_real_record(
    tmp_path: Path, region: str, first: float, low: float, last: float
) -> None:
    # Google Cloud's list, from the history of Cyclenerd/google-cloud-pricing-cost-calculator (Apache-2.0).
    default = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    record = Path(os.environ.get("LABSPEND_DATA", default)) / "gpu_gcp_price_history.csv"
    if not record.is_file():
        pytest.skip(f"price history not found: {record.name} (set LABSPEND_DATA to the data folder)")
    path = tmp_path / "gcp.toml"
    replay = f"""
[[market.replay]]
accelerator = "H100"
csv = "{record.as_posix()}"
on_demand_column = "on_demand_usd_per_gpu_hour"
spot_column = "spot_usd_per_gpu_hour"
where = {{ gpu = "H100-80GB", region = "{region}" }}
"""
    text = SMALL_SCENARIO.replace("2026-06-01", "2024-05-17", 1).replace("horizon_days = 200", "horizon_days = 900")
    path.write_text(text.replace("[roadmap]", f"{replay}\n[roadmap]"), encoding="utf-8")
    scenario = load_scenario(path, ["market.spot_noise_sigma=0.35", "market.rental_noise_sigma=0.1"])
    prices, lived = realize(scenario).prices, scenario.calendar.lived_indices
    spot, asked = prices.spot_path(0, lived), prices.rent_path(0, lived)
    days = {day: (day - date(2024, 5, 17)).days for day in (date(2024, 5, 17), date(2026, 7, 30))}
    end = days[date(2026, 7, 30)]
    assert (spot[0], spot[: end + 1].min(), spot[end]) == (first, low, last)
    # It more than halved, then more than doubled, while the list did not move; then the model goes on from there.
    assert spot[:end].argmin() in range(450, 600)
    assert np.ptp(asked[30 : end + 1]) == 0.0
    assert asked[30] == pytest.approx({"us-central1": 11.0612, "europe-west4": 14.0676}[region])
    assert 0.0 < abs(np.log(spot[end + 1] / last)) < 5 * 0.35 * np.sqrt(2 * np.log(2) / 180) + 0.05
