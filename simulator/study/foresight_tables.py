"""The answers of a foresight study as tables, and as files in its results folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from simulator.study.csv_cells import write_csv
from simulator.study.foresight import ForecastRow, Foresight, InformationRow, Range, UncertaintyRow

FORECASTS, INFORMATION, UNCERTAINTY = "forecasts.csv", "information.csv", "uncertainty.csv"


def save_tables(found: Foresight, folder: Path) -> None:
    """Write the three tables as CSV."""
    write_csv(flat(found.forecasts, ForecastRow), folder / FORECASTS)
    write_csv(flat(found.information, InformationRow), folder / INFORMATION)
    write_csv(flat(found.uncertainty, UncertaintyRow), folder / UNCERTAINTY)


def flat(rows: Sequence[Any], row_type: type[Any]) -> pd.DataFrame:
    """A column per field; a range has three: its mean under the field's name, then _low and _high before the unit."""
    columns: dict[str, list[Any]] = {}
    for field in fields(row_type):
        values = [getattr(row, field.name) for row in rows]
        if field.type != "Range":
            columns[field.name] = values
            continue
        name, _, unit = field.name.rpartition("_")
        ranges: list[Range] = values
        columns[field.name] = [found.mean for found in ranges]
        columns[f"{name}_low_{unit}"] = [found.low for found in ranges]
        columns[f"{name}_high_{unit}"] = [found.high for found in ranges]
    return pd.DataFrame(columns)
