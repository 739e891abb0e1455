"""Orders that a limit cut: in which worlds, and what they were cut to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.study.run_rows import OrderRow

_CUT_TO = "cut to what "
"""How the reason of a cut order names its limit."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What limits did to the orders of one policy."""

    worlds: int
    """In which an order was cut."""
    to: str
    """What most of them were cut to, as in orders.csv; empty if none was."""


def cut_orders(orders: Sequence[OrderRow], policy: str) -> Cut:
    """The cuts of one policy's purchases and leases in all worlds."""
    cut = [order for order in orders if order.policy == policy and order.gpus < order.asked_gpus and order.term_days]
    reasons = Counter(order.reason.rpartition(_CUT_TO)[2] for order in cut)
    return Cut(len({order.replication for order in cut}), reasons.most_common(1)[0][0] if cut else "")
