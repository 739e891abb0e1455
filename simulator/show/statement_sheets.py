"""Two sheets per policy: the statement by calendar month, and by year, whose every cell adds up months."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

from simulator.lab.accounts import FLOWS
from simulator.laws.units import FloatArray, IntArray
from simulator.show.sheet_names import SheetPair
from simulator.show.statement_lines import Amount, Layout, Line
from simulator.show.style import PETROFF
from simulator.show.workbook_cells import (
    FIGURES,
    HEADER,
    MONTH,
    NOTE,
    PLAIN,
    Book,
    Look,
    Sheet,
    can_be_counted,
    cell,
    fixed,
    letters,
    money_number,
    money_width,
)

TOTAL_COLUMN, FIRST_PERIOD = 1, 2
FIRST_LINE = 6
"""Below the title, a note, the periods, their first and last day, and how many days they have."""
_MONTHS_A_PAGE = 6
_LABEL_WIDTH = 42.0
_Formulas = Callable[[int], Sequence[str]]
"""Of a row, by period; empty ones where there are numbers."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one policy cost, mean over worlds: figures [line, period] and where they are."""

    policy: str
    sheets: SheetPair
    layout: Layout
    first_days: Sequence[date]
    """Of every month, then the day after the last."""
    year_starts: IntArray
    """The number of the month with which each calendar year begins."""
    months: FloatArray
    years: FloatArray
    total: FloatArray
    """[line, 1]"""

    @property
    def largest_usd(self) -> float:
        """Of any amount of money in it."""
        return float(np.abs(self.years[: self.layout.economic + 1]).max(initial=0.0))

    def total_at(self, line: int) -> str:
        """The cell of a line's total over the window."""
        return f"'{self.sheets.years}'!{fixed(FIRST_LINE + line, TOTAL_COLUMN)}"


def statement(policy: str, sheets: SheetPair, layout: Layout, table: pd.DataFrame, end: date) -> Statement:
    """The statement of one policy, from its rows of the monthly table; `end` is the day after the last."""
    amounts = np.zeros((len(layout.lines), len(table)))
    for at, line in enumerate(layout.lines):
        if isinstance(line, Amount):
            amounts[at] = table[line.column].to_numpy(np.float64) / line.divided_by
    first_days = [found.date() for found in pd.to_datetime(table["month"])]
    _, starts = np.unique([day.year for day in first_days], return_index=True)
    return Statement(
        policy,
        sheets,
        layout,
        [*first_days, end],
        starts,
        layout.values(amounts),
        layout.values(np.add.reduceat(amounts, starts, axis=1)),
        layout.values(amounts.sum(axis=1, keepdims=True)),
    )


def write_statement(book: Book, found: Statement, note: str) -> None:
    """Both sheets: the years first, as they are read first."""
    years, months = _sheet(book, found, found.sheets.years, note), _sheet(book, found, found.sheets.months, note)
    n_months, starts = found.months.shape[1], found.year_starts.tolist()
    ends = [*starts[1:], n_months]
    spans = [(FIRST_PERIOD + first, FIRST_PERIOD + end - 1) for first, end in zip(starts, ends, strict=True)]

    def of_months(row: int) -> list[str]:
        return [f"SUM('{months.name}'!{cell(row, first)}:{cell(row, last)})" for first, last in spans]

    for number in range(n_months):
        months.day(2, FIRST_PERIOD + number, found.first_days[number], FIGURES.of(MONTH))
    _write_days(months, found.first_days, [""] * n_months)
    _write_lines(months, found, found.months, lambda _: [""] * n_months)
    months.made.fit_to_pages(-(-n_months // _MONTHS_A_PAGE), 1)

    for number, first in enumerate(starts):
        years.number(2, FIRST_PERIOD + number, found.first_days[first].year, FIGURES)
    year_days = [*(found.first_days[first] for first in starts), found.first_days[-1]]
    _write_days(years, year_days, of_months(FIRST_LINE - 1))
    _write_lines(years, found, found.years, of_months)
    _draw(book, years, found)
    years.made.fit_to_pages(1, 1)


def _sheet(book: Book, found: Statement, name: str, note: str) -> Sheet:
    n_columns = found.months.shape[1] if name == found.sheets.months else found.years.shape[1]
    widths = [_LABEL_WIDTH, *[money_width(found.largest_usd)] * (1 + n_columns)]
    sheet = book.sheet(name, widths, (FIRST_LINE, FIRST_PERIOD))
    sheet.title(found.policy)
    sheet.text(1, 0, note, NOTE)
    sheet.text(2, 0, "US dollars", HEADER)
    sheet.text(2, TOTAL_COLUMN, "Total", FIGURES)
    return sheet


def _write_days(sheet: Sheet, first_days: Sequence[date], day_counts: Sequence[str]) -> None:
    """First and last day of every period and of the whole, and how many there are; by these formulas if any."""
    for row, label in enumerate(("from", "to", "days"), start=3):
        sheet.text(row, 0, label, NOTE)
    ends = [end - timedelta(days=1) for end in first_days[1:]]
    periods = [(first_days[0], ends[-1], ""), *zip(first_days[:-1], ends, day_counts, strict=True)]
    for column, (first, last, counted) in enumerate(periods, start=TOTAL_COLUMN):
        sheet.day(3, column, first, NOTE)
        sheet.day(4, column, last, NOTE)
        days = float((last - first).days + 1)
        if counted or can_be_counted(first):
            sheet.formula(5, column, counted or f"{cell(4, column)}-{cell(3, column)}+1", days, NOTE)
        else:
            sheet.number(5, column, days, NOTE)


def _write_lines(sheet: Sheet, found: Statement, values: FloatArray, amounts: _Formulas) -> None:
    """Every line: numbers where `amounts` of its row has no formulas for them."""
    n_periods, money = values.shape[1], money_number(found.largest_usd)
    first, last = FIRST_PERIOD, FIRST_PERIOD + n_periods - 1
    for at, line in enumerate(found.layout.lines):
        row = FIRST_LINE + at
        sheet.text(row, 0, line.label, line.look)
        if type(line) is Line:
            for column in range(TOTAL_COLUMN, last + 1):
                sheet.text(row, column, "", line.look)
            continue
        look = line.look.of(line.number or money)
        if isinstance(line, Amount):
            sheet.formula(row, TOTAL_COLUMN, f"SUM({cell(row, first)}:{cell(row, last)})", found.total[at, 0], look)
            _write_amounts(sheet, row, values[at], amounts(row), look)
            continue
        total = line.total(letters(TOTAL_COLUMN), cell(row, last), FIRST_LINE + 1)
        sheet.formula(row, TOTAL_COLUMN, total, found.total[at, 0], look)
        for number in range(n_periods):
            column = first + number
            before = cell(row, column - 1) if number else ""
            formula = line.formula(letters(column), before, FIRST_LINE + 1)
            sheet.formula(row, column, formula, values[at, number], look)


def _write_amounts(sheet: Sheet, row: int, values: FloatArray, formulas: Sequence[str], look: Look) -> None:
    for column, (value, formula) in enumerate(zip(values.tolist(), formulas, strict=True), start=FIRST_PERIOD):
        if formula:
            sheet.formula(row, column, formula, value, look)
        else:
            sheet.number(row, column, value, look)


def _draw(book: Book, sheet: Sheet, found: Statement) -> None:
    """Money that moved, by account and year, below the lines."""
    chart = book.made.add_chart({"type": "column", "subtype": "stacked"})
    last = FIRST_PERIOD + found.years.shape[1] - 1
    paid = [found.layout.account[account] for account in FLOWS]
    for number, line in enumerate(line for line in paid if found.years[line].any()):
        row = FIRST_LINE + line
        fill = {"color": PETROFF[number % len(PETROFF)], "transparency": 35 * (number // len(PETROFF))}
        chart.add_series(
            {
                "name": [sheet.name, row, 0],
                "categories": [sheet.name, 2, FIRST_PERIOD, 2, last],
                "values": [sheet.name, row, FIRST_PERIOD, row, last],
                "fill": fill,
                "gap": 60,
            }
        )
    chart.set_title({"name": "Money that moved, by account and calendar year", "name_font": {"size": 12}})
    chart.set_y_axis({"num_format": chart_number(found.largest_usd), "major_gridlines": {"visible": True}})
    chart.set_x_axis({"num_format": PLAIN, "label_position": "low"})
    chart.set_legend({"position": "right"})
    chart.set_size({"width": 860, "height": 340})
    if found.years[paid].any():
        sheet.made.insert_chart(
            FIRST_LINE + len(found.layout.lines) + 1,
            0,
            chart,
            {"description": f"{found.policy}: money that moved, by account and calendar year, stacked"},
        )


def chart_number(largest_usd: float) -> str:
    """Dollars on an axis."""
    for size, number in ((1e9, '$#,##0.0,,,"B"'), (1e6, '$#,##0.0,,"M"'), (1e3, '$#,##0,"k"')):
        if largest_usd >= size:
            return number
    return "$#,##0"
