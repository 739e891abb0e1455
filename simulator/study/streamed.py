"""A comparison whose rows are in a folder and not in memory: it is read as tables and pictures need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from simulator.laws.units import FloatArray
from simulator.study.commitments import CommitmentRow
from simulator.study.comparison import Comparison
from simulator.study.csv_cells import read_csv, read_csv_parts
from simulator.study.frames import SCALARS
from simulator.study.part_files import SCALARS_FILE
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow
from simulator.study.runs import Runs
from simulator.study.store import COMMITMENTS, ORDERS, RELEASES, REPLANS, REPLICATIONS

_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class RunsInParts(Runs):
    """The runs of a study that is not finished."""

    parts: Sequence[Path]

    def by_policy(self, column: str) -> FloatArray:
        """One scalar of every run [policy, replication]."""
        at = SCALARS.index(column)
        tables = (np.load(part / SCALARS_FILE, mmap_mode="r", allow_pickle=False) for part in self.parts)
        flat = np.concatenate([np.array(table[:, at]) for table in tables])
        return flat.reshape(self.replications, len(self.policies)).T


@dataclass(frozen=True, eq=False)
class RunsInFolder(Runs):
    """The runs of a finished study."""

    folder: Path

    def by_policy(self, column: str) -> FloatArray:
        """One scalar of every run [policy, replication]."""
        return _from_table(self, self.folder, column)


@dataclass(frozen=True, eq=False)
class StreamedComparison(Comparison):
    """The same answers as a comparison in memory; its lists of rows are empty, and its tables are files."""

    folder: Path

    @cached_property
    def replications_table(self) -> pd.DataFrame:
        """A row per replication and policy."""
        return pd.read_parquet(self.folder / REPLICATIONS)

    @cached_property
    def releases_table(self) -> pd.DataFrame:
        """A row per replication, policy and run towards a release."""
        return read_csv(self.folder / RELEASES, ReleaseRow)

    @cached_property
    def orders_table(self) -> pd.DataFrame:
        """A row per replication, policy and commitment."""
        return read_csv(self.folder / ORDERS, OrderRow)

    def orders_of_first_world(self) -> pd.DataFrame:
        """The orders of every policy in world 0, which come first in the file."""
        n_first = 0
        with pd.read_csv(self.folder / ORDERS, usecols=["replication"], chunksize=_ROWS_AT_ONCE) as read:
            for rows in read:
                is_first = rows["replication"] == 0
                n_first += int(is_first.sum())
                if not is_first.all():
                    break
        return read_csv(self.folder / ORDERS, OrderRow, n_rows=n_first)

    @cached_property
    def commitments_table(self) -> pd.DataFrame:
        """A row per replication, policy, day of looking and year."""
        return read_csv(self.folder / COMMITMENTS, CommitmentRow)

    @cached_property
    def replans_table(self) -> pd.DataFrame:
        """A row per replication, policy and change of course; none where no policy may change course."""
        path = self.folder / REPLANS
        return read_csv(path, ReplanRow) if path.exists() else super().replans_table

    def orders_of(self, policy: str, before: date) -> pd.DataFrame:
        """The commitments of one policy before a date."""
        parts = read_csv_parts(self.folder / ORDERS, OrderRow, _ROWS_AT_ONCE)
        return pd.concat(
            [part[(part["policy"] == policy) & (part["date"] < pd.Timestamp(before))] for part in parts],
            ignore_index=True,
        )

    def releases_of(self, policy: str) -> pd.DataFrame:
        """The runs of one policy towards its releases."""
        parts = read_csv_parts(self.folder / RELEASES, ReleaseRow, _ROWS_AT_ONCE)
        return pd.concat([part[part["policy"] == policy] for part in parts], ignore_index=True)

    def by_policy(self, column: str) -> FloatArray:
        """One scalar of every run [policy, replication]."""
        return _from_table(self, self.folder, column)

    def most_tokens_per_parameter(self) -> float:
        """Of any model trained, in training; 0 if none was."""
        column = "training_tokens_per_parameter"
        read: Iterator[Any] = pd.read_csv(self.folder / RELEASES, usecols=[column], chunksize=_ROWS_AT_ONCE)
        return max((float(rows[column].max()) for rows in read if len(rows)), default=0.0)


def _from_table(runs: Runs, folder: Path, column: str) -> FloatArray:
    table = pq.read_table(folder / REPLICATIONS, columns=[column])
    flat = np.asarray(table.column(column), dtype=np.float64)
    return flat.reshape(runs.replications, len(runs.policies)).T
