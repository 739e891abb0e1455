from __future__ import annotations

from dataclasses import replace

import numpy as np
from small_study import BUY, RENT, growing_lab

from simulator.lab.altered_forecast import Biased
from simulator.lab.forecast import Expected, PerfectForesight
from simulator.lab.observation import Observation
from simulator.laws.units import FloatArray, IntArray
from simulator.study.forecasts_seen import forecasts_seen
from simulator.world.world import realize


def test_who_knows_demand_saw_what_came() -> None:
    lab = growing_lab(200)
    seen = forecasts_seen(lab, replace(BUY, forecast=PerfectForesight()), seed=3, replication=2, ahead_days=50)
    world = realize(lab, 3, 2)
    np.testing.assert_array_equal(seen.asked_tokens, world.demand_tokens[world.calendar.lived])
    for view in seen.views:
        assert view.days.tolist() == list(range(view.day, min(view.day + 50, 200)))
        np.testing.assert_array_equal(view.mean_tokens, seen.asked_tokens[view.days])
        assert not view.log_sd.any()


def test_the_declared_mean_is_seen_at_every_review_once() -> None:
    lab = growing_lab(200)
    seen = forecasts_seen(lab, replace(RENT, forecast=Biased(base=Expected(), factor=3.0)), seed=3)
    days = [view.day for view in seen.views]
    assert days == sorted(set(days))
    assert set(range(0, 200, RENT.procurement.review_days)) <= set(days)
    outlook = lab.demand_outlook
    for view in seen.views:
        at = view.days + lab.calendar.history_days
        np.testing.assert_allclose(view.mean_tokens, 3.0 * outlook.tokens[at])
        np.testing.assert_array_equal(view.log_sd, outlook.log_sd[at])


class _Forgetful:
    """Grows with every question it is asked, so that one more question would change what it says next."""

    def __init__(self) -> None:
        self.asked = 0

    def ahead(self, observation: Observation, days: IntArray) -> tuple[FloatArray, FloatArray]:
        self.asked += 1
        return np.full(days.size, 1e12 * self.asked), np.zeros(days.size)


def test_looking_on_does_not_change_what_a_forecast_remembers() -> None:
    """Between reviews that ask it nothing the view stays the same, however often it was looked at."""
    forecast = _Forgetful()
    seen = forecasts_seen(growing_lab(100), replace(RENT, forecast=forecast), seed=1)
    before_release = [view.mean_tokens[0] for view in seen.views if view.day < 30]
    assert forecast.asked == 0
    assert before_release == [1e12] * len(before_release)
