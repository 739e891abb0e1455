"""Streams that never disturb each other, and the autoregression against a loop and the moments of theory."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.laws.units import FloatArray
from simulator.world.dice import Dice, autoregression

NAMES = ("demand.noise", "demand.level", "market.rental", "market.lead")


def drawn(dice: Dice, name: str, n: int = 5, entity: int = 0) -> list[float]:
    return dice.stream(name, entity).standard_normal(n).tolist()


@given(st.integers(0, 2**32), st.integers(0, 10**6), st.text(max_size=20), st.integers(0, 1000))
def test_seed_replication_name_and_entity_decide_alone(seed: int, replication: int, name: str, entity: int) -> None:
    assert drawn(Dice(seed, replication), name, entity=entity) == drawn(Dice(seed, replication), name, entity=entity)


def test_each_of_the_four_matters() -> None:
    streams = [
        drawn(Dice(1, 0), "demand.noise"),
        drawn(Dice(2, 0), "demand.noise"),
        drawn(Dice(1, 1), "demand.noise"),
        drawn(Dice(1, 0), "demand.level"),
        drawn(Dice(1, 0), "demand.noise", entity=1),
    ]
    assert len({tuple(stream) for stream in streams}) == len(streams)


def test_one_more_draw_in_one_stream_changes_no_other() -> None:
    before = {name: drawn(Dice(3, 4), name) for name in NAMES}
    for busy in NAMES:
        dice = Dice(3, 4)
        dice.stream(busy).standard_normal(1000)
        dice.stream("a stream added later").standard_normal(1000)
        assert {name: drawn(dice, name) for name in NAMES} == before


def test_the_order_of_streams_and_replications_changes_nothing() -> None:
    alone = {(k, name): drawn(Dice(9, k), name) for k in range(3) for name in NAMES}
    for order in permutations(range(3)):
        for k in order:
            for name in reversed(NAMES):
                assert drawn(Dice(9, k), name) == alone[k, name]


def test_streams_are_independent_of_each_other() -> None:
    # 6 pairs of 40,000 normals: the correlation of two independent ones has standard error 1/sqrt(n).
    n = 40_000
    columns = np.array([Dice(0, 0).stream(name).standard_normal(n) for name in NAMES])
    off_diagonal = np.corrcoef(columns)[np.triu_indices(len(NAMES), 1)]
    assert np.abs(off_diagonal).max() < 4.0 / np.sqrt(n)


def plain_loop(normals: FloatArray, persistence: float, sd: float) -> list[float]:
    """x[0] = sd z[0]; x[t] = persistence x[t-1] + sd sqrt(1 - persistence^2) z[t]."""
    path: list[float] = []
    for z in normals.tolist():
        path.append(sd * z if not path else persistence * path[-1] + sd * (1.0 - persistence**2) ** 0.5 * z)
    return path


@settings(deadline=None)
@given(
    st.integers(1, 400),
    st.just(0.0) | st.floats(0.0, 0.999),
    st.floats(0.01, 3.0),
    st.integers(0, 2**31),
)
def test_the_autoregression_is_the_plain_loop(n: int, persistence: float, sd: float, seed: int) -> None:
    normals = np.random.default_rng(seed).standard_normal(n)
    kept = normals.copy()
    path = autoregression(normals, persistence, sd)
    # A sum may cross zero, so the error is measured against the size of the path.
    np.testing.assert_allclose(path, plain_loop(normals, persistence, sd), rtol=1e-12, atol=1e-12 * sd)
    np.testing.assert_array_equal(normals, kept)


def test_without_spread_there_is_no_noise() -> None:
    np.testing.assert_array_equal(autoregression(np.ones(5), 0.9, 0.0), np.zeros(5))


@pytest.mark.parametrize("persistence", [0.3, 0.71, 0.99])
def test_a_longer_path_has_the_same_first_days_to_the_last_bit(persistence: float) -> None:
    normals = np.random.default_rng(1).standard_normal(5000)
    longest = autoregression(normals, persistence, 0.2)
    for n in (1, 2, 10, 63, 64, 65, 128, 129, 200, 500, 1000, 2556, 4999):
        np.testing.assert_array_equal(autoregression(normals[:n], persistence, 0.2), longest[:n], err_msg=f"{n} days")


@pytest.mark.parametrize(
    ("k", "s", "sd", "lag_1"),
    [(0.1, 0.1, 0.223607, 0.904837), (0.5, 0.2, 0.2, 0.606531)],
)
def test_the_moments_of_an_ornstein_uhlenbeck_process(k: float, s: float, sd: float, lag_1: float) -> None:
    # dx = -k x dt + s dW has sd s/sqrt(2k) and correlation e^-k a day later (numbers J3).
    assert s / np.sqrt(2 * k) == pytest.approx(sd, rel=1e-5)
    assert np.exp(-k) == pytest.approx(lag_1, rel=1e-5)
    replications, n = 4_000, 100
    normals = np.random.default_rng(5).standard_normal((replications, n))
    paths = np.array([autoregression(row, lag_1, sd) for row in normals])
    # On each day, first to last, replications are independent: var has relative standard error sqrt(2/R).
    for day in (0, 1, 63, 64, 99):
        assert paths[:, day].mean() == pytest.approx(0.0, abs=4 * sd / np.sqrt(replications))
        assert paths[:, day].var() == pytest.approx(sd**2, rel=4 * np.sqrt(2 / replications))
    # Correlation of neighbours, also across the border of a block: standard error (1 - rho^2)/sqrt(R).
    for day in (0, 50, 63):
        found = np.corrcoef(paths[:, day], paths[:, day + 1])[0, 1]
        assert found == pytest.approx(lag_1, abs=4 * (1 - lag_1**2) / np.sqrt(replications))
