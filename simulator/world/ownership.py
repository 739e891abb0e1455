"""What owning GPUs costs beyond their price, and those the lab brings with it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from simulator.laws.units import DAYS_PER_MONTH, DAYS_PER_YEAR, HOURS_PER_DAY
from simulator.world.inputs import Inputs, Misplaced, NotNegative, OpenShare, Positive, PositiveShare, Share, WholeDays


class OwnedInputs(Inputs):
    """GPUs owned on day 0, entered in the books at their resale bid."""

    accelerator: str
    gpus: Annotated[int, Field(gt=0)]
    age_days: Annotated[int, Field(ge=1)] = Field(1, description="days since delivery [days]")
    paid_usd_per_gpu: Positive = Field(description="price of the GPU alone when bought [USD]")


class LeasedInputs(Inputs):
    """GPUs reserved before day 0, paid for until their term ends, used or not."""

    accelerator: str = Field(description="name of a quoted kind")
    gpus: Annotated[int, Field(gt=0)] = Field(description="GPUs [GPUs]")
    usd_per_gpu_hour: Positive = Field(description="what is still to be paid [USD/GPU-hour]")
    days_left: Annotated[int, Field(gt=0)] = Field(description="days from the start to the end of the term [days]")


class LoanInputs(Inputs):
    """Money borrowed to buy GPUs, repaid in equal monthly instalments, and at once when the GPUs are sold."""

    share: PositiveShare = Field(description="part of the all-in price that is borrowed, from the day it is due")
    rate_per_year: NotNegative = Field(description="interest a year, a twelfth of it every month: 0.11 is 11 %")
    years: Annotated[float, Field(ge=1 / 12, le=30)] = Field(3.0, description="until it is repaid [years]")


class OwnershipInputs(Inputs):
    """What owning a GPU costs beyond its price, when it is paid, and how much of the time it works."""

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
    deposit_share: Share = Field(0.0, description="part of the all-in price paid with the order; the rest is due later")
    payment_days: WholeDays = Field(0, description="days from arrival until the rest is due [days]")
    installation_days: WholeDays = Field(0, description="days from arrival to service [days]")
    idle_draw: Share | None = Field(
        None, description="draw of an idle GPU / rated draw; default: an idle one draws as much as a busy one"
    )
    failures_per_gpu_year: NotNegative = Field(
        0.0, description="times a year that an owned GPU breaks and is taken out (Llama 3 405B: 0.061 faulty GPUs)"
    )
    repair_days: NotNegative = Field(14.0, description="days until a broken GPU is back; spares are bought for them")
    repair_share: NotNegative = Field(0.0, description="cost of a repair / price of the GPU alone; 0 under warranty")
    loan: LoanInputs | None = Field(None, description="part of the price that is borrowed; default: none")

    @model_validator(mode="after")
    def _no_more_is_borrowed_than_is_due(self) -> OwnershipInputs:
        if self.loan is not None and self.loan.share > 1.0 - self.deposit_share:
            rule = f"must leave the deposit of {self.deposit_share:g} to be paid from what the lab has"
            raise Misplaced("loan.share", rule, f"{self.loan.share:g}")
        if self.working_share <= 0.0:
            raise Misplaced("repair_days", "must leave some GPUs working", f"{self.repair_days:g}")
        return self

    @property
    def all_in_factor(self) -> float:
        """Price of a GPU in a cluster / price of the GPU alone."""
        return self.server_overhead / (1.0 - self.interconnect_share)

    @property
    def useful_life_days(self) -> int:
        """How long GPUs serve before they are sold [days]."""
        return round(self.useful_life_years * DAYS_PER_YEAR)

    @property
    def kwh_per_rated_kw_day(self) -> float:
        """Energy at the meter of a GPU that runs all day [kWh]."""
        return self.average_draw * self.pue * HOURS_PER_DAY

    @property
    def hosting_usd_per_kw_day(self) -> float:
        """Hosting of a rated kW [USD]."""
        return self.hosting_usd_per_kw_month / DAYS_PER_MONTH

    @property
    def working_share(self) -> float:
        """Part of the owned GPUs that is not out for repair; spares make up for the others."""
        return 1.0 - self.failures_per_gpu_year * self.repair_days / DAYS_PER_YEAR

    @property
    def upkeep_per_year(self) -> float:
        """Maintenance and repairs of a year / price of the GPU alone when bought."""
        return self.all_in_factor * self.maintenance_per_year + self.failures_per_gpu_year * self.repair_share

    def upkeep_usd_per_day(self, paid_usd_per_gpu: float) -> float:
        """Maintenance and repairs of one GPU [USD]."""
        return paid_usd_per_gpu * self.upkeep_per_year / DAYS_PER_YEAR

    @property
    def idle_saving_kwh_per_rated_kw_hour(self) -> float:
        """Energy at the meter that an idle hour saves against a busy one [kWh]."""
        return 0.0 if self.idle_draw is None else (self.average_draw - self.idle_draw) * self.pue

    def running_usd_per_rated_kw_day(self, electricity_usd_per_kwh: float) -> float:
        """Power and hosting of a rated kW that runs all day [USD]."""
        return self.kwh_per_rated_kw_day * electricity_usd_per_kwh + self.hosting_usd_per_kw_day
