"""Owned base, leased middle, rented top: by hand in a lab where nothing changes, and as it grows."""

from __future__ import annotations

import numpy as np
import pytest
from small_lab import HALF_AND_HALF, TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import observed

from simulator.lab.accounts import Account
from simulator.lab.forecast import Expected
from simulator.lab.lab import Run, simulate
from simulator.lab.ladder import Ladder
from simulator.lab.orders import Tenure
from simulator.lab.policy import Policy
from simulator.lab.procurement import owned_usd_per_gpu_hour
from simulator.world.ownership import LeasedInputs
from simulator.world.scenario import Scenario
from simulator.world.world import realize

HOURS = tuple(0.5 + hour / 23 for hour in range(24))
"""With a mean need of 1,000 GPUs, the hours need 500, 543, 586 ... 1,500."""


def lab(horizon_days: int = 800, is_for_sale: bool = True, **demand: object) -> Scenario:
    plain = plain_scenario()
    quote = plain.market.quote[0]
    if not is_for_sale:
        quote = quote.model_copy(update={"purchase_usd_per_gpu": None})
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": (), "quote": (quote,)}),
            "demand": plain.demand.model_copy(
                update={"tokens_per_day": 100 * TOKENS_PER_DAY, "hour_profile": HOURS, **demand}
            ),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
        }
    )


def live(scenario: Scenario, ladder: Ladder) -> Run:
    return simulate(scenario, Policy("by hand", FixedRecipe(), ladder, Expected()))


def test_the_layers_of_a_flat_lab() -> None:
    # Of 24 hours 5 % need less than the second, 30 % less than the eighth: 543 are owned from day 1 on, 804 held.
    run = live(lab(), Ladder())
    base, middle = int(1000 * HOURS[1]), int(1000 * HOURS[7])
    assert (base, middle) == (543, 804)
    np.testing.assert_array_equal(run.used.owned_gpus[0], [0.0, *[base] * 799])
    # Leased anew on day 365 and 730, without a gap.
    np.testing.assert_array_equal(run.used.reserved_gpus[0], [middle - base] * 800)
    assert [order.tenure for order in run.orders[:2]] == [Tenure.OWNED, Tenure.RESERVED]
    np.testing.assert_allclose(run.used.served_tokens, 100 * TOKENS_PER_DAY)
    above = sum(max(1000 * hour - middle, 0.0) for hour in HOURS)
    np.testing.assert_allclose(run.books.cash_usd[1:, Account.ON_DEMAND], 2.0 * above, rtol=1e-9)


def test_where_nothing_is_for_sale_the_base_is_leased_too() -> None:
    run = live(lab(30, is_for_sale=False), Ladder())
    assert [(order.tenure, order.gpus) for order in run.orders] == [(Tenure.RESERVED, 804)]


def test_equal_shares_leave_no_middle() -> None:
    run = live(lab(30), Ladder(owned_quantile=0.3, reserved_quantile=0.3))
    assert [order.tenure for order in run.orders] == [Tenure.OWNED]


def test_in_a_growing_lab_the_owned_base_grows_into_the_leased_middle() -> None:
    # What is owned follows the quiet hours of the year from delivery on, as soon as the leases of day 0 are no more
    # than the middle needs; what is held never exceeds what most hours of the coming year need.
    run = live(lab(1000, growth_per_year=2.0), Ladder(look_days=1, least_share=0.0))
    owned, reserved = run.used.owned_gpus[0], run.used.reserved_gpus[0]
    growth = 2.0 ** (np.arange(1000) / 365.25)
    quiet = 1000 * HOURS[1] * growth
    # Within a month's growth below, and never above.
    assert (owned[1:] <= quiet[1:] + 1).all()
    assert (owned[92:] >= quiet[92:] / 2.0 ** (31 / 365.25) - 8).all()
    assert (owned + reserved <= 1000 * max(HOURS) * growth * 2.0).all()
    assert (reserved > 0).all()


# Its inputs ------------------------------------------------------------------------------------------------------


def test_the_base_must_lie_below_the_middle() -> None:
    with pytest.raises(ValueError, match="owned_quantile: must not be above reserved_quantile"):
        Ladder(owned_quantile=0.4)


def test_the_term_must_be_on_offer() -> None:
    with pytest.raises(ValueError, match="must offer the term of 31 days"):
        Ladder(term_days=31).check(lab())


@pytest.mark.parametrize(("reserved", "held", "above"), [(0.3, 0.5, 0.5), (0.9, 1.5, 0.0)])
def test_its_planning_price_has_three_layers(reserved: float, held: float, above: float) -> None:
    # Half the hours need 0.5 x the mean, half 1.5 x. Owned: the 0.5 of all hours; leased: none, or 1.0 more.
    plain = lab(30, hour_profile=HALF_AND_HALF)
    scenario = plain.model_copy(update={"roadmap": plain_scenario().roadmap})
    seen, (release,) = observed(realize(scenario)), scenario.releases
    owned = float(owned_usd_per_gpu_hour(seen)[0])
    price = Ladder(reserved_quantile=reserved).planning_price(seen, release, Expected())
    by_hand = owned * 0.5 + 1.5 * (held - 0.5) + 2.0 * above
    assert price.serving_usd_per_gpu_hour[0] == pytest.approx(by_hand)
    assert price.training_usd_per_gpu_hour[0] == pytest.approx(2.0)


# Nothing is held for later --------------------------------------------------------------------------------------------


def test_a_base_waits_for_leases_that_stand_in_for_it_and_leases_wait_until_they_are_needed() -> None:
    """A flat need of 100 in every hour: 100 leased for 50 days, then 100 owned for 200, and again; never 200."""
    flat = lab(500, hour_profile=(1.0,) * 24, tokens_per_day=10 * TOKENS_PER_DAY)
    scenario = flat.model_copy(
        update={
            "opening_lease": (LeasedInputs(accelerator="Unit", gpus=100, usd_per_gpu_hour=1.5, days_left=50),),
            "ownership": flat.ownership.model_copy(update={"useful_life_years": 200 / 365.25}),
        }
    )
    run = live(scenario, Ladder(owned_quantile=0.3, review_days=10))
    held = run.used.owned_gpus[0] + run.used.reserved_gpus[0]
    # A day between two reviews may be rented.
    assert held.max() == 100.0
    assert np.count_nonzero(held < 100.0) <= 3
    np.testing.assert_array_equal(run.used.reserved_gpus[0][:50], 100.0)
    assert [order.gpus for order in run.orders if order.tenure is Tenure.OWNED] == [100] * 3
