"""How a law refuses or warns outside the range where its source supports it."""

import warnings

import numpy as np

from simulator.laws.units import FloatArray, Numbers


class ExtrapolationWarning(UserWarning):
    """A published fit was evaluated outside the data it was fitted on; the number is an extrapolation."""


def positive(name: str, value: Numbers) -> FloatArray:
    """`value` as an array of float64; refuse anything that is not greater than zero (infinity is allowed).

    >>> float(positive("n_parameters", 7e9))
    7000000000.0
    """
    array = np.asarray(value, dtype=np.float64)
    return _inside(name, array, array > 0, "greater than 0")


def not_negative(name: str, value: Numbers) -> FloatArray:
    """`value` as an array of float64; refuse anything below zero."""
    array = np.asarray(value, dtype=np.float64)
    return _inside(name, array, array >= 0, "0 or more")


def at_least(name: str, value: Numbers, lowest: float) -> FloatArray:
    """`value` as an array of float64; refuse anything below `lowest`."""
    array = np.asarray(value, dtype=np.float64)
    return _inside(name, array, array >= lowest, f"{lowest:g} or more")


def share(name: str, value: Numbers) -> FloatArray:
    """`value` as an array of float64; refuse anything outside 0 to 1 (0 excluded)."""
    array = np.asarray(value, dtype=np.float64)
    return _inside(name, array, (array > 0) & (array <= 1), "greater than 0 and at most 1")


def between(name: str, value: Numbers, lowest: float, highest: float) -> FloatArray:
    """`value` as an array of float64; refuse anything outside `lowest` to `highest`, both included."""
    array = np.asarray(value, dtype=np.float64)
    inside = (array >= lowest) & (array <= highest)
    return _inside(name, array, inside, f"between {lowest:g} and {highest:g}")


def warn_beyond(name: str, value: Numbers, highest: float, source: str) -> None:
    """Warn that `source` was fitted only up to `highest`."""
    largest = float(np.max(np.asarray(value, dtype=np.float64)))
    if largest > highest:
        warnings.warn(
            f"{name} = {largest:g} is beyond {highest:g}, the largest value {source} was fitted on",
            ExtrapolationWarning,
            stacklevel=3,
        )


def warn_a_reader(name: str, value: Numbers, highest: float, why: str) -> None:
    """Warn that a single number lies beyond what has been observed; a search over arrays is left in peace."""
    if np.ndim(value) == 0 and highest < float(value) < np.inf:
        warnings.warn(f"{name} = {float(value):g} is beyond {highest:g}: {why}", ExtrapolationWarning, stacklevel=3)


def _inside(name: str, array: FloatArray, inside: np.typing.NDArray[np.bool_], rule: str) -> FloatArray:
    if not inside.all():
        worst = array[~inside].flat[0] if array.ndim else array
        raise ValueError(f"{name} must be {rule}, got {float(worst):g}")
    return array
