"""Dask workers for a study: a cluster of our own on this machine, or one that is there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager

from simulator.study.workers import WorkerLost

_CONNECT_SECONDS = 20


class NoCluster(Exception):
    """There are no such workers; the message says why."""


@contextmanager
def own_cluster(workers: int) -> Iterator[tuple[Executor, int]]:
    """Worker processes started and stopped by us, and how many there are."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise _missing() from None
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        _losses_told(),
    ):
        yield client.get_executor(), workers


@contextmanager
def running_cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """The workers of a cluster that is running, as tcp://host:8786, and how many threads they have."""
    try:
        from distributed import Client
    except ImportError:
        raise _missing() from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise NoCluster(f"{address}: no Dask scheduler answers there: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise NoCluster(f"{address}: the scheduler has no workers")
        with _losses_told():
            yield client.get_executor(), threads


@contextmanager
def _losses_told() -> Iterator[None]:
    """Dask lives the work of a lost worker again, elsewhere; what it gives up is told in words."""
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise WorkerLost(f"workers of the cluster ended one after another: {error}") from None
    except CancelledError:
        raise WorkerLost("the cluster's scheduler was lost") from None


def _missing() -> NoCluster:
    return NoCluster("Dask is not installed: pip install 'labspend[cluster]'")
