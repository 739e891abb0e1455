"""Every scenario that ships gives what it gave: exactly on the platform its file was made on, to 1e-9 elsewhere."""

from __future__ import annotations

import expected
import numpy as np
import pytest

LARGE = {"frontier_lab"}
"""Studies of many worlds: left to make verify."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.verify] * (name in LARGE)) for name in expected.names()]
)
def test_a_study_gives_what_it_gave(name: str) -> None:
    kept, found = expected.read(name), expected.lived(name)
    assert (found.policies, found.comparable) == (kept.policies, kept.comparable)
    elsewhere = 0.0 if kept.made_on == found.made_on else 1e-9
    np.testing.assert_allclose(found.figures, kept.figures, rtol=elsewhere, atol=elsewhere)


def test_every_kept_file_belongs_to_a_scenario_that_ships() -> None:
    kept = {path.name for path in (expected.PROJECT / "scenarios").glob("*.csv")}
    assert kept == {expected.path_of(name).name for name in expected.names()}
