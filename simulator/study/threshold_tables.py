"""The answers of a search for thresholds, as files in its results folder."""

from __future__ import annotations

from pathlib import Path

from simulator.study.csv_cells import write_csv
from simulator.study.frames import frame
from simulator.study.threshold_answers import Threshold, Thresholds, TrialRow

THRESHOLDS, TRIALS = "thresholds.csv", "threshold_trials.csv"


def save_tables(found: Thresholds, folder: Path) -> None:
    """Write the thresholds, and every value tried, as CSV."""
    write_csv(frame(found.thresholds, Threshold), folder / THRESHOLDS)
    write_csv(frame(found.rows, TrialRow), folder / TRIALS)
