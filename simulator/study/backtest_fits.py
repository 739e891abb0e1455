"""What is fitted to a record cut off at a day, and the worlds it makes: daily tokens, a few reports, or prices.

Each fit knows how unsure it is: its worlds differ by the errors of its level and growth too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from math import exp, inf, isfinite, log, sqrt
from pathlib import Path

import numpy as np

from simulator.laws.units import DAYS_PER_WEEK, DAYS_PER_YEAR, FloatArray
from simulator.study.alone import WORLDS, demand_paths, rent_paths, worlds_for
from simulator.study.backtest import MOST_LOG_GROWTH, Backtest, Record, cut_record, scored
from simulator.study.calibrate import LEAST_DAYS, calibrate
from simulator.study.csv_rows import TraceError
from simulator.study.demand_block import fitted_demand
from simulator.study.log_fit import fit_logs
from simulator.study.price_csv import read_prices
from simulator.study.usage import load_usage
from simulator.study.usage_csv import USUAL, Columns
from simulator.world.demand import DemandInputs
from simulator.world.market import MarketInputs, Quote
from simulator.world.token_reports import GOOGLE

LEAST_REPORTS, LEAST_PRICES, LEAST_WEEKS = 3, 3, 26
TOKENS, RENT = "user tokens per day", "USD per GPU-hour"
_MONTHS_PER_YEAR = 12.0


def google(until: date, worlds: int = WORLDS, seed: int = 1) -> Backtest:
    """The tokens that Google has reported, as tokens a day."""
    days = [report.day for report in GOOGLE]
    tokens = [report.tokens_per_month * _MONTHS_PER_YEAR / DAYS_PER_YEAR for report in GOOGLE]
    return _reports(cut_record("google", TOKENS, days, tokens, until, LEAST_REPORTS), worlds, seed)


def reports(
    path: Path,
    date_column: str,
    column: str,
    where: Mapping[str, str],
    until: date,
    worlds: int = WORLDS,
    seed: int = 1,
) -> Backtest:
    """A few figures of demand on dates far apart."""
    read = read_prices(path, date_column, (column,), where)
    record = cut_record(str(path), column, read.days, read.usd[0], until, LEAST_REPORTS)
    return _reports(record, worlds, seed)


def prices(
    path: Path,
    date_column: str,
    column: str,
    where: Mapping[str, str],
    until: date,
    worlds: int = WORLDS,
    seed: int = 1,
) -> Backtest:
    """A record of one price."""
    read = read_prices(path, date_column, (column,), where)
    record = cut_record(str(path), RENT, read.days, read.usd[0], until, LEAST_PRICES)
    market, fitted = fitted_market(record)
    n_days = (record.held_out_days[-1] - record.cut).days + 1
    paths = rent_paths(market, record.cut, n_days, worlds_for(n_days, worlds), seed)
    return scored(record, fitted, record.cut, paths)


def usage(path: Path, until: date, columns: Columns = USUAL, worlds: int = WORLDS, seed: int = 1) -> Backtest:
    """A trace of token use, day by day: what `labspend calibrate` makes of its first days."""
    whole = load_usage(path, columns)
    days = [whole.first_day + timedelta(days=at) for at in range(whole.tokens.size)]
    record = cut_record(str(path), TOKENS, days, whole.tokens.tolist(), until, LEAST_DAYS)
    found = calibrate(load_usage(path, columns, until=until))
    assert found.daily is not None  # there are days enough
    level, growth = found.daily.level, found.daily.regimes[-1].log_growth_per_day
    demand = fitted_demand(found, found.daily)
    sigmas = _finite(level.standard_error / level.value), _finite(growth.standard_error) * DAYS_PER_YEAR
    unsure = {"level_sigma": sigmas[0], "growth_sigma": sigmas[1] if found.daily.has_growth else 0.0}
    demand = DemandInputs.model_validate({**dict(demand), **unsure})
    n_days, start = len(record.held_out), found.daily.start
    fitted = (
        f"growth {100.0 * (exp(growth.value) - 1.0):.2f} % a day, error {100.0 * growth.standard_error:.2f} %"
        + ("" if found.daily.has_growth else ": not told from none, so demand is taken as flat"),
        f"noise, sd of the log {demand.noise_sigma:.3f}, {demand.noise_persistence:.2f} of it left after a day",
        "a pattern of the week" if found.daily.weekdays is not None else "no pattern of the week",
    )
    return scored(record, fitted, start, demand_paths(demand, start, n_days, worlds_for(n_days, worlds), seed))


def fitted_walk(days: Sequence[date], values: Sequence[float]) -> tuple[float, float, float]:
    """Log growth a year, its standard error, and the sd of the log after a year of a random walk.

    Growth is that from the first to the last; what each step is off by tells the walk (Brownian motion with drift, by
    maximum likelihood, one degree of freedom fewer).

    Examples
    --------
    Two steps of a year, of 3 and of 1 in the log: growth 2, walk sqrt((1 + 1) / 1), error of growth walk / sqrt(2).

    >>> growth, error, walk = fitted_walk([date(2024, 1, 1), date(2025, 1, 1), date(2026, 1, 1)], [1.0, exp(3), exp(4)])
    >>> round(growth, 2), round(error, 2), round(walk, 2)
    (2.0, 1.0, 1.41)
    """
    years = np.diff([day.toordinal() for day in days]) / DAYS_PER_YEAR
    steps = np.diff(np.log(values))
    growth = float(steps.sum() / years.sum())
    walk = sqrt(float(((steps - growth * years) ** 2 / years).sum()) / (steps.size - 1))
    return growth, walk / sqrt(float(years.sum())), walk


def fitted_market(record: Record) -> tuple[MarketInputs, tuple[str, ...]]:
    """How a price has moved: its drift with its error, and what it does around it, week by week.

    A world parts from the last price, which is itself off its line by as much as any. The distance of two such days
    has twice the variance of one, so the noise of the market is sqrt(2) of that around the line.
    """
    weekly = _weekly(record)
    logs, weeks = np.log(weekly), np.arange(float(weekly.size))
    fit = fit_logs(logs, np.column_stack([np.ones(weeks.size), weeks]))
    per_year = DAYS_PER_YEAR / DAYS_PER_WEEK
    drift = fit.estimate(np.array([0.0, 1.0]))
    _check_growth(record, drift.value * per_year)
    slope, error = drift.value * per_year, _finite(drift.standard_error) * per_year
    persistence, sigma = fit.noise.ar1_corrected.value, fit.noise.sd_corrected.value
    half_life = max(DAYS_PER_WEEK * log(0.5) / log(persistence), 1.0) if persistence > 0.0 else 1.0
    market = MarketInputs(
        quote=(Quote(accelerator="H100", on_demand_usd_per_gpu_hour=record.known[-1], source=record.name),),
        rental_fall_per_year=1.0 - exp(slope),
        rental_fall_sigma=error,
        rental_noise_sigma=sqrt(2.0) * sigma,
        rental_noise_half_life_days=half_life,
    )
    if len(set(record.known)) == 1:
        return market, ("a price that never moved, so no world moves it",)
    fitted = (
        f"drift {100.0 * (exp(slope) - 1.0):+.1f} % a year, error {100.0 * error:.1f} %",
        f"around it, sd of the log {sigma:.3f}, half gone after {half_life:.0f} days",
    )
    return market, fitted


def _reports(record: Record, worlds: int, seed: int) -> Backtest:
    growth, error, walk = fitted_walk(record.known_days, record.known)
    _check_growth(record, growth)
    demand = DemandInputs(
        tokens_per_day=record.known[-1],
        growth_per_year=exp(growth),
        growth_sigma=error,
        walk_sigma=walk,
        noise_has="median_one",
    )
    n_days = (record.held_out_days[-1] - record.cut).days + 1
    paths = demand_paths(demand, record.cut, n_days, worlds_for(n_days, worlds), seed)
    fitted = (
        f"growth x {exp(growth):.3g} a year, error of its log {error:.2f}",
        f"a random walk, sd of the log {walk:.2f} after a year",
    )
    return scored(record, fitted, record.cut, paths)


def _check_growth(record: Record, log_growth: float) -> None:
    if abs(log_growth) > MOST_LOG_GROWTH:
        raise TraceError(
            f"{record.name}: changes up to {record.cut} by more than a factor of 1e15 a year: is a day wrong?"
        )


def _weekly(record: Record) -> FloatArray:
    """The price that held at the end of each week back from the cut: each holds until the next."""
    span = (record.cut - record.known_days[0]).days
    weeks = span // DAYS_PER_WEEK
    if weeks < LEAST_WEEKS:
        raise TraceError(f"{record.name}: {span} days are too few to fit a price to, it takes {LEAST_WEEKS} weeks")
    known = np.array([day.toordinal() for day in record.known_days])
    ends = record.cut.toordinal() - DAYS_PER_WEEK * np.arange(weeks, -1, -1)
    return np.array(record.known)[np.searchsorted(known, ends, side="right") - 1]


def _finite(error: float) -> float:
    return error if isfinite(error) and error < inf else 0.0
