"""Tokens that can wait: batches of documents, embeddings, evaluations, sold at a discount for their patience."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.world.inputs import Inputs, Share


class BatchInputs(Inputs):
    """How much of demand can wait, and for how long."""

    share: Share = Field(0.0, description="part of each day's tokens that can wait")
    patience_days: Annotated[int, Field(ge=1, le=36_525)] = Field(
        1,
        description="whole days in blocks of which they are pooled from day 0 on, so that a day may serve what its "
        "block asks for later; where money is limited a block is one day [days]",
    )
