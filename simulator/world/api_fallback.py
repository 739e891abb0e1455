"""Tokens bought from another provider when the lab's own GPUs, held or rented, do not suffice."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.laws.units import DAYS_PER_YEAR, TOKENS_PER_MILLION_TOKENS, FloatArray, IntArray, Numbers
from simulator.world.inputs import Inputs, NotNegative


class ApiFallback(Inputs):
    """What another provider asks for tokens; its model has a quality of its own, so no samples are multiplied."""

    usd_per_million_prompt_tokens: NotNegative = Field(description="list price of prompts [USD/million tokens]")
    usd_per_million_completion_tokens: NotNegative = Field(description="list price of completions [USD/million tokens]")
    fall_per_year: Annotated[float, Field(lt=1)] = Field(
        0.0, description="fall of both a year from the start; negative is a rise"
    )
    most_tokens_per_day: NotNegative | None = Field(
        None, description="most that can be bought in a day [tokens a day]; default: no limit"
    )
    source: str = Field("", description="where the prices were read, and when")

    def usd_per_token(self, prompt_share: Numbers, days: IntArray) -> FloatArray:
        """Price of a user token of this mix, on days since the start [USD/token]."""
        prompt, completion = self.usd_per_million_prompt_tokens, self.usd_per_million_completion_tokens
        mixed = prompt_share * prompt + (1.0 - prompt_share) * completion
        price: FloatArray = mixed / TOKENS_PER_MILLION_TOKENS * (1.0 - self.fall_per_year) ** (days / DAYS_PER_YEAR)
        return price
