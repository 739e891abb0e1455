"""Step functions against a list of days, filled by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LONGEST_DAYS, Changes, changes

from simulator.lab.level import Level, Schedule

FAR = 10_000
"""Later than any day that is looked at."""


def by_day(steps: Changes, opening: float, n_days: int) -> list[float]:
    """The level on each day, every change counted day by day."""
    return [opening + sum(change for day, change in steps if day <= today) for today in range(n_days)]


@given(changes(), st.integers(-5, 5).map(float), st.integers(0, LONGEST_DAYS + 10))
def test_the_path_is_that_of_the_changes(steps: Changes, opening: float, n_days: int) -> None:
    level = Level(opening)
    for day, change in steps:
        level.add(day, change)
    assert level.path(n_days).tolist() == by_day(steps, opening, n_days)
    assert level.value == opening + sum(change for _, change in steps)


@given(changes())
def test_a_shorter_path_is_the_first_days_of_a_longer(steps: Changes) -> None:
    level = Level()
    for day, change in steps:
        level.add(day, change)
    longest = level.path(LONGEST_DAYS + 5)
    for n_days in range(0, LONGEST_DAYS, 7):
        np.testing.assert_array_equal(level.path(n_days), longest[:n_days])


@given(changes())
def test_the_last_value_set_on_a_day_counts(steps: Changes) -> None:
    level = Level(1.0)
    for day, value in steps:
        level.set(day, value)
    expected = [1.0]
    for day in range(LONGEST_DAYS + 1):
        today = [value for changed, value in steps if changed == day]
        expected.append(today[-1] if today else expected[-1])
    assert level.path(LONGEST_DAYS + 1).tolist() == expected[1:]


def test_the_past_cannot_be_changed() -> None:
    level = Level()
    level.set(5, 2.0)
    with pytest.raises(ValueError, match="day 4 after day 5"):
        level.set(4, 3.0)
    with pytest.raises(ValueError, match="past"):
        level.add(0, 1.0)
    assert level.path(7).tolist() == [0.0] * 5 + [2.0] * 2


@given(changes().flatmap(st.permutations), st.integers(-10, LONGEST_DAYS + 10))
def test_a_schedule_is_the_sum_of_what_was_agreed_in_any_order(steps: Changes, first: int) -> None:
    schedule = Schedule(2)
    for day, change in steps:
        schedule.add(1, day, FAR, change)
    days = np.arange(first, first + 20)
    expected = [sum(change for day, change in steps if day <= today) for today in days]
    assert schedule.at(days).tolist() == [[0.0] * days.size, expected]
    assert set(schedule.within(first, first + 20)[1]) == set(expected)


def test_a_schedule_knows_what_was_added_after_it_was_read() -> None:
    schedule, days = Schedule(), np.array([0, 10])
    schedule.add(0, 5, FAR, 1.0)
    assert schedule.at(days).tolist() == [[0.0, 1.0]]
    schedule.add(0, -3, FAR, 2.0)
    assert schedule.at(days).tolist() == [[2.0, 3.0]]


def test_a_schedule_has_room_for_any_number_of_changes() -> None:
    schedule = Schedule(3)
    for day in range(500, 0, -1):
        schedule.add(day % 3, day, FAR, 1.0)
    assert schedule.at(np.array([0, 250, 600])).tolist() == [[0, 83, 166], [0, 84, 167], [0, 83, 167]]
