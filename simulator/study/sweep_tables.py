"""The answers of a sweep, as files in its results folder."""

from __future__ import annotations

from pathlib import Path

from simulator.study.csv_cells import write_csv
from simulator.study.frames import frame
from simulator.study.sweep import InfluenceRow, Sweep

SWEEP, INFLUENCE = "sweep.csv", "influence.csv"


def save_tables(found: Sweep, folder: Path) -> None:
    """Write every point and policy, and what moves them, as CSV."""
    write_csv(found.table, folder / SWEEP)
    write_csv(frame(found.answers.influence, InfluenceRow), folder / INFLUENCE)
