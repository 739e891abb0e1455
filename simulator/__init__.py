"""labspend: what an AI lab's compute costs, day by day, under policies that cannot see the future."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from simulator.lab.lab import Run, simulate
    from simulator.lab.policy import Policy, default_policies
    from simulator.study.comparison import Comparison
    from simulator.study.experiment import compare
    from simulator.study.files import ScenarioError, Study, load_scenario, load_study
    from simulator.study.store import save
    from simulator.world.scenario import Scenario
    from simulator.world.world import World, realize

__all__ = [
    "Comparison",
    "Policy",
    "Run",
    "Scenario",
    "ScenarioError",
    "Study",
    "World",
    "__version__",
    "compare",
    "default_policies",
    "load_scenario",
    "load_study",
    "realize",
    "save",
    "simulate",
]

_HOME = {
    "Comparison": "simulator.study.comparison",
    "Policy": "simulator.lab.policy",
    "Run": "simulator.lab.lab",
    "Scenario": "simulator.world.scenario",
    "ScenarioError": "simulator.study.files",
    "Study": "simulator.study.files",
    "World": "simulator.world.world",
    "compare": "simulator.study.experiment",
    "default_policies": "simulator.lab.policy",
    "load_scenario": "simulator.study.files",
    "load_study": "simulator.study.files",
    "realize": "simulator.world.world",
    "save": "simulator.study.store",
    "simulate": "simulator.lab.lab",
}


def __getattr__(name: str) -> object:
    """Import what is asked for, when it is asked for: `import simulator` stays light."""
    if name not in _HOME:
        raise AttributeError(f"module 'simulator' has no attribute {name!r}")
    found: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
