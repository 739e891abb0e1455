"""Published prices against the tables they were read from, and what is said of them against the rows."""

from __future__ import annotations

import csv
import os
from datetime import date
from pathlib import Path

import pytest

from simulator.world.hardware import CATALOGUE
from simulator.world.price_history import DISCOUNTS, PRICES, RENTS, SALES, UPKEEP, PriceKind, PriceUnit, PublishedPrice

EPOCH = {
    "A100 40GB": "NVIDIA A100 SXM4 40 GB",
    "A100": "NVIDIA A100 SXM4 80 GB",
    "H100": "NVIDIA H100 SXM5 80GB",
    "H200": "NVIDIA H200 SXM",
    "B200": "NVIDIA B200",
    "MI300X": "AMD Instinct MI300X",
    "TPU v4": "Google TPU v4",
    "TPU v5e": "Google TPU v5e",
    "TPU v5p": "Google TPU v5p",
    "TPU v6e": "Google TPU v6e Trillium",
    "V100 32GB": "NVIDIA Tesla V100 SXM2 32 GB",
}
COLUMNS = {
    PriceKind.ON_DEMAND: ("on_demand_usd_per_chip_hour", "on_demand_usd_per_gpu_hour"),
    PriceKind.ONE_YEAR: ("cud_1y_usd_per_chip_hour", "cud_1y_usd_per_gpu_hour"),
    PriceKind.THREE_YEAR: ("cud_3y_usd_per_chip_hour", "cud_3y_usd_per_gpu_hour"),
    PriceKind.SPOT: ("", "spot_usd_per_gpu_hour"),
    PriceKind.PURCHASE: ("purchase_price_usd", ""),
}


def rows_of(name: str) -> list[dict[str, str]]:
    """A file of the data folder, or skip where it is not at hand."""
    default = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("LABSPEND_DATA", default)) / name
    if not path.is_file():
        pytest.skip(f"data not found: {name} (set LABSPEND_DATA to the data folder)")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def price(kind: PriceKind, accelerator: str, vendor: str, day: date) -> float:
    """The one price that matches."""
    (found,) = (
        row for row in PRICES if (row.kind, row.accelerator, row.vendor, row.day) == (kind, accelerator, vendor, day)
    )
    return found.value


def test_rows_of_epoch_are_in_their_table() -> None:
    rows = rows_of("gpu_epoch_hardware_prices.csv")
    ours = [row for row in PRICES if row.source.startswith("Epoch") and row.accelerator in EPOCH]
    ours = [row for row in ours if not row.product.startswith("PCIe")]
    assert len(ours) > 50
    for row in ours:
        told = [
            float(found[COLUMNS[row.kind][0]])
            for found in rows
            if (found["hardware"], found["date"]) == (EPOCH[row.accelerator], str(row.day))
            and found[COLUMNS[row.kind][0]]
        ]
        assert any(abs(usd - row.value) < 0.006 for usd in told), row


def test_rows_of_google_are_in_the_history_of_their_list() -> None:
    rows = rows_of("gpu_gcp_price_history.csv")
    names = {"A100 40GB": "A100-40GB", "A100": "A100-80GB", "H100": "H100-80GB"}
    ours = [row for row in PRICES if row.source.startswith("Google Cloud")]
    assert len(ours) >= 17
    for row in ours:
        told = [
            found[COLUMNS[row.kind][1]]
            for found in rows
            if (found["gpu"], found["date"], found["region"]) == (names[row.accelerator], str(row.day), "us-central1")
        ]
        assert str(row.value) in told, row


def test_rows_of_the_full_stack_are_in_their_table() -> None:
    rows = rows_of("gpu_fsdl_cloud_price_snapshots.csv")
    ours = [row for row in PRICES if row.source.startswith("The Full Stack")]
    assert len(ours) == 3
    for row in ours:
        told = [
            found[COLUMNS[row.kind][1]]
            for found in rows
            if (found["snapshot_date"], found["instance"]) == (str(row.day), "p4d.24xlarge")
        ]
        assert f"{row.value:.4f}" in told, row


@pytest.mark.parametrize(
    ("accelerator", "before", "after", "fall"),
    [
        ("H100", date(2025, 3, 17), date(2025, 6, 1), 0.440),
        ("A100 40GB", date(2025, 3, 7), date(2025, 6, 1), 0.330),
        ("A100", date(2025, 3, 2), date(2025, 6, 1), 0.330),
        ("H200", date(2025, 3, 17), date(2025, 6, 1), 0.254),
    ],
)
def test_the_cut_of_june_2025(accelerator: str, before: date, after: date, fall: float) -> None:
    """AWS: p5 -44.0 %, p4d and p4de -33.0 %, p5en -25.4 %, computed from price lists."""
    was, became = (price(PriceKind.ON_DEMAND, accelerator, "AWS", day) for day in (before, after))
    assert 1.0 - became / was == pytest.approx(fall, abs=6e-4)


def test_the_month_that_is_often_quoted_is_of_eight_gpus() -> None:
    """32.77 x 730 = 23,922 USD a month for p4d.24xlarge, 2,990 a GPU; at Cudo 1,095; after June 2025 16,029."""
    hour = price(PriceKind.ON_DEMAND, "A100 40GB", "AWS", date(2025, 3, 7))
    assert 8.0 * hour == pytest.approx(32.77, abs=5e-3)
    assert 8.0 * hour * 730 == pytest.approx(23_922, abs=1.0)
    assert hour * 730 == pytest.approx(2990, abs=1.0)
    assert price(PriceKind.ON_DEMAND, "A100", "Cudo", date(2025, 3, 3)) * 730 == pytest.approx(1095)
    assert 8.0 * price(PriceKind.ON_DEMAND, "A100 40GB", "AWS", date(2025, 6, 1)) * 730 == pytest.approx(16_029, abs=3)


@pytest.mark.parametrize(
    ("accelerator", "vendor", "day", "one_year", "three_year"),
    [
        ("A100 40GB", "AWS", date(2021, 11, 4), 0.415, 0.646),
        ("A100", "AWS", date(2026, 6, 1), 0.364, 0.574),
        ("A100", "Azure", date(2022, 4, 15), 0.361, 0.561),
        ("H100", "Google Cloud", date(2025, 3, 17), 0.307, 0.561),
        ("TPU v4", "Google Cloud", date(2022, 5, 11), 0.370, 0.550),
    ],
)
def test_discounts_follow_from_the_lists(
    accelerator: str, vendor: str, day: date, one_year: float, three_year: float
) -> None:
    on_demand = price(PriceKind.ON_DEMAND, accelerator, vendor, day)
    for kind, off in ((PriceKind.ONE_YEAR, one_year), (PriceKind.THREE_YEAR, three_year)):
        assert 1.0 - price(kind, accelerator, vendor, day) / on_demand == pytest.approx(off, abs=6e-4)


def test_the_defaults_of_cottier() -> None:
    shares = {(row.vendor, row.kind): row.value for row in DISCOUNTS}
    for vendor, one_year, three_year in (
        ("AWS", 0.41, 0.64),
        ("Google Cloud", 0.37, 0.56),
        ("Azure", 0.25, 0.49),
        ("Lambda", 0.34, 0.56),
    ):
        assert (shares[vendor, PriceKind.ONE_YEAR], shares[vendor, PriceKind.THREE_YEAR]) == (one_year, three_year)


def test_rents_fell_and_rose_again() -> None:
    """One-year H100 contracts +38 % from October 2025 to March 2026; Google's H100 spot fell, then doubled."""
    low, high = (
        price(PriceKind.ONE_YEAR, "H100", "market index", day) for day in (date(2025, 10, 1), date(2026, 3, 1))
    )
    assert high / low - 1.0 == pytest.approx(0.38, abs=5e-3)
    days = (date(2024, 5, 17), date(2025, 6, 5), date(2026, 7, 30))
    first, least, last = (price(PriceKind.SPOT, "H100", "Google Cloud", day) for day in days)
    assert least < first / 2.0
    assert last > 2.0 * least


def test_power_and_floor_space_by_year() -> None:
    power = {row.day.year: row.value for row in UPKEEP if row.kind is PriceKind.ELECTRICITY}
    assert power == {2019: 0.0681, 2020: 0.0667, 2021: 0.0718, 2022: 0.0832, 2023: 0.0806, 2024: 0.0771, 2025: 0.0826}
    floor = {row.day.year: row.value for row in UPKEEP if row.kind is PriceKind.HOSTING}
    assert floor == {2022: 137.86, 2023: 163.44, 2024: 184.06, 2025: 217.30}


@pytest.mark.parametrize("row", PRICES, ids=lambda row: f"{row.kind.value} {row.accelerator} {row.vendor} {row.day}")
def test_a_row_is_whole(row: PublishedPrice) -> None:
    assert row.accelerator in {"", *(found.name for found in CATALOGUE)}
    assert row.value > 0.0
    assert row.source
    assert date(2017, 1, 1) < row.day < date(2026, 12, 3)
    assert row.vendor or row.product


def test_no_fact_is_told_twice_and_units_follow_the_kinds() -> None:
    facts = [(row.kind, row.accelerator, row.vendor, row.product, row.day) for row in PRICES]
    assert len(set(facts)) == len(facts)
    assert {row.unit for row in RENTS} == {PriceUnit.GPU_HOUR}
    assert {row.unit for row in SALES} == {PriceUnit.GPU}
    assert {(row.kind, row.unit) for row in UPKEEP} == {
        (PriceKind.ELECTRICITY, PriceUnit.KWH),
        (PriceKind.HOSTING, PriceUnit.KW_MONTH),
    }
    assert {row.unit for row in DISCOUNTS} == {PriceUnit.OFF_ON_DEMAND}
