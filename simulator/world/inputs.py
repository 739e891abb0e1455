"""The base of everything a user declares: frozen, described, and strict about names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Inputs(BaseModel):
    """A table of a scenario file. Unknown keys are refused, values never change."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, revalidate_instances="always")


Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Usd = Annotated[float, Field(ge=0, le=1e15)]
"""An amount of money, up to some ten times what the world produces in a year [USD]."""
Share = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole, 0 to 1."""
OpenShare = Annotated[float, Field(ge=0, lt=1)]
PositiveShare = Annotated[float, Field(gt=0, le=1)]
WholeDays = Annotated[int, Field(ge=0)]


class Misplaced(ValueError):
    """A value that breaks a rule between tables: where it stands, the rule, the value."""

    def __init__(self, where: str, rule: str, value: str) -> None:
        # The arguments are kept as they came: SimPy and pickle make an exception anew from them.
        super().__init__(where, rule, value)
        self.where, self.rule, self.value = where, rule, value

    def __str__(self) -> str:
        return f"{self.where}: {self.rule} (got {self.value})"


class UnknownName(Misplaced):
    """A name that nothing bears, with the names there are."""

    def __init__(self, where: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(where, f"is not known; there are {', '.join(known)}", repr(name))
        self.args = (where, name, known)
        self.name, self.known = name, known
