"""What the lab has promised: releases, when they are due and how good they must be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from simulator.laws.units import DAYS_PER_YEAR
from simulator.world.inputs import Inputs, NotNegative, Positive, WholeDays


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


def releases(roadmap: RoadmapInputs, start: date) -> tuple[Release, ...]:
    """The roadmap in days; a release is planned to serve until the next one is due."""
    due_days = [(release.due - start).days for release in roadmap.release]
    lives = [*(after - due for due, after in pairwise(due_days)), roadmap.service_days]
    found = []
    for number, (inputs, due, life) in enumerate(zip(roadmap.release, due_days, lives, strict=False)):
        train_days = roadmap.train_days if inputs.train_days is None else inputs.train_days
        growth = roadmap.target_growth_per_year ** (due / DAYS_PER_YEAR)
        target = inputs.target_flop if inputs.target_flop is not None else roadmap.target_flop * growth
        progress = roadmap.progress_per_year ** ((due - train_days) / DAYS_PER_YEAR)
        found.append(Release(number, inputs.name, due, train_days, life, target, progress))
    return tuple(found)
