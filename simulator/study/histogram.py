"""Quantiles of many numbers from counts alone: bins of 1 %, which merge exactly in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.laws.units import FloatArray, IntArray

_LOG_BIN = np.log(1.01)
_SMALLEST = 1e-6
"""Smaller numbers count as zero."""
_BINS = 1 << 16
"""Bins set apart for a row: more than single precision has, below zero and above."""
_PENDING = 1 << 16
"""Numbers kept as they come before they are counted."""


class LogHistogram:
    """Counts of numbers by row, in bins of 1 % either side of zero, and each row's least and greatest.

    A quantile is off by 0.5 % at most, of the larger of the two numbers between which it lies; numbers below a
    millionth are zero. What is kept grows with the spread of the numbers, not with how many there are.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.keys: IntArray = np.zeros(0, dtype=np.int64)
        """Row and bin in one number, sorted."""
        self.counts: IntArray = np.zeros(0, dtype=np.int64)
        self.least: FloatArray = np.full(n_rows, np.inf)
        self.greatest: FloatArray = np.full(n_rows, -np.inf)
        self._pending: list[tuple[IntArray, IntArray]] = []
        self._n_pending = 0

    def add(self, first_row: int, values: np.ndarray) -> None:
        """Count one number in each row from `first_row` on [row]."""
        found = values.astype(np.float64)
        rows = slice(first_row, first_row + found.size)
        np.minimum(self.least[rows], found, out=self.least[rows])
        np.maximum(self.greatest[rows], found, out=self.greatest[rows])
        keys = np.arange(rows.start, rows.stop) * _BINS + _BINS // 2 + _bins(found)
        self._hold(keys, np.ones(keys.size, dtype=np.int64))

    def merge(self, other: LogHistogram) -> None:
        """Count all that another has counted."""
        other.settle()
        np.minimum(self.least, other.least, out=self.least)
        np.maximum(self.greatest, other.greatest, out=self.greatest)
        self._hold(other.keys, other.counts)

    def settle(self) -> None:
        """Count what is still held as it came."""
        if not self._pending:
            return
        keys = np.concatenate([self.keys, *(keys for keys, _ in self._pending)])
        counts = np.concatenate([self.counts, *(counts for _, counts in self._pending)])
        self._pending, self._n_pending = [], 0
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        self.keys, self.counts = keys[starts], np.add.reduceat(counts[order], starts)

    def quantiles(self, at: Sequence[float]) -> FloatArray:
        """Quantiles, linear between neighbours as numpy's [quantile, row]; every row must hold as many numbers."""
        self.settle()
        n_each, rest = divmod(int(self.counts.sum()), self.n_rows)
        assert rest == 0, "every row counts the same number of values"
        last = np.cumsum(self.counts)
        middles = _middles(self.keys % _BINS - _BINS // 2)
        before = np.arange(self.n_rows) * n_each
        found = np.empty((len(at), self.n_rows))
        for number, share in enumerate(at):
            place = share * (n_each - 1)
            low, high = int(np.floor(place)), int(np.ceil(place))
            below, above = (
                self.least
                if rank == 0
                else self.greatest
                if rank == n_each - 1
                else middles[np.searchsorted(last, before + rank, side="right")]
                for rank in (low, high)
            )
            found[number] = below + (above - below) * (place - low)
        return np.clip(found, self.least, self.greatest)

    @staticmethod
    def of(keys: IntArray, counts: IntArray, least: FloatArray, greatest: FloatArray) -> LogHistogram:
        """One written down, read back."""
        made = LogHistogram(least.size)
        made.keys, made.counts, made.least, made.greatest = keys, counts, least.copy(), greatest.copy()
        return made

    def _hold(self, keys: IntArray, counts: IntArray) -> None:
        self._pending.append((keys, counts))
        self._n_pending += keys.size
        if self._n_pending > max(_PENDING, self.keys.size // 2):
            self.settle()


def _bins(values: FloatArray) -> IntArray:
    """The bin of each number: 0 for zero, 1 and up for what is above, -1 and down for what is below."""
    size = np.maximum(np.abs(values) / _SMALLEST, 1.0)
    number = np.floor(np.log(size) / _LOG_BIN).astype(np.int64) + 1
    return np.where(np.abs(values) < _SMALLEST, 0, np.sign(values).astype(np.int64) * number)


def _middles(bins: IntArray) -> FloatArray:
    """The number each bin stands for: half a percent from its edges at most."""
    middles: FloatArray = np.sign(bins) * _SMALLEST * np.exp((np.abs(bins) - 0.5) * _LOG_BIN)
    return middles
