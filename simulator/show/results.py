"""What a comparison leaves beside its tables for people to look at: the pictures, and the report that holds them."""

from __future__ import annotations

from pathlib import Path

from simulator.show import plots
from simulator.show.report import write_report
from simulator.study.comparison import Comparison


def save_pictures_and_report(comparison: Comparison, folder: Path) -> None:
    """Write them to a folder that has the tables and the scenario; equal studies make equal bytes."""
    plots.save_plots(comparison, folder)
    write_report(comparison, folder)
