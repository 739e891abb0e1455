"""Rows of a catalogue found by name: spelling is forgiven, and a name that nothing bears gets its nearest."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Protocol, TypeVar

_CLOSE = 0.6


class Named(Protocol):
    """Whatever has a name."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...


_Row = TypeVar("_Row", bound=Named)


class NotInCatalogue(ValueError):
    """A name that no row of a catalogue bears, with what may have been meant."""

    def __init__(self, name: str, kind: str, hint: str) -> None:
        # The arguments are kept as they came: SimPy and pickle make an exception anew from them.
        super().__init__(name, kind, hint)
        self.name, self.kind, self.hint = name, kind, hint

    def __str__(self) -> str:
        return f"there is no {self.name!r} among the {self.kind} of the catalogue; {self.hint}"


def spelling(name: str) -> str:
    """A name without what does not matter: capitals, spaces, dashes and underscores."""
    return "".join(letter for letter in name.casefold() if letter not in " -_")


def named(name: str, rows: Iterable[_Row], kind: str) -> _Row:
    """The row of this name among the rows of a kind, such as "models".

    Raises
    ------
    NotInCatalogue
        With the nearest name there is, if one is near.
    """
    by_spelling = {spelling(row.name): row for row in rows}
    found = by_spelling.get(spelling(name))
    if found is not None:
        return found
    near = get_close_matches(spelling(name), by_spelling, n=1, cutoff=_CLOSE)
    hint = f"did you mean {by_spelling[near[0]].name!r}?" if near else f"labspend catalog {kind} lists them"
    raise NotInCatalogue(name, kind, hint)


def joined(rows: Iterable[_Row], added: Iterable[_Row]) -> tuple[_Row, ...]:
    """Rows with others added: one whose name is there already takes its place."""
    by_spelling = {spelling(row.name): row for row in rows}
    by_spelling.update({spelling(row.name): row for row in added})
    return tuple(by_spelling.values())
