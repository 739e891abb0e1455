"""Simulated demand has the moments asked for, by Monte Carlo with a fixed seed.

Each case draws REPLICATIONS independent paths of four years and looks at single days. Tolerances are four standard
errors, from the closed form of the variance where there is one: a right simulator fails one check in 16,000.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import numpy as np
import pytest

from simulator.laws.units import FloatArray
from simulator.world.calendar import Calendar
from simulator.world.demand import DemandInputs, Jumps, draw_demand, outlook
from simulator.world.dice import Dice
from simulator.world.growth import Bass, Logistic, Regime, Turns, draw_luck
from simulator.world.segments import Segment
from simulator.world.shocks import Shocks, draw_shocks

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
CLUSTERS = {
    "shocks": Shocks(per_year=2.0, size=0.4, size_sigma=0.3, decay_days=40.0, clustering=0.5, cluster_days=20.0)
}
WALK = {"walk_sigma": 0.15}
GROWTH_WALK = {"growth_walk_sigma": 0.15}
TURNS = {"turns": Turns(per_year=0.5, sigma=0.2)}
JUMPS = {"jumps": Jumps(per_year=0.5, log_mean=0.2, log_sigma=0.3)}
SEGMENTS = {
    "segment": (
        Segment(name="chat", share=0.7, growth_per_year=1.2, growth_sigma=0.1, prompt_share=0.8),
        Segment(name="agents", share=0.3, growth_per_year=2.5, growth_sigma=0.2, prompt_share=0.95),
    )
}
ALONE = {
    "level": LEVEL,
    "growth": GROWTH,
    "noise": NOISE,
    "shocks": SHOCKS,
    "regimes": REGIMES,
    "clusters": CLUSTERS,
    "walk": WALK,
    "growth walk": GROWTH_WALK,
    "turns": TURNS,
    "jumps": JUMPS,
    "segments": SEGMENTS,
}
SATURATING = {
    "logistic": {"growth_per_year": 3.0, "growth_sigma": 0.3, "curve": Logistic(ceiling_tokens_per_day=5e12)},
    "bass": {
        "history_growth_per_year": 1.0,
        "growth_sigma": 0.1,  # small beside p + q, so that no world goes back to before its launch
        "curve": Bass(ceiling_tokens_per_day=9e12, innovation_per_year=0.03, imitation_per_year=0.38),
    },
}
TOGETHER = {"together": {**LEVEL, "level_sigma": 0.3, **REGIMES, **NOISE, **SHOCKS, "weekday_factors": WEEK}}


def inputs(changes: dict[str, object]) -> DemandInputs:
    return DemandInputs.model_validate({"tokens_per_day": 1e12, "history_growth_per_year": 3.0, **changes})


class Sample(NamedTuple):
    """The declared outlook at some days, and the drawn paths [replication, day]."""

    tokens: FloatArray
    log_sd: FloatArray
    paths: FloatArray


def sample(demand: DemandInputs, days: tuple[int, ...] = DAYS) -> Sample:
    view, index = outlook(demand, CALENDAR), np.array([CALENDAR.index(day) for day in days])
    paths = np.empty((REPLICATIONS, index.size))
    for replication in range(REPLICATIONS):
        dice = Dice(SEED, replication)
        shocks = draw_shocks(demand.shocks, dice, CALENDAR)
        drawn = draw_demand(demand, view, draw_luck(view.growth, dice), shocks, dice, CALENDAR)
        paths[replication] = drawn.tokens[index]
    return Sample(view.tokens[index], view.log_sd[index], paths)


@pytest.mark.parametrize(
    ("changes", "noise_has"),
    [(changes, "mean_one") for changes in (*ALONE.values(), *TOGETHER.values(), *SATURATING.values())]
    + [(changes, "median_one") for changes in (LEVEL, NOISE, REGIMES, JUMPS, SEGMENTS)],
    ids=[
        *ALONE,
        *TOGETHER,
        *SATURATING,
        *(f"{name}, median one" for name in ("level", "noise", "regimes", "jumps", "segments")),
    ],
)
def test_the_mean_of_many_worlds_is_the_declared_path(changes: dict[str, object], noise_has: str) -> None:
    found = sample(inputs({**changes, "noise_has": noise_has}))
    view, paths = found, found.paths
    # A lognormal's relative variance is e^(s^2) - 1; where there are shocks the sample's own is taken.
    if not {"shocks", "turns", "jumps", "curve", "segment"}.isdisjoint(changes):
        errors = paths.std(axis=0) / np.sqrt(REPLICATIONS)
    else:
        errors = view.tokens * np.sqrt(np.expm1(view.log_sd**2) / REPLICATIONS)
    assert (np.abs(paths.mean(axis=0) - view.tokens) <= ERRORS * errors + 1e-9 * view.tokens).all()


@pytest.mark.parametrize(
    "changes",
    [LEVEL, GROWTH, NOISE, REGIMES, WALK, GROWTH_WALK, *SATURATING.values()],
    ids=["level", "growth", "noise", "regimes", "walk", "growth walk", *SATURATING],
)
def test_the_declared_spread_is_that_of_many_worlds(changes: dict[str, object]) -> None:
    found = sample(inputs(changes))
    logs = np.log(found.paths)
    around = logs - logs.mean(axis=0)
    # The sd of n values has relative standard error sqrt((kurtosis - 1) / 4 n): of normals 1 / sqrt(2 n).
    variance = np.maximum((around**2).mean(axis=0), 1e-18)
    kurtosis = np.maximum((around**4).mean(axis=0) / variance**2, 3.0)
    errors = found.log_sd * np.sqrt((kurtosis - 1.0) / (4.0 * REPLICATIONS))
    assert (np.abs(logs.std(axis=0) - found.log_sd) <= ERRORS * errors + 1e-9).all()


def test_the_declared_spread_counts_shocks() -> None:
    # Permanent jumps of 27.7621 %, two in four years on average: the log has variance 2 ln(1.277621)^2.
    shocks = Shocks(per_year=0.5, size=0.277621, size_sigma=0.0, decay_days=1e9)
    found = sample(inputs({"shocks": shocks}), (FOUR_YEARS - 31,))
    view, paths = found, found.paths
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
    paths = sample(demand).paths
    certain = outlook(inputs({"growth_per_year": 2**0.25}), CALENDAR)
    median = certain.tokens[[CALENDAR.index(day) for day in DAYS]]
    # The median of n normals has standard error 1.2533 sd / sqrt(n).
    sd = np.log(paths).std(axis=0)
    distance = np.abs(np.median(np.log(paths), axis=0) - np.log(median))
    assert (distance <= ERRORS * 1.2533 * sd / np.sqrt(REPLICATIONS) + 1e-9).all()


def test_uncertain_growth_has_the_moments_of_geometric_brownian_motion() -> None:
    # Numbers J3: mean growth 2, log sd 0.3: mean 2, median 1.91199, sd over mean 0.306878. Here over four years:
    # growth 2^(1/4) a year, of log sd 0.3 / 4 a year.
    paths = sample(inputs(GROWTH), (0, FOUR_YEARS)).paths
    growth = paths[:, 1] / paths[:, 0]
    assert growth.mean() == pytest.approx(2.0, rel=ERRORS * 0.306878 / np.sqrt(REPLICATIONS))
    assert np.median(growth) == pytest.approx(1.91199, rel=ERRORS * 1.2533 * 0.3 / np.sqrt(REPLICATIONS))
    # The lognormal's fourth moment makes the error of its sd some 1.2 times that of a normal's at this spread.
    assert growth.std() / growth.mean() == pytest.approx(0.306878, rel=ERRORS * 1.25 / np.sqrt(2 * REPLICATIONS))


def test_noise_has_the_moments_of_an_ornstein_uhlenbeck_process() -> None:
    # Numbers J3: k = 0.1, s = 0.1: sd 0.223607, correlation a day later 0.904837.
    paths = sample(inputs(NOISE), (100, 101, 108)).paths
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
    found = sample(inputs({"history_growth_per_year": 1.0, "shocks": shocks}), (day,))
    view, paths = found, found.paths
    assert view.tokens[0] / 1e12 == pytest.approx(np.exp(0.555243), rel=1e-5)
    assert paths.mean() / 1e12 == pytest.approx(np.exp(0.555243), abs=ERRORS * paths.std() / 1e12 / REPLICATIONS**0.5)


def test_fading_shocks_settle_at_their_closed_form() -> None:
    # Long after the first day the mean factor is exp(rate x size / (1 - e^(-1/decay))).
    shocks = SHOCKS["shocks"]
    found = sample(inputs({"history_growth_per_year": 1.0, "shocks": shocks}), (FOUR_YEARS,))
    view, paths = found, found.paths
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


# Forms of growth -------------------------------------------------------------------------------------------------


def test_a_random_walk_has_the_moments_of_geometric_brownian_motion() -> None:
    # Numbers J3: mu = ln 2, s = 0.3, t = 1: mean 2, median 1.91199, sd over mean 0.306878; here t = 4 years, s = 0.15.
    paths = sample(inputs({"growth_per_year": 2**0.25, **WALK}), (0, FOUR_YEARS // 2, FOUR_YEARS)).paths
    growth = paths[:, 2] / paths[:, 0]
    assert growth.mean() == pytest.approx(2.0, rel=ERRORS * 0.306878 / np.sqrt(REPLICATIONS))
    assert np.median(growth) == pytest.approx(1.91199, rel=ERRORS * 1.2533 * 0.3 / np.sqrt(REPLICATIONS))
    assert growth.std() / growth.mean() == pytest.approx(0.306878, rel=ERRORS * 1.25 / np.sqrt(2 * REPLICATIONS))
    # What sets a walk apart from one draw of the growth: its two halves know nothing of each other.
    halves = np.diff(np.log(paths), axis=1)
    assert abs(np.corrcoef(halves.T)[0, 1]) < ERRORS / np.sqrt(REPLICATIONS)


def test_a_fast_market_has_the_moments_of_geometric_brownian_motion() -> None:
    # Numbers J3: mu = ln 6.67, s = 0.5, t = 1: mean 6.67, median 5.88625, sd over mean 0.53294.
    paths = sample(inputs({"growth_per_year": 6.67**0.25, "walk_sigma": 0.25}), (0, FOUR_YEARS)).paths
    growth = paths[:, 1] / paths[:, 0]
    assert growth.mean() == pytest.approx(6.67, rel=ERRORS * 0.53294 / np.sqrt(REPLICATIONS))
    assert np.median(growth) == pytest.approx(5.88625, rel=ERRORS * 1.2533 * 0.5 / np.sqrt(REPLICATIONS))
    # The kurtosis of a lognormal of sd 0.5 is 8.9: the sd's relative error is sqrt((8.9 - 1) / 4 n).
    assert growth.std() / growth.mean() == pytest.approx(0.53294, rel=ERRORS * np.sqrt(7.9 / 4 / REPLICATIONS))


def test_a_walk_of_the_growth_rate_spreads_with_the_cube_of_time() -> None:
    # The integral of s W has variance s^2 t^3 / 3: sd 0.15 x 4^1.5 / sqrt 3 after four years.
    found = sample(inputs(GROWTH_WALK), (FOUR_YEARS,))
    by_theory = 0.15 * 4**1.5 / np.sqrt(3.0)
    assert found.log_sd[0] == pytest.approx(by_theory, rel=2e-3)
    assert np.log(found.paths).std() == pytest.approx(by_theory, rel=ERRORS / np.sqrt(2 * REPLICATIONS) + 2e-3)


def test_turns_spread_as_a_rate_that_is_redrawn_at_random() -> None:
    # A rate of variance s^2 that is redrawn lam times a year, from its first turn on: the variance of its integral is
    # that of a telegraph process, 2 s^2 (lam t - 1 + e^(-lam t)) / lam^2, less what comes before the first turn,
    # whose own mean square length is 2 (1 - e^(-lam t)(1 + lam t + (lam t)^2 / 2)) / lam^2 + t^2 e^(-lam t).
    lam, s, t = 0.5, 0.2, 4.0
    telegraph = 2.0 * s**2 * (lam * t - 1.0 + np.exp(-lam * t)) / lam**2
    before = 2.0 * s**2 * (1.0 - np.exp(-lam * t) * (1.0 + lam * t + (lam * t) ** 2 / 2.0)) / lam**2
    by_theory = telegraph - before - s**2 * t**2 * np.exp(-lam * t)
    found = sample(inputs(TURNS), (FOUR_YEARS,))
    assert found.log_sd[0] ** 2 == pytest.approx(by_theory, rel=5e-3)
    logs = np.log(found.paths[:, 0])
    error = np.sqrt(np.var((logs - logs.mean()) ** 2) / REPLICATIONS)
    assert logs.var() == pytest.approx(by_theory, abs=ERRORS * error)


def test_jumps_have_the_moments_of_mertons() -> None:
    # Numbers J3: lam = 2, mJ = .2, sJ = .3: mean jump .277621, compensator .555243, log-variance .26. Two come.
    assert JUMPS["jumps"].mean_rise == pytest.approx(0.277621, abs=5e-7)
    compensated = sample(inputs(JUMPS), (FOUR_YEARS,))
    logs = np.log(compensated.paths[:, 0] / 1e12)
    # Compound Poisson: the fourth central moment is 3 v^2 + lam E[J^4], E[J^4] = m^4 + 6 m^2 s^2 + 3 s^4 = 0.0475.
    error = np.sqrt((2 * 0.26**2 + 2 * 0.0475) / REPLICATIONS)
    assert logs.var() == pytest.approx(0.26, abs=ERRORS * error)
    assert compensated.log_sd[0] ** 2 == pytest.approx(0.26, rel=1e-9)
    assert logs.mean() == pytest.approx(2 * 0.2 - 0.555243, abs=ERRORS * np.sqrt(0.26 / REPLICATIONS))
    raised = sample(inputs({**JUMPS, "noise_has": "median_one"}), (FOUR_YEARS,))
    assert raised.tokens[0] / 1e12 == pytest.approx(np.exp(0.555243), rel=1e-6)


@pytest.mark.parametrize(
    ("p", "q", "peak_years", "at_peak", "peak", "after_five"),
    [(0.03, 0.38, 6.19262, 0.460526, 0.110592, 0.331199), (0.01, 0.5, 7.67063, 0.49, 0.13005, 0.18799)],
)
def test_adoption_follows_bass(
    p: float, q: float, peak_years: float, at_peak: float, peak: float, after_five: float
) -> None:
    # Numbers J3. Demand enters the curve where five years have brought it.
    bass = Bass(ceiling_tokens_per_day=1e12, innovation_per_year=p, imitation_per_year=q)
    tokens = outlook(DemandInputs(tokens_per_day=after_five * 1e12, curve=bass), CALENDAR).tokens[CALENDAR.lived]
    day = round((peak_years - 5.0) * 365.25)
    assert tokens[day] / 1e12 == pytest.approx(at_peak, rel=1e-3)
    added = np.diff(tokens) * 365.25 / 1e12
    assert added.max() == pytest.approx(peak, rel=1e-4)
    assert abs(int(added.argmax()) - day) <= 2


def test_adoption_starts_from_nothing() -> None:
    # F(t) = (1 - e^(-(p+q)t)) / (1 + (q/p) e^(-(p+q)t)) of the time since the launch.
    bass = Bass(ceiling_tokens_per_day=1e12, innovation_per_year=0.03, imitation_per_year=0.38)
    since = 0.05
    share = (1 - np.exp(-0.41 * since)) / (1 + 0.38 / 0.03 * np.exp(-0.41 * since))
    tokens = outlook(DemandInputs(tokens_per_day=share * 1e12, curve=bass), CALENDAR).tokens
    assert tokens[CALENDAR.index(-18)] == pytest.approx(1e12 * 0.03 * (since - 18 / 365.25), rel=0.02)
    assert tokens[CALENDAR.index(-30)] == pytest.approx(1.0)  # launched 18 days before the start


def test_logistic_growth_takes_ln_81_over_r_from_a_tenth_to_nine_tenths() -> None:
    # Numbers J3: r = 1.2: 3.66204 years, steepest r K / 4.
    demand = DemandInputs(
        tokens_per_day=1e11, growth_per_year=float(np.exp(1.2)), curve=Logistic(ceiling_tokens_per_day=1e12)
    )
    tokens = outlook(demand, CALENDAR).tokens[CALENDAR.lived]
    assert np.interp(9e11, tokens, np.arange(tokens.size)) / 365.25 == pytest.approx(3.66204, rel=1e-4)
    assert np.diff(tokens).max() * 365.25 == pytest.approx(1.2 * 1e12 / 4, rel=1e-4)


# Clusters, segments, seasons, prices -----------------------------------------------------------------------------


def test_clustering_multiplies_the_number_of_shocks() -> None:
    # A branching process: each shock has 1 / (1 - n) shocks in its cluster on average, variance n / (1 - n)^3.
    shocks = CLUSTERS["shocks"]
    long = Calendar(START, 0, 3650, 0)
    counts = np.array([len(draw_shocks(shocks, Dice(SEED, k), long)) for k in range(500)], dtype=float)
    rate = 2.0 * 3650 / 365.25
    cut_off = 2.0 / 365.25 * 20.0 * 0.5 / 0.5**2  # those that would come after the last day, to first order
    error = np.sqrt(rate * (1 / 0.5**2 + 0.5 / 0.5**3) / 500)
    assert counts.mean() == pytest.approx(rate / 0.5 - cut_off, abs=ERRORS * error + 0.1)
    one_by_one = [
        len(draw_shocks(shocks.model_copy(update={"clustering": 0.0}), Dice(SEED, k), long)) for k in range(500)
    ]
    assert counts.var() / counts.mean() > 2.0 > np.var(one_by_one) / np.mean(one_by_one)


def test_segments_grow_each_at_its_own_rate() -> None:
    demand = inputs({"history_growth_per_year": 1.0, **SEGMENTS})
    view = outlook(demand, CALENDAR)
    day = CALENDAR.index(FOUR_YEARS)
    assert view.tokens[CALENDAR.index(0)] == pytest.approx(1e12, rel=1e-12)
    assert view.tokens[day] == pytest.approx(1e12 * (0.7 * 1.2**4 + 0.3 * 2.5**4), rel=1e-9)
    # By hand: w = 0.3 x 39.0625 / 13.17; the spread to first order is that of the weighted logs.
    weight = 0.3 * 2.5**4 / (0.7 * 1.2**4 + 0.3 * 2.5**4)
    by_hand = np.hypot((1 - weight) * 0.1 * 4, weight * 0.2 * 4)
    assert view.log_sd[day] == pytest.approx(by_hand, rel=1e-9)
    assert np.log(sample(demand, (FOUR_YEARS,)).paths).std() == pytest.approx(by_hand, rel=0.06)
