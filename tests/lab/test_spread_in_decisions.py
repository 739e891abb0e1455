"""What a forecast's spread does to leases, purchases, planning prices and recipes: closed forms, and draws counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from small_lab import TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import Flat, observed

from simulator.lab.altered_forecast import Certain
from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import Expected
from simulator.lab.lab import Lab, Run
from simulator.lab.models import ServedModel, served_model
from simulator.lab.need import Need, days_of
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Purchase, Reserve
from simulator.lab.policy import Policy
from simulator.lab.procurement import Newsvendor, Procurement, RentOnDemand, ReserveBase, owned_usd_per_gpu_hour
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import Lever
from simulator.laws.finance import newsvendor_lognormal
from simulator.laws.precision import BF16
from simulator.laws.units import FloatArray
from simulator.study.files import load_scenario
from simulator.world.scenario import Scenario
from simulator.world.world import realize

LIFE_DAYS = 1461
FLAT = (1.0,) * 24
SLOPED = tuple(0.5 + hour / 23 for hour in range(24))
MEAN_NEED = 1000.0
"""GPUs: the plain scenario serves 1,000 tokens a second and GPU, so a hundred times its demand needs this many."""


def newsvendors_world(owned: float, rented: float, profile: tuple[float, ...] = FLAT, sigma: float = 0.0) -> Scenario:
    """Owning costs so much an hour for four years, all of it price; renting so much; demand is drawn once for all."""
    plain = plain_scenario()
    quote = plain.market.quote[0].model_copy(
        update={"on_demand_usd_per_gpu_hour": rented, "purchase_usd_per_gpu": owned * LIFE_DAYS * 24 / 2}
    )
    own = {"useful_life_years": LIFE_DAYS / 365.25, "average_draw": 0.0, "hosting_usd_per_kw_month": 0.0}
    return plain.model_copy(
        update={
            "horizon_days": LIFE_DAYS,
            "demand": plain.demand.model_copy(
                update={"tokens_per_day": 100 * TOKENS_PER_DAY, "hour_profile": profile, "level_sigma": sigma}
            ),
            "market": plain.market.model_copy(update={"quote": (quote,), "event": (), "lead_days": 0.0}),
            "ownership": plain.ownership.model_copy(
                update={**own, "maintenance_per_year": 0.0, "resale_spread": 1 - 1e-12}
            ),
        }
    )


def without_releases(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"roadmap": scenario.roadmap.model_copy(update={"release": ()})})


def model_of(scenario: Scenario) -> ServedModel:
    return served_model(scenario, "opening model", 2.5e11, 1e12, BF16, 1.0)


def seen_in(scenario: Scenario) -> Observation:
    return observed(realize(scenario), 0, model_of(scenario))


def ordered(procurement: Procurement, seen: Observation, forecast: object) -> int:
    orders = procurement.review(seen, forecast)
    return orders[0].gpus if orders else 0


# The newsvendor --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "cost"), [(0.5, 2350.59), (1.0, 4161.43)])
def test_the_price_of_a_used_hour_is_the_newsvendors(sigma: float, cost: float) -> None:
    # Numbers H7, owned 1.5 and rented 3: 2350.59 and 4161.43 an hour for a median need of 1000.
    scenario = newsvendors_world(1.5, 3.0)
    seen = seen_in(scenario)
    assert owned_usd_per_gpu_hour(seen)[0] == pytest.approx(1.5, rel=1e-9)
    price = Newsvendor().planning_price(seen, scenario.releases[0], Flat(TOKENS_PER_DAY, sigma))
    mean_need = 1000 * np.exp(sigma**2 / 2)
    assert price.serving_usd_per_gpu_hour[0] * mean_need == pytest.approx(cost, abs=0.005)
    assert price.training_usd_per_gpu_hour[0] == 3.0


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
@pytest.mark.parametrize(("owned", "rented"), [(1.5, 3.0), (1.0, 4.0), (2.0, 3.0)])
def test_it_buys_the_newsvendors_capacity(sigma: float, owned: float, rented: float) -> None:
    scenario = newsvendors_world(owned, rented)
    median = MEAN_NEED * np.exp(-(sigma**2) / 2)
    best = newsvendor_lognormal(median, sigma, owned, rented)
    gpus = ordered(Newsvendor(), seen_in(scenario), Flat(100 * TOKENS_PER_DAY, sigma))
    # Errors come in 192 equal steps of chance; half a step moves the capacity by less than 1 % of sigma here.
    assert abs(gpus - best.capacity) <= 1 + 0.01 * sigma * best.capacity


def counted_cost(gpus: float, owned: float, rented: float, profile: tuple[float, ...], errors: FloatArray) -> float:
    needs = MEAN_NEED * np.outer(errors, profile)
    return float(owned * gpus + rented * np.maximum(needs - gpus, 0.0).mean())


@pytest.mark.parametrize("sigma", [0.3, 0.8])
def test_over_the_hours_of_a_day_no_other_number_is_cheaper(sigma: float) -> None:
    scenario = newsvendors_world(1.3, 3.0, SLOPED)
    seen = seen_in(scenario)
    gpus = ordered(Newsvendor(), seen, Flat(100 * TOKENS_PER_DAY, sigma))
    errors = np.exp(sigma * _normals(20_000) - sigma**2 / 2)
    here = counted_cost(gpus, 1.3, 3.0, SLOPED, errors)
    for other in (0.8, 0.9, 1.1, 1.25):
        assert here < counted_cost(other * gpus, 1.3, 3.0, SLOPED, errors)
    # And the price a recipe plans with is that cost over the mean need.
    price = Newsvendor().planning_price(seen, scenario.releases[0], Flat(TOKENS_PER_DAY, sigma))
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(here / MEAN_NEED, rel=1e-3)


def test_what_is_committed_is_counted_and_never_sold() -> None:
    scenario = newsvendors_world(1.5, 3.0)
    seen, forecast = seen_in(scenario), Flat(100 * TOKENS_PER_DAY, 0.5)
    wanted = ordered(Newsvendor(), seen, forecast)
    for held in (400, wanted - 4, wanted + 500):
        fleet = Fleet(1)
        fleet.commit(Purchase(0, held, 1.0, 0, 5000), 0)
        short = wanted - held
        # An order of fewer than eight is not worth placing.
        expected = short if short >= 8 else 0
        assert ordered(Newsvendor(), replace(seen, fleet=Holdings(fleet)), forecast) == expected


@pytest.mark.parametrize("owned", [3.0, 4.0])
def test_nothing_is_bought_that_is_cheaper_to_rent(owned: float) -> None:
    scenario = newsvendors_world(owned, 3.0)
    seen = seen_in(scenario)
    assert Newsvendor().review(seen, Flat(100 * TOKENS_PER_DAY, 0.5)) == []
    price = Newsvendor().planning_price(seen, scenario.releases[0], Flat(TOKENS_PER_DAY, 0.5))
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(3.0)


def test_rents_that_fall_are_weighed_over_the_life_of_what_is_bought() -> None:
    # At 3 USD today renting costs twice as much; falling by half a year for four years, less than owning at 1.5.
    scenario = newsvendors_world(1.5, 3.0)
    market = scenario.market.model_copy(update={"rental_fall_per_year": 0.5})
    seen = seen_in(scenario.model_copy(update={"market": market}))
    assert Newsvendor().review(seen, Flat(100 * TOKENS_PER_DAY, 0.5)) == []


def test_an_order_says_how_likely_it_is_needed() -> None:
    (order,) = Newsvendor().review(seen_in(newsvendors_world(1.5, 3.0)), Flat(100 * TOKENS_PER_DAY, 0.5))
    assert isinstance(order, Buy)
    assert order.reason == "needed with chance 50% on day 0: owned / rented cost"


@pytest.mark.parametrize("span", [1, 5, 7, 14, 30, 49, 50, 91])
def test_days_of_a_span_are_one_of_each_weekday(span: int) -> None:
    days = days_of(90, span)
    assert sorted(days % 7) == list(range(7))
    assert days[0] == 90
    assert days[-1] < 90 + max(span, 7) + 7


# Through the whole lab -------------------------------------------------------------------------------------------


def lived(scenario: Scenario, procurement: Procurement, forecast: object, replication: int) -> Run:
    return Lab(realize(scenario, 1, replication), Policy("p", FixedRecipe(), procurement, forecast)).live()


@pytest.mark.parametrize(("sigma", "cost"), [(0.5, 2350.59), (1.0, 4161.43)])
def test_a_lab_that_buys_by_the_spread_pays_the_closed_form(sigma: float, cost: float) -> None:
    # Demand is drawn once from the lognormal that the lab expects. Owned for the whole window, rented above: in every
    # world 1.5 K + 3 (X - K)+ an hour, so 2350.59 in the mean over X of median 1000 (numbers H7). On its mean alone it
    # would buy e^(sigma^2 / 2) x the median, and pay more: the value of the stochastic solution.
    scenario = without_releases(newsvendors_world(1.5, 3.0, sigma=sigma))
    rule = Newsvendor(review_days=LIFE_DAYS)
    median = MEAN_NEED * np.exp(-(sigma**2) / 2)
    for forecast, capacity in ((Expected(), median), (Certain(base=Expected()), MEAN_NEED)):
        for replication in range(3):
            run = lived(scenario, rule, forecast, replication)
            (order,) = run.orders
            assert abs(order.gpus - capacity) <= 1 + 0.01 * sigma * capacity
            need = run.world.demand_tokens[0] / (1000 * 86400)
            per_hour = run.books.cash_usd.sum() / (24 * LIFE_DAYS)
            by_hand = 1.5 * order.gpus + 3.0 * max(need - order.gpus, 0.0)
            assert per_hour == pytest.approx(by_hand, rel=1e-9)
    # The cost of the number bought by the spread, over all worlds in closed form, is the least there is.
    bought = lived(scenario, rule, Expected(), 0).orders[0].gpus
    best = newsvendor_lognormal(median, sigma, 1.5, 3.0)
    assert best.cost_usd_per_hour * 1000 / median == pytest.approx(cost, abs=0.005)
    needs = median * np.exp(sigma * _normals(100_000))
    in_the_mean = 1.5 * bought + 3.0 * np.maximum(needs - bought, 0.0).mean()
    assert in_the_mean == pytest.approx(best.cost_usd_per_hour, rel=2e-4)
    assert 1.5 * MEAN_NEED + 3.0 * np.maximum(needs - MEAN_NEED, 0.0).mean() > 1.005 * in_the_mean


def _normals(n: int) -> FloatArray:
    return stats.norm.ppf((np.arange(n) + 0.5) / n)


# Leases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantile", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("sigma", [0.1, 0.5, 1.0])
def test_a_base_is_the_quantile_of_hours_and_errors(quantile: float, sigma: float) -> None:
    scenario = newsvendors_world(1.5, 3.0, SLOPED)
    gpus = ordered(ReserveBase(quantile=quantile), seen_in(scenario), Flat(100 * TOKENS_PER_DAY, sigma))
    errors = np.exp(sigma * _normals(4000) - sigma**2 / 2)
    needs = MEAN_NEED * np.outer(errors, SLOPED)
    low, high = np.quantile(needs, [quantile - 0.01, quantile + 0.01])
    assert low - 1 <= gpus <= high


@pytest.mark.parametrize("until", [10, 20, 100])
def test_a_base_counts_commitments_day_by_day(until: int) -> None:
    # 600 GPUs run out on some day of a year: the base is short of different numbers before and after, and no more is
    # leased today than is needed before the next review. Held for 20 days, they are wanted for most of the term.
    scenario, sigma = newsvendors_world(1.5, 3.0, SLOPED), 0.4
    fleet = Fleet(1)
    fleet.commit(Purchase(0, 600, 1.0, 0, until), 0)
    seen = replace(seen_in(scenario), fleet=Holdings(fleet))
    gpus = ordered(ReserveBase(quantile=0.6), seen, Flat(100 * TOKENS_PER_DAY, sigma))
    needs = MEAN_NEED * np.outer(np.exp(sigma * _normals(4000) - sigma**2 / 2), SLOPED).reshape(-1)
    low, high = np.inf, np.inf
    for days in (range(0, 365, 25), range(0, 28, 4)):
        short = np.concatenate([needs - 600 * (day < until) for day in days])
        low, high = np.minimum([low, high], np.quantile(short, [0.595, 0.605]))
    assert low - 1 <= gpus <= high


def test_without_spread_leases_and_prices_are_those_of_the_hours_alone() -> None:
    scenario = newsvendors_world(1.5, 3.0, SLOPED)
    seen, days = seen_in(scenario), np.arange(0, 365, 25)
    for quantile in (0.0, 0.2, 0.57, 1.0):
        need = Need.on(seen, Flat(100 * TOKENS_PER_DAY), days, np.array([1.0]))
        assert need is not None
        hours = np.sort(MEAN_NEED * np.outer(np.ones(days.size), SLOPED).reshape(-1))
        assert need.short_of(quantile, np.array(SLOPED)) == pytest.approx(hours[int(quantile * (hours.size - 1))])
        base = np.quantile(SLOPED, quantile)
        above = np.maximum(np.array(SLOPED) - base, 0.0).mean()
        price = ReserveBase(quantile=quantile).planning_price(seen, scenario.releases[0], Flat(1e12))
        assert price.serving_usd_per_gpu_hour[0] == pytest.approx(3.0 * 0.75 * base + 3.0 * above)


@pytest.mark.parametrize("quantile", [0.0, 0.2, 0.75, 1.0])
@pytest.mark.parametrize("sigma", [0.2, 0.8])
def test_the_price_of_a_base_counts_the_overflow_of_errors_too(quantile: float, sigma: float) -> None:
    scenario = newsvendors_world(1.5, 3.0, SLOPED)
    price = ReserveBase(quantile=quantile).planning_price(
        seen_in(scenario), scenario.releases[0], Flat(TOKENS_PER_DAY, sigma)
    )
    needs = np.outer(np.exp(sigma * _normals(20_000) - sigma**2 / 2), SLOPED)
    base = np.quantile(needs, min(max(quantile, 0.5 / 192), 1 - 0.5 / 192))
    by_hand = 3.0 * 0.75 * base + 3.0 * np.maximum(needs - base, 0.0).mean()
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(by_hand, rel=1e-3)


def test_a_nearly_sure_forecast_leases_nearly_what_a_sure_one_does() -> None:
    scenario = newsvendors_world(1.5, 3.0, SLOPED)
    seen = seen_in(scenario)
    (sure,), (nearly,) = (
        ReserveBase(quantile=0.4).review(seen, Flat(100 * TOKENS_PER_DAY, spread)) for spread in (0.0, 1e-6)
    )
    assert isinstance(sure, Reserve)
    assert isinstance(nearly, Reserve)
    assert nearly.gpus == pytest.approx(sure.gpus, abs=1)


# Recipes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("procurement", [Newsvendor(), ReserveBase()], ids=["newsvendor", "reserve"])
def test_a_recipe_sees_the_spread_in_the_planning_price(procurement: Procurement) -> None:
    # Held GPUs that may stand idle make a served token dearer, so a model is trained longer and made smaller.
    scenario = load_scenario("frontier_lab", ["horizon_days=400"])
    seen = observed(realize(scenario), 30, None)
    recipe, release = LeverRecipe(levers=frozenset({Lever.OVERTRAIN})), scenario.releases[0]
    tokens = 1e13

    def size(rule: Procurement, spread: float) -> float:
        return recipe.choose(seen, release, Flat(tokens, spread), rule).model.n_parameters

    assert size(procurement, 0.8) < size(procurement, 0.3) < size(procurement, 0.0)
    # Who rents all pays by the hour used: of demand only the mean counts (A5).
    assert size(RentOnDemand(), 0.8) == size(RentOnDemand(), 0.0)
