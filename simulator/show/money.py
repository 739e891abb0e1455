"""Figures as people say them: $1.23B, −$10M, 38 %."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.world.currency import CurrencyInputs

DASH = "–"
"""Shown where there is no number."""
_SCALES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_THIN = "\u00a0"
_SMALL_PERCENT = 10.0
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩"}


@dataclass(frozen=True, slots=True)
class Currency:
    """What dollars are turned into where they are shown, and nowhere before."""

    code: str = "USD"
    per_usd: float = 1.0
    said: str = ""
    """The rate with its date and source; empty for dollars."""

    @staticmethod
    def declared(inputs: CurrencyInputs | None) -> Currency:
        """That of a scenario; dollars if it declares none."""
        return DOLLARS if inputs is None else Currency(inputs.code, inputs.per_usd, inputs.said)

    @property
    def symbol(self) -> str:
        """What stands before an amount: a sign, or the code where no sign is the currency's alone."""
        return _SYMBOLS.get(self.code, f"{self.code}{_THIN}")

    def of(self, usd: float) -> float:
        """An amount in this currency."""
        return usd * self.per_usd


DOLLARS = Currency()


def money(usd: float, currency: Currency = DOLLARS) -> str:
    """An amount of dollars, shown in a currency with three significant digits.

    Examples
    --------
    >>> money(1_234_000_000), money(-10e6), money(999_950), money(0.2142), money(12.3), money(0)
    ('$1.23B', '−$10.0M', '$1.00M', '$0.214', '$12.3', '$0')
    >>> money(-10e6, Currency("EUR", 0.92)), money(10, Currency("CHF", 0.8))
    ('−€9.20M', 'CHF\xa08.00')
    """
    return _signed(usd, scaled(abs(currency.of(usd))), currency)


def money_tick(usd: float, currency: Currency = DOLLARS) -> str:
    """An amount on an axis: no digits that say nothing.

    Examples
    --------
    >>> money_tick(1.5e9), money_tick(-10e6), money_tick(200e3)
    ('$1.5B', '−$10M', '$200k')
    """
    return _signed(usd, count_tick(abs(currency.of(usd))), currency)


def count_tick(number: float) -> str:
    """A count on an axis.

    Examples
    --------
    >>> count_tick(20_000), count_tick(1.5e12), count_tick(0), count_tick(1e15)
    ('20k', '1.5T', '0', '1,000T')
    """
    size, suffix = next((found for found in _SCALES if abs(number) >= found[0] * 0.9995), (1.0, ""))
    shown = number / size
    return f"{shown:.3g}{suffix}" if abs(shown) < 999.5 else f"{shown:,.0f}{suffix}"


def scaled(number: float, digits: int = 3) -> str:
    """A number of either sign with its scale in a letter; a dash if there is none."""
    if not math.isfinite(number):
        return DASH
    if number == 0.0:
        return "0"
    rounded = float(f"{abs(number):.{digits - 1}e}")
    size, suffix = next((found for found in _SCALES if rounded >= found[0]), (1.0, ""))
    value = rounded / size
    decimals = max(digits - 1 - math.floor(math.log10(value)), 0)
    return f"{'−' if number < 0.0 else ''}{value:.{decimals}f}{suffix}"


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.384), percent(0.99987, 1), percent(float("nan"))
    ('38\\xa0%', '100.0\\xa0%', '–')
    """
    return f"{100.0 * share:.{decimals}f}{_THIN}%" if math.isfinite(share) else DASH


def signed_percent(value: float, decimals: int = 0) -> str:
    """A change in percent, with its sign.

    Examples
    --------
    >>> signed_percent(-38.2), signed_percent(4.04, 1)
    ('−38\\xa0%', '+4.0\\xa0%')
    """
    return f"{signed(value, decimals)}{_THIN}%" if math.isfinite(value) else DASH


def signed(value: float, decimals: int = 0) -> str:
    """A number with its sign; zero has none.

    Examples
    --------
    >>> signed(-0.2), signed(3.4)
    ('0', '+3')
    """
    if not math.isfinite(value):
        return DASH
    text = f"{abs(value):.{decimals}f}"
    return text if float(text) == 0.0 else f"{'−' if value < 0 else '+'}{text}"


def signed_money(usd: float, currency: Currency = DOLLARS) -> str:
    """A change in money, with its sign; zero has none.

    Examples
    --------
    >>> signed_money(2.5e6), signed_money(-2.5e6)
    ('+$2.50M', '−$2.50M')
    """
    return f"{'+' if usd > 0.0 else ''}{money(usd, currency)}"


def change_decimals(change_percent: float) -> int:
    """Small differences deserve a decimal."""
    return 1 if abs(change_percent) < _SMALL_PERCENT else 0


def signed_interval(low_percent: float, high_percent: float, decimals: int) -> str:
    """The interval of a change in percent, with signs; nothing where there is none."""
    if not math.isfinite(low_percent):
        return ""
    return f" [{signed(low_percent, decimals)}, {signed(high_percent, decimals)}]"


def interval_said(low_percent: float, high_percent: float, decimals: int) -> str:
    """The interval of a change in percent: with signs if it holds zero, else as sizes; nothing where there is none.

    Examples
    --------
    >>> interval_said(-22.0, -14.0, 0), interval_said(-4.5, 4.7, 1)
    (' [14, 22]', ' [−4.5, +4.7]')
    """
    if not math.isfinite(low_percent) or low_percent < 0.0 < high_percent:
        return signed_interval(low_percent, high_percent, decimals)
    near, far = sorted((abs(low_percent), abs(high_percent)))
    return f" [{near:.{decimals}f}, {far:.{decimals}f}]"


def _signed(usd: float, text: str, currency: Currency) -> str:
    if not math.isfinite(usd):
        return DASH
    return f"{'−' if usd < 0.0 and text != '0' else ''}{currency.symbol}{text}"
