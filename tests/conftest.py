"""Fixtures for all tests: where the project is, and a small scenario to change."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

SMALL_SCENARIO = """\
title = "Small lab"
start = 2026-06-01
horizon_days = 200

[demand]
tokens_per_day = 1e10
growth_per_year = 3
noise_sigma = 0.05

[[demand.regime]]
start = 2026-10-01
growth_per_year = 2

[[market.quote]]
accelerator = "H100"
on_demand_usd_per_gpu_hour = 2.89
purchase_usd_per_gpu = 25_000
source = "a test"

[roadmap]
target_flop = 1e23

[[roadmap.release]]
name = "next"
due = 2026-09-15

[opening_model]
n_parameters = 10e9
n_training_tokens = 2e12

[study]
seed = 7
replications = 2

[[policy]]
name = "plain"

[[policy]]
name = "trained longer"
recipe = { levers = ["overtrain"] }
forecast = { kind = "expected" }
"""

Labspend = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def project() -> Path:
    """The folder of the project, whatever the current one is."""
    return PROJECT


@pytest.fixture
def small_toml(tmp_path: Path) -> Path:
    """A valid scenario of 200 days with two policies, on disk."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL_SCENARIO, encoding="utf-8")
    return path


def environment() -> dict[str, str]:
    """This process's environment, with the project importable and no colour or width forced from outside."""
    dropped = ("FORCE_COLOR", "COLUMNS", "NO_COLOR", "PYTHONWARNINGS")
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return {**kept, "PYTHONPATH": str(PROJECT)}


@pytest.fixture
def labspend(tmp_path: Path) -> Labspend:
    """Run the command line as a user does: another process, in an empty folder, output to pipes."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "simulator", *map(str, arguments)]
        return subprocess.run(
            words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120, check=False
        )

    return run
