"""Sums that come out the same to the last bit in any order, so that pieces of a study add up to the whole of it."""

from __future__ import annotations

import numpy as np

from simulator.laws.units import FloatArray, IntArray

_GRIDS = (2.0**44, 2.0**12, 2.0**-20, 2.0**-52)
"""Each value is cut into a multiple of each; multiples add up exactly in double precision."""
_ROUND_TO_WHOLE = 1.5 * 2.0**52
"""Added to a smaller number and taken off again, it leaves the nearest whole number."""


class ExactSum:
    """Sums of rows of numbers, exact to 1e-16 for four million values each below 4e22 in size.

    A row that was never added to, or never held anything large, takes no room for it.
    """

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self._limbs: dict[tuple[int, int], FloatArray] = {}
        """By row and grid, sums of multiples of the grid [column]."""

    def add(self, row: int, values: np.ndarray) -> None:
        """Add numbers to a row [column]."""
        largest = float(np.abs(values).max(initial=0.0))
        if largest == 0.0:
            return
        left = values.astype(np.float64)
        for at, grid in enumerate(_GRIDS):
            if largest < grid / 2.0:
                continue  # all would go to zero
            part = left + _ROUND_TO_WHOLE * grid
            part -= _ROUND_TO_WHOLE * grid
            left -= part
            self._take((row, at), part)
            if not left.any():
                return

    def merge(self, other: ExactSum) -> None:
        """Add all that another has summed."""
        for key, part in other._limbs.items():
            self._take(key, part)

    def total(self, n_rows: int) -> FloatArray:
        """The sums so far [row, column]."""
        total = np.zeros((n_rows, self.n_columns))
        for row, at in sorted(self._limbs, key=lambda key: -key[1]):  # the small parts first
            total[row] += self._limbs[row, at]
        return total

    def keys_and_limbs(self) -> tuple[IntArray, FloatArray]:
        """All that is known, as two arrays to write down: which row and grid [part, 2], and sums [part, column]."""
        keys = sorted(self._limbs)
        limbs = [self._limbs[key] for key in keys]
        return np.array(keys, dtype=np.int64).reshape(-1, 2), np.array(limbs).reshape(-1, self.n_columns)

    @staticmethod
    def of(keys: IntArray, limbs: FloatArray) -> ExactSum:
        """The same, read back."""
        made = ExactSum(limbs.shape[1])
        made._limbs = {(int(row), int(at)): limb.copy() for (row, at), limb in zip(keys, limbs, strict=True)}
        return made

    def _take(self, key: tuple[int, int], part: FloatArray) -> None:
        if key in self._limbs:
            self._limbs[key] += part
        else:
            self._limbs[key] = part.copy()
