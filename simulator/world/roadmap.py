"""What the lab has promised: releases, when they are due, how good they must be, and what luck makes of that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from statistics import NormalDist
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from simulator.laws.units import DAYS_PER_YEAR, FloatArray
from simulator.world.dice import Dice
from simulator.world.inputs import Inputs, NotNegative, Positive, Share, WholeDays

_N_LIKELY = 9
_quantiles = np.array([NormalDist().inv_cdf((step + 0.5) / _N_LIKELY) for step in range(_N_LIKELY)])
LIKELY_SDS: FloatArray = _quantiles / _quantiles.std()
"""The luck a world may have with growth, each value as likely [sd]: midpoints of nine equal parts of a normal
distribution, scaled to a variance of one. So few, so that worlds share the tables of models that meet a target."""

YearlySd = Annotated[float, Field(ge=0, le=2)]
"""Of a log; beyond 2 (a factor of 7 a year either way) nothing is known at all."""


class ReleaseInputs(Inputs):
    """One release of the roadmap."""

    name: str = Field(description="what the release is called in tables")
    due: date = Field(description="the day it must be in service")
    target_flop: Positive | None = Field(
        None, description="equivalent training FLOP it must reach; default: the roadmap's growth [FLOP]"
    )
    train_days: WholeDays | None = Field(None, description="days from decision to due [days]")


class RoadmapInputs(Inputs):
    """The releases and the quality they owe. Growth counts *equivalent* FLOP: physical growth x progress."""

    target_flop: Positive = Field(description="equivalent training FLOP owed at the start [FLOP]")
    target_growth_per_year: Positive = Field(
        12.7, description="growth of the target: 4.5 physical (Epoch) x 2.83 progress (Ho et al.)"
    )
    progress_per_year: Positive = Field(
        2.828, description="algorithmic progress: the same loss for so much less compute (Ho et al. 2024)"
    )
    target_growth_sigma: YearlySd = Field(
        0.0, description="sd of the yearly log growth of the target, drawn per world; its mean stays as declared"
    )
    progress_sigma: YearlySd = Field(
        0.0, description="sd of the yearly log growth of progress, drawn per world; its mean stays as declared"
    )
    slip_chance: Share = Field(0.0, description="chance that a release slips, whatever the policy")
    slip_days: Annotated[float, Field(gt=0, le=3650)] = Field(
        30.0, description="mean of the exponential time by which a slipped release is late [days]"
    )
    data_gain: Positive = Field(1.0, description="equivalent FLOP gained by the data mix of today, as a factor")
    train_days: WholeDays = Field(90, description="days from decision to due [days]")
    service_days: Annotated[int, Field(gt=0)] = Field(365, description="planned life of the last release [days]")
    research_multiple: NotNegative = Field(
        0.0, description="research FLOP per release / compute-optimal FLOP of its target"
    )
    release: tuple[ReleaseInputs, ...] = Field((), description="the releases, in order of date")


@dataclass(frozen=True, slots=True)
class Release:
    """One release, in days since the start."""

    number: int
    name: str
    due_day: int
    train_days: int
    life_days: int
    target_flop: float
    progress: float
    """Algorithmic progress on the decision day, as a factor of compute since the start."""

    @property
    def decision_day(self) -> int:
        """The day its recipe is chosen and its run begins."""
        return self.due_day - self.train_days


class GrowthLuck(NamedTuple):
    """How a world's growth of the target, and of progress, departs from the mean [sd]."""

    target: float = 0.0
    progress: float = 0.0


_NO_LUCK = GrowthLuck()


def releases(roadmap: RoadmapInputs, start: date, luck: GrowthLuck = _NO_LUCK) -> tuple[Release, ...]:
    """The roadmap in days; a release is planned to serve until the next one is due.

    A target that a release states by itself is a promise, and no luck moves it.
    """
    due_days = [(release.due - start).days for release in roadmap.release]
    lives = [*(after - due for due, after in pairwise(due_days)), roadmap.service_days]
    found = []
    for number, (inputs, due, life) in enumerate(zip(roadmap.release, due_days, lives, strict=False)):
        train_days = roadmap.train_days if inputs.train_days is None else inputs.train_days
        growth = roadmap.target_growth_per_year ** (due / DAYS_PER_YEAR)
        growth *= luck_factor(roadmap.target_growth_sigma, luck.target, due)
        target = inputs.target_flop if inputs.target_flop is not None else roadmap.target_flop * growth
        progress = progress_on(roadmap, due - train_days, luck)
        found.append(Release(number, inputs.name, due, train_days, life, target, progress))
    return tuple(found)


def progress_on(roadmap: RoadmapInputs, day: int, luck: GrowthLuck = _NO_LUCK) -> float:
    """Algorithmic progress since the start, as a factor of compute."""
    expected = roadmap.progress_per_year ** (day / DAYS_PER_YEAR)
    return float(expected * luck_factor(roadmap.progress_sigma, luck.progress, day))


def luck_factor(sigma: float, sds: float, day: int) -> float:
    """What luck of so many sds with a yearly log growth makes of a level on a day; its mean over worlds is one.

    exp(z s t) over the mean of that over `LIKELY_SDS`, of which z is one: exact, where exp(-s^2 t^2 / 2) would be
    exact for normal luck only. Without uncertainty it is 1.
    """
    spread = sigma * day / DAYS_PER_YEAR
    if spread == 0.0:
        return 1.0
    # Seen from the largest, so that no exponent overflows.
    top = float(LIKELY_SDS[-1])
    return float(np.exp((sds - top) * spread) / np.exp((LIKELY_SDS - top) * spread).mean())


def draw_growth_luck(roadmap: RoadmapInputs, dice: Dice) -> GrowthLuck:
    """One of the equally likely values for each growth that is uncertain."""
    return GrowthLuck(
        _draw(roadmap.target_growth_sigma, dice, "roadmap.growth"),
        _draw(roadmap.progress_sigma, dice, "roadmap.progress"),
    )


def draw_slip_days(roadmap: RoadmapInputs, dice: Dice) -> tuple[int, ...]:
    """By release: days it comes later than it would, 0 for most [days]."""
    if roadmap.slip_chance == 0.0:
        return (0,) * len(roadmap.release)
    days = []
    for number in range(len(roadmap.release)):
        rng = dice.stream("roadmap.slip", number)
        slips, by = rng.random() < roadmap.slip_chance, rng.exponential(roadmap.slip_days)
        days.append(round(by) if slips else 0)
    return tuple(days)


def _draw(sigma: float, dice: Dice, stream: str) -> float:
    return float(dice.stream(stream).choice(LIKELY_SDS)) if sigma > 0.0 else 0.0
