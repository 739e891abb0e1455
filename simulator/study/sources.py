"""A scenario file with what it extends and what the command sets: merged, each value knowing who said it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import simulator
from simulator.study.complaints import Problem, ScenarioError, dotted, nearest, said
from simulator.study.toml_comments import NO_COMMENT, Comment, comments
from simulator.study.toml_lines import KeyPath, dotted_keys, key_lines

LARGEST_FILE_BYTES = 10_000_000
_SET = "--set"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who said a value: a line of a file, or an option. Lower layers had the later word."""

    layer: int
    source: str
    line: int | None
    folder: Path
    comment: Comment = NO_COMMENT
    """What the file says of it."""

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class Declared:
    """The merged tables of a study, and the origin of every key in them."""

    path: Path
    tables: dict[str, Any]
    origins: dict[KeyPath, Origin]

    def origin(self, key: KeyPath) -> Origin:
        """Who said this key, or else the nearest table around it."""
        while key not in self.origins and key:
            key = key[:-1]
        return self.origins.get(key) or Origin(0, str(self.path), 1, self.path.parent)

    @property
    def comments(self) -> dict[KeyPath, Comment]:
        """What the files say of the values that hold."""
        return {key: origin.comment for key, origin in self.origins.items() if origin.comment != NO_COMMENT}

    def error(self, problems: Sequence[Problem]) -> ScenarioError:
        """All problems in one error, each with its place, in order of place."""
        placed = sorted(((self.origin(found.key), found) for found in problems), key=_order)
        return ScenarioError("\n".join(f"{origin}: {_told(found, origin)}" for origin, found in placed))


@dataclass(frozen=True, slots=True)
class Setting:
    """One value set from outside the file, by the option named `source`."""

    source: str
    keys: tuple[str, ...]
    value: Any


def _told(found: Problem, origin: Origin) -> Problem:
    """The problem as its author should read it: an option's name says more than the key it stands for."""
    return replace(found, key=()) if origin.line is None and origin.source != _SET else found


def _order(placed: tuple[Origin, Problem]) -> tuple[int, int]:
    return placed[0].layer, placed[0].line or 0


def packaged_scenarios() -> dict[str, Path]:
    """The scenarios that come with labspend, by name."""
    package = Path(simulator.__file__).parent
    folders = (package / "_scenarios", package.parent / "scenarios")
    folder = next((found for found in folders if found.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}


def find_scenario(name: str | Path) -> Path:
    """The file of that name: on disk, on disk with .toml, or among those that come with labspend."""
    if not str(name).strip():
        raise ScenarioError(f"{str(name)!r}: must be the name of a scenario.{_packaged_said()}")
    path = Path(name)
    for on_disk in (path, path.with_name(f"{path.name}.toml") if path.name else path):
        if on_disk.is_file():
            return on_disk
    packaged = packaged_scenarios()
    if path.parent in (Path(), Path("scenarios")) and path.name.removesuffix(".toml") in packaged:
        return packaged[path.name.removesuffix(".toml")]
    if path.exists():
        raise ScenarioError(f"{name}: is a folder or a device, not a scenario file")
    mean = nearest(path.name.removesuffix(".toml"), packaged)
    raise ScenarioError(
        f"{name}: there is no such file{f'; did you mean {mean!r}?' if mean else '.'}{_packaged_said()}"
    )


def _packaged_said() -> str:
    names = ", ".join(packaged_scenarios())
    return f" Scenarios that come with labspend: {names}." if names else ""


def declared(name: str | Path, overrides: Sequence[str], options: Sequence[Setting] = ()) -> Declared:
    """Read a file and all it extends, then apply `key=value` overrides and options."""
    found = _read(find_scenario(name), 0, ())
    settings = [*map(setting, overrides), *options]
    for wanted in settings:
        _apply(wanted, found)
    return found


def setting(override: str) -> Setting:
    """Read `key=value`: the value as TOML, or else as text."""
    text, equals, value = override.partition("=")
    if not equals:
        raise ScenarioError(f"{_SET} {override}: must be written key=value, for example demand.growth_per_year=4")
    try:
        keys = dotted_keys(text.strip())
    except tomllib.TOMLDecodeError:
        raise ScenarioError(
            f"{_SET} {override}: {text.strip()!r} is not a key, such as demand.growth_per_year"
        ) from None
    try:
        parsed = tomllib.loads(f"value = {value}")
    except ValueError:
        parsed = {}
    return Setting(_SET, keys, parsed["value"] if parsed.keys() == {"value"} else value)


def _read(path: Path, layer: int, above: tuple[Path, ...]) -> Declared:
    text = _text(path)
    tables = _parsed(path, text)
    told = comments(text)
    origins = {
        key: Origin(layer, str(path), line, path.parent, told.get(key, NO_COMMENT))
        for key, line in key_lines(text).items()
    }
    own = Declared(path, tables, origins)
    if "extends" not in tables:
        return own
    extends = tables.pop("extends")
    where = f"{own.origin(('extends',))}: extends"
    if not isinstance(extends, str) or not extends.endswith(".toml"):
        raise ScenarioError(f'{where}: must be the name of a .toml file, such as "base.toml" (got {said(extends)})')
    try:
        base_path = find_scenario(path.parent / extends)
    except ScenarioError:
        base_path = packaged_scenarios().get(extends.removesuffix(".toml"), Path())
        if not base_path.name:
            raise ScenarioError(f"{where}: there is no file {str(path.parent / extends)!r}") from None
    if base_path.resolve() in (*above, path.resolve()):
        raise ScenarioError(f"{where}: goes in a circle: {extends!r} extends {path.name!r} again")
    return _merged(_read(base_path, layer + 1, (*above, path.resolve())), own)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_FILE_BYTES:
        raise ScenarioError(f"{path}: is larger than {LARGEST_FILE_BYTES // 10**6} MB, too large for a scenario")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{path}:{line}: is not UTF-8 text: save the file as UTF-8") from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = re.sub(r"\s*\(at .*\)$", "", str(error))
        place = re.search(r"\(at line (\d+), column (\d+)\)$", str(error))
        line, column = place.groups() if place else (str(text.count("\n") + 1), "1")
        raise ScenarioError(f"{path}:{line}:{column}: is not valid TOML: {reason}") from None
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: is not valid TOML: {error}") from None


def _merged(base: Declared, own: Declared) -> Declared:
    """Tables merge key by key, everything else is replaced."""
    replaced: set[KeyPath] = set()
    tables = _merged_tables(base.tables, own.tables, (), replaced)
    kept = {
        key: origin
        for key, origin in base.origins.items()
        if not any(key[:length] in replaced for length in range(1, len(key) + 1))
    }
    return Declared(own.path, tables, kept | own.origins)


def _merged_tables(
    base: Mapping[str, Any], own: Mapping[str, Any], under: KeyPath, replaced: set[KeyPath]
) -> dict[str, Any]:
    tables = dict(base)
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            tables[key] = _merged_tables(base[key], value, (*under, key), replaced)
        else:
            replaced.add((*under, key))
            tables[key] = value
    return tables


def _apply(wanted: Setting, found: Declared) -> None:
    """Put one value where its key says; tables on the way are made, entries of lists must exist."""
    holder: Any = found.tables
    path: KeyPath = ()
    origin = Origin(-1, wanted.source, None, Path())
    for number, key in enumerate(wanted.keys):
        part: str | int = key
        if isinstance(holder, list):
            if not key.isdigit() or int(key) >= len(holder):
                raise ScenarioError(
                    f"{wanted.source}: {dotted(wanted.keys)}: {dotted(path)} is a list of {len(holder)}, "
                    f"so an entry's number from 0 must follow it (got {key})"
                )
            part = int(key)
        elif not isinstance(holder, dict):
            raise ScenarioError(
                f"{wanted.source}: {dotted(wanted.keys)}: {dotted(path)} is {said(holder)}, not a table"
            )
        path = (*path, part)
        if number == len(wanted.keys) - 1:
            holder[part] = deepcopy(wanted.value)
            for inner in [known for known in found.origins if known[: len(path)] == path]:
                del found.origins[inner]
            found.origins[path] = origin
        elif isinstance(holder, dict) and part not in holder:
            holder[part] = {}
            found.origins[path] = origin
        holder = holder[part]
