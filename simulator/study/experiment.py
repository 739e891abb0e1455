"""A study run: every policy in the same worlds, replication by replication, on as many processes as asked.

What comes of replications adds up the same in any order (`daily.DayTally`) or is kept in their order (`part.Lists`), so
the bytes are the same for any number of workers and any size of chunk. A run is reduced to a `RunRecord` where it was
lived, and a chunk to a `Part`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from copy import deepcopy
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import cloudpickle
import numpy as np

from simulator.lab.lab import Lab
from simulator.lab.policy import Policy, default_policies
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.part import Lived, Part
from simulator.study.summary import record
from simulator.study.workers import handed, pool, processes, signals_noted, spread
from simulator.world.scenario import Scenario
from simulator.world.world import realize

if TYPE_CHECKING:
    from simulator.study.comparison import Comparison
    from simulator.study.runs import Runs

    More = Callable[[Runs], int]

__all__ = ["compare", "live_parts", "live_replication", "processes"]

Progress = Callable[[int, int], None]

_RUNS_PER_CHUNK = 64
_CHUNKS_PER_WORKER = 8
_UNKNOWN_WORKERS = 64
"""How many workers a foreign executor is taken to have."""


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
    more: More | None = None,
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
        Any executor of `concurrent.futures`, in place of processes of our own; it is left running. `workers` may
        then say how many it has.
    chunk_size
        Replications per piece of work; never changes a result.
    progress
        Called with replications done and replications in all.
    equal_service
        How far service may differ and still be called equal.
    more
        Told what is known after all replications, it says how many there should be in all; those missing are added
        and it is asked again. The result is that of as many replications asked for at first.

    Examples
    --------
    >>> from simulator import compare, default_policies, load_scenario
    >>> result = compare(load_scenario("known_demand"), default_policies()[:2], replications=1)
    >>> [row.policy for row in result.summary_records()]
    ['chinchilla-rent', 'overtrain-rent']
    """
    chosen = tuple(default_policies() if policies is None else policies)
    check_study(chosen, replications, workers, chunk_size)
    live = partial(live_parts, scenario, chosen, seed, workers=workers, executor=executor, chunk_size=chunk_size)
    whole, wanted = Part.empty(scenario, chosen), replications
    while True:
        with closing(live(range(whole.n_done, wanted))) as finished:
            for part in finished:
                whole.merge(part)
                if progress is not None:
                    progress(whole.n_done, wanted)
        comparison = comparison_of(scenario, chosen, seed, whole, equal_service)
        wanted = 0 if more is None else more(comparison)
        if wanted <= whole.n_done:
            return comparison


def comparison_of(
    scenario: Scenario, policies: tuple[Policy, ...], seed: int, whole: Part, equal_service: EqualService
) -> Comparison:
    """What the replications of a part say, which begin with the first."""
    from simulator.study.comparison import Comparison

    lists = whole.lists
    return Comparison(
        scenario,
        policies,
        seed,
        whole.n_done,
        tuple(lists.rows),
        tuple(lists.releases),
        tuple(lists.orders),
        tuple(lists.replans),
        tuple(lists.commitments),
        whole.days.sums(),
        equal_service=equal_service,
    )


def check_study(policies: tuple[Policy, ...], replications: int, workers: int, chunk_size: int | None) -> None:
    """Refuse what cannot be compared.

    Raises
    ------
    ValueError
        Saying which argument is wrong.
    """
    names = [policy.name for policy in policies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names:
        raise ValueError("policies: needs at least one policy to compare")
    if twice:
        raise ValueError(f"policies: every name must be used once (twice: {', '.join(twice)})")
    for what, number in (("replications", replications), ("workers", workers), ("chunk_size", chunk_size or 1)):
        if number < 1:
            raise ValueError(f"{what}: must be at least 1 (got {number})")


def _chunks(replications: range, workers: int, size: int | None, n_policies: int) -> list[range]:
    if size is None:
        largest = max(_RUNS_PER_CHUNK // n_policies, 1)
        size = min(max(len(replications) // (workers * _CHUNKS_PER_WORKER), 1), largest)
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


def live_chunk(packed: bytes, seed: int, keeps_paths: bool, chunk: range) -> Part:
    """The work of one worker: some replications of a packed study."""
    scenario, policies = _unpacked(packed)
    part = Part.empty(scenario, policies, keeps_paths=keeps_paths)
    for replication in chunk:
        part.add(live_replication(scenario, policies, seed, replication))
    return part


def _live_chunk_here(seed: int, keeps_paths: bool, chunk: range) -> Part:
    """The same in a worker of our own, which was handed the study when it started."""
    return live_chunk(handed(), seed, keeps_paths, chunk)


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> tuple[Scenario, tuple[Policy, ...]]:
    """Once per worker, so that what is worked out once per scenario is kept, also where two are lived in turn."""
    scenario, policies = cloudpickle.loads(packed)
    return scenario, policies


# Many replications --------------------------------------------------------------------------------------------


def live_parts(
    scenario: Scenario,
    policies: tuple[Policy, ...],
    seed: int,
    replications: range,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    chunk_size: int | None = None,
    keeps_paths: bool = False,
) -> Generator[Part, None, None]:
    """Live these replications, and give back what came of them in parts, in order. Parameters as for `compare`."""
    if executor is None and min(workers, len(replications)) <= 1:
        for replication in replications:
            part = Part.empty(scenario, policies, keeps_paths=keeps_paths)
            part.add(live_replication(scenario, policies, seed, replication))
            yield part
        return
    packed = cloudpickle.dumps((scenario, policies))
    n_workers = _UNKNOWN_WORKERS if executor is not None and workers == 1 else min(workers, len(replications))
    chunks = _chunks(replications, n_workers, chunk_size, len(policies))
    with signals_noted() as noted:
        if executor is not None:
            yield from spread(executor, partial(live_chunk, packed, seed, keeps_paths), chunks, n_workers, noted)
            return
        with pool(n_workers, packed) as ours:
            yield from spread(ours, partial(_live_chunk_here, seed, keeps_paths), chunks, n_workers, noted)
