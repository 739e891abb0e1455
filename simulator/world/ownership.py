"""What owning GPUs costs beyond their price, and those the lab brings with it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simulator.laws.units import DAYS_PER_MONTH, HOURS_PER_DAY
from simulator.world.inputs import Inputs, NotNegative, OpenShare, Positive, Share


class OwnedInputs(Inputs):
    """GPUs owned on day 0, entered in the books at their resale bid."""

    accelerator: str
    gpus: Annotated[int, Field(gt=0)]
    age_days: Annotated[int, Field(ge=1)] = Field(1, description="days since delivery [days]")
    paid_usd_per_gpu: Positive = Field(description="price of the GPU alone when bought [USD]")


class OwnershipInputs(Inputs):
    """What owning a GPU costs beyond its price."""

    server_overhead: Annotated[float, Field(ge=1)] = Field(1.64, description="server price / GPU price (Cottier)")
    interconnect_share: OpenShare = Field(0.19, description="part of a cluster's price that is network (Cottier)")
    useful_life_years: Annotated[float, Field(ge=0.0028)] = Field(
        5.0, description="years until a GPU is retired and sold"
    )
    average_draw: Share = Field(0.75, description="average draw / rated draw (Cottier)")
    pue: Annotated[float, Field(ge=1)] = Field(1.25, description="power at the meter / power at the server")
    hosting_usd_per_kw_month: NotNegative = Field(184.06, description="colocation per rated kW, US 2024")
    hosting_source: str = Field("", description="where the price of hosting was read")
    maintenance_per_year: Share = Field(0.0, description="part of the all-in price a year; H100's 1.575/h has none")
    value_fall_oom_per_year: NotNegative = Field(0.14, description="orders of magnitude a used GPU loses a year")
    resale_spread: OpenShare = Field(0.1, description="what selling or subletting costs, part of market value")

    @property
    def all_in_factor(self) -> float:
        """Price of a GPU in a cluster / price of the GPU alone."""
        return self.server_overhead / (1.0 - self.interconnect_share)

    @property
    def kwh_per_rated_kw_day(self) -> float:
        """Energy at the meter of a GPU that runs all day [kWh]."""
        return self.average_draw * self.pue * HOURS_PER_DAY

    @property
    def hosting_usd_per_kw_day(self) -> float:
        """Hosting of a rated kW [USD]."""
        return self.hosting_usd_per_kw_month / DAYS_PER_MONTH
