"""The accelerators one can buy or rent: what they do, draw, and when they came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from pydantic import Field

from simulator.laws.chip import Chip
from simulator.laws.units import GIGA, SECONDS_PER_HOUR, TERA
from simulator.world.inputs import Inputs, NotNegative, Positive


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
    server_power_factor: Positive = Field(1.821, description="server draw / chip draw (H100: 10.2 kW of 8 x 0.7)")
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
    server_power_factor: float = 1.821,
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

CATALOGUE: tuple[Accelerator, ...] = (
    # name, dense TFLOP/s (bf16, fp8, int8, fp4), GB, TB/s, kW, launch, source, server/chip power
    _row("A100", (312, 0, 624, 0), 80, 2.04, 0.40, date(2020, 11, 16), f"{_EPOCH}; A100 80 GB SXM", 2.031),
    _row("H100", (989, 1979, 1979, 0), 80, 3.35, 0.70, date(2022, 9, 20), f"{_EPOCH}; SXM"),
    _row("H200", (989, 1979, 1979, 0), 141, 4.8, 0.70, date(2024, 11, 18), f"{_EPOCH}; SXM"),
    _row("B200", (2250, 4500, 4500, 9000), 180, 8.0, 1.00, date(2024, 3, 18), f"{_INFX}; 180 GB usable of 192"),
    _row("GB200", (2500, 5000, 5000, 10000), 186, 8.0, 1.20, date(2024, 6, 1), f"{_INFX}; one GPU of an NVL72"),
    _row("MI300X", (1307, 2615, 2615, 0), 192, 5.3, 0.75, date(2023, 12, 6), f"{_EPOCH}"),
    _row("MI325X", (1307, 2615, 2615, 0), 256, 6.0, 1.00, date(2024, 10, 1), f"{_INFX}"),
)
