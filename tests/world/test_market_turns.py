"""Prices that turn: dated scarcity on spot alone, records and what follows them, and streams that mind their own."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from pydantic import ValidationError

from simulator.laws.units import FloatArray
from simulator.world.calendar import Calendar
from simulator.world.dice import Dice
from simulator.world.market import MarketEvent, MarketInputs, PriceReplay, PriceShocks, Quote
from simulator.world.price_outlook import price_outlook
from simulator.world.prices import Prices, draw_prices

MONDAY = date(2026, 6, 1)
CALENDAR = Calendar(MONDAY, history_days=20, horizon_days=800, look_ahead_days=30)
DAY_0 = 20
YEARS = np.vstack([np.clip(CALENDAR.days, 0, 300), np.clip(CALENDAR.days - 300, 0, None)]) / 365.25
LUCK = np.array([0.7, -1.2])
NOISY = {
    "rental_fall_per_year": 0.1,
    "rental_fall_sigma": 0.2,
    "growth_correlation": 0.5,
    "rental_noise_sigma": 0.2,
    "spot_noise_sigma": 0.3,
    "purchase_noise_sigma": 0.1,
    "electricity_noise_sigma": 0.3,
    "spot_availability_sigma": 0.5,
    "lead_sigma": 0.4,
    "rental_shocks": PriceShocks(per_year=4.0),
}


def on(day: int) -> date:
    return MONDAY + timedelta(days=day)


def quote(name: str = "H100", **changes: object) -> Quote:
    return Quote.model_validate(
        {
            "accelerator": name,
            "on_demand_usd_per_gpu_hour": 11.06,
            "spot_usd_per_gpu_hour": 7.74,
            "purchase_usd_per_gpu": 25_000,
            "source": "a test",
            **changes,
        }
    )


def market(**changes: object) -> MarketInputs:
    return MarketInputs.model_validate({"quote": (quote(), quote("B200")), "list_fall_per_year": 0.0, **changes})


def drawn(inputs: MarketInputs, calendar: Calendar = CALENDAR, replication: int = 0) -> Prices:
    view = price_outlook(inputs, inputs.quote, calendar)
    years = np.vstack([np.clip(calendar.days, 0, 300), np.clip(calendar.days - 300, 0, None)]) / 365.25
    return draw_prices(inputs, view, LUCK, years, Dice(1, replication), calendar)


def path(prices: Prices, what: str, kind: int = 0) -> FloatArray:
    """From day 0 on."""
    read = {"on demand": prices.rent_path, "spot": prices.spot_path, "to buy": prices.purchase_path}[what]
    return read(kind, np.arange(DAY_0, CALENDAR.n_days))


# Dated -----------------------------------------------------------------------------------------------------------


def test_the_h100s_two_years_on_spot_as_dated_events() -> None:
    # GCP us-central1: 7.74 in May 2024, 2.55 in December 2025, 6.33 in July 2026, while the list stood at 11.06.
    glut = MarketEvent(day=on(300), on_demand_factor=1.0, spot_factor=2.55 / 7.74, note="new chips arrive")
    shortage = MarketEvent(day=on(600), on_demand_factor=1.0, spot_factor=6.33 / 2.55, note="agents arrive")
    prices = drawn(market(event=(glut, shortage)))
    for kind in (0, 1):
        spot = path(prices, "spot", kind)
        np.testing.assert_allclose(spot[:300], 7.74, rtol=1e-12)
        np.testing.assert_allclose(spot[300:600], 2.55, rtol=1e-12)
        np.testing.assert_allclose(spot[600:], 6.33, rtol=1e-12)
        np.testing.assert_allclose(path(prices, "on demand", kind), 11.06, rtol=1e-12)


# Recorded --------------------------------------------------------------------------------------------------------

RECORDED = PriceReplay(
    accelerator="H100", day=(on(-30), on(100), on(400)), spot_usd=(7.74, 2.55, 6.33), purchase_usd=(3e4, 2e4, 25_500.0)
)


def test_the_h100s_two_years_as_a_record() -> None:
    prices = drawn(market(replay=(RECORDED,), **NOISY))
    spot, bought = path(prices, "spot"), path(prices, "to buy")
    # Exactly as recorded, each price until the next, whatever else is drawn; the list is not replayed and moves.
    np.testing.assert_array_equal(spot[:401], [7.74] * 100 + [2.55] * 300 + [6.33])
    np.testing.assert_array_equal(bought[:401], [3e4] * 100 + [2e4] * 300 + [25_500.0])
    assert np.ptp(path(prices, "on demand")[:401]) > 0.1
    # What was recorded of one kind says nothing of another, nor of what it is rented at.
    plain = drawn(market(**NOISY))
    for what in ("on demand", "spot", "to buy"):
        np.testing.assert_array_equal(path(prices, what, 1), path(plain, what, 1))
    np.testing.assert_array_equal(path(prices, "on demand"), path(plain, "on demand"))


def test_after_the_record_prices_go_on_from_its_last() -> None:
    later = MarketEvent(day=on(500), on_demand_factor=0.5)
    earlier = MarketEvent(day=on(200), on_demand_factor=3.0, purchase_factor=3.0)
    prices = drawn(market(replay=(RECORDED,), event=(earlier, later), rental_fall_per_year=0.1, list_fall_per_year=0.2))
    spot, bought = path(prices, "spot"), path(prices, "to buy")
    assert spot[465] == pytest.approx(6.33 * 0.9 ** (65 / 365.25), rel=1e-12)
    assert spot[700] == pytest.approx(6.33 * 0.9 ** (300 / 365.25) * 0.5, rel=1e-12)
    assert bought[700] == pytest.approx(25_500 * 0.8 ** (300 / 365.25), rel=1e-12)


def test_noise_after_the_record_begins_anew_on_the_innovations_still_to_come() -> None:
    sigma, half_life, days = 0.2, 90.0, np.arange(1, 300)
    noise = {"rental_noise_sigma": sigma, "rental_noise_half_life_days": half_life}
    spot = path(drawn(market(replay=(RECORDED,), **noise)), "spot")[401:700]
    other = np.log(path(drawn(market(**noise)), "spot") / 7.74)
    # Both are AR(1) of the same innovations; the record's is at zero on day 400, and each has mean one.
    persistence = 0.5 ** (1 / half_life)

    def variance(age: FloatArray) -> FloatArray:
        return sigma**2 * (1 - persistence ** (2 * age))

    deviation = other + variance(np.arange(other.size)) / 2
    expected = deviation[401:700] - persistence**days * deviation[400] - variance(days) / 2
    np.testing.assert_allclose(np.log(spot / 6.33), expected, atol=1e-12)


def test_uncertain_drift_after_the_record_counts_only_the_years_since() -> None:
    sigma = 0.2
    inputs = market(replay=(RECORDED,), rental_fall_sigma=sigma, growth_correlation=1.0)
    spot = path(drawn(inputs), "spot")
    # Wholly tied to demand, so the luck is demand's own: only the second regime is left after day 400.
    years = 200 / 365.25
    assert spot[600] == pytest.approx(6.33 * np.exp(sigma * LUCK[1] * years - (sigma * years) ** 2 / 2), rel=1e-12)
    unrecorded = path(drawn(inputs), "spot", 1)
    first, second = 300 / 365.25, 300 / 365.25
    log = sigma * (LUCK[0] * first + LUCK[1] * second) - sigma**2 * (first**2 + second**2) / 2
    assert unrecorded[600] == pytest.approx(7.74 * np.exp(log), rel=1e-12)


def test_before_the_record_the_quote_holds() -> None:
    late = PriceReplay(accelerator="H100", day=(on(50), on(60)), on_demand_usd=(3.0, 4.0))
    prices = drawn(market(replay=(late,), negotiated_discount=0.5))
    # A recorded price is one really paid: the discount is off the quote alone.
    asked = path(prices, "on demand")
    np.testing.assert_allclose(asked, [5.53] * 50 + [3.0] * 10 + [4.0] * (asked.size - 60), rtol=1e-12)


def test_what_is_recorded_is_on_offer_even_without_a_quote_for_it() -> None:
    spotless = market(
        quote=(quote(spot_usd_per_gpu_hour=None, available=on(10)),),
        replay=(PriceReplay(accelerator="H100", day=(on(5), on(20)), spot_usd=(3.0, 4.0)),),
        rental_noise_sigma=0.1,
    )
    spot = path(drawn(spotless), "spot")
    assert np.isinf(spot[:10]).all()  # nobody has the chip yet
    np.testing.assert_array_equal(spot[10:21], [3.0] * 10 + [4.0])
    assert np.isfinite(spot[21:]).all()


def test_moves_of_a_record_are_told_when_they_are_large_enough() -> None:
    steps = PriceReplay(
        accelerator="H100",
        day=tuple(on(day) for day in (0, 10, 20, 30, 40)),
        spot_usd=(10.0, 10.5, 11.5, 10.5, 8.0),
    )
    inputs = market(replay=(steps,))
    view = price_outlook(inputs, inputs.quote, CALENDAR)
    # 5 % is not noticed, 15 % since day 0 is; 8.7 % back is not; 30 % is.
    assert view.recorded_moves(0.1) == {DAY_0, DAY_0 + 20, DAY_0 + 40}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "needs a csv, or day and prices written out"),
        ({"csv": "a.csv"}, "name the on_demand_column, spot_column or purchase_column"),
        ({"day": (on(0),)}, "needs a price"),
        ({"day": (on(1), on(0)), "spot_usd": (1.0, 1.0)}, "days must be in order: 2026-06-01 follows 2026-06-02"),
        ({"day": (on(0), on(0)), "spot_usd": (1.0, 1.0)}, "days must be in order"),
        ({"day": (on(0), on(1)), "spot_usd": (1.0,)}, "needs a price for each of 2 days, has 1"),
        ({"day": (on(0),), "spot_usd": (0.0,)}, "greater than 0"),
        ({"day": (on(0),), "spot_usd": (float("nan"),)}, "finite"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(fields: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        PriceReplay.model_validate({"accelerator": "H100", **fields})


def test_a_price_is_replayed_once() -> None:
    spot = PriceReplay(accelerator="H100", day=(on(0),), spot_usd=(1.0,))
    list_price = PriceReplay(accelerator="H100", day=(on(0),), on_demand_usd=(1.0,))
    assert len(market(replay=(spot, list_price)).replay) == 2
    with pytest.raises(ValidationError, match="must not replay what an earlier one does"):
        market(replay=(spot, list_price, spot))


# Streams ---------------------------------------------------------------------------------------------------------

DRAWN = {
    "rental_fall_sigma": ("on demand", "spot"),
    "rental_noise_sigma": ("on demand", "spot"),
    "rental_shocks": ("on demand", "spot"),
    "spot_noise_sigma": ("spot",),
    "purchase_noise_sigma": ("to buy",),
    "electricity_noise_sigma": ("power",),
    "spot_availability_sigma": ("had",),
    "lead_sigma": ("lead",),
}


def everything(prices: Prices) -> dict[str, FloatArray]:
    return {
        **{what: path(prices, what) for what in ("on demand", "spot", "to buy")},
        "power": prices.electricity_usd_per_kwh,
        "had": prices.spot_availability,
        "lead": prices.purchase_lead_days.astype(float),
    }


@pytest.mark.parametrize("feature", DRAWN)
def test_one_stream_more_changes_no_other(feature: str) -> None:
    every = everything(drawn(market(**NOISY)))
    without = everything(drawn(market(**{name: value for name, value in NOISY.items() if name != feature})))
    changed = {what for what in every if not np.array_equal(every[what], without[what])}
    assert changed == set(DRAWN[feature])


def test_a_correlation_changes_no_stream_of_rents_but_the_drift() -> None:
    tied, apart = (drawn(market(**{**NOISY, "growth_correlation": rho})) for rho in (0.5, -0.5))
    here, there = everything(tied), everything(apart)
    assert {what for what in here if not np.array_equal(here[what], there[what])} == {"on demand", "spot"}
    # What the rents have of their own is the same: the ratio is sigma (0.5 + 0.5) times demand's own luck.
    log_ratio = np.log(here["on demand"] / there["on demand"])
    np.testing.assert_allclose(log_ratio, 0.2 * (LUCK @ YEARS)[DAY_0:], atol=1e-12)


def test_a_longer_world_has_the_same_first_days_in_all_of_it() -> None:
    inputs = market(replay=(RECORDED,), event=(MarketEvent(day=on(250), spot_factor=2.0),), **NOISY)
    short = drawn(inputs)
    for horizon_days in (801, 1000, 2345, 5000):
        longer = drawn(inputs, Calendar(MONDAY, 20, horizon_days, 30))
        days = np.arange(CALENDAR.n_days)
        for kind in (0, 1):
            for read in ("rent_path", "spot_path", "purchase_path"):
                here, there = getattr(short, read)(kind, days), getattr(longer, read)(kind, days)
                np.testing.assert_array_equal(here, there, err_msg=f"{read} of {kind}, {horizon_days} days")
        np.testing.assert_array_equal(short.electricity_usd_per_kwh, longer.electricity_usd_per_kwh[: CALENDAR.n_days])


def test_kinds_that_share_their_luck_share_its_memory() -> None:
    prices = drawn(market(rental_noise_sigma=0.2))
    assert prices.rental_factor.strides[0] == 0
    assert prices.spot_factor is prices.rental_factor
    assert not prices.rental_factor.flags.writeable


@pytest.mark.parametrize("replay", [(), (RECORDED,)])
def test_one_kind_a_day_has_that_days_price_of_it(replay: tuple[PriceReplay, ...]) -> None:
    prices, n_days = drawn(market(replay=replay, **NOISY)), CALENDAR.n_days
    assert (prices.spot_factor.strides[0] == 0) == (not replay)
    rng = np.random.default_rng(1)
    kinds, days = rng.integers(0, 2, n_days), rng.permutation(n_days)
    for read, on in (
        (prices.rent_path, prices.rents_on),
        (prices.spot_path, prices.spots_on),
        (prices.purchase_path, prices.purchases_on),
    ):
        expected = [on(day)[kind] for kind, day in zip(kinds.tolist(), days.tolist(), strict=True)]
        np.testing.assert_array_equal(read(kinds, days), expected)
        np.testing.assert_array_equal(read(np.array([[0], [1]]), days), [read(0, days), read(1, days)])
