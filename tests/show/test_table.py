from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console
from small_study import BUY, CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab

from simulator.show.money import money, money_tick, scaled
from simulator.show.table import comparison_table, verdict
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), (RENT, OVERTRAIN, RESERVE, BUY, CAPPED), replications=4)


def printed(comparison: Comparison, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(comparison_table(comparison))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def line(lines: list[str], name: str) -> str:
    return next(found for found in lines if found.startswith(f"{name} "))


@pytest.mark.parametrize("width", [80, 100, 120, 500])
def test_no_figure_is_cut_at_any_width(comparison: Comparison, width: int) -> None:
    lines = printed(comparison, width)
    assert max(map(len, lines)) <= min(width, 121)
    assert not any("…" in found for found in lines)
    for row in comparison.summary_records():
        shown = line(lines, row.policy)
        assert money(row.cumulative_cost_usd) in shown
        assert f"{row.served_share * 100:.1f}\u00a0%" in shown


def test_at_120_columns_everything_is_shown(comparison: Comparison) -> None:
    buy = comparison.summary_records()[3]
    shown = line(printed(comparison, 120), "buy")
    for figure in (money(buy.present_value_usd), money(buy.cvar95_usd), money(buy.regret_usd)):
        assert figure in shown
    assert shown.rstrip().endswith(scaled(buy.usd_per_million_tokens))


def test_the_baseline_and_the_incomparable_are_named(comparison: Comparison) -> None:
    lines = printed(comparison, 120)
    assert "baseline" in line(lines, "rent")
    assert "not comparable" in line(lines, "capped")
    assert any(found.startswith("Not comparable: capped serves ") for found in lines)
    assert any("4 worlds, seed 1" in found for found in lines)


def test_the_verdict_names_the_cheapest_and_how_sure_that_is(comparison: Comparison) -> None:
    rows = [row for row in comparison.summary_records()[1:] if row.comparable]
    best, second = sorted(rows, key=lambda row: row.cumulative_cost_usd)[:2]
    low, high = sorted((-best.difference_low_percent, -best.difference_high_percent))
    said = verdict(comparison)
    assert said.startswith(
        f"{best.policy} costs {-best.difference_percent:.0f} % less than rent [{low:.0f}, {high:.0f}]; "
        f"service equal; cheapest in {best.chance_cheapest * 4:.0f} of 4 worlds."
    )
    dearer = 100.0 * (second.cumulative_cost_usd / best.cumulative_cost_usd - 1.0)
    assert f" Next is {second.policy}, {dearer:.{0 if dearer >= 10.0 else 1}f} % more [" in said


def test_the_verdict_never_calls_the_incomparable_cheaper() -> None:
    alone = compare(growing_lab(120), (RENT, CAPPED), replications=2)
    assert verdict(alone) == "Nothing to compare rent with: none gives equal quality and service."
    assert "cheapest" not in verdict(alone)


def test_a_tie_and_a_single_policy_are_said_as_they_are() -> None:
    tie = compare(growing_lab(120), (RENT, replace(RENT, name="twin")), replications=2)
    assert verdict(tie) == "Nothing costs less than rent: twin costs the same."
    assert verdict(compare(growing_lab(120), (RENT,), replications=1)) == (
        "Nothing to compare rent with: it is the only policy."
    )


def test_one_world_has_no_interval_and_says_so() -> None:
    one = compare(growing_lab(), (RENT, OVERTRAIN), replications=1)
    assert verdict(one).endswith("service equal. One world gives no interval.")
    assert "±–" in line(printed(one, 120), "rent")
    assert "nan" not in "".join(printed(one, 120))


def test_a_dearer_policy_is_said_to_be_dearer(comparison: Comparison) -> None:
    dearer = compare(growing_lab(), (OVERTRAIN, RENT), replications=4)
    assert verdict(dearer).startswith("Nothing costs less than overtrain: the nearest, rent, costs ")


@pytest.mark.parametrize(
    ("usd", "said"),
    [(1.234e9, "$1.23B"), (-1e7, "−$10.0M"), (999.6, "$1.00k"), (0.05, "$0.0500"), (0.0, "$0"), (math.nan, "–")],
)
def test_money_is_said_as_people_say_it(usd: float, said: str) -> None:
    assert money(usd) == said


@pytest.mark.parametrize(("usd", "said"), [(2.5e12, "$2.5T"), (-2e5, "−$200k"), (0.0, "$0"), (999_999.9, "$1M")])
def test_ticks_have_no_idle_digits(usd: float, said: str) -> None:
    assert money_tick(usd) == said
