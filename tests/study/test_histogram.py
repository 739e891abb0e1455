from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.study import histogram
from simulator.study.histogram import LogHistogram

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def counted(table: np.ndarray) -> LogHistogram:
    """Counts of numbers [number, row]."""
    made = LogHistogram(table.shape[1])
    for row in table:
        made.add(0, row)
    return made


@pytest.mark.parametrize("n", [1, 2, 7, 2_000])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_quantiles_are_within_half_a_percent_of_numpys(n: int, sign: float) -> None:
    table = sign * np.random.default_rng(n).lognormal(10.0, [0.01, 0.5, 4.0], (n, 3)).astype(np.float32)
    found, true = counted(table).quantiles(QUANTILES), np.quantile(table.astype(np.float64), QUANTILES, axis=0)
    assert np.abs(found / true - 1.0).max() <= 0.005
    assert np.array_equal(found[[0, -1]], true[[0, -1]]), "the least and the greatest are exact"


@given(st.lists(st.floats(-(2.0**40), 2.0**40, width=32), min_size=1, max_size=40))
def test_numbers_either_side_of_zero(values: list[float]) -> None:
    table = np.array(values, dtype=np.float32).reshape(-1, 1)
    ordered = np.sort(table[:, 0].astype(np.float64))
    found = counted(table).quantiles(QUANTILES)[:, 0]
    for share, quantile in zip(QUANTILES, found, strict=True):
        place = share * (len(values) - 1)
        low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
        off = 0.005 * max(abs(low), abs(high)) + 1e-6
        assert abs(quantile - (low + (high - low) * (place - int(place)))) <= off


def test_nothing_spent_yet_is_zero() -> None:
    assert counted(np.zeros((5, 2))).quantiles(QUANTILES).tolist() == [[0.0, 0.0]] * len(QUANTILES)


@given(st.integers(1, 60), st.permutations(range(4)))
def test_parts_merge_in_any_order_into_the_same_counts(cut: int, order: list[int]) -> None:
    table = np.random.default_rng(cut).normal(0.0, 1e6, (4 * cut, 3)).astype(np.float32)
    whole, merged = counted(table), LogHistogram(3)
    for at in order:
        merged.merge(counted(table[at * cut : (at + 1) * cut]))
    whole.settle()
    merged.settle()
    for part in ("keys", "counts", "least", "greatest"):
        assert np.array_equal(getattr(whole, part), getattr(merged, part))
    assert np.array_equal(whole.quantiles(QUANTILES), merged.quantiles(QUANTILES))


def test_what_is_kept_does_not_grow_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram, "_PENDING", 1_000)
    made, random = LogHistogram(10), np.random.default_rng(1)
    sizes = []
    for _ in range(20):
        for row in random.uniform(7.0, 13.0, (500, 10)):
            made.add(0, np.exp(row))
        sizes.append(made.keys.size)
    assert sizes[-1] <= 10 * (6.0 / np.log(1.01) + 2)
    assert sizes[-1] < 1.05 * sizes[4]
    assert made._n_pending <= max(1_000, made.keys.size)
