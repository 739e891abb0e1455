"""What a policy expected of demand at each of its reviews, in one world of a study, lived again."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from simulator.lab.forecast import Belief, KnownDemand
from simulator.lab.lab import Lab
from simulator.lab.policy import Policy
from simulator.laws.units import FloatArray, IntArray
from simulator.world.scenario import Scenario
from simulator.world.world import World, realize


@dataclass(frozen=True, slots=True)
class View:
    """A forecast as it stood on the day of one review."""

    day: int
    days: IntArray
    """From the day of the review on, which had not been metered yet."""
    mean_tokens: FloatArray
    log_sd: FloatArray
    """Sd of the log of a day's tokens."""


@dataclass(frozen=True, slots=True)
class ForecastsSeen:
    """The views of one policy in one world, and what came."""

    policy: str
    replication: int
    views: tuple[View, ...]
    """In order of their days."""
    asked_tokens: FloatArray
    """What was then asked [day]."""


class _Watched(Lab):
    """A lab whose forecast is asked once more before each review; a copy answers where it might remember that."""

    def __init__(self, world: World, policy: Policy, ahead_days: int) -> None:
        super().__init__(world, policy)
        self.views: list[View] = []
        self._ahead_days = ahead_days

    def review(self) -> None:
        """As it is, with a look at what is expected."""
        if self.reviewed_day != self.today:
            days = np.arange(self.today, min(self.today + self._ahead_days, self.world.calendar.horizon_days))
            forgets = isinstance(self.forecast, Belief | KnownDemand)
            forecast = self.forecast if forgets else deepcopy(self.forecast)
            self.views.append(View(self.today, days, *forecast.ahead(self.observe(), days)))
        super().review()


def forecasts_seen(
    scenario: Scenario, policy: Policy, *, seed: int, replication: int = 0, ahead_days: int = 365
) -> ForecastsSeen:
    """Live one replication again, and note at each review what the policy's forecast says of the days ahead.

    Parameters
    ----------
    scenario, policy, seed, replication
        Which run of a study.
    ahead_days
        How far it is asked to look, at most to the end.
    """
    world = realize(scenario, seed, replication)
    lab = _Watched(world, deepcopy(policy), ahead_days)
    lab.live()
    return ForecastsSeen(policy.name, replication, tuple(lab.views), world.demand_tokens[world.calendar.lived])
