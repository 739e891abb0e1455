"""The trade of training compute against inference compute in the abstract (Erdil 2024, Epoch).

"Optimally allocating compute between inference and training": if beta orders of magnitude (OOM) more training buy
alpha OOM less inference at equal quality, then T^alpha I^beta is constant along equal quality, and the cheapest point
spends alpha / (alpha + beta) on training, whatever the demand. Compute is in any one unit (FLOP, or FLOP a year);
prices are per that unit. The techniques that make the trade are in `techniques.py`.

The essay rounds "1 OOM for somewhat more than 1 OOM" to 1:1; here both rates are inputs. Rates beyond 10:1 either way,
where one side takes ten times the other, the essay calls unsupported by evidence; they are computed all the same. The
trade holds only within the span of the techniques (1 to 3 OOM): give the limits, and `binding` tells when one is met.
"""

from dataclasses import dataclass

import numpy as np

from simulator.laws.ranges import between, not_negative, positive
from simulator.laws.units import FloatArray, Numbers


@dataclass(frozen=True, slots=True)
class Split:
    """Compute on both sides; arrays of the broadcast shape.

    Attributes
    ----------
    training_flop, inference_flop : array
        Compute for training, and for inference over the life of the model [FLOP].
    binding : array of bool
        True where a limit of the trade was reached ("trade used up").
    """

    training_flop: FloatArray
    inference_flop: FloatArray
    binding: np.typing.NDArray[np.bool_]

    @property
    def total_flop(self) -> FloatArray:
        """Both sides together [FLOP]."""
        return self.training_flop + self.inference_flop

    @property
    def training_share(self) -> FloatArray:
        """Training over both sides, in FLOP [1]."""
        return self.training_flop / self.total_flop


def training_share(alpha: Numbers, beta: Numbers) -> FloatArray:
    """Share of spend that goes to training at the optimum, alpha / (alpha + beta), whatever the prices [1].

    >>> float(training_share(1.0, 1.0))
    0.5
    """
    a, b = positive("alpha", alpha), positive("beta", beta)
    return a / (a + b)


def best_split(
    training_flop: Numbers,
    inference_flop: Numbers,
    alpha: Numbers,
    beta: Numbers,
    training_price: Numbers = 1.0,
    inference_price: Numbers = 1.0,
    most_oom_more: Numbers = np.inf,
    most_oom_less: Numbers = np.inf,
) -> Split:
    """Cheapest split of equal quality to the one given, within the limits of the trade.

    With x = log10(T/T0), T = T0 10^x and I = I0 10^(-(alpha/beta) x); the cost is convex in x, so the unlimited
    optimum, T/I = (alpha/beta)(p_I/p_T), is clamped to [-most_oom_less, most_oom_more].

    Parameters
    ----------
    training_flop, inference_flop : float or array
        Starting point T0, I0 [FLOP].
    alpha, beta : float or array
        beta OOM more training buy alpha OOM less inference [1].
    training_price, inference_price : float or array
        Price of a FLOP on each side [USD/FLOP].
    most_oom_more, most_oom_less : float or array
        How far training can be raised, and lowered, before the trade is used up [OOM].

    >>> split = best_split(1.0, 100.0, 1.0, 1.0)
    >>> float(split.training_flop), float(split.inference_flop), float(split.total_flop)
    (10.0, 10.0, 20.0)
    """
    t0, i0 = positive("training_flop", training_flop), positive("inference_flop", inference_flop)
    a, b = positive("alpha", alpha), positive("beta", beta)
    price_ratio = positive("inference_price", inference_price) / positive("training_price", training_price)
    up, down = not_negative("most_oom_more", most_oom_more), not_negative("most_oom_less", most_oom_less)
    wanted = b / (a + b) * np.log10(a / b * price_ratio * i0 / t0)
    x = np.clip(wanted, -down, up)
    return Split(t0 * 10**x, i0 * 10 ** (-(a / b) * x), np.asarray(wanted != x))


def later_compute_price(years: Numbers, price_fall_per_year: Numbers) -> FloatArray:
    """Mean price of a FLOP over a flat demand of `years`, relative to today's, (1 - e^(-dH)) / (dH) [1].

    d = -ln(1 - fall).

    >>> round(float(later_compute_price(1.0, 0.3)), 4)
    0.8411
    """
    d = -np.log1p(-between("price_fall_per_year", price_fall_per_year, 0.0, 0.999999))
    exponent = d * positive("years", years)
    flat = exponent == 0
    safe = np.where(flat, 1.0, exponent)
    result: FloatArray = np.where(flat, 1.0, -np.expm1(-safe) / safe)[()]
    return result


def value_of_information(training_share: Numbers, log_sigma: Numbers) -> FloatArray:
    """Saving, as a share of cost, from knowing a lognormal demand before training instead of after [1].

    1 - exp(-theta (1 - theta) sigma^2 / 2), theta = beta / (alpha + beta) = 1 - training share. Committed blind, only
    the mean of demand matters; known, the cost goes with demand^theta.

    >>> round(float(value_of_information(0.5, 1.0)), 4)
    0.1175
    """
    s = between("training_share", training_share, 0.0, 1.0)
    return -np.expm1(-s * (1 - s) * not_negative("log_sigma", log_sigma) ** 2 / 2)


def wrong_forecast_cost(actual_over_planned: Numbers, training_share: Numbers) -> FloatArray:
    """Cost over the optimum when demand turns out `actual_over_planned` times the plan, (s + (1-s) r) / r^(1-s).

    >>> round(float(wrong_forecast_cost(10.0, 0.5)), 5)
    1.73925
    """
    r = positive("actual_over_planned", actual_over_planned)
    s = between("training_share", training_share, 0.0, 1.0)
    return (s + (1 - s) * r) / r ** (1 - s)


def next_model_share(growth: Numbers) -> FloatArray:
    """Share of today's compute that trains the next model, g / (1 + g), if each lifetime splits evenly [1].

    A model g times larger is trained while the present one is served (Epoch 2024, "Can AI scaling continue through
    2030?").

    >>> float(next_model_share(4.0))
    0.8
    """
    g = positive("growth", growth)
    return g / (1 + g)
