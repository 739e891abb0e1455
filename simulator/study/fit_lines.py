"""A calibration as figures, one a line: value, error, unit and what it means; and as files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from datetime import timedelta
from math import exp, nan
from pathlib import Path

from simulator.laws.units import DAYS_PER_YEAR
from simulator.study.calibrate import Calibration, DailyFit
from simulator.study.demand_block import demand_toml
from simulator.study.log_fit import Estimate
from simulator.study.trace_band import TraceBand

DEMAND, FIT, DAYS = "demand.toml", "fit.csv", "days.csv"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_INTERVAL = 1.96


@dataclass(frozen=True, slots=True)
class FitLine:
    """One figure; its error is NaN where there is none. A detail is left out of the table."""

    name: str
    label: str
    value: float
    standard_error: float
    unit: str
    meaning: str
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """All of a calibration in one record."""

    calibration: Calibration
    lines: tuple[FitLine, ...]
    demand_toml: str


def fit_lines(found: Calibration, band: TraceBand | None) -> tuple[FitLine, ...]:
    """The figures of a calibration, in the order of a [demand] table."""
    lines: list[FitLine] = []
    mean = found.mean_tokens_per_day
    if found.daily is not None:
        lines += _daily_lines(found.daily, found.is_dated)
    elif mean is not None:
        lines.append(_line("tokens_per_day", "Level", mean, "tokens a day", "mean of the whole days there are"))
    if found.hours:
        lines += _hour_lines(found.hours)
    if found.mix is not None:
        said = f"{found.mix.prompt_over_completion.value:.3g} prompt tokens to a completion token"
        lines.append(_line("prompt_share", "Prompt share", found.mix.prompt_share, "share", said))
        ratio = found.mix.prompt_over_completion
        lines.append(_line("prompt_over_completion", "Prompt / completion", ratio, "", "of all tokens"))
    if found.lengths is not None:
        said = f"over {found.lengths.n_requests:,} requests"
        lines.append(_line("prompt_tokens", "Prompt", found.lengths.prompt_tokens, "tokens", said))
        lines.append(_line("completion_tokens", "Completion", found.lengths.completion_tokens, "tokens", said))
        said = "prompt and half the completion: what a request holds in memory"
        lines.append(_line("context_tokens", "Context", found.lengths.context_tokens, "tokens", said))
    if band is not None:
        lines += _band_lines(band)
    return tuple(lines)


def _line(name: str, label: str, found: Estimate, unit: str, meaning: str, is_detail: bool = False) -> FitLine:
    return FitLine(name, label, found.value, found.standard_error, unit, meaning, is_detail)


def _daily_lines(daily: DailyFit, is_dated: bool) -> Iterator[FitLine]:
    on = f"on {daily.start}" if is_dated else "on the day after the trace"
    yield _line("tokens_per_day", "Level", daily.level, "tokens a day", f"mean {on}, neutral to weekday")
    for number, regime in enumerate(daily.regimes):
        growth = regime.log_growth_per_day
        low, mid, high = (
            exp(min((growth.value + away * growth.standard_error) * DAYS_PER_YEAR, 300.0))
            for away in (-_INTERVAL, 0.0, _INTERVAL)
        )
        said = f"x {mid:.3g} a year, 95 %: {low:.3g} to {high:.3g}"
        if number:
            said += f"; began between {regime.earliest} and {regime.latest}"
        if not daily.has_growth:
            said += "; not told from none, so not used"
        label = "Growth" if len(daily.regimes) == 1 else f"Growth from {regime.start}"
        error = exp(growth.value) * growth.standard_error
        yield FitLine(f"growth_per_day_{number}", label, exp(growth.value) - 1.0, error, "a day", said)
    yield from _week_lines(daily)
    noise = daily.noise
    said = f"of the log of a day, {noise.degrees_of_freedom} degrees of freedom"
    yield FitLine("residual_sd", "Noise, sd", noise.sd, nan, "", said)
    said = "what it takes to leave such residuals, as the fit mistakes slow noise for trend"
    yield _line("noise_sigma", "Noise, sd corrected", noise.sd_corrected, "", said)
    yield _line("ar1", "Noise, AR(1)", noise.ar1, "", "correlation of successive residuals")
    said = "Kendall's correction for a short trace, r + (1 + 3 r) / n"
    yield _line("noise_persistence", "Noise, AR(1) corrected", noise.ar1_corrected, "", said)
    said = "mean distance of a day from the fit, on the days that were fitted"
    yield FitLine("typical_error", "Error of the fit", daily.typical_error, nan, "share", said)


def _week_lines(daily: DailyFit) -> Iterator[FitLine]:
    week = daily.weekdays
    if week is None:
        return
    chance = "below 0.001" if daily.weekday_p_value < 0.001 else f"{daily.weekday_p_value:.3f}"
    said = f"chance of such a week if there were no pattern (F test): {chance}"
    yield _line("weekend_over_weekday", "Weekend / weekday", week.weekend_over_weekday, "", said)
    for name, factor in zip(_WEEKDAYS, week.factors, strict=True):
        yield _line(f"weekday_factor_{name.lower()}", name, factor, "", "factor, mean 1", True)


def _hour_lines(hours: tuple[Estimate, ...]) -> Iterator[FitLine]:
    values = [hour.value for hour in hours]
    for name, label, pick in (("peak_hour", "Peak hour", max), ("quiet_hour", "Quietest hour", min)):
        at = values.index(pick(values))
        said = f"tokens from {at:02}:00 to {at + 1:02}:00 / mean hour, by the trace's own clock"
        yield _line(name, label, hours[at], "", said)
    for at, hour in enumerate(hours):
        yield _line(f"hour_{at:02}", f"{at:02}:00", hour, "", "factor, mean 1", True)


def _band_lines(band: TraceBand) -> Iterator[FitLine]:
    for part, inside in ((90, band.inside_90), (50, band.inside_50)):
        said = f"{inside} of {band.n_days} days inside the {part} % band of {band.worlds:,} simulated worlds"
        yield FitLine(f"inside_{part}", f"Inside {part} % band", inside / band.n_days, nan, "share", said)


def save_fit(found: Calibration, band: TraceBand | None, folder: Path) -> str:
    """Write the block, the figures and the days to an empty folder; gives back the block."""
    text = demand_toml(found, DAYS)
    (folder / DEMAND).write_text(text, encoding="utf-8")
    with (folder / FIT).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(FitLine)[:-1]])
        writer.writerows(
            ["" if cell != cell else cell for cell in astuple(line)[:-1]] for line in fit_lines(found, band)
        )
    if found.daily is not None and band is not None:
        _save_days(found.daily, found.is_dated, band, folder / DAYS)
    return text


def _save_days(daily: DailyFit, is_dated: bool, band: TraceBand, path: Path) -> None:
    """The trace by day beside its fit and the simulated band; [demand.trace] can read it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["date" if is_dated else "number", "tokens", "fitted_tokens", "p05", "p25", "p50", "p75", "p95"]
        )
        columns = (band.p05, band.p25, band.p50, band.p75, band.p95)
        for at, (tokens, fitted) in enumerate(zip(daily.tokens, daily.fitted_tokens, strict=True)):
            day = daily.first_day + timedelta(days=at) if is_dated else at
            writer.writerow([day, tokens, fitted, *(float(column[at]) for column in columns)])
