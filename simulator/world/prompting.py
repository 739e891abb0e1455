"""Better prompts: instructions and examples put before what users write, instead of a better model."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.laws.units import Numbers
from simulator.world.inputs import Inputs, Share, Usd
from simulator.world.segments import Mix


class PromptingInputs(Inputs):
    """What prompt engineering gains and costs. An assumption: no source measures both."""

    gain: Annotated[float, Field(ge=1, le=1e3)] = Field(description="equivalent FLOP gained, as a factor")
    prompt_factor: Annotated[float, Field(ge=1, le=1e3)] = Field(
        description="prompt tokens the model reads / those users write"
    )
    cached_share: Share = Field(0.0, description="part of the added prompt tokens that is read from the prompt cache")
    usd_per_release: Usd = Field(
        0.0, description="writing and testing prompts, paid when the model goes into service [USD]"
    )

    def longer(self, mix: Mix) -> Mix:
        """What a user token asks of a server with the longer prompts."""
        added = (self.prompt_factor - 1.0) * self.cached_share
        return Mix(
            mix.prompt_share * self.prompt_factor, (mix.cached_share + added) / self.prompt_factor, mix.completions
        )

    def context_factor(self, prompt_share: Numbers) -> Numbers:
        """Tokens a request holds in memory / those without the additions."""
        return 1.0 + (self.prompt_factor - 1.0) * prompt_share
