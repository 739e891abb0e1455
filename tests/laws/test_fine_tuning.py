"""Memory and FLOP of fine-tuning: what was published to fit on one GPU does, and bytes counted by hand."""

from __future__ import annotations

import pytest

from simulator.laws.fine_tuning import TrainingMethod, full, lora, qlora
from simulator.laws.training_speed import ZERO_1, ZERO_2, ZERO_3, ZERO_NONE, least_gpus, zero_bytes_per_gpu


def gpus(method: TrainingMethod, n_parameters: float, memory_bytes: float) -> float:
    return float(least_gpus(n_parameters, memory_bytes, method.memory_share, method.stage))


def test_weights_of_65_billion_in_4_bits() -> None:
    # Dettmers et al. 2023: 4.127 bits a parameter, 33.5 GB, where 16 bits take 130 GB.
    assert 65e9 * qlora(0.0).bytes_per_parameter == pytest.approx(33.5e9, abs=0.05e9)
    assert 65e9 * lora(0.0).bytes_per_parameter == 130e9


@pytest.mark.parametrize(("n_parameters", "memory_gb"), [(65e9, 48), (33e9, 24)])
def test_what_was_fine_tuned_on_one_gpu_fits_on_one(n_parameters: float, memory_gb: float) -> None:
    # Dettmers et al. 2023: 65B on one GPU of 48 GB, 33B on one of 24 GB; 16-bit weights alone are more than that.
    assert gpus(qlora(0.002), n_parameters, memory_gb * 1e9) == 1
    assert gpus(lora(0.002), n_parameters, memory_gb * 1e9) > 1
    assert gpus(full(), n_parameters, memory_gb * 1e9) > 16


@pytest.mark.parametrize(
    ("method", "bytes_per_parameter", "flop"),
    [(full(), 16.0, 6.0), (lora(0.01), 2.16, 4.06), (qlora(0.01), 0.515875 + 0.16, 4.06)],
)
def test_bytes_and_flop_by_hand(method: TrainingMethod, bytes_per_parameter: float, flop: float) -> None:
    assert method.bytes_per_parameter == pytest.approx(bytes_per_parameter)
    assert method.flop_per_parameter_token == pytest.approx(flop)


def test_what_a_stage_shares_out_of_adapters() -> None:
    # 1,000 parameters, a hundredth of them adapters, on 4 GPUs: frozen 2,000 bytes; adapters 20 weights, 20 gradients
    # and 120 optimizer. Each stage shares out more of it.
    by_stage = {ZERO_NONE: 2160.0, ZERO_1: 2040.0 + 120 / 4, ZERO_2: 2020.0 + 140 / 4, ZERO_3: 2160 / 4}
    for stage, each in by_stage.items():
        held = lora(0.01, stage).stage
        assert float(zero_bytes_per_gpu(1000.0, 4, held)) == pytest.approx(each), stage.name


def test_a_share_beyond_all_is_refused() -> None:
    with pytest.raises(ValueError, match="adapter_share"):
        lora(1.5)
