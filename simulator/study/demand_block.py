"""A calibration as a [demand] table: as the inputs of a world, and as TOML to paste, each figure with its error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from math import exp, log

import numpy as np

from simulator.laws.units import DAYS_PER_WEEK, DAYS_PER_YEAR, FloatArray
from simulator.study.calibrate import Calibration, DailyFit, GrowthRegime, whole_days
from simulator.study.log_fit import Estimate
from simulator.world.demand import DemandInputs
from simulator.world.growth import Regime

_MOST_GROWTH = 1e15
"""Factor per year that a scenario may state at most."""
_COMMENT_AT = 42


@dataclass(frozen=True, slots=True)
class _Line:
    """A key with its value, and what is said beside it."""

    key: str
    value: str
    comment: str

    def __str__(self) -> str:
        said = f"{self.key} = {self.value}"
        return f"{said:<{_COMMENT_AT}} # {self.comment}" if len(said) <= _COMMENT_AT else f"# {self.comment}:\n{said}"


def fitted_demand(found: Calibration, daily: DailyFit, *, from_first_day: bool = False) -> DemandInputs:
    """The demand of the block, rounded as it is printed; or the same from the first day of the trace on."""
    start = daily.first_day if from_first_day else daily.start
    level = daily.first_level if from_first_day else daily.level
    now, later = _growth(daily, start)
    demand = DemandInputs(
        tokens_per_day=_rounded(level.value),
        history_growth_per_year=now,
        growth_per_year=now,
        regime=tuple(Regime(start=at.start, growth_per_year=_per_year(at)) for at in later),
        noise_sigma=round(daily.noise.sd_corrected.value, 4),
        noise_persistence=max(round(daily.noise.ar1_corrected.value, 2), 0.0),
    )
    update: dict[str, object] = {}
    if daily.weekdays is not None:
        update["weekday_factors"] = mean_one(daily.weekdays.factors)
    if found.hours:
        update["hour_profile"] = mean_one(found.hours)
    if found.mix is not None:
        update["prompt_share"] = round(found.mix.prompt_share.value, 4)
    if found.lengths is not None:
        update["context_tokens"] = _rounded(found.lengths.context_tokens.value)
    return DemandInputs.model_validate({**dict(demand), **update})


def demand_toml(found: Calibration, trace_csv: str) -> str:
    """The [demand] table as TOML, ready to paste; what the trace cannot give stands in a comment.

    `trace_csv` is a file of daily tokens that [demand.trace] may name, with columns date and tokens.
    """
    lines = [f"# From {_safe(found.trace)}, {whole_days(found.n_whole_days)}. Errors are standard errors."]
    if found.start is not None:
        lines.append(
            f"# start = {found.start}{'':<{_COMMENT_AT - 20}} # put this above the first table of the scenario"
        )
    lines.append("[demand]")
    lines += [str(line) for line in _level_lines(found)]
    lines += [str(line) for line in _shape_lines(found)]
    lines += [f"# {note}" for note in found.notes]
    lines.append("# cached_share is not in a trace of tokens: the default is 0")
    if found.daily is not None:
        for at in _growth(found.daily, found.daily.start)[1]:
            lines += ["", "[[demand.regime]]", f"start = {at.start}", str(_growth_line("growth_per_year", at))]
        if found.is_dated:
            lines += [
                "",
                f"# To replay the trace, and go on from its last week, put {_safe(trace_csv)} beside the scenario:",
            ]
            lines += ["# [demand.trace]", f'# csv = "{_safe(trace_csv)}"', '# column = "tokens"']
    return "\n".join(lines) + "\n"


def _level_lines(found: Calibration) -> Iterator[_Line]:
    daily, mean = found.daily, found.mean_tokens_per_day
    if daily is None and mean is None:
        yield _Line("# tokens_per_day", "1e9", "an example: the trace has no whole day, so it gives no level")
        return
    if daily is None:
        assert mean is not None
        yield _Line("tokens_per_day", _number(mean.value), f"mean of the days, error {_error(mean)}")
        return
    demand = fitted_demand(found, daily)
    day = daily.start if found.is_dated else "the day after the trace"
    error = daily.level.standard_error / daily.level.value
    yield _Line("tokens_per_day", _number(demand.tokens_per_day), f"mean on {day}, error {100.0 * error:.1f} %")
    current = [at for at in daily.regimes if at.start <= daily.start][-1]
    if daily.has_growth:
        going_on = (
            "the same until the next regime" if demand.regime else "the same going on: change it if you know better"
        )
        yield _growth_line("history_growth_per_year", current)
        yield _Line("growth_per_year", _number(demand.growth_per_year), going_on)
        sigma = current.log_growth_per_day.standard_error * DAYS_PER_YEAR
        yield _Line("# growth_sigma", f"{sigma:.2g}", "the error of the yearly log growth: lets worlds differ by it")
        for past in [at for at in daily.regimes if at.start < current.start]:
            yield _Line("# growth_per_year", _number(_per_year(past)), f"of the trace before, from {past.start} on")
    else:
        yield _Line("growth_per_year", "1.0", f"none told: {_per_day(current.log_growth_per_day)}")
    noise = daily.noise
    sd, ar1 = noise.sd_corrected, noise.ar1_corrected
    said = f"residual sd {noise.sd:.3f}, corrected for persistence; error {sd.standard_error:.3f}"
    yield _Line("noise_sigma", f"{demand.noise_sigma:g}", said)
    said = f"AR(1) {noise.ar1.value:.2f}, corrected for the short trace; error {ar1.standard_error:.2f}"
    yield _Line("noise_persistence", f"{demand.noise_persistence:g}", said)


def _shape_lines(found: Calibration) -> Iterator[_Line]:
    if found.daily is not None and found.daily.weekdays is not None:
        week = found.daily.weekdays
        ratio = week.weekend_over_weekday
        said = f"Monday to Sunday; weekend / weekday {ratio.value:.3f}, error {ratio.standard_error:.3f}"
        yield _Line("weekday_factors", _list(mean_one(week.factors)), said)
    if found.hours:
        peak = max(found.hours, key=lambda hour: hour.value)
        said = f"by the trace's own clock; peak {peak.value:.2f}, error {_error(peak)}"
        yield _Line("hour_profile", _list(mean_one(found.hours)), said)
    if found.mix is not None:
        share, ratio = found.mix.prompt_share, found.mix.prompt_over_completion
        said = f"error {_error(share)}; prompt / completion {ratio.value:.2f}"
        yield _Line("prompt_share", f"{round(share.value, 4):g}", said)
    if found.lengths is not None:
        context = found.lengths.context_tokens
        said = f"mean prompt and half the completion, error {_error(context)}"
        yield _Line("context_tokens", _number(_rounded(context.value)), said)


def _growth_line(key: str, at: GrowthRegime) -> _Line:
    return _Line(key, _number(_per_year(at)), _per_day(at.log_growth_per_day))


def _per_day(growth: Estimate) -> str:
    """A log growth per day in percent, with its error."""
    factor = exp(growth.value)
    return f"{100.0 * (factor - 1.0):.2f} % a day, error {100.0 * factor * growth.standard_error:.2f} %"


def _growth(daily: DailyFit, start: date) -> tuple[float, list[GrowthRegime]]:
    """Growth a year on a day, and the regimes that begin after it."""
    now = [at for at in daily.regimes if at.start <= start][-1]
    later = [at for at in daily.regimes if at.start > start]
    return (_per_year(now) if daily.has_growth else 1.0), later


def _per_year(at: GrowthRegime) -> float:
    """Factor per year, kept within what a scenario may state."""
    bound = log(_MOST_GROWTH)
    return _rounded(exp(min(max(at.log_growth_per_day.value * DAYS_PER_YEAR, -bound), bound)))


def mean_one(estimates: tuple[Estimate, ...]) -> tuple[float, ...]:
    """Factors to three decimals whose mean is exactly one: those rounded furthest are moved; none becomes zero.

    Examples
    --------
    >>> mean_one((Estimate(1.0004, 0.1), Estimate(1.0003, 0.1), Estimate(0.9993, 0.1)))
    (1.001, 1.0, 0.999)
    """
    factors: FloatArray = 1000.0 * np.array([found.value for found in estimates])
    thousandths = np.maximum(np.rint(factors), 1.0)
    while missing := 1000.0 * factors.size - thousandths.sum():
        step = np.sign(missing)
        is_free = thousandths + step >= 1.0
        thousandths[np.argmax(np.where(is_free, (factors - thousandths) * step, -np.inf))] += step
    return tuple((thousandths / 1000.0).tolist())


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _number(value: float) -> str:
    """As people write it in TOML: 7.595e12, 354.1.

    Examples
    --------
    >>> _number(7.5949e12), _number(4.148e9), _number(0.00012)
    ('7.595e12', '4.148e9', '0.00012')
    """
    digits, _, power = f"{value:.4g}".partition("e")
    return f"{digits}e{int(power)}" if power else digits


def _list(values: tuple[float, ...]) -> str:
    """A TOML list; a long one goes over two lines."""
    said = [f"{value:.3f}" for value in values]
    if len(said) <= DAYS_PER_WEEK:
        return f"[{', '.join(said)}]"
    half = len(said) // 2
    return f"[\n  {', '.join(said[:half])},\n  {', '.join(said[half:])},\n]"


def _error(found: Estimate) -> str:
    return "unknown" if np.isnan(found.standard_error) else f"{found.standard_error:.2g}"


def _safe(name: str) -> str:
    """A file's name with nothing in it that would end a comment or a string."""
    return "".join(letter if letter.isprintable() and letter not in '"\\' else "_" for letter in name)
