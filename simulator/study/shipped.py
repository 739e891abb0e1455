"""The scenarios that ship, lived through once and remembered: what claims ask of the simulator."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from simulator.lab.accounts import Account, Use
from simulator.lab.lab import Run, simulate
from simulator.lab.policy import Policy
from simulator.lab.recipe import Recipe
from simulator.lab.runs import ReleaseRecord
from simulator.laws.scaling import optimal_loss
from simulator.study.files import Study, load_study
from simulator.study.thresholds import search_range, thresholds


@lru_cache(maxsize=256)
def study(scenario: str, *overrides: str) -> Study:
    """A shipped scenario with `key=value` overrides."""
    return load_study(scenario, overrides)


def policy(scenario: str, name: str) -> Policy:
    """One of the policies that a shipped scenario declares."""
    return next(found for found in study(scenario).policies if found.name == name)


def with_recipe(scenario: str, name: str, recipe: Recipe) -> Policy:
    """That policy with another recipe."""
    return replace(policy(scenario, name), recipe=recipe)


@lru_cache(maxsize=512)
def lived(scenario: str, chosen: Policy, *overrides: str) -> Run:
    """The first world of a shipped scenario under one policy."""
    found = study(scenario, *overrides)
    return simulate(found.scenario, chosen, found.seed)


def declared_run(scenario: str, name: str, *overrides: str) -> Run:
    """The first world under a policy that the scenario declares."""
    return lived(scenario, policy(scenario, name), *overrides)


def saved_percent(scenario: str, name: str, baseline: str, *overrides: str) -> float:
    """Part of the baseline's cost that a policy saves [%]."""
    one, other = (total(declared_run(scenario, each, *overrides)) for each in (name, baseline))
    return 100.0 * (1.0 - one / other)


def break_even(
    scenario: str, names: tuple[str, str], field: str, low: float, high: float, tolerance: float = 0.001
) -> float:
    """Where along a field of the scenario the cheaper of two policies becomes the other, by bisection."""
    found = study(scenario)
    pair = tuple(policy(scenario, name) for name in names)
    searched = search_range(found.scenario, field, low, high)
    answer = thresholds(found.scenario, pair, searched, replications=1, seed=found.seed, tolerance=tolerance)
    return answer.thresholds[0].value


def spent(run: Run, use: Use) -> float:
    """Economic cost of one use over the window [USD]."""
    return float(run.books.economic_usd[:, use].sum())


def paid(run: Run, account: Account) -> float:
    """Cash of one account over the window [USD]."""
    return float(run.books.cash_usd[:, account].sum())


def total(run: Run) -> float:
    """Cumulative cost [USD]."""
    return float(run.books.cash_usd.sum())


def training_share(run: Run) -> float:
    """Training / (training + serving), in money."""
    training = spent(run, Use.TRAINING)
    return training / (training + spent(run, Use.SERVING))


def release(run: Run) -> ReleaseRecord:
    """The first release."""
    return run.releases[0]


def reached_loss(run: Run) -> float:
    """Loss of the first release as the scenario's law has it, without algorithmic progress [nats]."""
    found = release(run)
    physical = found.reached_flop / found.release.progress
    return float(optimal_loss(run.world.scenario.scaling_fit, np.array([physical]))[0])
