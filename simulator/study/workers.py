"""Who lives the replications: worker processes that end with the study, and the signals that end it early."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from types import FrameType
from typing import TypeVar

_CHUNKS_AHEAD = 2
"""Chunks asked for ahead of the one that is waited for, per worker: what bounds memory."""
_LOOK_UP_SECONDS = 0.2
_SIGNALLED = 128
"""A shell's exit status for a process ended by a signal, less the signal's number."""

_Made = TypeVar("_Made")


class WorkerLost(RuntimeError):
    """A worker process ended before its work was done."""


class _Handed:
    """The study a worker process was started for."""

    packed = b""


_handed = _Handed()


def handed() -> bytes:
    """The study that this worker was started for."""
    return _handed.packed


def spread(
    executor: Executor, live: Callable[[range], _Made], chunks: Sequence[range], workers: int, noted: Noted
) -> Iterator[_Made]:
    """What came of each chunk, in order; every worker is kept busy, a few chunks ahead of the one waited for."""
    waiting: deque[Future[_Made]] = deque()
    try:
        for chunk in chunks:
            waiting.append(_submitted(executor, live, chunk))
            if len(waiting) >= workers * _CHUNKS_AHEAD:
                yield _finished(waiting.popleft(), noted)
        while waiting:
            yield _finished(waiting.popleft(), noted)
    except BrokenProcessPool:
        raise WorkerLost(
            "a worker process ended before its work was done: it was killed, ran out of memory, or the script "
            'that called compare() has no `if __name__ == "__main__":`'
        ) from None
    finally:
        for future in waiting:
            future.cancel()


def _finished(future: Future[_Made], noted: Noted) -> _Made:
    """Wait for a chunk, looking up now and then for a signal."""
    while not wait([future], timeout=_LOOK_UP_SECONDS).done:
        noted.obey()
    noted.obey()
    return future.result()


def _submitted(executor: Executor, live: Callable[[range], _Made], chunk: range) -> Future[_Made]:
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
    with pool(workers, b"") as made:
        yield made


@contextmanager
def pool(workers: int, packed: bytes) -> Iterator[Executor]:
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


class Noted:
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
def signals_noted() -> Iterator[Noted]:
    """Note Ctrl-C and SIGTERM, only where nobody else handles them."""
    noted, before = Noted(), {}
    if threading.current_thread() is threading.main_thread():
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            if signal.getsignal(number) is usual:
                before[number] = signal.signal(number, noted.note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
