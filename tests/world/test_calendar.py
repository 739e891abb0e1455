"""Days and dates: the past before day 0, the days lived, and those looked ahead to."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

from simulator.world.calendar import Calendar

MONDAY = date(2026, 6, 1)
CALENDAR = Calendar(MONDAY, history_days=10, horizon_days=20, look_ahead_days=5)


def test_arrays_run_from_the_past_over_the_horizon() -> None:
    assert CALENDAR.n_days == 35
    assert CALENDAR.days[0] == -10
    assert CALENDAR.days[-1] == 24
    assert CALENDAR.index(0) == 10
    np.testing.assert_array_equal(CALENDAR.days[CALENDAR.lived], np.arange(20))


def test_weekdays_are_those_of_the_dates() -> None:
    expected = [(MONDAY + timedelta(days=int(day))).weekday() for day in CALENDAR.days]
    assert CALENDAR.weekdays.tolist() == expected


def test_days_and_dates_go_back_and_forth_over_a_leap_day() -> None:
    for day in range(-400, 1200, 37):
        assert CALENDAR.day_of(CALENDAR.date_of(day)) == day
    assert CALENDAR.day_of(date(2028, 3, 1)) - CALENDAR.day_of(date(2028, 2, 28)) == 2
    assert CALENDAR.years[CALENDAR.index(0)] == 0.0
    # The years since the start count 365.25 days: four of them are 1,461.
    assert Calendar(MONDAY, 0, 1462, 0).years[1461] == 4.0
