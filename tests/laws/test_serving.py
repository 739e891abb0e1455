import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.laws.chip import Chip
from simulator.laws.precision import BF16, FP4, FP8, INT4, INT8, Precision
from simulator.laws.serving_savers import (
    expert_share_read,
    prompt_cache_factor,
    speculation_speedup,
    tokens_per_verification,
)
from simulator.laws.serving_speed import (
    FP8_EFFICIENCY,
    MAX_BATCH,
    ServingSpeed,
    by_flop,
    decode_step_seconds,
    efficiency_of,
    kv_bytes_per_token,
    layer_latency_seconds,
    layers,
    roofline,
)

H100 = Chip("H100", 989e12, 1979e12, 1979e12, 0, 80e9, 3.35e12)
A100 = Chip("A100", 312e12, 0, 624e12, 0, 80e9, 2.04e12)
formats = st.sampled_from([BF16, FP8, INT8, INT4, FP4])
sizes = st.floats(8.5, 12.5).map(lambda x: 10.0**x)
limits = st.floats(-3, 0).map(lambda x: 10.0**x)


def seconds_per_completion_token(speed: ServingSpeed, prompts: float) -> float:
    if not speed.replica_gpus > 0:
        return np.inf
    return float(prompts / speed.prefill_tokens_per_gpu_second + 1 / speed.decode_tokens_per_gpu_second)


def test_by_flop_is_peak_times_utilization_over_two_n() -> None:
    speed = by_flop(np.array([1e9, 1e10]), FP8, H100, 0.4)
    assert speed.decode_tokens_per_gpu_second == pytest.approx(1979e12 * 0.4 / (2 * np.array([1e9, 1e10])))
    assert speed.prefill_tokens_per_gpu_second == pytest.approx(speed.decode_tokens_per_gpu_second)
    assert speed.replica_gpus.tolist() == [0, 0], "divisible"


@given(sizes, formats, st.floats(100, 1e5), limits, st.floats(1.0, 10.0), st.floats(0, 30))
def test_a_tighter_latency_objective_is_never_cheaper(
    n: float, precision: Precision, context: float, limit: float, looser: float, prompts: float
) -> None:
    tight = roofline(n, n, precision, H100, context, limit, prompts)
    loose = roofline(n, n, precision, H100, context, limit * looser, prompts)
    assert seconds_per_completion_token(loose, prompts) <= seconds_per_completion_token(tight, prompts) * (1 + 1e-12)


@given(sizes, formats, st.floats(100, 1e5), limits)
def test_what_is_served_fits_and_is_in_time(n: float, precision: Precision, context: float, limit: float) -> None:
    speed = roofline(n, n, precision, H100, context, limit)
    gpus, batch = float(speed.replica_gpus), float(speed.batch)
    if gpus == 0:
        assert speed.decode_tokens_per_gpu_second == speed.prefill_tokens_per_gpu_second == batch == 0
        assert np.isinf(speed.seconds_per_output_token)
        return
    held = n * precision.weight_bits / 8 + batch * context * float(kv_bytes_per_token(n, precision.kv_bits))
    assert held <= 0.9 * 80e9 * gpus * (1 + 1e-9)
    assert speed.seconds_per_output_token <= limit * (1 + 1e-9)
    assert 1 <= batch <= MAX_BATCH
    assert speed.decode_tokens_per_gpu_second * gpus * speed.seconds_per_output_token == pytest.approx(batch)
    peak = by_flop(n, precision, H100, 1.0).decode_tokens_per_gpu_second
    assert speed.decode_tokens_per_gpu_second <= peak
    assert speed.prefill_tokens_per_gpu_second <= peak


@settings(max_examples=50)
@given(sizes, formats, st.floats(100, 1e5), limits)
def test_the_best_replica_size_is_taken(n: float, precision: Precision, context: float, limit: float) -> None:
    best = roofline(n, n, precision, H100, context, limit)
    each = [roofline(n, n, precision, H100, context, limit, replica_sizes=(size,)) for size in (1, 2, 4, 8, 16)]
    fastest = max(float(speed.decode_tokens_per_gpu_second) for speed in each)
    assert best.decode_tokens_per_gpu_second == pytest.approx(fastest)


def test_arrays_equal_their_points_one_by_one() -> None:
    n = np.geomspace(1e9, 3e12, 40)
    grid = roofline(n, n, FP8, H100, np.array([[500.0], [8000.0]]), 0.05)
    assert grid.decode_tokens_per_gpu_second.shape == (2, 40)
    for row, context in enumerate((500.0, 8000.0)):
        for column, size in enumerate(n):
            one = roofline(float(size), float(size), FP8, H100, context, 0.05)
            assert one.decode_tokens_per_gpu_second == pytest.approx(grid.decode_tokens_per_gpu_second[row, column])
            assert one.replica_gpus == grid.replica_gpus[row, column]


def test_large_models_need_larger_replicas_or_are_not_served() -> None:
    n = np.array([8e9, 70e9, 405e9, 3e12])
    assert roofline(n, n, FP8, H100, 1500, np.inf).replica_gpus.tolist() == [1, 2, 8, 0]


def test_a_decode_step_by_hand() -> None:
    """80e9 active and total, fp8 on 2 H100, 1500 tokens of context: latency, then cache, weights, arithmetic."""
    speed = roofline(80e9, 80e9, FP8, H100, 1500, 0.04, replica_sizes=(2,))
    batch, depth = float(speed.batch), float(layers(80e9))
    latency = depth * 4 * (6e-6 + 2e-6 * (np.sqrt(2) - 1))
    width = 8586 * (80 / 70) ** 0.352
    reduce = 2 * 2 * depth * width / 2.25e11
    roof = decode_step_seconds(80e9, 80e9, 1500 * kv_bytes_per_token(80e9, 8), batch, 2 * 1979e12, 2 * 3.35e12)
    by_hand = latency + batch * reduce + roof / FP8_EFFICIENCY.decode_efficiency
    assert speed.seconds_per_output_token == pytest.approx(float(by_hand))


def test_weight_only_quantization_changes_bytes_not_arithmetic() -> None:
    plain, weights_only = (roofline(8e9, 8e9, precision, H100, 1500, np.inf) for precision in (BF16, INT4))
    assert weights_only.prefill_tokens_per_gpu_second == plain.prefill_tokens_per_gpu_second
    alone = [roofline(8e9, 8e9, p, H100, 1500, 0.004) for p in (BF16, INT4)]
    assert alone[1].decode_tokens_per_gpu_second > 1.4 * alone[0].decode_tokens_per_gpu_second


def test_full_8_bit_beats_weight_only_at_full_load() -> None:
    """Kurtic et al. 2024: W8A8 is best for batches on high-end GPUs, W4A16 for single requests."""
    full, weights_only = (roofline(70e9, 70e9, p, H100, 1500, np.inf) for p in (FP8, INT4))
    assert full.decode_tokens_per_gpu_second > weights_only.decode_tokens_per_gpu_second


def test_a_chip_without_the_format_uses_bf16_arithmetic_and_its_efficiency() -> None:
    assert efficiency_of(A100, FP8) is efficiency_of(A100, BF16)
    on_old = roofline(8e9, 8e9, FP8, A100, 1500, np.inf)
    assert on_old.prefill_tokens_per_gpu_second == pytest.approx(312e12 * 0.6 / 16e9)


def test_a_mixture_of_experts_reads_all_and_computes_little() -> None:
    mixture = roofline(37e9, 671e9, FP8, H100, 1500, np.inf)
    dense = roofline(671e9, 671e9, FP8, H100, 1500, np.inf)
    assert mixture.replica_gpus == 16
    assert mixture.decode_tokens_per_gpu_second > 2 * dense.decode_tokens_per_gpu_second
    assert expert_share_read(np.array([1.0, 1e4]), 37 / 671) == pytest.approx([37 / 671, 1.0])
    assert expert_share_read(5.0, 1.0) == 1.0


def test_latency_grows_with_gpus() -> None:
    assert layer_latency_seconds(80, np.array([1, 4])) == pytest.approx([80 * 4 * 6e-6, 80 * 4 * 8e-6])


def test_speculation_with_certain_drafts() -> None:
    assert tokens_per_verification(1.0, 4) == 5.0
    assert tokens_per_verification(0.0, 4) == 1.0
    assert speculation_speedup(0.0, 4, 0.0) == 1.0


@given(st.floats(0, 1))
def test_a_cache_that_costs_nothing_extra_never_costs_more(hit: float) -> None:
    assert prompt_cache_factor(hit, 0.1) <= 1.0
    assert prompt_cache_factor(0.0, 0.1, 1.25) == 1.25


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="max_seconds_per_token must be greater than 0"):
        roofline(8e9, 8e9, BF16, H100, 1500, 0.0)
    with pytest.raises(ValueError, match="utilization must be greater than 0 and at most 1"):
        by_flop(8e9, BF16, H100, 30.0)
