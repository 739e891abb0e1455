"""What `labspend check` says of a market, word by word."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.study.files import load_scenario
from simulator.study.market_meaning import market_meaning


def said(path: Path, *overrides: str) -> str:
    return "\n".join(market_meaning(load_scenario(path, overrides)))


def test_a_quiet_market_is_told_in_a_line_for_each_kind(small_toml: Path) -> None:
    assert said(small_toml).splitlines() == [
        "GPUs on offer, at the price paid, as quoted for the first day [USD]:",
        "  H100: 2.89 an hour on demand, 50,617 to buy with server and network",
    ]


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        # 199 days in the first and second regime: 0.3 x hypot(122, 77)/365.25 = 0.1185; e^(-+1.2816 s - s^2/2).
        (["market.rental_fall_sigma=0.3"], "How fast is uncertain: in 8 worlds of 10 rents end at 0.85 to 1.16 times"),
        (["market.rental_fall_sigma=0.3", "market.growth_correlation=0.5"], "tend to rise (correlation 0.5)"),
        (["market.rental_fall_sigma=0.3", "market.growth_correlation=-1"], "tend to fall (correlation -1)"),
        (["market.spot_noise_sigma=0.35"], "Spot parts from on demand by a log of sd 0.35, halving in 180 days"),
        (["market.electricity_noise_sigma=0.3"], "Power at 0.0826 USD/kWh varies by a log of sd 0.3, halving in 30"),
        (["market.spot_lost_share=0.1"], "Interruptions lose 10% of the work on spot."),
        (
            ["market.quote.0.on_demand_start_hours=2", "market.quote.0.on_demand_minimum_hours=4"],
            "network, rented for serving, 2 h to start and 4 h at least are paid",
        ),
        (
            ["api_fallback={usd_per_million_prompt_tokens=0.5, usd_per_million_completion_tokens=2}"],
            "bought elsewhere, at 0.5 a million prompt tokens and 2 a million completion tokens",
        ),
        (["market.quote.0.on_demand_limit_gpus=20000"], "network, at most 20,000 rented for serving"),
        (
            ["market.quote.0.purchase_limit_gpus_per_quarter=500", "market.quote.0.limit_growth_per_year=2"],
            "at most 500 ordered a quarter (x2 a year)",
        ),
        (
            ["market.event=[{day=2026-07-01, spot_factor=0.5, note='a glut'}]"],
            "On 2026-07-01, all kinds: spot x0.5 (a glut)",
        ),
        (
            ["market.event=[{day=2026-07-01, accelerator='H100', on_demand_factor=2}]"],
            "On 2026-07-01, H100: on demand x2, spot x2",
        ),
        (
            ["market.new_generations={base='H100', first=2026-10-01, interval_years=1}"],
            "H100+1 from 2026-10-01: 2.89 an hour on demand, 50,617 to buy with server and network",
        ),
        (
            ["market.new_generations={base='H100', first=2026-10-01}"],
            "After H100 by trend: FLOP per dollar double in 2.15 years",
        ),
    ],
)
def test_what_may_become_of_it_is_told(small_toml: Path, overrides: list[str], told: str) -> None:
    assert told in said(small_toml, *overrides)
    assert told not in said(small_toml)


def test_generations_after_the_end_are_not_told(small_toml: Path) -> None:
    overrides = "market.new_generations={base='H100', first=2026-10-01, interval_years=0.25}"
    assert "H100+1 from" in said(small_toml, overrides)
    # The world looks two years further, for decisions; the lab lives to 2026-12-18.
    assert "H100+2" not in said(small_toml, overrides)
    assert len(load_scenario(small_toml, [overrides]).quotes) > 3
