"""Many small comparisons, such as the cells of a map: as many at once as there are workers, given back in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

from simulator.lab.policy import Policy
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.world.scenario import Scenario

Task = tuple[Scenario, Sequence[Policy]]


def compare_many(
    tasks: Sequence[Task], *, replications: int, seed: int, executor: Executor | None, at_once: int
) -> Iterator[Comparison]:
    """The comparison of each task, in order, whatever the number of workers.

    Parameters
    ----------
    tasks
        A scenario and its policies, the baseline first.
    replications, seed
        As for `compare`: the same worlds' luck in every task.
    executor
        Processes to live in (`experiment.processes`); None is this one. Each task stays in one process, where what is
        worked out once per scenario is worked out once.
    at_once
        How many tasks to keep going.
    """
    live = partial(compare, replications=replications, seed=seed)
    if executor is None:
        yield from (live(scenario, policies) for scenario, policies in tasks)
        return
    threads = ThreadPoolExecutor(at_once)
    try:
        ahead = partial(live, executor=executor, chunk_size=replications)
        yield from threads.map(ahead, *zip(*tasks, strict=True)) if tasks else ()
    finally:
        threads.shutdown(cancel_futures=True)
