"""The rows of some replications as files, and files of all replications from those of the parts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from simulator.lab.orders import Tenure
from simulator.laws.units import FloatArray
from simulator.study.commitments import CommitmentRow
from simulator.study.csv_cells import write_csv, write_rows
from simulator.study.frames import frame, scalars, scalars_frame
from simulator.study.months import ACCOUNT_COLUMNS, USE_COLUMNS
from simulator.study.part import Part, Paths
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow

SCALARS_FILE, DAYS, PATHS = "scalars.npy", "days.npz", "paths.parquet"
LISTS: tuple[tuple[str, str, type[Any]], ...] = (
    ("releases.csv", "releases", ReleaseRow),
    ("orders.csv", "orders", OrderRow),
    ("commitments.csv", "commitments", CommitmentRow),
    ("replans.csv", "replans", ReplanRow),
)
"""File, field of `part.Lists`, and row."""
_GROUP_ROWS = 8192
"""Runs written to replications.parquet at a time, however many came at a time."""


def write_part(part: Part, folder: Path) -> None:
    """The rows of a part: numbers of its runs, lists without a first line, and paths if they are kept."""
    np.save(folder / SCALARS_FILE, scalars(part.lists.rows))
    for name, field, row_type in LISTS:
        write_rows(frame(getattr(part.lists, field), row_type), folder / name)
    if part.keeps_paths:
        first, *rest = part.lists.paths
        table = _paths_table(part.policies, first)
        with pq.ParquetWriter(folder / PATHS, table.schema, compression="zstd") as writer:
            writer.write_table(table)
            for lived in rest:
                writer.write_table(_paths_table(part.policies, lived))


def join_list(parts: Sequence[Path], name: str, row_type: type[Any], target: Path) -> None:
    """One list of all parts, with a first line that names its columns."""
    write_csv(frame((), row_type), target)
    with target.open("ab") as whole:
        for part in parts:
            with (part / name).open("rb") as rows:
                shutil.copyfileobj(rows, whole)


def join_runs(parts: Sequence[Path], policies: Sequence[str], first: int, target: Path) -> None:
    """replications.parquet of all parts."""
    tables = (np.load(part / SCALARS_FILE, mmap_mode="r", allow_pickle=False) for part in parts)
    write_frames(_runs(tables, policies, first), target)


def join_paths(parts: Sequence[Path], dates: np.ndarray, target: Path) -> None:
    """paths.parquet of all parts: a group of rows per replication, a date a day."""
    schema = pq.read_schema(parts[0] / PATHS)
    at = schema.get_field_index("day")
    dated = schema.set(at, pa.field("date", pa.timestamp("s")))
    with pq.ParquetWriter(target, dated, compression="zstd") as writer:
        for part in parts:
            found = pq.ParquetFile(part / PATHS)
            for group in range(found.num_row_groups):
                table = found.read_row_group(group)
                date = pa.array(dates[table.column("day").to_numpy()].astype("datetime64[s]"))
                writer.write_table(table.set_column(at, dated.field(at), date))


def write_frames(frames: Iterator[pd.DataFrame], target: Path) -> None:
    """A table written some rows at a time, each time as many as the table before had, but for the last."""
    writer = None
    try:
        for rows in frames:
            table = pa.Table.from_pandas(rows, preserve_index=False)
            writer = writer or pq.ParquetWriter(target, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def in_groups(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The rows of a table of runs, as many at a time as `join_runs` writes."""
    return (table.iloc[first : first + _GROUP_ROWS] for first in range(0, len(table), _GROUP_ROWS))


def _runs(tables: Iterator[FloatArray], policies: Sequence[str], first: int) -> Iterator[pd.DataFrame]:
    """The runs of all parts as frames of `_GROUP_ROWS`."""
    held, n_held, n_given = [], 0, first * len(policies)
    for table in tables:
        for start in range(0, len(table), _GROUP_ROWS):
            held.append(np.array(table[start : start + _GROUP_ROWS]))
            n_held += len(held[-1])
            if n_held >= _GROUP_ROWS:
                whole = np.concatenate(held)
                yield _runs_frame(whole[:_GROUP_ROWS], policies, n_given)
                n_given += _GROUP_ROWS
                held, n_held = [whole[_GROUP_ROWS:]], n_held - _GROUP_ROWS
    if n_held:
        yield _runs_frame(np.concatenate(held), policies, n_given)


def _runs_frame(table: FloatArray, policies: Sequence[str], first_run: int) -> pd.DataFrame:
    runs = range(first_run, first_run + len(table))
    names, replications = zip(*((policies[run % len(policies)], run // len(policies)) for run in runs), strict=True)
    return scalars_frame(names, replications, table)


def _paths_table(policies: Sequence[str], lived: Paths) -> pa.Table:
    """Every day of every policy in one world, in single precision."""
    n_days = lived.asked_tokens.size
    frames = []
    for policy, days in zip(policies, lived.runs, strict=True):
        frames.append(
            pd.DataFrame(
                {
                    "policy": policy,
                    "replication": lived.replication,
                    "day": np.arange(n_days),
                    "cumulative_cash_usd": days.cumulative_cash_usd,
                    "asked_tokens": lived.asked_tokens,
                    "served_tokens": days.served_tokens,
                    **{f"{tenure.value}_gpus": days.gpus[at] for at, tenure in enumerate(Tenure)},
                    "owned_mw": days.owned_mw,
                    "used_gpus": days.used_gpus,
                    "unserved_gpus": days.unserved_gpus,
                    **dict(zip(ACCOUNT_COLUMNS, days.cash_usd, strict=True)),
                    **dict(zip(USE_COLUMNS, days.economic_usd, strict=True)),
                }
            )
        )
    table = pa.Table.from_pandas(pd.concat(frames, ignore_index=True), preserve_index=False)
    return table.replace_schema_metadata(None)
