"""What can be moved on the page, from half to twice what a scenario declares, in words and as settings of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from simulator.show.money import percent
from simulator.study.varied import varied_in
from simulator.world.growth import Bass
from simulator.world.scenario import Misplaced, Scenario

_FACTORS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0)
_FROM_NOTHING = (0.0, *_FACTORS)
_FALLS_WHERE_NONE = (-0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
_SPREADS_WHERE_NONE = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Knob:
    """One thing to move: positions, the one that stands for what is declared, and what they mean."""

    name: str
    help: str
    positions: tuple[float, ...]
    """In order."""
    declared: float
    """One of the positions: there nothing is set, and results are the scenario's own."""
    keys: tuple[str, ...]
    values: tuple[float, ...]
    """What is declared, by key: a single key is set to a position, several are multiplied by it."""
    said: Callable[[float], str]
    """A position in words."""

    def settings(self, position: float) -> tuple[str, ...]:
        """What the scenario is to be told, as `--set` takes it; nothing where the knob is untouched."""
        return tuple(f"{key}={value!r}" for key, value in self.changes(position))

    def changes(self, position: float) -> tuple[tuple[str, float], ...]:
        """The same as keys and values."""
        if position == self.declared:
            return ()
        if len(self.keys) == 1:
            return ((self.keys[0], position),)
        return tuple((key, _rounded(value * position)) for key, value in zip(self.keys, self.values, strict=True))


@lru_cache(maxsize=8)
def knobs(scenario: Scenario) -> tuple[Knob, ...]:
    """What this scenario lets one move; positions that break one of its rules are left out."""
    return tuple(found for knob in _offered(scenario) if len((found := _allowed(knob, scenario)).positions) > 1)


def _offered(scenario: Scenario) -> Iterator[Knob]:
    demand, market = scenario.demand, scenario.market
    if isinstance(demand.curve, Bass):
        adoption = {
            f"demand.curve.{key}": getattr(demand.curve, key) for key in ("innovation_per_year", "imitation_per_year")
        }
        yield _scaled("Growth of demand", "How fast the product is adopted, times what is declared.", adoption)
    else:
        growth = {"demand.growth_per_year": demand.growth_per_year}
        growth |= {f"demand.regime.{row}.growth_per_year": at.growth_per_year for row, at in enumerate(demand.regime)}
        about = "Yearly growth factor of demand" + (", times what is declared." if len(growth) > 1 else ".")
        yield _scaled("Growth of demand", about, growth, _a_year)
    spreads = {
        f"demand.{key}": getattr(demand, key)
        for key in ("level_sigma", "growth_sigma", "walk_sigma", "growth_walk_sigma", "noise_sigma")
    }
    spreads |= {f"demand.regime.{row}.growth_sigma": at.growth_sigma for row, at in enumerate(demand.regime)}
    uncertain = {key: value for key, value in spreads.items() if value > 0.0}
    if uncertain:
        about = "How unsure demand is, times what is declared; 0 is sure."
        yield _scaled("Volatility of demand", about, uncertain, factors=_FROM_NOTHING)
    else:
        about = "Spread (sd of the log) of a factor on all demand, which is drawn once in each world."
        yield _one("Volatility of demand", about, "demand.level_sigma", 0.0, _SPREADS_WHERE_NONE, _spread)
    yield _fall("Fall of rents", "market.rental_fall_per_year", market.rental_fall_per_year)
    if any(quote.purchase_usd_per_gpu is not None for quote in market.quote):
        yield _fall("Fall of purchase prices", "market.list_fall_per_year", market.list_fall_per_year)
        if market.lead_days > 0.0:
            lead = {"market.lead_days": market.lead_days}
            yield _scaled("Lead time", "Days from an order to GPUs in service, median.", lead, _days)


def _scaled(
    name: str,
    about: str,
    keys: dict[str, float],
    said: Callable[[float], str] | None = None,
    factors: Sequence[float] = _FACTORS,
) -> Knob:
    """Several keys times a common factor; a single one as its own value, said in its unit if it has one."""
    if len(keys) == 1:
        ((key, value),) = keys.items()
        return _one(name, about, key, value, [value * factor for factor in factors], said or _times_of(value))
    listed = ", ".join(f"{key} {value:g}" for key, value in keys.items())
    told = f"{about} Moves together: {listed}."
    return Knob(name, told, tuple(factors), 1.0, tuple(keys), tuple(keys.values()), _times)


def _fall(name: str, key: str, declared: float) -> Knob:
    positions = tuple(sorted(declared * factor for factor in _FACTORS)) if declared else _FALLS_WHERE_NONE
    return _one(name, "Fall a year; below zero it is a rise.", key, declared, positions, _fall_said)


def _one(
    name: str, about: str, key: str, value: float, positions: Sequence[float], said: Callable[[float], str]
) -> Knob:
    """A knob that sets one key; where it stands now is exactly what is declared."""
    around = {_rounded(at) for at in positions} - {_rounded(value)} | {value}
    return Knob(name, f"{about} Key: {key}.", tuple(sorted(around)), value, (key,), (value,), said)


def _allowed(knob: Knob, scenario: Scenario) -> Knob:
    """The same knob without the positions that the scenario refuses."""
    kept = tuple(at for at in knob.positions if at == knob.declared or _is_allowed(scenario, knob.changes(at)))
    return replace(knob, positions=kept)


def _is_allowed(scenario: Scenario, changes: Sequence[tuple[str, float]]) -> bool:
    try:
        varied_in(scenario, changes)
    except Misplaced:
        return False
    return True


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _times_of(declared: float) -> Callable[[float], str]:
    return lambda value: _times(value / declared)


def _times(factor: float) -> str:
    return f"x {factor:.3g}"


def _a_year(growth: float) -> str:
    return f"x {growth:.4g} a year"


def _days(days: float) -> str:
    return f"{days:.4g} days"


def _spread(sigma: float) -> str:
    return f"{sigma:.2g}"


def _fall_said(share: float) -> str:
    return f"{percent(share, 1)} a year"
