"""The table of laws as it is printed."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console
from rich.table import Table

from simulator.laws.precision import FP8
from simulator.show.laws_table import laws_table, said
from simulator.study.hand_check import HandCheck, Line, Terms, hand_check, hardware_named, subject


@pytest.fixture(scope="module")
def check() -> HandCheck:
    return hand_check(subject("Chinchilla"), hardware_named("H100"), Terms(FP8, usd_per_gpu_hour=2.0))


def printed(table: Table, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 120, 500])
def test_nothing_is_cut_at_any_width(check: HandCheck, width: int) -> None:
    shown = printed(laws_table(check), width)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    for line in check.lines:
        assert line.label in shown
        assert said(line) in shown


def test_law_source_and_assumptions_are_beside_the_figures(check: HandCheck) -> None:
    shown = printed(laws_table(check), 500)
    row = next(found for found in shown.splitlines() if "Loss, fit BESI" in found)
    assert row.startswith("> Loss, fit BESI")
    assert "1.97388 nats" in row
    assert "scaling.loss: Besiroglu et al. 2024" in row
    assert shown.startswith("Chinchilla (70.0B parameters, 1.40T tokens) on H100, served in fp8")
    for told in check.assumptions:
        assert told in " ".join(shown.split())


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (5.88e23, "FLOP", "5.880e23 FLOP"),
        (989e12, "FLOP/s", "9.890e14 FLOP/s"),
        (1.973881, "nats", "1.97388 nats"),
        (141.1e9, "bytes", "141.1 GB"),
        (327_680.0, "bytes", "327,680 bytes"),
        (0.04177, "s", "41.77 ms"),
        (13_800_442.3, "USD", "$13,800,442"),
        (0.26957, "USD", "$0.2696"),
        (0.95432, "share", "95.43\u00a0%"),
        (7.302e10, "parameters", "73.02B parameters"),
        (24.0, "GPUs", "24 GPUs"),
        (248.81, "sequences", "248.8 sequences"),
        (2978.2, "/ GPU s", "2,978 / GPU s"),
        (20.0, "", "20"),
        (math.nan, "GPUs", "–"),
        (math.inf, "FLOP", "–"),
    ],
)
def test_figures_have_the_digits_it_takes_to_check_them(value: float, unit: str, words: str) -> None:
    assert said(Line("", "", "", value, unit, "", "")) == words
