"""Claims about what a GPU-hour costs: cloud lists per GPU, how they moved, and an H100 bought or rented."""

from __future__ import annotations

from datetime import date
from functools import partial

from simulator.lab.accounts import Account
from simulator.lab.given import Given
from simulator.lab.orders import Purchase
from simulator.study.claims import Claim, accounted, shown
from simulator.study.shipped import declared_run, lived, paid, saved_percent, study, with_recipe
from simulator.study.tenure_costs import OWNED, tenure_rows

NAME = "cloud_prices"
_DAY_BEFORE, _DAY_AFTER = date(2025, 5, 31), date(2025, 6, 2)
_HOURS_A_MONTH = 730.0
_LIST = "AWS price lists, 2025-03 and 2026-06"
_ARTICLE = "p4d.24xlarge 32.77 USD an hour x 730; the article compares it with one GPU"
_INDEX = "SemiAnalysis index of one-year contracts: 1.70 to 2.35"


def _hour_usd(kind: str, day: date) -> float:
    """What a rented GPU-hour costs on a day, read off the bill of a lab that finds this kind alone on offer."""
    quotes = [quote.accelerator for quote in study(NAME).scenario.quotes]
    gone = [f"market.quote.{row}.available=2099-01-01" for row, name in enumerate(quotes) if name != kind]
    lab = with_recipe(NAME, "rent", Given(model="Llama 2 70B"))
    run = lived(NAME, lab, *gone)
    at = run.world.calendar.day_of(day)
    return float(run.books.cash_usd[at, Account.ON_DEMAND] / run.used.serving_billed_hours[at])


def _month_usd(kind: str, day: date, gpus: int) -> float:
    return gpus * _HOURS_A_MONTH * _hour_usd(kind, day)


def _change(kind: str, before: date, after: date) -> float:
    return 100.0 * (_hour_usd(kind, after) / _hour_usd(kind, before) - 1.0)


def _per_gpu() -> float:
    return _hour_usd("A100 at AWS", _DAY_BEFORE) / _hour_usd("A100", _DAY_BEFORE)


def _owned_hour_usd(*overrides: str) -> float:
    """All-in cost of an hour of an owned H100, its last sale counted in."""
    rows = tenure_rows(study(NAME, *overrides).scenario)
    return next(row.usd_per_gpu_hour for row in rows if row.tenure == OWNED and row.accelerator == "H100")


def _all_in_usd() -> float:
    """What a GPU cost with its part of server and network."""
    run = declared_run(NAME, "buy")
    gpus = sum(signed.gpus for _, signed in run.signed if isinstance(signed, Purchase))
    return paid(run, Account.PURCHASE) / gpus


_UPPER = "market.quote.1.purchase_usd_per_gpu=40000"
_SAVED = partial(saved_percent, NAME, "buy", "rent")
CLAIMS: tuple[Claim, ...] = (
    accounted(
        NAME,
        "a month of AWS's eight A100s",
        _ARTICLE,
        23_922.0,
        partial(_month_usd, "A100 at AWS", _DAY_BEFORE, 8),
        0.001,
        "USD",
    ),
    accounted(
        NAME, "the same, one GPU", _ARTICLE, 2_990.0, partial(_month_usd, "A100 at AWS", _DAY_BEFORE, 1), 0.001, "USD"
    ),
    accounted(
        NAME,
        "a month of CUDO's one A100",
        "1.50 USD an hour x 730",
        1_095.0,
        partial(_month_usd, "A100", _DAY_BEFORE, 1),
        0.001,
        "USD",
    ),
    accounted(
        NAME,
        "a month of AWS's eight A100s after the cut",
        _LIST,
        16_029.0,
        partial(_month_usd, "A100 at AWS", _DAY_AFTER, 8),
        0.001,
        "USD",
    ),
    shown(NAME, "AWS / CUDO, per GPU", "eight GPUs against one would be 21.8", _per_gpu),
    accounted(
        NAME,
        "June 2025: A100 at AWS",
        _LIST,
        -33.0,
        partial(_change, "A100 at AWS", _DAY_BEFORE, _DAY_AFTER),
        0.005,
        "%",
    ),
    accounted(
        NAME,
        "June 2025: H100 at AWS",
        _LIST,
        -44.0,
        partial(_change, "H100 at AWS", _DAY_BEFORE, _DAY_AFTER),
        0.005,
        "%",
    ),
    accounted(
        NAME,
        "October 2025 to March 2026: H100",
        _INDEX,
        38.0,
        partial(_change, "H100", date(2025, 12, 1), date(2026, 3, 2)),
        0.01,
        "%",
    ),
    accounted(
        NAME,
        "an H100 of 25,000 USD with server and network",
        "Cottier et al. 2024: x 1.64 / 0.81",
        50_617.0,
        _all_in_usd,
        0.001,
        "USD",
    ),
    shown(NAME, "an hour of an H100 bought for 25,000", "five years, last sale counted in", _owned_hour_usd, "USD"),
    shown(NAME, "an hour of an H100 bought for 40,000", "the same", partial(_owned_hour_usd, _UPPER), "USD"),
    shown(NAME, "saved by buying at 25,000, five years", "against renting by the hour", _SAVED, "%"),
    shown(NAME, "saved by buying at 40,000, five years", "the same", partial(_SAVED, _UPPER), "%"),
)
