import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.load import HourProfile, flat_profile, profile_of_loads

loads = st.lists(st.floats(0, 1000), min_size=24, max_size=24).filter(lambda values: sum(values) > 1)


@given(loads, st.lists(st.floats(0, 30), min_size=1, max_size=20))
def test_served_share_equals_the_mean_over_hours(values: list[float], capacities: list[float]) -> None:
    profile = profile_of_loads(np.array(values))
    factors = np.array(profile.factors)
    x = np.array(capacities)
    expected = np.minimum(factors[:, None], x).mean(axis=0)
    assert profile.served_share(x) == pytest.approx(expected, abs=1e-12)
    assert profile.overflow_share(x) == pytest.approx(np.maximum(factors[:, None] - x, 0).mean(axis=0), abs=1e-12)


@given(loads)
def test_nothing_overflows_from_the_peak_on(values: list[float]) -> None:
    profile = profile_of_loads(np.array(values))
    assert profile.peak == pytest.approx(max(profile.factors))
    beyond = np.array([profile.peak, profile.peak + 1, np.inf])
    assert (profile.overflow_share(beyond) == 0).all()
    assert profile.served_share(0.0) == 0.0


def test_an_even_day_is_served_by_its_mean() -> None:
    assert flat_profile().served_share(np.array([0.5, 1.0, 2.0])) == pytest.approx([0.5, 1.0, 1.0])


def test_shape_is_kept() -> None:
    assert flat_profile().served_share(np.ones((3, 2))).shape == (3, 2)
    assert np.ndim(flat_profile().served_share(0.3)) == 0


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ((1.0,) * 23, "24 factors, got 23"),
        ((1.1,) * 24, r"must have mean 1, got mean 1\.1"),
        ((-1.0, 3.0) * 12, "0 or more, got -1"),
        ((float("nan"),) * 24, "got nan"),
    ],
)
def test_other_profiles_are_refused(factors: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HourProfile(factors)


def test_loads_of_other_shape_and_negative_capacity_are_refused() -> None:
    with pytest.raises(ValueError, match="24 hourly loads"):
        profile_of_loads(np.ones(12))
    with pytest.raises(ValueError, match="capacity_over_mean must be 0 or more"):
        flat_profile().served_share(-0.1)


def test_equal_profiles_are_equal() -> None:
    assert flat_profile() == HourProfile((1.0,) * 24)
    assert hash(flat_profile()) == hash(HourProfile((1.0,) * 24))


@given(
    st.lists(st.integers(0, 12), min_size=24, max_size=24).filter(any),
    st.integers(1, 24),
    st.integers(0, 23),
    st.integers(0, 14),
)
def test_hours_are_paid_gpu_by_gpu(gpus_by_hour: list[int], minimum: int, start: int, held: int) -> None:
    # So many whole GPUs are needed in each hour: those beyond `held` are rented, each paid for its own hours.
    profile, mean = profile_of_loads(np.array(gpus_by_hour, dtype=float)), np.mean(gpus_by_hour)
    paid = 0
    for gpu in range(held, max(gpus_by_hour)):
        hours = sum(needed > gpu for needed in gpus_by_hour)
        paid += min(max(hours + start, minimum), 24) if hours else 0
    shares = profile.paid(minimum, start).share(np.array([held, np.inf]) / mean)
    assert 24 * mean * (shares[1] - shares[0]) == pytest.approx(paid, abs=1e-9)


@given(loads, st.lists(st.floats(0, 30), min_size=1, max_size=20))
def test_without_terms_what_is_paid_is_what_is_used(values: list[float], capacities: list[float]) -> None:
    profile, x = profile_of_loads(np.array(values)), np.array(capacities)
    assert profile.paid(1, 0).share(x) == pytest.approx(profile.served_share(x), abs=1e-12)


def test_terms_beyond_a_day_are_refused() -> None:
    with pytest.raises(ValueError, match="minimum_hours must be 0 to 24, got 25"):
        flat_profile().paid(25, 0)
    with pytest.raises(ValueError, match="start_hours must be 0 to 24, got -1"):
        flat_profile().paid(1, -1)


@given(loads, st.floats(0.001, 1))
def test_what_waits_is_poured_into_the_quietest_hours(values: list[float], share: float) -> None:
    # Poured in a thousand drops, each into what is then the lowest hour.
    profile = profile_of_loads(np.array(values))
    hours = (1 - share) * np.array(profile.factors)
    drop = 24 * share / 1000
    for _ in range(1000):
        hours[hours.argmin()] += drop
    poured = profile.with_waiting(share)
    assert poured.factors == pytest.approx(hours, abs=1.01 * drop)
    assert np.mean(poured.factors) == pytest.approx(1.0, abs=1e-12)


def test_what_waits_changes_nothing_where_nothing_does_and_flattens_where_all_does() -> None:
    profile = HourProfile((0.5, 1.5) * 12)
    assert profile.with_waiting(0.0) is profile
    assert profile.with_waiting(1.0).factors == pytest.approx((1.0,) * 24)
    with pytest.raises(ValueError, match="share that may wait must be 0 to 1"):
        profile.with_waiting(1.5)
