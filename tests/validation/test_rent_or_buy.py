"""A flat lab in round numbers, worked out as in a spreadsheet: prices, cash by account, break-even, to the cent.

1,000 GPUs are needed on average: 500 in the first twelve hours of a day and 1,500 in the other twelve. A GPU rents for
2.00 USD an hour. Bought it costs 10,000, in a cluster 20,000 (server x 1.5, a quarter of that is network). It draws
2 kW x 0.75 x 1.2 = 1.8 kW at 0.10 a kWh, is hosted at 182.625 USD a kW and month = 0.25 a kW and hour, and is kept up
for 3.6525 % of 20,000 a year = 2.00 a day. It loses 0.001 orders of magnitude of its value a day, and a tenth of what
it is worth when it is sold, after 800 days. Ordered on day 0 it is there on day 1; the lab is watched for 810 days.
"""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from small_lab import MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario

from simulator.lab.forecast import Expected
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.study.rent_or_buy import RENT, SHARES, rent_or_buy
from simulator.study.rent_or_buy_answers import RentOrBuy
from simulator.study.tenure_costs import ON_DEMAND, OWNED, TenureRow
from simulator.world.market import Commitment

CENT = 0.005
DAYS, LIFE = 810, 800
RENT_ALL_USD = 810 * (12 * 500 + 12 * 1500) * 2.00  # 38,880,000


@pytest.fixture(scope="module")
def flat() -> RentOrBuy:
    plain = plain_scenario()
    scenario = plain.model_copy(
        update={
            "horizon_days": DAYS,
            "market": plain.market.model_copy(
                update={"event": (), "commitment": (Commitment(term_days=365, discount=0.25),)}
            ),
            "demand": plain.demand.model_copy(update={"tokens_per_day": 100 * TOKENS_PER_DAY}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
            "ownership": plain.ownership.model_copy(update={"useful_life_years": LIFE / 365.25}),
        }
    )
    policy = Policy("flat", FixedRecipe(), RentOnDemand(), Expected())
    settings = {"growths": (1.0,), "falls": (0.0,), "cell_replications": 1, "utilization": 0.95}
    return rent_or_buy(scenario, policy, replications=1, **settings)


def cash(found: RentOrBuy, policy: str, account: str) -> float:
    table = found.comparison.replications_table
    return float(table.loc[table.policy == policy, f"cash_{account}_usd"].iloc[0])


def test_renting_all_costs_what_the_sheet_says(flat: RentOrBuy) -> None:
    assert cash(flat, RENT, "on_demand") == pytest.approx(RENT_ALL_USD, abs=CENT)
    assert flat.owned_base[0].cost_usd.mean == pytest.approx(RENT_ALL_USD, abs=CENT)


@pytest.mark.parametrize(
    ("share", "gpus", "rented_hours_a_day"),
    # What 500 and 1,500 GPUs need above those owned, twelve hours each.
    [
        (0.25, 250, 12 * 250 + 12 * 1250),
        (0.5, 500, 12 * 1000),
        (0.75, 750, 12 * 750),
        (1.0, 1000, 12 * 500),
        (1.25, 1250, 12 * 250),
        (1.5, 1500, 0),
    ],
)
def test_owning_a_share_costs_what_the_sheet_says(
    flat: RentOrBuy, share: float, gpus: int, rented_hours_a_day: int
) -> None:
    policy = f"own {100 * share:.0f} %"
    sheet = {
        "purchase": gpus * 20_000.00,
        "power": 800 * gpus * 24 * 1.8 * 0.10,
        "hosting": 800 * gpus * 24 * 2 * 0.25,
        "maintenance": 800 * gpus * 2.00,
        # All is rented on the day before they come, and on the nine days when they are gone.
        "on_demand": 10 * 48_000.00 + 800 * rented_hours_a_day * 2.00,
        "resale": -gpus * 10_000 * 1.5 * 0.9 * 10**-0.8,
        "closing_fleet": 0.00,
        "reserved": 0.00,
    }
    for account, usd in sheet.items():
        assert cash(flat, policy, account) == pytest.approx(usd, abs=CENT), account
    (row,) = (row for row in flat.owned_base if row.owned_share == share)
    assert row.comparable
    assert row.cost_usd.mean == pytest.approx(sum(sheet.values()), abs=CENT)
    percent = 100 * (sum(sheet.values()) / RENT_ALL_USD - 1)
    assert row.difference_percent.mean == pytest.approx(percent, abs=1e-9)
    assert (row.held_peak_gpus, row.held_end_gpus) == (gpus, 0)


def test_the_best_share_is_that_of_the_sheet(flat: RentOrBuy) -> None:
    # A GPU held for 800 days costs 32,516.42 net; it saves 2.00 an hour: 38,400 if used all day, 19,200 for half of it.
    # So all that are used all day are worth owning, and no more: 500 of 1,000.
    assert flat.optimum.owned_share == flat.optimum.best_own_share == 0.5
    # Costs fall by one slope up to 0.5 and rise by another from there: a kink, where a parabola's least is no answer.
    assert math.isnan(flat.optimum.refined_share)
    (cell,) = flat.heat_map
    assert (cell.growth_factor, cell.rental_fall_per_year, cell.owned_share) == (1.0, 0.0, 0.5)
    saved = 500 * (38_400 - (20_000 + 800 * (24 * 0.18 + 24 * 0.50 + 2.00) - 13_500 * 10**-0.8))
    assert cell.difference_percent.mean == pytest.approx(-100 * saved / RENT_ALL_USD, abs=1e-9)
    assert flat.tornado_centre_percent.mean == cell.difference_percent.mean


def row_of(found: RentOrBuy, tenure: str) -> TenureRow:
    (row,) = (row for row in found.tenures if row.tenure == tenure)
    return row


def test_the_hour_costs_what_the_sheet_says(flat: RentOrBuy) -> None:
    owned = row_of(flat, OWNED)
    capital = (20_000 - 13_500 * 10**-0.8) / (800 * 24)  # 0.930
    assert owned.capital_usd_per_gpu_hour == pytest.approx(capital, abs=1e-12)
    assert owned.power_usd_per_gpu_hour == pytest.approx(0.18, abs=1e-12)
    assert owned.hosting_usd_per_gpu_hour == pytest.approx(0.50, abs=1e-12)
    assert owned.maintenance_usd_per_gpu_hour == pytest.approx(2.00 / 24, abs=1e-12)
    assert owned.usd_per_gpu_hour == pytest.approx(capital + 0.18 + 0.50 + 2.00 / 24, abs=1e-12)
    assert owned.cost_of_capital_usd_per_gpu_hour == pytest.approx(0.0, abs=1e-12)  # no discount in the flat lab
    assert owned.break_even_utilization == pytest.approx((capital + 0.18 + 0.50 + 2.00 / 24) / 2.00)
    assert row_of(flat, "reserved 365 days").usd_per_gpu_hour == 1.50
    assert row_of(flat, "reserved 365 days").break_even_utilization == 0.75
    assert row_of(flat, ON_DEMAND).usd_per_gpu_hour == 2.00


def test_a_gpu_has_paid_for_itself_on_the_day_of_the_sheet(flat: RentOrBuy) -> None:
    part, full = flat.paybacks
    assert (part.utilization, full.utilization) == (0.95, 1.0)
    # 20,000 + 18.32 d <= 48.00 d from d = 674 on (673.9); at 95 % 45.60 a day: 734 (733.1). In service from day 1 on.
    assert (full.break_even_days, part.break_even_days) == (674, 734)
    assert full.break_even_date == MONDAY + timedelta(days=674)
    assert part.break_even_date == MONDAY + timedelta(days=734)
    # 20,000 + 18.32 d - 13,500 x 10^(-d/1000) <= 48.00 d: 17.1 too much at d = 543, 3.7 less at 544.
    assert full.resale_break_even_date == MONDAY + timedelta(days=1 + 544)
    assert full.saved_usd == pytest.approx(800 * (48.00 - 18.32) - 20_000 + 13_500 * 10**-0.8, abs=CENT)
    # The same day in the simulation: those 500 GPUs are used all day.
    own_half = flat.comparison.policy_names.index("own 50 %")
    assert flat.comparison.break_even_date(own_half) == full.break_even_date


def test_a_life_too_short_is_never_paid_back(flat: RentOrBuy) -> None:
    from simulator.study.tenure_costs import one_gpu

    # At 90 % it takes 20,000 / (43.20 - 18.32) = 803.9 days, and it is sold after 800; for 803.9 it would be 0 or less.
    row = one_gpu(flat.scenario, "Unit", 0.9).row
    assert row.break_even_date is None
    assert row.resale_break_even_date is not None
    assert row.saved_usd == pytest.approx(800 * (43.20 - 18.32) - 20_000 + 13_500 * 10**-0.8, abs=CENT)


def test_all_shares_are_in_the_sheet() -> None:
    assert SHARES == (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
