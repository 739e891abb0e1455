"""When enough worlds have been drawn: once every difference from the baseline is known to a stated precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from simulator.study.controls import LEAST_WORLDS
from simulator.study.runs import Runs

MOST_REPLICATIONS = 10_000
_MARGIN = 1.1
"""Worlds asked for beyond what the variance seen so far wants: that variance is itself an estimate."""


@dataclass(frozen=True, slots=True)
class Round:
    """What was known after so many worlds."""

    replications: int
    widest_percent: float
    """Half of the widest interval of a paired difference, of the baseline's mean cost."""
    policy: str
    """Whose difference that is; empty if there is nothing comparable to measure."""
    wider: tuple[tuple[str, float], ...]
    """Policies not yet known to the precision, with half their interval [%]."""


@dataclass
class Precision:
    """A stopping rule, for `compare(..., more=)`: adds replications until differences are known well enough.

    Known is a difference whose 95 % interval, with total demand as control where that narrows it, is at most
    `precision` of the baseline's mean cost to either side. Each round at most doubles the worlds. Stopping when an
    interval happens to be narrow makes it a little too narrow: so there are at least 16 worlds, and 10 % more than
    the variance asks for.
    """

    precision: float
    """Part of the baseline's mean cost, as 0.01."""
    most: int = MOST_REPLICATIONS
    rounds: list[Round] = field(default_factory=list)
    """What was found after each round."""

    @property
    def said(self) -> str:
        """The rule in words."""
        return f"worlds until differences are known to {self.precision!r}, {self.most} at most"

    def first(self, replications: int) -> int:
        """How many worlds to begin with where so many were asked for."""
        return min(max(replications, LEAST_WORLDS), self.most)

    def __call__(self, found: Runs) -> int:
        """How many worlds there should be in all."""
        halves = [
            (found.policy_names[number], found.controlled_percent(number).half_width)
            for number in range(1, len(found.policies))
            if not found.not_comparable(number)
        ]
        name, widest = max(halves, key=lambda pair: pair[1], default=("", 0.0))
        target = 100.0 * self.precision
        wider = tuple((policy, half) for policy, half in halves if not half <= target)
        done = found.replications
        self.rounds.append(Round(done, widest, name, wider))
        if not wider:
            return done
        asked = ceil(done * min(_MARGIN * (widest / target) ** 2, 2.0)) if widest == widest else 2 * done
        return min(max(asked, done + 1), self.most)

    @property
    def is_met(self) -> bool:
        """Whether every difference is known to the precision."""
        return bool(self.rounds) and not self.rounds[-1].wider
