"""A planner's orders, row by row, read from a CSV file; any doubt about a row is told, none is mended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simulator.lab.fixed_plan import MOST_ORDERS, PlannedOrder
from simulator.study.complaints import nearest, problems
from simulator.study.csv_rows import HeaderError, TakeRow, TraceError, place, read_rows

_COLUMNS = tuple(PlannedOrder.model_fields)
_NEEDED = ("date", "action", "accelerator", "gpus")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_plan(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The orders of a plan, each with the number of its row: `date,action,accelerator,gpus,term_days,reason`.

    Raises
    ------
    TraceError
        With the first mistakes, each with file, row and column.
    """
    orders: list[tuple[int, dict[str, Any]]] = []

    def begin(header: list[str]) -> TakeRow:
        for number, column in enumerate(header):
            if column not in _COLUMNS:
                mean = nearest(column, _COLUMNS)
                hint = f"; did you mean {mean!r}?" if mean else ""
                if ";" in column:
                    hint = "; columns are separated by commas, not by semicolons"
                raise HeaderError(f"has an unknown column {column!r}; there are {', '.join(_COLUMNS)}{hint}")
            if column in header[:number]:
                raise HeaderError(f"has the column {column!r} twice")
        for column in _NEEDED:
            place(header, column)

        def take(number: int, row: list[str]) -> None:
            if len(orders) == MOST_ORDERS:
                raise ValueError(f"is one order too many: a plan has at most {MOST_ORDERS:,}")
            order = {column: _value(column, cell) for column, cell in zip(header, row, strict=True) if cell}
            _check(order)
            orders.append((number, order))

        return take

    read_rows(path, begin)
    if not orders:
        raise TraceError(f"{path}: is empty: it needs a row per order")
    return orders


def _value(column: str, cell: str) -> object:
    """As it would stand in a scenario file."""
    return int(cell) if column in ("gpus", "term_days") and _WHOLE.fullmatch(cell) else cell


def _check(order: Mapping[str, Any]) -> None:
    """Held to the rules of a table written out."""
    try:
        PlannedOrder.model_validate_json(json.dumps(order), strict=True)
    except ValidationError as error:
        raise ValueError("; ".join(map(str, problems(error, PlannedOrder, order, ())))) from None
