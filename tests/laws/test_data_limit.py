import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.data_limit import (
    effective_parameters,
    effective_tokens,
    matched_parameters,
    parameters_for_effective,
    tokens_for_effective,
)
from simulator.laws.fits import BESI
from simulator.laws.scaling import compute_optimal

passes = st.floats(0.01, 60)


@given(passes, st.floats(1e6, 1e14))
def test_tokens_for_effective_inverts_effective_tokens(times: float, unique: float) -> None:
    d = times * unique
    worth = effective_tokens(d, unique)
    assert worth <= d
    assert tokens_for_effective(worth, unique) == pytest.approx(d, rel=1e-7)
    assert parameters_for_effective(effective_parameters(d, unique * 4), unique * 4) == pytest.approx(d, rel=1e-3)


@given(passes, st.floats(1.0, 2.0))
def test_more_passes_are_worth_more_but_less_each(times: float, factor: float) -> None:
    first, second = effective_tokens(np.array([times, times * factor]), 1.0)
    assert first <= second <= first * factor * (1 + 1e-12)


def test_the_first_pass_is_fresh() -> None:
    assert effective_tokens(np.array([0.0, 0.3, 1.0]), 1.0) == pytest.approx([0.0, 0.3, 1.0])


def test_beyond_the_limit_nothing_helps() -> None:
    assert np.isinf(tokens_for_effective(16.4, 1.0))
    assert np.isinf(parameters_for_effective(6.4, 1.0))
    assert np.isinf(tokens_for_effective(np.inf, 1.0))


def test_matched_parameters_are_those_of_the_optimum() -> None:
    n, d = compute_optimal(BESI, 1e24)
    assert matched_parameters(BESI, d) == pytest.approx(n)
