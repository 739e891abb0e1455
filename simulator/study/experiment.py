"""A study run: every policy in the same worlds, replication by replication, on as many processes as asked.

Results are put in their place by replication number and added up in that order, so the bytes are the same for
any number of workers and any size of chunk. A run is reduced to a `RunRecord` where it was lived, and let go.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from types import FrameType
from typing import TYPE_CHECKING

import cloudpickle
import numpy as np

from simulator.lab.lab import Lab
from simulator.lab.policy import Policy, default_policies
from simulator.study.commitments import CommitmentRow
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow
from simulator.study.summary import (
    DailySums,
    Float32Array,
    ReplicationRow,
    RunRecord,
    record,
)
from simulator.world.scenario import Scenario
from simulator.world.world import realize

if TYPE_CHECKING:
    from simulator.study.comparison import Comparison

Progress = Callable[[int, int], None]

_LARGEST_CHUNK = 8
_CHUNKS_PER_WORKER = 8
_CHUNKS_AHEAD = 2
"""Chunks asked for ahead of the one that is waited for, per worker: what bounds memory."""
_UNKNOWN_WORKERS = 64
"""How many workers a foreign executor is taken to have."""
_LOOK_UP_SECONDS = 0.2
_SIGNALLED = 128
"""A shell's exit status for a process ended by a signal, less the signal's number."""


@dataclass(frozen=True, slots=True)
class Lived:
    """One replication: every policy in the same world."""

    replication: int
    asked_tokens: Float32Array
    """[day]"""
    runs: tuple[RunRecord, ...]


def compare(
    scenario: Scenario,
    policies: Sequence[Policy] | None = None,
    *,
    replications: int = 32,
    seed: int = 1,
    workers: int = 1,
    executor: Executor | None = None,
    chunk_size: int | None = None,
    progress: Progress | None = None,
    equal_service: EqualService = USUAL_SERVICE,
    more: Callable[[Comparison], int] | None = None,
) -> Comparison:
    """Let every policy live in the same worlds, and compare what came of it.

    Parameters
    ----------
    scenario
        The declared inputs.
    policies
        The first is the baseline; default: the built-in set.
    replications, seed
        How many worlds are drawn, and which.
    workers
        Processes; 1 stays in this one. A script that asks for more must start under
        ``if __name__ == "__main__":``, as with any process pool.
    executor
        Any executor of `concurrent.futures`, in place of `workers`; it is left running.
    chunk_size
        Replications per piece of work; never changes a result.
    progress
        Called with replications done and replications in all.
    equal_service
        How far service may differ from the baseline's and still be comparable.
    more
        Asked with what came of all replications so far; gives how many there should be in all. No more than there
        are ends the study, as `stopping.Precision` does when differences are known well enough.

    Examples
    --------
    >>> from simulator import compare, default_policies, load_scenario
    >>> result = compare(load_scenario("known_demand"), default_policies()[:2], replications=1)
    >>> [row.policy for row in result.summary_records()]
    ['chinchilla-rent', 'overtrain-rent']
    """
    chosen = tuple(default_policies() if policies is None else policies)
    _check(chosen, replications, workers, chunk_size)
    n_workers = min(workers, replications) if executor is None else _UNKNOWN_WORKERS
    collected = _Collected(scenario, chosen, seed, replications, equal_service)
    while True:
        chunks = _chunks(range(collected.n_done, collected.replications), n_workers, chunk_size)
        with closing(_live(scenario, chosen, seed, chunks, n_workers, executor)) as finished:
            for done in finished:
                for lived in done:
                    collected.add(lived)
                if progress is not None:
                    progress(collected.n_done, collected.replications)
        comparison = collected.comparison()
        wanted = 0 if more is None else more(comparison)
        if wanted <= collected.n_done:
            return comparison
        collected.make_room(wanted)


def _check(policies: tuple[Policy, ...], replications: int, workers: int, chunk_size: int | None) -> None:
    names = [policy.name for policy in policies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names:
        raise ValueError("policies: needs at least one policy to compare")
    if twice:
        raise ValueError(f"policies: every name must be used once (twice: {', '.join(twice)})")
    for what, number in (("replications", replications), ("workers", workers), ("chunk_size", chunk_size or 1)):
        if number < 1:
            raise ValueError(f"{what}: must be at least 1 (got {number})")


def _chunks(replications: range, workers: int, size: int | None) -> list[range]:
    if size is None:
        size = min(max(len(replications) // (workers * _CHUNKS_PER_WORKER), 1), _LARGEST_CHUNK)
    return [replications[first : first + size] for first in range(0, len(replications), size)]


# One replication, wherever it is lived ------------------------------------------------------------------------


def live_replication(scenario: Scenario, policies: Sequence[Policy], seed: int, replication: int) -> Lived:
    """Draw one world and let every policy live in it, each as it was given, whatever it remembered before."""
    world = realize(scenario, seed, replication)
    runs = []
    for policy in policies:
        try:
            runs.append(record(Lab(world, deepcopy(policy)).live()))
        except Exception as error:
            error.add_note(f"in policy {policy.name!r}, seed {seed}, replication {replication}")
            raise
    asked = world.demand_tokens[world.calendar.lived].astype(np.float32)
    # A finished SimPy world is a ring of references; the youngest generation is all there is to sweep.
    gc.collect(0)
    return Lived(replication, asked, tuple(runs))


def live_chunk(packed: bytes, seed: int, chunk: range) -> list[Lived]:
    """The work of one worker: some replications of a packed study."""
    scenario, policies = _unpacked(packed)
    return [live_replication(scenario, policies, seed, replication) for replication in chunk]


def _live_chunk_here(seed: int, chunk: range) -> list[Lived]:
    """The same in a worker of our own, which was handed the study when it started."""
    return live_chunk(_handed.packed, seed, chunk)


class _Handed:
    """The study a worker process was started for."""

    packed = b""


_handed = _Handed()


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[Scenario, tuple[Policy, ...]]:
    """Once per worker, so that what is worked out once per scenario is kept."""
    scenario, policies = cloudpickle.loads(packed)
    return scenario, policies


# Many replications --------------------------------------------------------------------------------------------


def _live(
    scenario: Scenario,
    policies: tuple[Policy, ...],
    seed: int,
    chunks: list[range],
    workers: int,
    executor: Executor | None,
) -> Generator[list[Lived], None, None]:
    """Chunks of finished replications, in order."""
    if executor is None and workers == 1:
        for replication in (number for chunk in chunks for number in chunk):
            yield [live_replication(scenario, policies, seed, replication)]
        return
    packed = cloudpickle.dumps((scenario, policies))
    with _signals_noted() as noted:
        if executor is not None:
            yield from _spread(executor, partial(live_chunk, packed, seed), chunks, workers, noted)
            return
        with _pool(workers, packed) as pool:
            yield from _spread(pool, partial(_live_chunk_here, seed), chunks, workers, noted)


def _spread(
    executor: Executor, live: Callable[[range], list[Lived]], chunks: list[range], workers: int, noted: _Noted
) -> Iterator[list[Lived]]:
    """Keep every worker busy, a few chunks ahead of the one waited for."""
    waiting: deque[Future[list[Lived]]] = deque()
    try:
        for chunk in chunks:
            waiting.append(_submitted(executor, live, chunk))
            if len(waiting) >= workers * _CHUNKS_AHEAD:
                yield _finished(waiting.popleft(), noted)
        while waiting:
            yield _finished(waiting.popleft(), noted)
    except BrokenProcessPool:
        raise RuntimeError(
            "a worker process ended before its work was done: it was killed, ran out of memory, or the script "
            'that called compare() has no `if __name__ == "__main__":`'
        ) from None
    finally:
        for future in waiting:
            future.cancel()


def _finished(future: Future[list[Lived]], noted: _Noted) -> list[Lived]:
    """Wait for a chunk, looking up now and then for a signal."""
    while not wait([future], timeout=_LOOK_UP_SECONDS).done:
        noted.obey()
    noted.obey()
    return future.result()


def _submitted(executor: Executor, live: Callable[[range], list[Lived]], chunk: range) -> Future[list[Lived]]:
    """A worker started in here inherits that Ctrl-C is held back until it has learnt to ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        return executor.submit(live, chunk)
    resource_tracker.ensure_running()  # which would lift the hold, were it started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return executor.submit(live, chunk)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def processes(workers: int) -> Iterator[Executor | None]:
    """Worker processes for many studies (`executor=`) that end with the last; None, which is this process, for one."""
    if workers == 1:
        yield None
        return
    with _pool(workers, b"") as pool:
        yield pool


@contextmanager
def _pool(workers: int, packed: bytes) -> Iterator[Executor]:
    """Worker processes that finish their chunk and leave when the study ends or gives up, or is no more."""
    context = multiprocessing.get_context("spawn")
    listening, line = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(listening, packed))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        line.close()
        listening.close()


def _start_worker(listening: Connection, packed: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _handed.packed = packed
    threading.Thread(target=_leave_when_alone, args=(listening,), daemon=True).start()


def _leave_when_alone(listening: Connection) -> None:
    """Nobody ever speaks on this line: it ends when the study does, or when its process is no more."""
    try:
        listening.recv()
    except (EOFError, OSError):
        os._exit(1)


class _Noted:
    """Ctrl-C and SIGTERM, noted when they come and obeyed where nothing is half done."""

    def __init__(self) -> None:
        self.number: int | None = None

    def note(self, number: int, _: FrameType | None) -> None:
        """What the signal does: nothing yet."""
        self.number = number

    def obey(self) -> None:
        """Give up if a signal has come."""
        if self.number == signal.SIGINT:
            raise KeyboardInterrupt
        if self.number is not None:
            raise SystemExit(_SIGNALLED + self.number)


@contextmanager
def _signals_noted() -> Iterator[_Noted]:
    """Note Ctrl-C and SIGTERM, only where nobody else handles them."""
    noted, before = _Noted(), {}
    if threading.current_thread() is threading.main_thread():
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            if signal.getsignal(number) is usual:
                before[number] = signal.signal(number, noted.note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Collected:
    """What has been lived so far, each replication in its place; sums are taken in order of replication."""

    def __init__(
        self,
        scenario: Scenario,
        policies: tuple[Policy, ...],
        seed: int,
        replications: int,
        equal_service: EqualService,
    ) -> None:
        self.equal_service = equal_service
        self.scenario, self.policies, self.seed, self.replications = scenario, policies, seed, replications
        self.days = DailySums.empty(len(policies), replications, scenario.calendar.horizon_days)
        self.rows: list[ReplicationRow] = []
        self.releases: list[ReleaseRow] = []
        self.orders: list[OrderRow] = []
        self.replans: list[ReplanRow] = []
        self.commitments: list[CommitmentRow] = []
        self.n_done = 0

    def add(self, lived: Lived) -> None:
        """Take in the next replication."""
        self.days.asked_tokens[lived.replication] = lived.asked_tokens
        for number, (policy, run) in enumerate(zip(self.policies, lived.runs, strict=True)):
            self.days.add(number, lived.replication, run.days)
            self.rows.append(
                ReplicationRow(policy.name, lived.replication, run.summary, run.account_usd, run.gpu_hours)
            )
            self.releases += run.releases
            self.orders += run.orders
            self.replans += run.replans
            self.commitments += run.commitments
        self.n_done += 1

    def make_room(self, replications: int) -> None:
        """For more replications than were asked at first."""
        self.days, self.replications = self.days.with_room(replications), replications

    def comparison(self) -> Comparison:
        """All of it, as tables."""
        from simulator.study.comparison import Comparison

        return Comparison(
            self.scenario,
            self.policies,
            self.seed,
            self.replications,
            tuple(self.rows),
            tuple(self.releases),
            tuple(self.orders),
            tuple(self.replans),
            tuple(self.commitments),
            self.days,
            self.equal_service,
        )
