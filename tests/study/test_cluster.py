"""A real Dask cluster of two workers, one of which is killed in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from streamed_study import files, in_memory

from simulator.show.report import write_report
from simulator.study.experiment import compare
from simulator.study.files import load_study
from simulator.study.store import save

pytest.importorskip("distributed")

PROJECT = Path(__file__).resolve().parents[2]

KILLED = """
import os, signal, sys
from pathlib import Path

from distributed import LocalCluster
from streamed_study import placed

from simulator.study.cluster import running_cluster
from simulator.study.streaming import begin, finish, live_on

if __name__ == "__main__":
    study = placed(Path(sys.argv[1]))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victim = [worker.pid for worker in cluster.workers.values()]

        def kill(done, total):
            if done >= 2 and victim:
                os.kill(victim[0], signal.SIGKILL)
                print("killed", flush=True)
                victim.clear()

        with running_cluster(cluster.scheduler_address) as (executor, n):
            journal = begin(study)
            live_on(study, journal, workers=n, executor=executor, chunk_size=1, progress=kill)
            assert n == 2
    finish(study, journal)
"""


def test_a_worker_that_is_killed_changes_no_byte(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, script, tmp_path / "dask"], env=environment, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["killed"]
    assert files(tmp_path / "dask") == in_memory(tmp_path / "memory")


def test_a_cluster_of_our_own_comes_and_goes(small_toml: Path) -> None:
    code = """if True:
        import sys
        import simulator.show.plots
        import simulator.show.workbook
        from simulator.cli import main

        simulator.show.plots.save_plots = lambda *_: None
        simulator.show.workbook.save_workbook = lambda *_: None
        sys.exit(main(["compare", "small.toml", "--cluster", "dask", "--workers", "2", "--quiet", "--out", "dask"]))
    """
    environment, folder = {**os.environ, "PYTHONPATH": str(PROJECT)}, small_toml.parent
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=110)
    assert (done.returncode, done.stdout) == (0, "dask\n"), done.stderr
    study = load_study(small_toml)
    found = compare(study.scenario, study.policies, replications=2, seed=7)
    save(found, folder / "here", study_text=study.text, pictures=write_report)
    one, other = files(folder / "dask"), files(folder / "here")
    assert one.pop("manifest.json") != other.pop("manifest.json"), "which tell the commands"
    assert one == other


def test_nobody_at_the_address_is_told() -> None:
    code = (
        "from simulator.study import cluster; cluster._CONNECT_SECONDS = 0.5\n"
        "try:\n with cluster.running_cluster('tcp://127.0.0.1:9'): pass\n"
        "except cluster.NoCluster as error: print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    said = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True, timeout=60)
    assert said.startswith("tcp://127.0.0.1:9: no Dask scheduler answers there: ")
