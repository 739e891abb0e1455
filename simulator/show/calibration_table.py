"""How a person sees what a trace says of demand: a row per figure, and what could not be known."""

from __future__ import annotations

import math

from rich.table import Table

from simulator.show.money import DASH, percent, scaled
from simulator.show.plain_table import plain_table
from simulator.study.calibrate import Calibration, whole_days
from simulator.study.fit_lines import FitLine

_SMALL = 1e4


def calibration_table(found: Calibration, lines: tuple[FitLine, ...]) -> Table:
    """A row per figure with its standard error and what it means."""
    notes = [f"- {note}." for note in found.notes]
    table = plain_table(
        f"What {found.trace} says of demand ({whole_days(found.n_whole_days)})",
        "\n".join(["Not known, or left out:", *notes]) if notes else "",
        Table,
    )
    table.add_column("Figure", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Error", justify="right", no_wrap=True)
    table.add_column("What it means", overflow="fold")
    for line in lines:
        if not line.is_detail:
            table.add_row(line.label, _said(line.value, line), _said(line.standard_error, line), line.meaning)
    return table


def _said(value: float, line: FitLine) -> str:
    if not math.isfinite(value):
        return DASH
    match line.unit:
        case "share":
            return percent(value, 1)
        case "a day":
            return percent(value, 2)
    return scaled(value) if line.value >= _SMALL else f"{value:,.0f}" if line.value >= 100.0 else f"{value:.3f}"
