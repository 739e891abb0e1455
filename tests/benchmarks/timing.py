"""CPU seconds, and the unit they are told in: a bare SimPy timeout of the same minute on the same machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import simpy

TIMEOUTS = 20_000

Figures = dict[str, object]
"""What a part of the bench found, for the JSON."""


def bare_timeout_seconds() -> float:
    """CPU seconds of one timeout in a five-process SimPy loop."""
    env = simpy.Environment()

    def ticking() -> simpy.events.ProcessGenerator:
        while True:
            yield env.timeout(1)

    for _ in range(5):
        env.process(ticking())
    return cpu_seconds(lambda: env.run(until=TIMEOUTS // 5)) / TIMEOUTS


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile."""
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def told(name: str, values: Sequence[float], limit: float, form: str = "8.0f", *, at_least: bool = False) -> Figures:
    """Print the quartiles of a figure beside its limit, and give them back."""
    low, middle, high = quartiles(values)
    is_within = middle >= limit if at_least else middle <= limit
    spread = "".join(f"{value:{form}}" for value in (low, middle, high))
    verdict = "within" if is_within else "BELOW" if at_least else "ABOVE"
    print(f"{name:38}{spread}   {'at least' if at_least else 'limit'} {limit:g}   {verdict}")
    return {"lower": low, "median": middle, "upper": high, "limit": limit, "within": is_within}


def also(name: str, values: Sequence[float], form: str = "8.0f") -> Figures:
    """The same of a figure that has no limit."""
    low, middle, high = quartiles(values)
    print(f"{name:38}{low:{form}}{middle:{form}}{high:{form}}")
    return {"lower": low, "median": middle, "upper": high}
