"""Many small comparisons, such as the cells of a map: as many at once as there are workers, given back in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from functools import partial

from simulator.lab.policy import Policy
from simulator.study.comparison import Comparison
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.experiment import compare
from simulator.world.scenario import Scenario

Task = tuple[Scenario, Sequence[Policy]]


def compare_many(
    tasks: Sequence[Task],
    *,
    replications: int,
    seed: int,
    executor: Executor | None,
    at_once: int,
    equal_service: EqualService = USUAL_SERVICE,
) -> Iterator[Comparison]:
    """The comparison of each task, in order, whatever the number of workers; see `try_many`.

    Raises
    ------
    ValueError
        Where a task cannot be lived.
    """
    with closing(
        try_many(
            tasks, replications=replications, seed=seed, executor=executor, at_once=at_once, equal_service=equal_service
        )
    ) as finished:
        for found in finished:
            if not isinstance(found, Comparison):
                raise found
            yield found


def try_many(
    tasks: Sequence[Task],
    *,
    replications: int,
    seed: int,
    executor: Executor | None,
    at_once: int,
    equal_service: EqualService = USUAL_SERVICE,
) -> Generator[Comparison | ValueError, None, None]:
    """The comparison of each task, in order; of one that cannot be lived, what it was refused for.

    Parameters
    ----------
    tasks
        A scenario and its policies, the baseline first.
    replications, seed, equal_service
        As for `compare`: the same worlds' luck in every task.
    executor
        Processes to live in (`experiment.processes`); None is this one. Each task stays in one process, where what is
        worked out once per scenario is worked out once.
    at_once
        How many tasks to keep going.
    """
    live = partial(compare, replications=replications, seed=seed, equal_service=equal_service)
    if executor is None:
        for scenario, policies in tasks:
            yield _tried(live, scenario, policies)
        return
    threads = ThreadPoolExecutor(at_once)
    try:
        ahead = partial(_tried, partial(live, executor=executor, chunk_size=replications))
        yield from threads.map(ahead, *zip(*tasks, strict=True)) if tasks else ()
    finally:
        threads.shutdown(cancel_futures=True)


def _tried(live: Callable[..., Comparison], scenario: Scenario, policies: Sequence[Policy]) -> Comparison | ValueError:
    try:
        return live(scenario, policies)
    except ValueError as error:
        return error
