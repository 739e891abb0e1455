"""Kinds of GPU to come by trend, against figures worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from simulator.study.files import load_scenario
from simulator.world.generations import NewGenerations
from simulator.world.market import Quote
from simulator.world.scenario import Scenario
from simulator.world.world import realize


@pytest.fixture(scope="module")
def frontier() -> Scenario:
    return load_scenario("frontier_lab")


def with_trend(scenario: Scenario, quote: dict[str, object] | None = None, **trend: object) -> Scenario:
    """The scenario with another trend, and its B200 changed."""
    quotes = tuple(
        found.model_copy(update=quote or {}) if found.accelerator == "B200" else found
        for found in scenario.market.quote
    )
    changed = NewGenerations.model_validate({"base": "B200", "first": date(2027, 2, 1), **trend})
    market = scenario.market.model_copy(update={"new_generations": changed, "quote": quotes})
    return scenario.model_copy(update={"market": market})


def test_the_frontier_lab_has_the_generations_worked_out_by_hand(frontier: Scenario) -> None:
    # From 2250 TFLOP/s, 180 GB, 8 TB/s, 1 kW: FLOP x 2^(2.15/2.15), memory x 2^(2.15/4) = 1.4514,
    # bandwidth x 2^(2.15/4.1) = 1.4383, FLOP per kW x 2^(2.15/3) = 1.6434, each twice over for the second.
    rows = list(zip(frontier.quotes, frontier.accelerators, strict=True))[len(frontier.market.quote) :]
    expected = [
        ("B200+1", date(2027, 2, 1), 4500, 261, 11.5, 1.22),
        ("B200+2", date(2029, 3, 27), 9000, 379, 16.55, 1.48),
        ("B200+3", date(2031, 5, 22), 18_000, 550, 23.8, 1.80),
    ]
    for (quote, kind), (name, day, tflop, memory, bandwidth, power) in zip(rows, expected, strict=False):
        assert (quote.accelerator, kind.name, kind.chip.name) == (name, name, name)
        assert (quote.available, kind.launch) == (day, day)
        assert kind.chip.bf16_flop_per_second == pytest.approx(tflop * 1e12, rel=1e-12)
        assert kind.chip.fp8_flop_per_second == pytest.approx(2 * tflop * 1e12, rel=1e-12)
        assert kind.chip.memory_bytes == pytest.approx(memory * 1e9, rel=2e-3)
        assert kind.chip.memory_bytes_per_second == pytest.approx(bandwidth * 1e12, rel=2e-3)
        assert kind.power_kw == pytest.approx(power, rel=3e-3)
        assert (quote.on_demand_usd_per_gpu_hour, quote.purchase_usd_per_gpu) == (5.89, 37_100)
        assert "B200" in quote.source
    # Not one more than can matter to a decision, and each at its own price on its first day.
    assert all(quote.available < frontier.calendar.date_of(frontier.calendar.n_days - 56) for quote, _ in rows)
    outlook, day = frontier.price_outlook, frontier.calendar.day_of(date(2029, 3, 27))
    assert outlook.available_day[-len(rows) :].tolist()[:2] == [245, day]
    second = frontier.accelerators.index(rows[1][1])
    assert outlook.on_demand_usd_per_gpu_hour[second, frontier.calendar.index(day)] == pytest.approx(5.89)


def test_flop_per_dollar_keep_to_the_trend_whatever_the_price(frontier: Scenario) -> None:
    # Twice the price from the same trend is twice the chip; its power follows its FLOP.
    plain, dearer = (
        with_trend(frontier, {"spot_usd_per_gpu_hour": 3.0}, interval_years=1.0, doubling_years=2.46, price_factor=p)
        for p in (1.0, 2.0)
    )
    base = plain.accelerators[3]
    assert base.name == "B200"
    for scenario, price in ((plain, 1.0), (dearer, 2.0)):
        third = next(row for row, quote in enumerate(scenario.quotes) if quote.accelerator == "B200+3")
        kind, quote = scenario.accelerators[third], scenario.quotes[third]
        usd = quote.on_demand_usd_per_gpu_hour
        assert (usd, quote.spot_usd_per_gpu_hour) == (5.89 * price, 3.0 * price)
        # 1.3255 a year (Hobbhahn & Besiroglu 2022), three years.
        per_dollar = kind.chip.bf16_flop_per_second / usd / (base.chip.bf16_flop_per_second / 5.89)
        assert per_dollar == pytest.approx(1.3255**3, rel=3e-4)
        assert kind.flop_per_kwh / base.flop_per_kwh == pytest.approx(2.0, rel=1e-12)  # three years of doubling in 3


def test_generations_are_called_and_limited_as_declared(frontier: Scenario) -> None:
    scenario = with_trend(
        frontier, {"on_demand_limit_gpus": 1000.0, "limit_growth_per_year": 2.0}, name="Next", interval_years=1.0
    )
    row = next(row for row, quote in enumerate(scenario.quotes) if quote.accelerator == "Next+2")
    limits = scenario.supply.on_demand_gpus[row]
    first = scenario.calendar.index(int(scenario.price_outlook.available_day[row]))
    assert limits[first] == 1000.0
    assert limits[first + 1461] == pytest.approx(16_000.0)


def test_a_longer_horizon_adds_generations_and_changes_none(frontier: Scenario) -> None:
    short = frontier.model_copy(update={"horizon_days": 900, "longest_term_days": 100})
    longer = frontier.model_copy(update={"horizon_days": 3650, "longest_term_days": 100})
    n = len(short.quotes)
    assert longer.quotes[:n] == short.quotes
    assert longer.accelerators[:n] == short.accelerators
    assert len(longer.quotes) > n
    here, there = (realize(scenario, 5, 1).prices for scenario in (short, longer))
    days = short.calendar.n_days
    for index in range(0, days, 97):
        assert here.rents_on(index).tolist() == there.rents_on(index)[:n].tolist()
        assert here.purchases_on(index).tolist() == there.purchases_on(index)[:n].tolist()


@pytest.mark.parametrize(
    ("trend", "says"),
    [
        ({"base": "B201"}, "B201"),
        ({"first": date(2026, 6, 1)}, "must be later than the start, 2026-06-01"),
        ({"interval_years": 0.1}, "greater than or equal to 0.25"),
        ({"doubling_years": 0.0}, "greater than or equal to 0.5"),
        ({"price_factor": 0.0}, "greater than 0"),
    ],
)
def test_a_trend_that_makes_no_sense_is_refused(frontier: Scenario, trend: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        with_trend(frontier, **trend)


def test_a_generation_may_not_take_the_name_of_a_quote(frontier: Scenario) -> None:
    added = frontier.accelerator
    declared = Quote(accelerator="B200+1", on_demand_usd_per_gpu_hour=1.0, source="a test")
    kind = {
        "name": "B200+1",
        "bf16_tflop_per_second": 1,
        "memory_gb": 1,
        "memory_tb_per_second": 1,
        "power_kw": 1,
        "launch": date(2026, 1, 1),
        "source": "a test",
    }
    market = frontier.market.model_copy(update={"quote": (*frontier.market.quote, declared)})
    with pytest.raises(ValidationError, match=r"market.new_generations.name: must be quoted once"):
        frontier.model_copy(update={"market": market, "accelerator": (*added, kind)})
