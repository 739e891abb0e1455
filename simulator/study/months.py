"""The months of runs, in double precision: what statements that add up to the cent are made of."""

from __future__ import annotations

import numpy as np

from simulator.lab.accounts import Account, Use
from simulator.lab.lab import Run
from simulator.lab.orders import Tenure
from simulator.laws.units import HOURS_PER_DAY, FloatArray

ACCOUNT_COLUMNS = tuple(f"{account.name.lower()}_usd" for account in Account)
USE_COLUMNS = tuple(f"{use.name.lower()}_usd" for use in Use)
HOURS_COLUMNS = tuple(f"{tenure.value}_gpu_hours" for tenure in Tenure)
TOKEN_COLUMNS = ("asked_tokens", "served_tokens")
MONTH_COLUMNS = (*ACCOUNT_COLUMNS, *USE_COLUMNS, *HOURS_COLUMNS, *TOKEN_COLUMNS)
"""Of a month: the two money tables, GPU-hours held or rented, and tokens."""


def run_months(run: Run, gpus: FloatArray) -> FloatArray:
    """Sums over the days lived of each calendar month [column of `MONTH_COLUMNS`, month].

    Parameters
    ----------
    run
        A finished run.
    gpus
        GPUs held, or rented on average over the day [tenure, day].
    """
    by_day = (
        run.books.cash_usd.T,
        run.books.economic_usd.T,
        HOURS_PER_DAY * gpus,
        run.used.asked_tokens[np.newaxis],
        run.used.served_tokens[np.newaxis],
    )
    firsts = run.world.calendar.month_days
    return np.concatenate([np.add.reduceat(table, firsts, axis=1) for table in by_day])
