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
            return int(cell) if column in ("gpus", "term_days") and _WHOLE.fullmatch(cell) else cell


def _check(order: Mapping[str, Any]) -> None:
    """Held to the rules of a table written out."""
    try:
        PlannedOrder.model_validate_json(json.dumps(order), strict=True)
    except ValidationError as error:
        raise ValueError("; ".join(map(str, problems(error, PlannedOrder, order, ())))) from None
