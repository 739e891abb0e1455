"""The columns of the two money tables: cash by account, economic cost by use."""

from enum import IntEnum


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
    OPENING_FLEET = 12
    OPENING_LEASES = 13
    OPENING_MODELS = 14
    CLOSING_FLEET = 15
    CLOSING_LEASES = 16
    CLOSING_PREPAID = 17
    """What was paid for days of leases beyond the window: negative."""
    CLOSING_PAYMENTS = 18
    """Still to be paid for GPUs that have come, less what was paid for those to come."""
    CLOSING_LOANS = 19
    CLOSING_MODELS = 20


class Use(IntEnum):
    """Columns of the economic table."""

    TRAINING = 0
    RESEARCH = 1
    SERVING = 2
    IDLE = 3


FLOWS = tuple(account for account in Account if account < Account.OPENING_FLEET)
"""Accounts that money really moves through; the others are inventory."""
OPENING = tuple(account for account in Account if Account.OPENING_FLEET <= account < Account.CLOSING_FLEET)
CLOSING = tuple(account for account in Account if account >= Account.CLOSING_FLEET)
