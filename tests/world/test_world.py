"""One replication: the same for all policies, frozen, and the same in its first days whatever its horizon."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.lab.lab import Lab
from simulator.lab.policy import default_policies
from simulator.laws.units import FloatArray
from simulator.study.files import load_scenario
from simulator.world.scenario import Scenario
from simulator.world.world import Meter, MeterReading, World, expected_rent, realize

OF_PRICES = (
    "rental_factor",
    "spot_factor",
    "purchase_factor",
    "electricity_usd_per_kwh",
    "spot_availability",
    "purchase_lead_days",
)
OF_OUTLOOK = (
    "on_demand_usd_per_gpu_hour",
    "spot_usd_per_gpu_hour",
    "purchase_usd_per_gpu",
    "electricity_usd_per_kwh",
)


def arrays(world: World) -> list[FloatArray]:
    """Everything that was drawn or declared for a day; the lead times, by quarter, come last."""
    prices = world.prices
    return [
        world.demand_tokens,
        *(getattr(prices.outlook, field) for field in OF_OUTLOOK),
        *(getattr(prices, field) for field in OF_PRICES),
    ]


@pytest.fixture(scope="module")
def frontier() -> Scenario:
    return load_scenario("frontier_lab", ["horizon_days=400", "training.failures_sigma=0.5"])


def assert_same(one: World, other: World) -> None:
    for here, there in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(here, there)
    assert one.shocks == other.shocks
    assert one.failures_per_gpu_year == other.failures_per_gpu_year


def test_the_same_seed_and_replication_give_the_same_world(frontier: Scenario) -> None:
    alone = realize(frontier, 5, 3)
    for replication in (0, 1, 2, 3):
        last = realize(frontier, 5, replication)
    assert_same(alone, last)


def test_seed_and_replication_both_matter(frontier: Scenario) -> None:
    worlds = [realize(frontier, seed, replication).demand_tokens for seed, replication in ((5, 3), (5, 4), (6, 3))]
    assert not np.array_equal(worlds[0], worlds[1])
    assert not np.array_equal(worlds[0], worlds[2])


def test_no_policy_changes_the_world_it_lives_in(frontier: Scenario) -> None:
    untouched, lived_in = realize(frontier, 5, 1), realize(frontier, 5, 1)
    for policy in default_policies():
        run = Lab(lived_in, policy).live()
        assert run.world is lived_in
        assert_same(run.world, untouched)


def test_what_was_drawn_cannot_be_written(frontier: Scenario) -> None:
    world = realize(frontier, 5, 1)
    with pytest.raises(ValueError, match="read-only"):
        world.demand_tokens[0] = 0.0
    for number, array in enumerate(arrays(world)):
        assert not array.flags.writeable, f"array {number}"


def test_a_longer_horizon_has_the_same_first_days_to_the_last_bit(frontier: Scenario) -> None:
    short = realize(frontier, 5, 1)
    for horizon_days in (401, 1000, 3650):
        longer = realize(frontier.model_copy(update={"horizon_days": horizon_days}), 5, 1)
        lived = slice(0, short.calendar.lived.stop)
        for here, there in zip(arrays(short)[:-1], arrays(longer)[:-1], strict=True):
            # A longer world may see kinds of GPU that come later; they stand after those of the shorter one.
            np.testing.assert_array_equal(here[..., lived], there[tuple(map(slice, here.shape))][..., lived])
        for day in range(0, 400, 91):
            assert longer.purchase_lead_days(day) == short.purchase_lead_days(day)


def test_lead_times_change_with_the_quarter(frontier: Scenario) -> None:
    world = realize(frontier, 5, 1)
    leads = [world.purchase_lead_days(day) for day in range(400)]
    for first in range(0, 400, 91):
        assert len(set(leads[first : first + 91])) == 1
    assert len(set(leads)) > 1


def test_the_failure_rate_has_the_mean_asked_for(frontier: Scenario) -> None:
    # Lognormal of sd 0.5 and mean 0.173: relative standard error sqrt((e^0.25 - 1)/n).
    n = 800
    short = frontier.model_copy(update={"horizon_days": 30, "longest_term_days": 1})
    rates = np.array([realize(short, 5, k).failures_per_gpu_year for k in range(n)])
    assert rates.mean() == pytest.approx(0.173, rel=4 * np.sqrt(np.expm1(0.25) / n))


# The meter -------------------------------------------------------------------------------------------------------

tokens = st.lists(st.floats(1.0, 1e15), min_size=2, max_size=60)


@given(tokens, st.data())
def test_a_window_of_the_meter_has_its_mean(values: list[float], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(values) - 1))
    end = data.draw(st.integers(first + 1, len(values)))
    # Prefix sums lose digits against the sum of all days, not of the window.
    scale = 1e-12 * sum(values)
    assert Meter(np.array(values)).mean(first, end) == pytest.approx(np.mean(values[first:end]), rel=1e-9, abs=scale)


@given(st.lists(st.floats(1.0, 1e15), min_size=3, max_size=60), st.data())
def test_the_line_of_the_meter_is_numpys_least_squares(values: list[float], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(values) - 3))
    end = data.draw(st.integers(first + 3, len(values)))
    days, logs = np.arange(first, end), np.log(values[first:end])
    slope, intercept = np.polyfit(days - days.mean(), logs, 1)
    residuals = logs - intercept - slope * (days - days.mean())
    line = Meter(np.array(values)).line(first, end)
    assert line.middle == pytest.approx(intercept, rel=1e-9, abs=1e-9)
    assert line.slope == pytest.approx(slope, rel=1e-7, abs=1e-9)
    assert line.variance == pytest.approx((residuals**2).sum() / (days.size - 2), rel=1e-6, abs=1e-8)
    assert line.spread_of_days == pytest.approx(((days - days.mean()) ** 2).sum(), rel=1e-9)


# The stated drift of rents ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fall", "mean"), [(0.3, 0.8411), (0.0, 1.0)])
def test_the_mean_rent_of_a_year(frontier: Scenario, fall: float, mean: float) -> None:
    # Numbers A5: 0.3 / ln(1 / 0.7) = 0.8411 of today's rent over the next year.
    market = frontier.market.model_copy(update={"rental_fall_per_year": fall})
    scenario = frontier.model_copy(update={"market": market})
    assert expected_rent(scenario, 0, 365) == pytest.approx(mean, rel=2e-4)


@pytest.mark.parametrize("fall", [0.086, -0.2, 0.0])
def test_the_mean_rent_of_a_span_is_that_of_its_days(frontier: Scenario, fall: float) -> None:
    market = frontier.market.model_copy(update={"rental_fall_per_year": fall})
    scenario = frontier.model_copy(update={"market": market})
    for first, n_days in ((0, 90), (90, 270), (500, 1)):
        by_day = (1 - fall) ** ((first + 0.5 + np.arange(n_days)) / 365.25)
        assert expected_rent(scenario, first, n_days) == pytest.approx(by_day.mean(), rel=1e-6)
    assert expected_rent(scenario, 100, 0) == pytest.approx((1 - fall) ** (100 / 365.25))


@pytest.mark.parametrize(("first", "end", "n_days"), [(0, 70, 7), (3, 31, 7), (5, 20, 1), (2, 12, 4)])
def test_runs_of_days_are_read_as_if_day_by_day(first: int, end: int, n_days: int) -> None:
    tokens = 1e12 * np.exp(0.3 * np.random.default_rng(1).standard_normal(80))
    reading = MeterReading(Meter(tokens), 75)
    runs = [tokens[start : start + n_days] for start in range(first, end - n_days + 1, n_days)]
    np.testing.assert_allclose(reading.means(first, end, n_days), [run.mean() for run in runs], rtol=1e-9)
    if n_days > 1:
        within = np.mean([np.log(run).var(ddof=1) for run in runs])
        assert reading.variance_within(first, end, n_days) == pytest.approx(within, rel=1e-6)
    for read in (reading.means, reading.variance_within):
        with pytest.raises(IndexError, match="has read days 0 to 74"):
            read(70, 77, 7)
