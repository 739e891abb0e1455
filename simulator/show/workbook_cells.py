"""Sheets of a workbook: cells that are what they show, and the few looks they may have."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

WHOLE, CENTS = '#,##0;-#,##0;"–"', '#,##0.00;-#,##0.00;"–"'
PLAIN, FIGURE, PERCENT = "General", "#,##0.00####", "0.0%"
DAY, MONTH = "yyyy-mm-dd", "mmm yyyy"
_MADE = datetime(2000, 1, 1)
"""Every workbook says it was made then, so that equal studies make equal bytes."""
_FIRST_DAY = date(1900, 3, 1)
"""Before it spreadsheets do not agree on how days are counted."""
_MOST_LETTERS = 32_767
_A4 = 9
_LINE_HEIGHT = 13.0
"""Points."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a cell is shown."""

    number: str = PLAIN
    bold: int = 0
    size: int = 10
    top: int = 0
    """Of the line above it; 1 is thin."""
    fill: str = ""
    wrap: int = 0
    align: str = ""
    colour: str = "#222222"

    def of(self, number: str) -> Look:
        """The same for another kind of number."""
        return replace(self, number=number)


TEXT, WRAPPED = Look(), Look(wrap=1)
_TITLE_HEIGHT = 22.0
TITLE, NOTE = Look(bold=1, size=14), Look(colour="#63636b")
HEADER = Look(bold=1, fill="#dde6f5", wrap=1)
FIGURES = replace(HEADER, align="right")
LEFT = Look(wrap=1, align="left")
SECTION, TOTAL = Look(bold=1, fill="#f2f2f4"), Look(bold=1, top=1)


class Book:
    """A workbook to be: sheets are added in order, and nothing is on disk before it is closed."""

    def __init__(self, path: Path, title: str, subject: str) -> None:
        # In memory there are no files aside; texts never become links, numbers or formulas.
        safely = {"strings_to_urls": False, "strings_to_formulas": False, "strings_to_numbers": False}
        self.made: Any = Workbook(str(path), {"in_memory": True, **safely})
        told = {"title": _clean(title)[:255], "subject": _clean(subject)[:255], "author": "labspend", "created": _MADE}
        self.made.set_properties(told)
        self.made.set_calc_mode("auto")
        self._formats: dict[Look, Any] = {}

    def sheet(self, name: str, widths: Sequence[float], frozen: tuple[int, int]) -> Sheet:
        """A new sheet with columns so wide [letters], whose first rows and columns stay in sight and on every page."""
        made = self.made.add_worksheet(name)
        for column, width in enumerate(widths):
            made.set_column(column, column, width)
        rows, columns = frozen
        if rows or columns:
            made.freeze_panes(rows, columns)
        if rows:
            made.repeat_rows(0, rows - 1)
        if columns:
            made.repeat_columns(0, columns - 1)
        made.hide_gridlines(2)
        made.set_landscape()
        made.set_paper(_A4)
        made.fit_to_pages(1, 0)
        made.set_footer("&L&A&Rpage &P of &N")
        return Sheet(self, made, name)

    def format(self, look: Look) -> Any:
        """The look as the file knows it."""
        if look not in self._formats:
            wanted: dict[str, Any] = {
                "num_format": look.number,
                "font_size": look.size,
                "font_color": look.colour,
                "valign": "top",
            }
            wanted |= {"bold": True} if look.bold else {}
            wanted |= {"top": look.top} if look.top else {}
            wanted |= {"bg_color": look.fill} if look.fill else {}
            wanted |= {"text_wrap": True} if look.wrap else {}
            wanted |= {"align": look.align} if look.align else {}
            self._formats[look] = self.made.add_format(wanted)
        return self._formats[look]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet; rows and columns are counted from 0."""

    book: Book
    made: Any
    name: str

    def text(self, row: int, column: int, text: str, look: Look = TEXT) -> None:
        """A text, whatever it begins with."""
        self.made.write_string(row, column, _clean(text)[:_MOST_LETTERS], self.book.format(look))

    def title(self, text: str) -> None:
        """What the sheet is about, in its first row."""
        self.made.set_row(0, _TITLE_HEIGHT)
        self.text(0, 0, text, TITLE)

    def number(self, row: int, column: int, number: float, look: Look = TEXT) -> None:
        """A number; nothing where there is none."""
        if math.isfinite(number):
            self.made.write_number(row, column, number, self.book.format(look))
        else:
            self.made.write_blank(row, column, None, self.book.format(look))

    def day(self, row: int, column: int, day: date, look: Look = TEXT) -> None:
        """A date, as one where spreadsheets can count it."""
        if can_be_counted(day):
            shown = look.of(DAY) if look.number == PLAIN else look
            self.made.write_datetime(row, column, day, self.book.format(shown))
        else:
            self.text(row, column, day.isoformat(), look)

    def formula(self, row: int, column: int, formula: str, value: float, look: Look = TEXT) -> None:
        """A formula, with its value for programs that do not work it out: an empty text where there is no number."""
        known: float | str = float(value) if math.isfinite(value) else ""
        self.made.write_formula(row, column, f"={formula}", self.book.format(look), known)

    def anything(self, row: int, column: int, value: object, look: Look = TEXT) -> None:
        """A text, number or date by its type."""
        if isinstance(value, date):
            self.day(row, column, value, look)
        elif isinstance(value, int | float):
            self.number(row, column, float(value), look)
        else:
            self.text(row, column, str(value), look)

    def headers(self, row: int, headers: Iterable[str], figures: Container[int] = ()) -> None:
        """A row of headers, those of columns of figures above their figures."""
        for column, header in enumerate(headers):
            self.text(row, column, header, FIGURES if column in figures else HEADER)

    def fit(self, row: int, texts: Sequence[str], widths: Sequence[float]) -> None:
        """Make a row as high as its wrapped texts need in columns so wide [letters]."""
        lines = max(math.ceil(1.1 * len(text) / width) for text, width in zip(texts, widths, strict=True))
        if lines > 1:
            self.made.set_row(row, _LINE_HEIGHT * lines)


def cell(row: int, column: int) -> str:
    """A cell of the same sheet, as formulas name it."""
    return str(xl_rowcol_to_cell(row, column))


def fixed(row: int, column: int) -> str:
    """The same, wherever the formula is copied to."""
    return str(xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True))


def can_be_counted(day: date) -> bool:
    """Whether spreadsheets can do sums with it."""
    return day >= _FIRST_DAY


def letters(column: int) -> str:
    """A column, as formulas name it."""
    return str(xl_col_to_name(column))


def money_number(largest_usd: float) -> str:
    """How money is shown: to the cent where amounts are small, else whole dollars; cells hold all there is."""
    return WHOLE if largest_usd >= 1e6 else CENTS


def money_width(largest_usd: float) -> float:
    """Letters that the largest amount takes, with some room."""
    return max(len(f"{largest_usd:,.2f}") - (3 if largest_usd >= 1e6 else 0) + 3.0, 11.0)


def _clean(text: str) -> str:
    """What can be written to a file."""
    return text.encode("utf-8", "replace").decode()
