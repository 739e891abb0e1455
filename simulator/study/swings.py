"""What a tornado swings: the inputs that decide between owning and renting, each to a low and a high value."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.study.varied import varied, with_growth
from simulator.world.scenario import Scenario

GROWTH_FIELD = "demand.growth_per_year"
TIMES, SHARE = "times the declared", "share"
"""Units that are said as a factor, and in percent."""
_GROWTHS = (0.8, 1.25)
_YEARLY_FACTORS = (1.1, 0.9)
_HALF_AND_TWICE = (0.5, 2.0)
_MOST_SPREAD = 0.9


@dataclass(frozen=True, slots=True)
class Swing:
    """One input at two other values."""

    what: str
    field: str
    unit: str
    low: float
    declared: float
    high: float
    """In that unit; of growth as factors on the declared one."""
    at_low: Scenario
    at_high: Scenario


def swings(scenario: Scenario) -> list[Swing]:
    """Growth x 0.8 and 1.25; yearly factors of prices x 1.1 and 0.9; the spread of resale nothing and threefold; all
    else halved and doubled, or nothing and a common value where nothing is declared.
    """
    market, own = scenario.market, scenario.ownership
    low, high = _GROWTHS
    growth = Swing(
        "Growth of demand", GROWTH_FIELD, TIMES, low, 1.0, high, with_growth(scenario, low), with_growth(scenario, high)
    )
    spread = own.resale_spread

    def swing(what: str, field: str, unit: str, declared: float, ends: tuple[float, float]) -> Swing:
        at_low, at_high = (varied(scenario, field, end) for end in ends)
        return Swing(what, field, unit, ends[0], declared, ends[1], at_low, at_high)

    return [
        growth,
        swing(
            "Fall of rents a year",
            "market.rental_fall_per_year",
            SHARE,
            market.rental_fall_per_year,
            _faster(market.rental_fall_per_year),
        ),
        swing(
            "Fall of list prices a year",
            "market.list_fall_per_year",
            SHARE,
            market.list_fall_per_year,
            _faster(market.list_fall_per_year),
        ),
        swing("Lead time", "market.lead_days", "days", market.lead_days, _around(market.lead_days, 90.0)),
        swing(
            "Loss of value",
            "ownership.value_fall_oom_per_year",
            "OOM a year",
            own.value_fall_oom_per_year,
            _around(own.value_fall_oom_per_year, 0.14),
        ),
        swing(
            "Cost of reselling",
            "ownership.resale_spread",
            SHARE,
            spread,
            (0.0, max(spread, min(3.0 * spread or 0.3, _MOST_SPREAD))),
        ),
        swing(
            "Electricity",
            "market.electricity_usd_per_kwh",
            "USD a kWh",
            market.electricity_usd_per_kwh,
            _around(market.electricity_usd_per_kwh, 0.1),
        ),
    ]


def _faster(fall: float) -> tuple[float, float]:
    """A slower and a faster yearly fall."""
    slow, fast = (round(1.0 - factor * (1.0 - fall), 6) for factor in _YEARLY_FACTORS)
    return slow, fast


def _around(value: float, common: float) -> tuple[float, float]:
    """Half and twice; nothing and a common value of that input where it is nothing."""
    less, more = _HALF_AND_TWICE
    return (less * value, more * value) if value else (0.0, common)
