"""What one replication of the frontier lab takes, world included, and what its world and its settlement take of it."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.timing import Figures, also, bare_timeout_seconds, told

from simulator.lab.books import Books
from simulator.lab.dispatch import Dispatch
from simulator.lab.forecast import Trend
from simulator.lab.lab import Lab, Run
from simulator.lab.ladder import Ladder
from simulator.lab.policy import Policy, default_policies
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import MAIN_LEVERS
from simulator.study.files import load_scenario
from simulator.study.summary import record
from simulator.world.scenario import Scenario
from simulator.world.world import World, realize

ROUNDS, WARM_UP = 15, 24
WORLD_SHARE, SETTLEMENT_SHARE, HOURS_LIMIT = 0.25, 0.15, 15.0
FIVE_YEARS_LIMIT = 6_000
LADDER_LIMITS = {30: 6_500, 91: 4_500}
"""Bare timeouts allowed for ten years, by days between reviews."""
FLAT = (1.0,) * 24


class TimedLab(Lab):
    """A lab that tells what its settlement took."""

    settlement_seconds = 0.0

    def _settled(self, world: World) -> tuple[Dispatch, Books]:
        start = time.process_time()
        settled = super()._settled(world)
        self.settlement_seconds += time.process_time() - start
        return settled


def ladder(review_days: int) -> Policy:
    """All levers, an owned base, a leased middle and a rented top."""
    return Policy("ladder", LeverRecipe(levers=MAIN_LEVERS), Ladder(review_days=review_days), Trend())


def ten_years() -> Scenario:
    """The frontier lab for ten years."""
    return load_scenario("frontier_lab", ["horizon_days=3652"])


def rounds(scenario: Scenario, policy: Policy) -> Iterator[tuple[float, float, float, float, Run]]:
    """World, life, settlement and record of one replication after another, in bare timeouts; tables are warm."""
    for replication in range(1000, 1000 + WARM_UP):
        Lab(realize(scenario, 1, replication), policy).live()
    for replication in range(ROUNDS):
        gc.collect(0)
        unit = bare_timeout_seconds()
        times = [time.process_time()]
        lab = TimedLab(realize(scenario, 1, replication), policy)
        times.append(time.process_time())
        run = lab.live()
        times.append(time.process_time())
        record(run)
        times.append(time.process_time())
        world, life, kept = ((end - start) / unit for start, end in pairwise(times))
        yield world, life, lab.settlement_seconds / unit, kept, run


def laddered() -> Figures:
    """Ten years under a ladder, reviewed monthly and quarterly."""
    print("\nten years, all levers, laddered, world included, in bare timeouts (quartiles)")
    found: Figures = {}
    for review_days, limit in LADDER_LIMITS.items():
        measured = list(rounds(ten_years(), ladder(review_days)))
        events = max(run.n_events for *_, run in measured)
        name = f"every {review_days} days, at most {events} events"
        found[name] = told(name, [world + life for world, life, *_ in measured], limit)
        found[f"{name}, record"] = also("  what is kept of it, beside", [kept for *_, kept, _ in measured])
        shares = [world / (world + life) for world, life, *_ in measured]
        found[f"{name}, world"] = told("  share of its world", shares, WORLD_SHARE, "8.1%")
        shares = [settled / (world + life) for world, life, settled, *_ in measured]
        found[f"{name}, settlement"] = told("  share of its settlement", shares, SETTLEMENT_SHARE, "8.1%")
    return found


def default_set() -> Figures:
    """Five years under every policy of the default set."""
    print("\nfive years, the default policies, world included, in bare timeouts (quartiles)")
    scenario, found = load_scenario("frontier_lab"), Figures()
    for policy in default_policies():
        measured = list(rounds(scenario, policy))
        found[policy.name] = told(policy.name, [world + life for world, life, *_ in measured], FIVE_YEARS_LIMIT)
        shares = [world / (world + life + kept) for world, life, _, kept, _ in measured]
        found[f"{policy.name}, world"] = told("  share of its world, record included", shares, WORLD_SHARE, "8.1%")
    return found


def hours() -> Figures:
    """The settlement of days of 24 different hours, against days of one hour: the hours are settled in closed form."""
    print("\nsettlement of ten years with the hours of the day / with flat days (quartiles)")
    scenario, policy = ten_years(), default_policies()[4]
    flat = scenario.model_copy(update={"demand": scenario.demand.model_copy(update={"hour_profile": FLAT})})
    pairs = zip(rounds(scenario, policy), rounds(flat, policy), strict=True)
    ratios = [one[2] / other[2] for one, other in pairs]
    return {"hours / flat": told("hours / flat", ratios, HOURS_LIMIT, "8.2f")}
