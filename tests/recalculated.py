"""A workbook read back, and its formulas worked out again by another program than the one that wrote it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from openpyxl import Workbook, load_workbook
from openpyxl.cell import Cell

Values = dict[tuple[str, str], float | str]
"""By sheet and cell."""


def opened(path: Path, *, values: bool = False) -> Workbook:
    """The workbook with its formulas, or with the values that are stored beside them."""
    return load_workbook(path, data_only=values)


def formula_cells(book: Workbook) -> Iterator[tuple[str, Cell]]:
    """Every cell that a spreadsheet program would work out, with its sheet."""
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    yield sheet.title, cell


def recalculated(path: Path) -> Values:
    """What every formula comes to, from the numbers alone; the stored values are not looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the library's own making
        import formulas

        solved = formulas.ExcelModel().loads(str(path)).finish().calculate()
    found: Values = {}
    for sheet, cell in formula_cells(opened(path)):
        key = f"'[{path.name}]{sheet.upper()}'!{cell.coordinate}"
        made = solved[key].value[0, 0]
        text = str(made)
        found[sheet, cell.coordinate] = text if text == "" or text.startswith("#") else float(made)
    return found
