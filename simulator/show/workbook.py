"""The study as a workbook for planners: real numbers and dates, and formulas that add them up to the cent."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from simulator.show.list_sheets import (
    ABOUT,
    ASSUMPTIONS,
    FLEET,
    ORDERS,
    PRICES,
    write_about,
    write_assumptions,
    write_fleet,
    write_orders,
    write_prices,
)
from simulator.show.sheet_names import policy_sheets
from simulator.show.statement_lines import layout
from simulator.show.statement_sheets import Statement, statement, write_statement
from simulator.show.summary_sheet import NAME as SUMMARY
from simulator.show.summary_sheet import write_summary
from simulator.show.workbook_cells import Book
from simulator.study.comparison import Comparison, worlds_said

WORKBOOK = "workbook.xlsx"


def save_workbook(comparison: Comparison, folder: str | Path) -> Path:
    """Write `workbook.xlsx` into a folder; equal studies make equal bytes. What was written is given back.

    Statements are in US dollars, as all files; where the scenario declares a currency, totals stand in it too.

    Raises
    ------
    FileExistsError
        If there is one already: nothing is written over.
    """
    path = Path(folder) / WORKBOOK
    if path.exists():
        raise FileExistsError(f"{path}: is there already, and nothing is written over")
    book = Book(path, comparison.scenario.title, comparison.scenario.question)
    statements = _statements(comparison)
    write_about(book, comparison, statements)
    write_summary(book, comparison, statements)
    note = (
        f"Mean over {worlds_said(comparison.replications)}; nominal US dollars. Costs are positive; what is sold or "
        "left is negative."
    )
    for found in statements:
        write_statement(book, found, note)
    write_assumptions(book, comparison)
    write_prices(book, comparison)
    write_fleet(book, comparison, statements)
    write_orders(book, comparison)
    book.made.get_worksheet_by_name(SUMMARY).activate()
    book.made.close()
    return path


def _statements(comparison: Comparison) -> list[Statement]:
    scenario = comparison.scenario
    currency = scenario.currency
    lines = layout("USD", 1.0) if currency is None else layout(currency.code, currency.per_usd)
    names = policy_sheets(comparison.policy_names, (ABOUT, SUMMARY, ASSUMPTIONS, PRICES, FLEET, ORDERS))
    end = scenario.start + timedelta(days=scenario.horizon_days)
    n_months = scenario.calendar.month_days.size
    table = comparison.monthly_table
    return [
        statement(name, names[number], lines, table.iloc[number * n_months : (number + 1) * n_months], end)
        for number, name in enumerate(comparison.policy_names)
    ]
