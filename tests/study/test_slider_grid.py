"""A slider's grid: every point is the comparison it names, and what cannot be lived is told."""

from __future__ import annotations

import math

import pytest
from small_study import RENT, RESERVE, growing_lab

from simulator.study.designs import Listed
from simulator.study.equal_service import USUAL_SERVICE
from simulator.study.experiment import compare
from simulator.study.slider_grid import Slider, SliderGrid, slider_grid, slider_of, usual_sliders
from simulator.study.sweep import sweep
from simulator.study.varied import declared_value, varied, varied_in, with_growth
from simulator.world.growth import Regime
from simulator.world.scenario import Misplaced, Scenario

LAB = growing_lab(60)
FALL = "market.rental_fall_per_year"
SLIDERS = (Slider("growth", (1.0, 2.0), 1.0), Slider(FALL, (0.0, 0.3, 2.0), 0.0))


def lived(scenario: Scenario = LAB, sliders: tuple[Slider, ...] = SLIDERS, workers: int = 1) -> SliderGrid:
    return slider_grid(
        scenario, (RENT, RESERVE), sliders, replications=2, seed=3, equal_service=USUAL_SERVICE, workers=workers
    )


@pytest.fixture(scope="module")
def found() -> SliderGrid:
    return lived()


def test_a_point_is_what_compare_says_there(found: SliderGrid) -> None:
    assert [point.values for point in found.points] == [(g, f) for g in (1.0, 2.0) for f in (0.0, 0.3, 2.0)]
    for point in found.points[:2]:
        alone = compare(varied(LAB, FALL, point.values[1]), (RENT, RESERVE), replications=2, seed=3)
        assert repr(list(point.rows)) == repr(alone.summary_records())
    twice = compare(with_growth(LAB, 2.0), (RENT, RESERVE), replications=2, seed=3)
    assert repr(list(found.points[3].rows)) == repr(twice.summary_records())


def test_a_point_is_what_sweep_says_there(found: SliderGrid) -> None:
    """With fewer worlds than a control needs the two say the same figures."""
    axes = [Listed(slider.field, slider.values) for slider in SLIDERS]
    swept = sweep(LAB, (RENT, RESERVE), axes, replications=2, seed=3)
    for point, theirs in zip(found.points, swept.answers.points, strict=True):
        assert point.values == theirs.values
        for row, other in zip(point.rows, theirs.rows, strict=True):
            assert row.controlled_cost_usd == other.cumulative_cost_usd
            assert row.controlled_difference_percent == pytest.approx(other.difference_percent, rel=1e-12)


def test_a_point_that_breaks_a_rule_is_told(found: SliderGrid) -> None:
    for point in (found.points[2], found.points[5]):
        assert point.rows == ()
        assert point.refused == f"{FALL}: must be less than 1 (got 2)"


def test_workers_find_the_same(found: SliderGrid) -> None:
    assert repr(lived(workers=2)) == repr(found)


def test_usual_sliders_are_around_what_is_declared() -> None:
    growth, fall, sigma = usual_sliders(varied_in(LAB, ((FALL, 0.1), ("demand.level_sigma", 0.2))), 4)
    assert (growth.field, growth.declared) == ("growth", 1.0)
    assert growth.values[0] < 1.0 < growth.values[-1]
    assert fall.values == pytest.approx((-0.08, 0.1, 0.28)), "0.9 x 1.2 and 0.9 x 0.8"
    assert sigma.values == (0.0, 0.2, 0.4)
    assert [slider.field for slider in usual_sliders(LAB, 1)] == ["growth", FALL], "one world tells no uncertainty"


def test_sliders_are_numbers_in_order() -> None:
    assert slider_of(LAB, Listed(FALL, (0.3, 0.0))) == Slider(FALL, (0.0, 0.3), LAB.market.rental_fall_per_year)
    assert math.isnan(slider_of(LAB, Listed("limits.power_kw", (100.0, 200.0))).declared)
    for values, said in (((0.3,), "two values or more"), (("a", "b"), "must be numbers"), ((True, False), "numbers")):
        with pytest.raises(Misplaced, match=said):
            slider_of(LAB, Listed(FALL, values))
    with pytest.raises(Misplaced, match="must be whole numbers"):
        slider_of(LAB, Listed("horizon_days", (60, 90.5)))
    whole = lived(sliders=(slider_of(LAB, Listed("horizon_days", (60, 50))),))
    assert [point.refused for point in whole.points] == ["", ""]


def test_a_grid_is_small() -> None:
    with pytest.raises(ValueError, match=r"at most 500 points \(got 900\)"):
        lived(sliders=(Slider("growth", tuple(map(float, range(1, 31))), 1.0), Slider(FALL, tuple(range(30)), 0.0)))
    with pytest.raises(ValueError, match="must be 1 to 4"):
        lived(sliders=())


def test_growth_stands_for_all_regimes() -> None:
    regimes = (Regime(start=LAB.start.replace(month=2), growth_per_year=4.0),)
    lab = LAB.model_copy(update={"demand": LAB.demand.model_copy(update={"regime": regimes})})
    faster = varied_in(lab, (("growth", 1.5), (FALL, 0.2)))
    assert faster == varied(with_growth(lab, 1.5), FALL, 0.2)
    assert (faster.demand.growth_per_year, faster.demand.regime[0].growth_per_year) == (3.0, 6.0)
    assert declared_value(lab, "growth") == 1.0
    assert varied(lab, "growth", 1.0) == lab
    with pytest.raises(Misplaced, match="growth: must be a number"):
        varied(lab, "growth", "fast")
    with pytest.raises(Misplaced, match=r"demand\.growth_per_year: must be greater than 0"):
        varied(lab, "growth", 0.0)
