"""What one kind of GPU costs, and how many of it there are to be had."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from simulator.world.inputs import Inputs, NotNegative, Positive


class Quote(Inputs):
    """What one kind of GPU costs on the day it is quoted, at the price really paid, and how many there are."""

    accelerator: str = Field(description="name in the catalogue or of an [[accelerator]] table")
    available: date | None = Field(None, description="first day it can be had; default: the start")
    on_demand_usd_per_gpu_hour: Positive = Field(description="rent by the hour [USD/GPU-hour]")
    spot_usd_per_gpu_hour: Positive | None = Field(None, description="interruptible rent; default: none offered")
    purchase_usd_per_gpu: Positive | None = Field(None, description="price of the GPU alone; default: not for sale")
    on_demand_limit_gpus: NotNegative | None = Field(
        None, description="most GPUs one customer can rent by the hour for serving [GPUs]; default: no limit"
    )
    on_demand_minimum_hours: Annotated[int, Field(ge=1, le=24)] = Field(
        1, description="hours paid at least each time a GPU is rented for serving for part of a day [hours]"
    )
    on_demand_start_hours: Annotated[int, Field(ge=0, le=23)] = Field(
        0, description="hours paid each such time before it serves, while it starts and loads weights [hours]"
    )
    purchase_limit_gpus_per_quarter: NotNegative | None = Field(
        None, description="most GPUs that can be ordered in a quarter of 91 days [GPUs]; default: no limit"
    )
    limit_growth_per_year: Annotated[float, Field(gt=0, le=100)] = Field(
        1.0, description="factor a year on both limits, from the first day it can be had"
    )
    link_gb_per_second: Annotated[float, Field(ge=1e-3, le=1e9)] | None = Field(
        None, description="network of one GPU, which bounds the MFU of training; default: never the limit [GB/s]"
    )
    source: str = Field(description="where the prices were read, and when")

    @property
    def pays_for_waiting(self) -> bool:
        """Whether more hours are paid than serve when a GPU is rented for part of a day."""
        return self.on_demand_minimum_hours > 1 or self.on_demand_start_hours > 0
