"""The days of many runs: sums for means, counts for quantiles, and no path of any one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simulator.lab.accounts import Account, Use
from simulator.lab.orders import Tenure
from simulator.laws.units import DAYS_PER_WEEK, FloatArray, IntArray
from simulator.study.exact_sum import ExactSum
from simulator.study.histogram import LogHistogram
from simulator.study.months import MONTH_COLUMNS
from simulator.study.summary import Float32Array, RunDays
from simulator.world.calendar import Calendar

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_POINTS = 500
_N_SERIES = len(Account) + len(Use) + len(Tenure) + 4
"""Of each policy: the two money tables, GPUs, power, need, and cash since the start."""
_SUMS = ("series", "tokens", "months")


def quantile_days(n_days: int) -> IntArray:
    """Days whose quantiles are known: all of up to 500, else every so many days, the last one among them."""
    step = -(-n_days // _MOST_POINTS)
    return np.arange(n_days - 1, -1, -step)[::-1]


def block_days(n_days: int) -> int:
    """Weeks where there are enough of them; days in a short run."""
    return DAYS_PER_WEEK if n_days >= 10 * DAYS_PER_WEEK else 1


def block_means(by_day: npt.NDArray[np.floating]) -> FloatArray:
    """Means over whole blocks of the last axis."""
    block = block_days(by_day.shape[-1])
    whole = by_day[..., : by_day.shape[-1] // block * block]
    means: FloatArray = whole.reshape(*whole.shape[:-1], -1, block).mean(axis=-1, dtype=np.float64)
    return means


@dataclass(frozen=True, slots=True)
class DailySums:
    """The days of a finished study. Quantiles are over replications, 0.5 % off at most; see `LogHistogram`."""

    quantile_days: IntArray
    cumulative_cash_quantiles_usd: FloatArray
    """At `QUANTILES`, on `quantile_days` [quantile, policy, point]."""
    asked_quantiles_tokens: FloatArray
    """At `QUANTILES`, of means over blocks of days [quantile, block]."""
    asked_tokens: FloatArray
    """Sum over replications [day]; all policies of a replication are asked the same."""
    cumulative_cash_usd: FloatArray
    """Sum over replications [policy, day]."""
    cash_usd: FloatArray
    """Sum over replications [policy, account, day]."""
    economic_usd: FloatArray
    """Sum over replications [policy, use, day]."""
    gpus: FloatArray
    """Sum over replications [policy, tenure, day]."""
    owned_mw: FloatArray
    """Sum over replications [policy, day]."""
    used_gpus: FloatArray
    """With work; sum over replications [policy, day]."""
    unserved_gpus: FloatArray
    """That tokens refused would have kept busy; sum over replications [policy, day]."""
    served_tokens: FloatArray
    """Sum over replications [policy, day]."""
    months: FloatArray
    """Sum over replications [policy, column of `MONTH_COLUMNS`, calendar month], of sums in double precision."""


class DayTally:
    """The days of the runs so far. Tallies of parts merge in any order into that of the whole, to the last bit."""

    def __init__(self, n_policies: int, calendar: Calendar) -> None:
        self.n_policies, self.n_days = n_policies, calendar.horizon_days
        n_days, self._n_months = self.n_days, calendar.month_days.size
        self._points = quantile_days(n_days)
        self._series = ExactSum(n_days)
        """By policy and series."""
        self._tokens = ExactSum(n_days)
        """Served by each policy, then asked."""
        self._months = ExactSum(len(MONTH_COLUMNS) * self._n_months)
        """By policy."""
        self._spent = LogHistogram(n_policies * self._points.size)
        self._asked = LogHistogram(n_days // block_days(n_days))

    def add(self, asked_tokens: Float32Array, runs: Sequence[RunDays], months: Sequence[FloatArray]) -> None:
        """Take in one replication: what was asked [day], the days of each policy, and its months."""
        self._tokens.add(self.n_policies, asked_tokens)
        self._asked.add(0, block_means(asked_tokens))
        for policy, days in enumerate(runs):
            self._tokens.add(policy, days.served_tokens)
            self._spent.add(policy * self._points.size, days.cumulative_cash_usd[self._points])
            for number, row in enumerate(_rows(days)):
                self._series.add(policy * _N_SERIES + number, row)
            self._months.add(policy, months[policy].ravel())

    def merge(self, other: DayTally) -> None:
        """Take in all that another has."""
        self._series.merge(other._series)
        self._tokens.merge(other._tokens)
        self._months.merge(other._months)
        self._spent.merge(other._spent)
        self._asked.merge(other._asked)

    def sums(self) -> DailySums:
        """What tables and pictures need."""
        n_policies, n_days = self.n_policies, self.n_days
        series = self._series.total(n_policies * _N_SERIES).reshape(n_policies, _N_SERIES, n_days)
        tokens = self._tokens.total(n_policies + 1)
        cash, economic, gpus, megawatts, used, unserved, spent = np.split(
            series, np.cumsum([len(Account), len(Use), len(Tenure), 1, 1, 1]), axis=1
        )
        return DailySums(
            self._points,
            self._spent.quantiles(QUANTILES).reshape(len(QUANTILES), n_policies, -1),
            self._asked.quantiles(QUANTILES),
            tokens[-1],
            spent[:, 0],
            cash,
            economic,
            gpus,
            megawatts[:, 0],
            used[:, 0],
            unserved[:, 0],
            tokens[:-1],
            self._months.total(n_policies).reshape(n_policies, len(MONTH_COLUMNS), self._n_months),
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All of it, to write down."""
        found: dict[str, npt.NDArray[Any]] = {}
        for name, total in zip(_SUMS, (self._series, self._tokens, self._months), strict=True):
            found[f"{name}_keys"], found[f"{name}_limbs"] = total.keys_and_limbs()
        for name, counted in (("spent", self._spent), ("asked", self._asked)):
            counted.settle()
            found[f"{name}_keys"], found[f"{name}_counts"] = counted.keys, counted.counts
            found[f"{name}_least"], found[f"{name}_greatest"] = counted.least, counted.greatest
        return found

    @staticmethod
    def of(n_policies: int, calendar: Calendar, found: Mapping[str, npt.NDArray[Any]]) -> DayTally:
        """One written down, read back.

        Raises
        ------
        KeyError, ValueError
            If it is not the tally of so many policies and days.
        """
        made = DayTally(n_policies, calendar)
        sums = [ExactSum.of(found[f"{name}_keys"], found[f"{name}_limbs"]) for name in _SUMS]
        parts = ("keys", "counts", "least", "greatest")
        counted = [LogHistogram.of(*(found[f"{name}_{part}"] for part in parts)) for name in ("spent", "asked")]
        if [total.n_columns for total in sums] != [made.n_days, made.n_days, made._months.n_columns]:
            raise ValueError(f"must have {made.n_days} days in {made._n_months} months")
        if [histogram.n_rows for histogram in counted] != [made._spent.n_rows, made._asked.n_rows]:
            raise ValueError(f"must have {n_policies} policies")
        made._series, made._tokens, made._months = sums
        made._spent, made._asked = counted
        return made


def _rows(days: RunDays) -> list[Float32Array]:
    need = days.used_gpus, days.unserved_gpus
    return [*days.cash_usd, *days.economic_usd, *days.gpus, days.owned_mw, *need, days.cumulative_cash_usd]
