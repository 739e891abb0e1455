import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.finance import (
    annuity,
    break_even_utilization,
    discount_factors,
    market_depreciation_rate,
    market_value,
    newsvendor_lognormal,
    newsvendor_normal,
    present_value,
    straight_line_value,
)


@given(st.floats(-0.3, 0.5), st.integers(1, 40))
def test_an_annuity_is_worth_what_it_repays(rate: float, years: int) -> None:
    paid = np.full(years, annuity(rate, years))
    assert present_value(paid, 365.25 * np.arange(1, years + 1), rate) == pytest.approx(1.0, rel=1e-6)


def test_an_annuity_without_interest_is_an_even_share() -> None:
    assert annuity(np.array([0.0, 1e-13]), 5) == pytest.approx([0.2, 0.2])


def test_discounting() -> None:
    assert discount_factors(np.array([0.0, 365.25, 730.5]), 0.25) == pytest.approx([1.0, 0.8, 0.64])
    assert discount_factors(np.arange(5.0), 0.0) == pytest.approx(np.ones(5))
    with pytest.raises(ValueError, match="rate_per_year must be greater than -1"):
        discount_factors(1.0, -1.0)


def test_depreciation() -> None:
    assert straight_line_value(np.array([0.0, 2.0, 4.0, 9.0]), 4.0, 0.2) == pytest.approx([1.0, 0.6, 0.2, 0.2])
    assert market_value(np.array([0.0, 1 / 0.14])) == pytest.approx([1.0, 0.1])
    step = 1e-6
    assert (1 - market_value(step)) / step == pytest.approx(market_depreciation_rate(), rel=1e-5)


@given(st.floats(0.1, 5), st.floats(0.1, 5), st.floats(0, 1))
def test_break_even_is_where_owning_and_renting_cost_the_same(own: float, rent: float, used: float) -> None:
    cheaper_to_own = own < rent * used
    assert cheaper_to_own == (used > break_even_utilization(own, rent)) or used * rent == pytest.approx(own)


@given(st.floats(0.1, 0.99), st.floats(1.0, 10.0), st.floats(10, 200))
def test_newsvendor_owns_less_when_owning_is_dearer(ratio: float, rent: float, sd: float) -> None:
    cheap, dear = (newsvendor_normal(1000, sd, rent * r, rent) for r in (ratio * 0.9, ratio))
    assert dear.capacity <= cheap.capacity
    assert cheap.cost_usd_per_hour <= dear.cost_usd_per_hour <= dear.all_rent_usd_per_hour * (1 + 1e-9)


@given(st.floats(0.1, 0.95), st.floats(0.1, 1.5), st.floats(0.5, 2.0))
def test_no_other_capacity_is_cheaper(ratio: float, sigma: float, factor: float) -> None:
    best = newsvendor_lognormal(1000, sigma, ratio, 1.0)
    demand = 1000 * np.exp(sigma * np.random.default_rng(3).normal(size=4000))
    cost = [ratio * k + np.maximum(demand - k, 0).mean() for k in (best.capacity, best.capacity * factor)]
    assert cost[0] <= cost[1] * 1.03  # 4000 draws know the mean to about 2 %


def test_nothing_is_owned_when_renting_is_as_cheap() -> None:
    for found in (newsvendor_normal(1000, 100, 3.0, 3.0), newsvendor_lognormal(1000, 0.5, 4.0, 3.0)):
        assert found.capacity == 0.0
        assert found.cost_usd_per_hour == found.all_rent_usd_per_hour
