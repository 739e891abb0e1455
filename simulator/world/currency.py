"""The currency that money is shown in; what is simulated and stored stays in US dollars."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field, field_validator, model_validator

from simulator.world.inputs import Inputs, Misplaced


class CurrencyInputs(Inputs):
    """One dated rate, at which every day is shown."""

    code: str = Field(description="three capital letters, as EUR (ISO 4217)")
    per_usd: Annotated[float, Field(ge=1e-6, le=1e9)] = Field(description="what one US dollar buys of it")
    on: date = Field(description="day of the rate")
    source: str = Field(min_length=1, max_length=200, description="who says so")

    @field_validator("code")
    @classmethod
    def _is_a_code(cls, code: str) -> str:
        if not (len(code) == len("EUR") and code.isascii() and code.isalpha() and code.isupper()):
            raise ValueError("must be three capital letters, such as EUR")
        return code

    @model_validator(mode="after")
    def _is_another(self) -> CurrencyInputs:
        if self.code == "USD" and self.per_usd != 1.0:
            raise Misplaced("per_usd", "must be 1 where the currency is the US dollar", f"{self.per_usd:g}")
        return self

    @property
    def said(self) -> str:
        """The rate with its date and source."""
        return f"1 USD = {self.per_usd:g} {self.code} on {self.on}, {self.source}"
