"""The columns of the two money tables, cash by account and economic cost by use, and the stages of a cost."""

from enum import IntEnum, StrEnum


class Account(IntEnum):
    """Columns of the cash table. Costs are positive; resale, money borrowed and what is left are negative."""

    PURCHASE = 0
    RESALE = 1
    LOAN = 2
    """Principal: borrowed negative, repaid positive."""
    INTEREST = 3
    RESERVED = 4
    ON_DEMAND = 5
    SPOT = 6
    API = 7
    """Tokens bought from another provider."""
    POWER = 8
    HOSTING = 9
    MAINTENANCE = 10
    DATA = 11
    DEPLOYMENT = 12
    """Of models that go into service."""
    OPENING_FLEET = 13
    OPENING_LEASES = 14
    OPENING_MODELS = 15
    CLOSING_FLEET = 16
    CLOSING_LEASES = 17
    CLOSING_PREPAID = 18
    """What was paid for days of leases beyond the window: negative."""
    CLOSING_PAYMENTS = 19
    """Still to be paid for GPUs that have come, less what was paid for those to come."""
    CLOSING_LOANS = 20
    CLOSING_MODELS = 21


class Use(IntEnum):
    """Columns of the economic table."""

    TRAINING = 0
    RESEARCH = 1
    SERVING = 2
    IDLE = 3
    DEPLOYMENT = 4


FLOWS = tuple(account for account in Account if account < Account.OPENING_FLEET)
"""Accounts that money really moves through; the others are inventory."""
OPENING = tuple(account for account in Account if Account.OPENING_FLEET <= account < Account.CLOSING_FLEET)
CLOSING = tuple(account for account in Account if account >= Account.CLOSING_FLEET)


class Stage(StrEnum):
    """Where in a model's life its cost falls, and what no model used: together the cumulative cost."""

    DATA_PREPARATION = "data_preparation"
    TRAINING = "training"
    """Pre-training, with experiments on the mix of data and a teacher's run."""
    FINE_TUNING = "fine_tuning"
    RESEARCH = "research"
    DEPLOYMENT = "deployment"
    SERVING = "serving"
    IDLE = "idle"
    """GPU-hours held that nobody used."""
    HARDWARE_LEFT_OVER = "hardware_left_over"
    """What leases that run on beyond the end cost above the market, less the same of those brought in. Owned GPUs left
    over are no cost: only the value they lost is charged, day by day, to whoever used them."""
    MODELS_LEFT_OVER = "models_left_over"
    """Negative: the part of models that will serve on."""
