"""Releases in days: when each is decided, how long it is planned to serve, and how good it must be."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from pydantic import ValidationError

from simulator.world.roadmap import Release, ReleaseInputs, RoadmapInputs, releases

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
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        roadmap(**changes)
