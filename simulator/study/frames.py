"""Records as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from simulator.lab.accounts import Account
from simulator.lab.orders import Tenure
from simulator.study.summary import ReplicationRow, RunSummary


def frame(rows: Sequence[Any], row_type: type[Any]) -> pd.DataFrame:
    """A table of records: a column per field, dates as dates."""
    columns: dict[str, Any] = {}
    dates = date_columns(row_type)
    for column in fields(row_type):
        values = [getattr(row, column.name) for row in rows]
        columns[column.name] = np.array(values, dtype="datetime64[s]") if column.name in dates else values
    return pd.DataFrame(columns)


def date_columns(row_type: type[Any]) -> list[str]:
    """The fields of a record that hold dates."""
    return [column.name for column in fields(row_type) if "date" in str(column.type)]


def replications_frame(rows: Sequence[ReplicationRow]) -> pd.DataFrame:
    """Every run: its policy and replication, its scalars, its cash by account and its GPU-hours by tenure."""
    keys = pd.DataFrame({"policy": [row.policy for row in rows], "replication": [row.replication for row in rows]})
    cash = np.array([row.account_usd for row in rows]).reshape(len(rows), len(Account))
    accounts = pd.DataFrame(cash, columns=[f"cash_{account.name.lower()}_usd" for account in Account])
    by_tenure = np.array([row.gpu_hours for row in rows]).reshape(len(rows), -1)
    hours = [f"{tenure.value}_gpu_hours_{what}" for what in ("held", "used") for tenure in Tenure]
    summaries = frame([row.summary for row in rows], RunSummary)
    return pd.concat([keys, summaries, accounts, pd.DataFrame(by_tenure, columns=hours)], axis=1)
