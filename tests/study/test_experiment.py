from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from small_study import BUY, OVERTRAIN, RENT, RESERVE, growing_lab, policy

from simulator.lab.forecast import Forecast, Trend
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare

PROJECT = Path(__file__).resolve().parents[2]
POLICIES = (RENT, OVERTRAIN, RESERVE, BUY)


@pytest.fixture(scope="module")
def serial() -> Comparison:
    return compare(growing_lab(), POLICIES, replications=5)


def same(left: Comparison, right: Comparison) -> bool:
    """Equal to the last bit, in every table."""
    return all(
        getattr(left, table).equals(getattr(right, table))
        for table in ("replications_table", "releases_table", "orders_table", "daily_table")
    ) and left.summary().equals(right.summary())


@pytest.mark.parametrize("chunk_size", [1, 2, 5])
def test_chunks_change_nothing(serial: Comparison, chunk_size: int) -> None:
    with ThreadPoolExecutor(2) as executor:
        other = compare(growing_lab(), POLICIES, replications=5, executor=executor, chunk_size=chunk_size)
        assert executor.submit(len, "left running").result() == 12
    assert same(serial, other)


def test_workers_change_nothing(serial: Comparison) -> None:
    assert same(serial, compare(growing_lab(), POLICIES, replications=5, workers=2))


def test_more_replications_begin_with_the_same_ones(serial: Comparison) -> None:
    fewer = compare(growing_lab(), POLICIES, replications=2).replications_table
    assert fewer.equals(serial.replications_table.head(len(fewer)))


def test_another_seed_is_another_study(serial: Comparison) -> None:
    other = compare(growing_lab(), POLICIES[:1], replications=1, seed=2)
    assert other.by_policy("asked_tokens")[0, 0] != serial.by_policy("asked_tokens")[0, 0]


def test_all_policies_of_a_replication_are_asked_the_same(serial: Comparison) -> None:
    asked = serial.by_policy("asked_tokens")
    assert np.array_equal(asked, np.broadcast_to(asked[0], asked.shape))
    assert np.unique(asked[0]).size == 5


def test_progress_counts_replications_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    compare(growing_lab(), [RENT], replications=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def buy_once() -> Policy:
    """A policy as written in a notebook: a class that no module can import."""

    class BuyOnce(Procurement):
        review_days: int = 30

        def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
            object.__setattr__(self, "_n_reviews", getattr(self, "_n_reviews", 0) + 1)
            return [Buy(0, 8, "once")] if getattr(self, "_n_reviews", 0) == 1 else []

    return Policy("buy once", LeverRecipe(), BuyOnce(), Trend())


def test_a_policy_from_a_notebook_travels() -> None:
    chosen: Sequence[Policy] = (RENT, buy_once())
    spread = compare(growing_lab(), chosen, replications=2, workers=2)
    assert same(compare(growing_lab(), chosen, replications=2), spread)
    assert len(spread.orders) == 2


def test_a_policy_starts_every_world_as_it_was_given() -> None:
    orders = compare(growing_lab(), (buy_once(),), replications=3).orders_table
    assert orders["replication"].tolist() == [0, 1, 2]


def test_a_failing_policy_is_named_with_its_world() -> None:
    class Failing(RentOnDemand):
        def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
            raise ZeroDivisionError("no luck")

    for workers in (1, 2):
        with pytest.raises(ZeroDivisionError, match="no luck") as caught:
            compare(growing_lab(), (RENT, policy("unlucky", Failing())), replications=2, workers=workers)
        assert "in policy 'unlucky', seed 1, replication 0" in caught.value.__notes__


def test_a_lost_worker_is_told_in_words() -> None:
    class Deadly(RentOnDemand):
        def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
            os._exit(1)

    with pytest.raises(RuntimeError, match="a worker process ended before its work was done"):
        compare(growing_lab(), (policy("deadly", Deadly()),), replications=2, workers=2)


@pytest.mark.parametrize(
    ("policies", "replications", "workers", "said"),
    [
        ((), 1, 1, "at least one policy"),
        ((RENT, RENT), 1, 1, r"every name must be used once \(twice: rent\)"),
        ((RENT,), 0, 1, r"replications: must be at least 1 \(got 0\)"),
        ((RENT,), 1, 0, r"workers: must be at least 1 \(got 0\)"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    policies: tuple[Policy, ...], replications: int, workers: int, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        compare(growing_lab(), policies, replications=replications, workers=workers)


def test_a_worker_needs_no_pandas() -> None:
    code = "import simulator.study.experiment, sys; print(sorted({'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=PROJECT, text=True).strip() == "[]"


ENDLESS = """
from small_study import RENT, growing_lab
from simulator.study.experiment import compare

if __name__ == "__main__":
    compare(growing_lab(), (RENT,), replications=1_000_000, workers=2, progress=lambda *_: print("going", flush=True))
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads the list of processes from /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_study(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}"}
    study = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert study.stdout is not None
    assert study.stdout.readline() == "going\n"
    workers = _children(study.pid)
    assert len(workers) >= 2
    if how is signal.SIGINT:
        os.killpg(study.pid, how)
    else:
        study.send_signal(how)
    _, said = study.communicate(timeout=20)
    assert _gone(workers)
    if how is signal.SIGTERM:
        assert (study.returncode, said) == (128 + how, "")
    if how is signal.SIGINT:
        assert said.count("Traceback") == 1, "only the study itself says that it was interrupted"


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _gone(pids: list[int], patience_seconds: float = 10.0) -> bool:
    end = time.monotonic() + patience_seconds
    while time.monotonic() < end:
        if not any(_is_running(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
