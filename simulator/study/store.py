"""A study as a folder: tables that any tool reads, the scenario that made them, and a manifest of what is there.

Everything is written aside, in `.unfinished`, and moved into the folder when it is all there, `manifest.json`
last: a folder with a manifest is whole. Equal studies make equal bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import pandas as pd

from simulator.study.commitments import CommitmentRow
from simulator.study.comparison import Comparison, SummaryRow
from simulator.study.csv_cells import read_csv, write_csv
from simulator.study.fleet_statement import FleetRow
from simulator.study.frames import frame
from simulator.study.identity import versions
from simulator.study.part_files import in_groups, write_frames
from simulator.study.price_book import PriceRow, price_book
from simulator.study.rankings import rankings
from simulator.study.restated import parts_said, study_text_of
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow
from simulator.study.stages import StageRow
from simulator.study.why import WHY, WhyRow, why_rows

SUMMARY, REPLICATIONS, DAILY = "summary.csv", "replications.parquet", "daily.parquet"
MONTHLY = "monthly.parquet"
RELEASES, ORDERS, PRICE_BOOK = "releases.csv", "orders.csv", "price_book.csv"
FLEET, COMMITMENTS, STAGES = "fleet.csv", "commitments.csv", "stages.csv"
SCENARIO, MANIFEST = "scenario.toml", "manifest.json"
REPLANS = "replans.csv"
"""Only where a policy may change course."""


UNFINISHED = ".unfinished"
Pictures = Callable[[Comparison, Path], object]


@dataclass(frozen=True, slots=True)
class Stored:
    """A results folder, read back."""

    summary: pd.DataFrame
    replications: pd.DataFrame
    daily: pd.DataFrame
    monthly: pd.DataFrame
    releases: pd.DataFrame
    orders: pd.DataFrame
    fleet: pd.DataFrame
    commitments: pd.DataFrame
    stages: pd.DataFrame
    price_book: pd.DataFrame
    replans: pd.DataFrame
    scenario_text: str


def save(
    comparison: Comparison,
    folder: str | Path,
    *,
    command: str = "",
    study_text: str = "",
    pictures: Pictures | None = None,
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
    aside = target / UNFINISHED
    aside.mkdir()
    try:
        write_frames(in_groups(comparison.replications_table), aside / REPLICATIONS)
        write_csv(comparison.releases_table, aside / RELEASES)
        write_csv(comparison.orders_table, aside / ORDERS)
        write_csv(comparison.commitments_table, aside / COMMITMENTS)
        write_csv(comparison.replans_table, aside / REPLANS)
        write_answers(comparison, aside, command=command, study_text=study_text, pictures=pictures)
        move_up(aside, target)
    finally:
        shutil.rmtree(aside)


def write_answers(
    comparison: Comparison, aside: Path, *, command: str, study_text: str, pictures: Pictures | None
) -> None:
    """Write what follows from the lists that are there: tables, the scenario, pictures and the manifest."""
    write_csv(comparison.summary(), aside / SUMMARY)
    _write_parquet(comparison.daily_table, aside / DAILY)
    _write_parquet(comparison.monthly_table, aside / MONTHLY)
    write_csv(comparison.fleet_table, aside / FLEET)
    write_csv(comparison.stages_table, aside / STAGES)
    write_csv(frame(price_book(comparison.scenario), PriceRow), aside / PRICE_BOOK)
    for name, table in rankings(comparison):
        write_csv(table, aside / name)
    if len(comparison.policies) > 1:
        write_csv(frame(tuple(why_rows(comparison)), WhyRow), aside / WHY)
    if not any(policy.replan is not None for policy in comparison.policies):
        (aside / REPLANS).unlink()
    (aside / SCENARIO).write_bytes((study_text or study_text_of(comparison)).encode())
    if pictures is not None:
        pictures(comparison, aside)
    manifest = _manifest(comparison, command, aside)
    (aside / MANIFEST).write_bytes((json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())


def move_up(aside: Path, target: Path) -> None:
    """Move what is whole to its place, the manifest last."""
    for path in sorted(aside.iterdir(), key=lambda path: (path.name == MANIFEST, path.name)):
        path.replace(target / path.name)


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
        read_csv(source / SUMMARY, SummaryRow),
        pd.read_parquet(source / REPLICATIONS),
        pd.read_parquet(source / DAILY),
        pd.read_parquet(source / MONTHLY),
        read_csv(source / RELEASES, ReleaseRow),
        read_csv(source / ORDERS, OrderRow),
        read_csv(source / FLEET, FleetRow),
        read_csv(source / COMMITMENTS, CommitmentRow),
        read_csv(source / STAGES, StageRow),
        read_csv(source / PRICE_BOOK, PriceRow),
        read_csv(source / REPLANS, ReplanRow) if (source / REPLANS).is_file() else frame((), ReplanRow),
        (source / SCENARIO).read_text(encoding="utf-8"),
    )


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
        "versions": versions(),
        "sha256": {path.name: sha256_of(path) for path in sorted(written.iterdir()) if path.is_file()},
    }


def sha256_of(path: Path) -> str:
    """The hash of a file, as the manifest tells it."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
