"""Calibrating a simulated trace returns what made it, within the errors it states; and what it cannot know it says."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import SMALL_SCENARIO

from simulator.laws.units import DAYS_PER_YEAR, FloatArray
from simulator.study.calibrate import Calibration, DailyFit, calibrate
from simulator.study.csv_rows import TraceError
from simulator.study.demand_block import demand_toml, fitted_demand, mean_one
from simulator.study.files import load_scenario
from simulator.study.fit_lines import save_fit
from simulator.study.log_fit import Estimate
from simulator.study.trace_band import trace_band
from simulator.study.usage import Usage, load_usage
from simulator.study.usage_csv import Kind
from simulator.world.demand import DemandInputs
from simulator.world.growth import Regime
from simulator.world.scenario import Scenario
from simulator.world.world import realize

MONDAY = date(2026, 6, 1)
WEEK = (1.03, 1.06, 1.08, 1.05, 1.02, 0.87, 0.89)
TRUTH = DemandInputs(
    tokens_per_day=5e12, growth_per_year=8.0, weekday_factors=WEEK, noise_sigma=0.07, noise_persistence=0.6
)


def scenario(demand: DemandInputs, n_days: int, tmp_path: Path) -> Scenario:
    path = tmp_path / "small.toml"
    path.write_text(SMALL_SCENARIO, encoding="utf-8")
    return load_scenario(path).model_copy(
        update={"demand": demand, "horizon_days": n_days, "history_days": 0, "start": MONDAY}
    )


def paths(demand: DemandInputs, n_days: int, n_paths: int, tmp_path: Path) -> list[FloatArray]:
    made = scenario(demand, n_days, tmp_path)
    return [realize(made, 5, number).demand_tokens[made.calendar.lived] for number in range(n_paths)]


def usage_of(tokens: FloatArray, first_day: date = MONDAY) -> Usage:
    none = np.zeros(0)
    path, hours = Path("simulated.csv"), np.zeros((tokens.size, 0))
    return Usage(path, Kind.DAY, True, first_day, tokens, hours, none, none, ())


def fitted(tokens: FloatArray) -> DailyFit:
    daily = calibrate(usage_of(tokens)).daily
    assert daily is not None
    return daily


def test_a_simulated_trace_returns_what_made_it(tmp_path: Path) -> None:
    """Over many traces each figure strays from the truth as its standard error says."""
    fits = [fitted(tokens) for tokens in paths(TRUTH, 140, 60, tmp_path)]
    growth = np.log(TRUTH.growth_per_year) / DAYS_PER_YEAR
    strays: dict[str, list[float]] = {}
    for fit in fits:
        assert fit.weekdays is not None
        found = {
            "level": (fit.first_level, TRUTH.tokens_per_day),
            "weekend": (fit.weekdays.weekend_over_weekday, np.mean(WEEK[5:]) / np.mean(WEEK[:5])),
            **{f"day {k}": (fit.weekdays.factors[k], WEEK[k]) for k in range(7)},
            "sd": (fit.noise.sd_corrected, TRUTH.noise_sigma),
            "ar1": (fit.noise.ar1_corrected, TRUTH.noise_persistence),
        }
        if len(fit.regimes) == 1:
            found["growth"] = (fit.regimes[0].log_growth_per_day, growth)
        for name, (estimate, truth) in found.items():
            strays.setdefault(name, []).append((estimate.value - truth) / estimate.standard_error)
    for name, z in strays.items():
        assert len(z) >= 54, name
        assert abs(np.mean(z)) < 0.5, name  # 1 / sqrt(60) = 0.13 if unbiased
        assert np.mean(np.abs(z) < 2.0) >= 0.85, name  # 95 % if normal, sd of the share 2.8 points
        assert np.max(np.abs(z)) < 5.0, name


def test_two_regimes_return(tmp_path: Path) -> None:
    change = MONDAY + timedelta(days=120)
    truth = TRUTH.model_copy(update={"growth_per_year": 30.0, "regime": (Regime(start=change, growth_per_year=2.0),)})
    fits = [fitted(tokens) for tokens in paths(truth, 260, 12, tmp_path)]
    right = [fit for fit in fits if len(fit.regimes) == 2]
    assert len(right) >= 10
    level = 5e12 * 30.0 ** (120 / DAYS_PER_YEAR) * 2.0 ** (140 / DAYS_PER_YEAR)  # on the day after the trace
    off = np.array([(fit.level.value - level) / fit.level.standard_error for fit in right])
    assert 0.4 < np.sqrt(np.mean(off**2)) < 1.8  # 1, with a relative error of 1 / sqrt(2 x 12) = 0.2
    for fit in right:
        before, after = fit.regimes
        assert abs((after.start - change).days) < 30
        for regime, per_year in ((before, 30.0), (after, 2.0)):
            stray = regime.log_growth_per_day.value - np.log(per_year) / DAYS_PER_YEAR
            assert abs(stray) < 4 * regime.log_growth_per_day.standard_error


def test_a_block_made_again_from_its_own_trace_is_the_same_within_rounding(tmp_path: Path) -> None:
    """Without noise, fitting what a fit simulates gives the fit back."""
    truth = TRUTH.model_copy(update={"noise_sigma": 0.0})
    (tokens,) = paths(truth, 100, 1, tmp_path)
    found = calibrate(usage_of(tokens), MONDAY)
    assert found.daily is not None
    made = fitted_demand(found, found.daily)
    assert made.tokens_per_day == pytest.approx(5e12, rel=1e-6)
    assert made.growth_per_year == pytest.approx(8.0, rel=1e-3)
    assert made.weekday_factors == WEEK
    assert (made.noise_sigma, made.noise_persistence, made.regime) == (0.0, 0.0, ())


def test_hours_and_lengths_return() -> None:
    profile = np.array([0.5] * 12 + [1.5] * 12)
    rng = np.random.default_rng(2)
    hours = 1e6 * profile * np.exp(0.1 * rng.standard_normal((30, 24)))
    prompt = hours.sum(axis=1) * 0.8
    usage = Usage(Path("x"), Kind.STEP, True, MONDAY, hours.sum(axis=1), hours, prompt, prompt / 4, ())
    found = calibrate(usage)
    z = [(hour.value - truth) / hour.standard_error for hour, truth in zip(found.hours, profile, strict=True)]
    assert np.max(np.abs(z)) < 4.0
    assert np.std(z) == pytest.approx(1.0, abs=0.5)
    assert found.mix is not None
    assert found.mix.prompt_share.value == pytest.approx(0.8)
    assert found.mix.prompt_over_completion.value == pytest.approx(4.0)


def test_three_requests_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    rows = ["2026-06-01 10:00:00.1,100,50", "2026-06-01 10:00:03,200,10", "2026-06-01 10:00:04,600,30"]
    path.write_text("\n".join(["timestamp,context_tokens,generated_tokens", *rows]), encoding="utf-8")
    found = calibrate(load_usage(path))
    assert found.mix is not None
    assert found.lengths is not None
    assert found.mix.prompt_share.value == pytest.approx(900 / 990)
    assert found.mix.prompt_over_completion.value == pytest.approx(10.0)
    assert found.lengths.context_tokens.value == pytest.approx((125 + 205 + 615) / 3)
    assert found.lengths.prompt_tokens.standard_error == pytest.approx(np.std([100, 200, 600], ddof=1) / np.sqrt(3))


# --- what a trace cannot tell ---------------------------------------------------------------------------


def notes(found: Calibration) -> str:
    return "; ".join(found.notes)


def test_a_trace_too_short_for_weekdays_gets_none_and_says_so(tmp_path: Path) -> None:
    (tokens,) = paths(TRUTH, 20, 1, tmp_path)
    found = calibrate(usage_of(tokens))
    assert found.daily is not None
    assert found.daily.weekdays is None
    assert "no weekday pattern: 20 days are too few, it takes 21" in notes(found)


def test_a_trace_too_noisy_for_weekdays_gets_none_and_says_so(tmp_path: Path) -> None:
    flat = TRUTH.model_copy(update={"weekday_factors": (1.0,) * 7, "noise_sigma": 0.2})
    found = [calibrate(usage_of(tokens)) for tokens in paths(flat, 42, 60, tmp_path)]
    none = [one for one in found if one.daily is not None and one.daily.weekdays is None]
    assert len(none) >= 51  # 95 % by the test's own level, sd 2.8 points
    for one in none:
        assert one.daily is not None
        assert f"F test, p = {one.daily.weekday_p_value:.2f}" in notes(one)
        assert fitted_demand(one, one.daily).weekday_factors == (1.0,) * 7


def test_growth_that_cannot_be_told_from_none_is_not_used(tmp_path: Path) -> None:
    flat = TRUTH.model_copy(update={"growth_per_year": 1.0})
    found = [calibrate(usage_of(tokens)) for tokens in paths(flat, 60, 30, tmp_path)]
    unused = [one for one in found if one.daily is not None and not one.daily.has_growth]
    assert len(unused) >= 24
    for one in unused:
        assert one.daily is not None
        made = fitted_demand(one, one.daily)
        assert (made.growth_per_year, made.history_growth_per_year) == (1.0, 1.0)
        assert one.daily.level == one.daily.first_level
        assert "no growth" in notes(one)


def test_fewer_than_two_weeks_give_a_level_alone() -> None:
    found = calibrate(usage_of(np.linspace(1e9, 2e9, 13)))
    assert found.daily is None
    assert found.mean_tokens_per_day is not None
    assert found.mean_tokens_per_day.value == pytest.approx(1.5e9)
    assert "13 whole days: growth, weekdays and noise take 14 or more; only a mean level is given" in notes(found)


def test_a_trace_that_never_changes_is_flat_and_still() -> None:
    found = calibrate(usage_of(np.full(100, 3e9)))
    assert found.daily is not None
    made = fitted_demand(found, found.daily)
    assert (made.tokens_per_day, made.growth_per_year, made.noise_sigma) == (pytest.approx(3e9), 1.0, 0.0)
    assert made.weekday_factors == (1.0,) * 7


@pytest.mark.parametrize("start", [MONDAY - timedelta(days=1), MONDAY + timedelta(days=41)])
def test_a_start_outside_the_trace_is_refused(tmp_path: Path, start: date) -> None:
    (tokens,) = paths(TRUTH, 40, 1, tmp_path)
    with pytest.raises(TraceError, match=rf"^simulated.csv:\d+: --start: must be a day of the trace.*got {start}"):
        calibrate(usage_of(tokens), start)


# --- the block ------------------------------------------------------------------------------------------


def block_loads(text: str, tmp_path: Path) -> DemandInputs:
    """The block pasted in place of a scenario's [demand] table."""
    head, _, rest = SMALL_SCENARIO.partition("[demand]")
    path = tmp_path / "pasted.toml"
    path.write_text(head + text + rest[rest.index("[[market") :], encoding="utf-8")
    return load_scenario(path).demand


@pytest.mark.parametrize("days_in", [60, 0, 200])
def test_the_block_is_a_demand_table_equal_to_what_is_simulated(tmp_path: Path, days_in: int) -> None:
    truth = TRUTH.model_copy(
        update={
            "growth_per_year": 40.0,
            "regime": (Regime(start=MONDAY + timedelta(days=100), growth_per_year=1.2),),
        }
    )
    (tokens,) = paths(truth, 200, 1, tmp_path)
    found = calibrate(usage_of(tokens), MONDAY + timedelta(days=days_in))
    assert found.daily is not None
    made = block_loads(demand_toml(found, "days.csv"), tmp_path)
    assert made == fitted_demand(found, found.daily)
    assert len(made.regime) == (0 if days_in == 200 else 1)
    now, later = found.daily.regimes
    current = later if days_in == 200 else now
    assert made.growth_per_year == pytest.approx(np.exp(current.log_growth_per_day.value * DAYS_PER_YEAR), rel=1e-3)


def test_the_level_goes_on_growing_to_the_day_the_block_starts(tmp_path: Path) -> None:
    (tokens,) = paths(TRUTH, 80, 1, tmp_path)
    levels = [calibrate(usage_of(tokens), MONDAY + timedelta(days=day)).daily for day in (0, 40, 80)]
    values = [fit.level.value for fit in levels if fit is not None]
    growth = fitted(tokens).regimes[0].log_growth_per_day.value
    for earlier, later in pairwise(values):
        assert np.log(later / earlier) == pytest.approx(40 * growth)


def test_the_days_that_are_saved_can_be_replayed(tmp_path: Path) -> None:
    (tokens,) = paths(TRUTH, 60, 1, tmp_path)
    found = calibrate(usage_of(tokens))
    assert found.daily is not None
    text = save_fit(found, trace_band(found, found.daily, worlds=100), tmp_path)
    tail = text[text.index("# [demand.trace]") :].replace("# ", "")
    assert tail.startswith("[demand.trace]")
    trace = block_loads(text + tail, tmp_path).trace
    assert trace is not None
    assert (trace.first_day, trace.tokens) == (MONDAY, tuple(tokens.tolist()))
    assert (tmp_path / "demand.toml").read_text(encoding="utf-8") == text


def test_factors_rounded_keep_mean_one_and_stay_positive() -> None:
    rounded = mean_one(tuple(Estimate(value, 0.1) for value in (1e-5, 1e-5, 7 - 5.00002, 1.25, 1.25, 1.25, 1.25)))
    assert sum(rounded) == pytest.approx(7.0, abs=1e-12)
    assert min(rounded) > 0.0


# --- the band -------------------------------------------------------------------------------------------


def test_the_band_holds_what_its_own_law_makes(tmp_path: Path) -> None:
    """Quantiles of the simulated band are those of the log-normal the block states; most days lie inside."""
    (tokens,) = paths(TRUTH, 150, 1, tmp_path)
    found = calibrate(usage_of(tokens))
    assert found.daily is not None
    band = trace_band(found, found.daily, worlds=800)
    sd = fitted_demand(found, found.daily, from_first_day=True).noise_sigma
    assert np.median(np.log(band.p95 / band.p05)) == pytest.approx(2 * 1.6449 * sd, rel=0.05)
    assert np.median(np.log(band.p75 / band.p25)) == pytest.approx(2 * 0.6745 * sd, rel=0.05)
    assert 0.8 * 150 <= band.inside_90 <= 150
    assert band.inside_90 == int(((tokens >= band.p05) & (tokens <= band.p95)).sum())
    assert np.log(band.p50[0] / found.daily.fitted_tokens[0]) == pytest.approx(-(sd**2) / 2, abs=0.02)
