"""What is wrong with a scenario file, said so that its author can mend it: where, which key, which rule, what value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from simulator.study.toml_lines import KeyPath
from simulator.world.scenario import Misplaced, UnknownName

_LONGEST_VALUE = 60
_RULES = {
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "date_type": "must be a date, written like 2026-06-01",
    "date_from_datetime_parsing": "must be a date, written like 2026-06-01",
    "date_from_datetime_inexact": "must be a date without a time, written like 2026-06-01",
    "date_parsing": "must be a date, written like 2026-06-01",
    "float_type": "must be a number, written without quotes",
    "int_type": "must be a whole number, written without quotes or a decimal point",
    "int_from_float": "must be a whole number",
    "string_type": 'must be text, written "in quotes"',
    "bool_type": "must be true or false",
    "finite_number": "must be a finite number",
}


class ScenarioError(Exception):
    """A scenario cannot be used; the message names every mistake, one a line."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: the key, the rule it breaks, the value given, the nearest right one, and what else would do."""

    key: KeyPath
    rule: str
    value: str | None = None
    nearest: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        got = "" if self.value is None else f" (got {self.value})"
        mean = "" if self.nearest is None else f"; did you mean {self.nearest!r}?"
        hint = "" if self.hint is None else f"; {self.hint}"
        return f"{dotted(self.key)}{': ' if self.key else ''}{self.rule}{got}{mean}{hint}"


def dotted(key: KeyPath) -> str:
    """A key as one writes it in TOML and in --set."""
    return ".".join(k if re.fullmatch(r"[\w-]+", k := str(part)) else f'"{part}"' for part in key)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, if any is."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[found[0]] if found else None


def said(value: object) -> str:
    """A value as its author wrote it, shortened."""
    match value:
        case bool():
            text = str(value).lower()
        case str():
            text = repr(value)
        case date() | time():
            text = value.isoformat()
        case Mapping():
            text = "a table"
        case list() | tuple():
            text = "a list of tables" if value and isinstance(value[0], Mapping) else f"[{', '.join(map(said, value))}]"
        case float():
            text = f"{value:g}" if float(f"{value:g}") == value else repr(value)
        case _:
            text = str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def value_at(tables: object, key: KeyPath) -> object:
    """What stands at a key; None where nothing does."""
    for part in key:
        tables = _entry(tables, part)
    return tables


def _entry(holder: object, part: str | int) -> object:
    if isinstance(holder, Mapping):
        return holder.get(part)
    if isinstance(holder, list | tuple) and isinstance(part, int) and part < len(holder):
        return holder[part]
    return None


def problems(
    error: ValidationError, model: type[BaseModel], tables: Mapping[str, Any], under: KeyPath, also: Iterable[str] = ()
) -> list[Problem]:
    """Every mistake pydantic found in `tables`, which stand at `under`; `also` are keys allowed beside the model's."""
    found: dict[KeyPath, Problem] = {}
    details = error.errors(include_url=False)
    for detail in details:
        place = detail["loc"]
        if detail["type"] == "too_short" and any(
            other["loc"][: len(place)] == place for other in details if other["loc"] != place
        ):
            continue  # pydantic counts the entries that are right
        problem = _problem(detail, model, tables, under, tuple(also))
        earlier = found.setdefault(problem.key, problem)
        if earlier.rule != problem.rule:  # one value, several kinds it may be of
            rule = f"{earlier.rule}, or {problem.rule}"
            found[problem.key] = Problem(problem.key, rule, problem.value, earlier.nearest or problem.nearest)
    return list(found.values())


def _problem(
    detail: ErrorDetails, model: type[BaseModel], tables: Mapping[str, Any], under: KeyPath, also: tuple[str, ...]
) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    key = _in_file(detail["loc"], tables, keep_last=kind == "missing")
    cause = context.get("error")
    if isinstance(cause, Misplaced):
        return misplaced(cause, (*under, *key), tables)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key = (*key, str(context["discriminator"]).strip("'"))
    value = value_at(tables, key)
    shown = None if value is None or isinstance(value, Mapping) or kind == "missing" else said(value)
    rule, suggestion = _rule(detail, key, model), None
    if kind == "extra_forbidden":
        suggestion = _nearest_key(key, detail["loc"], model, also)
    elif isinstance(value, str):
        expected = str(context.get("expected", context.get("expected_tags", "")))
        suggestion = nearest(value, re.findall(r"'([^']*)'", expected))
    return Problem((*under, *key), rule, shown, suggestion)


def misplaced(cause: Misplaced, key: KeyPath, tables: Mapping[str, Any]) -> Problem:
    """A value that breaks a rule between tables."""
    where: KeyPath = tuple(int(part) if part.isdigit() else part for part in cause.where.split("."))
    shown = said(value) if isinstance(value := value_at(tables, where), str) else cause.value
    suggestion = nearest(cause.name, cause.known) if isinstance(cause, UnknownName) else None
    return Problem((*key, *where), cause.rule, shown, suggestion)


def _rule(detail: ErrorDetails, key: KeyPath, model: type[BaseModel]) -> str:
    """The rule in words: pydantic's own sentence where it is plain enough."""
    kind, context = detail["type"], detail.get("ctx", {})
    match kind:
        case "extra_forbidden":
            kind_of_table = detail["loc"][-2:-1]
            is_branch = kind_of_table and kind_of_table != key[-2:-1]
            return f"is not a known key of {said(kind_of_table[0])}" if is_branch else "is not a known key"
        case "missing" | "union_tag_not_found":
            told = _description(detail["loc"], model)
            return f"is missing{f': {told}' if told else ''}"
        case "union_tag_invalid":
            return f"must be one of {context['expected_tags']}"
        case "tuple_type" | "list_type":
            tables = f" of tables, written [[{dotted(tuple(k for k in key if isinstance(k, str)))}]]"
            return f"must be a list{tables if _models_at(detail['loc'], model) else ''}"
        case "too_short":
            least = context["min_length"]
            return f"must have at least {least} item{'' if least == 1 else 's'}"
        case "value_error":
            return str(context["error"])
    return _RULES.get(kind) or detail["msg"].replace("Input should", "must")


def _in_file(loc: KeyPath, tables: object, keep_last: bool) -> KeyPath:
    """The key in the file that pydantic's location means: names of union branches are left out."""
    key: KeyPath = ()
    for number, part in enumerate(loc):
        inner = _entry(tables, part)
        if inner is not None:
            tables = inner
        if inner is not None or (keep_last and number == len(loc) - 1):
            key = (*key, part)
    return key


def _nearest_key(key: KeyPath, loc: KeyPath, model: type[BaseModel], also: tuple[str, ...]) -> str | None:
    """The nearest key of that table, or the place where this very key belongs."""
    name = str(key[-1])
    here = [known for found in _models_at(loc[:-1], model) for known in found.model_fields]
    if len(loc) == 1:
        here += also
    elsewhere = [dotted(path) for path in _all_keys(model, ()) if path[-1] == name and path != key]
    close = get_close_matches(name.lower(), here, n=1, cutoff=0.8 if elsewhere else 0.5)
    return close[0] if close else next(iter(elsewhere), None)


def _all_keys(model: type[BaseModel], under: KeyPath) -> Iterator[KeyPath]:
    for name, field in model.model_fields.items():
        yield (*under, name)
        for inner in models_in(field.annotation):
            yield from _all_keys(inner, (*under, name))


def models_in(annotation: object) -> list[type[BaseModel]]:
    """The models a field may hold, through Optional, unions, tuples and Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in models_in(inner)]


def _models_at(loc: KeyPath, model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that may stand at pydantic's location; the name of a union branch picks that branch."""
    found = [model]
    for part in loc:
        if isinstance(part, str):
            held = [m for f in found if part in f.model_fields for m in models_in(f.model_fields[part].annotation)]
            branch = [f for f in found if any(part in _literals(i.annotation) for i in f.model_fields.values())]
            is_key = any(part in f.model_fields for f in found)
            found = held if is_key else branch
    return found


def _literals(annotation: object) -> tuple[object, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _description(loc: KeyPath, model: type[BaseModel]) -> str:
    """What the missing key would say, from its declaration."""
    names = [f.model_fields[str(loc[-1])] for f in _models_at(loc[:-1], model) if str(loc[-1]) in f.model_fields]
    return (names[0].description or "") if names else ""
