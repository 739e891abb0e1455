"""How much memory many replications take: `python tests/bench_memory.py [replications] [seconds]`.

A toy study streams into a folder that is thrown away. Resident memory is printed at 10 % and at 100 % of what was lived
and once the results are made; the first difference is what grows with replications, and the goal for it is 15 MB.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from small_study import growing_lab, policy

from simulator.lab.procurement import RentOnDemand
from simulator.study.streaming import Streamed, begin, finish, live_on

GOAL_MB = 15.0
_KB_PER_MB = 1024.0


def resident_mb() -> float:
    """Memory of this process that is in RAM now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1]) / _KB_PER_MB
    return float("nan")


def main(replications: int, seconds: float, workers: int = 2) -> None:
    """Live as many as fit, and say what it took."""
    started, marks = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as name:
        study = Streamed(growing_lab(60), (policy("rent", RentOnDemand()),), 1, replications, Path(name))
        journal = begin(study)

        class OutOfTime(Exception):
            pass

        def mark(done: int, total: int) -> None:
            marks[done] = resident_mb()
            if time.monotonic() - started > seconds and done < total:
                raise OutOfTime

        try:
            live_on(study, journal, workers=workers, progress=mark)
        except OutOfTime:
            print(f"out of time: {max(marks):,} of {replications:,} replications")
        lived, elapsed = max(marks), time.monotonic() - started
        tenth = marks[min(marks, key=lambda done: abs(done - lived / 10))]
        print(f"{lived:,} replications in {elapsed:.0f} s, {lived / elapsed:,.0f}/s with {workers} processes")
        growth = marks[lived] - tenth
        verdict = "within" if growth <= GOAL_MB else "ABOVE"
        print(f"resident at 10 %: {tenth:.1f} MB, at 100 %: {marks[lived]:.1f} MB, growth {growth:.1f} MB   {verdict}")
        if lived == replications:
            finish(study, journal)
            print(f"results made: {resident_mb():.1f} MB, {time.monotonic() - started - elapsed:.0f} s")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 100_000, float(given[1]) if len(given) > 1 else 60.0)
