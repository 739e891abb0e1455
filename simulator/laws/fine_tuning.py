"""Ways to train a model that is there: all of its weights, or small adapters beside frozen ones; memory and FLOP."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.laws.ranges import share
from simulator.laws.training_speed import TRAINING_MEMORY_SHARE, ZERO_3, ZeroStage
from simulator.laws.units import (
    BITS_PER_BYTE,
    FORWARD_FLOP_PER_PARAMETER_TOKEN,
    TRAINING_FLOP_PER_PARAMETER_TOKEN,
)

BF16_WEIGHT_BYTES = 2.0
QLORA_WEIGHT_BITS = 4.127
"""4-bit NormalFloat with a scale per 64 weights, itself in 8 bits with one per 256: 4 + 8/64 + 32/(64 x 256)
(Dettmers et al. 2023, arXiv 2305.14314)."""
ADAPTER_MEMORY_SHARE = 0.9
"""Share of GPU memory for weights and adapters, where batches are small and activations computed again. An assumption:
it lets 65B in 4 bits onto one GPU of 48 GB and 33B onto one of 24 GB, as Dettmers et al. 2023 report."""


@dataclass(frozen=True, slots=True)
class TrainingMethod:
    """What training holds in memory, per parameter of the whole model, and what it computes.

    Attributes
    ----------
    stage : ZeroStage
        Bytes per parameter that every GPU repeats, and that GPUs share out [byte].
    memory_share : float
        Share of GPU memory for these; the rest holds activations and buffers [1].
    flop_per_parameter_token : float
        [FLOP]
    """

    stage: ZeroStage
    memory_share: float
    flop_per_parameter_token: float

    @property
    def bytes_per_parameter(self) -> float:
        """Memory of all GPUs together, where nothing is repeated [byte].

        >>> full(ZERO_3).bytes_per_parameter
        16.0
        """
        return float(self.stage.replicated_bytes + self.stage.sharded_bytes)


def full(stage: ZeroStage = ZERO_3) -> TrainingMethod:
    """All weights are trained, in mixed precision with Adam: 16 bytes and 6 FLOP per parameter (and token)."""
    return TrainingMethod(stage, TRAINING_MEMORY_SHARE, TRAINING_FLOP_PER_PARAMETER_TOKEN)


def lora(adapter_share: float, stage: ZeroStage = ZERO_3) -> TrainingMethod:
    """Adapters beside frozen 16-bit weights (Hu et al. 2021, arXiv 2106.09685): 2 + 16 a bytes, 4 + 6 a FLOP.

    Frozen weights are passed forward (2 N) and the gradient is passed back through them (2 N), but theirs is not
    computed. Of the adapters, a share a of the parameters, all is.

    >>> method = lora(0.002)
    >>> method.bytes_per_parameter, method.flop_per_parameter_token
    (2.032, 4.012)
    """
    return _adapters(BF16_WEIGHT_BYTES, adapter_share, stage)


def qlora(adapter_share: float, stage: ZeroStage = ZERO_3) -> TrainingMethod:
    """The same beside frozen weights in 4.127 bits: 0.516 + 16 a bytes, 4 + 6 a FLOP (Dettmers et al. 2023).

    Weights are turned into 16 bits on the way; that this takes time is left out.

    >>> round(65e9 * qlora(0.0).bytes_per_parameter / 1e9, 1)
    33.5
    """
    return _adapters(QLORA_WEIGHT_BITS / BITS_PER_BYTE, adapter_share, stage)


def _adapters(frozen_bytes: float, adapter_share: float, stage: ZeroStage) -> TrainingMethod:
    a = float(share("adapter_share", adapter_share)) if adapter_share else 0.0
    repeated = frozen_bytes if stage.replicated_bytes else 0.0
    held = ZeroStage(
        f"adapters, {stage.name}",
        repeated + a * stage.replicated_bytes,
        frozen_bytes - repeated + a * stage.sharded_bytes,
    )
    passed = 2 * FORWARD_FLOP_PER_PARAMETER_TOKEN
    return TrainingMethod(held, ADAPTER_MEMORY_SHARE, passed + TRAINING_FLOP_PER_PARAMETER_TOKEN * a)
