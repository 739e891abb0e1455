"""How a person sees what the laws say of one model on one kind of GPU."""

from __future__ import annotations

import math

from rich.table import Table
from rich.text import Text

from simulator.laws.units import GIGA, MILLI
from simulator.show.money import DASH, percent, scaled
from simulator.show.plain_table import plain_table
from simulator.study.hand_check import HandCheck, Line

_DIGITS = 4
_LARGE = 1e6


def laws_table(check: HandCheck) -> Table:
    """A row per figure, with the function that gives it and where its law comes from."""
    model = check.model
    active = f", {scaled(model.n_active_parameters)} active" if model.is_mixture else ""
    table = plain_table(
        f"{model.name} ({scaled(model.n_parameters)} parameters{active}, "
        f"{scaled(model.n_training_tokens)} tokens) on {check.hardware}, served in {check.precision}",
        "\n".join(["> marks what was chosen.", *check.assumptions]),
        Table,
    )
    table.add_column("Figure", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Law: source", overflow="fold")
    section = ""
    for line in check.lines:
        if line.section != section:
            section = line.section
            table.add_row(Text(section, style="bold"))
        table.add_row(f"{'> ' if line.is_chosen else '  '}{line.label}", said(line), _origin(line))
    return table


def said(line: Line) -> str:
    """A figure with its unit, with the digits it takes to check it by hand."""
    value, unit = line.value, line.unit
    if not math.isfinite(value):
        return DASH
    match unit:
        case "FLOP" | "FLOP/s":
            return f"{_power(value)} {unit}"
        case "nats":
            return f"{value:.5f} nats"
        case "bytes" if value >= 0.1 * GIGA:
            return f"{value / GIGA:.{_DIGITS}g} GB"
        case "s":
            return f"{value / MILLI:.{_DIGITS}g} ms"
        case "USD":
            return f"${value:,.0f}" if value >= 1000.0 else f"${value:.{_DIGITS}g}"
        case "share":
            return percent(value, 2)
    number = scaled(value, _DIGITS) if value >= _LARGE and unit in ("parameters", "tokens") else _plain(value)
    return f"{number} {unit}".rstrip()


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000.0 or value == round(value) else f"{value:.{_DIGITS}g}"


def _power(value: float) -> str:
    return f"{value:.{_DIGITS - 1}e}".replace("e+", "e")


def _origin(line: Line) -> str:
    return ": ".join(part for part in (line.law, line.source) if part)
