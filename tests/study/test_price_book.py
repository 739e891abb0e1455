"""The price book: every price of a scenario, each worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest

from simulator.study.files import load_scenario, load_study
from simulator.study.price_book import PriceRow, price_book
from simulator.world.market import Commitment, MarketEvent, Quote
from simulator.world.ownership import LeasedInputs, LoanInputs
from simulator.world.scenario import ApiFallback, DataMixingInputs, OwnedInputs, Scenario

START = date(2026, 1, 1)
DEFAULTS = [
    PriceRow("electricity", "", START, 0.0826, 0.0826, "USD/kWh", "labspend's default: US industrial 2025"),
    PriceRow(
        "hosting", "", START, 184.06, 184.06, "USD/kW-month", "labspend's default: colocation per rated kW, US 2024"
    ),
]


def lab(**market: object) -> Scenario:
    """The known-demand lab in another market."""
    base = load_scenario("known_demand")
    return base.model_copy(update={"market": base.market.model_copy(update=market)})


def test_a_plain_scenario() -> None:
    source = "RunPod list, 2026-06; any price gives the same recipe"
    first = PriceRow("on-demand", "H100", START, 2.89, 2.89, "USD/GPU-hour", source)
    assert list(price_book(lab())) == [first, *DEFAULTS]


def test_quotes_before_and_after_the_negotiated_discount() -> None:
    quote = Quote(
        accelerator="B200",
        available=date(2026, 4, 1),
        on_demand_usd_per_gpu_hour=6.0,
        spot_usd_per_gpu_hour=4.0,
        purchase_usd_per_gpu=40_000,
        source="a list",
    )
    rows = price_book(lab(quote=(quote,), negotiated_discount=0.25))[:3]
    day = date(2026, 4, 1)
    assert rows == (
        PriceRow("on-demand", "B200", day, 6.0, 4.5, "USD/GPU-hour", "a list"),
        PriceRow("spot", "B200", day, 4.0, 3.0, "USD/GPU-hour", "a list"),
        PriceRow("purchase", "B200", day, 40_000, 30_000, "USD/GPU", "a list"),
    )


def test_what_is_paid_is_what_the_world_starts_from() -> None:
    scenario = load_scenario("frontier_lab", ["market.negotiated_discount=0.2"])
    view, index = scenario.price_outlook, scenario.calendar.index(0)
    paid = {(row.price, row.item): row.paid for row in price_book(scenario)}
    for kind in ("A100", "H100", "H200", "B200", "MI300X"):
        row = [found.name for found in scenario.accelerators].index(kind)
        assert paid["on-demand", kind] == pytest.approx(view.on_demand_usd_per_gpu_hour[row, index])
        assert paid["purchase", kind] == pytest.approx(view.purchase_usd_per_gpu[row, index])
    assert paid["spot", "H100"] == pytest.approx(1.99 * 0.8)
    assert ("spot", "B200") not in paid
    assert paid["electricity", ""] == view.electricity_usd_per_kwh[index]


def test_commitments_and_events() -> None:
    terms = (Commitment(term_days=365, discount=0.19, source="an index"), Commitment(term_days=1095, discount=0.5))
    events = (
        MarketEvent(day=date(2026, 3, 1), accelerator="H100", on_demand_factor=0.56, note="a cut", source="a list"),
        MarketEvent(day=date(2026, 5, 1), on_demand_factor=1.2, purchase_factor=1.1),
        MarketEvent(day=date(2026, 6, 1), note="nothing changes"),
    )
    rents, sales, times = "on-demand, spot and reserved, from then on", "purchase, from then on", "times the price"
    assert list(price_book(lab(commitment=terms, event=events)))[1:-2] == [
        PriceRow("reserved", "365 days", START, 0.19, 0.19, "share off on-demand", "an index"),
        PriceRow("reserved", "1095 days", START, 0.5, 0.5, "share off on-demand", "no source given"),
        PriceRow(rents, "H100", date(2026, 3, 1), 0.56, 0.56, times, "a cut: a list"),
        PriceRow(rents, "all kinds", date(2026, 5, 1), 1.2, 1.2, times, "no source given"),
        PriceRow(sales, "all kinds", date(2026, 5, 1), 1.1, 1.1, times, "no source given"),
    ]


def test_who_changes_a_usual_price_owes_a_source() -> None:
    power = {row.price: row for row in price_book(lab(electricity_usd_per_kwh=0.05))}["electricity"]
    assert (power.paid, power.source) == (0.05, "no source given")
    told = lab(electricity_usd_per_kwh=0.05, electricity_source="our contract of 2025")
    assert {row.price: row.source for row in price_book(told)}["electricity"] == "our contract of 2025"


def test_fleet_data_and_refused_tokens() -> None:
    base = lab()
    fleet = OwnedInputs(accelerator="H100", gpus=8, age_days=31, paid_usd_per_gpu=28_000)
    changes = {
        "opening_fleet": (fleet,),
        "training": base.training.model_copy(update={"data_usd_per_million_tokens": 0.5}),
        "data_mixing": DataMixingInputs(gain=1.5, usd_per_release=1e6),
        "unserved_usd_per_million_tokens": 2.0,
        "opening_lease": (LeasedInputs(accelerator="H100", gpus=8, usd_per_gpu_hour=2.4, days_left=100),),
        "ownership": base.ownership.model_copy(
            update={"loan": LoanInputs(share=0.8, rate_per_year=0.11), "failures_per_gpu_year": 0.1}
        ),
    }
    rows = {row.price: row for row in price_book(base.model_copy(update=changes))}
    bought = rows["opening fleet"]
    assert (bought.date, bought.paid, bought.unit) == (date(2025, 12, 1), 28_000, "USD/GPU")
    left, loan = rows["opening lease"], rows["interest on GPUs bought"]
    assert (left.date, left.paid, left.unit) == (START, 2.4, "USD/GPU-hour")
    assert (loan.paid, loan.unit) == (0.11, "share a year")
    assert (rows["training data"].paid, rows["data mixing"].paid, rows["unserved tokens"].paid) == (0.5, 1e6, 2.0)


def test_a_fleet_older_than_the_calendar_is_dated_its_first_day() -> None:
    ownership = lab().ownership.model_copy(update={"useful_life_years": 1e6})
    fleet = OwnedInputs(accelerator="H100", gpus=8, age_days=10**8, paid_usd_per_gpu=28_000)
    old = lab().model_copy(update={"ownership": ownership, "opening_fleet": (fleet,)})
    assert next(row.date for row in price_book(old) if row.price == "opening fleet") == date.min


@pytest.mark.parametrize("name", ["frontier_lab", "known_demand"])
def test_every_price_of_what_ships_has_a_source_and_the_resolved_file_has_the_same_book(name: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    study = load_study(name)
    book = price_book(study.scenario)
    without = [row.price for row in book if row.source == "no source given"]
    assert without == (["unserved tokens"] if name == "frontier_lab" else [])
    path = tmp_path / "resolved.toml"
    path.write_text(study.text, encoding="utf-8")
    assert price_book(load_study(path).scenario) == book


def test_recorded_prices_and_events_on_spot_alone_are_in_the_book() -> None:
    shortage = '{day=2026-08-01, accelerator="H100", on_demand_factor=0.5, spot_factor=2.5, note="a shortage"}'
    paid = '{accelerator="B200", source="the invoice", day=[2026-06-01, 2026-06-08], on_demand_usd=[5.0, 6.0]}'
    changes = [f"market.event=[{shortage}]", f"market.replay=[{paid}]"]
    book = [row for row in price_book(load_scenario("frontier_lab", changes)) if row.item in ("H100", "B200")]
    told = [(row.price, row.item, str(row.date), row.paid, row.unit, row.source) for row in book]
    assert ("on-demand and reserved, from then on", "H100", "2026-08-01", 0.5, "times the price", "a shortage") in told
    assert ("spot, from then on", "H100", "2026-08-01", 2.5, "times the price", "a shortage") in told
    for day, usd in (("2026-06-01", 5.0), ("2026-06-08", 6.0)):
        assert ("on-demand, recorded", "B200", day, usd, "USD/GPU-hour", "the invoice") in told


def test_another_provider_has_two_prices() -> None:
    provider = ApiFallback(usd_per_million_prompt_tokens=0.5, usd_per_million_completion_tokens=2.0, source="its list")
    rows = price_book(lab().model_copy(update={"api_fallback": provider}))[3:]
    assert rows == (
        PriceRow("prompts bought elsewhere", "", START, 0.5, 0.5, "USD/million tokens", "its list"),
        PriceRow("completions bought elsewhere", "", START, 2.0, 2.0, "USD/million tokens", "its list"),
    )
