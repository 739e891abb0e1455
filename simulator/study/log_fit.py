"""Least squares on the logs of consecutive days whose noise lasts from day to day, AR(1).

Ordinary least squares takes each day for a new witness. Where noise lasts, that understates every standard error,
the noise itself and its persistence; here all three are put right.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import f as f_distribution

from simulator.laws.units import FloatArray
from simulator.world.dice import decayed_sum

MOST_PERSISTENCE = 0.98
NOTHING = 1e-12
"""Sum of squared logs that is rounding, not noise."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted value and its standard error; NaN where the trace gives none."""

    value: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Noise:
    """What is left of the log of daily tokens.

    `sd` has n - p degrees of freedom; `ar1` is the correlation of successive residuals. Both are biased low in a
    short trace. `ar1_corrected` is Kendall's r + (1 + 3 r) / n, and `sd_corrected` allows for the slow swings of
    such noise, which the fit takes for trend.
    """

    degrees_of_freedom: int
    sd: float
    ar1: Estimate
    ar1_corrected: Estimate
    sd_corrected: Estimate


@dataclass(frozen=True, slots=True)
class LogFit:
    """Coefficients of a design, their covariance under AR(1) noise, and what is left.

    The covariance goes on over the figures that were chosen to suit the logs; they have no coefficient.
    """

    coefficients: FloatArray
    covariance: FloatArray
    residuals: FloatArray
    noise: Noise

    def estimate(self, weights: FloatArray) -> Estimate:
        """A weighted sum of coefficients, and of chosen figures if their weights follow, with its standard error."""
        value = float(weights[: self.coefficients.size] @ self.coefficients)
        weights = np.append(weights, np.zeros(len(self.covariance) - weights.size))
        return Estimate(value, sqrt(max(float(weights @ self.covariance @ weights), 0.0)))


def fit_logs(logs: FloatArray, design: FloatArray, chosen: FloatArray | None = None) -> LogFit:
    """Fit logs [day] on the columns of a design [day, column].

    What in the design was chosen to suit these logs, as the date of a bend, adds to the errors: `chosen` are the
    changes of the fit with each such figure [day, figure], up to a factor.
    """
    n = logs.size
    coefficients, residuals = _least_squares(logs, design)
    squares = float(residuals @ residuals)
    full = design if chosen is None else np.column_stack([design, chosen])
    free = n - full.shape[1]
    if free < 2 or squares < NOTHING:
        none = Estimate(0.0, float("nan"))
        covariance = np.zeros((full.shape[1], full.shape[1]))
        return LogFit(coefficients, covariance, residuals, Noise(free, 0.0, none, none, Estimate(0.0, 0.0)))
    ar1 = correlation(residuals)
    corrected = corrected_persistence(ar1, n)
    inverse = np.linalg.inv(full.T @ full)
    correlated = full.T @ _correlated(full, corrected)
    sd_corrected = sqrt(squares / (n - float(np.trace(inverse @ correlated))))
    error = sqrt((1.0 - ar1 * ar1) / free)
    witnesses = free * (1.0 - corrected**2) / (1.0 + corrected**2)
    noise = Noise(
        degrees_of_freedom=free,
        sd=sqrt(squares / free),
        ar1=Estimate(ar1, error),
        ar1_corrected=Estimate(corrected, error * (1.0 + 3.0 / n)),
        sd_corrected=Estimate(sd_corrected, sd_corrected / sqrt(2.0 * witnesses)),
    )
    covariance = sd_corrected**2 * inverse @ correlated @ inverse
    return LogFit(coefficients, covariance, residuals, noise)


def correlation(residuals: FloatArray) -> float:
    """Correlation of successive residuals; 0 if they are but rounding."""
    if float(residuals @ residuals) < NOTHING:
        return 0.0
    return float(np.corrcoef(residuals[:-1], residuals[1:])[0, 1])


def corrected_persistence(ar1: float, n: int) -> float:
    """Kendall's correction for the bias of a short series, kept within what a stationary noise can have.

    Examples
    --------
    >>> round(corrected_persistence(0.7085, 38), 3)
    0.791
    """
    return min(max(ar1 + (1.0 + 3.0 * ar1) / n, -MOST_PERSISTENCE), MOST_PERSISTENCE)


def whitened(values: FloatArray, persistence: float) -> FloatArray:
    """Each day less what lasts of the day before, so that AR(1) noise becomes independent from day to day."""
    white = values.copy()
    white[1:] -= persistence * values[:-1]
    white[0] *= sqrt(1.0 - persistence**2)
    return white


def f_test(logs: FloatArray, design: FloatArray, n_tested: int, persistence: float) -> float:
    """Chance of so large an effect of the last `n_tested` columns if they had none, with AR(1) noise whitened away."""
    n, p = design.shape
    white, columns = whitened(logs, persistence), whitened(design, persistence)
    squares = [float(r @ r) for r in (_least_squares(white, columns[:, :k])[1] for k in (p - n_tested, p))]
    if squares[1] < NOTHING:
        return 1.0 if squares[0] < NOTHING else 0.0
    ratio = (squares[0] - squares[1]) / n_tested / (squares[1] / (n - p))
    return float(f_distribution.sf(ratio, n_tested, n - p))


def _least_squares(logs: FloatArray, design: FloatArray) -> tuple[FloatArray, FloatArray]:
    coefficients: FloatArray = np.linalg.lstsq(design, logs, rcond=None)[0].astype(np.float64)
    return coefficients, logs - design @ coefficients


def _correlated(values: FloatArray, persistence: float) -> FloatArray:
    """The correlation matrix of AR(1) noise times `values` [day, column], without ever making that matrix."""
    after = decayed_sum(values, persistence)
    before: FloatArray = decayed_sum(values[::-1], persistence)[::-1]
    return after + before - values
