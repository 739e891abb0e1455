"""What procurement may ask for, and what was asked: every commitment the lab makes, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from simulator.laws.units import HOURS_PER_DAY


class Tenure(Enum):
    """How a GPU is held."""

    OWNED = "owned"
    RESERVED = "reserved"
    ON_DEMAND = "on_demand"
    SPOT = "spot"


@dataclass(frozen=True, slots=True)
class Buy:
    """Buy GPUs; they arrive after the market's lead time and are sold at the end of their useful life."""

    accelerator: int
    gpus: int
    reason: str


@dataclass(frozen=True, slots=True)
class Reserve:
    """Lease GPUs for a term the market offers, at today's price less its discount; paid used or not."""

    accelerator: int
    gpus: int
    term_days: int
    reason: str
    first_day: int | None = None
    """When the term begins, at today's price whenever that is; today if None."""


@dataclass(frozen=True, slots=True)
class CapRental:
    """Rent at most so many GPUs by the hour for serving, until the next cap; beyond it tokens go unserved."""

    gpus: float


@dataclass(frozen=True, slots=True)
class Sell:
    """Sell owned GPUs today at today's bid, the oldest first; those that came today are not for sale yet."""

    accelerator: int
    gpus: int
    reason: str


Order = Buy | Reserve | CapRental | Sell


@dataclass(frozen=True, slots=True)
class OrderRecord:
    """One commitment as it was made: a row of orders.csv; a sale brings money in, so its USD are negative."""

    day: int
    accelerator: str
    tenure: Tenure
    asked_gpus: int
    gpus: int
    """What was ordered in the end; the reason says why it is less than asked."""
    first_day: int
    last_day: int
    usd: float
    reason: str
    seen: str
    owned_kw: float
    """Power at the meter that owned GPUs will need at most from this day on, as far as is agreed."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """Owned GPUs delivered together: a tranche the books can value."""

    accelerator: int
    gpus: int
    paid_usd_per_gpu: float
    first_day: int
    """Of service; before day 0 for GPUs the lab brings with it."""
    end_day: int
    """The morning they are sold; never, if past the horizon."""
    ordered_day: int | None = None
    """None for GPUs the lab brings with it: they are paid."""
    agreed_day: int = 0
    """Of arrival, as agreed when they were ordered: what is due after it is due by it, early or late."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Reserved GPUs of one order, at one price."""

    accelerator: int
    gpus: int
    usd_per_gpu_hour: float
    discount: float
    first_day: int
    """Before day 0 for a lease the lab brings with it."""
    end_day: int
    upfront_share: float = 0.0
    """Part of it that is paid on the first day."""

    @property
    def usd_per_day(self) -> float:
        """What the lease costs a day, whenever it is paid [USD]."""
        return self.gpus * self.usd_per_gpu_hour * HOURS_PER_DAY
