"""What the market of a scenario means, in words: prices, what may become of them, and how many GPUs there are."""

from __future__ import annotations

import math
from collections.abc import Iterator

from simulator.laws.units import DAYS_PER_YEAR
from simulator.world.market import MarketEvent, MarketInputs, PriceReplay
from simulator.world.quote import Quote
from simulator.world.scenario import Scenario

TEN_PERCENT = 1.2816
"""Standard deviations from the median to the 10 % and 90 % points of a normal distribution."""


def market_meaning(scenario: Scenario) -> Iterator[str]:
    """Quotes, terms, generations to come, records, drift, noise, events, shocks and power, a line each."""
    market = scenario.market
    yield "GPUs on offer, at the price paid, as quoted for the first day [USD]:"
    end = scenario.calendar.date_of(scenario.horizon_days)
    for quote in scenario.quotes:
        if quote in market.quote or (quote.available is not None and quote.available < end):
            yield f"  {_quoted(quote, scenario)}"
    if market.new_generations is not None:
        trend = market.new_generations
        yield f"  After {trend.base} by trend: FLOP per dollar double in {trend.doubling_years:g} years."
    if market.spot_lost_share:
        yield f"  Interruptions lose {market.spot_lost_share:.0%} of the work on spot."
    bought = scenario.api_fallback
    if bought is not None:
        prompt, completion = bought.usd_per_million_prompt_tokens, bought.usd_per_million_completion_tokens
        yield (
            f"  What GPUs cannot serve is bought elsewhere, at {prompt:g} a million prompt tokens and {completion:g} a "
            "million completion tokens."
        )
    for term in market.commitment:
        yield f"  Reserved for {term.term_days} days: {term.discount:.0%} off on demand"
    yield from map(_replayed, market.replay)
    yield from _drift(scenario)
    yield from _noise(market)
    yield from map(_happened, market.event)


def _quoted(quote: Quote, scenario: Scenario) -> str:
    paid = 1.0 - scenario.market.negotiated_discount
    said = [f"{quote.on_demand_usd_per_gpu_hour * paid:.2f} an hour on demand"]
    if quote.spot_usd_per_gpu_hour is not None:
        said.append(f"{quote.spot_usd_per_gpu_hour * paid:.2f} spot")
    if quote.purchase_usd_per_gpu is not None:
        all_in = quote.purchase_usd_per_gpu * paid * scenario.ownership.all_in_factor
        said.append(f"{all_in:,.0f} to buy with server and network")
    limits = []
    if quote.on_demand_limit_gpus is not None:
        limits.append(f"at most {quote.on_demand_limit_gpus:,.0f} rented for serving")
    if quote.purchase_limit_gpus_per_quarter is not None:
        limits.append(f"at most {quote.purchase_limit_gpus_per_quarter:,.0f} ordered a quarter")
    growth = "" if quote.limit_growth_per_year == 1.0 or not limits else f" (x{quote.limit_growth_per_year:g} a year)"
    if quote.pays_for_waiting:
        least, start = quote.on_demand_minimum_hours, quote.on_demand_start_hours
        limits.append(f"rented for serving, {start} h to start and {least} h at least are paid")
    since = "" if quote.available is None else f" from {quote.available}"
    return f"{quote.accelerator}{since}: {', '.join(said + limits)}{growth}"


def _replayed(replay: PriceReplay) -> str:
    names = ("on demand", "spot", "to buy")
    prices = [name for name, usd in zip(names, replay.series, strict=True) if usd]
    source = f" from {replay.csv}" if replay.csv else ""
    span = f"{len(replay.day):,} prices, {replay.day[0]} to {replay.day[-1]}"
    return (
        f"  Recorded{source}: {replay.accelerator} {' and '.join(prices)}, {span}, the same in every world; "
        "then on from the last."
    )


def _drift(scenario: Scenario) -> Iterator[str]:
    market, last = scenario.market, scenario.calendar.index(scenario.horizon_days - 1)
    fall, rho = market.rental_fall_per_year, market.growth_correlation
    if fall:
        yield f"  From then on rents {'fall' if fall > 0.0 else 'rise'} by {abs(fall):.0%} a year, noise apart."
    if market.rental_fall_sigma:
        sigma = market.rental_fall_sigma * math.hypot(*scenario.demand_outlook.growth.regime_years[:, last])
        low, high = (math.exp(step * sigma - sigma**2 / 2.0) for step in (-TEN_PERCENT, TEN_PERCENT))
        yield f"  How fast is uncertain: in 8 worlds of 10 rents end at {low:.2f} to {high:.2f} times that."
        if rho:
            way = "rise" if rho > 0.0 else "fall"
            yield f"  Where demand grows faster than declared, rents tend to {way} (correlation {rho:g})."


def _noise(market: MarketInputs) -> Iterator[str]:
    if market.spot_noise_sigma:
        days = market.spot_noise_half_life_days
        yield f"  Spot parts from on demand by a log of sd {market.spot_noise_sigma:g}, halving in {days:g} days."
    if market.electricity_noise_sigma:
        power, days = market.electricity_usd_per_kwh, market.electricity_noise_half_life_days
        sigma = market.electricity_noise_sigma
        yield f"  Power at {power:g} USD/kWh varies by a log of sd {sigma:g}, halving in {days:g} days."
    shocks = market.rental_shocks
    if shocks.per_year:
        days = shocks.decay_days
        lasting = shocks.per_year * shocks.size * days / DAYS_PER_YEAR
        way = "raise" if lasting > 0.0 else "lower"
        yield (
            f"  Rental shocks: {shocks.per_year:g} a year, {shocks.size:+.0%} at first, fading over {days:g} days; "
            f"they {way} mean rents, in the long run by about {abs(lasting):.0%}."
        )


def _happened(event: MarketEvent) -> str:
    spot = event.on_demand_factor if event.spot_factor is None else event.spot_factor
    factors = (("on demand", event.on_demand_factor), ("spot", spot), ("to buy", event.purchase_factor))
    changed = [f"{name} x{factor:g}" for name, factor in factors if factor != 1.0] or ["nothing changes"]
    note = f" ({event.note})" if event.note else ""
    return f"  On {event.day}, {event.accelerator or 'all kinds'}: {', '.join(changed)}{note}"
