"""Forecasts of published records, scored on what came: what README says of them is what comes out.

Google's figures come with labspend; OpenRouter (CC BY 4.0) and Google Cloud (Cyclenerd, Apache-2.0) are read from
$LABSPEND_DATA, else ../shared/data beside the repo.
"""

from __future__ import annotations

import os
import re
from datetime import date
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simulator.study import backtest_fits
from simulator.study.backtest import Backtest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CUT = date(2023, 12, 31)


def data_file(name: str) -> Path:
    path = Path(os.environ.get("LABSPEND_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.is_file():
        pytest.skip(f"data not found: {name} (set LABSPEND_DATA to the data folder)")
    return path


def said(record: str) -> tuple[float, float, float, float]:
    """Shares inside the 50 % and 90 % bands, and the two factors, in README's row of a record."""
    row = re.search(rf"^\| {re.escape(record)}.*$", README, re.MULTILINE)
    assert row is not None
    cells = [cell.strip() for cell in row[0].strip("|").split("|")]
    shares = [
        float(cell.split()[0]) / (100.0 if cell.endswith("%") else float(cell.split()[-1])) for cell in cells[3:5]
    ]
    off, last = (float(cell.removeprefix("x ")) for cell in cells[5:7])
    return shares[0], shares[1], off, last


def check(record: str, found: list[Backtest], within: float) -> None:
    n = np.array([len(one.points) for one in found])
    shares = sum(one.inside_50 for one in found) / n.sum(), sum(one.inside_90 for one in found) / n.sum()
    factors = [
        np.exp(np.average(np.log([getattr(one, name) for one in found]), weights=n))
        for name in ("typical_factor", "naive_factor")
    ]
    expected = said(record)
    assert shares == pytest.approx(expected[:2], abs=within)
    assert factors == pytest.approx(expected[2:], rel=0.01)


def test_google_was_forecast_far_too_high() -> None:
    found = backtest_fits.google(date(2025, 7, 31))
    check("Google, tokens", [found], 0.0)
    # By hand: 101-fold in 449 days is 42.7-fold a year; what came is 1.327 and 3.265 times the last report.
    assert found.fitted[0].startswith("growth x 42.7 a year")
    growth = (9.8e14 / 9.7e12) ** (365.25 / 449)
    assert growth == pytest.approx(42.7, abs=0.05)
    assert found.naive_factor == pytest.approx(sqrt(1.3 / 0.98 * 3.2 / 0.98))
    assert all(point.value < point.p05 for point in found.points)


def test_open_router_slowed_down_after_24_days() -> None:
    path = data_file("demand_openrouter_daily.csv")
    found = backtest_fits.usage(path, date(2026, 6, 12))
    check("OpenRouter, daily tokens", [found], 0.08)
    tokens = pd.read_csv(path)["total_tokens"].to_numpy()
    assert (len(found.record.known), len(found.points)) == (24, 14)
    assert found.naive_factor == pytest.approx(np.exp(np.abs(np.log(tokens[24:] / tokens[23])).mean()))


@pytest.mark.parametrize(
    ("record", "column"),
    [
        ("Google Cloud, on-demand lists of 3 GPUs", "on_demand_usd_per_gpu_hour"),
        ("Google Cloud, spot prices of 3 GPUs", "spot_usd_per_gpu_hour"),
    ],
)
def test_google_cloud_prices_from_2024_on(record: str, column: str, tmp_path: Path) -> None:
    history = pd.read_csv(data_file("gpu_gcp_price_history.csv"))
    history[history[column].notna()].to_csv(tmp_path / "prices.csv", index=False)
    found = [
        backtest_fits.prices(tmp_path / "prices.csv", "date", column, {"gpu": gpu, "region": region}, CUT)
        for gpu in ("A100-40GB", "A100-80GB", "L4-24GB")
        for region in ("us-central1", "europe-west4")
    ]
    assert all(one.record.held_out_days[-1] == date(2026, 7, 30) for one in found)
    check(record, found, 0.04)


def test_cloud_lists_from_2024_on(tmp_path: Path) -> None:
    """Full Stack Deep Learning's snapshots: every instance with half a year on record before the cut."""
    history = pd.read_csv(data_file("gpu_fsdl_cloud_price_snapshots.csv")).dropna(subset=["on_demand_usd_per_gpu_hour"])
    found = []
    for _, rows in history.groupby(["provider", "gpu_type", "n_gpus", "instance"], dropna=False):
        own = rows.drop_duplicates("snapshot_date")
        known = own.loc[own["snapshot_date"] <= str(CUT), "snapshot_date"]
        if len(known) < 3 or len(known) == len(own):
            continue
        if (pd.Timestamp(known.iloc[-1]) - pd.Timestamp(known.iloc[0])).days < 26 * 7:
            continue
        own.to_csv(tmp_path / "prices.csv", index=False)
        column = "on_demand_usd_per_gpu_hour"
        found.append(backtest_fits.prices(tmp_path / "prices.csv", "snapshot_date", column, {}, CUT, worlds=100))
    assert (len(found), sum(len(one.points) for one in found)) == (122, 470)
    check("Full Stack Deep Learning, on-demand lists", found, 0.0)
