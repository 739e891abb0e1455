"""Answers that come from few worlds first: each is the comparison of so many, and no work outlives its question."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal

from simulator.study.comparison import Comparison
from simulator.study.desk import FIRST_WORLDS, Desk, in_turn, rounds
from simulator.study.experiment import compare
from simulator.study.files import Study, load_study
from simulator.study.workers import WorkerLost


class Moved(BaseException):
    """What Streamlit raises where a run is stale."""


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    made = Desk(1)
    yield made
    made.close()


def asked(path: Path, replications: int, *settings: str) -> Study:
    return load_study(path, ("horizon_days=120", *settings), replications=replications)


def same(found: Comparison, study: Study, replications: int) -> None:
    alone = compare(study.scenario, study.policies, replications=replications, seed=study.seed)
    assert_frame_equal(found.summary(), alone.summary(), check_exact=True)
    assert_frame_equal(found.daily_table, alone.daily_table, check_exact=True)


def test_each_answer_is_that_of_as_many_worlds_asked_for_at_first(desk: Desk, small_toml: Path) -> None:
    study = asked(small_toml, 6)
    answers = list(desk.answers(study))
    assert [found.replications for found in answers] == [FIRST_WORLDS, 6]
    for found in answers:
        same(found, study, found.replications)


def test_an_answer_given_before_comes_at_once(desk: Desk, small_toml: Path) -> None:
    told: list[tuple[int, int]] = []
    study = asked(small_toml, 5, "demand.noise_sigma=0.01")
    (*_, first) = desk.answers(study)
    again = list(desk.answers(asked(small_toml, 5, "demand.noise_sigma=0.01"), lambda *at: told.append(at)))
    assert again == [first]
    assert told == [(5, 5)]
    (*_, other) = desk.answers(asked(small_toml, 5, "demand.noise_sigma=0.02"))
    assert other is not first


def test_what_progress_raises_ends_the_work_and_nothing_half_done_is_kept(desk: Desk, small_toml: Path) -> None:
    study = asked(small_toml, 200)
    told = []

    def move(done: int, wanted: int) -> None:
        told.append((done, wanted))
        if done == 2:
            raise Moved

    with pytest.raises(Moved):
        list(desk.answers(study, move))
    assert told == [(1, 200), (2, 200)]
    quick = asked(small_toml, 2, "demand.noise_sigma=0.03")  # which would wait for 198 worlds were they not cancelled
    (found,) = desk.answers(quick)
    same(found, quick, 2)


def test_a_worker_that_is_killed_is_told_and_replaced(desk: Desk, small_toml: Path) -> None:
    study = asked(small_toml, 4, "demand.noise_sigma=0.04")

    def kill(done: int, _: int) -> None:
        if done == 1:
            for worker in list(desk._executor._processes):  # type: ignore[attr-defined]
                os.kill(worker, signal.SIGTERM)
            time.sleep(0.3)

    with pytest.raises(WorkerLost, match="worker process ended"):
        list(desk.answers(asked(small_toml, 300), kill))
    (found,) = desk.answers(study)
    same(found, study, 4)


def test_rounds_grow_to_what_is_asked() -> None:
    for replications in (1, 4, 5, 32, 33, 1000):
        sizes = rounds(replications)
        assert sizes[0] == min(replications, FIRST_WORLDS)
        assert sizes[-1] == replications
        assert list(sizes) == sorted(set(sizes))


def test_two_questions_take_turns_and_both_end_when_it_is_closed() -> None:
    closed = []

    def answers(name: str, count: int) -> Iterator[str]:
        try:
            for number in range(count):
                yield f"{name}{number}"
        finally:
            closed.append(name)

    pair = [answers("a", 1), answers("b", 3)]
    assert list(in_turn(pair)) == [("a0", "b0"), ("a0", "b1"), ("a0", "b2")]  # type: ignore[arg-type, comparison-overlap]
    assert sorted(closed) == ["a", "b"]
    closed.clear()
    stopped = in_turn([answers("a", 9), answers("b", 9)])  # type: ignore[list-item]
    next(stopped)
    stopped.close()
    assert sorted(closed) == ["a", "b"]
