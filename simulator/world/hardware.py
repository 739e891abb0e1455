"""The accelerators one can buy or rent: what they do, draw, and when they came. Facts, each row with its source.

Peaks are dense; vendors also print figures with sparsity, twice as high. A format without a peak is one the chip has
not, or for which none was found: the chip then multiplies in bf16. Memory is what a program can use where that is
known. What no source has is an assumption, and its row says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from pydantic import Field

from simulator.laws.chip import Chip
from simulator.laws.units import GIGA, SECONDS_PER_HOUR, TERA
from simulator.world.inputs import Inputs, NotNegative, Positive

_H100_SERVER = 1.821


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One kind of GPU. Peaks are dense; `power_kw` is the chip's own rated draw."""

    name: str
    chip: Chip
    power_kw: float
    server_power_factor: float
    launch: date
    source: str

    @property
    def server_power_kw(self) -> float:
        """Rated draw of one GPU with its share of the server [kW]."""
        return self.power_kw * self.server_power_factor

    @property
    def flop_per_kwh(self) -> float:
        """Peak bf16 FLOP per kWh at rated draw: what running costs go by."""
        return self.chip.bf16_flop_per_second * SECONDS_PER_HOUR / self.server_power_kw


class AcceleratorInputs(Inputs):
    """A kind of GPU that the scenario adds to the catalogue, or describes anew. Dense peaks."""

    name: str
    bf16_tflop_per_second: Positive
    fp8_tflop_per_second: NotNegative = 0.0
    int8_tflop_per_second: NotNegative = 0.0
    fp4_tflop_per_second: NotNegative = 0.0
    memory_gb: Positive
    memory_tb_per_second: Positive
    power_kw: Positive
    server_power_factor: Positive = Field(
        _H100_SERVER, description="server draw / chip draw (H100: 10.2 kW of 8 x 0.7)"
    )
    launch: date
    source: str = Field(description="where the figures were read")

    def accelerator(self) -> Accelerator:
        """The catalogue entry of these figures."""
        chip = Chip(
            self.name,
            self.bf16_tflop_per_second * TERA,
            self.fp8_tflop_per_second * TERA,
            self.int8_tflop_per_second * TERA,
            self.fp4_tflop_per_second * TERA,
            self.memory_gb * GIGA,
            self.memory_tb_per_second * TERA,
        )
        return Accelerator(self.name, chip, self.power_kw, self.server_power_factor, self.launch, self.source)


def _row(
    name: str,
    peaks_tflop: tuple[float, float, float, float],
    memory_gb: float,
    memory_tb_per_second: float,
    power_kw: float,
    launch: date,
    source: str,
    server_power_factor: float = _H100_SERVER,
) -> Accelerator:
    bf16, fp8, int8, fp4 = peaks_tflop
    return AcceleratorInputs(
        name=name,
        bf16_tflop_per_second=bf16,
        fp8_tflop_per_second=fp8,
        int8_tflop_per_second=int8,
        fp4_tflop_per_second=fp4,
        memory_gb=memory_gb,
        memory_tb_per_second=memory_tb_per_second,
        power_kw=power_kw,
        server_power_factor=server_power_factor,
        launch=launch,
        source=source,
    ).accelerator()


_EPOCH = "Epoch AI chip dataset (CC BY 4.0)"
_INFX = "SemiAnalysis InferenceX hardware specs"
_AS_A100, _AS_H100 = (f"server / chip power assumed as the {kind}'s" for kind in ("A100", "H100"))
_V100 = f"{_EPOCH}; SXM2; fp16, it has no bf16; {_AS_A100}"
_ULTRA = "1,400 W as the trade press has it, 1,750 W with the server as Epoch lists it; int8 not found"
_H200 = f"{_EPOCH}; SXM; fp8: {_INFX}; {_AS_H100}"
_B200 = f"{_INFX}; 180 GB usable of 192; {_AS_H100}"
_B300 = f"{_INFX}, which has 288 GB: the least published, 268, is taken; {_ULTRA}"
_GB300 = f"{_INFX}; one GPU of an NVL72; launch taken as the B300's; {_ULTRA}"
_355 = f"{_INFX} (Epoch: 2340, 4600, 9200); launch, 1.4 kW: The Register 2025-06-12; int8 not found; {_AS_H100}"
_TPU_4 = f"{_EPOCH}; 170 W is the chip's mean (Cottier et al. 2024 take 373)"
_TPU_5E = f"{_EPOCH}; int8: JAX scaling book"
_TPU_5P = f"{_EPOCH}; power not published: assumed by the FLOP per watt of a TPU v4"
_TPU_6E = f"{_EPOCH}; power not published: assumed by 1.67 times the FLOP per watt of a TPU v5e (Google 2024-05-14)"
_A100, _300, _TPU = 2.031, 1.25, 1.56
"""Server / chip power, Cottier et al. 2024; of the 300s as their row says; 1.821, the H100's, where none is given."""

CATALOGUE: tuple[Accelerator, ...] = (
    # name, dense TFLOP/s (bf16, fp8, int8, fp4), GB, TB/s, kW, launch, source, server/chip power
    _row("V100 16GB", (125, 0, 0, 0), 16, 0.9, 0.30, date(2017, 6, 21), _V100, _A100),
    _row("V100 32GB", (125, 0, 0, 0), 32, 0.9, 0.30, date(2018, 3, 27), _V100, _A100),
    _row("A100 40GB", (312, 0, 624, 0), 40, 1.56, 0.40, date(2020, 5, 14), f"{_EPOCH}; A100 40 GB SXM", _A100),
    _row("A100", (312, 0, 624, 0), 80, 2.04, 0.40, date(2020, 11, 16), f"{_EPOCH}; A100 80 GB SXM", _A100),
    _row("H100", (989, 1979, 1979, 0), 80, 3.35, 0.70, date(2022, 9, 20), f"{_EPOCH}; SXM; fp8: {_INFX}"),
    _row("H200", (989, 1979, 1979, 0), 141, 4.8, 0.70, date(2024, 11, 18), _H200),
    _row("B200", (2250, 4500, 4500, 9000), 180, 8.0, 1.00, date(2024, 3, 18), _B200),
    _row("GB200", (2500, 5000, 5000, 10000), 186, 8.0, 1.20, date(2024, 6, 1), f"{_INFX}; of an NVL72; {_AS_H100}"),
    _row("B300", (2250, 4500, 0, 13500), 268, 8.0, 1.40, date(2025, 8, 15), _B300, _300),
    _row("GB300", (2500, 5000, 0, 15000), 278, 8.0, 1.40, date(2025, 8, 15), _GB300, _300),
    _row("MI300X", (1307, 2615, 2615, 0), 192, 5.3, 0.75, date(2023, 12, 6), f"{_EPOCH}; fp8: {_INFX}; {_AS_H100}"),
    _row("MI325X", (1307, 2615, 2615, 0), 256, 6.0, 1.00, date(2024, 10, 1), f"{_INFX}; int8 and server as MI300X"),
    _row("MI355X", (2516, 5033, 0, 10066), 288, 8.0, 1.40, date(2025, 6, 12), _355),
    _row("TPU v4", (275, 0, 275, 0), 32, 1.2, 0.17, date(2021, 5, 20), _TPU_4, _TPU),
    _row("TPU v5e", (197, 0, 394, 0), 16, 0.82, 0.14, date(2023, 8, 29), _TPU_5E, _TPU),
    _row("TPU v5p", (459, 0, 918, 0), 95, 2.8, 0.28, date(2023, 12, 6), _TPU_5P, _TPU),
    _row("TPU v6e", (918, 0, 1836, 0), 32, 1.64, 0.39, date(2024, 5, 14), _TPU_6E, _TPU),
)
