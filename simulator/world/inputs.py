"""The base of everything a user declares: frozen, described, and strict about names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Inputs(BaseModel):
    """A table of a scenario file. Unknown keys are refused, values never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, revalidate_instances="always")


Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole, 0 to 1."""
OpenShare = Annotated[float, Field(ge=0, lt=1)]
PositiveShare = Annotated[float, Field(gt=0, le=1)]
WholeDays = Annotated[int, Field(ge=0)]
