"""What options such as --vary and --slide say: a field of the scenario, and the values it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator.cli.said import BadInput

if TYPE_CHECKING:
    from simulator.study.designs import Listed, Ranged
    from simulator.study.varied import Value
    from simulator.world.scenario import Scenario

_MOST_VALUES = 200


def axes_of(scenario: Scenario, option: str, said: Sequence[str], design: str) -> list[Listed | Ranged]:
    """Different fields, each with its values or its range."""
    axes = [_axis(scenario, option, one, design) for one in said]
    _check_keys(option, [axis.field for axis in axes])
    return axes


def _check_keys(option: str, keys: list[str]) -> None:
    for number, key in enumerate(keys):
        if key in keys[:number]:
            raise BadInput(f"{option} {key}: is named twice")


def _axis(scenario: Scenario, option: str, said: str, design: str) -> Listed | Ranged:
    """A field and what it takes, from KEY=1,2,4 or KEY=a:b or KEY=a:b:n."""
    from simulator.study.designs import Listed, Ranged
    from simulator.study.sweep import value_of
    from simulator.study.varied import declared_value

    key, equals, text = said.partition("=")
    key = key.strip()
    if not equals or not text.strip():
        raise BadInput(f"{option} {said[:80]}: must be written KEY=VALUES, for example demand.growth_per_year=1,2,4")
    held = declared_value(scenario, key)
    if isinstance(held, str) or ":" not in text:
        values = tuple(value_of(scenario, key, part) for part in text.split(","))
        if design != "grid":
            raise BadInput(f"{option} {key}: needs a range a:b for --design {design} (got {text[:40]!r})")
        return Listed(key, _different(option, key, values))
    ends = _numbers(option, key, text)
    whole = isinstance(held, int) and not isinstance(held, bool)
    span = Ranged(key, ends[0], ends[1], whole)
    if design != "grid":
        if len(ends) == 3:
            raise BadInput(
                f"{option} {key}: needs a range a:b for --design {design}, without steps (got {text[:40]!r})"
            )
        return span
    if len(ends) == 2:
        raise BadInput(f"{option} {key}: a grid needs a list, or a range with its number of values as {text[:30]}:5")
    steps = int(ends[2])
    return Listed(key, _different(option, key, tuple(span.at(step / (steps - 1)) for step in range(steps))))


def _numbers(option: str, key: str, text: str) -> list[float]:
    """Two or three numbers with colons between them: a lower end, a higher end, and how many values."""
    try:
        ends = [float(part) for part in text.split(":")]
    except ValueError:
        ends = []
    if len(ends) not in (2, 3) or not all(map(math.isfinite, ends)):
        raise BadInput(f"{option} {key}: must be a range a:b, or a:b:n for n values, in numbers (got {text[:40]!r})")
    if not ends[0] < ends[1]:
        raise BadInput(f"{option} {key}: must go from a lower to a higher value (got {text[:40]!r})")
    if len(ends) == 3 and not (ends[2] == int(ends[2]) and 2 <= ends[2] <= _MOST_VALUES):
        raise BadInput(f"{option} {key}: a range has 2 to {_MOST_VALUES} values, a whole number (got {ends[2]:g})")
    return ends


def _different(option: str, key: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(set(values)) != len(values):
        raise BadInput(f"{option} {key}: values must differ from each other (got {', '.join(map(str, values))[:60]})")
    if len(values) > _MOST_VALUES:
        raise BadInput(f"{option} {key}: must be at most {_MOST_VALUES} values (got {len(values)})")
    return values
