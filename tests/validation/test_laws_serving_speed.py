"""The roofline against published examples, published models and measured throughput."""

from dataclasses import dataclass

import numpy as np
import pytest

from simulator.laws.chip import Chip
from simulator.laws.precision import BF16, FP4, FP8, Precision
from simulator.laws.serving_savers import speculation_speedup, tokens_per_verification
from simulator.laws.serving_speed import (
    critical_batch,
    decode_step_seconds,
    kv_bytes_per_token,
    layers,
    roofline,
    simple_step_seconds,
    width,
)

A100 = Chip("A100-40", 312e12, 0, 624e12, 0, 40e9, 1.56e12)
H100 = Chip("H100", 989e12, 1979e12, 1979e12, 0, 80e9, 3.35e12)
H200 = Chip("H200", 989e12, 1979e12, 1979e12, 0, 141e9, 4.8e12)
B200 = Chip("B200", 2250e12, 4500e12, 4500e12, 9000e12, 180e9, 8.0e12)
GH200 = Chip("GH200", 989e12, 1979e12, 1979e12, 0, 96e9, 4.0e12)
LLAMA_8B, LLAMA_70B, LLAMA_405B = 8.03e9, 70.55e9, 405.85e9


@pytest.mark.parametrize(
    ("batch", "milliseconds", "with_small_cache"),
    [
        (1, 4.98, 4.17),
        (8, 12.13, 5.60),
        (16, 20.30, 7.23),
        (32, 36.65, 10.50),
        (64, 69.33, 17.04),
        (240, 249.09, 52.99),
    ],
)
def test_scaling_book_llama_2_13b(batch: float, milliseconds: float, with_small_cache: float) -> None:
    """How to Scale Your Model (2025), inference: 8 TPU v5e, 8192 tokens, 6.7 GB cache, and a cache 5 times smaller."""
    for cache, printed in ((6.7e9, milliseconds), (6.7e9 / 5, with_small_cache)):
        step = decode_step_seconds(13e9, 26e9, cache, batch, 8 * 197e12, 6.56e12)
        assert 1e3 * step == pytest.approx(printed, abs=0.0051)


def test_scaling_book_llama_2_13b_throughput() -> None:
    """The same table: 200.61 tokens/s at a batch of 1, 963.53 at 240."""
    batch = np.array([1.0, 240.0])
    step = decode_step_seconds(13e9, 26e9, 6.7e9, batch, 8 * 197e12, 6.56e12)
    assert batch / step == pytest.approx([200.61, 963.53], rel=1e-4)


def test_scaling_book_other_examples() -> None:
    """The same chapters: 30B int8 on 16 TPU v5e (2.5 and 21 ms printed), Llama-3-70B int8 on 8 (17 ms printed)."""
    thirty = [
        1e3 * float(decode_step_seconds(30e9, 30e9, 8192 * 100e3, b, 16 * 197e12, 16 * 0.81e12)) for b in (4, 256)
    ]
    assert thirty == pytest.approx([2.568, 21.05], rel=3e-4)
    llama = float(decode_step_seconds(70e9, 70e9, 8192 * 163_840, 32, 8 * 197e12, 8 * 0.81e12))
    assert 1e3 * llama == pytest.approx(17.43, rel=3e-4)
    assert 32 / llama / 8 == pytest.approx(229, abs=0.5)


@pytest.mark.parametrize(
    ("name", "flop", "bandwidth", "bits", "expected"),
    [("A100 bf16", 312e12, 2.039e12, 16, 153.0), ("H100 bf16", 989.5e12, 3.35e12, 16, 295.4),
     ("H100 fp8", 1979e12, 3.35e12, 8, 295.4), ("H100 int8 weights", 989.5e12, 3.35e12, 8, 147.7),
     ("H200 fp8", 1979e12, 4.8e12, 8, 206.1), ("B200 fp8", 4500e12, 8e12, 8, 281.3),
     ("B200 fp4", 9000e12, 8e12, 4, 281.3), ("MI300X bf16", 1307e12, 5.3e12, 16, 246.6),
     ("TPU v5e", 197e12, 0.82e12, 16, 240.2)],
)  # fmt: skip
def test_critical_batch(name: str, flop: float, bandwidth: float, bits: float, expected: float) -> None:
    """F bytes/(2 BW) from the vendors' dense peaks; 295 for the H100."""
    assert critical_batch(flop, bandwidth, bits) == pytest.approx(expected, abs=0.06), name


@pytest.mark.parametrize(
    ("gpus", "batch", "seconds"),
    [(4, 1, 0.0132497), (8, 1, 0.00843504), (8, 256, 0.00843504), (8, 512, 0.0121208), (16, 256, 0.00651242)],
)
def test_erdils_simple_model(gpus: int, batch: float, seconds: float) -> None:
    """Erdil 2025 (arXiv 2506.04645), section 2.2, Llama-3-70B bf16 on H100: computed from the published code."""
    step = simple_step_seconds(7.0552e10, 2 * 7.0552e10, 80, gpus, batch, 1e15, 3.3e12)
    assert step == pytest.approx(seconds, rel=1e-3)


def test_cache_of_published_models() -> None:
    """2 x layers x heads x width x bytes of Llama 3: the power law misses the three models by at most 10.5 %."""
    published = np.array([131_072, 327_680, 516_096])
    law = kv_bytes_per_token(np.array([LLAMA_8B, LLAMA_70B, LLAMA_405B]), 16)
    assert 2 * 80 * 8 * 128 * 2 == 327_680
    assert law == pytest.approx(published, rel=0.105)
    assert kv_bytes_per_token(LLAMA_70B, 8) == pytest.approx(163_840, rel=0.105)


def test_shape_of_published_models() -> None:
    """Model cards: layers, width of Llama 3 8B, 70B, 405B; outside the fit, Llama 3.2 1B (16, 2048), 3B (28, 3072)."""
    n = np.array([LLAMA_8B, LLAMA_70B, LLAMA_405B])
    assert layers(n) == pytest.approx(np.array([32, 80, 126]), rel=0.105)
    assert width(n) == pytest.approx(np.array([4096, 8192, 16384]), rel=0.06)
    small = np.array([1.24e9, 3.21e9])
    assert layers(small) == pytest.approx(np.array([16, 28]), rel=0.16)
    assert width(small) == pytest.approx(np.array([2048, 3072]), rel=0.06)


@dataclass(frozen=True)
class Measured:
    """Output tokens per second of all GPUs together at full load."""

    n_parameters: float
    n_gpus: int
    chip: Chip
    precision: Precision
    prompt: int
    completion: int
    tokens_per_second: float

    @property
    def error(self) -> float:
        """Simulated over measured, minus one."""
        speed = roofline(
            self.n_parameters, self.n_parameters, self.precision, self.chip,
            self.prompt + self.completion / 2, np.inf, replica_sizes=(self.n_gpus,),
        )  # fmt: skip
        seconds = (
            self.prompt / self.completion / speed.prefill_tokens_per_gpu_second + 1 / speed.decode_tokens_per_gpu_second
        )
        return float(self.n_gpus / seconds) / self.tokens_per_second - 1


# NVIDIA TensorRT-LLM v1.0, performance overview: 70B by prompt/completion on 2 H100, 1 H200 (fp8) and 1 B200 (fp4)
SEVENTY = [
    (128, 128, 6378, 3803, 11147),
    (128, 2048, 6651, 4336, 9922),
    (1000, 1000, 4205, 2909, 7007),
    (2048, 128, 762, 442, 1339),
    (2048, 2048, 3082, 2003, 4783),
    (20000, 2000, 437, 283, 665),
]
MEASURED = [
    measured
    for prompt, completion, h100, h200, b200 in SEVENTY
    for measured in (
        Measured(LLAMA_70B, 2, H100, FP8, prompt, completion, h100),
        Measured(LLAMA_70B, 1, H200, FP8, prompt, completion, h200),
        Measured(LLAMA_70B, 1, B200, FP4, prompt, completion, b200),
    )
] + [
    Measured(LLAMA_405B, 8, H100, FP8, 1000, 1000, 2919),
    Measured(LLAMA_405B, 8, H200, FP8, 1000, 1000, 3330),
    Measured(LLAMA_405B, 4, B200, FP4, 1000, 1000, 5209),
    Measured(LLAMA_8B, 1, H100, FP8, 1000, 1000, 15220),
    Measured(LLAMA_8B, 1, H200, FP8, 1000, 1000, 17744),
]


def _name(m: Measured) -> str:
    return f"{m.n_parameters / 1e9:.0f}B-{m.n_gpus}x{m.chip.name}-{m.precision.name}-{m.prompt}-{m.completion}"


@pytest.mark.parametrize("measured", MEASURED, ids=_name)
def test_measured_throughput(measured: Measured) -> None:
    """One efficiency per format: every fp8 row within 21 %, every fp4 row within 11 %."""
    band = 0.11 if measured.precision is FP4 else 0.21
    assert abs(measured.error) < band, f"{_name(measured)}: {measured.error:+.1%}"


def test_measured_throughput_is_not_biased() -> None:
    """The mean error of each format is within 5 %, so the factors sit in the middle of the rows."""
    for precision in (FP8, FP4):
        errors = [measured.error for measured in MEASURED if measured.precision is precision]
        assert abs(float(np.mean(errors))) < 0.05, [f"{error:+.1%}" for error in errors]


# LLM-Inference-Bench (Argonne 2024), TensorRT-LLM, fp16, 1024 in, 1024 out: seconds for the whole batch
ARGONNE = [
    (LLAMA_70B, 4, H100, 16, 23.5597),
    (LLAMA_70B, 4, H100, 64, 32.4554),
    (LLAMA_8B, 1, H100, 16, 10.1572),
    (LLAMA_8B, 1, H100, 64, 17.4832),
    (LLAMA_8B, 1, GH200, 64, 12.522),
    (LLAMA_8B, 1, A100, 64, 33.7036),
    (LLAMA_8B, 2, H100, 64, 11.9546),
]


@pytest.mark.parametrize(("n", "gpus", "chip", "batch", "seconds"), ARGONNE)
def test_measured_bf16_batches(n: float, gpus: int, chip: Chip, batch: int, seconds: float) -> None:
    """At a given batch, reached here by the latency objective that allows it, within 22 %."""
    limits = np.geomspace(1e-3, 1.0, 4000)
    speed = roofline(n, n, BF16, chip, 1536, limits, replica_sizes=(gpus,))
    nearest = int(np.argmin(abs(speed.batch - batch)))
    assert speed.batch[nearest] == pytest.approx(batch, rel=0.05)
    simulated = (
        batch * 1024 / (speed.prefill_tokens_per_gpu_second[nearest] * gpus)
        + 1024 * speed.seconds_per_output_token[nearest]
    )
    assert simulated == pytest.approx(seconds, rel=0.22)


@pytest.mark.parametrize(
    ("acceptance", "drafted", "tokens", "speedup"),
    [(0.8, 4, 3.3616, 2.801), (0.6, 3, 2.176, 1.892), (0.9, 6, 5.217, 4.013)],
)
def test_speculative_decoding(acceptance: float, drafted: float, tokens: float, speedup: float) -> None:
    """Leviathan et al. 2023 (arXiv 2211.17192), draft cost 0.05: computed from the formula."""
    assert tokens_per_verification(acceptance, drafted) == pytest.approx(tokens, abs=5e-4)
    assert speculation_speedup(acceptance, drafted, 0.05) == pytest.approx(speedup, abs=5e-4)
