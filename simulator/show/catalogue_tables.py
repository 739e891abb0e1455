"""How a person sees the catalogue: a table per section, a source in every row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import groupby

from rich.table import Table
from rich.text import Text

from simulator.laws.units import GIGA, TERA
from simulator.show.money import DASH, percent, scaled
from simulator.show.plain_table import plain_table
from simulator.world.catalogue import Catalogue


def hardware_table(catalogue: Catalogue) -> Table:
    """The kinds of GPU, by the names one writes."""
    table = _table(
        "Hardware: dense peaks [TFLOP/s], memory, rated draw of the chip and of its share of the server",
        ("Name", "bf16", "fp8", "int8", "fp4", "GB", "TB/s", "kW", "with server", "Launch", "Source"),
        "lrrrrrrrrll",
    )
    for row in catalogue.hardware:
        chip = row.chip
        peaks = (
            chip.bf16_flop_per_second,
            chip.fp8_flop_per_second,
            chip.int8_flop_per_second,
            chip.fp4_flop_per_second,
        )
        memory = (f"{chip.memory_bytes / GIGA:.0f}", f"{chip.memory_bytes_per_second / TERA:.2f}")
        power = (f"{row.power_kw:.2f}", f"{row.server_power_kw:.2f}")
        shown = [f"{peak / TERA:,.0f}" if peak else DASH for peak in peaks]
        _add(table, row.name, *shown, *memory, *power, str(row.launch), row.source)
    return table


def models_table(catalogue: Catalogue) -> Table:
    """The models, by the names one writes; fine-tuning may start from those with open weights."""
    headers = ("Name", "Parameters", "Active", "Tokens", "Weights", "Release", "Source")
    table = _table("Models", headers, "lrrrlll")
    for row in catalogue.models:
        active = scaled(row.n_active_parameters) if row.n_active_parameters < row.n_parameters else DASH
        weights = "open" if row.open_weights else "closed"
        size = (scaled(row.n_parameters), active, scaled(row.n_training_tokens))
        _add(table, row.name, *size, weights, str(row.release), row.source)
    return table


def runs_table(catalogue: Catalogue) -> Table:
    """Published training runs; utilisation is worked out from the GPU-hours."""
    headers = ("Model", "GPU-hours", "Kind", "GPUs", "6ND / peak", "MFU as published", "Source")
    table = _table("Training runs", headers, "lrlrrrl")
    for row in catalogue.runs:
        gpus = DASH if row.gpus is None else f"{row.gpus:,}"
        used = DASH if row.utilization is None else percent(row.utilization, 1)
        told = DASH if row.mfu_published is None else " to ".join(percent(mfu, 1) for mfu in row.mfu_published)
        _add(table, row.model, f"{row.gpu_hours:,.0f}", row.accelerator, gpus, used, told, row.source)
    return table


def prices_table(catalogue: Catalogue) -> Table:
    """Published prices, dated."""
    headers = ("Kind of GPU", "What is paid for", "Vendor", "Product", "Day", "Price", "Unit", "Source")
    table = _table("Published prices: lists of their day, not what a lab need pay", headers, "lllllrll")
    for row in catalogue.prices:
        price = f"{row.value:,.2f}" if round(row.value, 2) == row.value else f"{row.value:.4f}"
        product = (row.vendor or DASH, row.product or DASH, str(row.day))
        _add(table, row.accelerator or DASH, row.kind.value, *product, price, row.unit.value, row.source)
    return table


def techniques_table(catalogue: Catalogue) -> Table:
    """What techniques are reported to do, by what they trade."""
    headers = ("Technique", "Training OOM", "Inference OOM", "Weights x", "Speed x", "Price x", "Effect", "Source")
    table = _table("Techniques: how far each is reported to go", headers, "lrrrrrll")
    for group, rows in groupby(catalogue.techniques, lambda row: row.group):
        table.add_row(Text(group, style="bold"))
        for row in rows:
            spans = (row.training_span_oom, row.inference_span_oom)
            factors = (row.weight_memory_factor, row.highest_speedup, row.price_factor)
            figures = [f"{value:.4g}" if math.isfinite(value) else DASH for value in (*spans, *factors)]
            _add(table, f"  {row.name}", *figures, row.effect, row.source)
    return table


SECTION_TABLES: dict[str, Callable[[Catalogue], Table]] = {
    "hardware": hardware_table,
    "models": models_table,
    "runs": runs_table,
    "prices": prices_table,
    "techniques": techniques_table,
}
"""By the word one writes after `labspend catalog`."""


def overview_table(catalogue: Catalogue) -> Table:
    """How many rows each section has, and the command that lists them."""
    table = _table("The catalogue", ("Rows", "What", "Listed by"), "rll")
    for count, what, section in (
        (len(catalogue.hardware), "kinds of GPU: peaks, memory, power, launch", "hardware"),
        (len(catalogue.models), "published models: parameters, tokens, weights", "models"),
        (len(catalogue.runs), "published training runs: GPU-hours, utilisation", "runs"),
        (len(catalogue.prices), "published prices of GPUs, power and floor space, dated", "prices"),
        (len(catalogue.techniques), "techniques and what they are reported to do", "techniques"),
    ):
        _add(table, str(count), what, f"labspend catalog {section}")
    return table


def _table(title: str, headers: Iterable[str], sides: str) -> Table:
    table = plain_table(title, "", Table)
    for header, side in zip(headers, sides, strict=True):
        table.add_column(header, justify="right" if side == "r" else "left", overflow="fold")
    return table


def _add(table: Table, *cells: str) -> None:
    """A row of plain text: what a user wrote is no markup."""
    table.add_row(*(Text(cell) for cell in cells))
