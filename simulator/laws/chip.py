"""What one accelerator can do: arithmetic by number format, memory, and memory bandwidth."""

from dataclasses import dataclass

from simulator.laws.precision import Math, Precision


@dataclass(frozen=True, slots=True)
class Chip:
    """One accelerator, with its dense peak speeds (vendors often print twice that, for sparse matrices).

    Attributes
    ----------
    name : str
    bf16_flop_per_second, fp8_flop_per_second, int8_flop_per_second, fp4_flop_per_second : float
        Peak, dense; 0 for a format the chip lacks [FLOP/s].
    memory_bytes : float
        High-bandwidth memory [byte].
    memory_bytes_per_second : float
        Its bandwidth [byte/s].
    """

    name: str
    bf16_flop_per_second: float
    fp8_flop_per_second: float
    int8_flop_per_second: float
    fp4_flop_per_second: float
    memory_bytes: float
    memory_bytes_per_second: float

    def __post_init__(self) -> None:
        for name in ("bf16_flop_per_second", "memory_bytes", "memory_bytes_per_second"):
            if not getattr(self, name) > 0:
                raise ValueError(f"chip {self.name}: {name} must be greater than 0, got {getattr(self, name):g}")


def supported_math(chip: Chip, precision: Precision) -> Math:
    """Format in which `chip` multiplies a model held in `precision`: its own if the chip has it, else bf16."""
    return precision.math if _peak(chip, precision.math) > 0 else Math.BF16


def peak_flop_per_second(chip: Chip, precision: Precision) -> float:
    """Dense peak of `chip` for `precision`, in bf16 where it lacks the format [FLOP/s].

    >>> from simulator.laws.precision import FP8, INT4
    >>> a100 = Chip("A100", 312e12, 0, 624e12, 0, 80e9, 2.04e12)
    >>> peak_flop_per_second(a100, FP8) / 1e12, peak_flop_per_second(a100, INT4) / 1e12
    (312.0, 312.0)
    """
    return _peak(chip, supported_math(chip, precision))


def _peak(chip: Chip, math: Math) -> float:
    match math:
        case Math.BF16:
            return chip.bf16_flop_per_second
        case Math.FP8:
            return chip.fp8_flop_per_second
        case Math.INT8:
            return chip.int8_flop_per_second
        case Math.FP4:
            return chip.fp4_flop_per_second
