"""Results as one file: the bytes that the command line writes, and the same ones every time."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from conftest import Labspend

from simulator.study.archive import archive
from simulator.study.experiment import compare
from simulator.study.files import load_study

LOOKED_AT = {".png", ".svg", ".xlsx", ".html"}


def test_every_file_has_the_bytes_that_compare_writes(small_toml: Path, labspend: Labspend, tmp_path: Path) -> None:
    study = load_study(small_toml, ("demand.growth_per_year=4",), replications=3, seed=2)
    found = compare(study.scenario, study.policies, replications=3, seed=2)
    packed = archive(found, study.text, "labspend compare it.toml")
    assert packed == archive(found, study.text, "labspend compare it.toml")
    (tmp_path / "it.toml").write_text(study.text, encoding="utf-8")
    done = labspend("compare", "it.toml", "--out", "it", "--quiet")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(io.BytesIO(packed)) as held:
        names = set(held.namelist())
        assert names == {path.name for path in (tmp_path / "it").iterdir() if path.suffix not in LOOKED_AT}
        for name in names - {"manifest.json"}:
            assert held.read(name) == (tmp_path / "it" / name).read_bytes(), name
        ours, theirs = json.loads(held.read("manifest.json")), json.loads((tmp_path / "it/manifest.json").read_bytes())
    assert set(ours["sha256"]) == names - {"manifest.json"}
    for manifest in (ours, theirs):
        del manifest["sha256"], manifest["command"]
    assert ours == theirs
