"""The package as it is installed and imported: names, version, what ships."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import simulator

PROJECT = Path(__file__).resolve().parent.parent


def test_public_names_are_few_and_exist() -> None:
    assert len(simulator.__all__) <= 15
    assert simulator.__all__ == sorted(simulator.__all__)
    for name in simulator.__all__:
        assert getattr(simulator, name) is not None
    assert set(simulator.__all__) <= set(dir(simulator))


def test_public_names_have_one_home() -> None:
    for name, home in simulator._HOME.items():
        assert getattr(importlib.import_module(home), name) is getattr(simulator, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'simulator' has no attribute 'simulat'"):
        _ = simulator.simulat


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import simulator, sys; print([m for m in ('numpy', 'pydantic', 'simpy', 'click') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_the_version_is_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", simulator.__version__)
    assert f"version: {simulator.__version__}\n" in (PROJECT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_project_file_ships_scenarios_and_types() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"scenarios": "simulator/_scenarios"}
    assert project["project"]["scripts"] == {"labspend": "simulator.cli:main"}
    assert (PROJECT / "simulator" / "py.typed").exists()
