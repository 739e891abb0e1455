"""The catalogue of published models through the laws: losses, GPU-hours and dollars as computed from the sources."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.laws.fits import BESI, HARM, HOFF, HOFFX, SCALING_FITS, ScalingFit
from simulator.laws.scaling import (
    compute_optimal,
    lifetime_optimal,
    loss,
    overtraining_tokens_factor,
    training_flop,
)
from simulator.laws.serving_speed import cache_bytes_per_token, critical_batch, decode_step_seconds
from simulator.laws.training_speed import hours_between_failures, training_gpu_seconds
from simulator.laws.units import HOURS_PER_YEAR, SECONDS_PER_HOUR
from simulator.world.hardware import CATALOGUE
from simulator.world.models import MODELS, model_named

# model, 6ND, D/N, loss under HOFF, HOFFX and BESI, computed from the printed coefficients with N and D of the sources
# that the catalogue names; a mixture of experts has no loss under laws of dense models
TABLE = [
    ("GPT-3", 3.150e23, 1.714, 2.00229, 1.97645, 2.00854),
    ("Jurassic-1", 3.204e23, 1.685, 2.00194, 1.97609, 2.00819),
    ("Gopher", 5.040e23, 1.071, 1.99326, 1.96724, 1.99961),
    ("MT-NLG", 8.586e23, 0.509, 1.99061, 1.96360, 1.99478),
    ("Chinchilla", 5.880e23, 20.00, 1.93665, 1.92085, 1.97388),
    ("LLaMA-65B", 5.477e23, 21.47, 1.93869, 1.92292, 1.97592),
    ("BLOOM", 3.870e23, 2.077, 1.98854, 1.96415, 1.99913),
    ("PaLM", 2.529e24, 1.444, 1.92387, 1.90402, 1.95036),
    ("Llama 2 7B", 8.086e22, 296.8, 2.02269, 2.01041, 2.06714),
    ("Llama 2 70B", 8.277e23, 29.00, 1.92156, 1.90753, 1.96510),
    ("Llama 3 8B", 7.227e23, 1868, 1.94831, 1.94340, 2.02184),
    ("Llama 3 70B", 6.350e24, 212.6, 1.85725, 1.85075, 1.93005),
    ("Llama 3.1 405B", 3.799e25, 38.44, 1.81900, 1.81190, 1.89255),
    ("DeepSeek-V3", 3.286e24, 400, None, None, None),
]


@pytest.mark.parametrize(("name", "flop", "ratio", "hoff", "hoffx", "besi"), TABLE, ids=[row[0] for row in TABLE])
def test_catalogue_against_the_table_of_losses(
    name: str, flop: float, ratio: float, hoff: float | None, hoffx: float | None, besi: float | None
) -> None:
    model = model_named(name)
    n, d = model.n_active_parameters, model.n_training_tokens
    assert training_flop(n, d) == pytest.approx(flop, rel=5e-4)
    assert d / n == pytest.approx(ratio, rel=1e-3)
    for fit, expected in ((HOFF, hoff), (HOFFX, hoffx), (BESI, besi)):
        if expected is not None:
            assert loss(fit, n, d) == pytest.approx(expected, abs=1e-4), fit.name


@pytest.mark.parametrize("fit", SCALING_FITS, ids=lambda fit: fit.name)
def test_order_of_the_models_of_2022(fit: ScalingFit) -> None:
    """Hoffmann et al. 2022: Chinchilla is better than each larger model; their order is that of size, in every fit."""
    names = ("Chinchilla", "Gopher", "Jurassic-1", "GPT-3")
    reached = [float(loss(fit, m.n_parameters, m.n_training_tokens)) for m in map(model_named, names)]
    assert reached == sorted(reached)
    assert len(set(reached)) == 4


# model, GPU-hours, dense peak, 6ND / (GPU-hours x peak): hours from the model cards and papers, ratio computed
RUNS = [
    ("LLaMA-65B", 1_022_362, 312e12, 0.477),
    ("Llama 2 7B", 184_320, 312e12, 0.391),
    ("Llama 2 13B", 368_640, 312e12, 0.377),
    ("Llama 2 70B", 1_720_320, 312e12, 0.428),
    ("Llama 3 8B", 1.3e6, 989e12, 0.156),
    ("Llama 3 70B", 6.4e6, 989e12, 0.279),
    ("Llama 3.1 8B", 1.46e6, 989e12, 0.139),
    ("Llama 3.1 70B", 7.0e6, 989e12, 0.255),
    ("Llama 3.1 405B", 30.84e6, 989e12, 0.346),
    ("BLOOM", 1_082_990, 312e12, 0.318),
    ("PaLM", 8_404_992, 275e12, 0.304),
    ("DeepSeek-V3", 2.788e6, 1513e12, 0.216),
    ("DeepSeek-V3", 2.788e6, 989e12, 0.331),
]


@pytest.mark.parametrize(("name", "hours", "peak", "utilization"), RUNS)
def test_published_gpu_hours(name: str, hours: float, peak: float, utilization: float) -> None:
    """All published runs: A100 312, H100 and H800 989 (bf16), H800 1513 (fp8), TPU v4 275 TFLOP/s."""
    model = model_named(name)
    flop = training_flop(model.n_active_parameters, model.n_training_tokens)
    assert training_gpu_seconds(flop, peak, 1.0) / SECONDS_PER_HOUR / hours == pytest.approx(utilization, abs=6e-4)


def test_published_hours_and_dollars_add_up() -> None:
    """Model cards: 7.7e6 and 39.3e6 hours; DeepSeek's papers: 5.576e6 USD for V3, 294,672 for R1, at 2 an hour."""
    hours = {name: figure for name, figure, *_ in RUNS}
    assert hours["Llama 3 8B"] + hours["Llama 3 70B"] == pytest.approx(7.7e6)
    assert sum(hours[f"Llama 3.1 {size}"] for size in ("8B", "70B", "405B")) == pytest.approx(39.3e6)
    assert 2.0 * hours["DeepSeek-V3"] == pytest.approx(5.576e6)
    assert 2.0 * ((198 + 80) * 512 + 5000) == 294_672


def test_de_vries_at_his_critical_size() -> None:
    """Go smol or go home (2023), k_N = 0.3: 6B on 6.59e12 tokens (6e12 printed), 21B on 29.2e12 (28e12 printed)."""
    for n, computed, printed in ((6e9, 6.59e12, 6e12), (21e9, 29.2e12, 28e12)):
        optimal = n / 0.3
        d_optimal = float((HARM.beta * HARM.b / (HARM.alpha * HARM.a * optimal**-HARM.alpha)) ** (1 / HARM.beta))
        assert compute_optimal(HARM, 6 * optimal * d_optimal)[0] == pytest.approx(optimal)
        needed = d_optimal * float(overtraining_tokens_factor(HARM, 0.3))
        assert needed == pytest.approx(computed, rel=2e-3)
        assert needed == pytest.approx(printed, rel=0.11)


def test_lifetime_optimum_falls_to_the_floor_of_the_published_law() -> None:
    """Computed from Sardana's condition: the size falls with demand to (A/(l-E))^(1/alpha), 0.14641 N0 under BESI."""
    n0, d0 = compute_optimal(BESI, 1e24)
    served = np.geomspace(1e10, 1e34, 60)
    n, _ = lifetime_optimal(BESI, loss(BESI, n0, d0), served)
    assert (np.diff(n) < 0).all()
    assert n[-1] / n0 == pytest.approx(0.14641, rel=1e-3)


# layers, key-value heads, width of a head, bytes of a token at 16 bits: model cards
SHAPES = [
    ("Llama-3-8B", 32, 8, 128, 131_072),
    ("Llama-3-70B", 80, 8, 128, 327_680),
    ("Llama-3.1-405B", 126, 8, 128, 516_096),
    ("Llama-3.1-405B as in Erdil's notebook", 126, 16, 128, 1_032_192),
    ("GPT-3", 96, 96, 128, 4_718_592),
    ("Llama-2-13B", 40, 40, 128, 819_200),
]


@pytest.mark.parametrize(("name", "layers", "heads", "width", "expected"), SHAPES, ids=[row[0] for row in SHAPES])
def test_cache_of_a_token(name: str, layers: int, heads: int, width: int, expected: int) -> None:
    """2 x layers x heads x width x bytes: 327,680 for Llama-3-70B, half of it in 8 bits."""
    assert cache_bytes_per_token(layers, heads, width, 16) == expected, name
    assert cache_bytes_per_token(layers, heads, width, 8) == expected / 2, name


def test_critical_batch_of_the_h100() -> None:
    """F / BW = 989e12 / 3.35e12 = 295: How to Scale Your Model (2025), with the catalogue's own chip."""
    chip = next(found.chip for found in CATALOGUE if found.name == "H100")
    turn = critical_batch(chip.bf16_flop_per_second, chip.memory_bytes_per_second, 16)
    assert round(float(turn)) == 295


def test_steps_of_llama_2_13b_in_closed_form() -> None:
    """How to Scale Your Model (2025): (26 + 6.7 B)/6.56 ms for B sequences of 8192 tokens below the critical batch."""
    batch = np.array([1.0, 8.0, 16.0, 32.0, 64.0, 240.0])
    step = decode_step_seconds(13e9, 26e9, 6.7e9, batch, 8 * 197e12, 6.56e12)
    assert step == pytest.approx((26e9 + 6.7e9 * batch) / 6.56e12, rel=1e-12)
    assert (batch / step)[[0, -1]] == pytest.approx([200.61, 963.53], rel=1e-4)


def test_failures_of_one_gpu() -> None:
    """Grattafiori et al. 2024, 419 interruptions of 16,384 GPUs in 54 days: 50,677 h = 5.781 years between failures."""
    hours = float(hours_between_failures(1, 419 / (16_384 * 54 * 24 / HOURS_PER_YEAR)))
    assert hours == pytest.approx(50_677, abs=1)
    assert hours / HOURS_PER_YEAR == pytest.approx(5.781, abs=5e-4)


def test_every_row_of_the_catalogue_is_used_here() -> None:
    used = {row[0] for row in TABLE} | {row[0] for row in RUNS}
    # R1 has the parameters and tokens of V3; Llama 4 is checked against Epoch in tests/world/test_models.py.
    assert {model.name for model in MODELS} - used == {"DeepSeek-R1", "Llama 4 Scout", "Llama 4 Maverick"}
