"""The catalogue as it is printed: every row, every source, nothing cut."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table

from simulator.show.catalogue_tables import SECTION_TABLES, overview_table
from simulator.world.catalogue import Catalogue
from simulator.world.models import model_named

KNOWN = Catalogue()


def printed(table: Table, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 500])
@pytest.mark.parametrize("section", SECTION_TABLES)
def test_nothing_is_cut_at_any_width(section: str, width: int) -> None:
    shown = printed(SECTION_TABLES[section](KNOWN), width)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("section", SECTION_TABLES)
def test_every_row_is_there_with_its_source(section: str) -> None:
    lines = printed(SECTION_TABLES[section](KNOWN), 600).splitlines()
    for row in getattr(KNOWN, section):
        name = getattr(row, "name", "") or getattr(row, "model", "") or getattr(row, "accelerator", "")
        assert any(line.strip().startswith(name) and row.source in line for line in lines), row


def test_figures_are_in_the_units_of_the_headers() -> None:
    hardware = printed(SECTION_TABLES["hardware"](KNOWN), 500)
    row = next(line for line in hardware.splitlines() if line.startswith("B200"))
    assert row.split()[:9] == ["B200", "2,250", "4,500", "4,500", "9,000", "180", "8.00", "1.00", "1.82"]
    models = printed(SECTION_TABLES["models"](KNOWN), 500)
    row = next(line for line in models.splitlines() if line.startswith("DeepSeek-V3"))
    assert row.split()[:6] == ["DeepSeek-V3", "671B", "37.0B", "14.8T", "open", "2024-12-24"]


def test_the_overview_counts_what_the_sections_list() -> None:
    shown = printed(overview_table(KNOWN), 120)
    for section in SECTION_TABLES:
        line = next(found for found in shown.splitlines() if f"labspend catalog {section}" in found)
        assert int(line.split()[0]) == len(getattr(KNOWN, section))


def test_what_a_user_wrote_is_no_markup() -> None:
    odd = replace(model_named("Chinchilla"), name="[red]mine[/red]", source="[bold]")
    shown = printed(SECTION_TABLES["models"](replace(KNOWN, models=(odd,))), 200)
    assert "[red]mine[/red]" in shown
    assert "[bold]" in shown
