"""Two workers: chunks of 64 against two static halves side by side, and how long a real study would take."""

from __future__ import annotations

import time

from benchmarks.replication import ladder, ten_years
from benchmarks.timing import Figures, told

from simulator.lab.policy import default_policies
from simulator.study.experiment import compare
from simulator.study.files import load_scenario

PAIRS, REPLICATIONS, CHUNK = 5, 256, 64
STUDY, TRIED = 1_000, 48
STUDY_SECONDS = 30.0
LIMIT = 1.10


def chunks() -> Figures:
    """Wall time of the same study in chunks and in halves, alternating."""
    print(f"\ntwo workers, {REPLICATIONS} replications of five years: chunks of {CHUNK} / two halves, wall time")
    scenario, policies, ratios = load_scenario("frontier_lab"), default_policies()[4:5], []
    for _ in range(PAIRS):
        seconds = []
        for size in (CHUNK, REPLICATIONS // 2):
            start = time.perf_counter()
            compare(scenario, policies, replications=REPLICATIONS, seed=1, workers=2, chunk_size=size)
            seconds.append(time.perf_counter() - start)
        ratios.append(seconds[0] / seconds[1])
    return {"chunks / halves": told("chunks / halves", ratios, LIMIT, "8.2f")}


def study() -> Figures:
    """Four policies, a thousand replications, ten years: told from a few replications, not gated."""
    policies = (*default_policies()[4:], ladder(91))
    start = time.perf_counter()
    compare(ten_years(), policies, replications=TRIED, seed=1, workers=2)
    seconds = (time.perf_counter() - start) * STUDY / TRIED
    print(f"\nfour policies x {STUDY:,} replications x ten years, two workers, their start multiplied too")
    print(f"{seconds:.0f} s wall, told from {TRIED} replications; wished for on two quiet cores: {STUDY_SECONDS:.0f} s")
    return {"study seconds": seconds}
