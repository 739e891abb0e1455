import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws.training_speed import (
    ZERO_1,
    ZERO_2,
    ZERO_3,
    ZERO_NONE,
    ZeroStage,
    attention_flop_per_token,
    attention_share,
    goodput,
    hours_between_failures,
    least_gpus,
    stage3_mfu,
    training_gpu_seconds,
    young_checkpoint,
    young_waste,
    zero_bytes_per_gpu,
)

stages = st.sampled_from([ZERO_NONE, ZERO_1, ZERO_2, ZERO_3])


def test_gpu_seconds_by_hand() -> None:
    assert training_gpu_seconds(6e18, 1e15, 0.5, 0.75) == pytest.approx(16_000)


@given(st.floats(7, 13).map(lambda x: 10.0**x), stages, st.floats(16e9, 300e9), st.floats(0.1, 1.0))
def test_least_gpus_fit_and_one_fewer_does_not(n: float, stage: ZeroStage, memory: float, share: float) -> None:
    gpus = float(least_gpus(n, memory, share, stage))
    if np.isinf(gpus):
        assert stage.replicated_bytes * n >= memory * share
        return
    assert zero_bytes_per_gpu(n, gpus, stage) <= memory * share * (1 + 1e-9)
    assert gpus == np.ceil(gpus)
    if gpus > 1:
        assert zero_bytes_per_gpu(n, gpus - 1, stage) > memory * share * (1 - 1e-9)


def test_an_exact_multiple_is_not_rounded_up() -> None:
    assert least_gpus(30e9, 80e9, 0.6) == 10.0


@given(st.floats(0, 6).map(lambda x: 10.0**x), st.floats(0, 5), st.floats(0, 30), st.floats(0, 60))
def test_goodput_is_a_share_and_falls_with_gpus(gpus: float, failures: float, save: float, restart: float) -> None:
    few, many = goodput(np.array([gpus, 2 * gpus]), failures, save, restart)
    assert 0 <= many <= few <= 1


def test_goodput_agrees_with_first_order_where_failures_are_rare() -> None:
    hours = float(hours_between_failures(100, 0.173))
    expected = 1 - float(young_waste(hours, 2.0)) - 10 / 60 / hours
    assert goodput(100, 0.173, 2.0, 10.0) == pytest.approx(expected, abs=1e-4)


def test_without_failures_nothing_is_lost() -> None:
    assert goodput(1e6, 0.0, 5.0, 15.0) == 1.0
    assert np.isinf(hours_between_failures(1e6, 0.0))


def test_goodput_of_hopeless_runs_is_zero_without_warning() -> None:
    assert goodput(1e9, 100.0, 60.0, 600.0) == pytest.approx(0.0, abs=1e-12)


@given(st.floats(0.1, 1000), st.floats(0.01, 60), st.floats(0.2, 5.0))
def test_youngs_interval_is_the_best(hours: float, minutes: float, factor: float) -> None:
    best, delta = float(young_checkpoint(hours, minutes)), minutes / 60
    waste = delta / best + best / (2 * hours)
    other = delta / (best * factor) + best * factor / (2 * hours)
    assert waste == pytest.approx(float(young_waste(hours, minutes)))
    assert waste <= other * (1 + 1e-12)


def test_attention() -> None:
    assert attention_share(np.array([0.0, 4096.0]), 4096) == pytest.approx([0.0, 0.125])
    assert attention_flop_per_token(80, 64, 128, 1000) == 4 * 80 * 64 * 128 * 1000


def test_a_wide_link_leaves_the_mfu_alone() -> None:
    assert stage3_mfu(0.4, 989e12, 450e9, 4096) == pytest.approx(0.4)
    assert stage3_mfu(0.4, 989e12, 25e9, 4096) == pytest.approx(25e9 * 4096 / 989e12)


def test_a_share_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="mfu must be greater than 0 and at most 1, got 38"):
        training_gpu_seconds(1e24, 989e12, 38.0)
