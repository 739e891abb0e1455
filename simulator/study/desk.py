"""Answers for somebody who waits: from few worlds first, then from all, by processes that are kept warm."""

from __future__ import annotations

import atexit
import os
from collections import OrderedDict
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from functools import cache
from threading import Lock

from simulator.study.comparison import Comparison
from simulator.study.experiment import Progress, comparison_of, live_parts
from simulator.study.files import Study
from simulator.study.part import Part
from simulator.study.workers import WorkerLost, pool

FIRST_WORLDS = 4
"""Behind the first answer: the least that give an interval worth showing."""
_TIMES = 8
_MOST_KEPT = 12
"""Answers; one of `frontier_lab` takes some 10 MB."""
_MOST_WORKERS = 4


class Desk:
    """Worker processes and the answers they gave lately; both last until it is closed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._stack = ExitStack()
        self._executor = self._manned()
        self._kept: OrderedDict[str, Comparison] = OrderedDict()
        self._lock = Lock()

    def answers(self, study: Study, progress: Progress | None = None) -> Generator[Comparison, None, None]:
        """The comparison of a study from few worlds, then from more, at last from as many as it asks for.

        Parameters
        ----------
        study
            What to compare. Its text is its name: the same text was answered before, or gives the same answer.
        progress
            Called with worlds lived and worlds in all. Whatever it raises ends the work, as does closing this.

        Raises
        ------
        ValueError
            Where a lab cannot be lived, with the reason.
        WorkerLost
            If a worker process ended; others are then started for the next question.
        """
        kept = self._found(study.text)
        if kept is not None:
            if progress is not None:
                progress(kept.replications, kept.replications)
            yield kept
            return
        whole = Part.empty(study.scenario, study.policies)
        for wanted in rounds(study.replications):
            with closing(self._lived(study, whole, wanted)) as grown:
                for _ in grown:
                    if progress is not None:
                        progress(whole.n_done, study.replications)
            comparison = comparison_of(study.scenario, study.policies, study.seed, whole, study.equal_service)
            if wanted == study.replications:
                self._keep(study.text, comparison)
            yield comparison

    def close(self) -> None:
        """Let the workers finish what they have in hand, and leave."""
        self._stack.close()

    def _lived(self, study: Study, whole: Part, wanted: int) -> Generator[None, None, None]:
        """Add worlds to a part, up to so many."""
        executor = self._executor
        parts = live_parts(
            study.scenario,
            study.policies,
            study.seed,
            range(whole.n_done, wanted),
            workers=self.workers,
            executor=executor,
        )
        try:
            with closing(parts) as finished:
                for part in finished:
                    whole.merge(part)
                    yield
        except WorkerLost:
            self._replace(executor)
            raise

    def _replace(self, broken: Executor) -> None:
        """Start other workers, unless somebody has."""
        with self._lock:
            if self._executor is broken:
                self.close()
                self._executor = self._manned()

    def _manned(self) -> Executor:
        """Workers that have all they need in memory before they are asked."""
        executor = self._stack.enter_context(pool(self.workers, b""))
        for _ in range(self.workers):
            executor.submit(_ready)
        return executor

    def _found(self, name: str) -> Comparison | None:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def _keep(self, name: str, comparison: Comparison) -> None:
        with self._lock:
            self._kept[name] = comparison
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)


@cache
def desk() -> Desk:
    """The one of this process, with as many workers as there are processors, four at most."""
    made = Desk(min(os.cpu_count() or 1, _MOST_WORKERS))
    atexit.register(made.close)
    return made


def rounds(replications: int) -> tuple[int, ...]:
    """Worlds behind each answer: few, then eight times as many each time, and all at last.

    Examples
    --------
    >>> rounds(32), rounds(100), rounds(3)
    ((4, 32), (4, 32, 100), (3,))
    """
    sizes, size = [], FIRST_WORLDS
    while size < replications:
        sizes.append(size)
        size *= _TIMES
    return (*sizes, replications)


def in_turn(asked: Sequence[Generator[Comparison, None, None]]) -> Generator[tuple[Comparison, ...], None, None]:
    """The latest answers to several questions, one round of each after the other, until all are whole.

    What is given back first holds an answer to each; all are closed when this is.
    """
    with ExitStack() as stack:
        for answers in asked:
            stack.enter_context(closing(answers))
        latest = [next(answers) for answers in asked]
        yield tuple(latest)
        going = list(enumerate(asked))
        while going:
            for number, answers in tuple(going):
                found = next(answers, None)
                if found is None:
                    going.remove((number, answers))
                    continue
                latest[number] = found
                yield tuple(latest)


def _ready() -> None:
    """Makes a worker import what it will need, which this module's import has done."""
