"""A study as a folder: tables that any tool reads, the scenario that made them, and a manifest of what is there.

Everything is written aside, in `.unfinished`, and moved into the folder when it is all there, `manifest.json`
last: a folder with a manifest is whole. Equal studies make equal bytes.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from simulator import __version__
from simulator.study.commitments import CommitmentRow
from simulator.study.comparison import Comparison, SummaryRow
from simulator.study.fleet_statement import FleetRow
from simulator.study.frames import date_columns, frame
from simulator.study.price_book import PriceRow, price_book
from simulator.study.rankings import rankings
from simulator.study.restated import parts_said, study_text_of
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow

SUMMARY, REPLICATIONS, DAILY = "summary.csv", "replications.parquet", "daily.parquet"
RELEASES, ORDERS, PRICE_BOOK = "releases.csv", "orders.csv", "price_book.csv"
FLEET, COMMITMENTS = "fleet.csv", "commitments.csv"
SCENARIO, MANIFEST = "scenario.toml", "manifest.json"
REPLANS = "replans.csv"
"""Only where a policy may change course."""

_UNFINISHED = ".unfinished"
_LIBRARIES = ("numpy", "simpy", "pandas", "pyarrow")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Stored:
    """A results folder, read back."""

    summary: pd.DataFrame
    replications: pd.DataFrame
    daily: pd.DataFrame
    releases: pd.DataFrame
    orders: pd.DataFrame
    fleet: pd.DataFrame
    commitments: pd.DataFrame
    price_book: pd.DataFrame
    replans: pd.DataFrame
    scenario_text: str


def save(
    comparison: Comparison,
    folder: str | Path,
    *,
    command: str = "",
    study_text: str = "",
    pictures: Callable[[Comparison, Path], object] | None = None,
) -> None:
    """Write a study to a new or empty folder.

    Parameters
    ----------
    comparison
        What to write.
    folder
        Made if it is not there; refused if anything is in it.
    command
        The command that made the study, for the manifest.
    study_text
        The study as TOML, every value written out. By default it is made from the comparison; of a policy that
        is hand-written in Python, which no file can hold, it has the name and the parts as a comment.
    pictures
        Writes pictures of a comparison to a folder, as `simulator.show.plots.save_plots` does; default: none.

    Raises
    ------
    FileExistsError
        If the folder is not empty: nothing is written over.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise FileExistsError(f"{target}: is not empty, and nothing is written over")
    with _aside(target) as aside:
        write_csv(comparison.summary(), aside / SUMMARY)
        _write_parquet(comparison.replications_table, aside / REPLICATIONS)
        _write_parquet(comparison.daily_table, aside / DAILY)
        write_csv(comparison.releases_table, aside / RELEASES)
        write_csv(comparison.orders_table, aside / ORDERS)
        write_csv(comparison.fleet_table, aside / FLEET)
        write_csv(comparison.commitments_table, aside / COMMITMENTS)
        write_csv(frame(price_book(comparison.scenario), PriceRow), aside / PRICE_BOOK)
        for name, table in rankings(comparison):
            write_csv(table, aside / name)
        if any(policy.replan is not None for policy in comparison.policies):
            write_csv(comparison.replans_table, aside / REPLANS)
        (aside / SCENARIO).write_bytes((study_text or study_text_of(comparison)).encode())
        if pictures is not None:
            pictures(comparison, aside)
        manifest = _manifest(comparison, command, aside)
        (aside / MANIFEST).write_bytes((json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())


def load(folder: str | Path) -> Stored:
    """Read a results folder back.

    Raises
    ------
    FileNotFoundError
        If it has no manifest: it is not a results folder, or was never finished.
    """
    source = Path(folder)
    if not (source / MANIFEST).is_file():
        raise FileNotFoundError(f"{source}: has no {MANIFEST}, so it is no finished results folder")
    return Stored(
        _read_csv(source / SUMMARY, SummaryRow),
        pd.read_parquet(source / REPLICATIONS),
        pd.read_parquet(source / DAILY),
        _read_csv(source / RELEASES, ReleaseRow),
        _read_csv(source / ORDERS, OrderRow),
        _read_csv(source / FLEET, FleetRow),
        _read_csv(source / COMMITMENTS, CommitmentRow),
        _read_csv(source / PRICE_BOOK, PriceRow),
        _read_csv(source / REPLANS, ReplanRow) if (source / REPLANS).is_file() else frame((), ReplanRow),
        (source / SCENARIO).read_text(encoding="utf-8"),
    )


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A place inside the folder; what is written there moves up if all went well, and is gone if not."""
    aside = target / _UNFINISHED
    aside.mkdir()
    try:
        yield aside
        for path in sorted(aside.iterdir(), key=lambda path: (path.name == MANIFEST, path.name)):
            path.replace(target / path.name)
    finally:
        shutil.rmtree(aside)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """ISO dates, dot decimals, and no cell that a spreadsheet would take for a formula."""
    guarded = table.copy()
    for name in guarded.select_dtypes(["object", "str"]).columns:
        guarded[name] = [_guarded(cell) for cell in guarded[name]]
    guarded.to_csv(path, index=False, date_format="%Y-%m-%d", lineterminator="\n", encoding="utf-8")


def _guarded(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


def _read_csv(path: Path, row_type: type[Any]) -> pd.DataFrame:
    text = [column.name for column in fields(row_type) if column.type == "str"]
    table = pd.read_csv(
        path,
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


def _write_parquet(table: pd.DataFrame, path: Path) -> None:
    table.to_parquet(path, index=False, compression="zstd")


def _manifest(comparison: Comparison, command: str, written: Path) -> dict[str, Any]:
    scenario = comparison.scenario
    return {
        "title": scenario.title,
        "question": scenario.question,
        "start": scenario.start.isoformat(),
        "horizon_days": scenario.horizon_days,
        "seed": comparison.seed,
        "replications": comparison.replications,
        "baseline": comparison.baseline,
        "policies": [{"name": policy.name, **parts_said(policy)} for policy in comparison.policies],
        "command": command,
        "versions": {
            "labspend": __version__,
            "python": platform.python_version(),
            **{library: version(library) for library in _LIBRARIES},
        },
        "sha256": {
            path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(written.iterdir()) if path.is_file()
        },
    }
