"""What `labspend compare` says of every scenario that ships, kept beside it as NAME.expected.csv.

    python tests/expected.py [NAME ...]      # or make expected: writes them anew; look at the difference

These are regressions: they tell that a result has changed, never that it is right. Numbers that must be right are
claims (`labspend verify`) and the tests in tests/validation.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
COLUMNS = (
    "cumulative_cost_usd",
    "cumulative_cost_p95_usd",
    "present_value_usd",
    "difference_percent",
    "chance_cheapest",
    "training_share",
    "rnd_share",
    "served_share",
    "days_late",
    "utilization",
    "usd_per_million_tokens",
)
"""Of the compared summary, beside the policy and whether it is comparable."""


@dataclass(frozen=True)
class Expected:
    """A compared summary, few columns, and the platform it was made on."""

    made_on: str
    policies: tuple[str, ...]
    comparable: tuple[str, ...]
    figures: tuple[tuple[float, ...], ...]
    """By policy, in the order of `COLUMNS`."""


def names() -> list[str]:
    """The scenarios that ship."""
    return sorted(path.stem for path in (PROJECT / "scenarios").glob("*.toml"))


def path_of(name: str) -> Path:
    return PROJECT / "scenarios" / f"{name}.expected.csv"


def here() -> str:
    """What decides the last bits of a float: the machine's instructions, and who uses them."""
    found = np.show_config(mode="dicts")
    instructions = found["SIMD Extensions"].get("found", [])
    blas = found["Build Dependencies"]["blas"]
    system = (
        f"{platform.system()} {platform.machine()} {_processor()} {instructions[-1] if instructions else 'baseline'}"
    )
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{system}; {python}; numpy {np.__version__}; {blas['name']} {blas['version']}".replace(",", " ")


def _processor() -> str:
    """Its model, where the system tells: libraries choose their fastest code by it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def lived(name: str) -> Expected:
    """The summary as the study's own settings make it."""
    from simulator.study.experiment import compare
    from simulator.study.files import load_study

    study = load_study(name)
    rows = compare(
        study.scenario,
        study.policies,
        replications=study.replications,
        seed=study.seed,
        equal_service=study.equal_service,
        workers=min(os.cpu_count() or 1, study.replications),
    ).summary_records()
    return Expected(
        here(),
        tuple(row.policy for row in rows),
        tuple(str(row.comparable) for row in rows),
        tuple(tuple(float(getattr(row, column)) for column in COLUMNS) for row in rows),
    )


def read(name: str) -> Expected:
    """The summary as it was kept."""
    told, header, *lines = path_of(name).read_text(encoding="utf-8").splitlines()
    assert tuple(header.split(",")) == ("policy", "comparable", *COLUMNS)
    rows = [line.split(",") for line in lines]
    return Expected(
        told.removeprefix("# made on "),
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        tuple(tuple(map(float, row[2:])) for row in rows),
    )


def write(name: str) -> None:
    found = lived(name)
    lines = [f"# made on {found.made_on}", ",".join(("policy", "comparable", *COLUMNS))]
    for policy, comparable, figures in zip(found.policies, found.comparable, found.figures, strict=True):
        lines.append(",".join((policy, comparable, *map(repr, figures))))
    path_of(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(PROJECT))
    for each in sys.argv[1:] or names():
        write(each)
        print(path_of(each).relative_to(PROJECT))
