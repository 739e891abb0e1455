"""The first quarter by hand: a few orders and releases of three worlds, and what follows from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from small_study import RENT, growing_lab, policy

from simulator.lab.orders import Buy
from simulator.lab.procurement import Procurement
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.run_rows import OrderRow, ReleaseRow
from simulator.study.this_quarter import Spread, first_quarter

START = date(2026, 1, 1)
NAN = float("nan")


def order(world: int, day: int, gpus: int, usd: float, tenure: str = "owned", term: int = 1461) -> OrderRow:
    on = START + timedelta(days=day)
    return OrderRow("rent", world, on, "H100", tenure, gpus, gpus, on, on, term, usd, "", "", 0.0, NAN)


def release(world: int, name: str, decided: date, size: float, precision: str = "fp8") -> ReleaseRow:
    due = decided + timedelta(days=60)
    model = (
        size,
        20.0 * size,
        20.0,
        precision,
        1.0,
        1e24,
        1e24,
        1e24,
        True,
        "",
        "H100",
        8.0,
        1e12,
        1e12,
        1.0,
        1.0,
        0.5,
        "pre-train",
    )
    return ReleaseRow("rent", world, name, decided, due, due, 0, *model)


@pytest.fixture(scope="module")
def lived() -> Comparison:
    return compare(growing_lab(120), (RENT,), replications=3)


def test_orders_are_summed_by_world_and_kind_over_ninety_days(lived: Comparison) -> None:
    orders = (
        *(order(0, 0, 100, 10.0), order(0, 89, 20, 2.0), order(0, 90, 7000, 900.0)),
        *(order(1, 30, 200, 20.0), order(2, 30, 400, 44.0)),
        *(order(1, 10, 50, 5.0, "reserved", 365), order(2, 10, 90, 9.0, "reserved", 365)),
        order(2, 10, 8, 1.0, "reserved", 1095),  # in one world of three: left out
        *(order(world, 60, 16, -3.0, term=0) for world in range(3)),
        order(0, 5, 0, 0.0),  # nothing was to be had
    )
    found = first_quarter(replace(lived, orders=orders), 0)
    assert (found.first, found.last) == (START, date(2026, 3, 31))
    assert [(row.action, row.accelerator, row.term_days) for row in found.orders] == [
        ("buy", "H100", 0),
        ("reserve", "H100", 365),
        ("sell", "H100", 0),
    ]
    bought, leased, sold = found.orders
    # 120, 200 and 400: the median is 200, a tenth of the way from the first to the last of three is 120 + 0.2 x 80.
    assert bought.gpus == Spread(200.0, pytest.approx(136.0), pytest.approx(360.0))
    assert bought.usd.median == 20.0
    assert (leased.gpus.median, leased.gpus.low) == (50.0, pytest.approx(10.0)), "0, 50 and 90"
    assert (sold.gpus.median, sold.usd.median) == (16.0, 3.0)


def test_a_run_that_is_made_again_counts_as_it_was_first_decided(lived: Comparison) -> None:
    soon, again, later = date(2026, 2, 1), date(2026, 3, 1), date(2026, 4, 1)
    rows = (
        *(release(world, "spring", soon, 1e9 * (1 + world), "fp8" if world else "int8") for world in range(3)),
        release(0, "spring", again, 9e9),
        release(0, "summer", later, 5e9),
    )
    (found,) = first_quarter(replace(lived, releases=rows), 0).trainings
    assert (found.release, found.decided, found.due) == ("spring", soon, date(2026, 4, 2))
    assert (found.n_parameters.median, found.n_training_tokens.median) == (2e9, 40e9)
    assert (found.precision, found.precision_share) == ("fp8", pytest.approx(2 / 3))
    none = first_quarter(replace(lived, releases=rows[-1:]), 0)
    assert (none.trainings, none.next_decision) == ((), later)


def test_rented_gpus_are_the_mean_of_the_first_ninety_days(lived: Comparison) -> None:
    daily = lived.daily_table.iloc[:90]
    expected = float((daily["on_demand_gpus"] + daily["spot_gpus"]).mean())
    assert first_quarter(lived, 0).rented_gpus == pytest.approx(expected, rel=1e-12)


def test_what_a_policy_orders_is_what_is_told() -> None:
    class Once(Procurement):
        def review(self, observation, forecast):  # type: ignore[no-untyped-def]
            return [Buy(0, 640, "planned")] if observation.day == 0 else []

    found = first_quarter(compare(growing_lab(100), (policy("once", Once()),), replications=2), 0)
    (bought,) = found.orders
    assert (bought.action, bought.gpus) == ("buy", Spread(640.0, 640.0, 640.0))
    assert [row.release for row in found.trainings] == ["spring"]
    assert np.isfinite(found.rented_gpus)
