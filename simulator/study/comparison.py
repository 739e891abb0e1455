"""What a study says: which policy costs least at equal quality and service, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from simulator.lab.orders import Tenure
from simulator.laws.units import FloatArray
from simulator.study.commitments import CommitmentRow
from simulator.study.controls import estimate, regression, worth_using
from simulator.study.controls import half_width as half_width
from simulator.study.daily import QUANTILES, DailySums
from simulator.study.equal_service import worlds_said as worlds_said
from simulator.study.fleet_statement import FleetRow, fleet_rows
from simulator.study.frames import CASH_COLUMNS, HOURS_COLUMNS, frame, replications_frame
from simulator.study.months import ACCOUNT_COLUMNS, MONTH_COLUMNS, USE_COLUMNS
from simulator.study.paired import ROUNDING, chances, regrets
from simulator.study.paired import TIE as TIE
from simulator.study.paired import worst_mean as worst_mean
from simulator.study.run_rows import OrderRow, ReleaseRow, ReplanRow
from simulator.study.runs import Runs
from simulator.study.stages import STAGE_COLUMNS, StageRow, stage_rows
from simulator.study.summary import ReplicationRow


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
    controlled_cost_usd: float
    """Mean cost with total demand as control, and its interval; the plain one where no control narrows it."""
    controlled_cost_low_usd: float
    controlled_cost_high_usd: float
    controlled_present_value_usd: float
    cost_variance_factor: float
    """Variance of that mean / that of the plain mean: 1 where no control is used."""
    controlled_difference_percent: float
    """The same of the paired difference."""
    controlled_difference_low_percent: float
    controlled_difference_high_percent: float
    difference_variance_factor: float
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
class Comparison(Runs):
    """Every policy in the same worlds; the first policy is the baseline."""

    rows: tuple[ReplicationRow, ...]
    """By replication, then policy."""
    releases: tuple[ReleaseRow, ...]
    orders: tuple[OrderRow, ...]
    replans: tuple[ReplanRow, ...]
    commitments: tuple[CommitmentRow, ...]
    days: DailySums

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

    def orders_of(self, policy: str, before: date) -> pd.DataFrame:
        """The commitments of one policy before a date."""
        table = self.orders_table
        return table[(table["policy"] == policy) & (table["date"] < pd.Timestamp(before))]

    def releases_of(self, policy: str) -> pd.DataFrame:
        """The runs of one policy towards its releases."""
        return self.releases_table[self.releases_table["policy"] == policy]

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
    def stages_table(self) -> pd.DataFrame:
        """A row per policy and stage: what it cost, mean over worlds."""
        by_policy = zip(self.policy_names, self.stage_usd, self.controlled_stage_usd, strict=True)
        return frame([row for found in by_policy for row in stage_rows(*found)], StageRow)

    @cached_property
    def daily_table(self) -> pd.DataFrame:
        """A row per policy and day: quantiles of cumulative cash, on `quantile_days` alone, and means of all else."""
        return pd.concat([self._daily(number) for number in range(len(self.policies))], ignore_index=True)

    @cached_property
    def monthly_table(self) -> pd.DataFrame:
        """A row per policy and calendar month of the window: cash, economic cost, GPU-hours and tokens, mean sums."""
        firsts = self.scenario.calendar.month_days
        days = np.diff(firsts, append=self.n_days)
        dates = self.dates[firsts].astype("datetime64[s]")
        means = self.days.months / self.replications
        return pd.concat(
            [
                pd.DataFrame(
                    {
                        "policy": name,
                        "month": dates,
                        "days": days,
                        **dict(zip(MONTH_COLUMNS, means[number], strict=True)),
                    }
                )
                for number, name in enumerate(self.policy_names)
            ],
            ignore_index=True,
        )

    def orders_of_first_world(self) -> pd.DataFrame:
        """The orders of every policy in world 0: one story, where all of them would be too many."""
        return frame([order for order in self.orders if order.replication == 0], OrderRow)

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

    @cached_property
    def stage_usd(self) -> FloatArray:
        """Economic cost by stage, mean over worlds [policy, stage]."""
        return np.stack([self.by_policy(column).mean(axis=1) for column in STAGE_COLUMNS], axis=1)

    @cached_property
    def controlled_stage_usd(self) -> FloatArray:
        """The same with luck in total demand taken out as it is from the whole cost, to which they add up."""
        return np.stack([self.part_of_cost_usd(self.by_policy(column)) for column in STAGE_COLUMNS], axis=1)

    def part_of_cost_usd(self, usd: FloatArray) -> FloatArray:
        """Mean of a part of the cost [policy, replication], estimated as the whole cost of its policy is [policy]."""
        whole = self.by_policy("cumulative_cost_usd")
        used = [worth_using(cost, self.control) for cost in whole]
        return np.array([regression(part, control).mean for part, control in zip(usd, used, strict=True)])

    def mean_cumulative_cash_usd(self) -> FloatArray:
        """Money spent since the start, inventory left out, mean over worlds [policy, day]."""
        return self.days.cumulative_cash_usd / self.replications

    def most_tokens_per_parameter(self) -> float:
        """Of any model trained, in training; 0 if none was."""
        return max((release.training_tokens_per_parameter for release in self.releases), default=0.0)

    def break_even_date(self, policy: int) -> date | None:
        """When this policy's mean cash falls back to the baseline's for good, having been above it."""
        spent = self.mean_cumulative_cash_usd()
        dearer = spent[policy] > spent[0] * (1.0 + ROUNDING)
        last = np.flatnonzero(dearer)[-1:]
        if last.size == 0 or last[0] == self.n_days - 1:
            return None
        return self.scenario.start + timedelta(days=int(last[0]) + 1)

    @cached_property
    def _summary(self) -> tuple[SummaryRow, ...]:
        cost = self.by_policy("cumulative_cost_usd")
        reasons = [self.not_comparable(number) for number in range(len(self.policies))]
        comparable = np.array([not reason for reason in reasons])
        wins, regret = chances(cost, comparable), regrets(cost, comparable).mean(axis=1)
        return tuple(
            self._row(number, cost, reasons[number], float(wins[number]), float(regret[number]))
            for number in range(len(self.policies))
        )

    def _row(self, number: int, cost: FloatArray, reason: str, chance: float, regret: float) -> SummaryRow:
        own = cost[number]
        spread, difference = half_width(own), self.difference_usd(number)
        paired, (percent, low_percent, high_percent) = half_width(difference), self.difference_percent(number)
        controlled, controlled_percent = estimate(own, self.control), self.controlled_percent(number)
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
            controlled_cost_usd=controlled.mean,
            controlled_cost_low_usd=controlled.low,
            controlled_cost_high_usd=controlled.high,
            controlled_present_value_usd=estimate(self.by_policy("present_value_usd")[number], self.control).mean,
            cost_variance_factor=controlled.variance_factor,
            controlled_difference_percent=controlled_percent.mean,
            controlled_difference_low_percent=controlled_percent.low,
            controlled_difference_high_percent=controlled_percent.high,
            difference_variance_factor=controlled_percent.variance_factor,
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
            "used_gpus": days.used_gpus[number] / worlds,
            "unserved_gpus": days.unserved_gpus[number] / worlds,
            **dict(zip(ACCOUNT_COLUMNS, days.cash_usd[number] / worlds, strict=True)),
            **dict(zip(USE_COLUMNS, days.economic_usd[number] / worlds, strict=True)),
        }
        return pd.DataFrame(columns)
