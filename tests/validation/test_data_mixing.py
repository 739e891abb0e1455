"""What a better mix of data may cost: the bisection against the saving it must equal."""

from __future__ import annotations

import pytest

from simulator.lab.accounts import Use
from simulator.lab.lab import simulate
from simulator.study.files import load_study
from simulator.study.thresholds import search_range, thresholds


def test_a_mix_breaks_even_at_what_it_saves() -> None:
    study = load_study("data_mixing")
    plain, mixed = study.policies[:2]
    searched = search_range(study.scenario, "data_mixing.usd_per_release", 1e5, 1e7)
    (found,) = thresholds(study.scenario, (plain, mixed), searched, replications=1, tolerance=1e-3).thresholds
    saved = [simulate(study.scenario, policy, study.seed).books.cash_usd.sum() for policy in (plain, mixed)]
    assert found.value == pytest.approx(saved[0] - saved[1], rel=1e-3)
    assert (found.cheaper_below, found.cheaper_above) == ("mixed", "chinchilla")


def test_a_mix_trains_on_less_and_pays_for_the_search() -> None:
    """A mix that gains g at a search share s trains at (1 + s) / g of the FLOP: 1.05 / 11.111 = 0.0945."""
    study = load_study("data_mixing")
    runs = [simulate(study.scenario, policy, study.seed) for policy in study.policies[:2]]
    plain, mixed = (run.books.economic_usd[:, Use.TRAINING].sum() for run in runs)
    assert mixed / plain == pytest.approx(1.05 / 11.111111)
