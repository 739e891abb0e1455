"""How good a forecast would have been, as a table of held-out points and in a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from simulator.show.money import percent, scaled
from simulator.show.plain_table import plain_table
from simulator.study.backtest import Backtest

_MOST_ROWS = 16
_FEW_POINTS = 20


def backtest_table(found: Backtest) -> Table:
    """A row per held-out point, or per one of sixteen where there are more."""
    record = found.record
    n = len(found.points)
    shown = np.unique(np.linspace(0, n - 1, min(n, _MOST_ROWS)).round().astype(int)).tolist()
    fewer = f" {len(shown)} of the {n} points are shown." if len(shown) < n else ""
    table = plain_table(
        f"{Path(record.name).name}, {record.what}: forecast on {record.cut}, and what came",
        f"Fitted to {len(record.known)} values, {record.known_days[0]} to {record.cut}: {'; '.join(found.fitted)}.\n"
        f"{found.worlds:,} worlds drawn from that fit.{fewer}",
        Table,
    )
    table.add_column("Day", no_wrap=True)
    for header in ("Came", "Median\nworld", "50 % band", "90 % band", "Last\nvalue"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("Inside", no_wrap=True)
    for at in shown:
        point = found.points[at]
        inside = "50 %" if point.is_inside_50 else "90 %" if point.is_inside_90 else "no"
        bands = (f"{scaled(low)} to {scaled(high)}" for low, high in ((point.p25, point.p75), (point.p05, point.p95)))
        came, median, last = (scaled(value) for value in (point.value, point.p50, point.last_value))
        table.add_row(str(point.day), came, median, *bands, last, inside)
    return table


def backtest_verdict(found: Backtest) -> str:
    """Coverage, and error beside that of the naive forecast."""
    n = len(found.points)
    said = (
        f"Inside the 50 % band: {found.inside_50} of {n} ({percent(found.inside_50 / n)}); "
        f"inside the 90 % band: {found.inside_90} of {n} ({percent(found.inside_90 / n)})."
    )
    off = f"The median world is off by a factor of {found.typical_factor:.3g}, the last value known by "
    naive = f"{found.naive_factor:.3g}."
    few = " Points are few" if n < _FEW_POINTS else " Points follow each other closely"
    return f"{said} {off}{naive}{few}, so the shares are rough."
