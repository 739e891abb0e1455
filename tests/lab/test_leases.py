"""Leases that are signed again in time: no gap, no hour paid twice, no more than is needed.

In the flat lab the quietest hours need 5 GPUs of the opening model and the others 15; a leased one costs 1.50 an hour.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lab import HALF_AND_HALF, MONDAY, TOKENS_PER_DAY, FixedRecipe, plain_scenario
from strategies import Flat, observed

from simulator.lab.accounts import Account
from simulator.lab.fleet import Fleet, Holdings
from simulator.lab.forecast import Expected, Forecast
from simulator.lab.lab import Run, simulate
from simulator.lab.leases import Base, Bound
from simulator.lab.models import served_model
from simulator.lab.need import Ahead
from simulator.lab.observation import Observation
from simulator.lab.orders import Lease, Order, Reserve
from simulator.lab.policy import Policy
from simulator.lab.procurement import Procurement, ReserveBase
from simulator.laws.precision import BF16
from simulator.world.market import MarketEvent
from simulator.world.scenario import Scenario
from simulator.world.world import realize

LOW_NEED = 5
PAID = 2.0 * 0.75 * 24  # a leased GPU and day
HOURS = np.array(HALF_AND_HALF)


def lab(horizon_days: int, *events: MarketEvent) -> Scenario:
    plain = plain_scenario()
    return plain.model_copy(
        update={
            "horizon_days": horizon_days,
            "market": plain.market.model_copy(update={"event": events}),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
        }
    )


def live(scenario: Scenario, procurement: Procurement) -> Run:
    return simulate(scenario, Policy("by hand", FixedRecipe(), procurement, Expected()))


def base(term_days: int, review_days: int) -> ReserveBase:
    return ReserveBase(quantile=0.0, term_days=term_days, review_days=review_days, least_gpus=1)


def test_the_days_of_leases_that_follow_each_other() -> None:
    # Reviews on days 0, 3, 6 ...: the one on day 9 sees the lease end on day 10, that on day 18 the next on day 20;
    # the third ends on day 30, the morning of a review, which signs from that very day.
    run = live(lab(60), base(10, 3))
    np.testing.assert_array_equal(run.used.reserved_gpus[0], np.full(60, float(LOW_NEED)))
    np.testing.assert_allclose(run.books.cash_usd[:, Account.RESERVED], LOW_NEED * PAID)
    told = [(order.day, order.first_day, order.last_day, order.gpus) for order in run.orders]
    assert told == [(0, 0, 10, 5), (9, 10, 20, 5), (18, 20, 30, 5), (30, 30, 40, 5), (39, 40, 50, 5), (48, 50, 60, 5)]


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([3, 5, 9, 10, 100]), st.integers(1, 100), st.sets(st.integers(1, 59), max_size=4))
def test_whatever_the_pace_there_is_no_gap_and_no_overlap(term_days: int, pace: int, event_days: set[int]) -> None:
    events = [MarketEvent(day=MONDAY + timedelta(days=day)) for day in sorted(event_days)]  # each calls a review
    run = live(lab(60, *events), base(term_days, 1 + pace % term_days))
    np.testing.assert_array_equal(run.used.reserved_gpus[0], np.full(60, float(LOW_NEED)))


@pytest.mark.parametrize(("cut_on", "factor"), [(9, 0.5), (10, 1.0)])
def test_a_lease_that_begins_later_has_the_price_of_the_day_it_is_signed(cut_on: int, factor: float) -> None:
    cut = MarketEvent(day=MONDAY + timedelta(days=cut_on), on_demand_factor=0.5)
    run = live(lab(15, cut), base(10, 3))
    paid = run.books.cash_usd[:, Account.RESERVED] / (LOW_NEED * PAID)
    np.testing.assert_allclose(paid, [*[1.0] * 10, *[factor] * 5])


# What is still needed --------------------------------------------------------------------------------------------


def seen(*leases: Lease) -> Observation:
    """Day 8 of a lab with these leases signed."""
    scenario, fleet = lab(30), Fleet(1)
    for lease in leases:
        fleet.sign(lease)
    model = served_model(scenario, "opening model", 2.5e11, 1e12, BF16, 1.0)
    return replace(observed(realize(scenario), 8, model), fleet=Holdings(fleet))


def leased(gpus: int, first_day: int, end_day: int) -> Lease:
    return Lease(0, gpus, 1.5, 0.25, first_day, end_day)


def orders(observation: Observation, need: float, *ordered: Bound) -> list[tuple[int, int | None]]:
    rule = Base(quantile=0.0, term_days=10, least_gpus=1, review_days=3, reason="a test")
    aheads = Ahead.over(observation, Flat(TOKENS_PER_DAY * need / LOW_NEED), rule.spans(observation))
    found = rule.orders(observation, aheads, HOURS, ordered)
    return [(order.gpus, order.first_day) for order in found]


@pytest.mark.parametrize(("need", "expected"), [(0, []), (3, [(3, 10)]), (5, [(5, 10)]), (9, [(5, 10), (4, None)])])
def test_what_is_still_needed_is_leased_again_and_what_is_lacking_from_today(
    need: int, expected: list[tuple[int, int | None]]
) -> None:
    assert orders(seen(leased(5, 0, 10)), need) == expected


def test_leases_that_end_later_are_counted_on_and_looked_at_later() -> None:
    assert orders(seen(leased(5, 1, 11)), 5) == []  # the review of day 11 comes in time
    assert orders(seen(leased(2, 0, 10), leased(3, 0, 17)), 5) == [(2, 10)]
    assert orders(seen(leased(2, 0, 10), leased(3, 0, 17)), 4) == [(1, 10)]


def test_several_that_end_soon_are_followed_in_turn() -> None:
    assert orders(seen(leased(2, 0, 10), leased(3, -1, 9)), 4) == [(2, 9), (2, 10)]


def test_what_was_signed_in_an_extra_review_is_not_signed_again() -> None:
    # Need has grown since: what is lacking is leased from today, not as what follows the old lease.
    assert orders(seen(leased(5, 0, 10), leased(5, 10, 20)), 9) == [(4, None)]


def test_what_was_ordered_a_moment_ago_counts() -> None:
    assert orders(seen(leased(5, 0, 10)), 5, Bound(0, 4, 9, 2000)) == [(1, 10)]


# What is owed ----------------------------------------------------------------------------------------------------


class Early(Procurement):
    """Signs one lease on day 1, for later."""

    review_days: int = 1
    first_day: int = 0

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        return [Reserve(0, 4, 10, "told to", self.first_day)] if observation.day == 1 else []


def test_a_lease_that_begins_after_the_horizon_is_a_debt_at_its_end() -> None:
    # Rents halve on day 3 of five. Subletting fetches 0.75 a GPU-hour less a tenth; 1.50 is owed, for ten days. What
    # has not begun is not sublet: it costs what it is dearer than a new lease.
    cut = MarketEvent(day=MONDAY + timedelta(days=3), on_demand_factor=0.5)
    for first_day, days_left in ((7, 10), (5, 10), (3, 8)):
        cash = live(lab(5, cut), Early(first_day=first_day)).books.cash_usd
        owed = 4 * 24 * days_left * (1.5 - 0.75 * (0.9 if first_day < 5 else 1.0))
        np.testing.assert_allclose(cash[:, Account.CLOSING_LEASES], [0.0, 0.0, 0.0, 0.0, owed])
        assert cash[:, Account.RESERVED].sum() == pytest.approx(4 * PAID * max(5 - first_day, 0))


@pytest.mark.parametrize("first_day", [1, 3, 5, 7])
def test_what_is_paid_upfront_is_paid_when_the_lease_begins(first_day: int) -> None:
    # 4 GPUs for ten days at 36.00 each, half of it on the first day. Every day is reviewed with money limited, so that
    # what is spent is settled on the very morning the lease begins too.
    plain = lab(5)
    half = tuple(
        term.model_copy(update={"upfront_share": 0.5}) for term in plain.market.commitment if term.term_days == 10
    )
    limits = plain.limits.model_copy(update={"budget_usd_per_year": 1e9})
    market = plain.market.model_copy(update={"commitment": half})
    scenario = plain.model_copy(update={"market": market, "limits": limits})
    cash = live(scenario, Early(first_day=first_day)).books.cash_usd
    by_day = np.zeros(5)
    by_day[first_day:] = 4 * PAID / 2
    if first_day < 5:
        by_day[first_day] += 4 * PAID / 2 * 10
    np.testing.assert_allclose(cash[:, Account.RESERVED], by_day)
    # What was paid for days to come is the lab's at the end, less a tenth of the rest of the term, which is what
    # subletting it would cost; nothing is lost of a lease at today's price that has not begun.
    days_left = min(first_day + 10 - 5, 10)
    prepaid = 4 * PAID / 2 * days_left if first_day < 5 else 0.0
    owed = 4 * PAID * 0.1 * days_left if first_day < 5 else 0.0
    assert cash[4, Account.CLOSING_LEASES] == pytest.approx(owed)
    assert cash[4, Account.CLOSING_PREPAID] == pytest.approx(-prepaid)


def test_nobody_leases_from_yesterday() -> None:
    with pytest.raises(ValueError, match="cannot be carried out: Reserve"):
        live(lab(5), Early(first_day=0))
