"""Tables as CSV that any tool reads: ISO dates, dot decimals, no cell that a spreadsheet would take for a formula."""

from __future__ import annotations

from collections.abc import Iterator
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
    return _as_written(pd.read_csv(path, nrows=n_rows, **_how(row_type)), row_type)


def read_csv_parts(path: Path, row_type: type[Any], rows: int) -> Iterator[pd.DataFrame]:
    """The same, so many rows at a time; a table without rows is one part."""
    for part in pd.read_csv(path, chunksize=rows, **_how(row_type)):
        yield _as_written(part, row_type)


def _how(row_type: type[Any]) -> dict[str, Any]:
    text = _text(row_type)
    return {
        "dtype": dict.fromkeys(text, str),
        "keep_default_na": False,
        "na_values": {column.name: [""] for column in fields(row_type) if column.name not in text},
        "parse_dates": date_columns(row_type),
        "date_format": "%Y-%m-%d",
    }


def _as_written(table: pd.DataFrame, row_type: type[Any]) -> pd.DataFrame:
    for name in _text(row_type):
        table[name] = [_unguarded(cell) for cell in table[name]]
    return table


def _text(row_type: type[Any]) -> list[str]:
    return [column.name for column in fields(row_type) if column.type == "str"]


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA_STARTS) else cell
