"""Why the cheapest policy is the cheapest, in a sentence or two per rival."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from simulator.show.money import Currency, money, signed_money
from simulator.study.comparison import TIE, Comparison
from simulator.study.why import Why, WhyRow, reasons

_MOST_NAMED = 3
_WORTH_NAMING = 0.05
"""Part of the largest part; what is smaller goes into the rest."""


def why_said(comparison: Comparison) -> tuple[str, ...]:
    """A line per rival that the cheapest policy can be told apart from; none where there is nothing to explain."""
    currency = Currency.declared(comparison.scenario.currency)
    return tuple(_said(found, comparison, currency) for found in reasons(comparison) if _is_told(found, comparison))


def _is_told(found: Why, comparison: Comparison) -> bool:
    """Whether one of the two is surely cheaper, by a difference worth naming; one world gives no interval."""
    change = comparison.controlled_percent(found.policy, found.against)
    return abs(change.mean) > 100.0 * TIE and not (isfinite(change.low) and change.low <= 0.0 <= change.high)


def _said(found: Why, comparison: Comparison, currency: Currency) -> str:
    name, rival = comparison.policy_names[found.policy], comparison.policy_names[found.against]
    change = f"{money(abs(found.difference.mean), currency)} {_less_or_more(found.difference.mean)}"
    parts = "; ".join(_side(found.paid, sign, currency) for sign in (-1.0, 1.0) if _named(found.paid, sign))
    rest = _rest(found.paid, found.difference.mean)
    total = abs(found.difference.mean)
    other = f"; all else, {signed_money(rest, currency)}" if abs(rest) > 0.005 * total else ""
    lines = [f"Why {name} costs {change} than {rival}: {parts}{other}."]
    by_use = [row for row in found.used if abs(row.difference_usd) >= _WORTH_NAMING * _largest(found.used)]
    by_use.sort(key=lambda row: -abs(row.difference_usd))
    lines.append(f"By use: {', '.join(f'{row.part} {signed_money(row.difference_usd, currency)}' for row in by_use)}.")
    own, other_price = found.usd_per_used_gpu_hour
    if isfinite(own) and isfinite(other_price):
        price = f"A GPU-hour used costs {money(own, currency)} against {money(other_price, currency)}"
        lines.append(f"{price}{_hours_said(*found.used_gpu_hours)}.")
    return " ".join(lines)


def _hours_said(hours: float, others: float) -> str:
    """How many more GPU-hours are used, or fewer."""
    change = 100.0 * (hours / others - 1.0)
    if abs(change) < 0.5:
        return ", and as many are used"
    return f", and {abs(change):.0f} % {'more' if change > 0.0 else 'fewer'} are used"


def _less_or_more(usd: float) -> str:
    return "less" if usd < 0.0 else "more"


def _side(rows: Sequence[WhyRow], sign: float, currency: Currency) -> str:
    """What is paid less, or more, the largest first: "$1.2B less for leases and $0.3B less for data"."""
    told = [
        f"{money(abs(row.difference_usd), currency)} {_less_or_more(sign)} for {row.part}" for row in _named(rows, sign)
    ]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _named(rows: Sequence[WhyRow], sign: float) -> list[WhyRow]:
    """The parts on one side that are large enough to be named, the largest first."""
    least = _WORTH_NAMING * _largest(rows)
    found = [row for row in rows if sign * row.difference_usd > 0.0 and abs(row.difference_usd) >= least]
    return sorted(found, key=lambda row: -abs(row.difference_usd))[:_MOST_NAMED]


def _largest(rows: Sequence[WhyRow]) -> float:
    return max(abs(row.difference_usd) for row in rows)


def _rest(rows: Sequence[WhyRow], whole: float) -> float:
    """What the named parts leave of the difference."""
    return whole - sum(row.difference_usd for sign in (-1.0, 1.0) for row in _named(rows, sign))
