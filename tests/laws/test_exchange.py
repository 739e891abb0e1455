import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.exchange import best_split, later_compute_price, value_of_information, wrong_forecast_cost

amounts = st.floats(-4, 6).map(lambda x: 10.0**x)
rates = st.floats(0.1, 10)


@given(amounts, amounts, rates, rates, amounts, amounts, st.floats(-2, 2))
def test_no_other_point_of_equal_quality_is_cheaper(
    t0: float, i0: float, a: float, b: float, p_t: float, p_i: float, x: float
) -> None:
    best = best_split(t0, i0, a, b, p_t, p_i)
    cost = p_t * best.training_flop + p_i * best.inference_flop
    other = p_t * t0 * 10**x + p_i * i0 * 10 ** (-a / b * x)
    assert cost <= other * (1 + 1e-9)
    before = a * np.log(t0) + b * np.log(i0)
    after = a * np.log(best.training_flop) + b * np.log(best.inference_flop)
    assert after == pytest.approx(before, abs=1e-6 + 1e-9 * abs(before))
    assert p_t * best.training_flop / cost == pytest.approx(a / (a + b))


@given(amounts, amounts, rates, rates, st.floats(0, 3), st.floats(0, 3))
def test_a_wider_trade_is_never_dearer(t0: float, i0: float, a: float, b: float, narrow: float, wider: float) -> None:
    small = best_split(t0, i0, a, b, most_oom_more=narrow, most_oom_less=narrow)
    large = best_split(t0, i0, a, b, most_oom_more=narrow + wider, most_oom_less=narrow + wider)
    assert large.total_flop <= small.total_flop * (1 + 1e-12) <= (t0 + i0) * (1 + 1e-9)


def test_arrays_of_starting_points() -> None:
    split = best_split(1.0, np.array([1.0, 1e2, 1e8]), 1.0, 1.0, most_oom_more=2.0)
    assert split.training_flop == pytest.approx([1.0, 10.0, 100.0])
    assert split.binding.tolist() == [False, False, True]


@given(st.floats(0.01, 100), st.floats(0.01, 0.99))
def test_a_wrong_forecast_is_never_cheaper(ratio: float, share: float) -> None:
    assert wrong_forecast_cost(ratio, share) >= 1 - 1e-12
    assert wrong_forecast_cost(1.0, share) == pytest.approx(1.0)


def test_prices_that_do_not_fall_stay_at_one() -> None:
    assert later_compute_price(3.0, 0.0) == 1.0
    assert value_of_information(0.5, 0.0) == 0.0


def test_a_zero_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha must be greater than 0"):
        best_split(1.0, 1.0, 0.0, 1.0)
