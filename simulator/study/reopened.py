"""A results folder as the comparison it was, for tables and reports made later."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simulator.lab.orders import Tenure
from simulator.laws.units import FloatArray
from simulator.study.complaints import ScenarioError
from simulator.study.daily import QUANTILES, DailySums, block_days, quantile_days
from simulator.study.files import Study, load_study
from simulator.study.frames import SCALARS
from simulator.study.months import ACCOUNT_COLUMNS, MONTH_COLUMNS, USE_COLUMNS
from simulator.study.restated import parts_said
from simulator.study.store import (
    DAILY,
    MANIFEST,
    MONTHLY,
    ORDERS,
    PRICE_BOOK,
    RELEASES,
    REPLICATIONS,
    SCENARIO,
    STAGES,
    SUMMARY,
    sha256_of,
)
from simulator.study.streamed import StreamedComparison

MADE_FROM = (SCENARIO, SUMMARY, REPLICATIONS, DAILY, MONTHLY, STAGES, RELEASES, ORDERS, PRICE_BOOK)
"""The files of a folder that a comparison is read back from, or that a report tells of."""
_MOST_BYTES = 10_000_000


class NotResults(Exception):
    """A folder does not hold the results of a comparison; the message says why."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """What a finished folder holds."""

    comparison: StreamedComparison
    """All but quantiles of demand, which no file has: they are NaN."""
    command: str
    """That made it."""
    versions: dict[str, str]
    """Of what made it."""


def reopen(folder: Path) -> Reopened:
    """Read back what `labspend compare` made.

    Raises
    ------
    NotResults
        If it is not finished, is something else, or policies were hand-written in Python, which no file can hold.
    """
    manifest = _manifest(folder / MANIFEST)
    _check_files(folder, manifest)
    study = _study(folder, manifest)
    try:
        _check_runs(folder, study)
        comparison = StreamedComparison(
            study.scenario,
            study.policies,
            study.seed,
            study.replications,
            *((), (), (), (), ()),
            _days(pd.read_parquet(folder / DAILY), pd.read_parquet(folder / MONTHLY), study),
            folder,
            equal_service=study.equal_service,
        )
    except (ValueError, KeyError, OSError) as error:  # pyarrow's own mistakes are ValueErrors and OSErrors
        raise NotResults(f"{folder}: cannot be read back: {error}") from None
    made_by = manifest.get("versions")
    told = {str(name): str(number) for name, number in made_by.items()} if isinstance(made_by, dict) else {}
    return Reopened(comparison, str(manifest.get("command", "")), told)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise NotResults(f"{path}: is too large to be a manifest")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise NotResults(f"{path.parent}: has no {path.name}, so it is no finished results folder") from None
    except (ValueError, RecursionError, OSError) as error:
        raise NotResults(f"{path}: cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise NotResults(f"{path}: is no manifest of results")
    return found


def _check_files(folder: Path, manifest: dict[str, Any]) -> None:
    """The files are there, and are those that the manifest was written for."""
    told = manifest.get("sha256")
    for name in MADE_FROM:
        path = folder / name
        if not path.is_file():
            raise NotResults(f"{path}: is missing")
        try:
            found = sha256_of(path)
        except OSError as error:
            raise NotResults(f"{path}: cannot be read: {error.strerror}") from None
        if not isinstance(told, dict) or told.get(name) != found:
            raise NotResults(f"{path}: is not the file that {MANIFEST} tells of: it was changed afterwards")


def _study(folder: Path, manifest: dict[str, Any]) -> Study:
    try:
        study = load_study(folder / SCENARIO)
    except ScenarioError as error:
        raise NotResults(str(error)) from None
    told = [{"name": policy.name, **parts_said(policy)} for policy in study.policies]
    listed = manifest.get("policies")
    lacking = [row.get("name") for row in listed if row not in told] if isinstance(listed, list) else ["all"]
    if lacking or listed != told:
        names = f": {', '.join(map(str, lacking))}" if lacking else ""
        raise NotResults(
            f"{folder}: its policies are not those of its {SCENARIO}{names}; "
            "of policies hand-written in Python write the report in Python, with simulator.show.report.write_report"
        )
    if (manifest.get("seed"), manifest.get("replications")) != (study.seed, study.replications):
        raise NotResults(f"{folder}: its {SCENARIO} says another seed or number of worlds than its {MANIFEST}")
    return study


def _check_runs(folder: Path, study: Study) -> None:
    runs = pd.read_parquet(folder / REPLICATIONS, columns=["policy", *SCALARS])
    n = len(study.policies)
    if runs["policy"].tolist() != [policy.name for policy in study.policies] * study.replications:
        raise ValueError(f"{REPLICATIONS} does not have {study.replications} runs of each of {n} policies")


def _days(table: pd.DataFrame, months: pd.DataFrame, study: Study) -> DailySums:
    """Sums over worlds from the means that are kept."""
    n_policies, n_days, worlds = len(study.policies), study.scenario.calendar.horizon_days, study.replications
    n_months = study.scenario.calendar.month_days.size
    for name, rows, n in ((DAILY, table, n_days), (MONTHLY, months, n_months)):
        if len(rows) != n_policies * n:
            raise ValueError(f"{name} must have {n_policies} x {n} rows (got {len(rows)})")

    def by_policy(names: Sequence[str], rows: pd.DataFrame = table) -> FloatArray:
        """[policy, name, day or month]"""
        values = rows[list(names)].to_numpy(np.float64).reshape(n_policies, -1, len(names))
        return np.moveaxis(values, 1, 2)

    points = quantile_days(n_days)
    quantiles = by_policy([f"cumulative_cash_p{share * 100:.0f}_usd" for share in QUANTILES])
    names = ("asked_tokens", "served_tokens", "cumulative_cash_mean_usd", "owned_mw", "used_gpus", "unserved_gpus")
    asked, served, mean, megawatts, used, unserved = np.moveaxis(by_policy(names), 1, 0)
    return DailySums(
        points,
        np.moveaxis(quantiles[:, :, points], 1, 0),
        np.full((len(QUANTILES), n_days // block_days(n_days)), np.nan),
        worlds * asked[0],
        worlds * mean,
        worlds * by_policy(ACCOUNT_COLUMNS),
        worlds * by_policy(USE_COLUMNS),
        worlds * by_policy([f"{tenure.value}_gpus" for tenure in Tenure]),
        worlds * megawatts,
        worlds * used,
        worlds * unserved,
        worlds * served,
        worlds * by_policy(MONTH_COLUMNS, months),
    )
