"""Simulated demand has the moments asked for, by Monte Carlo with a fixed seed.

Each case draws REPLICATIONS independent paths of four years and looks at single days. Tolerances are four standard
errors, from the closed form of the variance where there is one: a right simulator fails one check in 16,000.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from simulator.laws.units import FloatArray
from simulator.world.calendar import Calendar
from simulator.world.demand import DemandInputs, DemandOutlook, Regime, Shocks, draw_shocks, draw_tokens, outlook
from simulator.world.dice import Dice

SEED = 20260601
REPLICATIONS = 1_500
ERRORS = 4.0
FOUR_YEARS = 1461
START = date(2026, 6, 1)
WEEK = (1.014, 1.059, 1.090, 1.066, 1.017, 0.870, 0.884)
CALENDAR = Calendar(START, history_days=30, horizon_days=FOUR_YEARS + 1, look_ahead_days=0)
DAYS = (-30, -1, 0, 1, 63, 400, FOUR_YEARS)

LEVEL = {"level_sigma": 1.0}
GROWTH = {"growth_sigma": 0.075, "growth_per_year": 2**0.25}
NOISE = {"noise_sigma": 0.223607, "noise_persistence": 0.904837}
SHOCKS = {"shocks": Shocks(per_year=3.0, size=0.5, size_sigma=0.5, decay_days=60.0)}
REGIMES = {
    "growth_per_year": 3.0,
    "growth_sigma": 0.1,
    "regime": (
        Regime(start=date(2026, 9, 1), growth_per_year=2.0, growth_sigma=0.3),
        Regime(start=date(2027, 9, 1), growth_per_year=1.1, growth_sigma=0.2),
    ),
}
ALONE = {"level": LEVEL, "growth": GROWTH, "noise": NOISE, "shocks": SHOCKS, "regimes": REGIMES}
TOGETHER = {"together": {**LEVEL, "level_sigma": 0.3, **REGIMES, **NOISE, **SHOCKS, "weekday_factors": WEEK}}


def inputs(changes: dict[str, object]) -> DemandInputs:
    return DemandInputs.model_validate({"tokens_per_day": 1e12, "history_growth_per_year": 3.0, **changes})


def sample(demand: DemandInputs, days: tuple[int, ...] = DAYS) -> tuple[DemandOutlook, FloatArray]:
    """The declared outlook and the drawn paths [replication, day], both at these days alone."""
    view, index = outlook(demand, CALENDAR), np.array([CALENDAR.index(day) for day in days])
    paths = np.empty((REPLICATIONS, index.size))
    for replication in range(REPLICATIONS):
        dice = Dice(SEED, replication)
        shocks = draw_shocks(demand.shocks, dice, CALENDAR)
        paths[replication] = draw_tokens(demand, view, shocks, dice, CALENDAR)[index]
    return (
        DemandOutlook(
            view.tokens[index], view.log_sd[index], view.steady[index], view.regime_years, view.regime_sigmas, view.free
        ),
        paths,
    )


@pytest.mark.parametrize(
    ("changes", "noise_has"),
    [(changes, "mean_one") for changes in (*ALONE.values(), *TOGETHER.values())]
    + [(changes, "median_one") for changes in (LEVEL, NOISE, REGIMES)],
    ids=[*ALONE, *TOGETHER, *(f"{name}, median one" for name in ("level", "noise", "regimes"))],
)
def test_the_mean_of_many_worlds_is_the_declared_path(changes: dict[str, object], noise_has: str) -> None:
    view, paths = sample(inputs({**changes, "noise_has": noise_has}))
    # A lognormal's relative variance is e^(s^2) - 1; where there are shocks the sample's own is taken.
    if "shocks" in changes:
        errors = paths.std(axis=0) / np.sqrt(REPLICATIONS)
    else:
        errors = view.tokens * np.sqrt(np.expm1(view.log_sd**2) / REPLICATIONS)
    assert (np.abs(paths.mean(axis=0) - view.tokens) <= ERRORS * errors + 1e-9 * view.tokens).all()


@pytest.mark.parametrize("changes", [LEVEL, GROWTH, NOISE, REGIMES], ids=["level", "growth", "noise", "regimes"])
def test_the_declared_spread_is_that_of_many_worlds(changes: dict[str, object]) -> None:
    view, paths = sample(inputs(changes))
    # The sd of n normals has relative standard error 1/sqrt(2 n).
    np.testing.assert_allclose(
        np.log(paths).std(axis=0), view.log_sd, rtol=ERRORS / np.sqrt(2 * REPLICATIONS), atol=1e-9
    )


def test_the_declared_spread_counts_shocks() -> None:
    # Permanent jumps of 27.7621 %, two in four years on average: the log has variance 2 ln(1.277621)^2.
    shocks = Shocks(per_year=0.5, size=0.277621, size_sigma=0.0, decay_days=1e9)
    view, paths = sample(inputs({"shocks": shocks}), (FOUR_YEARS - 31,))
    by_theory = np.log(1.277621) * np.sqrt(2.0)
    # Compound Poisson: the fourth moment makes the sd's relative error sqrt((2 + 1/lambda) / n) / 2.
    error = by_theory * np.sqrt((2.0 + 0.5) / REPLICATIONS) / 2
    assert np.log(paths).std() == pytest.approx(by_theory, abs=ERRORS * error)
    assert view.log_sd[0] == pytest.approx(by_theory, rel=1e-3)


def test_noise_of_mean_one_leaves_the_declared_mean_as_it_is() -> None:
    # The declared growth is that of the mean, whatever the uncertainty: 1e12 x 2 after four years.
    certain = outlook(inputs({"growth_per_year": 2**0.25}), CALENDAR)
    for changes in (LEVEL, GROWTH, NOISE):
        view = outlook(inputs({"growth_per_year": 2**0.25, **changes}), CALENDAR)
        np.testing.assert_allclose(view.tokens, certain.tokens, rtol=1e-12)


@pytest.mark.parametrize("changes", [LEVEL, GROWTH, NOISE], ids=["level", "growth", "noise"])
def test_noise_of_median_one_leaves_the_declared_median_as_it_is(changes: dict[str, object]) -> None:
    demand = inputs({"growth_per_year": 2**0.25, **changes, "noise_has": "median_one"})
    _, paths = sample(demand)
    certain = outlook(inputs({"growth_per_year": 2**0.25}), CALENDAR)
    median = certain.tokens[[CALENDAR.index(day) for day in DAYS]]
    # The median of n normals has standard error 1.2533 sd / sqrt(n).
    sd = np.log(paths).std(axis=0)
    distance = np.abs(np.median(np.log(paths), axis=0) - np.log(median))
    assert (distance <= ERRORS * 1.2533 * sd / np.sqrt(REPLICATIONS) + 1e-9).all()


def test_uncertain_growth_has_the_moments_of_geometric_brownian_motion() -> None:
    # Numbers J3: mean growth 2, log sd 0.3: mean 2, median 1.91199, sd over mean 0.306878. Here over four years:
    # growth 2^(1/4) a year, of log sd 0.3 / 4 a year.
    _, paths = sample(inputs(GROWTH), (0, FOUR_YEARS))
    growth = paths[:, 1] / paths[:, 0]
    assert growth.mean() == pytest.approx(2.0, rel=ERRORS * 0.306878 / np.sqrt(REPLICATIONS))
    assert np.median(growth) == pytest.approx(1.91199, rel=ERRORS * 1.2533 * 0.3 / np.sqrt(REPLICATIONS))
    # The lognormal's fourth moment makes the error of its sd some 1.2 times that of a normal's at this spread.
    assert growth.std() / growth.mean() == pytest.approx(0.306878, rel=ERRORS * 1.25 / np.sqrt(2 * REPLICATIONS))


def test_noise_has_the_moments_of_an_ornstein_uhlenbeck_process() -> None:
    # Numbers J3: k = 0.1, s = 0.1: sd 0.223607, correlation a day later 0.904837.
    _, paths = sample(inputs(NOISE), (100, 101, 108))
    logs = np.log(paths)
    assert logs.std(axis=0)[0] == pytest.approx(0.223607, rel=ERRORS / np.sqrt(2 * REPLICATIONS))
    for column, lag in ((1, 1), (2, 8)):
        rho = 0.904837**lag
        found = np.corrcoef(logs[:, 0], logs[:, column])[0, 1]
        assert found == pytest.approx(rho, abs=ERRORS * (1 - rho**2) / np.sqrt(REPLICATIONS))


def test_shocks_that_stay_have_the_compensator_of_mertons_jumps() -> None:
    # Numbers J3: two jumps of mean 0.277621 multiply the mean by e^0.555243. Half a jump a year, 1,461 days from the
    # first day of the past on.
    shocks = Shocks(per_year=0.5, size=0.277621, size_sigma=0.3, decay_days=1e9)
    day = FOUR_YEARS - 30 - 1
    view, paths = sample(inputs({"history_growth_per_year": 1.0, "shocks": shocks}), (day,))
    assert view.tokens[0] / 1e12 == pytest.approx(np.exp(0.555243), rel=1e-5)
    assert paths.mean() / 1e12 == pytest.approx(np.exp(0.555243), abs=ERRORS * paths.std() / 1e12 / REPLICATIONS**0.5)


def test_fading_shocks_settle_at_their_closed_form() -> None:
    # Long after the first day the mean factor is exp(rate x size / (1 - e^(-1/decay))).
    shocks = SHOCKS["shocks"]
    view, paths = sample(inputs({"history_growth_per_year": 1.0, "shocks": shocks}), (FOUR_YEARS,))
    settled = np.exp(3.0 / 365.25 * 0.5 / -np.expm1(-1 / 60.0))
    assert view.tokens[0] / 1e12 == pytest.approx(settled, rel=1e-6)
    assert paths.mean() / 1e12 == pytest.approx(settled, abs=ERRORS * paths.std() / 1e12 / REPLICATIONS**0.5)


def test_the_number_of_shocks_is_poisson() -> None:
    rate = 3.0 * CALENDAR.n_days / 365.25
    counts = np.array(
        [len(draw_shocks(SHOCKS["shocks"], Dice(SEED, k), CALENDAR)) for k in range(REPLICATIONS)], dtype=float
    )
    assert counts.mean() == pytest.approx(rate, abs=ERRORS * np.sqrt(rate / REPLICATIONS))
    assert counts.var() == pytest.approx(rate, rel=ERRORS * np.sqrt((2 + 1 / rate) / REPLICATIONS))


def test_the_size_of_shocks_has_the_mean_and_spread_asked_for() -> None:
    sizes = np.array(
        [shock.size for k in range(500) for shock in draw_shocks(SHOCKS["shocks"], Dice(SEED, k), CALENDAR)]
    )
    assert sizes.mean() == pytest.approx(0.5, rel=ERRORS * np.sqrt(np.expm1(0.25) / sizes.size))
    assert np.log(sizes).std() == pytest.approx(0.5, rel=ERRORS / np.sqrt(2 * sizes.size))
