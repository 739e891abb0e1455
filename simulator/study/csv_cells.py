"""Tables as CSV that any tool reads: ISO dates, dot decimals, no cell that a spreadsheet would take for a formula."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from simulator.study.frames import date_columns

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table with a first line that names its columns."""
    path.write_bytes(_lines(table, header=True))


def write_rows(table: pd.DataFrame, path: Path) -> None:
    """Write the rows alone, to be put behind others."""
    path.write_bytes(_lines(table, header=False))


def _lines(table: pd.DataFrame, *, header: bool) -> bytes:
    guarded = table.copy()
    for name in guarded.select_dtypes(["object", "str"]).columns:
        guarded[name] = [_guarded(cell) for cell in guarded[name]]
    text: str = guarded.to_csv(index=False, header=header, date_format="%Y-%m-%d", lineterminator="\n")
    return text.encode() if header or len(table) else b""


def _guarded(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


def read_csv(path: Path, row_type: type[Any], n_rows: int | None = None) -> pd.DataFrame:
    """Read a table of such rows back; by default all of them."""
    text = [column.name for column in fields(row_type) if column.type == "str"]
    table = pd.read_csv(
        path,
        nrows=n_rows,
        dtype=dict.fromkeys(text, str),
        keep_default_na=False,
        na_values={column.name: [""] for column in fields(row_type) if column.name not in text},
        parse_dates=date_columns(row_type),
        date_format="%Y-%m-%d",
    )
    for name in text:
        table[name] = [_unguarded(cell) for cell in table[name]]
    return table


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA_STARTS) else cell
