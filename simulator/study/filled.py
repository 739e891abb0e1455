"""What a scenario names a CSV file for is read into it at the door, so that the resolved scenario needs no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from simulator.study.complaints import Problem
from simulator.study.csv_rows import TraceError
from simulator.study.plan_csv import read_plan
from simulator.study.price_csv import read_prices
from simulator.study.sources import Declared, Origin
from simulator.study.toml_lines import KeyPath
from simulator.study.trace_csv import read_trace


class _Recorded(NamedTuple):
    """A table that may name a csv: the keys that say what to read, those filled in from it, and the reading."""

    key: KeyPath
    table: dict[str, Any]
    asks: Sequence[str]
    filled: Sequence[str]
    read: Callable[[Path], Sequence[Any]]
    """Gives back what goes into `filled`, in that order."""


def fill_records(found: Declared, wrong: list[Problem]) -> None:
    """Read the CSV of [demand.trace], of each [[market.replay]] and of each policy's fixed plan into its table."""
    demand, market = found.tables.get("demand"), found.tables.get("market")
    trace = demand.get("trace") if isinstance(demand, dict) else None
    if isinstance(trace, dict):
        _fill(found, _trace(trace), wrong)
    replays = market.get("replay") if isinstance(market, dict) else None
    for row, replay in enumerate(replays if isinstance(replays, list) else ()):
        if isinstance(replay, dict):
            _fill(found, _replay(replay, row), wrong)
    policies = found.tables.get("policy")
    for row, policy in enumerate(policies if isinstance(policies, list) else ()):
        procurement = policy.get("procurement") if isinstance(policy, dict) else None
        if isinstance(procurement, dict) and procurement.get("kind") == "fixed_plan":
            _fill(found, _plan(found, procurement, row), wrong)


def _trace(table: dict[str, Any]) -> _Recorded:
    def read(path: Path) -> Sequence[Any]:
        recorded = read_trace(path, table.get("column", "total_tokens"))
        return recorded.first_day, list(recorded.tokens)

    return _Recorded(("demand", "trace"), table, ("csv", "column"), ("first_day", "tokens"), read)


_PRICES = {"on_demand_column": "on_demand_usd", "spot_column": "spot_usd", "purchase_column": "purchase_usd"}
"""Of a replay: the key that names a column of the file, and the one that holds what is read from it."""


def _replay(table: dict[str, Any], row: int) -> _Recorded:
    columns = [column for column in _PRICES if column in table]

    def read(path: Path) -> Sequence[Any]:
        named = [table[column] for column in columns]
        recorded = read_prices(path, table.get("date_column", "date"), named, table.get("where", {}))
        return [list(recorded.days), *map(list, recorded.usd)]

    asks = ("csv", "date_column", "where", *columns)
    return _Recorded(("market", "replay", row), table, asks, ("day", *(_PRICES[column] for column in columns)), read)


def _plan(found: Declared, table: dict[str, Any], row: int) -> _Recorded:
    key: KeyPath = ("policy", row, "procurement")

    def read(path: Path) -> Sequence[Any]:
        orders = read_plan(path)
        layer = found.origin((*key, "csv")).layer
        for place, (number, _) in enumerate(orders):  # so that what is wrong with one is told by its row
            found.origins[(*key, "order", place)] = Origin(layer, str(path), number, path.parent)
        return ([order for _, order in orders],)

    return _Recorded(key, table, ("csv",), ("order",), read)


def _fill(found: Declared, recorded: _Recorded, wrong: list[Problem]) -> None:
    """Unless the figures are written out and neither the file nor what to read of it is a later word."""
    key, table = recorded.key, recorded.table
    if not _can_be_read(recorded):
        return  # said with all that is of the wrong type
    file = table.get("csv", "")
    missing = [needed for needed in recorded.filled if needed not in table]
    if not file or (not missing and _is_latest(found, recorded)):
        rule = f"is missing: name a csv, or write out {' and '.join(recorded.filled)}"
        wrong += [Problem((*key, needed), rule) for needed in missing]
        return
    try:
        figures = recorded.read(found.origin((*key, "csv")).folder / file)
    except TraceError as error:
        wrong.append(Problem((*key, "csv"), f"cannot be used:\n{error}"))
    else:
        table |= dict(zip(recorded.filled, figures, strict=True))


def _can_be_read(recorded: _Recorded) -> bool:
    said = [recorded.table[name] for name in recorded.asks if name in recorded.table]
    texts = [text for value in said for text in (value.values() if isinstance(value, dict) else (value,))]
    return all(isinstance(text, str) for text in texts)


def _is_latest(found: Declared, recorded: _Recorded) -> bool:
    """Whether what is written out is as late a word as all that says what to read."""
    under = [(*recorded.key, name) for name in recorded.asks if name in recorded.table]
    asked = [found.origin(key).layer for key in under]
    asked += [origin.layer for key, origin in found.origins.items() if any(key[: len(u)] == u for u in under)]
    return max(found.origin((*recorded.key, name)).layer for name in recorded.filled) <= min(asked)
