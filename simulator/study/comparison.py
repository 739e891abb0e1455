"""What a study says: which policy costs least at equal quality and service, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit

from simulator.lab.accounts import Account, Use
from simulator.lab.orders import Tenure
from simulator.lab.policy import Policy
from simulator.laws.units import FloatArray
from simulator.study.commitments import CommitmentRow
from simulator.study.daily import QUANTILES, DailySums
from simulator.study.fleet_statement import FleetRow, fleet_rows
from simulator.study.frames import CASH_COLUMNS, HOURS_COLUMNS, frame, replications_frame
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow
from simulator.study.summary import ReplicationRow
from simulator.world.scenario import Scenario

SERVED_TOLERANCE = 0.001
"""Equal service: share of tokens served within 0.1 point of the baseline."""
LATE_TOLERANCE_DAYS = 0.5
"""Equal service: no later than the baseline, on average over the worlds and to the whole day."""
_SURE = 0.975
_WORST = 0.05
_ROUNDING = 1e-9
"""Costs closer than this part of them differ by rounding alone."""
TIE = 1e-4
"""Costs closer than this part of them are a tie: no difference worth naming."""


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One policy over all worlds. Means are over replications; low and high bound the mean at 95 %."""

    policy: str
    comparable: bool
    """Whether quality and service equal the baseline's; only then is a policy called cheaper."""
    reason: str
    """Why it is not comparable."""
    replications: int
    cumulative_cost_usd: float
    cumulative_cost_low_usd: float
    cumulative_cost_high_usd: float
    cumulative_cost_p5_usd: float
    cumulative_cost_p50_usd: float
    cumulative_cost_p95_usd: float
    cvar95_usd: float
    """Mean of the worst 5 % of worlds."""
    cost_before_inventory_usd: float
    opening_usd: float
    closing_usd: float
    present_value_usd: float
    real_cost_usd: float
    """The cumulative cost in dollars of the start."""
    difference_usd: float
    """Paired: this policy less the baseline in the same world."""
    difference_low_usd: float
    difference_high_usd: float
    difference_percent: float
    """Mean difference / mean cost of the baseline."""
    difference_low_percent: float
    difference_high_percent: float
    chance_cheapest: float
    """Share of worlds in which no comparable policy is cheaper; ties, within 0.01 % of it, are split."""
    regret_usd: float
    """Mean cost above the cheapest comparable policy of each world."""
    training_share: float
    rnd_share: float
    served_share: float
    days_late: float
    quality_met: bool
    """In every world."""
    unserved_usd: float
    utilization: float
    usd_per_million_tokens: float
    peak_cash_usd: float
    idle_usd: float
    stranded_usd: float
    break_even_date: date | None
    """When the mean cash spent falls back to the baseline's for good, having been above it."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Every policy in the same worlds; the first policy is the baseline."""

    scenario: Scenario
    policies: tuple[Policy, ...]
    seed: int
    replications: int
    rows: tuple[ReplicationRow, ...]
    """By replication, then policy."""
    releases: tuple[ReleaseRow, ...]
    orders: tuple[OrderRow, ...]
    replans: tuple[ReplanRow, ...]
    commitments: tuple[CommitmentRow, ...]
    days: DailySums

    @property
    def policy_names(self) -> tuple[str, ...]:
        """In the order given; the baseline first."""
        return tuple(policy.name for policy in self.policies)

    @property
    def baseline(self) -> str:
        """The policy all others are measured against."""
        return self.policies[0].name

    @property
    def n_days(self) -> int:
        """Days simulated."""
        return self.scenario.calendar.horizon_days

    @property
    def dates(self) -> npt.NDArray[np.datetime64]:
        """The date of every day simulated."""
        return np.datetime64(self.scenario.start) + np.arange(self.n_days)

    # Tables ----------------------------------------------------------------------------------------------------

    @cached_property
    def replications_table(self) -> pd.DataFrame:
        """A row per replication and policy: every scalar, and cash by account."""
        return replications_frame(self.rows)

    @cached_property
    def releases_table(self) -> pd.DataFrame:
        """A row per replication, policy and run towards a release; a release that was trained again has several."""
        return frame(self.releases, ReleaseRow)

    @cached_property
    def orders_table(self) -> pd.DataFrame:
        """A row per replication, policy and commitment."""
        return frame(self.orders, OrderRow)

    @cached_property
    def replans_table(self) -> pd.DataFrame:
        """A row per replication, policy and change of course."""
        return frame(self.replans, ReplanRow)

    @cached_property
    def commitments_table(self) -> pd.DataFrame:
        """A row per replication, policy, day of looking and year in which contracts are still to be paid."""
        return frame(self.commitments, CommitmentRow)

    @cached_property
    def fleet_table(self) -> pd.DataFrame:
        """A row per policy and tenure: GPU-hours, their cost and the price of each, means over worlds."""
        statement: list[FleetRow] = []
        for number, name in enumerate(self.policy_names):
            columns = np.stack([self.by_policy(column)[number] for column in (*CASH_COLUMNS, *HOURS_COLUMNS)], axis=1)
            account_usd, gpu_hours = np.split(columns.mean(axis=0), [len(CASH_COLUMNS)])
            held, used = gpu_hours.reshape(2, -1)
            statement += fleet_rows(name, account_usd, held, used)
        return frame(statement, FleetRow)

    @cached_property
    def daily_table(self) -> pd.DataFrame:
        """A row per policy and day: quantiles of cumulative cash, on `quantile_days` alone, and means of all else."""
        return pd.concat([self._daily(number) for number in range(len(self.policies))], ignore_index=True)

    def summary(self) -> pd.DataFrame:
        """A row per policy."""
        return frame(self.summary_records(), SummaryRow)

    def summary_records(self) -> list[SummaryRow]:
        """The same, as objects."""
        return list(self._summary)

    # Figures ---------------------------------------------------------------------------------------------------

    def by_policy(self, column: str) -> FloatArray:
        """One scalar of every run [policy, replication]."""
        flat = self.replications_table[column].to_numpy(np.float64)
        return flat.reshape(self.replications, len(self.policies)).T

    def mean_cumulative_cash_usd(self) -> FloatArray:
        """Money spent since the start, inventory left out, mean over worlds [policy, day]."""
        return self.days.cumulative_cash_usd / self.replications

    def most_tokens_per_parameter(self) -> float:
        """Of any model trained, in training; 0 if none was."""
        return max((release.training_tokens_per_parameter for release in self.releases), default=0.0)

    def difference_usd(self, policy: int, against: int = 0) -> FloatArray:
        """Paired difference of two policies' cost [replication]; rounding counts as no difference."""
        cost = self.by_policy("cumulative_cost_usd")
        off: FloatArray = cost[policy] - cost[against]
        return np.where(np.abs(off) > _ROUNDING * np.abs(cost[against]), off, 0.0)

    def difference_percent(self, policy: int, against: int = 0) -> tuple[float, float, float]:
        """Mean paired difference / mean cost of the other policy, and its 95 % interval [%].

        The interval is that of a ratio of means: of what is left of each world once the mean ratio is taken out.
        """
        base, difference = self.by_policy("cumulative_cost_usd")[against], self.difference_usd(policy, against)
        ratio = float(difference.mean() / base.mean())
        off = half_width(difference - ratio * base) / abs(float(base.mean()))
        return 100.0 * ratio, 100.0 * (ratio - off), 100.0 * (ratio + off)

    def break_even_date(self, policy: int) -> date | None:
        """When this policy's mean cash falls back to the baseline's for good, having been above it."""
        spent = self.mean_cumulative_cash_usd()
        dearer = spent[policy] > spent[0] * (1.0 + _ROUNDING)
        last = np.flatnonzero(dearer)[-1:]
        if last.size == 0 or last[0] == self.n_days - 1:
            return None
        return self.scenario.start + timedelta(days=int(last[0]) + 1)

    def not_comparable(self, policy: int) -> str:
        """Why this policy cannot be compared with the baseline, in words; nothing if it can."""
        missed = np.sum(self.by_policy("quality_met") == 0.0, axis=1)
        if missed[policy]:
            return f"misses its quality target in {missed[policy]} of {worlds_said(self.replications)}"
        if missed[0]:
            return f"{self.baseline} misses its quality target, so nothing can be called cheaper than it"
        served = self.by_policy("served_share").mean(axis=1)
        fewer = served[0] - served[policy]
        if abs(fewer) > SERVED_TOLERANCE:
            return f"serves {abs(fewer) * 100:.1f} points {'less' if fewer > 0 else 'more'} than {self.baseline}"
        late = self.by_policy("days_late").mean(axis=1)
        if late[policy] - late[0] >= LATE_TOLERANCE_DAYS:
            return f"is {late[policy] - late[0]:.3g} days later than {self.baseline}"
        return ""

    @cached_property
    def _summary(self) -> tuple[SummaryRow, ...]:
        cost = self.by_policy("cumulative_cost_usd")
        reasons = [self.not_comparable(number) for number in range(len(self.policies))]
        comparable = np.array([not reason for reason in reasons])
        chances, regrets = _chances(cost, comparable), _regrets(cost, comparable)
        return tuple(
            self._row(number, cost, reasons[number], float(chances[number]), float(regrets[number]))
            for number in range(len(self.policies))
        )

    def _row(self, number: int, cost: FloatArray, reason: str, chance: float, regret: float) -> SummaryRow:
        own = cost[number]
        spread, difference = half_width(own), self.difference_usd(number)
        paired, (percent, low_percent, high_percent) = half_width(difference), self.difference_percent(number)
        p5, p50, p95 = (float(found) for found in np.quantile(own, (0.05, 0.5, 0.95)))

        def mean(column: str) -> float:
            return float(self.by_policy(column)[number].mean())

        return SummaryRow(
            policy=self.policies[number].name,
            comparable=not reason,
            reason=reason,
            replications=self.replications,
            cumulative_cost_usd=float(own.mean()),
            cumulative_cost_low_usd=float(own.mean()) - spread,
            cumulative_cost_high_usd=float(own.mean()) + spread,
            cumulative_cost_p5_usd=p5,
            cumulative_cost_p50_usd=p50,
            cumulative_cost_p95_usd=p95,
            cvar95_usd=worst_mean(own),
            cost_before_inventory_usd=mean("cost_before_inventory_usd"),
            opening_usd=mean("opening_usd"),
            closing_usd=mean("closing_usd"),
            present_value_usd=mean("present_value_usd"),
            real_cost_usd=mean("real_cost_usd"),
            difference_usd=float(difference.mean()),
            difference_low_usd=float(difference.mean()) - paired,
            difference_high_usd=float(difference.mean()) + paired,
            difference_percent=percent,
            difference_low_percent=low_percent,
            difference_high_percent=high_percent,
            chance_cheapest=chance,
            regret_usd=regret,
            training_share=mean("training_share"),
            rnd_share=mean("rnd_share"),
            served_share=mean("served_share"),
            days_late=mean("days_late"),
            quality_met=bool(self.by_policy("quality_met")[number].all()),
            unserved_usd=mean("unserved_usd"),
            utilization=mean("utilization"),
            usd_per_million_tokens=mean("usd_per_million_tokens"),
            peak_cash_usd=mean("peak_cash_usd"),
            idle_usd=mean("idle_usd"),
            stranded_usd=mean("stranded_usd"),
            break_even_date=self.break_even_date(number) if number else None,
        )

    def _daily(self, number: int) -> pd.DataFrame:
        days, worlds = self.days, self.replications
        quantiles = np.full((len(QUANTILES), self.n_days), np.nan)
        quantiles[:, days.quantile_days] = days.cumulative_cash_quantiles_usd[:, number]
        columns: dict[str, Any] = {
            "policy": self.policies[number].name,
            "date": self.dates.astype("datetime64[s]"),
            **{f"cumulative_cash_p{q * 100:.0f}_usd": row for q, row in zip(QUANTILES, quantiles, strict=True)},
            "cumulative_cash_mean_usd": self.mean_cumulative_cash_usd()[number],
            "asked_tokens": days.asked_tokens / worlds,
            "served_tokens": days.served_tokens[number] / worlds,
            **{f"{tenure.value}_gpus": days.gpus[number, at] / worlds for at, tenure in enumerate(Tenure)},
            "owned_mw": days.owned_mw[number] / worlds,
            **{f"{account.name.lower()}_usd": days.cash_usd[number, account] / worlds for account in Account},
            **{f"{use.name.lower()}_usd": days.economic_usd[number, use] / worlds for use in Use},
        }
        return pd.DataFrame(columns)


def half_width(values: FloatArray) -> float:
    """Half of the 95 % interval of a mean, by Student's t; NaN for one value.

    Examples
    --------
    >>> round(half_width(np.array([1.0, 2.0, 3.0])), 4)
    2.4841
    """
    if values.size < 2:
        return float("nan")
    return float(stdtrit(values.size - 1, _SURE) * values.std(ddof=1) / np.sqrt(values.size))


def worst_mean(costs: FloatArray, share: float = _WORST) -> float:
    """CVaR: mean of the dearest `share` of the worlds; a world that is only partly among them counts in part.

    Examples
    --------
    Of ten worlds the worst 15 % are the dearest and half of the next.

    >>> round(worst_mean(np.arange(10.0), 0.15), 4)
    8.6667
    """
    worst = np.sort(costs)[::-1]
    weight = np.clip(share * costs.size - np.arange(costs.size), 0.0, 1.0)
    return float(worst @ weight / weight.sum())


def _chances(cost: FloatArray, comparable: npt.NDArray[np.bool_]) -> FloatArray:
    """Share of worlds in which each policy is the cheapest of the comparable ones; NaN for the others."""
    chances = np.full(cost.shape[0], np.nan)
    if comparable.any():
        best = cost[comparable].min(axis=0)
        cheapest = cost[comparable] <= best + TIE * np.abs(best)
        chances[comparable] = (cheapest / cheapest.sum(axis=0)).mean(axis=1)
    return chances


def _regrets(cost: FloatArray, comparable: npt.NDArray[np.bool_]) -> FloatArray:
    """Mean cost above the cheapest comparable policy of each world; NaN for those not comparable."""
    regrets = np.full(cost.shape[0], np.nan)
    if comparable.any():
        regrets[comparable] = (cost[comparable] - cost[comparable].min(axis=0)).mean(axis=1)
    return regrets


def worlds_said(number: int) -> str:
    """So many worlds, in words."""
    return "1 world" if number == 1 else f"{number} worlds"
