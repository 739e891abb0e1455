"""Every price a study uses, dated, with its unit and source. A new kind of price is one more function here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.world.inputs import Inputs
from simulator.world.market import MarketEvent
from simulator.world.scenario import Scenario

_ANY = "all kinds"
_UNSAID = "no source given"


@dataclass(frozen=True, slots=True)
class PriceRow:
    """One price as it was declared; what it does later (drift, noise) is in the scenario beside it."""

    price: str
    """What is paid for: on-demand, spot, purchase, reserved, electricity ..."""
    item: str
    """The kind of GPU, the term or the like; empty where the price is of one thing."""
    date: date
    quoted: float
    paid: float
    """What is left of it after the negotiated discount, which quotes of GPUs have."""
    unit: str
    source: str


def price_book(scenario: Scenario) -> tuple[PriceRow, ...]:
    """Every price of a scenario, in the order of its tables; equal scenarios have equal books."""
    return tuple(row for rows in _KINDS_OF_PRICE for row in rows(scenario))


def _quotes(scenario: Scenario) -> Iterator[PriceRow]:
    paid = 1.0 - scenario.market.negotiated_discount
    for quote in scenario.quotes:
        day = quote.available or scenario.start
        for price, usd, unit in (
            ("on-demand", quote.on_demand_usd_per_gpu_hour, "USD/GPU-hour"),
            ("spot", quote.spot_usd_per_gpu_hour, "USD/GPU-hour"),
            ("purchase", quote.purchase_usd_per_gpu, "USD/GPU"),
        ):
            if usd is not None:
                yield PriceRow(price, quote.accelerator, day, usd, usd * paid, unit, quote.source)


def _commitments(scenario: Scenario) -> Iterator[PriceRow]:
    for term in scenario.market.commitment:
        source = term.source or _UNSAID
        yield _plain("reserved", f"{term.term_days} days", scenario.start, term.discount, "share off on-demand", source)


def _events(scenario: Scenario) -> Iterator[PriceRow]:
    for event in scenario.market.event:
        both = "on-demand, spot and reserved" if event.spot_factor is None else "on-demand and reserved"
        for price, factor in (
            (f"{both}, from then on", event.on_demand_factor),
            ("spot, from then on", event.spot_factor),
            ("purchase, from then on", event.purchase_factor),
        ):
            if factor is not None and factor != 1.0:
                yield _plain(price, event.accelerator or _ANY, event.day, factor, "times the price", _told(event))


def _replays(scenario: Scenario) -> Iterator[PriceRow]:
    """Recorded prices, each from its day to the next."""
    for replay in scenario.market.replay:
        source = replay.source or replay.csv or _UNSAID
        units = (("on-demand", "USD/GPU-hour"), ("spot", "USD/GPU-hour"), ("purchase", "USD/GPU"))
        for (price, unit), series in zip(units, replay.series, strict=True):
            for day, usd in zip(replay.day, series, strict=False):
                yield _plain(f"{price}, recorded", replay.accelerator, day, usd, unit, source)


def _told(event: MarketEvent) -> str:
    return ": ".join(part for part in (event.note, event.source) if part) or _UNSAID


def _electricity(scenario: Scenario) -> Iterator[PriceRow]:
    market = scenario.market
    source = market.electricity_source or _default(market, "electricity_usd_per_kwh")
    yield _plain("electricity", "", scenario.start, market.electricity_usd_per_kwh, "USD/kWh", source)


def _hosting(scenario: Scenario) -> Iterator[PriceRow]:
    own = scenario.ownership
    source = own.hosting_source or _default(own, "hosting_usd_per_kw_month")
    yield _plain("hosting", "", scenario.start, own.hosting_usd_per_kw_month, "USD/kW-month", source)


def _api(scenario: Scenario) -> Iterator[PriceRow]:
    bought = scenario.api_fallback
    if bought is not None:
        for price, usd in (
            ("prompts bought elsewhere", bought.usd_per_million_prompt_tokens),
            ("completions bought elsewhere", bought.usd_per_million_completion_tokens),
        ):
            yield _plain(price, "", scenario.start, usd, "USD/million tokens", bought.source or _UNSAID)


def _opening_fleet(scenario: Scenario) -> Iterator[PriceRow]:
    for held in scenario.opening_fleet:
        bought = scenario.start - timedelta(days=min(held.age_days, (scenario.start - date.min).days))
        source = "the lab's own books, as declared"
        yield _plain("opening fleet", held.accelerator, bought, held.paid_usd_per_gpu, "USD/GPU", source)


def _opening_leases(scenario: Scenario) -> Iterator[PriceRow]:
    for left in scenario.opening_lease:
        source = "the lab's own books, as declared"
        yield _plain("opening lease", left.accelerator, scenario.start, left.usd_per_gpu_hour, "USD/GPU-hour", source)


def _loan(scenario: Scenario) -> Iterator[PriceRow]:
    loan = scenario.ownership.loan
    if loan is not None:
        yield _plain("interest on GPUs bought", "", scenario.start, loan.rate_per_year, "share a year", _UNSAID)


def _data(scenario: Scenario) -> Iterator[PriceRow]:
    for price, usd, unit in (
        ("training data", scenario.training.data_usd_per_million_tokens, "USD/million tokens"),
        ("data mixing", scenario.data_mixing.usd_per_release if scenario.data_mixing else 0.0, "USD/release"),
        ("unserved tokens", scenario.unserved_usd_per_million_tokens, "USD/million tokens"),
    ):
        if usd:
            yield _plain(price, "", scenario.start, usd, unit, _UNSAID)


def _currency(scenario: Scenario) -> Iterator[PriceRow]:
    shown = scenario.currency
    if shown is not None:
        yield _plain("exchange rate", shown.code, shown.on, shown.per_usd, f"{shown.code}/USD", shown.source)


def _plain(price: str, item: str, day: date, value: float, unit: str, source: str) -> PriceRow:
    """A price that no discount touches."""
    return PriceRow(price, item, day, value, value, unit, source)


def _default(inputs: Inputs, field: str) -> str:
    """What the declaration says of a price that is the usual one; whoever changes it owes a source."""
    declared = type(inputs).model_fields[field]
    is_usual = getattr(inputs, field) == declared.default
    return f"labspend's default: {declared.description}" if is_usual else _UNSAID


_KINDS_OF_PRICE: tuple[Callable[[Scenario], Iterator[PriceRow]], ...] = (
    _quotes,
    _commitments,
    _events,
    _replays,
    _electricity,
    _hosting,
    _api,
    _opening_fleet,
    _opening_leases,
    _loan,
    _data,
    _currency,
)
