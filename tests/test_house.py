"""The house rules: imports point down, each tool stays in its room, modules stay small, the map is true."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "simulator"
ROOMS = ("laws", "world", "lab", "study", "show", "cli")
"""From the ground up: a room may import itself and those before it."""
TOOLS = {
    "simpy": {"lab"},
    "pandas": {"study", "show"},
    "pyarrow": {"study", "show"},
    "matplotlib": {"show"},
    "scipy": {"study"},
    "jinja2": {"show"},
    "PIL": {"show"},
    "xlsxwriter": {"show"},
    "streamlit": {"show"},
    "random": set(),
}
"""Where a library may be imported; anywhere, if it is not named. Dice are numpy's, in world."""
BANNED_NAMES = {"utils", "util", "common", "core", "helpers", "helper", "misc"}
MOST_LINES = 400
FACE = {"__init__.py", "__main__.py"}
"""Of the package itself: its public names and `python -m`, above all rooms."""

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_scenarios" not in path.parts)


def name(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def room(path: Path) -> str:
    inside = path.relative_to(PACKAGE)
    return inside.parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[str, int]]:
    """Every module a file imports, also inside functions, with the line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: relative import"
            found.append((node.module or "", node.lineno))
            if node.module == "simulator":
                found += [(f"simulator.{alias.name}", node.lineno) for alias in node.names]
    return found


@pytest.fixture(params=MODULES, ids=name)
def module(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


def test_there_are_modules_in_every_room() -> None:
    assert {room(path) for path in MODULES if path.name not in FACE or path.parent != PACKAGE} == set(ROOMS)


def test_imports_point_down(module: Path) -> None:
    if module.parent == PACKAGE and module.name in FACE:
        return
    allowed = ROOMS[: ROOMS.index(room(module)) + 1]
    for imported, line in imports(module):
        if imported.startswith("simulator."):
            target = imported.split(".")[1]
            assert target in (*allowed, "__version__"), f"{name(module)}:{line}: {room(module)} may not import {target}"


def test_tools_stay_in_their_rooms(module: Path) -> None:
    for imported, line in imports(module):
        tool = imported.split(".")[0]
        assert tool not in TOOLS or room(module) in TOOLS[tool], f"{name(module)}:{line}: {tool} in {room(module)}"


def test_modules_stay_small_and_say_what_they_are(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert not BANNED_NAMES & {part.removesuffix(".py") for part in module.relative_to(PROJECT).parts}
    assert ast.get_docstring(ast.parse(text)), "a module begins with a line on what it is"


def test_readme_lists_every_room() -> None:
    readme = PROJECT / "README.md"
    if not readme.exists():
        pytest.skip("README.md is not written yet")
    text = readme.read_text(encoding="utf-8")
    for shown in (*(f"{found}/" for found in ROOMS), "scenarios/", "tests/"):
        assert shown in text, f"README.md does not mention {shown}"
