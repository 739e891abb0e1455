"""How long one replication takes, in bare SimPy timeouts of the same run: `make bench`. Prints noise, keeps JSON.

Machines are noisy, so nothing here is a test. Each round times a bare five-process SimPy loop right before one
replication of the frontier lab, world included, and keeps the ratio; the table gives the median and the spread.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import simpy

from simulator.lab.lab import Lab
from simulator.lab.policy import default_policies
from simulator.study.files import load_scenario
from simulator.study.summary import record
from simulator.world.world import World, realize

ROUNDS = 15
TIMEOUTS = 20_000
WORLD_LIMIT = 0.25
"""Share of a replication's time that drawing its world may take."""
LIMIT = 6_000
"""Bare timeouts allowed for a five-year replication under a monthly review."""


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


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile."""
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def _world_share() -> dict[str, float]:
    """Ten years of demand and every price path / one replication of ten years that lives in them, per policy."""
    scenario = load_scenario("frontier_lab", ["horizon_days=3652"])
    found = {}
    for policy in default_policies():
        shares = []
        for replication in range(ROUNDS + 1):
            made: list[World] = []
            drawing = cpu_seconds(lambda k=replication, made=made: made.append(realize(scenario, 1, k)))
            living = cpu_seconds(lambda made=made, policy=policy: record(Lab(made[0], policy).live()))
            shares.append(drawing / (drawing + living))
        found[policy.name] = statistics.median(shares[1:])  # the first makes the tables that all share
    paths = 3 * len(scenario.quotes)
    print(f"ten years of demand and {paths} price paths, share of one replication, limit {WORLD_LIMIT:.0%}")
    for name, share in found.items():
        print(f"{name:18}{share:8.1%}   {'within' if share <= WORLD_LIMIT else 'ABOVE'}")
    return found


def main() -> None:
    """Time every default policy, print a table, keep the figures."""
    scenario, policies = load_scenario("frontier_lab"), default_policies()
    for policy in policies:  # tables that all replications share are made once
        Lab(realize(scenario, 1, 0), policy).live()
    found: dict[str, list[float]] = {policy.name: [] for policy in policies}
    worlds, bare, events = [], [], {}
    for replication in range(ROUNDS):
        for policy in policies:
            gc.collect(0)
            unit = bare_timeout_seconds()
            bare.append(unit)
            worlds.append(cpu_seconds(lambda k=replication: realize(scenario, 1, k)) / unit)
            start = time.process_time()
            run = Lab(realize(scenario, 1, replication), policy).live()
            found[policy.name].append((time.process_time() - start) / unit)
            events[policy.name] = run.n_events
    print(f"bare timeout, CPU us: {' / '.join(f'{1e6 * x:.2f}' for x in quartiles(bare))} (quartiles)")
    print("one five-year replication of frontier_lab, world included, in bare timeouts")
    print(f"{'':18}{'lower':>8}{'median':>8}{'upper':>8}{'events':>8}   limit {LIMIT}")
    rows = {}
    for name, ratios in [("the world alone", worlds), *found.items()]:
        low, middle, high = quartiles(ratios)
        rows[name] = {"lower": low, "median": middle, "upper": high, "events": events.get(name)}
        verdict = "" if name not in events else "within" if middle <= LIMIT else "ABOVE"
        print(f"{name:18}{low:8.0f}{middle:8.0f}{high:8.0f}{events.get(name, 0):8}   {verdict}")
    rows["ten years"] = _world_share()
    kept = Path("out") / "bench.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps({"python": sys.version, "bare_timeout_us": 1e6 * statistics.median(bare), **rows}))
    print(f"kept in {kept}")


if __name__ == "__main__":
    main()
