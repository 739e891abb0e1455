"""A results folder read back is the comparison it was; one that was changed, or is none, is refused."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from small_study import BUY, RENT, RESERVE, growing_lab

from simulator.lab.procurement import RentOnDemand
from simulator.show.table import verdict
from simulator.study.comparison import Comparison
from simulator.study.daily import DailySums
from simulator.study.experiment import compare
from simulator.study.reopened import MADE_FROM, NotResults, reopen
from simulator.study.store import save
from simulator.study.this_quarter import first_quarter


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(120), (RENT, RESERVE, BUY), replications=3)


@pytest.fixture
def folder(comparison: Comparison, tmp_path: Path) -> Path:
    save(comparison, tmp_path / "r", command="labspend compare x")
    return tmp_path / "r"


def test_it_says_the_same(comparison: Comparison, folder: Path) -> None:
    found = reopen(folder)
    again = found.comparison
    assert found.command == "labspend compare x"
    assert again.policies == comparison.policies
    assert verdict(again) == verdict(comparison)
    for row, kept in zip(again.summary_records(), comparison.summary_records(), strict=True):
        assert repr(row) == repr(kept), "to the bit"
    for policy in range(3):
        ours, theirs = first_quarter(again, policy), first_quarter(comparison, policy)
        assert (ours.orders, ours.trainings) == (theirs.orders, theirs.trainings)
    for column in fields(DailySums):
        if column.name != "asked_quantiles_tokens":
            ours, theirs = getattr(again.days, column.name), getattr(comparison.days, column.name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-14, err_msg=column.name)


@pytest.mark.parametrize("name", MADE_FROM)
def test_a_file_that_was_changed_is_not_believed(folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(NotResults, match=rf"{name}: is not the file that manifest\.json tells of"):
        reopen(folder)
    path.unlink()
    with pytest.raises(NotResults, match=f"{name}: is missing"):
        reopen(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "is no manifest of results"),
        ("{}", "is not the file that"),
    ],
)
def test_a_manifest_that_is_none_is_refused(folder: Path, text: str, said: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(NotResults, match=said):
        reopen(folder)


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(NotResults, match=r"has no manifest\.json, so it is no finished results folder"):
            reopen(path)


def test_another_number_of_worlds_is_refused(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "replications": 9}))
    with pytest.raises(NotResults, match="another seed or number of worlds"):
        reopen(folder)


def test_hand_written_policies_cannot_be_read_back(tmp_path: Path) -> None:
    class Mine(RentOnDemand):
        """Of nobody else."""

    by_hand = replace(RENT, name="mine", procurement=Mine())
    save(compare(growing_lab(40), (BUY, by_hand), replications=1), tmp_path / "r")
    with pytest.raises(NotResults, match=r"its policies are not those of its scenario\.toml: mine; of policies hand"):
        reopen(tmp_path / "r")
