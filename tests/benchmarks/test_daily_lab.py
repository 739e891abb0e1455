"""The real lab against one stepped every day with plain loops: the same money on every day."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.daily_lab import TEN_YEARS, DailyLab, plan, policy, scenario

from simulator.lab.accounts import FLOWS, Account
from simulator.lab.lab import Lab
from simulator.world.world import realize


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ten_years_stepped_daily_come_to_the_same_on_every_day(seed: int) -> None:
    world = realize(scenario(), seed)
    run, days = Lab(world, policy()).live(), DailyLab(world, plan()).live()
    assert len(days) == TEN_YEARS
    flows = np.array([[day.cash_usd[account] for account in FLOWS] for day in days])
    np.testing.assert_allclose(run.books.cash_usd[:, : len(FLOWS)], flows, rtol=1e-9, atol=1e-6)
    for account in (Account.PURCHASE, Account.RESALE, Account.RESERVED, Account.ON_DEMAND, Account.POWER):
        assert np.count_nonzero(flows[:, account]) > 5, account.name
    used = run.used
    for found, expected in (
        (used.owned_gpus[0], [day.owned_gpus for day in days]),
        (used.reserved_gpus[0], [day.reserved_gpus for day in days]),
        (used.training_sunk_hours[0] + used.training_rented_hours[0], [day.training_hours for day in days]),
        (used.serving_sunk_hours, [day.serving_sunk_hours for day in days]),
        (used.serving_rented_hours, [day.serving_rented_hours for day in days]),
        (used.served_tokens, [day.served_tokens for day in days]),
    ):
        total = found.sum(axis=0) if found.ndim == 2 else found
        np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-6)
