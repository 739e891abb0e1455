"""Claims about what fits where: number formats, and models spread over GPUs."""

from __future__ import annotations

from functools import partial

from simulator.lab.accounts import Account, Use
from simulator.lab.given import Given
from simulator.lab.lab import Run
from simulator.laws.fine_tuning import QLORA_WEIGHT_BITS, qlora
from simulator.laws.precision import INT4, INT8, PRECISIONS, weight_bytes
from simulator.laws.training_speed import ZERO_1, ZERO_2, ZERO_3, ZERO_NONE, ZeroStage, least_gpus, zero_bytes_per_gpu
from simulator.laws.units import GIGA
from simulator.study.claims import EXACT, Claim, accounted, published, shown, unexplained
from simulator.study.shipped import declared_run, lived, paid, release, saved_percent, spent, study, with_recipe
from simulator.world.models import model_named

QUANTIZATION, SHARDING = "quantization", "sharding"
_BITS = "N bits / 8"
_KURTIC = "Kurtic et al. 2024 (arXiv 2411.02355)"
_SMOOTH = "Xiao et al. 2022 (SmoothQuant), OPT on A100 80 GB"
_QLORA = "Dettmers et al. 2023 (QLoRA)"
_ZERO = "Rajbhandari et al. 2019, figure 1: 7.5B on 64 GPUs"


def _memory(name: str, precision: str) -> float:
    bits = next(found.weight_bits for found in PRECISIONS if found.name == precision)
    return float(weight_bytes(model_named(name).n_parameters, bits)) / GIGA


def _qlora_gpus() -> float:
    """Fewest GPUs of 48 GB that hold 65B frozen parameters, and adapters of 0.2 % of them."""
    method = qlora(0.002)
    return float(least_gpus(65e9, 48.0 * GIGA, method.memory_share, method.stage))


def _served(model: str, precision: str, *overrides: str) -> Run:
    kind = next(found.name for found in PRECISIONS if found.name == precision)
    recipe = Given.model_validate({"model": model, "precision": kind})
    return lived(QUANTIZATION, with_recipe(QUANTIZATION, "70b-bf16", recipe), *overrides)


def _kept(model: str, precision: str) -> float:
    """Equivalent FLOP that are left in a format [%]."""
    whole, left = (release(_served(model, each)).reached_flop for each in ("bf16", precision))
    return 100.0 * left / whole


def _faster(precision: str) -> float:
    """Tokens per GPU-hour in a format / in bf16."""
    slow, fast = (spent(_served("Llama 3.1 70B", each), Use.SERVING) for each in ("bf16", precision))
    return slow / fast


def _replica(n_parameters: float, precision: str) -> float:
    """GPUs of the replica that serves a model of that size most cheaply, A100 of 80 GB, no time per token set."""
    own = f'{{ name = "own", n_parameters = {n_parameters!r}, n_training_tokens = 180e9, '
    model = f'model=[{own}release = 2022-05-03, source = "Zhang et al. 2022 (OPT)" }}]'
    run = _served("own", precision, "market.quote.0.accelerator=A100", "serving.max_seconds_per_token=1.0", model)
    return float(release(run).choice.model.replica_gpus[0])


def _halved(n_parameters: float) -> float:
    return _replica(n_parameters, "int8") / _replica(n_parameters, "bf16")


_QUANTIZATION_CLAIMS = (
    *(
        published(
            QUANTIZATION, f"weights of {name} in {kind}", _BITS, gigabytes, partial(_memory, name, kind), 0.001, "GB"
        )
        for name, row in (
            ("Llama 3.1 8B", (16.06, 8.03, 4.015)),
            ("Llama 3.1 70B", (141.1, 70.55, 35.28)),
            ("Llama 3.1 405B", (811.7, 405.9, 202.9)),
            ("GPT-3", (350.0, 175.0, 87.5)),
        )
        for kind, gigabytes in zip(("bf16", "int8", "int4"), row, strict=True)
    ),
    *(
        published(
            QUANTIZATION,
            f"weights in {kind.name} / in 16 bits",
            "the common claim, exact for weights",
            factor,
            partial(lambda name: _memory("GPT-3", name) / _memory("GPT-3", "bf16"), kind.name),
            EXACT,
        )
        for kind, factor in ((INT8, 0.5), (INT4, 0.25))
    ),
    published(
        QUANTIZATION,
        "weights of a 65B model at 4.127 bits",
        _QLORA,
        33.5,
        lambda: float(weight_bytes(65e9, QLORA_WEIGHT_BITS)) / GIGA,
        0.001,
        "GB",
    ),
    published(QUANTIZATION, "GPUs of 48 GB that tune a 65B model by QLoRA", _QLORA, 1.0, _qlora_gpus, EXACT, "GPUs"),
    accounted(
        QUANTIZATION,
        "quality kept in fp8",
        f"{_KURTIC}: lossless",
        100.0,
        partial(_kept, "Llama 3.1 70B", "fp8"),
        EXACT,
        "%",
    ),
    published(
        QUANTIZATION, "GPUs of OPT-175B in 16 bits", _SMOOTH, 8.0, partial(_replica, 175e9, "bf16"), EXACT, "GPUs"
    ),
    published(QUANTIZATION, "GPUs of OPT-175B in int8", _SMOOTH, 4.0, partial(_replica, 175e9, "int8"), EXACT, "GPUs"),
    published(
        QUANTIZATION,
        "GPUs of OPT-66B, int8 / 16 bits",
        f"{_SMOOTH}: 2 to 1, the fewest; here the cheapest",
        0.5,
        partial(_halved, 66e9),
        EXACT,
    ),
    unexplained(
        QUANTIZATION,
        "speed in fp8 / in bf16, at full load",
        "vLLM: up to 1.6; here larger batches fit as well",
        1.6,
        partial(_faster, "fp8"),
    ),
    *(
        shown(
            QUANTIZATION,
            f"equivalent FLOP kept by {name} in {kind}",
            f"{ratio:g} training tokens a parameter; the penalty's size is an assumption",
            partial(_kept, name, kind),
            "%",
        )
        for name, ratio in (("Chinchilla", 20.0), ("Llama 3.1 70B", 213.0), ("Llama 3.1 8B", 1868.0))
        for kind in ("int8", "int4")
    ),
    shown(
        QUANTIZATION,
        "saved by fp8, the same model",
        "memory, cache and FLOP",
        partial(saved_percent, QUANTIZATION, "70b-fp8", "70b-bf16"),
        "%",
    ),
    shown(
        QUANTIZATION,
        "saved by int4, the same model",
        "weights alone",
        partial(saved_percent, QUANTIZATION, "70b-int4", "70b-bf16"),
        "%",
    ),
    shown(
        QUANTIZATION,
        "saved by choosing the format, at equal quality",
        "beside training longer",
        partial(saved_percent, QUANTIZATION, "overtrain-quantize", "overtrain"),
        "%",
    ),
)


def _state_gb(stage: ZeroStage) -> float:
    return float(zero_bytes_per_gpu(7.5e9, 64, stage)) / GIGA


def _fewest(kind: str) -> float:
    found = study(SHARDING).scenario
    chip = next(each.chip for each in found.accelerators if each.name == kind)
    return float(least_gpus(model_named("Llama 2 70B").n_parameters, chip.memory_bytes))


def _sharded(name: str) -> Run:
    return declared_run(SHARDING, name)


def _run_gpus(name: str) -> float:
    return float(release(_sharded(name)).choice.size.gpus)


def _run_usd(name: str) -> float:
    return paid(_sharded(name), Account.ON_DEMAND)


def _fastest_break_even_usd() -> float:
    """Rent at which a GPU-hour of an A100 of 40 GB buys as many FLOP a dollar as one of a B200."""
    small, large = (release(_sharded(name)).choice.size.gpu_hours for name in ("on-a100-40gb", "on-b200"))
    quotes = {quote.accelerator: quote.on_demand_usd_per_gpu_hour for quote in study(SHARDING).scenario.quotes}
    return quotes["B200"] * large / small


_KINDS = (("on-b200", "B200"), ("on-h100", "H100"), ("on-a100-80gb", "A100"), ("on-a100-40gb", "A100 40GB"))
_SHARDING_CLAIMS = (
    *(
        published(SHARDING, f"memory a GPU: {stage.name}", _ZERO, gigabytes, partial(_state_gb, stage), 0.003, "GB")
        for stage, gigabytes in ((ZERO_NONE, 120.0), (ZERO_1, 31.4), (ZERO_2, 16.6), (ZERO_3, 1.88))
    ),
    *(
        shown(SHARDING, f"fewest {kind} that hold a 70B run", "stage 3, 60 % of memory", partial(_fewest, kind), "GPUs")
        for _, kind in _KINDS
    ),
    *(
        shown(SHARDING, f"{kind} to train Llama 2 70B in 90 days", "6 N D, MFU 0.428", partial(_run_gpus, name), "GPUs")
        for name, kind in _KINDS
    ),
    *(
        shown(SHARDING, f"its bill on {kind}", "rents of 2024 to 2026", partial(_run_usd, name), "USD")
        for name, kind in _KINDS
    ),
    shown(
        SHARDING,
        "rent at which an A100 of 40 GB is as cheap as a B200",
        "links fast enough for both",
        _fastest_break_even_usd,
        "USD/h",
    ),
)

CLAIMS: tuple[Claim, ...] = (*_QUANTIZATION_CLAIMS, *_SHARDING_CLAIMS)
