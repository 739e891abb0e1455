"""Test-time compute: coverage fits of arXiv 2502.17578 and the unbiased pass@k."""

import numpy as np
import pytest

from simulator.laws.test_time import (
    MAX_SAMPLES,
    PYTHIA_2_8B,
    PYTHIA_12B,
    PYTHIA_70M,
    PYTHIA_160M,
    PYTHIA_410M,
    SWE_BENCH_LITE,
    CoverageFit,
    coverage,
    coverage_fit_through,
    gain,
    pass_at_k,
    samples_for_coverage,
    samples_for_gain,
)


@pytest.mark.parametrize(
    ("fit", "expected"),
    [
        (PYTHIA_12B, (0.01636, 0.17299, 0.47310, 0.72668, 0.87267)),
        (PYTHIA_2_8B, (0.01651, 0.15058, 0.41753, 0.66837, 0.83038)),
        (PYTHIA_410M, (0.00399, 0.05731, 0.22764, 0.46485, 0.67266)),
    ],
    ids=["12B", "2.8B", "410M"],
)
def test_coverage(fit: CoverageFit, expected: tuple[float, ...]) -> None:
    """Computed from exp(-a k^-b) with the published fits on MATH."""
    assert coverage(10.0 ** np.arange(5), fit.a, fit.b) == pytest.approx(np.array(expected), rel=1e-3)


@pytest.mark.parametrize(
    ("fit", "parameters", "samples", "flop_over_12b"),
    [(PYTHIA_12B, 12e9, 123.1, 1.0), (PYTHIA_2_8B, 2.8e9, 199.0, 0.377),
     (PYTHIA_160M, 160e6, 3114, 0.337), (PYTHIA_70M, 70e6, 303_986, 14.4)],
)  # fmt: skip
def test_samples_to_solve_half(fit: CoverageFit, parameters: float, samples: float, flop_over_12b: float) -> None:
    """Computed: a smaller model with more samples is cheaper only down to a point."""
    k = samples_for_coverage(0.5, fit.a, fit.b)
    assert k == pytest.approx(samples, rel=1e-3)
    assert k * parameters / (123.1 * 12e9) == pytest.approx(flop_over_12b, rel=2e-3)


def test_swe_bench_lite() -> None:
    """Brown et al. 2024 (arXiv 2407.21787): 15.9 % with 1 sample, 56 % with 250."""
    assert coverage(np.array([1.0, 250.0]), SWE_BENCH_LITE.a, SWE_BENCH_LITE.b) == pytest.approx(
        [0.159, 0.56], abs=1e-4
    )
    assert coverage(np.array([5.0, 50.0]), SWE_BENCH_LITE.a, SWE_BENCH_LITE.b) == pytest.approx(
        [0.2689, 0.4441], abs=1e-4
    )
    assert coverage_fit_through(250, 0.159, 0.56) == (
        pytest.approx(1.83885, abs=1e-5),
        pytest.approx(0.209035, abs=1e-6),
    )


def test_pass_at_k() -> None:
    """Chen et al. 2021 (arXiv 2107.03374), n = 100, c = 5; computed from the product."""
    assert [pass_at_k(100, 5, k) for k in (1, 10, 50)] == pytest.approx([0.05, 0.416248, 0.971858], abs=1e-6)


def test_gain_spans_one_order_of_training_for_1_45_of_sampling() -> None:
    """Villalobos & Atkinson 2023, repeated sampling with expensive verification."""
    assert round(MAX_SAMPLES, 1) == 28.2
    assert gain(MAX_SAMPLES) == pytest.approx(10.0)
    assert samples_for_gain(10.0) == pytest.approx(MAX_SAMPLES)


def test_a_small_model_sampled_64_times_costs_more_than_a_large_one_once() -> None:
    """8B at 64 samples against 70B at one: 7.314 times the FLOP."""
    assert pytest.approx(7.314, abs=5e-4) == 64 * 8 / 70
