"""The workbook: its formulas, worked out again by another program, say what the store says, to the cent."""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from recalculated import Values, formula_cells, opened, recalculated
from small_study import BUY, RENT, RESERVE, growing_lab
from streamed_study import STUDY, compared, placed

from simulator.lab.accounts import CLOSING, FLOWS, OPENING, Account, Stage, Use
from simulator.lab.orders import Tenure
from simulator.show.sheet_names import policy_sheets
from simulator.show.statement_lines import ACCOUNT_LABELS
from simulator.show.workbook import save_workbook
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.identity import Shard
from simulator.study.shards import merge
from simulator.study.store import Stored, load, save
from simulator.study.streaming import begin, finish_shard, live_on
from simulator.world.currency import CurrencyInputs

EVIL = '=HYPERLINK("http://x","y")'
LONG = "buys all it can, [leases] the rest: and then / some more"
POLICIES = (RENT, replace(BUY, name=EVIL), replace(RESERVE, name=LONG), replace(RENT, name="Rent"))
SHEETS = ("rent", '=HYPERLINK("http___x","y', "buys all it can, _leases", "Rent 2")
DAYS = 430
CENT = 0.005
EURO = CurrencyInputs(code="EUR", per_usd=0.8, on=date(2026, 6, 1), source="+ECB")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scenario = growing_lab(DAYS).model_copy(update={"currency": EURO, "title": "=1+1", "question": "@who?"})
    target = tmp_path_factory.mktemp("study")
    save(compare(scenario, POLICIES, replications=3), target, pictures=save_workbook)
    return target


@pytest.fixture(scope="module")
def stored(folder: Path) -> Stored:
    return load(folder)


@pytest.fixture(scope="module")
def book(folder: Path) -> Workbook:
    return opened(folder / "workbook.xlsx")


@pytest.fixture(scope="module")
def solved(folder: Path) -> Values:
    return recalculated(folder / "workbook.xlsx")


def written(comparison: Comparison, folder: Path) -> Workbook:
    return opened(save_workbook(comparison, folder), values=True)


def row_of(book: Workbook, sheet: str, label: str, nth: int = 0) -> int:
    rows = [cell.row for cell in book[sheet]["A"] if cell.value == label]
    return rows[nth]


def test_no_formula_is_an_error_and_every_stored_value_is_what_it_comes_to(folder: Path, solved: Values) -> None:
    known = opened(folder / "workbook.xlsx", values=True)
    assert len(solved) > 500
    for (sheet, at), value in solved.items():
        kept = known[sheet][at].value
        if value == "":
            assert kept in ("", None), (sheet, at)
        else:
            assert isinstance(value, float), (sheet, at, value)
            assert kept == pytest.approx(value, abs=CENT, rel=1e-13), (sheet, at)


def test_costs_recalculated_from_months_are_those_of_the_store(book: Workbook, solved: Values, stored: Stored) -> None:
    first = row_of(book, "Summary", "rent")
    for number, cost in enumerate(stored.summary["cumulative_cost_usd"]):
        assert solved["Summary", f"B{first + number}"] == pytest.approx(cost, abs=CENT)
        assert solved[SHEETS[number], f"B{row_of(book, SHEETS[number], 'Cost, as cash')}"] == pytest.approx(
            cost, abs=CENT
        )
        assert solved[SHEETS[number], f"B{row_of(book, SHEETS[number], 'Cost, by use')}"] == pytest.approx(
            cost, abs=CENT
        )
        if number:
            paired = stored.summary["difference_usd"][number]
            assert solved["Summary", f"E{first + number}"] == pytest.approx(paired, abs=CENT)
            percent = stored.summary["difference_percent"][number]
            assert solved["Summary", f"H{first + number}"] == pytest.approx(percent / 100.0, abs=1e-9)
    off = row_of(book, "Summary", "rent", 3)
    assert [solved["Summary", f"D{off + number}"] for number in range(len(POLICIES))] == [0.0] * len(POLICIES)


def test_stages_add_up_to_the_cost(book: Workbook, solved: Values, stored: Stored) -> None:
    first = row_of(book, "Summary", "rent", 2)
    for number, policy in enumerate(POLICIES):
        own = stored.replications[stored.replications["policy"] == policy.name]
        for column, stage in zip("BCDEFGHIJ", Stage, strict=True):
            mean = own[f"stage_{stage.value}_usd"].mean()
            assert book["Summary"][f"{column}{first + number}"].value == pytest.approx(mean, abs=CENT), stage
        whole = solved["Summary", f"K{first + number}"]
        assert whole == pytest.approx(stored.summary["cumulative_cost_usd"][number], abs=CENT)


def test_every_account_and_use_is_the_mean_of_its_worlds(book: Workbook, solved: Values, stored: Stored) -> None:
    """The worlds are summed over days as they were lived, the statement over months and years."""
    for number, policy in enumerate(POLICIES):
        own, sheet = stored.replications[stored.replications["policy"] == policy.name], SHEETS[number]
        for account in Account:
            mean = own[f"cash_{account.name.lower()}_usd"].mean()
            row = row_of(book, sheet, ACCOUNT_LABELS[account])
            assert solved[sheet, f"B{row}"] == pytest.approx(mean, abs=CENT), account
        for label, accounts in (
            ("Brought in at the start", OPENING),
            ("Money that moved", FLOWS),
            ("Left at the end", CLOSING),
        ):
            mean = own[[f"cash_{account.name.lower()}_usd" for account in accounts]].sum(axis=1).mean()
            assert solved[sheet, f"B{row_of(book, sheet, label)}"] == pytest.approx(mean, abs=CENT)
        for use in Use:
            mean = own[f"{use.name.lower()}_usd"].mean()
            assert solved[sheet, f"B{row_of(book, sheet, use.name.capitalize())}"] == pytest.approx(mean, abs=CENT)
        for tenure in Tenure:
            hours = own[f"{tenure.value}_gpu_hours_held"].mean()
            row = row_of(book, sheet, f"GPU-hours {tenure.value.replace('_', ' ')}")
            assert solved[sheet, f"B{row}"] == pytest.approx(hours, rel=1e-12, abs=1e-6)
    assert any(solved[SHEETS[1], f"B{row_of(book, SHEETS[1], ACCOUNT_LABELS[a])}"] for a in CLOSING)


def test_years_are_the_months_of_the_store(book: Workbook, solved: Values, stored: Stored) -> None:
    for number, policy in enumerate(POLICIES):
        months = stored.monthly[stored.monthly["policy"] == policy.name]
        by_year = months.groupby(months["month"].dt.year)
        row = row_of(book, SHEETS[number], "On demand")
        assert [book[SHEETS[number]][f"{column}3"].value for column in "CD"] == [2026, 2027]
        found = [solved[SHEETS[number], f"{column}{row}"] for column in "CD"]
        assert found == pytest.approx(by_year["on_demand_usd"].sum().tolist(), abs=CENT)
        assert [solved[SHEETS[number], f"{column}6"] for column in "BCD"] == [DAYS, 365, DAYS - 365]
        running = row_of(book, SHEETS[number], "Money moved since the start")
        moved = row_of(book, SHEETS[number], "Money that moved")
        assert solved[SHEETS[number], f"D{running}"] == pytest.approx(solved[SHEETS[number], f"B{moved}"], abs=CENT)


def test_the_fleet_is_that_of_the_store(solved: Values, stored: Stored) -> None:
    for row, found in enumerate(stored.fleet.itertuples(), start=2):
        assert solved["Fleet", f"F{row}"] == pytest.approx(found.usd, abs=CENT)
        for column, value in (("E", found.utilization), ("G", found.usd_per_gpu_hour_held), ("J", found.idle_usd)):
            known = solved["Fleet", f"{column}{row}"]
            assert known == "" if np.isnan(value) else known == pytest.approx(value, rel=1e-9, abs=CENT)


def test_totals_stand_in_the_currency_too(book: Workbook, solved: Values, stored: Stored) -> None:
    row = row_of(book, SHEETS[1], "Cost, as cash [EUR]")
    cost = stored.summary["cumulative_cost_usd"][1]
    assert solved[SHEETS[1], f"B{row}"] == pytest.approx(0.8 * cost, abs=CENT)
    about = {book["About"][f"A{row}"].value: book["About"][f"B{row}"] for row in range(1, 12)}
    assert about["EUR per USD"].value == 0.8
    assert book.defined_names["Baseline_cost"].value == f"'Summary'!$B${row_of(book, 'Summary', 'rent')}"
    assert book.defined_names["Exchange_rate"].value == f"'About'!$B${about['EUR per USD'].row}"


def test_dates_are_dates_and_numbers_numbers(book: Workbook, stored: Stored) -> None:
    months = book["rent months"]
    assert [months.cell(3, column).value for column in (3, 4, 16)] == [
        datetime(2026, 1, 1),
        datetime(2026, 2, 1),
        datetime(2027, 2, 1),
    ]
    assert months["C3"].number_format == "mmm yyyy"
    assert [months.cell(row, 17).value for row in (3, 4, 5)] == [
        datetime(2027, 3, 1),
        datetime(2027, 3, 1),
        datetime(2027, 3, 6),
    ]
    assert months.cell(3, 18).value is None
    row = row_of(book, "rent months", "On demand")
    assert months[f"C{row}"].value == pytest.approx(stored.monthly["on_demand_usd"][0], rel=1e-15)
    assert "#,##0" in months[f"C{row}"].number_format
    assert book["Price book"]["C2"].value == datetime(2026, 1, 1)
    assert book["Price book"]["D2"].value == 2.89
    orders = list(book["Orders of world 0"].iter_rows(min_row=2, values_only=True))
    own = stored.orders.query("replication == 0")
    assert [row[5] for row in orders] == own["gpus"].tolist()
    assert [row[6] for row in orders] == [None if pd.isna(day) else day for day in own["first_date"]]
    assert {row[10] for row in orders} == set(own["reason"])


def test_assumptions_hold_numbers_units_and_sources(book: Workbook) -> None:
    rows = {row[0]: row[1:] for row in book["Assumptions"].iter_rows(min_row=2, values_only=True)}
    assert rows["market.quote.0.purchase_usd_per_gpu"][0] == 25000
    assert rows["market.quote.0.purchase_usd_per_gpu"][1] == "USD per GPU"
    assert rows["market.quote.0.purchase_usd_per_gpu"][3] == "a test"
    assert rows["start"][0] == datetime(2026, 1, 1)
    assert rows["roadmap.train_days"][:2] == (60, "days")
    assert rows[f"policy.{EVIL}.procurement.kind"][0] == "buy_to_forecast"


def test_no_text_of_a_user_is_a_formula_or_a_link(folder: Path, book: Workbook) -> None:
    allowed = re.compile(r"(SUM|IF|ROUND|MAX)?[\w$!'()+\-*/:;,.=\"& \[\]]*")
    for _, cell in formula_cells(book):
        assert "HYPERLINK(" not in re.sub(r"'[^']*'!", "", cell.value)
        assert allowed.fullmatch(re.sub(r"'[^']*'!", "", cell.value)[1:])
    assert book["Summary"][f"A{row_of(book, 'Summary', EVIL)}"].data_type == "s"
    assert book[SHEETS[1]]["A1"].value == EVIL
    assert book["About"]["A1"].value == "=1+1"
    with zipfile.ZipFile(folder / "workbook.xlsx") as archive:
        assert not [name for name in archive.namelist() if "externalLink" in name or name.endswith(".bin")]
        rels = [archive.read(name) for name in archive.namelist() if name.endswith(".rels")]
    assert not any(b'TargetMode="External"' in rel for rel in rels)


def test_it_can_be_read_and_printed(book: Workbook) -> None:
    pairs = [name for sheet in SHEETS for name in (sheet, f"{sheet} months")]
    assert book.sheetnames == ["About", "Summary", *pairs, "Assumptions", "Price book", "Fleet", "Orders of world 0"]
    for sheet in book:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
    for name in pairs:
        assert book[name].freeze_panes == "C7"
        assert book[name].print_title_rows == "$1:$6"
        assert book[name].print_title_cols == "$A:$B"
    assert len(book["Summary"]._charts) == 1
    assert len(book["rent"]._charts) == 1


def test_equal_studies_make_equal_bytes_and_nothing_is_written_over(tmp_path: Path) -> None:
    """In memory, and in shards that are merged."""
    save(compared(STUDY.replications), tmp_path / "whole", command="x", pictures=save_workbook)
    parts = []
    for number in (1, 2):
        study = placed(tmp_path / f"part-{number}", shard=Shard(number, 2))
        journal = begin(study)
        live_on(study, journal, chunk_size=number)
        finish_shard(journal)
        parts.append(study.folder)
    (tmp_path / "merged").mkdir()
    merge(parts[::-1], tmp_path / "merged", command="x", pictures=save_workbook)
    one, other = ((tmp_path / name / "workbook.xlsx").read_bytes() for name in ("whole", "merged"))
    assert one == other
    with pytest.raises(FileExistsError, match="is there already, and nothing is written over"):
        save_workbook(compared(1), tmp_path / "whole")
    assert (tmp_path / "whole" / "workbook.xlsx").read_bytes() == one


def test_one_policy_for_less_than_a_month(tmp_path: Path) -> None:
    book = written(compare(growing_lab(10), (RENT,), replications=1), tmp_path)
    assert book["rent months"]["C3"].value == datetime(2026, 1, 1)
    assert book["rent months"]["D3"].value is None
    assert book["rent"]["C3"].value == 2026
    assert [book["rent"][f"{column}6"].value for column in "BC"] == [10, 10]
    assert not any(str(cell.value).startswith("#") for _, cell in formula_cells(book))


def test_a_leap_year_from_the_middle_of_a_month(tmp_path: Path) -> None:
    lab = growing_lab(400).model_dump() | {"start": date(2027, 12, 15), "roadmap": {"target_flop": 1e23}}
    book = written(compare(type(growing_lab()).model_validate(lab), (RENT,), replications=1), tmp_path)
    months = book["rent months"]
    assert [months.cell(row, 3).value for row in (4, 5, 6)] == [datetime(2027, 12, 15), datetime(2027, 12, 31), 17]
    assert [months.cell(row, 5).value for row in (4, 5, 6)] == [datetime(2028, 2, 1), datetime(2028, 2, 29), 29]
    assert [book["rent"][f"{column}6"].value for column in "BCDE"] == [400, 17, 366, 17]


def test_days_that_spreadsheets_cannot_count_are_told_as_text(tmp_path: Path) -> None:
    lab = growing_lab(40).model_dump() | {"start": date(1899, 12, 20), "roadmap": {"target_flop": 1e23}}
    book = written(compare(type(growing_lab()).model_validate(lab), (RENT,), replications=1), tmp_path)
    assert [book["rent months"][f"C{row}"].value for row in (4, 5, 6)] == ["1899-12-20", "1899-12-31", 12]
    assert [book["rent"][f"{column}6"].value for column in "BCD"] == [40, 12, 28]


@settings(max_examples=40)
@given(st.lists(st.text(min_size=1, max_size=50), min_size=1, max_size=6, unique=True))
def test_names_of_sheets_are_valid_and_unique(names: list[str]) -> None:
    """The rules of Excel: 1 to 31 units of UTF-16, none of []:*?/\\, no quote at an end, unlike but for capitals."""
    made = [name for pair in policy_sheets(names, ["Summary", "Fleet"]) for name in (pair.years, pair.months)]
    for name in made:
        assert 1 <= len(name.encode("utf-16-le")) // 2 <= 31
        assert not set("[]:*?/\\'") & set(name)
        assert not set(map(chr, range(32))) & set(name)
        assert name.casefold() not in ("history", "summary", "fleet")
    assert len({name.lower() for name in made}) == len(made)


def test_policies_that_only_differ_late_or_in_capitals_get_sheets_of_their_own() -> None:
    same = ["x" * 40 + "a", "x" * 40 + "b", "X" * 40, "History", "a", "a months"]
    assert [pair.years for pair in policy_sheets(same, [])] == [
        "x" * 24,
        "x" * 22 + " 2",
        "X" * 22 + " 3",
        "History 2",
        "a",
        "a months 2",
    ]
