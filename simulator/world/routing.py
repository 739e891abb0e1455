"""Easy questions to a small model, the others to a large one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.world.inputs import Inputs, OpenShare, PositiveShare
from simulator.world.models import PARAMETERS


class RoutingInputs(Inputs):
    """How much of the traffic is easy, how good its answers must be, and what telling it apart takes."""

    easy_share: OpenShare = Field(description="part of user tokens that is easy")
    easy_quality: PositiveShare = Field(
        description="equivalent FLOP that easy traffic needs of its model / the release's target"
    )
    misrouted_share: OpenShare = Field(
        0.0,
        description="part that the router takes for the other kind: easy tokens that the large model answers, and hard "
        "ones that the small model answers first, in vain",
    )
    router_parameters: Annotated[float, Field(ge=PARAMETERS[0], le=PARAMETERS[1])] | None = Field(
        None, description="weights of a router that reads every prompt once; default: routing costs nothing"
    )

    @property
    def small_share(self) -> float:
        """User tokens the small model answers, those in vain counted / all."""
        return self.easy_share + self.misrouted_share * (1.0 - 2.0 * self.easy_share)

    @property
    def large_share(self) -> float:
        """User tokens the large model answers / all."""
        return 1.0 - self.easy_share * (1.0 - self.misrouted_share)
