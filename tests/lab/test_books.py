"""Every account and use that the three days do not touch, on labs of a few days, by hand.

A GPU serves 1,000 tokens a second of the opening model, so that serving takes 5 GPUs for twelve hours and 15 for the
other twelve: 240 GPU-hours a day. Rent is 2.00. A GPU costs 10,000, with server and network 20,000; its server parts
fetch 13,500 less 0.001 orders of magnitude a day.
"""

from __future__ import annotations

import numpy as np
import pytest
from small_lab import MONDAY, TOKENS_PER_DAY, FixedOrders, FixedRecipe, plain_scenario

from simulator.lab.accounts import FLOWS, Account, Use
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement, RentOnDemand
from simulator.world.market import MarketEvent
from simulator.world.scenario import OwnedInputs, Scenario

CENT = 0.005
POWER = 2.0 * 0.75 * 1.2 * 24 * 0.10  # a GPU and day: 2 kW rated, 75 % drawn, PUE 1.2: 4.32
HOSTING = 2.0 * 6.0  # 182.625 a kW and month are 6 a day
RUNNING = POWER + HOSTING
ALL_IN = 20_000.0
SERVER_BID = 10_000 * 1.5 * 0.9


def lab(horizon_days: int = 6, **changes: dict[str, object]) -> Scenario:
    """The plain scenario at a steady price and without upkeep; changes are by table."""
    plain = plain_scenario()
    tables = {
        "market": {"event": ()},
        "ownership": {"maintenance_per_year": 0.0},
        "roadmap": {},
        "training": {},
        "demand": {},
    }
    updated = {
        name: getattr(plain, name).model_copy(update={**fields, **changes.get(name, {})})
        for name, fields in tables.items()
    }
    return plain.model_copy(
        update={"horizon_days": horizon_days, **updated, "opening_fleet": changes.get("opening_fleet", ())}
    )


def live(scenario: Scenario, procurement: Procurement | None = None, recipe: object | None = None) -> Run:
    return simulate(scenario, Policy("by hand", recipe or FixedRecipe(), procurement or RentOnDemand(), Expected()))


def assert_tables_agree(run: Run) -> None:
    cash, economic = run.books.cash_usd, run.books.economic_usd
    assert cash.sum() == pytest.approx(economic.sum(), abs=1e-9 * np.abs(cash).sum())


# What a GPU fetches ----------------------------------------------------------------------------------------------


def bid(scenario: Scenario, age_days: int = 1, gpus: int = 1) -> list[float]:
    """What GPUs of this age on day 0 would fetch on each day: what they close at, had it been the last."""
    old = OwnedInputs(accelerator="Unit", gpus=gpus, age_days=age_days, paid_usd_per_gpu=10_000.0)
    fleet = scenario.model_copy(update={"opening_fleet": (old,)})
    days = range(1, scenario.horizon_days + 1)
    ends = [live(fleet.model_copy(update={"horizon_days": n_days})).books.cash_usd[-1] for n_days in days]
    return [-float(last[Account.CLOSING_FLEET]) for last in ends]


def test_a_used_gpu_fetches_its_server_parts_by_age() -> None:
    assert bid(lab(4)) == pytest.approx([SERVER_BID * 10 ** (-0.001 * age) for age in (1, 2, 3, 4)])
    assert bid(lab(2), 100, 3) == pytest.approx([3 * SERVER_BID * 10 ** (-0.001 * age) for age in (100, 101)])
    # Two years at Epoch's 0.14 orders of magnitude a year leave 52.48 %.
    epoch = lab(1, ownership={"value_fall_oom_per_year": 0.14, "maintenance_per_year": 0.0})
    assert bid(epoch, 730)[0] / SERVER_BID == pytest.approx(0.5248, abs=5e-4)


def test_nobody_pays_more_for_a_used_gpu_than_for_a_new_one() -> None:
    # List prices halve on day 2: a used GPU is never bid above today's new one, whatever was paid.
    cut = MarketEvent(day=MONDAY.replace(day=3), purchase_factor=0.5)
    found = bid(lab(4, market={"event": (cut,)}))
    assert found == pytest.approx([SERVER_BID * 10**-0.001, SERVER_BID * 10**-0.002, SERVER_BID / 2, SERVER_BID / 2])
    # Nor does a rise of list prices make an old one dearer than its age allows.
    rise = MarketEvent(day=MONDAY.replace(day=3), purchase_factor=2.0)
    by_age = [SERVER_BID * 10 ** (-0.001 * age) for age in (1, 2, 3, 4)]
    assert bid(lab(4, market={"event": (rise,)})) == pytest.approx(by_age)


# Held GPUs -------------------------------------------------------------------------------------------------------


def test_a_fleet_brought_in_costs_its_loss_of_value_and_its_running() -> None:
    old = OwnedInputs(accelerator="Unit", gpus=5, age_days=10, paid_usd_per_gpu=10_000.0)
    run = live(lab(opening_fleet=(old,)), recipe=FixedRecipe(gpu_hours=1.0))
    cash, economic = run.books.cash_usd, run.books.economic_usd
    value = 5 * SERVER_BID * 10 ** (-0.001 * np.arange(10, 16))
    assert cash[0, Account.OPENING_FLEET] == pytest.approx(value[0])
    assert cash[5, Account.CLOSING_FLEET] == pytest.approx(-value[-1])
    np.testing.assert_allclose(cash[:, Account.POWER], 5 * POWER)
    np.testing.assert_allclose(cash[:, Account.HOSTING], 5 * HOSTING)
    # Day 0 loses no value: they are brought in at that day's bid.
    loss = np.concatenate(([0.0], -np.diff(value))) + 5 * RUNNING
    held = economic.sum(axis=1) - cash[:, Account.ON_DEMAND]
    np.testing.assert_allclose(held[:-1], loss[:-1], atol=CENT)
    # From day 2 the smaller model leaves half of them idle for half the day.
    np.testing.assert_allclose(economic[2:, Use.IDLE], loss[2:] / 4, atol=CENT)
    assert_tables_agree(run)


def test_a_gpu_bought_and_sold_costs_what_it_lost() -> None:
    own = {"useful_life_years": 3 / 365.25, "maintenance_per_year": 0.0}
    run = live(lab(ownership=own), FixedOrders(buys=(2,)))
    cash = run.books.cash_usd
    np.testing.assert_allclose(cash[:, Account.PURCHASE], [0.0, 2 * ALL_IN, 0.0, 0.0, 0.0, 0.0])
    sold = 2 * SERVER_BID * 10**-0.003
    np.testing.assert_allclose(cash[:, Account.RESALE], [0.0, 0.0, 0.0, 0.0, -sold, 0.0])
    assert cash[:, [Account.OPENING_FLEET, Account.CLOSING_FLEET]].sum() == 0.0
    np.testing.assert_allclose(cash[:, Account.POWER], [0.0] + [2 * POWER] * 3 + [0.0] * 2)
    assert_tables_agree(run)


def test_what_arrives_after_the_end_is_not_paid() -> None:
    run = live(lab(market={"event": (), "lead_days": 6.0}), FixedOrders(buys=(8,)))
    assert len(run.orders) == 1
    accounts = [Account.PURCHASE, Account.CLOSING_FLEET, Account.POWER]
    np.testing.assert_array_equal(run.books.cash_usd[:, accounts], 0.0)


def test_leased_gpus_are_charged_to_who_uses_them() -> None:
    # Ten leased at 1.50 are 360 a day. The run takes 4 of them for a day and a half; serving gets 6, 8, 10 at most.
    run = live(lab(3), FixedOrders(reserves=(10,)))
    economic, cash = run.books.economic_usd, run.books.cash_usd
    np.testing.assert_allclose(cash[:, Account.RESERVED], 360.0)
    # Day 0: serving 5 x 12 + 6 x 12 = 132 h, and 9 x 12 rented. Day 1: 5 x 12 + 8 x 12 = 156 h, and 7 x 12 rented.
    # Day 2, the model half as large: 2.5 x 12 + 7.5 x 12 = 120 h.
    trained = np.array([96.0, 48.0, 0.0]) * 1.5
    served = np.array([132.0 * 1.5 + 108 * 2.0, 156.0 * 1.5 + 84 * 2.0, 120.0 * 1.5])
    np.testing.assert_allclose(economic[:2, Use.TRAINING], trained[:2])
    np.testing.assert_allclose(economic[:, Use.SERVING], served)
    np.testing.assert_allclose(economic[:2, Use.IDLE], np.array([12.0, 36.0]) * 1.5)
    np.testing.assert_allclose(cash[:, Account.ON_DEMAND], [216.0, 168.0, 0.0])
    assert_tables_agree(run)


def test_a_lease_at_todays_price_is_owed_only_the_cost_of_subletting() -> None:
    run = live(lab(3), FixedOrders(reserves=(10,), term_days=100))
    # 97 days remain at 1.50; a subtenant pays a tenth less.
    assert run.books.cash_usd[-1, Account.CLOSING_LEASES] == pytest.approx(97 * 24 * 10 * 0.15)
    ended = live(lab(3), FixedOrders(reserves=(10,), term_days=3))
    assert ended.books.cash_usd[-1, Account.CLOSING_LEASES] == 0.0


def test_a_cheap_lease_is_no_asset() -> None:
    # Rents double after it was signed: the debt is nothing, not less.
    rise = MarketEvent(day=MONDAY.replace(day=2), on_demand_factor=2.0)
    run = live(lab(3, market={"event": (rise,)}), FixedOrders(reserves=(10,), term_days=100))
    assert run.books.cash_usd[-1, Account.CLOSING_LEASES] == 0.0


# Research, data and models ---------------------------------------------------------------------------------------


def with_spot(spot_usd: float, availability: float) -> Scenario:
    """2e20 FLOP of research in two days: 1e20 a day, 55.56 GPU-hours."""
    plain = plain_scenario()
    quote = plain.market.quote[0].model_copy(update={"spot_usd_per_gpu_hour": spot_usd})
    return lab(
        3,
        market={"event": (), "quote": (quote,), "spot_availability": availability},
        roadmap={"research_multiple": 2.0, "target_growth_per_year": 1.0, "progress_per_year": 1.0},
    )


RESEARCH_HOURS = 1e20 / 1.8e18


@pytest.mark.parametrize(
    ("spot_usd", "availability", "on_spot"), [(0.8, 1.0, 1.0), (0.8, 0.25, 0.25), (0.8, 0.0, 0.0), (2.5, 1.0, 0.0)]
)
def test_research_takes_spot_where_it_is_cheaper_as_far_as_it_can_be_had(
    spot_usd: float, availability: float, on_spot: float
) -> None:
    run = live(with_spot(spot_usd, availability))
    spot = RESEARCH_HOURS * on_spot * spot_usd
    rented = RESEARCH_HOURS * (1 - on_spot) * 2.0
    np.testing.assert_allclose(run.books.cash_usd[:, Account.SPOT], [spot, spot, 0.0])
    np.testing.assert_allclose(run.books.economic_usd[:, Use.RESEARCH], [spot + rented, spot + rented, 0.0])
    np.testing.assert_allclose(
        run.books.cash_usd[:, Account.ON_DEMAND], [96 * 2 + 480 + rented, 48 * 2 + 480 + rented, 240.0]
    )
    assert_tables_agree(run)


def test_research_uses_idle_gpus_first() -> None:
    # 100 leased GPUs have room for all: research pays the lease price of its hours.
    run = live(with_spot(0.8, 1.0), FixedOrders(reserves=(100,)))
    np.testing.assert_allclose(run.books.economic_usd[:2, Use.RESEARCH], RESEARCH_HOURS * 1.5)
    assert run.books.cash_usd[:, Account.SPOT].sum() == 0.0


def test_data_is_bought_once_when_the_run_begins() -> None:
    # 144 GPU-hours at 1.8e18 FLOP on 1.25e11 parameters are 3.456e8 tokens; only unique ones are bought.
    tokens = 144 * 1.8e18 / (6 * 1.25e11)
    for unique, bought in ((1e12, tokens), (1e8, 1e8)):
        run = live(lab(training={"data_usd_per_million_tokens": 5.0, "unique_tokens": unique}))
        np.testing.assert_allclose(run.books.cash_usd[:, Account.DATA], [bought / 1e6 * 5.0] + [0.0] * 5)
        # The model is the dearer for it: trained at 144 x 2.00.
        assert run.books.releases[0].training_usd == pytest.approx(288 + bought / 1e6 * 5.0)
        assert_tables_agree(run)


@pytest.mark.parametrize(("horizon_days", "left"), [(1, 1.0), (2, 1.0), (3, 2 / 3), (4, 1 / 3), (5, 0.0), (6, 0.0)])
def test_a_model_is_carried_at_what_of_its_planned_life_is_left(horizon_days: int, left: float) -> None:
    # In service on day 2, planned for three days; 96 of its 144 GPU-hours fall on day 0.
    run = live(lab(horizon_days))
    spent = 192.0 if horizon_days == 1 else 288.0
    assert run.books.cash_usd[-1, Account.CLOSING_MODELS] == pytest.approx(-spent * left, abs=CENT)
    assert run.books.economic_usd[:, Use.TRAINING].sum() == pytest.approx(spent * (1 - left), abs=CENT)
    assert_tables_agree(run)


def test_the_opening_model_is_worth_nothing_at_both_ends() -> None:
    run = live(lab(1))
    assert run.books.cash_usd[:, Account.OPENING_MODELS].sum() == 0.0
    assert run.books.releases[0].served_tokens == 0.0


def test_a_release_is_charged_its_training_and_the_serving_of_its_days() -> None:
    run = live(lab(6))
    (cost,) = run.books.releases
    assert cost.training_usd == pytest.approx(288.0)
    assert cost.serving_usd == pytest.approx(4 * 240.0)
    assert cost.served_tokens == pytest.approx(4 * TOKENS_PER_DAY)


# The tables ------------------------------------------------------------------------------------------------------


def test_refused_tokens_are_no_cost() -> None:
    free, priced = (
        live(
            lab().model_copy(update={"unserved_usd_per_million_tokens": usd}),
            RentOnDemand(cap_gpus=3),
        )
        for usd in (0.0, 100.0)
    )
    assert (priced.used.served_tokens < priced.used.asked_tokens).all()
    np.testing.assert_array_equal(priced.books.cash_usd, free.books.cash_usd)


def test_costs_are_positive_and_what_comes_back_is_negative() -> None:
    old = OwnedInputs(accelerator="Unit", gpus=5, age_days=10, paid_usd_per_gpu=10_000.0)
    run = live(lab(opening_fleet=(old,)), FixedOrders(buys=(3,), reserves=(2,)))
    cash = run.books.cash_usd
    back = (Account.RESALE, Account.CLOSING_FLEET, Account.CLOSING_MODELS)
    for account in Account:
        assert (cash[:, account] <= 0.0).all() if account in back else (cash[:, account] >= 0.0).all(), account.name
    # Inventory stands on the first and on the last day, flows on any.
    inventory = [account for account in Account if account not in FLOWS]
    assert not cash[1:-1][:, inventory].any()
    assert_tables_agree(run)
