"""Names of sheets that every spreadsheet program takes, whatever policies are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

_MOST_UNITS = 31
_NOT_ALLOWED = re.compile(r"[\[\]:*?/\\'!\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""And what would have to be quoted in formulas."""
_RESERVED = {"history"}
_MONTHS = " months"


@dataclass(frozen=True, slots=True)
class SheetPair:
    """The two sheets of one policy."""

    years: str
    months: str


def policy_sheets(policies: Sequence[str], others: Iterable[str]) -> tuple[SheetPair, ...]:
    """A pair of names for each policy, all different, capitals or not, and none that others have.

    Examples
    --------
    >>> policy_sheets(["rent", "Rent", "a/b"], [])[1:]
    (SheetPair(years='Rent 2', months='Rent 2 months'), SheetPair(years='a_b', months='a_b months'))
    """
    taken = {name.casefold() for name in others} | _RESERVED
    found = []
    for policy in policies:
        cleaned = _NOT_ALLOWED.sub("_", policy).strip() or "policy"
        for number in count(1):
            ending = "" if number == 1 else f" {number}"
            name = f"{_clipped(cleaned, _MOST_UNITS - len(_MONTHS) - len(ending))}{ending}"
            pair = SheetPair(name, f"{name}{_MONTHS}")
            both = {pair.years.casefold(), pair.months.casefold()}
            if not both & taken:
                taken |= both
                found.append(pair)
                break
    return tuple(found)


def _clipped(name: str, units: int) -> str:
    """As much of a name as so many units of UTF-16 hold, which is what programs count."""
    while len(name.encode("utf-16-le")) > 2 * units:
        name = name[:-1]
    return name.strip()
