import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simulator.laws.test_time import (
    COVERAGE_FITS,
    MAX_SAMPLES,
    CoverageFit,
    any_of,
    coverage,
    gain,
    generated_tokens,
    majority,
    pass_at_k,
    samples_for_coverage,
    samples_for_gain,
)


@given(st.floats(1.0, MAX_SAMPLES))
def test_samples_for_gain_inverts_gain(samples: float) -> None:
    assert samples_for_gain(np.minimum(gain(samples), 10.0)) == pytest.approx(samples)


@given(st.sampled_from(COVERAGE_FITS), st.floats(0, 8).map(lambda x: 10.0**x))
def test_samples_for_coverage_inverts_coverage(fit: CoverageFit, k: float) -> None:
    reached = coverage(k, fit.a, fit.b)
    assert 0 < reached < 1
    assert samples_for_coverage(reached, fit.a, fit.b) == pytest.approx(k, rel=1e-6)


def test_one_sample_gains_nothing_and_30_are_refused() -> None:
    assert gain(1.0) == 1.0
    with pytest.raises(ValueError, match=r"samples must be between 1 and 28\.1\d+, got 30"):
        gain(30.0)


def test_certainty_takes_endless_samples_and_little_takes_one() -> None:
    fit = COVERAGE_FITS[0]
    assert np.isinf(samples_for_coverage(1.0, fit.a, fit.b))
    assert samples_for_coverage(1e-9, fit.a, fit.b) == 1.0


def test_each_sample_is_written_in_full() -> None:
    assert generated_tokens(np.array([100.0, 200.0]), 4.0) == pytest.approx([400.0, 800.0])


@given(st.integers(0, 40), st.floats(0, 1))
def test_majority_is_the_binomial_tail(half: int, p: float) -> None:
    k = 2 * half + 1
    assert majority(k, p) == pytest.approx(float(stats.binom.sf(half, k, p)), abs=1e-9)


def test_an_even_vote_is_refused() -> None:
    with pytest.raises(ValueError, match="odd number of samples, got 4"):
        majority(4, 0.6)


def test_any_of_several() -> None:
    assert any_of(2.0, 0.5) == 0.75
    assert any_of(np.array([1.0, 2.0, 3.0]), 0.0) == pytest.approx([0, 0, 0])


@given(st.integers(1, 60), st.data())
def test_pass_at_k_counts_the_ways_to_miss(samples: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    missed = stats.hypergeom(samples, correct, k).pmf(0)
    assert pass_at_k(samples, correct, k) == pytest.approx(1 - float(missed), abs=1e-9)


def test_pass_at_k_refuses_more_right_than_tried() -> None:
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at_k(5, 6, 1)
