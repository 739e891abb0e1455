"""Parts of demand that differ: who asks how much, in what growth, with how long prompts, and how good an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from simulator.laws.test_time import MAX_GAIN, samples_for_gain
from simulator.laws.units import FloatArray, IntArray, Numbers
from simulator.world.dice import Dice
from simulator.world.growth import Growth
from simulator.world.inputs import Inputs, NotNegative, PositiveShare, Share


class Segment(Inputs):
    """A part of demand with habits of its own."""

    name: str = Field(min_length=1, description="what the segment is called")
    share: PositiveShare = Field(description="part of tokens_per_day at the start; all segments together are 1")
    growth_per_year: Growth = Field(1.0, description="factor per year beside the growth of all demand")
    growth_sigma: NotNegative = Field(0.0, description="sd of that yearly log growth, one draw per replication")
    prompt_share: Share = Field(0.8, description="prompt tokens / user tokens")
    cached_share: Share = Field(0.0, description="prompt tokens read from the prompt cache / prompt tokens")
    quality_tier: Annotated[float, Field(ge=1, le=MAX_GAIN)] = Field(
        1.0,
        description="equivalent FLOP its answers need / the release's target: above 1 is reached by sampling "
        "tier^1.45 answers for each one given",
    )


@dataclass(frozen=True, slots=True)
class Mix:
    """What a user token asks of a server, on average: one number, or one for each day."""

    prompt_share: Numbers
    """Prompt tokens / user tokens."""
    cached_share: Numbers
    """Prompt tokens read from the cache / prompt tokens."""
    completions: Numbers
    """Completion tokens written / user tokens, all samples of the quality tiers counted."""

    def on(self, days: IntArray) -> Mix:
        """The mix of some of its days, by index."""
        return Mix(*(np.asarray(part)[days] for part in (self.prompt_share, self.cached_share, self.completions)))


@dataclass(frozen=True, slots=True)
class SegmentOutlook:
    """Demand of each segment / all demand at the start, before anything is drawn [segment, day]."""

    expected: FloatArray
    centre: FloatArray
    """In a world of average luck."""
    log_sd: FloatArray

    @property
    def log_variance(self) -> FloatArray:
        """Variance of the log of all segments together, to first order in their own variances [day]."""
        weight = self.expected / self.expected.sum(axis=0)
        total: FloatArray = ((weight * self.log_sd) ** 2).sum(axis=0)
        return total

    def draw(self, dice: Dice) -> FloatArray:
        """The same in one world [segment, day]."""
        levels = self.centre.copy()
        for row in np.flatnonzero(self.log_sd.any(axis=1)):
            levels[row] *= np.exp(self.log_sd[row] * dice.stream("demand.segment_growth", int(row)).standard_normal())
        return levels


def declared_levels(segments: tuple[Segment, ...], years: FloatArray) -> FloatArray:
    """Demand of each segment / all demand at the start, so many years after it, without uncertainty [segment, day]."""
    share = np.array([segment.share for segment in segments])[:, None]
    log_growth = np.log([segment.growth_per_year for segment in segments])[:, None]
    levels: FloatArray = share * np.exp(log_growth * years)
    return levels


def segment_outlook(
    segments: tuple[Segment, ...], years: FloatArray, unsure_years: FloatArray, mean_share: float
) -> SegmentOutlook | None:
    """The declared growth of segments, None without any.

    `mean_share` is 1 if noise leaves their mean unchanged, 0 if their median.
    """
    if not segments:
        return None
    declared = declared_levels(segments, years)
    log_sd = np.array([segment.growth_sigma for segment in segments])[:, None] * unsure_years
    half = log_sd**2 / 2.0
    return SegmentOutlook(declared * np.exp((1.0 - mean_share) * half), declared * np.exp(-mean_share * half), log_sd)


def mix_of(segments: tuple[Segment, ...], levels: FloatArray) -> Mix:
    """The mix of segments at these levels [segment] or [segment, day]."""
    weight = levels / levels.sum(axis=0)
    prompt = np.array([segment.prompt_share for segment in segments])
    cached = prompt * [segment.cached_share for segment in segments]
    written = (1.0 - prompt) * [float(samples_for_gain(segment.quality_tier)) for segment in segments]
    prompts, from_cache, completions = prompt @ weight, cached @ weight, written @ weight
    with np.errstate(invalid="ignore"):
        return Mix(prompts, np.where(prompts > 0.0, from_cache / prompts, 0.0)[()], completions)
