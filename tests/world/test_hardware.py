"""The catalogue against the published sheets: dense peaks, never the sparse ones that are twice as high."""

from __future__ import annotations

import csv
import os
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from simulator.laws.chip import peak_flop_per_second
from simulator.laws.precision import BF16, FP8, INT8
from simulator.world.hardware import CATALOGUE, AcceleratorInputs

TERA, GIGA = 1e12, 1e9

# Published, dense: bf16, fp8, int8, fp4 in TFLOP/s, HBM in GB, TB/s, chip power in W, launch.
PUBLISHED = {
    "V100 16GB": (125, 0, 0, 0, 16, 0.90, 300, date(2017, 6, 21)),
    "V100 32GB": (125, 0, 0, 0, 32, 0.90, 300, date(2018, 3, 27)),
    "A100 40GB": (312, 0, 624, 0, 40, 1.56, 400, date(2020, 5, 14)),
    "A100": (312, 0, 624, 0, 80, 2.04, 400, date(2020, 11, 16)),
    "H100": (989, 1979, 1979, 0, 80, 3.35, 700, date(2022, 9, 20)),
    "H200": (989, 1979, 1979, 0, 141, 4.8, 700, date(2024, 11, 18)),
    "B200": (2250, 4500, 4500, 9000, 180, 8.0, 1000, date(2024, 3, 18)),
    "GB200": (2500, 5000, 5000, 10000, 186, 8.0, 1200, date(2024, 6, 1)),
    "B300": (2250, 4500, 0, 13500, 268, 8.0, 1400, date(2025, 8, 15)),
    "GB300": (2500, 5000, 0, 15000, 278, 8.0, 1400, date(2025, 8, 15)),
    "MI300X": (1307, 2615, 2615, 0, 192, 5.3, 750, date(2023, 12, 6)),
    "MI325X": (1307, 2615, 2615, 0, 256, 6.0, 1000, date(2024, 10, 1)),
    "MI355X": (2516, 5033, 0, 10066, 288, 8.0, 1400, date(2025, 6, 12)),
    "TPU v4": (275, 0, 275, 0, 32, 1.2, 170, date(2021, 5, 20)),
    "TPU v5e": (197, 0, 394, 0, 16, 0.82, 140, date(2023, 8, 29)),
    "TPU v5p": (459, 0, 918, 0, 95, 2.8, 280, date(2023, 12, 6)),
    "TPU v6e": (918, 0, 1836, 0, 32, 1.64, 390, date(2024, 5, 14)),
}
EPOCH = {
    "V100 16GB": "NVIDIA Tesla V100 SXM2 16 GB",
    "V100 32GB": "NVIDIA Tesla V100 SXM2 32 GB",
    "A100 40GB": "NVIDIA A100 SXM4 40 GB",
    "A100": "NVIDIA A100 SXM4 80 GB",
    "H100": "NVIDIA H100 SXM5 80GB",
    "H200": "NVIDIA H200 SXM",
    "B200": "NVIDIA B200",
    "B300": "NVIDIA B300",
    "GB300": "NVIDIA GB300",
    "MI300X": "AMD Instinct MI300X",
    "TPU v4": "Google TPU v4",
    "TPU v5e": "Google TPU v5e",
    "TPU v5p": "Google TPU v5p",
    "TPU v6e": "Google TPU v6e Trillium",
}
"""Rows of Epoch AI's chip dataset; it lists two GB200 together, and other peaks of the MI355X."""
FOUND = {accelerator.name: accelerator for accelerator in CATALOGUE}


def test_the_catalogue_holds_the_chips_of_the_frontier() -> None:
    assert len(FOUND) == len(CATALOGUE)
    assert set(FOUND) == set(PUBLISHED)


@pytest.mark.parametrize("name", FOUND)
def test_a_chip_is_as_published(name: str) -> None:
    bf16, fp8, int8, fp4, memory_gb, tb_per_second, watt, launch = PUBLISHED[name]
    accelerator, chip = FOUND[name], FOUND[name].chip
    assert chip.bf16_flop_per_second == pytest.approx(bf16 * TERA)
    assert chip.fp8_flop_per_second == pytest.approx(fp8 * TERA)
    assert chip.int8_flop_per_second == pytest.approx(int8 * TERA)
    assert chip.fp4_flop_per_second == pytest.approx(fp4 * TERA)
    assert chip.memory_bytes == pytest.approx(memory_gb * GIGA)
    assert chip.memory_bytes_per_second == pytest.approx(tb_per_second * TERA)
    assert accelerator.power_kw == pytest.approx(watt / 1000)
    assert accelerator.launch == launch
    assert accelerator.source


@pytest.mark.parametrize(
    ("name", "sparse_tflop"),
    [("A100", 624), ("H100", 1979), ("B200", 4500), ("GB300", 5000), ("MI300X", 2614.9), ("MI355X", 5033)],
)
def test_peaks_are_dense(name: str, sparse_tflop: float) -> None:
    # What the vendors print for bf16 "with sparsity".
    assert peak_flop_per_second(FOUND[name].chip, BF16) == pytest.approx(sparse_tflop * TERA / 2, rel=1e-3)


def test_the_catalogue_against_epoch() -> None:
    default = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("LABSPEND_DATA", default)) / "gpu_epoch_chip_specs.csv"
    if not path.is_file():
        pytest.skip("data not found: gpu_epoch_chip_specs.csv (set LABSPEND_DATA to the data folder)")
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["hardware"]: row for row in csv.DictReader(file)}
    compared = 0
    for ours, theirs in EPOCH.items():
        found, row = FOUND[ours], rows[theirs]
        chip = found.chip
        # B200 and the 300s: what a program can use of the memory; GB300 fp4: 15.28e15 there, 15e15 at InferenceX.
        # The 1,750 W of the 300s are a chip with its share of the server.
        watt = 1000.0 * (found.server_power_kw if ours in ("B300", "GB300") else found.power_kw)
        pairs = {
            "tensor_fp16_flops": (chip.bf16_flop_per_second, 2e-3),
            "fp8_flops": (chip.fp8_flop_per_second, 2e-3),
            "fp4_flops": (chip.fp4_flop_per_second, 2e-2),
            "int8_ops": (chip.int8_flop_per_second, 3e-3),
            "memory_bytes": (chip.memory_bytes, 0.07),
            "mem_bw_bytes_s": (chip.memory_bytes_per_second, 0.015),
            "tdp_w": (watt, 1e-9),
        }
        for column, (value, close) in pairs.items():
            if row[column]:
                assert value == pytest.approx(float(row[column]), rel=close), (ours, column)
                compared += 1
        if row["release_date"]:
            assert str(found.launch) == row["release_date"], ours
    assert compared > 60


def test_an_assumption_says_so() -> None:
    for name in ("TPU v5p", "TPU v6e"):
        assert "power not published: assumed" in FOUND[name].source
    per_watt = {name: FOUND[name].chip.bf16_flop_per_second / FOUND[name].power_kw for name in FOUND}
    assert per_watt["TPU v5p"] == pytest.approx(per_watt["TPU v4"], rel=0.02)
    assert per_watt["TPU v6e"] == pytest.approx(1.67 * per_watt["TPU v5e"], rel=0.02)
    given = {"A100 40GB", "A100", "H100", "B300", "GB300", "TPU v4", "TPU v5e", "TPU v5p", "TPU v6e", "MI325X"}
    for name in set(FOUND) - given:
        assert "server / chip power assumed" in FOUND[name].source, name


def test_a_server_draws_more_than_its_chips() -> None:
    # Cottier et al. 2024: an 8-GPU H100 server 10.2 kW of 8 x 0.7; A100 x 2.031.
    assert FOUND["H100"].server_power_kw == pytest.approx(10.2 / 8, rel=1e-3)
    assert FOUND["A100"].server_power_kw == pytest.approx(0.4 * 2.031, rel=1e-12)
    assert FOUND["TPU v5e"].server_power_kw == pytest.approx(0.14 * 1.56, rel=1e-12)


def test_a_chip_without_a_format_multiplies_in_bf16() -> None:
    a100 = FOUND["A100"].chip
    assert peak_flop_per_second(a100, FP8) == 312 * TERA
    assert peak_flop_per_second(a100, INT8) == 624 * TERA


def row(**changes: object) -> dict[str, object]:
    return {
        "name": "X",
        "bf16_tflop_per_second": 1000,
        "memory_gb": 100,
        "memory_tb_per_second": 4,
        "power_kw": 1,
        "launch": "2027-01-01",
        "source": "a test",
    } | changes


def test_a_row_of_the_users_own_counts_in_base_units() -> None:
    added = AcceleratorInputs.model_validate(row()).accelerator()
    assert added.chip.bf16_flop_per_second == 1e15
    assert added.chip.memory_bytes == 1e11
    assert added.chip.memory_bytes_per_second == 4e12
    assert added.chip.fp8_flop_per_second == 0.0


@pytest.mark.parametrize("changes", [{"bf16_tflop_per_second": 0}, {"memory_gb": -1}, {"power_kw": 0}, {"tdp": 700}])
def test_a_row_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AcceleratorInputs.model_validate(row(**changes))
