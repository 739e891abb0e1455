"""What renting for part of a day, spot and another provider cost, by hand; and what the lab plans and rents for it."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from small_dispatch import asked_of, fleet_of, model_of, selling, settled, several_kinds
from small_lab import HALF_AND_HALF, TOKENS_PER_DAY, FixedRecipe
from small_study import growing_lab

from simulator.lab.accounts import Account, Use
from simulator.lab.books import settle
from simulator.lab.forecast import Expected, Trend
from simulator.lab.lab import simulate
from simulator.lab.policy import Policy
from simulator.lab.procurement import BuyToForecast, RentOnDemand, ReserveBase
from simulator.lab.recipe import LeverRecipe
from simulator.study.summary import record
from simulator.world.scenario import ByFlop, Scenario
from simulator.world.segments import Segment


def paid(scenario: Scenario, cap: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Cash, economic cost and rented hours of a day of 10,000 tokens a second on rented GPUs of 1,000."""
    world, fleet = asked_of(scenario, [TOKENS_PER_DAY]), fleet_of([0], cap=cap)
    used = settled(world, fleet, [model_of([1000.0])])
    books = settle(world, fleet, used, [])
    return books.cash_usd[0], books.economic_usd[0], float(used.serving_rented_hours[0])


@pytest.mark.parametrize(
    ("least", "start", "hours"), [(1, 0, 240), (1, 2, 260), (18, 2, 300), (24, 0, 360), (1, 23, 360)]
)
def test_hours_that_serve_nobody_are_paid(least: int, start: int, hours: int) -> None:
    # Five GPUs serve all day and ten more for twelve hours: 120 + 120 GPU-hours, the latter paid for longer.
    quote = {"on_demand_minimum_hours": least, "on_demand_start_hours": start}
    cash, economic, used = paid(several_kinds(quote=quote), inf)
    assert used == pytest.approx(240.0)
    assert cash[Account.ON_DEMAND] == pytest.approx(2.0 * hours)
    assert economic[Use.SERVING] == pytest.approx(2.0 * hours)
    assert cash.sum() == pytest.approx(economic.sum())


def test_tokens_bought_elsewhere_are_paid_at_their_mix() -> None:
    # Ten GPUs may be rented: in the twelve busy hours 5,000 tokens a second are beyond, half of them prompts.
    cash, economic, used = paid(several_kinds(provider=selling(inf)), 10.0)
    assert used == pytest.approx(180.0)
    assert cash[Account.API] == pytest.approx(5_000 * 12 * 3600 / 1e6 * (1.0 + 3.0) / 2)
    assert economic[Use.SERVING] == pytest.approx(cash[Account.API] + 2.0 * 180)
    # With a mix of segments, that of the day; samples of a quality tier are the lab's own affair.
    segments = (
        Segment(name="chat", share=0.5, prompt_share=0.9),
        Segment(name="proofs", share=0.5, prompt_share=0.7, quality_tier=2.0),
    )
    mixed, _, _ = paid(several_kinds(provider=selling(inf), demand={"segment": segments}), 0.0)
    assert mixed[Account.API] == pytest.approx(TOKENS_PER_DAY / 1e6 * (0.8 * 1.0 + 0.2 * 3.0))


def test_batch_on_spot_is_paid_there() -> None:
    market = {"spot_work": ["batch"], "spot_availability": 0.5, "spot_lost_share": 0.2}
    scenario = several_kinds(demand={"batch": {"share": 1.0}}, quote={"spot_usd_per_gpu_hour": 1.0}, market=market)
    cash, economic, _ = paid(scenario, inf)
    # 240 GPU-hours of work: half on spot, 150 paid at 1 USD; half on demand at 2 USD.
    assert cash[Account.SPOT] == pytest.approx(150.0)
    assert cash[Account.ON_DEMAND] == pytest.approx(240.0)
    assert economic[Use.SERVING] == pytest.approx(390.0)


def test_plans_know_that_what_waits_fills_the_troughs() -> None:
    # Half of a day of 0.5 and 1.5 times the mean can wait: the rest, 0.25 and 0.75, is filled up to the mean.
    def leased(share: float) -> int:
        scenario = several_kinds(days=3, demand={"hour_profile": HALF_AND_HALF, "batch": {"share": share}})
        scenario = scenario.model_copy(update={"serving": ByFlop(utilization=0.5, target_utilization=1.0)})
        run = simulate(scenario, Policy("p", FixedRecipe(), ReserveBase(least_gpus=1), Expected()))
        return run.orders[0].gpus

    assert leased(0.0) == 5
    assert leased(0.5) == 10
    # A tenth: 0.45 in the quiet hours and 2.4 tokens to pour into twelve of them, 0.65.
    assert leased(0.1) == 6


@pytest.mark.parametrize(
    ("market", "rented"),
    [
        ({"spot_availability": 1.0}, 1),
        ({"spot_availability": 1.0, "spot_lost_share": 0.45}, 1),
        ({"spot_availability": 1.0, "spot_lost_share": 0.55}, 0),
        ({"spot_availability": 1.0, "spot_work": ["batch"]}, 0),
    ],
)
def test_research_rents_the_kind_whose_work_is_cheapest(market: dict[str, object], rented: int) -> None:
    # Kind 0 costs 2.0 on demand; kind 1 costs 2.2 there and 1.0 on spot, or 1 / (1 - lost) for work that is kept.
    scenario = several_kinds((1000.0, 1000.0), (2.0, 2.0), market=market)
    first, second = scenario.market.quote
    second = second.model_copy(update={"on_demand_usd_per_gpu_hour": 2.2, "spot_usd_per_gpu_hour": 1.0})
    scenario = scenario.model_copy(update={"market": scenario.market.model_copy(update={"quote": (first, second)})})
    run = simulate(scenario, Policy("p", FixedRecipe(), RentOnDemand(), Expected()))
    assert run.used.work_rental[0] == rented


@pytest.mark.parametrize("procurement", [RentOnDemand(cap_gpus=2500), BuyToForecast()], ids=["rent", "buy"])
def test_a_life_with_all_of_it_adds_up(procurement: RentOnDemand | BuyToForecast) -> None:
    lab = growing_lab()
    quote = lab.market.quote[0].model_copy(update={"on_demand_minimum_hours": 6, "on_demand_start_hours": 1})
    profile = tuple(0.5 + hour / 23 for hour in range(24))
    market = {"quote": (quote,), "spot_work": ["batch", "research"], "spot_lost_share": 0.05}
    scenario = lab.model_copy(
        update={
            "market": lab.market.model_copy(update=market),
            "demand": lab.demand.model_copy(
                update={"hour_profile": profile, "batch": {"share": 0.4, "patience_days": 3}}
            ),
            "api_fallback": selling(inf),
        }
    )
    run = simulate(scenario, Policy("p", LeverRecipe(), procurement, Trend()), 3)
    cash, economic, used, summary = run.books.cash_usd, run.books.economic_usd, run.used, record(run).summary
    assert cash.sum() == pytest.approx(economic.sum(), rel=1e-9)
    assert cash[:, Account.API].sum() == pytest.approx(summary.bought_tokens / 1e6 * (0.8 * 1.0 + 0.2 * 3.0))
    assert summary.served_share == pytest.approx(1.0)
    assert summary.queued_tokens == pytest.approx(0.4 * summary.asked_tokens)
    assert used.batch is not None
    rents = run.world.prices.rent_path(used.serving_rental, run.world.calendar.lived_indices)
    researched = run.world.prices.rent_path(used.work_rental, run.world.calendar.lived_indices)
    trained = researched * used.training_rented_hours.sum(axis=0)
    on_demand = rents * used.serving_billed_hours + researched * used.research_rented_hours + trained
    np.testing.assert_allclose(cash[:, Account.ON_DEMAND], on_demand, rtol=1e-9)
    assert used.serving_billed_hours.sum() > used.serving_rented_hours.sum()
    # What waits for its least hours is rented, and not at work.
    busy = (used.training_sunk_hours + used.serving_sunk_hours + used.research_sunk_hours).sum()
    worked = used.training_rented_hours.sum() + (used.serving_rented_hours + used.serving_spot_hours).sum()
    worked += (used.research_rented_hours + used.research_spot_hours).sum()
    waited = used.serving_billed_hours.sum() - used.serving_rented_hours.sum()
    all_hours = used.held_hours.sum() + worked + waited
    assert summary.utilization == pytest.approx((busy + worked) / all_hours)
