"""Demand as declared, to the last digit: growth on its dates, weekdays, and a recorded trace with what follows it."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from pydantic import ValidationError

from simulator.laws.units import FloatArray
from simulator.world.calendar import Calendar
from simulator.world.demand import DemandInputs, draw_demand, outlook
from simulator.world.dice import Dice
from simulator.world.growth import Regime, draw_luck
from simulator.world.shocks import Shocks, draw_shocks
from simulator.world.trace import Trace

MONDAY = date(2026, 6, 1)
LEVEL = 1e12
FOUR_YEARS = 1461
WEEK = (1.014, 1.059, 1.090, 1.066, 1.017, 0.870, 0.884)
"""OpenRouter, 2026-05-20 to 06-26: weekend over weekday 0.836 (numbers J1 and the frontier scenario)."""


def calendar(history_days: int = 0, horizon_days: int = 400, start: date = MONDAY) -> Calendar:
    return Calendar(start, history_days, horizon_days, 0)


def declared(demand: DemandInputs, days: Calendar) -> FloatArray:
    return outlook(demand, days).tokens


def drawn(demand: DemandInputs, days: Calendar, replication: int = 0) -> FloatArray:
    dice = Dice(1, replication)
    view = outlook(demand, days)
    luck = draw_luck(view.growth, dice)
    return draw_demand(demand, view, luck, draw_shocks(demand.shocks, dice, days), dice, days).tokens


# Growth ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("growth", [5.0, 1.0, 0.5])
def test_growth_per_year_is_the_factor_of_365_25_days(growth: float) -> None:
    tokens = declared(DemandInputs(tokens_per_day=LEVEL, growth_per_year=growth), calendar(horizon_days=2 * FOUR_YEARS))
    assert tokens[0] == pytest.approx(LEVEL, rel=1e-12)
    np.testing.assert_allclose(tokens[FOUR_YEARS:] / tokens[:-FOUR_YEARS], growth**4, rtol=1e-12)


def test_regimes_take_over_on_their_dates() -> None:
    demand = DemandInputs(
        tokens_per_day=LEVEL,
        growth_per_year=4.0,
        regime=(
            Regime(start=MONDAY + timedelta(days=100), growth_per_year=2.0),
            Regime(start=MONDAY + timedelta(days=250), growth_per_year=0.8),
        ),
    )
    tokens = declared(demand, calendar())
    rate = [4.0] * 100 + [2.0] * 150 + [0.8] * 150
    by_hand = LEVEL * np.concatenate(([1.0], np.cumprod(np.array(rate) ** (1 / 365.25))))[:-1]
    np.testing.assert_allclose(tokens, by_hand, rtol=1e-12)


def test_the_past_grows_at_its_own_rate() -> None:
    # 1.62 % a day is 354x a year (OpenRouter): four years back would be 354^4 times less.
    demand = DemandInputs(tokens_per_day=LEVEL, history_growth_per_year=354.0, growth_per_year=2.0)
    tokens = declared(demand, calendar(history_days=56))
    np.testing.assert_allclose(tokens[1:57] / tokens[:56], 354.0 ** (1 / 365.25), rtol=1e-12)
    a_day = 354.0 ** (1 / 365.25) - 1
    assert a_day == pytest.approx(0.0162, abs=5e-5)
    assert tokens[56] == pytest.approx(LEVEL, rel=1e-12)
    np.testing.assert_allclose(tokens[57:] / tokens[56:-1], 2.0 ** (1 / 365.25), rtol=1e-12)


def test_a_regime_that_began_before_the_start_still_rules() -> None:
    # The date a regime began says nothing about the level: that is tokens_per_day on day 0.
    demand = DemandInputs(
        tokens_per_day=LEVEL,
        growth_per_year=2.0,
        regime=(Regime(start=MONDAY - timedelta(days=7), growth_per_year=5.0),),
    )
    days = calendar(history_days=10)
    tokens = declared(demand, days)[days.lived]
    np.testing.assert_allclose(tokens, LEVEL * 5.0 ** (np.arange(400) / 365.25), rtol=1e-12)


def test_a_regime_on_day_0_replaces_the_first_growth() -> None:
    demand = DemandInputs(
        tokens_per_day=LEVEL, growth_per_year=9.0, regime=(Regime(start=MONDAY, growth_per_year=3.0),)
    )
    np.testing.assert_allclose(declared(demand, calendar()), LEVEL * 3.0 ** (np.arange(400) / 365.25), rtol=1e-12)


# Weeks, and worlds without dice ----------------------------------------------------------------------------------


def test_weekday_factors_fall_on_their_weekdays() -> None:
    days = calendar(history_days=3, start=date(2026, 6, 4))  # day 0 is a Thursday, index 0 a Monday
    tokens = declared(DemandInputs(tokens_per_day=LEVEL, weekday_factors=WEEK), days)
    np.testing.assert_allclose(tokens[:14], LEVEL * np.array(WEEK * 2), rtol=1e-12)
    weekend = tokens[np.isin(days.weekdays, (5, 6))].mean()
    assert weekend / tokens[~np.isin(days.weekdays, (5, 6))].mean() == pytest.approx(0.836, abs=5e-4)


def test_without_uncertainty_the_draw_is_the_declared_path() -> None:
    demand = DemandInputs(tokens_per_day=LEVEL, growth_per_year=3.0, history_growth_per_year=2.0, weekday_factors=WEEK)
    days = calendar(history_days=30)
    np.testing.assert_allclose(drawn(demand, days), declared(demand, days), rtol=1e-12)
    np.testing.assert_array_equal(outlook(demand, days).log_sd, 0.0)


def test_a_shock_lifts_its_day_and_fades() -> None:
    demand = DemandInputs(tokens_per_day=LEVEL, shocks=Shocks(per_year=0.5, size=0.4, decay_days=10.0))
    days = calendar(history_days=50)
    for replication in range(50):
        shocks = draw_shocks(demand.shocks, Dice(1, replication), days)
        if len(shocks) == 1:
            break
    (shock,) = shocks
    assert shock.size == pytest.approx(0.4)
    tokens, first = drawn(demand, days, replication), days.index(shock.day)
    np.testing.assert_array_equal(tokens[:first], LEVEL)
    age = np.arange(days.n_days - first)
    np.testing.assert_allclose(tokens[first:], LEVEL * (1 + 0.4 * np.exp(-age / 10.0)), rtol=1e-12)


def test_shocks_come_in_order_of_day_and_within_the_calendar() -> None:
    days = calendar(history_days=50)
    for replication in range(20):
        found = [shock.day for shock in draw_shocks(Shocks(per_year=20.0), Dice(1, replication), days)]
        assert found == sorted(found)
        assert all(-50 <= day < 400 for day in found)


def test_a_longer_world_has_the_same_first_days_to_the_last_bit() -> None:
    demand = DemandInputs(
        tokens_per_day=LEVEL,
        growth_per_year=3.0,
        growth_sigma=0.3,
        level_sigma=0.2,
        noise_sigma=0.07,
        noise_persistence=0.71,
        shocks=Shocks(per_year=3.0, size_sigma=0.5),
        weekday_factors=WEEK,
    )
    longest = drawn(demand, calendar(56, 4000))
    for horizon_days in (30, 100, 365, 700, 1826, 3650):
        found = drawn(demand, calendar(56, horizon_days))
        np.testing.assert_array_equal(found, longest[: found.size], err_msg=f"horizon of {horizon_days} days")


# A trace ---------------------------------------------------------------------------------------------------------

RECORDED = tuple(1e12 * (1 + 0.3 * np.sin(day)) for day in range(38))
FIRST_RECORDED = MONDAY - timedelta(days=12)
GROWING = float(np.exp(0.05 * 365.25))
"""A factor per year that is e^0.05 a day."""


def noisy(**changes: object) -> DemandInputs:
    return DemandInputs.model_validate(
        {
            "tokens_per_day": 5e11,
            "noise_sigma": 0.1,
            "noise_persistence": 0.5,
            "level_sigma": 0.3,
            "growth_sigma": 0.3,
            "trace": Trace(first_day=FIRST_RECORDED, tokens=RECORDED),
            **changes,
        }
    )


def test_a_trace_is_replayed_exactly_and_without_noise() -> None:
    days = calendar(history_days=20)
    first = days.index(-12)
    for replication in range(3):
        np.testing.assert_array_equal(drawn(noisy(), days, replication)[first : first + 38], RECORDED)
    view = outlook(noisy(), days)
    np.testing.assert_array_equal(view.tokens[first : first + 38], RECORDED)
    np.testing.assert_array_equal(view.log_sd[first : first + 38], 0.0)
    assert (view.log_sd[:first] > 0.0).all()
    assert (view.log_sd[first + 38 :] > 0.0).all()


def test_no_shock_is_added_to_what_was_recorded() -> None:
    # What happened is in the record already.
    days = calendar(history_days=20)
    first = days.index(-12)
    demand = noisy(shocks=Shocks(per_year=50.0, size=0.5))
    np.testing.assert_array_equal(outlook(demand, days).tokens[first : first + 38], RECORDED)
    np.testing.assert_array_equal(drawn(demand, days)[first : first + 38], RECORDED)


def test_growth_is_uncertain_only_from_the_end_of_the_trace() -> None:
    days = calendar(history_days=20)
    view = outlook(noisy(noise_sigma=0.0, level_sigma=0.0), days)
    after = days.index(26)
    np.testing.assert_allclose(view.log_sd[after:], 0.3 * np.arange(1, days.n_days - after + 1) / 365.25, rtol=1e-9)


@pytest.mark.parametrize("weekday_factors", [(1.0,) * 7, WEEK])
def test_after_a_trace_demand_goes_on_at_the_level_of_its_last_week(weekday_factors: tuple[float, ...]) -> None:
    # A record of exact growth and weekdays must go on as if it had never ended, whatever level is declared.
    weekday = np.array([weekday_factors[(FIRST_RECORDED.weekday() + i) % 7] for i in range(500)])
    truth = 7e11 * np.exp(0.05 * np.arange(500)) * weekday
    demand = DemandInputs(
        tokens_per_day=1.0,
        history_growth_per_year=GROWING,
        growth_per_year=GROWING,
        weekday_factors=weekday_factors,
        trace=Trace(first_day=FIRST_RECORDED, tokens=tuple(truth[:38])),
    )
    days = calendar(history_days=12)
    np.testing.assert_allclose(declared(demand, days), truth[: days.n_days], rtol=1e-9)


def test_before_a_trace_demand_follows_its_first_week() -> None:
    truth = 7e11 * np.exp(0.05 * (np.arange(100) - 40))
    demand = DemandInputs(
        tokens_per_day=1.0,
        history_growth_per_year=GROWING,
        growth_per_year=GROWING,
        trace=Trace(first_day=MONDAY - timedelta(days=10), tokens=tuple(truth[40:60])),
    )
    days = calendar(history_days=50, horizon_days=50)
    np.testing.assert_allclose(declared(demand, days), truth, rtol=1e-9)


@pytest.mark.parametrize("history_days", [0, 3, 12, 20, 60])
@pytest.mark.parametrize("gap_days", [0, 5])
def test_how_much_past_is_metered_changes_no_demand(history_days: int, gap_days: int) -> None:
    # The record ends on the eve of the start, or five days before: growth of 5 % a day bridges the gap.
    start = FIRST_RECORDED + timedelta(days=38 + gap_days)
    recorded = tuple(7e11 * np.exp(0.05 * np.arange(38)))
    demand = DemandInputs(
        tokens_per_day=1.0,
        history_growth_per_year=GROWING,
        growth_per_year=GROWING,
        trace=Trace(first_day=FIRST_RECORDED, tokens=recorded),
    )
    days = calendar(history_days, 30, start)
    expected = 7e11 * np.exp(0.05 * (38 + gap_days + np.arange(30)))
    np.testing.assert_allclose(declared(demand, days)[days.lived], expected, rtol=1e-9)


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tokens_per_day": 0.0}, "greater than 0"),
        ({"tokens_per_day": float("nan")}, "finite"),
        ({"growth_per_year": -2.0}, "greater than 0"),
        ({"noise_sigma": -0.1}, "greater than or equal to 0"),
        ({"noise_persistence": 1.0}, "less than 1"),
        ({"prompt_share": 1.2}, "less than or equal to 1"),
        ({"noise_has": "mode_one"}, "mean_one"),
        ({"weekday_factors": (1.0,) * 6}, "needs 7 weekday factors"),
        ({"weekday_factors": (1.0,) * 24}, "needs 7 values, has 24"),
        ({"weekday_factors": (1.1,) * 7}, "mean 1, has mean 1.1"),
        ({"hour_profile": (1.0,) * 7}, "needs 24 values, has 7"),
        ({"hour_profile": (2.0, *(1.0,) * 23)}, "must have mean 1"),
        ({"tokens_a_day": 1.0}, "Extra inputs"),
        ({"shocks": {"size": -1.0}}, "greater than -1"),
        (
            {
                "regime": (
                    {"start": date(2027, 1, 1), "growth_per_year": 2},
                    {"start": date(2026, 9, 1), "growth_per_year": 2},
                )
            },
            "in order of date: 2026-09-01 follows 2027-01-01",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        DemandInputs.model_validate({"tokens_per_day": LEVEL, **changes})


# Seasons, prices of tokens, and records drawn from anew ----------------------------------------------------------


def test_months_are_joined_by_lines() -> None:
    # Half in the first half of the year, one and a half in the second: at the middle of a month its own factor holds.
    demand = DemandInputs(tokens_per_day=LEVEL, month_factors=(0.5,) * 6 + (1.5,) * 6)
    tokens = declared(demand, calendar(horizon_days=800, start=date(2026, 1, 1)))
    assert tokens[45] == pytest.approx(0.5 * LEVEL)  # mid-February
    assert tokens[228] == pytest.approx(1.5 * LEVEL)  # mid-August
    assert tokens[182] == pytest.approx(LEVEL, rel=0.03)  # the turn of June to July lies on the line between
    assert tokens[:365].mean() == pytest.approx(LEVEL, rel=1e-3)
    assert tokens[45 + 365] == pytest.approx(0.5 * LEVEL)


@pytest.mark.parametrize(("elasticity", "after_a_year"), [(0.0, 1.0), (1.0, 10.0), (0.5, 10.0**0.5)])
def test_demand_answers_to_the_price_of_tokens(elasticity: float, after_a_year: float) -> None:
    # a16z: 10x cheaper a year at fixed quality (numbers I4). Elasticity e: demand x 10^e.
    price = {"elasticity": elasticity, "fall_per_year": 0.9}
    demand = DemandInputs.model_validate({"tokens_per_day": LEVEL, "token_price": price})
    tokens = declared(demand, calendar(history_days=30, horizon_days=2 * FOUR_YEARS))
    np.testing.assert_allclose(tokens[:31], LEVEL, rtol=1e-12)
    np.testing.assert_allclose(tokens[30 + FOUR_YEARS] / LEVEL, after_a_year**4, rtol=1e-9)


def test_a_dated_cut_of_the_price_of_tokens_lifts_demand_from_its_day_on() -> None:
    steps = ({"day": MONDAY + timedelta(days=10), "factor": 0.25}, {"day": MONDAY - timedelta(days=1), "factor": 9.0})
    price = {"elasticity": 0.5, "step": steps}
    demand = DemandInputs.model_validate({"tokens_per_day": LEVEL, "token_price": price})
    np.testing.assert_allclose(declared(demand, calendar())[:20], [LEVEL] * 10 + [2 * LEVEL] * 10, rtol=1e-12)


def test_noise_after_a_record_is_drawn_from_the_record_in_blocks() -> None:
    # A record of flat weeks in which one day in seven is 30 % up: so is what follows, in blocks of a week.
    recorded = tuple(1e12 * (1.3 if day % 7 == 3 else 1.0) for day in range(70))
    trace = Trace(first_day=MONDAY - timedelta(days=70), tokens=recorded, bootstrap_block_days=7)
    demand = DemandInputs(tokens_per_day=1e12, trace=trace)
    days = calendar(history_days=70, horizon_days=700)
    tokens = drawn(demand, days)[days.lived]
    low, high = np.unique(np.round(np.log(tokens), 2))[[0, -1]]
    assert high - low == pytest.approx(np.log(1.3), abs=0.03)
    for week in range(100):
        assert np.sum(np.log(tokens[7 * week : 7 * week + 7]) > (low + high) / 2) == 1  # a block holds one such day
    view = outlook(demand, days)
    spread = np.log(1.3) * np.sqrt(1 / 7 * 6 / 7)  # of a coin that falls one in seven
    assert view.log_sd[days.index(300)] == pytest.approx(spread, rel=1e-2)
    paths = np.array([drawn(demand, days, k)[days.index(300)] for k in range(400)])
    assert paths.mean() == pytest.approx(view.tokens[days.index(300)], rel=4 * 1.3 * spread / 20)


def test_every_form_of_uncertainty_keeps_the_first_days_of_a_shorter_world() -> None:
    changes = {
        "walk_sigma": 0.2,
        "growth_walk_sigma": 0.2,
        "turns": {"per_year": 2.0, "sigma": 0.5},
        "jumps": {"per_year": 2.0, "log_sigma": 0.3},
        "shocks": {"per_year": 3.0, "size_sigma": 0.5, "clustering": 0.6, "cluster_days": 10},
        "month_factors": (0.9, 1.1) * 6,
        "curve": {"form": "logistic", "ceiling_tokens_per_day": 1e14},
        "segment": (
            {"name": "one", "share": 0.5, "growth_sigma": 0.3},
            {"name": "two", "share": 0.5, "growth_per_year": 2.0, "growth_sigma": 0.1},
        ),
    }
    demand = DemandInputs.model_validate({"tokens_per_day": LEVEL, "growth_per_year": 3.0, **changes})
    for replication in range(3):
        longest = drawn(demand, calendar(56, 2000), replication)
        for horizon_days in (30, 365, 1000):
            found = drawn(demand, calendar(56, horizon_days), replication)
            np.testing.assert_allclose(found, longest[: found.size], rtol=1e-12)


def test_after_a_trace_segments_and_prices_go_on_from_the_level_of_its_last_week() -> None:
    # A record of exactly what is declared must go on as if it had never ended, whatever multiplies the curve.
    changes = {
        "tokens_per_day": LEVEL,
        "growth_per_year": 3.0,
        "history_growth_per_year": 3.0,
        "month_factors": (0.9, 1.1) * 6,
        "token_price": {"elasticity": 1.0, "fall_per_year": 0.5},
        "segment": (
            {"name": "slow", "share": 0.6, "growth_per_year": 1.0},
            {"name": "fast", "share": 0.4, "growth_per_year": 20.0},
        ),
    }
    days = calendar(history_days=20)
    truth = declared(DemandInputs.model_validate(changes), days)
    first = days.index(-12)
    trace = Trace(first_day=FIRST_RECORDED, tokens=tuple(truth[first : first + 60]))
    demand = DemandInputs.model_validate({**changes, "tokens_per_day": 7e11, "trace": trace})
    np.testing.assert_allclose(declared(demand, days), truth, rtol=1e-9)
