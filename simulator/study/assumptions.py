"""Every key of a study as it was resolved: value, unit, what it is, and who says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from enum import Enum

from pydantic import BaseModel

from simulator.lab.policy import Policy
from simulator.study.restated import parts_said
from simulator.study.runs import Runs

Value = float | str | date
"""What a cell can hold; lists are told as text."""

_USUAL = "labspend's usual value"
_NONE = "none"
_UNIT = re.compile(r"(?<!\[)\[([^\[\]]+)\](?!\])")
"""Two brackets are a table of the scenario, not a unit."""
_WORDS = {
    "usd": "USD",
    "gpu": "GPU",
    "gpus": "GPUs",
    "kw": "kW",
    "mw": "MW",
    "kwh": "kWh",
    "flop": "FLOP",
    "oom": "OOM",
}
_COUNTED = {*_WORDS, "tokens", "days", "hours", "minutes", "years"}
_MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class Assumption:
    """One key, as `labspend compare` used it."""

    key: str
    """Where it stands in the scenario; entries of lists by their number from 0, policies by their name."""
    value: Value
    unit: str
    """Empty for texts, dates, shares and factors."""
    description: str
    source: str
    """As declared beside it; or that it is the usual value; empty where nobody said."""


def assumptions(runs: Runs) -> Iterator[Assumption]:
    """Every key that is set, in the order of the scenario; then the rule of equal service, and the policies."""
    yield from _table("", runs.scenario)
    yield Assumption("study.seed", float(runs.seed), "", "picks the worlds", "")
    yield Assumption("study.replications", float(runs.replications), "worlds", "every policy lives in each", "")
    for name, tolerance in asdict(runs.equal_service).items():
        yield Assumption(f"study.{name}", tolerance, _unit_of(name, ""), "rule of equal service", "")
    for policy in runs.policies:
        yield from _policy(policy)


def _policy(policy: Policy) -> Iterator[Assumption]:
    said = parts_said(policy)
    for part in fields(policy):
        found, key = getattr(policy, part.name), f"policy.{policy.name}.{part.name}"
        if isinstance(found, BaseModel):
            yield from _table(key, found)
        elif part.name in said:
            yield Assumption(key, said[part.name], "", "hand-written in Python", "")


def _table(path: str, declared: BaseModel) -> Iterator[Assumption]:
    for name, info in type(declared).model_fields.items():
        value, key = getattr(declared, name), f"{path}.{name}" if path else name
        if isinstance(value, BaseModel):
            yield from _table(key, value)
        elif isinstance(value, tuple) and value and all(isinstance(entry, BaseModel) for entry in value):
            for number, entry in enumerate(value):
                yield from _table(f"{key}.{number}", entry)
        elif value is not None:
            description = info.description or ""
            yield Assumption(key, _told(value), _unit_of(name, description), description, _source(declared, name))


def _source(declared: BaseModel, name: str) -> str:
    """A price's own source, as `hosting_source`; or that it is the usual value; or the source of its whole table."""
    info = type(declared).model_fields[name]
    own = next((found for found in type(declared).model_fields if _is_source_of(found, name)), "")
    if own and getattr(declared, own):
        return str(getattr(declared, own))
    if not info.is_required() and getattr(declared, name) == info.get_default(call_default_factory=True):
        return _USUAL
    return "" if name == "source" else str(getattr(declared, "source", None) or "")


def _is_source_of(field: str, price: str) -> bool:
    return field.endswith("_source") and price.startswith(f"{field.removesuffix('source')}usd")


def _unit_of(name: str, description: str) -> str:
    """The unit said in brackets, or else at the end of the name: `usd_per_gpu_hour` is USD per GPU hour.

    Examples
    --------
    >>> _unit_of("lead_days", "median days"), _unit_of("electricity_usd_per_kwh", ""), _unit_of("growth_per_year", "")
    ('days', 'USD per kWh', 'per year')
    >>> _unit_of("power_kw", "server draw [kW]"), _unit_of("pue", "power at the meter / power at the server")
    ('kW', '')
    """
    said = _UNIT.findall(description)
    if said:
        return str(said[-1])
    counted, per, each = name.partition("_per_")
    last = counted.rpartition("_")[2]
    unit = " ".join(_WORDS.get(word, word) for word in ([last] if last in _COUNTED else []))
    if not per:
        return unit
    return f"{unit} per {' '.join(_WORDS.get(word, word) for word in each.split('_'))}".strip()


def _told(value: object) -> Value:
    """As a number, a date or a text; of a long list how many there are, and the ends."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, str | date):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_text(inner)}" for key, inner in value.items()) or _NONE
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(_text, value))) or _NONE
    if isinstance(value, tuple):
        if len(value) > _MOST_LISTED:
            return f"{len(value):,} values from {_text(value[0])} to {_text(value[-1])}; see scenario.toml"
        return ", ".join(map(_text, value)) or _NONE
    return str(value)


def _text(value: object) -> str:
    told = _told(value)
    return f"{told:.12g}" if isinstance(told, float) else str(told)
