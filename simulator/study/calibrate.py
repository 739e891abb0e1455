"""What a trace of token use says of demand: level, growth, weekdays, noise, hours and lengths, each with its error."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from math import exp, sqrt

import numpy as np
import numpy.typing as npt

from simulator.laws.units import DAYS_PER_WEEK, FloatArray
from simulator.study.csv_rows import TraceError
from simulator.study.log_fit import Estimate, LogFit, Noise, f_test, fit_logs
from simulator.study.regimes import LEAST_REGIME_DAYS, Bend, bends, hinges, moved_by_a_later_bend
from simulator.study.usage import Usage
from simulator.study.usage_csv import Kind

LEAST_DAYS = 14
"""Whole days below which nothing but the level is fitted: two weeks."""
WEEKDAYS_FROM_DAYS = 21
SIGNIFICANCE = 0.05
_TOLD_ERRORS = 2.0
"""Standard errors by which growth must differ from none."""


@dataclass(frozen=True, slots=True)
class GrowthRegime:
    """A span of steady growth from `start` on; `earliest` and `latest` bound where it likely began (95 %)."""

    start: date
    earliest: date
    latest: date
    log_growth_per_day: Estimate


@dataclass(frozen=True, slots=True)
class Weekdays:
    """Factors Monday to Sunday, with mean 1."""

    factors: tuple[Estimate, ...]
    weekend_over_weekday: Estimate


@dataclass(frozen=True, slots=True)
class DailyFit:
    """The fit of the logs of daily tokens.

    Levels are means [tokens a day], neutral to weekday: on the first day of the trace, and on `start`, the day the
    demand block begins. `weekday_p_value` is NaN where weekdays were not tried. Without `has_growth` the growth of
    the one regime is not used: it cannot be told from none.
    """

    first_day: date
    start: date
    level: Estimate
    first_level: Estimate
    has_growth: bool
    regimes: tuple[GrowthRegime, ...]
    weekdays: Weekdays | None
    weekday_p_value: float
    noise: Noise
    typical_error: float
    tokens: tuple[float, ...]
    fitted_tokens: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Mix:
    """Prompt tokens against user tokens, and against completion tokens."""

    prompt_share: Estimate
    prompt_over_completion: Estimate


@dataclass(frozen=True, slots=True)
class Lengths:
    """Means over requests; `context` is what a request holds while it is answered: its prompt and half its answer."""

    n_requests: int
    prompt_tokens: Estimate
    completion_tokens: Estimate
    context_tokens: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """All a trace gives; what it cannot give is absent, and `notes` say why."""

    trace: str
    is_dated: bool
    n_whole_days: int
    start: date | None
    mean_tokens_per_day: Estimate | None
    daily: DailyFit | None
    hours: tuple[Estimate, ...]
    mix: Mix | None
    lengths: Lengths | None
    notes: tuple[str, ...]


def calibrate(usage: Usage, start: date | None = None) -> Calibration:
    """Fit all that a trace can give.

    Parameters
    ----------
    usage
        The trace, by whole day.
    start
        The day the demand block is to begin; default: the day after the trace.

    Raises
    ------
    TraceError
        If `start` is neither a day of the trace nor the day after it.
    """
    notes = list(usage.notes)
    begins = _start(usage, start)
    n_days = usage.tokens.size
    daily = _daily(usage, begins, notes) if n_days >= LEAST_DAYS else None
    if daily is None:
        known = "only a mean level is given" if n_days else "not even a level is given"
        notes.append(f"{whole_days(n_days)}: growth, weekdays and noise take {LEAST_DAYS} or more; {known}")
    return Calibration(
        trace=usage.path.name,
        is_dated=usage.is_dated,
        n_whole_days=n_days,
        start=begins if usage.is_dated and n_days else None,
        mean_tokens_per_day=_mean(usage.tokens) if n_days else None,
        daily=daily,
        hours=_hours(usage, notes),
        mix=_mix(usage, notes),
        lengths=_lengths(usage, notes),
        notes=tuple(notes),
    )


def whole_days(n_days: int) -> str:
    """A number of days in words."""
    return f"{n_days} whole day{'' if n_days == 1 else 's'}"


def _start(usage: Usage, start: date | None) -> date:
    after = usage.last_day + timedelta(days=1)
    if start is None:
        return after
    if not usage.is_dated or usage.tokens.size == 0:
        need = "whole days" if usage.is_dated else "dates: give --first-day"
        raise TraceError(f"{usage.path}:2: --start: the trace has no {need} (got {start})")
    if not usage.first_day <= start <= after:
        last = usage.tokens.size + 1
        row = f":{2 if start < usage.first_day else last}" if usage.kind is Kind.DAY else ""
        rule = f"must be a day of the trace, {usage.first_day} to {usage.last_day}, or the day after it"
        raise TraceError(f"{usage.path}{row}: --start: {rule} (got {start})")
    return start


def _daily(usage: Usage, start: date, notes: list[str]) -> DailyFit:
    logs, n = np.log(usage.tokens), usage.tokens.size
    weekday = (np.arange(n) + usage.first_day.weekday()) % DAYS_PER_WEEK
    dummies = (weekday[:, None] == np.arange(1, DAYS_PER_WEEK)).astype(np.float64)
    line = np.column_stack([np.ones(n), np.arange(float(n))])
    p_value = float("nan")
    if not usage.is_dated:
        notes.append("no weekday pattern: the trace has no dates (give --first-day), so its weekdays are not known")
    elif n < WEEKDAYS_FROM_DAYS:
        notes.append(f"no weekday pattern: {n} days are too few, it takes {WEEKDAYS_FROM_DAYS}")
    else:
        p_value = _weekday_p_value(logs, line, dummies)
    has_weekdays = p_value < SIGNIFICANCE
    if p_value >= SIGNIFICANCE:
        notes.append(f"no weekday pattern: too noisy to tell one from chance (F test, p = {p_value:.2f})")
    week = dummies if has_weekdays else dummies[:, :0]
    found = bends(logs, np.column_stack([line, week]))
    days = np.array([bend.day for bend in found], dtype=np.int64)
    trend = np.column_stack([line, hinges(n, days)])
    fit = fit_logs(logs, np.column_stack([trend, week]), moved_by_a_later_bend(n, days))
    regimes = _regimes(fit, found, usage.first_day)
    has_growth = bool(found) or _is_told(regimes[0].log_growth_per_day)
    if not has_growth:
        trend = trend[:, :1]
        fit = fit_logs(logs, np.column_stack([trend, week]))
        notes.append("no growth: it differs from none by less than two standard errors, so demand is taken as flat")
    elif n < 2 * LEAST_REGIME_DAYS:
        notes.append(f"one growth for all days: a change of it takes {2 * LEAST_REGIME_DAYS} days to see")
    return _daily_fit(usage, start, fit, regimes, found, has_growth, has_weekdays, p_value)


def _weekday_p_value(logs: FloatArray, line: FloatArray, dummies: FloatArray) -> float:
    """Chance of such a weekday pattern if there were none, beside the bends of growth."""
    found = bends(logs, np.column_stack([line, dummies]))
    hinge = hinges(logs.size, np.array([bend.day for bend in found], dtype=np.int64))
    design = np.column_stack([line, hinge, dummies])
    persistence = fit_logs(logs, design).noise.ar1_corrected.value
    return f_test(logs, design, dummies.shape[1], persistence)


def _is_told(growth: Estimate) -> bool:
    """Whether growth differs from none by more than chance; of a trace without noise, by more than rounding."""
    return abs(growth.value) > max(_TOLD_ERRORS * growth.standard_error, 1e-9)


def _regimes(fit: LogFit, found: tuple[Bend, ...], first_day: date) -> tuple[GrowthRegime, ...]:
    """Slopes add up bend by bend."""
    spans = [(0, 0, 0), *((bend.day, bend.earliest, bend.latest) for bend in found)]
    regimes = []
    for number, span in enumerate(spans):
        weights = np.zeros(fit.coefficients.size)
        weights[1 : number + 2] = 1.0
        start, earliest, latest = (first_day + timedelta(days=day) for day in span)
        regimes.append(GrowthRegime(start, earliest, latest, fit.estimate(weights)))
    return tuple(regimes)


def _daily_fit(
    usage: Usage,
    start: date,
    fit: LogFit,
    regimes: tuple[GrowthRegime, ...],
    found: tuple[Bend, ...],
    has_growth: bool,
    has_weekdays: bool,
    p_value: float,
) -> DailyFit:
    fitted = np.exp(np.log(usage.tokens) - fit.residuals + fit.noise.sd_corrected.value**2 / 2.0)
    days = np.array([bend.day for bend in found], dtype=np.int64)

    def level(day: int) -> Estimate:
        line = [1.0, float(day)] if has_growth else [1.0]
        return _level(fit, np.array([*line, *np.maximum(day - days, 0)]), day > days, has_weekdays)

    return DailyFit(
        first_day=usage.first_day,
        start=start,
        level=level((start - usage.first_day).days),
        first_level=level(0),
        has_growth=has_growth,
        regimes=regimes,
        weekdays=_weekdays(fit) if has_weekdays else None,
        weekday_p_value=p_value,
        noise=fit.noise,
        typical_error=float(np.mean(np.abs(usage.tokens / fitted - 1.0))),
        tokens=tuple(usage.tokens.tolist()),
        fitted_tokens=tuple(fitted.tolist()),
    )


def _week_weights(fit: LogFit) -> tuple[FloatArray, FloatArray]:
    """Weekday effects, Monday's being 1, and each one's part of their sum."""
    raw = np.exp(np.append(0.0, fit.coefficients[1 - DAYS_PER_WEEK :]))
    return raw, raw / raw.sum()


def _level(fit: LogFit, trend: FloatArray, is_bent: npt.NDArray[np.bool_], has_weekdays: bool) -> Estimate:
    """Mean tokens a day at a point of the trend: noise has mean one, and so have the weekdays."""
    n_coefficients, week = fit.coefficients.size, 1.0
    weights = np.append(np.zeros(n_coefficients), is_bent.astype(np.float64))
    weights[: trend.size] = trend
    value = fit.estimate(weights).value
    if has_weekdays:
        raw, parts = _week_weights(fit)
        weights[n_coefficients + 1 - DAYS_PER_WEEK : n_coefficients], week = parts[1:], float(raw.mean())
    tokens = exp(value + fit.noise.sd_corrected.value**2 / 2.0) * week
    return Estimate(tokens, tokens * fit.estimate(weights).standard_error)


def _weekdays(fit: LogFit) -> Weekdays:
    """Factors with mean 1; errors to first order in those of the logs."""
    raw, parts = _week_weights(fit)
    at = slice(fit.coefficients.size + 1 - DAYS_PER_WEEK, fit.coefficients.size)
    factors, effects = raw / raw.mean(), fit.covariance[at, at]
    slopes = factors[:, None] * (np.eye(DAYS_PER_WEEK) - parts)
    covariance = slopes[:, 1:] @ effects @ slopes[:, 1:].T
    weekday, weekend = float(factors[:5].mean()), float(factors[5:].mean())
    change = np.repeat([-weekend / weekday**2 / 5.0, 1.0 / weekday / 2.0], [5, 2])
    ratio_error = sqrt(max(float(change @ covariance @ change), 0.0))
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    pairs = zip(factors.tolist(), errors.tolist(), strict=True)
    return Weekdays(tuple(Estimate(*pair) for pair in pairs), Estimate(weekend / weekday, ratio_error))


def _hours(usage: Usage, notes: list[str]) -> tuple[Estimate, ...]:
    """Tokens of each hour / mean tokens of an hour, over whole days; errors from how days differ."""
    n_days, n_hours = usage.hours.shape
    if n_days == 0 or n_hours == 0:
        why = "no day was recorded whole" if n_hours or usage.kind is not Kind.DAY else "rows are days"
        notes.append(f"no hour profile: {why}")
        return ()
    if n_days == 1:
        notes.append("hour profile of one day: no error can be given")
    totals = usage.hours.sum(axis=1)
    return tuple(_ratio(n_hours * hour, totals) for hour in usage.hours.T)


def _mix(usage: Usage, notes: list[str]) -> Mix | None:
    if usage.prompt.size == 0:
        notes.append("no ratio of prompt to completion: the trace has their total only")
        return None
    if usage.completion.sum() == 0.0 or usage.prompt.sum() == 0.0:
        notes.append("no ratio of prompt to completion: one of them is 0 throughout")
        return None
    share = _ratio(usage.prompt, usage.prompt + usage.completion)
    return Mix(share, _ratio(usage.prompt, usage.completion))


def _lengths(usage: Usage, notes: list[str]) -> Lengths | None:
    if usage.kind is not Kind.REQUEST or usage.prompt.size == 0:
        notes.append("no context length: it takes a row per request, with prompt and completion")
        return None
    context = _mean(usage.prompt + usage.completion / 2.0)
    return Lengths(usage.prompt.size, _mean(usage.prompt), _mean(usage.completion), context)


def _mean(values: FloatArray) -> Estimate:
    error = float(values.std(ddof=1)) / sqrt(values.size) if values.size > 1 else float("nan")
    return Estimate(float(values.mean()), error)


def _ratio(part: FloatArray, whole: FloatArray) -> Estimate:
    """Sum of `part` / sum of `whole`, with the error of a ratio of two sums over the same independent items."""
    n, total = whole.size, float(whole.sum())
    ratio = float(part.sum()) / total
    off = part - ratio * whole
    return Estimate(ratio, sqrt(n / (n - 1) * float(off @ off)) / total if n > 1 else float("nan"))
