"""Numbers of a page: each shown as people say it, and told with its value and the place it was read from."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from markupsafe import escape

from simulator.show.money import DASH, Currency, money, percent, scaled, signed, signed_percent


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a page; its place is a file of the results folder and what to look up in it."""

    value: float
    place: tuple[str | int, ...]
    shown_as: str
    """The name of the format, for who checks it."""
    text: str

    def __str__(self) -> str:
        return self.text

    def __html__(self) -> str:
        """An element that holds both the value and what is shown of it."""
        value = repr(self.value) if math.isfinite(self.value) else "nan"
        return (
            f'<data value="{value}" data-source="{escape(json.dumps(self.place, ensure_ascii=False))}" '
            f'data-format="{escape(self.shown_as)}">{escape(self.text)}</data>'
        )


def count(number: float) -> str:
    """A number of things, rounded to three digits, all of them written out.

    Examples
    --------
    >>> count(23_401), count(7330.5), count(12), count(0.4), count(float("nan"))
    ('23,400', '7,330', '12', '0', '–')
    """
    return f"{float(f'{number:.3g}'):,.0f}" if math.isfinite(number) else DASH


def as_declared(number: float) -> str:
    """A declared value with all its digits.

    Examples
    --------
    >>> as_declared(5e12), as_declared(0.0826), as_declared(1826), as_declared(1.5e24), as_declared(-0.1)
    ('5,000,000,000,000', '0.0826', '1,826', '1.5e+24', '−0.1')
    """
    text = f"{number:,.15g}" if abs(number) < 1e15 else f"{number:.12g}"
    return text.replace("-", "−") if number < 0.0 else text


@dataclass(frozen=True, slots=True)
class Figures:
    """Makes figures, money in one currency."""

    currency: Currency

    def money(self, usd: float, *place: str | int) -> Figure:
        """Dollars, in the currency shown."""
        return Figure(usd, place, "money", money(usd, self.currency))

    def tokens_price(self, usd: float, *place: str | int) -> Figure:
        """Dollars per million tokens, in the currency shown, which the header names."""
        return Figure(usd, place, "price", scaled(self.currency.of(usd)))

    def share(self, part: float, decimals: int, *place: str | int) -> Figure:
        """A part of a whole, in percent."""
        return Figure(part, place, f"share.{decimals}", percent(part, decimals))

    def change(self, percents: float, decimals: int, *place: str | int) -> Figure:
        """A difference in percent, with its sign."""
        return Figure(percents, place, f"change.{decimals}", signed_percent(percents, decimals))

    def bound(self, percents: float, decimals: int, *place: str | int) -> Figure:
        """The end of an interval of such a difference."""
        return Figure(percents, place, f"bound.{decimals}", signed(percents, decimals))

    def count(self, number: float, *place: str | int) -> Figure:
        """A number of things."""
        return Figure(number, place, "count", count(number))

    def scaled(self, number: float, *place: str | int) -> Figure:
        """A large number, its scale in a letter."""
        return Figure(number, place, "scaled", scaled(number))

    def plain(self, number: float, *place: str | int) -> Figure:
        """Three digits."""
        return Figure(number, place, "plain", f"{number:.3g}" if math.isfinite(number) else DASH)

    def declared(self, number: float, *place: str | int) -> Figure:
        """What somebody wrote, with all its digits."""
        return Figure(number, place, "declared", as_declared(number))
