"""Training runs and money against published runs and closed forms."""

import numpy as np
import pytest
from scipy import integrate, stats

from simulator.laws.finance import (
    OwnedCapacity,
    annuity,
    break_even_utilization,
    market_depreciation_rate,
    newsvendor_lognormal,
    newsvendor_normal,
)
from simulator.laws.scaling import training_flop
from simulator.laws.training_speed import (
    ZERO_1,
    ZERO_2,
    ZERO_3,
    ZERO_NONE,
    attention_share,
    goodput,
    hours_between_failures,
    training_gpu_seconds,
    young_checkpoint,
    young_waste,
    zero_bytes_per_gpu,
)
from simulator.laws.units import HOURS_PER_YEAR, SECONDS_PER_HOUR


def test_zero_memory() -> None:
    """Rajbhandari et al. 2019 (arXiv 1910.02054), figure 1: 7.5e9 parameters on 64 GPUs, GB per GPU."""
    stages = (ZERO_NONE, ZERO_1, ZERO_2, ZERO_3)
    gigabytes = [float(zero_bytes_per_gpu(7.5e9, 64, stage)) / 1e9 for stage in stages]
    assert gigabytes == pytest.approx([120.0, 31.4, 16.6, 1.88], abs=0.05)


# N, D, GPU-hours, peak: model cards; 6ND / (GPU-hours x peak) computed
RUNS = [
    ("LLaMA-65B", 65.2e9, 1.4e12, 1_022_362, 312e12, 0.477),
    ("Llama 2 7B", 6.738e9, 2e12, 184_320, 312e12, 0.391),
    ("Llama 2 70B", 68.977e9, 2e12, 1_720_320, 312e12, 0.428),
    ("Llama 3 70B", 70.554e9, 15e12, 6.4e6, 989e12, 0.279),
    ("Llama 3.1 405B", 405.85e9, 15.6e12, 30.84e6, 989e12, 0.346),
    ("BLOOM", 176.247e9, 366e9, 1_082_990, 312e12, 0.318),
    ("DeepSeek-V3", 37e9, 14.8e12, 2.788e6, 1513e12, 0.216),
]


@pytest.mark.parametrize(("name", "n", "d", "hours", "peak", "mfu"), RUNS, ids=[run[0] for run in RUNS])
def test_published_gpu_hours(name: str, n: float, d: float, hours: float, peak: float, mfu: float) -> None:
    seconds = training_gpu_seconds(training_flop(n, d), peak, mfu)
    assert seconds / SECONDS_PER_HOUR == pytest.approx(hours, rel=3e-3), name


def test_attention() -> None:
    """Google DeepMind, How to Scale Your Model (2025): context/(8 width), 12.5 % at 8192 and 8192."""
    assert attention_share(8192, 8192) == 0.125


def test_llama_3_failures() -> None:
    """Grattafiori et al. 2024 (arXiv 2407.21783): 54 days on 16,384 H100, 419 unexpected interruptions."""
    gpu_years = 16_384 * 54 * 24 / HOURS_PER_YEAR
    per_gpu_year = 419 / gpu_years
    assert per_gpu_year == pytest.approx(0.1730, abs=1e-4)
    hours = hours_between_failures(np.array([16_384, 1_024, 4_096, 100_000]), per_gpu_year)
    assert hours == pytest.approx(np.array([3.093, 49.49, 12.37, 0.5068]), rel=2e-4)
    assert hours_between_failures(16_384, 466 / gpu_years) == pytest.approx(2.781, abs=5e-4)


def test_young() -> None:
    """Young 1974, sqrt(2 delta M) and sqrt(2 delta/M), computed at M = 3.093 h for 1 and 5 minutes."""
    assert young_checkpoint(3.093, np.array([1.0, 5.0])) == pytest.approx(np.array([0.3211, 0.7180]), abs=5e-5)
    assert 100 * young_waste(3.093, np.array([1.0, 5.0])) == pytest.approx(np.array([10.38, 23.21]), abs=6e-3)


def test_llama_3_effective_time() -> None:
    """The same paper: above 90 % effective time; checkpoints there cost seconds, not minutes."""
    assert goodput(16_384, 0.1730, 0.25, 5.0) > 0.90


def test_goodput_against_a_drawn_run() -> None:
    """Independent route: live through failures one by one, at Young's interval."""
    n_gpus, per_gpu_year, checkpoint_minutes, restart_minutes = 16_384, 0.173, 5.0, 15.0
    mean = float(hours_between_failures(n_gpus, per_gpu_year))
    tau = float(young_checkpoint(mean, checkpoint_minutes))
    lives = np.random.default_rng(11).exponential(mean, 200_000)
    running = np.maximum(lives - restart_minutes / 60, 0.0)  # a failure may also strike while restarting
    done = np.floor(running / (tau + checkpoint_minutes / 60)) * tau
    expected = goodput(n_gpus, per_gpu_year, checkpoint_minutes, restart_minutes)
    assert done.sum() / lives.sum() == pytest.approx(float(expected), abs=0.004)


def test_annuity() -> None:
    """Standard table: 7 % over 25 years."""
    assert annuity(0.07, 25) == pytest.approx(0.0858, abs=5e-5)


def test_depreciation_charge() -> None:
    """Cottier et al. 2024 (arXiv 2405.21015): 0.14 orders of magnitude a year is a charge of 0.32236, 3.10 years."""
    assert market_depreciation_rate() == pytest.approx(0.32236, abs=5e-6)
    assert 1 / market_depreciation_rate() == pytest.approx(3.10, abs=5e-3)


@pytest.mark.parametrize(("rent", "expected"), [(2.5, 0.704), (3.0, 0.587), (6.88, 0.256)])
def test_break_even(rent: float, expected: float) -> None:
    """Owned H100 at 1.76 USD/h against three rents: co / cr."""
    assert break_even_utilization(1.76, rent) == pytest.approx(expected, abs=5e-4)


# computed from the critical fractile P(D > K) = co/cr
NORMAL = [
    (1000, 200, 1.5, 3, 1000, 1739.37, 3000),
    (1000, 200, 1, 4, 1134.90, 1254.22, 4000),
    (1000, 300, 2, 3, 870.782, 2327.24, 3000),
]
LOGNORMAL = [(1000, 0.5, 1.5, 3, 1000, 2350.59, 3399.4), (1000, 1.0, 1.5, 3, 1000, 4161.43, 4946.2)]


@pytest.mark.parametrize(("mean", "sd", "co", "cr", "capacity", "cost", "all_rent"), NORMAL)
def test_newsvendor_normal(
    mean: float, sd: float, co: float, cr: float, capacity: float, cost: float, all_rent: float
) -> None:
    _agrees(newsvendor_normal(mean, sd, co, cr), capacity, cost, all_rent)
    assert cost == pytest.approx(_by_integration(stats.norm(mean, sd), capacity, co, cr), rel=1e-4)


@pytest.mark.parametrize(("median", "sigma", "co", "cr", "capacity", "cost", "all_rent"), LOGNORMAL)
def test_newsvendor_lognormal(
    median: float, sigma: float, co: float, cr: float, capacity: float, cost: float, all_rent: float
) -> None:
    _agrees(newsvendor_lognormal(median, sigma, co, cr), capacity, cost, all_rent)
    assert cost == pytest.approx(_by_integration(stats.lognorm(sigma, scale=median), capacity, co, cr), rel=1e-4)


def _agrees(found: OwnedCapacity, capacity: float, cost: float, all_rent: float) -> None:
    assert found.capacity == pytest.approx(capacity, rel=1e-4)
    assert found.cost_usd_per_hour == pytest.approx(cost, rel=1e-4)
    assert found.all_rent_usd_per_hour == pytest.approx(all_rent, rel=1e-4)


def _by_integration(demand: "stats.rv_frozen", capacity: float, co: float, cr: float) -> float:
    """Own capacity, rent what exceeds it: co K + cr x integral of P(D > x) from K."""
    overflow, _ = integrate.quad(demand.sf, capacity, np.inf)
    return float(co * capacity + cr * overflow)
