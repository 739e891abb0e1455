"""Who does the work a command asks for: this process, more processes, or Dask workers on many machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from simulator.cli.said import BadInput

if TYPE_CHECKING:
    from concurrent.futures import Executor

CLUSTER = click.option(
    "--cluster", type=click.Choice(["dask"]), help="Start a Dask cluster of --workers processes here, and stop it."
)
SCHEDULER = click.option("--scheduler", metavar="ADDRESS", help="Use a running Dask cluster, as tcp://host:8786.")


@contextmanager
def crew(workers: int, cluster: str | None, scheduler: str | None) -> Iterator[tuple[Executor | None, int]]:
    """An executor, if it is not to be processes of our own, and how many workers there are."""
    if cluster is not None and scheduler is not None:
        raise BadInput("--cluster starts workers and --scheduler uses those that run: name one of them")
    if cluster is None and scheduler is None:
        yield None, workers
        return
    from simulator.study.cluster import NoCluster, own_cluster, running_cluster

    try:
        with own_cluster(workers) if scheduler is None else running_cluster(scheduler) as found:
            yield found
    except NoCluster as error:
        raise BadInput(str(error)) from None
