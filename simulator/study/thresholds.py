"""Where, along one declared value, the cheapest policy changes: a coarse scan, then bisection, in the same worlds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from simulator.lab.policy import Policy
from simulator.study.comparison import TIE, Comparison
from simulator.study.controls import regression
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.experiment import Progress, compare, processes
from simulator.study.many import try_many
from simulator.study.threshold_answers import NOBODY, Threshold, Thresholds, Trial
from simulator.study.varied import declared_value, varied
from simulator.world.scenario import Misplaced, Scenario

SCANNED = 5
"""Values of the first scan, both ends included."""
_WIDE = 10.0
"""A range whose ends differ by this factor is stepped through by factors."""
_FACTORS = (2.0, 1.5, 1.25, 1.1)
"""Times the declared value, and divided by it, where no range is given: the widest that the scenario allows."""
_ENDS_COARSER = 4.0
"""The ends of an interval are found to so many times the tolerance."""
_NONE = float("nan")


@dataclass(frozen=True, slots=True)
class SearchRange:
    """The values between which thresholds are sought."""

    field: str
    declared: float | None
    is_whole: bool
    low: float
    high: float
    said: str

    def scan(self) -> list[float]:
        """Values from end to end, by equal steps, or by equal factors where the range is wide."""
        steps = np.geomspace if self._is_wide else np.linspace
        inner = [self.rounded(float(value)) for value in steps(self.low, self.high, SCANNED)[1:-1]]
        return sorted({self.low, *inner, self.high})

    def middle(self, one: float, other: float) -> float:
        """Between two values."""
        return self.rounded(float(np.sqrt(one * other)) if self._is_wide else (one + other) / 2.0)

    def is_close(self, one: float, other: float, tolerance: float) -> bool:
        """Whether two values are as near as asked: relative to them, or to a tenth of the range around zero."""
        near = tolerance * max(abs(one), abs(other), (self.high - self.low) / 10.0)
        return abs(other - one) <= max(near, 1.0 if self.is_whole else 0.0)

    def rounded(self, value: float) -> float:
        """Whole where the field is."""
        return float(round(value)) if self.is_whole else value

    def at(self, scenario: Scenario, value: float) -> Scenario:
        """The scenario with this value."""
        return varied(scenario, self.field, int(value) if self.is_whole else value)

    @property
    def _is_wide(self) -> bool:
        return self.low > 0.0 and self.high >= _WIDE * self.low


def search_range(scenario: Scenario, name: str, low: float | None = None, high: float | None = None) -> SearchRange:
    """The range to search; an end that is not given lies at the declared value times or over 2, 1.5, 1.25 or 1.1.

    Raises
    ------
    Misplaced
        If there is no such field, it holds no number, its range is empty or cannot be told from what is declared.
    """
    value = declared_value(scenario, name)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise Misplaced(name, "must be a number, to look for thresholds along it", repr(value))
    is_whole = isinstance(value, int)
    for option, end in (("--from", low), ("--to", high)):
        if end is not None and not np.isfinite(end):
            raise Misplaced(name, f"must be searched between finite numbers, {option}", f"{end:g}")
    if (low is None or high is None) and not value:
        rule = "tells no range to search by itself, so both --from and --to are needed"
        raise Misplaced(name, rule, "not declared" if value is None else "0")
    number = None if value is None else float(value)
    found = SearchRange(name, number, is_whole, low or 0.0, high or 0.0, "as asked")
    if number is not None and (low is None or high is None):
        said = []
        sign = 1.0 if number > 0.0 else -1.0
        if low is None:
            factor = _widest(scenario, found, [f**-sign for f in _FACTORS])
            low, said = found.rounded(number * factor), [f"from {factor:.3g} times"]
        if high is None:
            factor = _widest(scenario, found, [f**sign for f in _FACTORS])
            high, said = found.rounded(number * factor), [*said, f"to {factor:.3g} times"]
        found = replace(found, low=low, high=high, said=f"{' '.join(said)} the declared {number:g}")
    if not found.low < found.high:
        raise Misplaced(name, "must be searched from a lower to a higher value", f"{found.low:g} to {found.high:g}")
    return found


def _widest(scenario: Scenario, found: SearchRange, factors: Sequence[float]) -> float:
    """The first factor on the declared value that the scenario allows; 1 if none."""
    for factor in factors:
        try:
            found.at(scenario, found.rounded(factor * (found.declared or 0.0)))
        except Misplaced:
            continue
        return factor
    return 1.0


def thresholds(
    scenario: Scenario,
    policies: Sequence[Policy],
    searched: SearchRange,
    *,
    replications: int = 32,
    seed: int = 1,
    tolerance: float = 0.01,
    equal_service: EqualService = USUAL_SERVICE,
    workers: int = 1,
    progress: Progress | None = None,
) -> Thresholds:
    """Find every value of a field, among those a scan of five can tell apart, at which the cheapest policy changes.

    Parameters
    ----------
    scenario, policies
        What to live in, and who; the first policy is the baseline, whose service the others must equal.
    searched
        The field and the range, as `search_range` gives it.
    replications, seed, equal_service, workers, progress
        As for `compare`; the worlds' luck is the same at every value. Progress counts values tried.
    tolerance
        How closely a threshold is told, relative to it.

    Raises
    ------
    Misplaced
        If the scenario allows no value of the range.
    """
    with processes(workers) as executor:
        search = _Search(
            scenario, tuple(policies), searched, replications, seed, tolerance, equal_service, executor, progress
        )
        comparison = search.scan(workers)
        found = [threshold for at in search.changes() for threshold in [search.threshold(*at)]]
    return Thresholds(
        searched.field,
        searched.declared,
        searched.low,
        searched.high,
        searched.said,
        tolerance,
        tuple(found),
        tuple(search.in_order()),
        tuple(search.failed),
        comparison,
    )


@dataclass
class _Search:
    """All values tried so far, and how to try another."""

    scenario: Scenario
    policies: tuple[Policy, ...]
    searched: SearchRange
    replications: int
    seed: int
    tolerance: float
    equal_service: EqualService
    executor: Executor | None
    progress: Progress | None
    trials: dict[float, Trial] = field(default_factory=dict)
    failed: list[tuple[float, str]] = field(default_factory=list)

    def scan(self, at_once: int) -> Comparison:
        """Try the values of the scan, and the declared one; the comparison at the declared value is given back."""
        values, worlds = [], []
        for value in self.searched.scan():
            try:
                worlds.append(self.searched.at(self.scenario, value))
                values.append(value)
            except Misplaced as error:
                self.failed.append((value, error.rule))
        tasks = [(world, self.policies) for world in (self.scenario, *worlds)]
        found = try_many(
            tasks,
            replications=self.replications,
            seed=self.seed,
            executor=self.executor,
            at_once=at_once,
            equal_service=self.equal_service,
        )
        declared = next(found)
        if not isinstance(declared, Comparison):
            raise declared
        for value, comparison in zip(values, found, strict=True):
            if isinstance(comparison, Comparison):
                self._keep(value, comparison)
            else:
                self.failed.append((value, str(comparison)))
        own = self.searched.declared
        if own is not None and self.searched.low < own < self.searched.high:
            self._keep(own, declared)
        if len(self.trials) < 2:
            said = "; ".join(f"{value:g} {why}" for value, why in self.failed)
            raise Misplaced(self.searched.field, f"has no range that can be searched: {said}", self.searched.said)
        return declared

    def in_order(self) -> list[Trial]:
        """All tried, by value."""
        return [self.trials[value] for value in sorted(self.trials)]

    def changes(self) -> list[tuple[Trial, Trial]]:
        """Neighbours as near as asked between which the winner changes."""
        return [
            found
            for left, right in pairwise(self.in_order())
            if left.winner != right.winner
            for found in self._narrowed(left, right)
        ]

    def _narrowed(self, left: Trial, right: Trial) -> Iterator[tuple[Trial, Trial]]:
        """Bisect; where a third policy wins between two, both its ends are followed."""
        if self.searched.is_close(left.value, right.value, self.tolerance):
            yield left, right
            return
        middle = self._tried(self.searched.middle(left.value, right.value))
        if middle is None:
            yield left, right
            return
        for pair in ((left, middle), (middle, right)):
            if pair[0].winner != pair[1].winner:
                yield from self._narrowed(*pair)

    def threshold(self, left: Trial, right: Trial) -> Threshold:
        """What is known of the change between two neighbours."""
        below, above = left.winner, right.winner
        reason = _incomparable(left, right)
        named = Threshold(self.searched.field, _NONE, left.value, right.value, below, above, reason)
        if reason or NOBODY in (below, above):
            return replace(named, value=(left.value + right.value) / 2.0)
        value = _crossing(left.value, right.value, *(_gap(trial, above, below) for trial in (left, right)))
        low = self._surely(left, below, above, -1)
        high = self._surely(right, above, below, 1)
        return replace(named, value=value, low=low, high=high)

    def _surely(self, start: Trial, winner: str, loser: str, step: int) -> float:
        """Going away from a threshold, the first value at which the winner there is surely cheaper; NaN if none is."""

        def sureness(trial: Trial) -> float:
            return trial.difference_percent(loser, winner).low

        sides = [trial for trial in self.in_order() if (trial.value - start.value) * step >= 0.0]
        unsure = None
        for trial in sides[::step]:
            if not {winner, loser} <= set(trial.policies):
                continue
            if sureness(trial) > 0.0:
                return trial.value if unsure is None else self._edge(unsure, trial, sureness)
            unsure = trial
        return _NONE

    def _edge(self, unsure: Trial, sure: Trial, sureness: Callable[[Trial], float]) -> float:
        """Where the interval of the difference leaves zero, by bisection and then by a line."""
        while not self.searched.is_close(unsure.value, sure.value, _ENDS_COARSER * self.tolerance):
            middle = self._tried(self.searched.middle(unsure.value, sure.value))
            if middle is None:
                break
            unsure, sure = (unsure, middle) if sureness(middle) > 0.0 else (middle, sure)
        return _crossing(unsure.value, sure.value, sureness(unsure), sureness(sure))

    def _tried(self, value: float) -> Trial | None:
        """The trial at a value, by those that may win there; None if the scenario does not allow it."""
        if value not in self.trials:
            winners = {trial.winner for trial in self.trials.values()}
            chosen = [self.policies[0], *(policy for policy in self.policies[1:] if policy.name in winners)]
            try:
                world = self.searched.at(self.scenario, value)
                comparison = compare(
                    world,
                    chosen,
                    replications=self.replications,
                    seed=self.seed,
                    executor=self.executor,
                    equal_service=self.equal_service,
                )
            except ValueError as error:
                self.failed.append((value, error.rule if isinstance(error, Misplaced) else str(error)))
                return None
            self._keep(value, comparison)
        return self.trials[value]

    def _keep(self, value: float, comparison: Comparison) -> None:
        self.trials[value] = trial_of(value, comparison)
        if self.progress is not None:
            done = len(self.trials)
            self.progress(done, max(2 * SCANNED, done + 1))


def trial_of(value: float, comparison: Comparison) -> Trial:
    """What is kept of a comparison."""
    cost = comparison.by_policy("cumulative_cost_usd")
    reasons = tuple(comparison.not_comparable(number) for number in range(len(comparison.policies)))
    return Trial(value, comparison.policy_names, _winner(comparison, reasons), reasons, cost.copy(), comparison.control)


def _winner(comparison: Comparison, reasons: Sequence[str]) -> str:
    """The comparable policy of lowest expected cost; the first of those that tie."""
    mean = [regression(cost, comparison.control).mean for cost in comparison.by_policy("cumulative_cost_usd")]
    fair = [number for number, reason in enumerate(reasons) if not reason]
    if not fair:
        return NOBODY
    least = min(mean[number] for number in fair)
    return comparison.policy_names[next(number for number in fair if mean[number] <= least + TIE * abs(least))]


def _incomparable(left: Trial, right: Trial) -> str:
    """Why a winner cannot win on the other side of a change."""
    for name, other in ((left.winner, right), (right.winner, left)):
        if name != NOBODY and other.reason(name):
            side = "above" if other is right else "below"
            return f"{side} it {name} {other.reason(name)}"
    return ""


def _gap(trial: Trial, policy: str, against: str) -> float:
    return trial.difference_percent(policy, against).mean


def _crossing(left: float, right: float, at_left: float, at_right: float) -> float:
    """Where a line through two points is zero; the middle where it does not cross."""
    if not at_left * at_right < 0.0:
        return (left + right) / 2.0
    return left - at_left * (right - left) / (at_right - at_left)
