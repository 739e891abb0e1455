from __future__ import annotations

import numpy as np
from small_study import growing_lab

from simulator.study.price_bands import MOST_WORLDS, price_bands
from simulator.world.market import Quote
from simulator.world.scenario import Scenario
from simulator.world.world import realize


def noisy_lab() -> Scenario:
    """Rents that vary, and a kind that comes on day 100 and cannot be bought or had on spot."""
    lab = growing_lab(300)
    late = Quote(
        accelerator="B200", on_demand_usd_per_gpu_hour=5.0, available=lab.calendar.date_of(100), source="a test"
    )
    market = lab.market.model_copy(
        update={"rental_noise_sigma": 0.2, "purchase_noise_sigma": 0.1, "quote": (*lab.market.quote, late)}
    )
    return Scenario.model_validate({**lab.model_dump(), "market": market.model_dump()})


def test_bands_are_quantiles_of_the_worlds_drawn() -> None:
    lab = noisy_lab()
    bands = price_bands(lab, seed=5, replications=9)
    assert bands.worlds == 9
    assert bands.kinds == ("H100", "B200")
    assert (bands.days[0], bands.days[-1]) == (0, 299)
    rents = np.array(
        [
            [[realized.rents_on(lab.calendar.index(int(day)))[kind] for day in bands.days] for kind in (0, 1)]
            for realized in (realize(lab, 5, world).prices for world in range(9))
        ]
    )
    late = bands.days >= 100
    found = bands.on_demand_usd_per_gpu_hour
    np.testing.assert_allclose(found[:, 0], np.quantile(rents[:, 0], (0.05, 0.25, 0.5, 0.75, 0.95), axis=0))
    np.testing.assert_allclose(found[2, 1, late], np.median(rents[:, 1, late], axis=0))
    assert np.isnan(found[:, 1, ~late]).all()
    assert np.isnan(bands.purchase_usd_per_gpu[:, 1]).all()
    assert np.isfinite(bands.spot_usd_per_gpu_hour[:, 0]).all()


def test_a_large_study_draws_some_of_its_worlds() -> None:
    assert price_bands(growing_lab(20), 1, 10_000).worlds == MOST_WORLDS
