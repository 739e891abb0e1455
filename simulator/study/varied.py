"""A scenario with one declared value changed: what a study varies, by the name the value has in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from simulator.study.complaints import dotted, problems, said, value_at
from simulator.study.toml_lines import KeyPath
from simulator.world.growth import Bass
from simulator.world.scenario import Misplaced, Scenario

_CLOSE = 0.6
_MOST_LETTERS = 100
Value = float | str | bool | date
"""What a field of a scenario may be set to."""
GROWTH = "growth"
"""Names no value but a factor on demand's yearly growth in all regimes, which no one value holds."""
_ROW = re.compile(r"[0-9]{1,6}")


def varied(scenario: Scenario, field: str, value: Value) -> Scenario:
    """The same scenario but for one value, checked anew.

    Parameters
    ----------
    scenario
        What to start from; it is left as it is.
    field
        The value's name with dots, as in --set: "market.rental_fall_per_year", or "market.quote.0.purchase_usd_per_gpu"
        for the first of a list; or "growth", a factor on demand's declared growth in all its regimes.
    value
        In the unit of the field.

    Raises
    ------
    Misplaced
        With the nearest name if there is no such field, or with the rule that the value breaks.

    Examples
    --------
    >>> from simulator import load_scenario
    >>> scenario = varied(load_scenario("known_demand"), "demand.growth_per_year", 2.0)
    >>> scenario.demand.growth_per_year
    2.0
    """
    return varied_in(scenario, ((field, value),))


def varied_in(scenario: Scenario, changes: Sequence[tuple[str, Value]]) -> Scenario:
    """The same scenario with several values changed at once, checked when all are; see `varied`."""
    factors = [value for field, value in changes if field == GROWTH]
    for factor in factors:
        if isinstance(factor, str | bool | date):
            raise Misplaced(GROWTH, "must be a number: so many times the declared growth", said(factor))
        scenario = with_growth(scenario, factor)
    changes = [change for change in changes if change[0] != GROWTH]
    if factors and not changes:
        return scenario
    tables = json.loads(scenario.model_dump_json())
    known = set(_values(tables, ()))
    for field, value in changes:
        key = _key(field)
        if key not in known:
            raise _unknown(tables, field, key)
        holder: Any = value_at(tables, key[:-1])
        holder[key[-1]] = value.isoformat() if isinstance(value, date) else value
    try:
        # JSON because pydantic is strict about numbers and text there, as it is for a file.
        return Scenario.model_validate_json(json.dumps(tables), strict=True)
    except ValidationError as error:
        (broken, *_) = problems(error, Scenario, tables, ())
        field, value = next((change for change in changes if _key(change[0]) == broken.key), changes[0])
        elsewhere = "" if broken.key == _key(field) else f"{dotted(broken.key)} "
        raise Misplaced(field, f"{elsewhere}{broken.rule}", said(value)) from None
    except OverflowError:
        field, value = changes[0]
        raise Misplaced(field, "must leave growth that can be computed", said(value)) from None


def declared_value(scenario: Scenario, field: str) -> object:
    """The value a field has, as JSON has it: dates as text; None if it is not declared.

    Raises
    ------
    Misplaced
        With the nearest name if there is no such field.
    """
    if field == GROWTH:
        return 1.0
    tables, key = json.loads(scenario.model_dump_json()), _key(field)
    if key not in set(_values(tables, ())):
        raise _unknown(tables, field, key)
    return value_at(tables, key)


def with_growth(scenario: Scenario, factor: float) -> Scenario:
    """The same scenario with demand's yearly growth so many times as large, in all its regimes.

    Of a Bass curve, whose growth is its own, adoption is so many times as fast.
    """
    demand = scenario.demand
    if isinstance(demand.curve, Bass):
        for name in ("innovation_per_year", "imitation_per_year"):
            scenario = varied(scenario, f"demand.curve.{name}", factor * getattr(demand.curve, name))
        return scenario
    scenario = varied(scenario, "demand.growth_per_year", factor * demand.growth_per_year)
    for row, regime in enumerate(demand.regime):
        scenario = varied(scenario, f"demand.regime.{row}.growth_per_year", factor * regime.growth_per_year)
    return scenario


def _key(field: str) -> KeyPath:
    return tuple(int(part) if _ROW.fullmatch(part) else part for part in field.split("."))


def _values(tables: object, under: KeyPath) -> Iterator[KeyPath]:
    """The key of every single value, list by list."""
    match tables:
        case dict():
            inner: Iterable[tuple[str | int, object]] = tables.items()
        case list():
            inner = enumerate(tables)
        case _:
            yield under
            return
    for part, held in inner:
        yield from _values(held, (*under, part))


def _unknown(tables: Mapping[str, Any], field: str, key: KeyPath) -> Misplaced:
    """No such value; with the length of the list it asks too much of, or the nearest there is."""
    for at, part in enumerate(key):
        held = value_at(tables, key[:at])
        if isinstance(part, int) and isinstance(held, list) and part >= len(held):
            return Misplaced(field, f"is not there: {dotted(key[:at])} holds {len(held)}, the first is 0", str(part))
    known = [dotted(found) for found in _values(tables, ())]
    namesakes = [name for name in known if name.rpartition(".")[2] == field.rpartition(".")[2]]
    near = [*get_close_matches(field[:_MOST_LETTERS], known, n=1, cutoff=_CLOSE), *namesakes][:1]
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return Misplaced("scenario", f"has no value of this name{hint}", said(field))
