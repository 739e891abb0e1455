"""The catalogue against the published sheets: dense peaks, never the sparse ones that are twice as high."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from simulator.laws.chip import peak_flop_per_second
from simulator.laws.precision import BF16, FP8, INT8
from simulator.world.hardware import CATALOGUE, AcceleratorInputs

TERA, GIGA = 1e12, 1e9

# Numbers H1, dense: bf16, fp8, int8, fp4 in TFLOP/s, HBM in GB, TB/s, chip power in W, launch.
PUBLISHED = {
    "A100": (312, 0, 624, 0, 80, 2.04, 400, date(2020, 11, 16)),
    "H100": (989, 1979, 1979, 0, 80, 3.35, 700, date(2022, 9, 20)),
    "H200": (989, 1979, 1979, 0, 141, 4.8, 700, date(2024, 11, 18)),
    "B200": (2250, 4500, 4500, 9000, 180, 8.0, 1000, date(2024, 3, 18)),
    "GB200": (2500, 5000, 5000, 10000, 186, 8.0, 1200, date(2024, 6, 1)),
    "MI300X": (1307, 2615, 2615, 0, 192, 5.3, 750, date(2023, 12, 6)),
    "MI325X": (1307, 2615, 2615, 0, 256, 6.0, 1000, date(2024, 10, 1)),
}
FOUND = {accelerator.name: accelerator for accelerator in CATALOGUE}


def test_the_catalogue_holds_the_chips_of_the_frontier() -> None:
    assert {"A100", "H100", "H200", "B200", "MI300X"} <= set(FOUND)
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


@pytest.mark.parametrize(("name", "sparse_tflop"), [("A100", 624), ("H100", 1979), ("B200", 4500), ("MI300X", 2614.9)])
def test_peaks_are_dense(name: str, sparse_tflop: float) -> None:
    # What the vendors print for bf16 "with sparsity".
    assert peak_flop_per_second(FOUND[name].chip, BF16) == pytest.approx(sparse_tflop * TERA / 2, rel=1e-3)


def test_a_server_draws_more_than_its_chips() -> None:
    # Cottier et al. 2024: an 8-GPU H100 server 10.2 kW of 8 x 0.7; A100 x 2.031.
    assert FOUND["H100"].server_power_kw == pytest.approx(10.2 / 8, rel=1e-3)
    assert FOUND["A100"].server_power_kw == pytest.approx(0.4 * 2.031, rel=1e-12)


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
