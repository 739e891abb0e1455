"""What a lab cannot go beyond, whatever its policy: a budget, the cash it has, the power in its building."""

from __future__ import annotations

from pydantic import Field

from simulator.world.inputs import Inputs, NotNegative, Positive


class LimitsInputs(Inputs):
    """Limits on what is ordered and rented. Orders beyond them are cut, and the cut is told with the order.

    What was agreed on comes first: payments due, running costs, training under way and research; then serving today's
    users on rented GPUs. New orders have what that leaves, and the rent that they save. What cannot be rented goes
    unserved.
    """

    budget_usd_per_year: Positive | None = Field(
        None, description="most money for a year of 365 days from the start [USD]; default: no limit"
    )
    cash_usd: NotNegative | None = Field(
        None, description="cash on hand at the start, from which all is paid [USD]; default: no limit"
    )
    income_usd_per_day: NotNegative = Field(0.0, description="cash that comes in, where cash_usd is said [USD a day]")
    power_kw: Positive | None = Field(
        None, description="power for owned GPUs, server draw as rated x PUE [kW]; default: no limit"
    )

    @property
    def bound_money(self) -> bool:
        """Whether spending is limited at all."""
        return self.budget_usd_per_year is not None or self.cash_usd is not None
