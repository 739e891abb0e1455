"""Records as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from simulator.lab.accounts import Account
from simulator.lab.orders import Tenure
from simulator.laws.units import FloatArray
from simulator.study.stages import STAGE_COLUMNS
from simulator.study.summary import ReplicationRow, RunSummary

CASH_COLUMNS = tuple(f"cash_{account.name.lower()}_usd" for account in Account)
HOURS_COLUMNS = tuple(f"{tenure.value}_gpu_hours_{what}" for what in ("held", "used") for tenure in Tenure)
SCALARS = (
    *(column.name for column in fields(RunSummary)),
    "break_even_day",
    *CASH_COLUMNS,
    *STAGE_COLUMNS,
    *HOURS_COLUMNS,
)
"""Columns of replications.parquet, after the policy and the replication."""
_YES_OR_NO = {column.name for column in fields(RunSummary) if column.type == "bool"}


def frame(rows: Sequence[Any], row_type: type[Any]) -> pd.DataFrame:
    """A table of records: a column per field, dates as dates."""
    columns: dict[str, Any] = {}
    dates = date_columns(row_type)
    for column in fields(row_type):
        values = [getattr(row, column.name) for row in rows]
        if column.name in dates:
            columns[column.name] = np.array(values, dtype="datetime64[s]")
        else:
            columns[column.name] = np.array(values, dtype=np.float64) if column.type == "float" else values
    return pd.DataFrame(columns)


def date_columns(row_type: type[Any]) -> list[str]:
    """The fields of a record that hold dates."""
    return [column.name for column in fields(row_type) if "date" in str(column.type)]


def replications_frame(rows: Sequence[ReplicationRow]) -> pd.DataFrame:
    """Every run: its policy and replication, its scalars, cash by account, cost by stage and GPU-hours by tenure."""
    return scalars_frame([row.policy for row in rows], [row.replication for row in rows], scalars(rows))


def scalars(rows: Sequence[ReplicationRow]) -> FloatArray:
    """The numbers of every run [run, column of `SCALARS`]."""
    names = [column.name for column in fields(RunSummary)]
    table = [
        [
            *(float(getattr(row.summary, name)) for name in names),
            row.break_even_day,
            *row.account_usd,
            *row.stage_usd,
            *row.gpu_hours.ravel(),
        ]
        for row in rows
    ]
    return np.array(table, dtype=np.float64).reshape(len(rows), len(SCALARS))


def scalars_frame(policies: Sequence[str], replications: Sequence[int], table: FloatArray) -> pd.DataFrame:
    """The same numbers as a table, each run with its policy and replication."""
    columns: dict[str, Any] = {"policy": list(policies), "replication": np.array(replications, dtype=np.int64)}
    for at, name in enumerate(SCALARS):
        columns[name] = table[:, at] != 0.0 if name in _YES_OR_NO else table[:, at].copy()
    return pd.DataFrame(columns)
