"""When growth changed: a line through the logs of daily tokens that may bend, at dates the trace chooses.

Noise that lasts from day to day looks like a change of growth. So every bend is judged with that noise whitened away,
at the persistence found beside the bend, and must gain more log-likelihood than BIC asks of two figures, its date and
its slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.units import FloatArray, IntArray
from simulator.study.log_fit import NOTHING, corrected_persistence, correlation, whitened

LEAST_REGIME_DAYS = 42
_MOST_BENDS = 6
_FIGURES_PER_BEND = 2
_PASSES = 3
_MOST_TRIED = 400
_LIKELY = 3.84
"""Twice the log-likelihood that a date may fall short of the best: 95 % of a chi-square with one degree of freedom."""


@dataclass(frozen=True, slots=True)
class Bend:
    """The first day of a new growth, counted from the first day of the trace; 95 % of its likely days."""

    day: int
    earliest: int
    latest: int


def hinges(n_days: int, days: IntArray) -> FloatArray:
    """Days since each bend, 0 before it [day, bend]."""
    hinge: FloatArray = np.maximum(np.arange(float(n_days))[:, None] - days, 0.0)
    return hinge


def moved_by_a_later_bend(n_days: int, days: IntArray) -> FloatArray:
    """How the line changes when a bend comes later, up to a factor: by a step [day, bend]."""
    step: FloatArray = (np.arange(n_days)[:, None] > days).astype(np.float64)
    return step


def bends(logs: FloatArray, others: FloatArray) -> tuple[Bend, ...]:
    """Where growth changed; `others` are the columns fitted beside [day, column], a level and a slope among them.

    The best bend is added to those found before, all are moved to where they fit best, and so on; then as many are
    kept as BIC allows.
    """
    found: list[Bend] = []
    kept: list[Bend] = []
    balance, best = 0.0, 0.0
    while len(found) < _MOST_BENDS and _open_days(logs.size, found).size:
        found, gain = _one_more(logs, others, found)
        balance += gain - _FIGURES_PER_BEND * np.log(logs.size)
        if balance > best:
            kept, best = list(found), balance
    return tuple(sorted(kept, key=lambda bend: bend.day))


def _one_more(logs: FloatArray, others: FloatArray, found: list[Bend]) -> tuple[list[Bend], float]:
    """The bends with the best one added, each then moved in turn; and what the last one gains."""
    persistence = 0.0
    added = _best(logs, others, found, persistence)[0]
    for _ in range(_PASSES):
        persistence = _persistence(logs, others, [*found, added])
        added = _best(logs, others, found, persistence)[0]
    moved = [*found, added]
    for at in range(len(moved)):
        rest = moved[:at] + moved[at + 1 :]
        moved[at] = _best(logs, others, rest, persistence)[0]
    before = _squares(logs, others, found, persistence)
    after = _squares(logs, others, moved, persistence)
    return moved, float(logs.size * np.log(before / max(after, NOTHING))) if before > NOTHING else 0.0


def _open_days(n_days: int, found: list[Bend]) -> IntArray:
    """Days on which growth may change: every regime lasts a while."""
    days = np.arange(LEAST_REGIME_DAYS, n_days - LEAST_REGIME_DAYS + 1)
    for bend in found:
        days = days[np.abs(days - bend.day) >= LEAST_REGIME_DAYS]
    return days


def _best(logs: FloatArray, others: FloatArray, found: list[Bend], persistence: float) -> tuple[Bend, float]:
    """The bend that gains most beside those found, tried on a coarse grid and then on every day around its best."""
    days = _open_days(logs.size, found)
    stride = -(-days.size // _MOST_TRIED)
    tried = days[::stride]
    fall, _ = _falls(logs, others, found, persistence, tried)
    near = days[np.abs(days - tried[np.argmax(fall)]) < stride]
    fall_near, squares = _falls(logs, others, found, persistence, near)
    at = int(np.argmax(fall_near))
    least = max(squares - float(fall_near[at]), np.finfo(np.float64).tiny)
    shortfall = logs.size * np.log(np.maximum(squares - fall, least) / least)
    likely = np.append(tried[shortfall <= _LIKELY], near[at])
    return Bend(int(near[at]), int(likely.min()), int(likely.max())), float(fall_near[at])


def _falls(
    logs: FloatArray, others: FloatArray, found: list[Bend], persistence: float, days: IntArray
) -> tuple[FloatArray, float]:
    """By how much a bend on each of `days` lowers the sum of squares, and that sum without it."""
    span, left = _span_and_left(logs, others, found, persistence)
    tried = whitened(hinges(logs.size, days), persistence)
    tried -= span @ (span.T @ tried)
    fall: FloatArray = (left @ tried) ** 2 / np.maximum((tried**2).sum(axis=0), np.finfo(np.float64).tiny)
    return fall, float(left @ left)


def _span_and_left(
    logs: FloatArray, others: FloatArray, found: list[Bend], persistence: float
) -> tuple[FloatArray, FloatArray]:
    """An orthonormal basis of what is fitted already, and what that leaves of the logs, both whitened."""
    design = whitened(_design(others, found), persistence)
    span = np.linalg.qr(design)[0]
    white = whitened(logs, persistence)
    return span, white - span @ (span.T @ white)


def _squares(logs: FloatArray, others: FloatArray, found: list[Bend], persistence: float) -> float:
    left = _span_and_left(logs, others, found, persistence)[1]
    return float(left @ left)


def _persistence(logs: FloatArray, others: FloatArray, found: list[Bend]) -> float:
    """Of the noise around the line with these bends."""
    left = _span_and_left(logs, others, found, 0.0)[1]
    return max(corrected_persistence(correlation(left), logs.size), 0.0)


def _design(others: FloatArray, found: list[Bend]) -> FloatArray:
    return np.column_stack([others, hinges(others.shape[0], np.array([bend.day for bend in found], dtype=np.int64))])
