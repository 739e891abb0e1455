"""Back-tests: scored by hand, never peeking, and with honest bands where the world is what the fit takes it for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest

from simulator.study import backtest_fits
from simulator.study.backtest import Backtest, Record, cut_record, scored
from simulator.study.backtest_fits import fitted_market, fitted_walk
from simulator.study.csv_rows import TraceError

FIRST = date(2025, 1, 1)
WORLDS = 100


def days_from(start: date, n: int, step: int = 1) -> list[date]:
    return [start + timedelta(days=step * at) for at in range(n)]


def write(path: Path, days: Sequence[date], values: Sequence[float], column: str) -> Path:
    rows = [f"{day},{value!r}" for day, value in zip(days, values, strict=True)]
    path.write_text("\n".join([f"date,{column}", *rows]) + "\n", encoding="utf-8")
    return path


def test_points_are_scored_by_hand() -> None:
    # On each of two days 101 worlds hold 100, 101, ... 200: 5 % are at 105, half of them from 125 to 175.
    paths = np.repeat(np.arange(100.0, 201.0)[:, None], 2, axis=1)
    record = Record("by hand", "USD", (FIRST,), (100.0,), (FIRST, FIRST + timedelta(days=1)), (120.0, 160.0))
    found = scored(record, (), FIRST, paths)
    first, second = found.points
    assert (first.p05, first.p25, first.p50, first.p75, first.p95) == (105.0, 125.0, 150.0, 175.0, 195.0)
    assert (first.is_inside_50, first.is_inside_90) == (False, True)
    assert (second.is_inside_50, second.is_inside_90) == (True, True)
    assert (found.inside_50, found.inside_90) == (1, 2)
    assert found.typical_factor == pytest.approx(sqrt(150 / 120 * 160 / 150))  # too high once, too low once
    assert found.naive_factor == pytest.approx(sqrt(120 / 100 * 160 / 100))
    above = replace(record, held_out=(204.0, 50.0))
    assert scored(above, (), FIRST, paths).inside_90 == 0


def of_trace(path: Path, until: date) -> Backtest:
    return backtest_fits.usage(path, until, worlds=WORLDS)


def of_reports(path: Path, until: date) -> Backtest:
    return backtest_fits.reports(path, "date", "total_tokens", {}, until, WORLDS)


def of_prices(path: Path, until: date) -> Backtest:
    return backtest_fits.prices(path, "date", "total_tokens", {}, until, WORLDS)


@pytest.mark.parametrize(("run", "step"), [(of_trace, 1), (of_reports, 1), (of_prices, 7)])
def test_what_came_later_is_never_seen(run: Callable[[Path, date], Backtest], step: int, tmp_path: Path) -> None:
    days, known = days_from(FIRST, 50, step), 40
    values = 1e9 * np.exp(0.05 * np.random.default_rng(3).standard_normal(50)) * 1.01 ** np.arange(50)
    other = np.append(values[:known], 7.0 * values[known:])
    until = days[known - 1]
    found = [
        run(write(tmp_path / f"{number}.csv", days, tokens.tolist(), "total_tokens"), until)
        for number, tokens in enumerate((values, other))
    ]
    np.testing.assert_array_equal(found[0].band, found[1].band)
    assert found[0].fitted == found[1].fitted
    assert found[1].typical_factor > found[0].typical_factor


def walk(rng: np.random.Generator, days: Sequence[date]) -> list[float]:
    """Reports of a demand that grows threefold a year on a random walk of 0.3 a year."""
    years = np.diff([day.toordinal() for day in days], prepend=days[0].toordinal()) / 365.25
    return np.exp(
        20.0 + np.cumsum(np.log(3.0) * years + 0.3 * np.sqrt(years) * rng.standard_normal(years.size))
    ).tolist()


def price(rng: np.random.Generator, n: int) -> list[float]:
    """A weekly price that falls 10 % a year, with noise of 0.08 of which half is left after three weeks."""
    stay, log = 0.5 ** (1 / 3), 0.0
    logs = []
    for _ in range(n):
        log = stay * log + 0.08 * sqrt(1 - stay**2) * rng.standard_normal()
        logs.append(log)
    return (2.0 * np.exp(np.array(logs)) * 0.9 ** (np.arange(n) / 52.18)).tolist()


def test_bands_hold_their_share_of_what_comes_where_growth_is_a_walk(tmp_path: Path) -> None:
    rng, days, hits, n = np.random.default_rng(5), days_from(FIRST, 26, 30), np.zeros(2), 60
    for _ in range(n):
        found = of_reports(write(tmp_path / "x.csv", days, walk(rng, days), "total_tokens"), days[-2])
        hits += (found.inside_50, found.inside_90)
    # 60 independent points: the shares have sds of 0.065 and 0.039
    assert hits / n == pytest.approx([0.5, 0.9], abs=0.13)


def test_bands_hold_their_share_of_what_comes_where_prices_revert(tmp_path: Path) -> None:
    rng, days, hits, n = np.random.default_rng(6), days_from(FIRST, 126, 7), np.zeros(2), 60
    for _ in range(n):
        values = price(rng, 126)
        known = [(at, usd) for at, usd in zip(days, values, strict=True) if at <= days[103] or at == days[125]]
        found = of_prices(write(tmp_path / "x.csv", *zip(*known, strict=True), "total_tokens"), days[103])
        hits += (found.inside_50, found.inside_90)
    assert hits / n == pytest.approx([0.5, 0.9], abs=0.13)


def test_a_price_that_falls_steadily_is_forecast_to_go_on() -> None:
    days = days_from(FIRST, 60, 7)
    values = tuple(3.0 * 0.8 ** ((day - FIRST).days / 365.25) for day in days)
    market, _ = fitted_market(Record("x", "USD", tuple(days), values, (), ()))
    assert market.rental_fall_per_year == pytest.approx(0.2)
    assert market.rental_noise_sigma == pytest.approx(0.0, abs=1e-9)
    assert market.quote[0].on_demand_usd_per_gpu_hour == values[-1]


def test_a_list_that_never_moves_is_forecast_to_the_cent(tmp_path: Path) -> None:
    """4.0963 comes back from its logarithm one bit higher, which is not outside."""
    days = days_from(FIRST, 20, 30)
    found = of_prices(write(tmp_path / "x.csv", days, [4.0963] * 20, "total_tokens"), days[12])
    assert found.inside_50 == found.inside_90 == len(found.points) == 7


def test_growth_between_reports_by_hand() -> None:
    # Half a year of 1 in the log, then a year and a half of 1: growth 1, off by 0.5 and -0.5.
    days = [FIRST, FIRST + timedelta(days=182.625), FIRST + timedelta(days=730.5)]
    growth, error, spread = fitted_walk([days[0], days[1], days[2]], [1.0, exp(1.0), exp(2.0)])
    assert growth == pytest.approx(1.0, abs=2e-3)
    assert spread == pytest.approx(sqrt(0.25 / 0.5 + 0.25 / 1.5), abs=4e-3)
    assert error == pytest.approx(spread / sqrt(2.0), abs=2e-3)


@pytest.mark.parametrize(
    ("until", "said"),
    [(FIRST, "leaves 1 values to fit, it takes 3"), (date(2026, 1, 1), "leaves nothing to score: the record ends")],
)
def test_a_cut_that_leaves_too_little_is_refused(until: date, said: str) -> None:
    days = days_from(FIRST, 5, 10)
    with pytest.raises(TraceError, match=said):
        cut_record("x.csv", "USD", days, [1.0] * 5, until, 3)


def test_a_price_known_for_a_few_weeks_is_refused() -> None:
    days = days_from(FIRST, 4, 10)
    with pytest.raises(TraceError, match="30 days are too few to fit a price to, it takes 26 weeks"):
        fitted_market(Record("x.csv", "USD", tuple(days), (1.0,) * 4, (), ()))


@pytest.mark.parametrize(
    ("values", "step", "said"),
    [
        ([1e9, 1e9, 1e300, 1e9], 30, "must be from 1e-09 to 1e+24"),
        ([1.0, 1e9, 1e18, 1e18], 1, "by more than a factor of 1e15 a year: is a day wrong"),
        ([1e9, 1e23, 1e9, 1e9], 180, "moves too much up to 2025-12-27 to be carried on"),
        ([1e9, 1e9, 1e9, 1e9], 40_000, "more than 36525 days after"),
    ],
)
def test_wild_records_are_refused_in_words(values: list[float], step: int, said: str, tmp_path: Path) -> None:
    days = days_from(FIRST, 4, step)
    if "carried" in said:
        days[-1] = FIRST + timedelta(days=7_300)
    path = write(tmp_path / "wild.csv", days, values, "total_tokens")
    with pytest.raises(TraceError, match=re.escape(said)):
        of_reports(path, days[2])


def test_a_price_that_vanishes_is_refused_in_words(tmp_path: Path) -> None:
    days = days_from(FIRST, 60, 7)
    path = write(tmp_path / "x.csv", days, [1e9 * 0.3**at for at in range(60)], "total_tokens")
    with pytest.raises(TraceError, match=r"must be from|by more than a factor of 1e15 a year"):
        of_prices(path, days[30])
