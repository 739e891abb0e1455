"""Releases in days: when each is decided, how long it is planned to serve, and how good it must be."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import norm

from simulator.world.dice import Dice
from simulator.world.roadmap import (
    LIKELY_SDS,
    GrowthLuck,
    Release,
    ReleaseInputs,
    RoadmapInputs,
    draw_growth_luck,
    draw_slip_days,
    luck_factor,
    progress_on,
    releases,
)

START = date(2026, 1, 1)
FOUR_YEARS = date(2030, 1, 1)
"""1,461 days later: four years of 365.25."""


def roadmap(*rows: ReleaseInputs, **changes: object) -> RoadmapInputs:
    return RoadmapInputs.model_validate({"target_flop": 1e24, "release": rows, **changes})


def only(**changes: object) -> Release:
    fields = {"name": "next", "due": FOUR_YEARS, **changes.pop("row", {})}
    (release,) = releases(roadmap(ReleaseInputs.model_validate(fields), **changes), START)
    return release


def test_the_target_grows_12_7_fold_a_year_by_default() -> None:
    # Physical growth 4.5x (Epoch) times progress 2.83x (Ho et al. 2024), in equivalent FLOP.
    assert pytest.approx(12.7, abs=0.05) == 4.5 * 2.828
    assert only().target_flop == pytest.approx(1e24 * 12.7**4, rel=1e-12)
    assert only(target_growth_per_year=3.0).target_flop == pytest.approx(1e24 * 81, rel=1e-12)


def test_a_target_may_be_given_by_itself() -> None:
    assert only(row={"target_flop": 7e25}).target_flop == 7e25


def test_progress_counts_until_the_decision_day() -> None:
    # Four years less 90 days, at 2.828 a year.
    assert only().progress == pytest.approx(2.828 ** ((1461 - 90) / 365.25), rel=1e-12)
    assert only(progress_per_year=1.0).progress == 1.0
    assert only(train_days=1461).progress == pytest.approx(1.0, rel=1e-12)


def test_days_of_a_release() -> None:
    release = only()
    assert (release.due_day, release.train_days, release.decision_day) == (1461, 90, 1371)
    assert only(train_days=30).decision_day == 1431
    assert only(train_days=30, row={"train_days": 7}).decision_day == 1454
    assert only(row={"train_days": 0}).decision_day == 1461


def test_a_release_is_planned_to_serve_until_the_next_is_due() -> None:
    rows = [ReleaseInputs(name=f"R{n}", due=START + timedelta(days=day)) for n, day in enumerate((100, 250, 700))]
    found = releases(roadmap(*rows, service_days=270), START)
    assert [release.life_days for release in found] == [150, 450, 270]
    assert [release.number for release in found] == [0, 1, 2]
    assert releases(roadmap(), START) == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"target_flop": 0.0}, "greater than 0"),
        ({"service_days": 0}, "greater than 0"),
        ({"train_days": -1}, "greater than or equal to 0"),
        ({"research_multiple": -1.0}, "greater than or equal to 0"),
        ({"release_dates": ()}, "Extra inputs"),
        ({"target_growth_sigma": -0.1}, "greater than or equal to 0"),
        ({"progress_sigma": 2.1}, "less than or equal to 2"),
        ({"slip_chance": 1.1}, "less than or equal to 1"),
        ({"slip_days": 0.0}, "greater than 0"),
        ({"slip_days": 1e300}, "less than or equal to 3650"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        roadmap(**changes)


# Luck ------------------------------------------------------------------------------------------------------------


def test_the_likely_values_are_those_of_a_normal_distribution_with_variance_one() -> None:
    middles = norm.ppf((np.arange(9) + 0.5) / 9)
    np.testing.assert_allclose(LIKELY_SDS, middles / np.sqrt((middles**2).mean()), rtol=1e-12, atol=1e-15)
    assert LIKELY_SDS.mean() == pytest.approx(0.0, abs=1e-15)
    assert (LIKELY_SDS**2).mean() == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("sigma", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("day", [1, 400, 3653, 36_525])
def test_luck_has_mean_one_at_any_distance(sigma: float, day: int) -> None:
    factors = [luck_factor(sigma, float(sds), day) for sds in LIKELY_SDS]
    assert np.mean(factors) == pytest.approx(1.0, rel=1e-12)
    # The spread of the log is sigma a year.
    assert np.std(np.log(factors)) == pytest.approx(sigma * day / 365.25, rel=1e-9)


def test_no_uncertainty_is_no_luck_to_the_last_bit() -> None:
    assert luck_factor(0.0, 1.5, 400) == luck_factor(0.5, 1.5, 0) == 1.0
    plain = roadmap(ReleaseInputs(name="next", due=FOUR_YEARS))
    assert releases(plain, START, GrowthLuck(1.5, -1.5)) == releases(plain, START)
    assert draw_growth_luck(plain, Dice(1, 0)) == GrowthLuck(0.0, 0.0)


def test_luck_moves_what_is_owed_but_no_promise_and_no_date() -> None:
    rows = (
        ReleaseInputs(name="promised", due=date(2028, 1, 1), target_flop=7e25),
        ReleaseInputs(name="by growth", due=FOUR_YEARS),
    )
    sure = releases(roadmap(*rows), START)
    moved = releases(roadmap(*rows, target_growth_sigma=0.5, progress_sigma=0.3), START, GrowthLuck(1.0, -1.0))
    assert moved[0].target_flop == 7e25
    assert moved[1].target_flop == pytest.approx(1e24 * 12.7**4 * luck_factor(0.5, 1.0, 1461), rel=1e-12)
    assert moved[1].progress == pytest.approx(sure[1].progress * luck_factor(0.3, -1.0, 1371), rel=1e-12)
    dates = [[(r.number, r.due_day, r.train_days, r.life_days) for r in found] for found in (sure, moved)]
    assert dates[0] == dates[1]


def test_progress_on_a_decision_day_is_that_of_the_release() -> None:
    uncertain = roadmap(ReleaseInputs(name="next", due=FOUR_YEARS), progress_sigma=0.3)
    luck = draw_growth_luck(uncertain, Dice(3, 5))
    (release,) = releases(uncertain, START, luck)
    assert progress_on(uncertain, release.decision_day, luck) == release.progress


def test_worlds_draw_each_likely_value_alike() -> None:
    uncertain = roadmap(target_growth_sigma=0.5, progress_sigma=0.3)
    drawn = np.array([draw_growth_luck(uncertain, Dice(1, world)) for world in range(3600)])
    for column in drawn.T:
        values, counts = np.unique(column, return_counts=True)
        np.testing.assert_array_equal(values, LIKELY_SDS)
        # 400 each, with a standard error of 19.
        assert (np.abs(counts - 400) < 4 * np.sqrt(3600 * (1 / 9) * (8 / 9))).all()
    # Two streams: within four standard errors of no correlation.
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 4 / np.sqrt(3600)


def test_slips_come_as_often_and_last_as_long_as_declared() -> None:
    rows = [ReleaseInputs(name=f"R{n}", due=START + timedelta(days=100 + n)) for n in range(5)]
    found = [draw_slip_days(roadmap(*rows, slip_chance=0.25, slip_days=40.0), Dice(1, world)) for world in range(1000)]
    days = np.array(found).reshape(-1)
    slipped = days[days > 0]
    assert slipped.size / 5000 == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 5000) + 0.005)
    assert slipped.mean() == pytest.approx(40.0, abs=4 * 40 / np.sqrt(slipped.size) + 0.5)
    # Whoever raises the chance has the same slips, and more; another release more changes none.
    often = draw_slip_days(roadmap(*rows, slip_chance=1.0, slip_days=40.0), Dice(1, 7))
    assert all(slip in (0, longer) for slip, longer in zip(found[7], often, strict=True))
    assert draw_slip_days(roadmap(*rows[:3], slip_chance=0.25, slip_days=40.0), Dice(1, 7)) == found[7][:3]
    assert draw_slip_days(roadmap(*rows), Dice(1, 7)) == (0,) * 5
