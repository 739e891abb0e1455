from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.study.exact_sum import ExactSum

SINGLES = st.floats(-(2.0**73), 2.0**73, width=32, allow_subnormal=False)


@given(st.lists(SINGLES, min_size=1, max_size=30), st.randoms(use_true_random=False), st.integers(0, 30))
def test_any_order_and_any_parts_give_the_same_sum_which_is_the_true_one(values, random, cut: int) -> None:
    shuffled = random.sample(values, len(values))
    one, first, second = ExactSum(1), ExactSum(1), ExactSum(1)
    for value in values:
        one.add(0, np.array([value], dtype=np.float32))
    for at, value in enumerate(shuffled):
        (first if at < cut else second).add(0, np.array([value], dtype=np.float32))
    second.merge(first)
    assert one.total(1)[0, 0] == second.total(1)[0, 0]
    true = sum(map(Fraction, values))
    assert abs(Fraction(one.total(1)[0, 0]) - true) <= abs(true) * Fraction(1, 2**51) + len(values) * Fraction(1, 2**53)


def test_plain_addition_would_not() -> None:
    thrice = [np.array([value], dtype=np.float32) for value in (2**60, 0.25, -(2**60))]
    assert sum(value.astype(np.float64)[0] for value in thrice) == 0.0
    exact = ExactSum(1)
    for value in thrice:
        exact.add(0, value)
    assert exact.total(1)[0, 0] == 0.25


def test_what_is_written_down_comes_back() -> None:
    total = ExactSum(3)
    total.add(4, np.array([1e18, 0.1, -5.0], dtype=np.float32))
    again = ExactSum.of(*total.keys_and_limbs())
    again.add(0, np.ones(3, dtype=np.float32))
    assert np.array_equal(again.total(5)[4], total.total(5)[4])
    assert np.array_equal(again.total(5)[0], np.ones(3))
    assert not total.total(5)[0].any(), "reading back makes a copy"
