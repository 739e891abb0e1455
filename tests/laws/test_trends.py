"""Doubling time, growth a year and fall of cost a year, on every row of the published price-performance trends."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.laws.trends import (
    cost_fall_per_year,
    doubling_years,
    growth_of_cost_fall,
    growth_per_year,
    trend_factor,
)


@pytest.mark.parametrize(
    ("source", "years", "growth", "fall"),
    [
        ("Hobbhahn & Besiroglu 2022, 470 GPUs", 2.46, 1.3255, 0.246),
        ("the same, 26 GPUs for machine learning", 2.07, 1.3977, 0.285),
        ("the same, 57 top GPUs", 2.95, 1.2649, 0.209),
        ("the same, 91 GPUs in FP16", 2.30, 1.3517, 0.260),
        ("Epoch 2023, 0.14 orders of magnitude a year", 2.150, 1.3804, 0.276),
        ("Epoch 2025, 30 % better per dollar", 2.642, 1.30, 0.231),
        ("Epoch 2025, 30 % cheaper each year", 1.943, 1.4286, 0.30),
        ("Moore", 2.0, 1.4142, 0.293),
        ("Huang", 1.08, 1.8999, 0.474),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_published_trends_say_one_thing_in_three_ways(
    source: str, years: float, growth: float, fall: float
) -> None:
    # Half a unit of the last published digit.
    assert growth_per_year(years) == pytest.approx(growth, abs=1.5e-4)
    assert doubling_years(growth) == pytest.approx(years, abs=1e-3)
    assert cost_fall_per_year(growth) == pytest.approx(fall, abs=5e-4)
    assert growth_of_cost_fall(cost_fall_per_year(growth)) == pytest.approx(growth, rel=1e-12)


def test_orders_of_magnitude_are_the_same_again() -> None:
    assert growth_per_year(np.log10(2.0) / 0.14) == pytest.approx(10**0.14, rel=1e-12)


def test_30_percent_better_per_dollar_is_not_30_percent_cheaper() -> None:
    better, cheaper = 1.30, float(growth_of_cost_fall(0.30))
    assert cost_fall_per_year(better) == pytest.approx(3 / 13, rel=1e-12)
    assert cheaper == pytest.approx(10 / 7, rel=1e-12)
    assert doubling_years(better) - doubling_years(cheaper) == pytest.approx(0.699, abs=5e-4)


def test_a_trend_compounds() -> None:
    assert trend_factor(1.25, 2.15) * trend_factor(0.9, 2.15) == pytest.approx(2.0, rel=1e-12)
    assert trend_factor(-2.15, 2.15) == 0.5


@pytest.mark.parametrize("law", [growth_per_year, doubling_years, cost_fall_per_year])
def test_what_has_no_trend_is_refused(law: object) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        law(0.0)  # type: ignore[operator]
