"""Uncertain hours: the newsvendor's closed forms, the profile without doubt, and draws counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from simulator.laws.finance import newsvendor_lognormal
from simulator.laws.load import HourProfile, flat_profile
from simulator.laws.uncertain_load import UncertainLoad

SLOPED = HourProfile(tuple(0.5 + hour / 23 for hour in range(24)))
NIGHTS_OFF = HourProfile((0.0,) * 8 + (1.5,) * 16)


@pytest.mark.parametrize(("sigma", "cost"), [(0.5, 2350.59), (1.0, 4161.43)])
def test_a_flat_day_is_the_lognormal_newsvendor(sigma: float, cost: float) -> None:
    # Numbers H7: median 1000, owned 1.5, rented 3: K* = 1000.
    load, mean = UncertainLoad(flat_profile(), sigma), 1000 * np.exp(sigma**2 / 2)
    capacity = load.capacity(1.5 / 3)
    assert capacity * mean == pytest.approx(1000, rel=1e-9)
    assert 1.5 * capacity * mean + 3 * load.overflow_share(capacity) * mean == pytest.approx(cost, abs=0.005)


@pytest.mark.parametrize("ratio", [0.01, 0.3, 0.75, 0.99])
@pytest.mark.parametrize("sigma", [0.05, 0.5, 2.0])
def test_at_any_price_it_is_the_lognormal_newsvendor(ratio: float, sigma: float) -> None:
    best = newsvendor_lognormal(np.exp(-(sigma**2) / 2), sigma, ratio, 1.0)
    load = UncertainLoad(flat_profile(), sigma)
    assert load.capacity(ratio) == pytest.approx(best.capacity, rel=1e-9)
    cost = ratio * best.capacity + load.overflow_share(best.capacity)
    assert cost == pytest.approx(best.cost_usd_per_hour, rel=1e-9)


@pytest.mark.parametrize("profile", [SLOPED, NIGHTS_OFF], ids=["sloped", "nights off"])
@pytest.mark.parametrize("sigma", [0.1, 0.6, 1.5])
@pytest.mark.parametrize("capacity", [0.3, 1.0, 2.5])
def test_hours_are_integrated_over_the_error(profile: HourProfile, sigma: float, capacity: float) -> None:
    error, load = stats.lognorm(sigma, scale=np.exp(-(sigma**2) / 2)), UncertainLoad(profile, sigma)
    above = np.mean([error.sf(capacity / f) if f else 0.0 for f in profile.factors])
    assert load.chance_above(capacity) == pytest.approx(above, rel=1e-9)
    # The overflow is the chance of exceeding each unit of capacity above this one.
    beyond, _ = integrate.quad(load.chance_above, capacity, np.inf, limit=200)
    assert load.overflow_share(capacity) == pytest.approx(beyond, rel=1e-5)
    assert load.chance_above(load.capacity(0.37)) == pytest.approx(0.37, rel=1e-9)


@pytest.mark.parametrize("profile", [SLOPED, NIGHTS_OFF, flat_profile()], ids=["sloped", "nights off", "flat"])
def test_a_vanishing_error_leaves_the_profile(profile: HourProfile) -> None:
    for capacity in (0.0, 0.4, 0.95, 1.45, 3.0):
        share = float(profile.overflow_share(capacity))
        assert UncertainLoad(profile, 0.0).overflow_share(capacity) == share
        assert UncertainLoad(profile, 1e-9).overflow_share(capacity) == pytest.approx(share, abs=1e-8)
        above = np.mean(np.array(profile.factors) > capacity)
        assert UncertainLoad(profile, 0.0).chance_above(capacity) == above
    for chance in (0.1, 0.5, 0.77):
        known, nearly = (UncertainLoad(profile, sigma).capacity(chance) for sigma in (0.0, 1e-9))
        assert known == pytest.approx(nearly, abs=1e-6)


@pytest.mark.parametrize("chance", [-0.1, 0.0, 1.0, float("nan")])
def test_a_chance_lies_between_none_and_certainty(chance: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        UncertainLoad(SLOPED, 0.5).capacity(chance)


def test_a_spread_is_not_negative() -> None:
    with pytest.raises(ValueError, match="sigma"):
        UncertainLoad(SLOPED, -0.1)
