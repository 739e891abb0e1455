"""How long a training run occupies how many accelerators: arithmetic, memory, failures."""

from dataclasses import dataclass

import numpy as np

from simulator.laws.ranges import not_negative, positive, share
from simulator.laws.units import HOURS_PER_YEAR, MINUTES_PER_HOUR, FloatArray, Numbers

MFU_LOW, MFU_MEDIAN, MFU_HIGH = 0.30, 0.375, 0.47
"""Model FLOP utilization of published runs: range and median of 33 (Cottier et al. 2024, arXiv 2405.21015).

Reported MFU is that of the running job; GPU-hours of model cards contain more than the final pass. Llama 3.1 405B
reports 38 to 43 %, and its card's 30.84e6 GPU-hours give 34.6 % of 6 N D: the lower one belongs with a goodput of 1.
"""
TRAINING_MEMORY_SHARE = 0.6
"""Share of GPU memory for weights, gradients and optimizer; the rest holds activations and buffers. An assumption."""


@dataclass(frozen=True, slots=True)
class ZeroStage:
    """Bytes per parameter that every data-parallel GPU repeats, and that they share out [byte].

    Mixed-precision Adam needs 16: weights 2, gradients 2, optimizer 12 (Rajbhandari et al. 2019, arXiv 1910.02054).
    """

    name: str
    replicated_bytes: float
    sharded_bytes: float


ZERO_NONE = ZeroStage("plain data parallel", 16, 0)
ZERO_1 = ZeroStage("stage 1, optimizer sharded", 4, 12)
ZERO_2 = ZeroStage("stage 2, gradients too", 2, 14)
ZERO_3 = ZeroStage("stage 3, weights too (FSDP full shard)", 0, 16)


def attention_share(context_tokens: Numbers, model_width: Numbers) -> FloatArray:
    """Attention FLOP over matrix FLOP, context / (8 width) (Google DeepMind, How to Scale Your Model, 2025).

    >>> float(attention_share(8192, 8192))
    0.125
    """
    return not_negative("context_tokens", context_tokens) / (8 * positive("model_width", model_width))


def attention_flop_per_token(
    n_layers: Numbers, n_heads: Numbers, head_width: Numbers, context_tokens: Numbers
) -> FloatArray:
    """Forward FLOP of attention for one token, 4 layers heads width context (Erdil 2025, arXiv 2506.04645) [FLOP]."""
    heads = positive("n_heads", n_heads) * positive("head_width", head_width)
    return 4 * positive("n_layers", n_layers) * heads * not_negative("context_tokens", context_tokens)


def training_gpu_seconds(
    training_flop: Numbers, peak_flop_per_second: Numbers, mfu: Numbers, goodput: Numbers = 1.0
) -> FloatArray:
    """GPU-seconds a run occupies, FLOP / (peak x MFU x goodput) [GPU s].

    Parameters
    ----------
    training_flop : float or array
        Without attention, as in 6 N D; MFU is then that of 6 N D [FLOP].
    peak_flop_per_second : float or array
        Dense peak of one GPU [FLOP/s].
    mfu, goodput : float or array
        Shares in (0, 1]: of the peak while running, and of the time that ends up in the model [1].

    >>> round(float(training_gpu_seconds(3.799e25, 989e12, 0.346)) / 3600 / 1e6, 2)
    30.84
    """
    speed = positive("peak_flop_per_second", peak_flop_per_second) * share("mfu", mfu)
    return not_negative("training_flop", training_flop) / (speed * share("goodput", goodput))


def zero_bytes_per_gpu(n_parameters: Numbers, n_gpus: Numbers, stage: ZeroStage) -> FloatArray:
    """Memory of weights, gradients and optimizer on each of `n_gpus`; activations come on top [byte].

    >>> float(zero_bytes_per_gpu(7.5e9, 64, ZERO_3)) / 1e9
    1.875
    """
    shared = stage.sharded_bytes / positive("n_gpus", n_gpus)
    return positive("n_parameters", n_parameters) * (stage.replicated_bytes + shared)


def least_gpus(
    n_parameters: Numbers,
    memory_bytes: Numbers,
    memory_share: float = TRAINING_MEMORY_SHARE,
    stage: ZeroStage = ZERO_3,
) -> FloatArray:
    """Fewest GPUs on which the training state fits; infinite where no number does [GPU].

    Parameters
    ----------
    memory_bytes : float or array
        Memory of one GPU [byte].
    memory_share : float
        Share of it left for the state; the rest holds activations and buffers [1].

    >>> float(least_gpus(405e9, 80e9))
    135.0
    """
    n = positive("n_parameters", n_parameters)
    room = positive("memory_bytes", memory_bytes) * share("memory_share", memory_share)
    left = room - stage.replicated_bytes * n
    fits = left > 0
    # the tiny discount keeps an exact multiple from being rounded up by the last bit
    gpus = np.ceil(stage.sharded_bytes * n / np.where(fits, left, 1.0) * (1 - 1e-12))
    result: FloatArray = np.where(fits, np.maximum(gpus, 1.0), np.inf)[()]
    return result


def stage3_mfu(
    mfu: Numbers, peak_flop_per_second: Numbers, link_bytes_per_second: Numbers, tokens_per_gpu_step: Numbers
) -> FloatArray:
    """MFU left when a model is sharded (stage 3) over GPUs with a thin link, communication overlapped [1].

    Each step moves the weights three times, 3 x 2 N bytes (Rajbhandari et al. 2019, section 7), and computes 6 N
    FLOP per token: the link is the limit, whatever N, once tokens per step < peak x MFU / link speed.

    >>> round(float(stage3_mfu(0.4, 989e12, 50e9, 4096)), 3)
    0.207
    """
    fastest = positive("link_bytes_per_second", link_bytes_per_second) / positive(
        "peak_flop_per_second", peak_flop_per_second
    )
    return np.minimum(share("mfu", mfu), fastest * positive("tokens_per_gpu_step", tokens_per_gpu_step))


def linked_mfu(
    mfu: Numbers,
    peak_flop_per_second: Numbers,
    link_bytes_per_second: Numbers,
    tokens_per_gpu_step: Numbers,
    stage: ZeroStage,
) -> FloatArray:
    """The same for any stage: those that keep whole weights exchange gradients alone, two thirds as many bytes [1].

    Stages none, 1 and 2 move 2 x 2 N bytes a step, stage 3 moves 3 x 2 N (Rajbhandari et al. 2019, section 7).

    >>> round(float(linked_mfu(0.4, 989e12, 50e9, 4096, ZERO_2)), 3)
    0.311
    """
    faster = 1.5 if stage.replicated_bytes else 1.0
    return stage3_mfu(mfu, peak_flop_per_second, faster * np.asarray(link_bytes_per_second), tokens_per_gpu_step)


def hours_between_failures(n_gpus: Numbers, failures_per_gpu_year: Numbers) -> FloatArray:
    """Mean time between interruptions of a run on `n_gpus`; infinite without failures [h].

    >>> round(float(hours_between_failures(16384, 0.17297)), 3)
    3.093
    """
    per_year = positive("n_gpus", n_gpus) * not_negative("failures_per_gpu_year", failures_per_gpu_year)
    with np.errstate(divide="ignore", over="ignore"):
        hours: FloatArray = HOURS_PER_YEAR / per_year
    return hours


def young_checkpoint(hours_between_failures: Numbers, checkpoint_minutes: Numbers) -> FloatArray:
    """Interval between checkpoints that loses the least time, sqrt(2 delta M) (Young 1974) [h].

    >>> round(float(young_checkpoint(3.093, 1.0)), 4)
    0.3211
    """
    delta = not_negative("checkpoint_minutes", checkpoint_minutes) / MINUTES_PER_HOUR
    return np.sqrt(2 * delta * positive("hours_between_failures", hours_between_failures))


def young_waste(hours_between_failures: Numbers, checkpoint_minutes: Numbers) -> FloatArray:
    """Share of time lost to checkpoints and lost work at Young's interval, to first order, sqrt(2 delta / M) [1].

    >>> round(100 * float(young_waste(3.093, 1.0)), 2)
    10.38
    """
    delta = not_negative("checkpoint_minutes", checkpoint_minutes) / MINUTES_PER_HOUR
    return np.sqrt(2 * delta / positive("hours_between_failures", hours_between_failures))


def goodput(
    n_gpus: Numbers, failures_per_gpu_year: Numbers, checkpoint_minutes: Numbers, restart_minutes: Numbers
) -> FloatArray:
    """Share of the time that ends up in the model, checkpoints at Young's interval [1].

    tau / (M e^(R/M) (e^((tau + delta)/M) - 1)), exact for failures without memory (Daly 2006, Future Generation
    Computer Systems 22); to first order 1 - sqrt(2 delta / M) - R/M. Always in (0, 1], also where the
    first-order formula turns negative.

    Parameters
    ----------
    failures_per_gpu_year : float or array
        Unexpected interruptions: 0.173 in the Llama 3 405B run [1 / (GPU year)]. The 419 it counts are taken; some
        percentages printed beside them do not follow from the counts.
    checkpoint_minutes : float or array
        Time the run stands still for one checkpoint, delta [min].
    restart_minutes : float or array
        Time from a failure to running again, R [min].

    >>> round(float(goodput(16384, 0.17297, 1.0, 10.0)), 3)
    0.853
    """
    m = hours_between_failures(n_gpus, failures_per_gpu_year)
    never = np.isinf(m)
    m = np.where(never, 1.0, m)
    tau = np.maximum(young_checkpoint(m, checkpoint_minutes), 1e-9 * m)
    delta = np.asarray(checkpoint_minutes, dtype=np.float64) / MINUTES_PER_HOUR
    restart = not_negative("restart_minutes", restart_minutes) / MINUTES_PER_HOUR
    with np.errstate(over="ignore"):
        kept = tau / m * np.exp(-restart / m) / np.expm1((tau + delta) / m)
    result: FloatArray = np.where(never, 1.0, kept)[()]
    return result
