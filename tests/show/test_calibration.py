"""The table and the picture of a calibration."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from simulator.laws.units import FloatArray
from simulator.show.calibration_plot import trace_against_band
from simulator.show.calibration_table import calibration_table
from simulator.study.calibrate import calibrate
from simulator.study.fit_lines import fit_lines
from simulator.study.trace_band import trace_band
from simulator.study.usage import Usage
from simulator.study.usage_csv import Kind


def usage(tokens: FloatArray, *, is_dated: bool = True) -> Usage:
    none = np.zeros(0)
    hours = np.zeros((tokens.size, 0))
    return Usage(Path("t.csv"), Kind.DAY, is_dated, date(2026, 6, 1), tokens, hours, none, none, ())


def noisy(n: int, growth: float) -> FloatArray:
    return 1e12 * np.exp(growth * np.arange(n) + 0.1 * np.random.default_rng(1).standard_normal(n))


@pytest.mark.parametrize(("growth", "scale"), [(0.01, "linear"), (0.08, "log")])
def test_points_are_the_trace_and_the_caption_counts_them(growth: float, scale: str) -> None:
    tokens = noisy(50, growth)
    found = calibrate(usage(tokens))
    assert found.daily is not None
    band = trace_band(found, found.daily, worlds=200)
    ax = trace_against_band(found, found.daily, band)
    (points,) = (line for line in ax.get_lines() if line.get_label() == "trace")
    assert np.asarray(points.get_ydata()).tolist() == tokens.tolist()
    inside = int(((tokens >= band.p05) & (tokens <= band.p95)).sum())
    assert f"{inside} of 50 days inside the 90 % band" in ax.get_xlabel().replace("\n", " ")
    assert ax.get_yscale() == scale


def test_a_trace_without_dates_is_drawn_by_day_number() -> None:
    found = calibrate(usage(noisy(30, 0.0), is_dated=False))
    assert found.daily is not None
    ax = trace_against_band(found, found.daily, trace_band(found, found.daily, worlds=100))
    assert ax.get_lines()[-1].get_xdata()[-1] == 29.0  # type: ignore[index]
    assert "Days from the start of the trace." in ax.get_xlabel()


def test_the_table_tells_what_is_not_known_and_leaves_details_to_the_file() -> None:
    found = calibrate(usage(noisy(20, 0.0)))
    lines = fit_lines(found, None)
    table = calibration_table(found, lines)
    assert table.row_count == sum(not line.is_detail for line in lines)
    assert "no weekday pattern: 20 days are too few" in str(table.caption)
    assert len({line.name for line in lines}) == len(lines)
