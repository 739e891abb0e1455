"""How many tokens per second an accelerator serves: by FLOP alone, or by the roofline of arithmetic and memory.

A prompt is read in one pass and limited by arithmetic ("prefill"); an answer is written token by token and limited
by reading the weights and the key-value cache from memory ("decode"). Both speeds are kept apart, in tokens per
GPU-second, so that a workload of p prompt and c completion tokens takes p / prefill + c / decode GPU-seconds.
Prefill and decode are assumed not to disturb each other (separate pools, or chunks at an even pace).
"""

from dataclasses import dataclass

import numpy as np

from simulator.laws.chip import Chip, peak_flop_per_second, supported_math
from simulator.laws.precision import Math, Precision, weight_bytes
from simulator.laws.ranges import at_least, not_negative, positive, share, warn_a_reader
from simulator.laws.units import (
    BITS_PER_BYTE,
    FORWARD_FLOP_PER_PARAMETER_TOKEN,
    MICRO,
    FloatArray,
    Numbers,
)

REPLICA_SIZES = (1, 2, 4, 8, 16)
MEMORY_SHARE = 0.9
"""Share of GPU memory for weights and cache; the rest holds activations and the runtime (vLLM's default)."""
MAX_BATCH = 2048.0
"""Most sequences one replica decodes at a time (largest default of serving engines)."""

ALL_REDUCES_PER_LAYER = 4
ALL_REDUCE_SECONDS = 6 * MICRO
ALL_REDUCE_SECONDS_PER_HOP = 2 * MICRO
"""Latency of the collectives of one layer, launch included: Erdil 2025, arXiv 2506.04645, section 2.2."""
ALL_REDUCE_BYTES_PER_SECOND = 2.25e11
"""All-reduce bandwidth inside an H100 node (Erdil 2025, published code); newer links are faster [byte/s]."""
_ACTIVATION_BYTES = 2.0
_REDUCED_ACTIVATIONS_PER_LAYER = 2

_REFERENCE_PARAMETERS = 70e9
_LAYERS_AT_REFERENCE, _LAYERS_EXPONENT = 71.88, 0.3522
_WIDTH_AT_REFERENCE, _WIDTH_EXPONENT = 8586.0, 0.3520
_KV_HEADS, _HEAD_WIDTH = 8.0, 128.0


@dataclass(frozen=True, slots=True)
class ServingEfficiency:
    """Share of the peak that serving reaches, for one number format of the multiplications.

    Attributes
    ----------
    math : Math
    prefill_mfu : float
        Model FLOP over peak FLOP while reading prompts [1].
    decode_efficiency : float
        Roofline time over real time while writing, for arithmetic and memory alike [1].
    """

    math: Math
    prefill_mfu: float
    decode_efficiency: float


BF16_EFFICIENCY = ServingEfficiency(Math.BF16, 0.60, 0.62)
FP8_EFFICIENCY = ServingEfficiency(Math.FP8, 0.60, 0.58)
INT8_EFFICIENCY = ServingEfficiency(Math.INT8, 0.60, 0.58)
FP4_EFFICIENCY = ServingEfficiency(Math.FP4, 0.45, 0.42)
SERVING_EFFICIENCIES = (BF16_EFFICIENCY, FP8_EFFICIENCY, INT8_EFFICIENCY, FP4_EFFICIENCY)
"""Calibrated once per format on measured throughput; context is prompt + completion/2, no latency objective.

fp8: 16 rows of NVIDIA TensorRT-LLM v1.0 (Llama 3 8B, 70B, 405B on H100 and H200, 128/128 to 20000/2000 tokens), all
within 21 %, mean +4 %. fp4: 7 rows (70B and 405B on B200), all within 11 %, mean +2 %. bf16: 7 batches of 8B and 70B
on H100, GH200 and A100 (LLM-Inference-Bench, Argonne 2024), all within 22 %. int8 is set equal to fp8: no measured run
with 8-bit integers throughout was found, so its error is unknown. At full load fp8 comes out 1.8 to 2.1 times faster
than bf16, where vLLM reports up to 1.6: larger batches fit, which the report does not vary.
"""


@dataclass(frozen=True, slots=True)
class ServingSpeed:
    """Speed of one model on one chip; arrays of the broadcast shape of what was asked.

    Attributes
    ----------
    prefill_tokens_per_gpu_second, decode_tokens_per_gpu_second : array
        Prompt tokens read, and tokens written, per GPU and second; 0 where the model cannot be served.
    replica_gpus : array
        GPUs of one replica; 0 means divisible (any share of a GPU will do), or that nothing fits [GPU].
    batch : array
        Sequences decoded at a time by a replica [1].
    seconds_per_output_token : array
        Time between two tokens of one answer [s].
    """

    prefill_tokens_per_gpu_second: FloatArray
    decode_tokens_per_gpu_second: FloatArray
    replica_gpus: FloatArray
    batch: FloatArray
    seconds_per_output_token: FloatArray


_LARGEST_SHAPE = 4e12
"""Ten times the largest dense model whose shape the power laws pass through [parameters]."""


def layers(n_parameters: Numbers) -> FloatArray:
    """Layers of a dense model: a power law through Llama-3-8B (32), 70B (80), 405B (126), within 10 % [1]."""
    scale = positive("n_parameters", n_parameters) / _REFERENCE_PARAMETERS
    warn_a_reader("n_parameters", n_parameters, _LARGEST_SHAPE, "no dense model of a known shape is so large")
    return _LAYERS_AT_REFERENCE * scale**_LAYERS_EXPONENT


def width(n_parameters: Numbers) -> FloatArray:
    """Width of a dense model: a power law through Llama-3-8B (4096), 70B (8192), 405B (16384), within 6 % [1]."""
    scale = positive("n_parameters", n_parameters) / _REFERENCE_PARAMETERS
    return _WIDTH_AT_REFERENCE * scale**_WIDTH_EXPONENT


def cache_bytes_per_token(n_layers: Numbers, n_kv_heads: Numbers, head_width: Numbers, kv_bits: float) -> FloatArray:
    """Key-value cache of one token of a model of known shape, 2 layers heads width bits / 8 [byte].

    >>> float(cache_bytes_per_token(80, 8, 128, 16))
    327680.0
    """
    elements = (
        2 * positive("n_layers", n_layers) * positive("n_kv_heads", n_kv_heads) * positive("head_width", head_width)
    )
    return elements * (kv_bits / BITS_PER_BYTE)


def kv_bytes_per_token(n_parameters: Numbers, kv_bits: float) -> FloatArray:
    """Key-value cache of one token of a model of which only the size is known [byte].

    A power law through three published models with grouped-query attention (8 key-value heads of width 128):
    Llama-3-8B 131,072, 70B 327,680, 405B 516,096 bytes at 16 bits; it misses them by +5, -10 and +6 %. Erdil's
    notebook gives 405B 16 heads; the 8 of the model card are taken. Models with a head per query (GPT-3, Llama-2-13B)
    cache several times more, those with compressed caches (DeepSeek-V3) less.

    >>> round(float(kv_bytes_per_token(70.55e9, 16)) / 1024)
    288
    """
    return cache_bytes_per_token(layers(n_parameters), _KV_HEADS, _HEAD_WIDTH, kv_bits)


def decode_step_seconds(
    n_active_parameters: Numbers,
    weight_bytes: Numbers,
    kv_bytes_per_sequence: Numbers,
    batch: Numbers,
    flop_per_second: Numbers,
    memory_bytes_per_second: Numbers,
) -> FloatArray:
    """Time to write one token for each of `batch` sequences, without communication [s].

    B KV / BW + max(2 B N / F, W / BW): attention always waits for memory, the matrices for whichever is slower
    (Google DeepMind, How to Scale Your Model, 2025, chapter on inference).

    >>> round(1e3 * float(decode_step_seconds(13e9, 26e9, 6.7e9, 8, 8 * 197e12, 6.56e12)), 2)
    12.13
    """
    b = positive("batch", batch)
    bandwidth = positive("memory_bytes_per_second", memory_bytes_per_second)
    math = FORWARD_FLOP_PER_PARAMETER_TOKEN * b * np.asarray(n_active_parameters) / flop_per_second
    cache = np.asarray(kv_bytes_per_sequence, dtype=np.float64) / bandwidth
    step: FloatArray = b * cache + np.maximum(math, np.asarray(weight_bytes, dtype=np.float64) / bandwidth)
    return step


def critical_batch(flop_per_second: Numbers, memory_bytes_per_second: Numbers, weight_bits: float) -> FloatArray:
    """Batch at which the matrices turn from memory-bound to compute-bound, F bytes / (2 BW) [1].

    >>> round(float(critical_batch(989.5e12, 3.35e12, 16)), 1)
    295.4
    """
    byte_per_weight = weight_bits / BITS_PER_BYTE
    bandwidth = positive("memory_bytes_per_second", memory_bytes_per_second)
    return positive("flop_per_second", flop_per_second) * byte_per_weight / (2 * bandwidth)


def layer_latency_seconds(n_layers: Numbers, n_gpus: Numbers) -> FloatArray:
    """Launch and all-reduce latency of one step, layers x 4 x (6 us + 2 us (sqrt(n) - 1)) [s].

    Erdil 2025 (arXiv 2506.04645), section 2.2: tensor parallelism over n GPUs, four collectives per layer.
    """
    per_collective = ALL_REDUCE_SECONDS + ALL_REDUCE_SECONDS_PER_HOP * (np.sqrt(at_least("n_gpus", n_gpus, 1)) - 1)
    return positive("n_layers", n_layers) * ALL_REDUCES_PER_LAYER * per_collective


def simple_step_seconds(
    n_parameters: Numbers,
    weight_bytes: Numbers,
    n_layers: Numbers,
    n_gpus: Numbers,
    batch: Numbers,
    flop_per_second: float,
    memory_bytes_per_second: float,
) -> FloatArray:
    """Erdil's simple model: layer latency + max(W / (n BW), 2 B N / (n F)), without cache [s].

    >>> round(1e3 * float(simple_step_seconds(7.0552e10, 2 * 7.0552e10, 80, 8, 64, 1e15, 3.3e12)), 3)
    8.435
    """
    n = at_least("n_gpus", n_gpus, 1)
    step = decode_step_seconds(n_parameters, weight_bytes, 0.0, batch, n * flop_per_second, n * memory_bytes_per_second)
    return layer_latency_seconds(n_layers, n) + step


def efficiency_of(chip: Chip, precision: Precision) -> ServingEfficiency:
    """The calibrated efficiency for the format in which `chip` multiplies `precision`."""
    math = supported_math(chip, precision)
    return next(efficiency for efficiency in SERVING_EFFICIENCIES if efficiency.math is math)


def by_flop(n_active_parameters: Numbers, precision: Precision, chip: Chip, utilization: Numbers) -> ServingSpeed:
    """Serving limited by arithmetic alone: peak x utilization / (2 N) tokens per GPU-second, divisible.

    Parameters
    ----------
    n_active_parameters : float or array
        Parameters used per token [parameters].
    utilization : float or array
        Share of the peak reached, prompts and answers alike [1].
    """
    n = positive("n_active_parameters", n_active_parameters)
    flop_per_second = peak_flop_per_second(chip, precision) * share("utilization", utilization)
    speed = np.asarray(flop_per_second / (FORWARD_FLOP_PER_PARAMETER_TOKEN * n))
    return ServingSpeed(speed, speed, np.zeros_like(speed), np.ones_like(speed), 1 / speed)


def roofline(
    n_active_parameters: Numbers,
    n_total_parameters: Numbers,
    precision: Precision,
    chip: Chip,
    context_tokens: Numbers,
    max_seconds_per_token: Numbers,
    prompt_per_completion: Numbers = 0.0,
    memory_share: float = MEMORY_SHARE,
    replica_sizes: tuple[int, ...] = REPLICA_SIZES,
    efficiency: ServingEfficiency | None = None,
) -> ServingSpeed:
    """Serving limited by arithmetic, memory, bandwidth and a latency objective, at the best replica size.

    All weights are read in every step: exact for a dense model, and for a mixture of experts at the batches that pay
    (see `serving_savers.expert_share_read`). What does not fit, or is too slow, has speed 0 and replica size 0.

    Parameters
    ----------
    n_active_parameters, n_total_parameters : float or array
        Parameters used per token, and held in memory; equal for a dense model [parameters].
    context_tokens : float or array
        Mean tokens in the cache of a sequence while it is written: prompt + half the completion [tokens].
    max_seconds_per_token : float or array
        Objective for the time between two output tokens; infinity means none [s].
    prompt_per_completion : float or array
        Prompt tokens to read per token written, to weigh both speeds when the replica size is chosen; at 0 the
        size that writes fastest is taken. A tighter latency objective is then never cheaper for this mix [1].
    memory_share : float
        Share of GPU memory for weights and cache [1].
    replica_sizes : tuple of int
        Sizes to choose from, tensor-parallel [GPU].
    efficiency : ServingEfficiency, optional
        Default: the calibrated one of the format (see `efficiency_of`).
    """
    active, total, context, limit, prompts = np.broadcast_arrays(
        positive("n_active_parameters", n_active_parameters),
        positive("n_total_parameters", n_total_parameters),
        positive("context_tokens", context_tokens),
        positive("max_seconds_per_token", max_seconds_per_token),
        not_negative("prompt_per_completion", prompt_per_completion),
    )
    sizes = np.array(replica_sizes, dtype=np.float64).reshape((-1,) + (1,) * active.ndim)
    factor = efficiency_of(chip, precision) if efficiency is None else efficiency
    each = _by_replica_size(active, total, precision, chip, context, limit, memory_share, sizes, factor)
    feasible = each.replica_gpus > 0
    reading = prompts / np.where(feasible, each.prefill_tokens_per_gpu_second, 1.0)
    writing = 1 / np.where(feasible, each.decode_tokens_per_gpu_second, 1.0)
    best = np.argmin(np.where(feasible, reading + writing, np.inf), axis=0)[np.newaxis]
    return ServingSpeed(
        _pick(each.prefill_tokens_per_gpu_second, best),
        _pick(each.decode_tokens_per_gpu_second, best),
        _pick(each.replica_gpus, best),
        _pick(each.batch, best),
        _pick(each.seconds_per_output_token, best),
    )


def _by_replica_size(
    active: FloatArray,
    total: FloatArray,
    precision: Precision,
    chip: Chip,
    context: FloatArray,
    limit: FloatArray,
    memory_share: float,
    sizes: FloatArray,
    factor: ServingEfficiency,
) -> ServingSpeed:
    """The same for every replica size, along a first axis.

    One step takes latency + max(weights + B slope, B (slope + math)), so that each limit on B is a division.
    """
    flop_per_second = sizes * peak_flop_per_second(chip, precision)
    bandwidth = sizes * chip.memory_bytes_per_second * factor.decode_efficiency
    matrix_flop = FORWARD_FLOP_PER_PARAMETER_TOKEN * active
    held = weight_bytes(total, precision.weight_bits)
    cache = context * kv_bytes_per_token(active, precision.kv_bits)
    depth = layers(active)
    latency = layer_latency_seconds(depth, sizes)
    reduced = _reduce_seconds_per_token(depth, width(active), sizes)

    slope = cache / bandwidth + reduced
    weights = held / bandwidth
    math = matrix_flop / (flop_per_second * factor.decode_efficiency)
    room = (sizes * chip.memory_bytes * memory_share - held) / cache
    in_time = np.minimum((limit - latency - weights) / slope, (limit - latency) / (slope + math))
    batch = np.minimum(np.minimum(room, in_time), MAX_BATCH)
    feasible = batch >= 1
    batch = np.where(feasible, batch, 1.0)
    step = latency + np.maximum(weights + batch * slope, batch * (slope + math))
    prompt_seconds = matrix_flop / (flop_per_second * factor.prefill_mfu) + reduced
    return ServingSpeed(
        np.where(feasible, 1 / (prompt_seconds * sizes), 0.0),
        np.where(feasible, batch / (step * sizes), 0.0),
        np.where(feasible, sizes, 0.0),
        np.where(feasible, batch, 0.0),
        np.where(feasible, step, np.inf),
    )


def _reduce_seconds_per_token(n_layers: FloatArray, model_width: FloatArray, sizes: FloatArray) -> FloatArray:
    """Time to move the activations of one token through the all-reduces of all layers; none on one GPU [s]."""
    moved = _REDUCED_ACTIVATIONS_PER_LAYER * _ACTIVATION_BYTES * n_layers * model_width
    result: FloatArray = np.where(sizes > 1, moved / ALL_REDUCE_BYTES_PER_SECOND, 0.0)
    return result


def _pick(values: FloatArray, best: np.typing.NDArray[np.intp]) -> FloatArray:
    picked: FloatArray = np.take_along_axis(values, best, axis=0)[0]
    return picked
