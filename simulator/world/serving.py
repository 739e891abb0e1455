"""How serving is priced: by FLOP alone, or by memory and FLOP in whole replicas."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from simulator.laws.chip import Chip
from simulator.laws.precision import Precision
from simulator.laws.serving_speed import ServingSpeed, by_flop, roofline
from simulator.laws.units import FloatArray, Numbers
from simulator.world.inputs import Inputs, Positive, PositiveShare, Share
from simulator.world.segments import Mix

_ONLY_PROMPTS = 1e-6
"""Completions per user token below which a workload is all prompts."""


class Asked(NamedTuple):
    """What a request asks of a server."""

    context_tokens: float
    """Held in memory, on average [tokens]."""
    mix: Mix


class ServingInputs(Inputs):
    """What both serving laws need to know."""

    target_utilization: PositiveShare = Field(0.7, description="share of capacity planned to be busy at the peak")
    spare_replicas: Annotated[int, Field(ge=0)] = Field(1, description="replicas kept beyond the need")
    cached_prompt_cost: Share = Field(0.1, description="cost of a cached prompt token / an uncached one")

    def prompt_cost(self, cached_share: Numbers) -> Numbers:
        """Mean cost of a prompt token / that of an uncached one."""
        return 1.0 - cached_share * (1.0 - self.cached_prompt_cost)


class ByFlop(ServingInputs):
    """Serving priced by FLOP alone: compute-bound at a given utilisation, GPUs divisible, so no spare."""

    law: Literal["flop"] = "flop"
    utilization: PositiveShare = Field(0.3, description="share of peak FLOP reached while serving")

    def speed(
        self, n_active: FloatArray, n_total: FloatArray, precision: Precision, chip: Chip, asked: Asked
    ) -> ServingSpeed:
        """Tokens per GPU-second of models with so many active and total parameters."""
        return by_flop(n_active, precision, chip, self.utilization)


class Roofline(ServingInputs):
    """Serving priced by memory and FLOP, in whole replicas with a spare."""

    law: Literal["roofline"] = "roofline"
    max_seconds_per_token: Positive = Field(0.05, description="time between output tokens a user accepts [s]")

    def speed(
        self, n_active: FloatArray, n_total: FloatArray, precision: Precision, chip: Chip, asked: Asked
    ) -> ServingSpeed:
        """Tokens per GPU-second of models of these sizes, 0 where they do not fit or are too slow."""
        mix = asked.mix
        prompt = mix.prompt_share * self.prompt_cost(mix.cached_share)
        return roofline(
            n_active,
            n_total,
            precision,
            chip,
            asked.context_tokens,
            self.max_seconds_per_token,
            prompt / max(mix.completions, _ONLY_PROMPTS),
        )
