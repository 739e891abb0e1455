from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text
from small_study import BUY, CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab, with_costs

from simulator.lab.accounts import Account
from simulator.show.money import money, money_tick, scaled
from simulator.show.stage_table import stage_table
from simulator.show.table import comparison_table, difference_percent, verdict
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), (RENT, OVERTRAIN, RESERVE, BUY, CAPPED), replications=4)


def printed(comparison: Comparison, width: int, table: Callable[[Comparison], Table] = comparison_table) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table(comparison))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def line(lines: list[str], name: str) -> str:
    return next(found for found in lines if found.startswith(f"{name} "))


@pytest.mark.parametrize("width", [40, 50, 60, 70, 74, 75, 80, 100, 120, 500])
def test_no_figure_is_cut_at_any_width(comparison: Comparison, width: int) -> None:
    lines = [found.rstrip() for found in printed(comparison, width)]
    assert max(map(len, lines)) <= min(width, 121)
    assert not any("…" in found for found in lines)
    for row in comparison.summary_records():
        shown = block(lines, row.policy) if row.policy in lines else line(lines, row.policy)
        assert money(row.cumulative_cost_usd) in shown
        assert f"{row.served_share * 100:.1f}\u00a0%" in shown
        if row.comparable and row.policy != "rent":
            assert difference_percent(row) in shown
            assert ", " in shown, "with its interval"


def block(lines: list[str], name: str) -> str:
    """What stands under a policy's name where there is no room for a row."""
    first = lines.index(name)
    return "\n".join(lines[first : lines.index("", first)])


def test_where_there_is_no_room_for_rows_every_figure_has_a_line(comparison: Comparison) -> None:
    buy = comparison.summary_records()[3]
    lines = [found.rstrip() for found in printed(comparison, 40)]
    shown = block(lines, "buy").splitlines()
    assert len(shown) == 12
    assert shown[1].split("  ")[0] == " Cost ± 95 %"
    assert shown[6] == f" Mean regret         {money(buy.regret_usd)}"


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
    assert verdict(tie) == "twin and rent cost the same: there is no difference worth naming."
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


def test_the_verdict_decides_on_the_interval_it_prints() -> None:
    """In USD large worlds drown the small ones; in percent they do not, and percent is what is printed."""
    study = compare(growing_lab(120), (RENT, OVERTRAIN), replications=4)
    rent = (1.0, 10.0, 100.0, 1000.0)
    steady = with_costs(study, {"rent": rent, "overtrain": [0.09 * usd for usd in rent]})
    row = steady.summary_records()[1]
    assert row.difference_low_usd < 0.0 < row.difference_high_usd
    assert verdict(steady).startswith("overtrain costs 91 % less than rent [91, 91]; service equal; cheapest in 4 of 4")
    assert "green" in coloured(steady)


def test_an_interval_that_holds_zero_decides_nothing() -> None:
    study = compare(growing_lab(120), (RENT, OVERTRAIN), replications=4)
    costs = {"rent": (12.0, 40.0, 70.0, 100.0), "overtrain": (2.0, 30.1, 60.0, 90.0)}
    found = with_costs(study, costs)
    row = found.summary_records()[1]
    assert row.difference_high_usd < 0.0, "in USD it is decided"
    assert row.difference_low_percent < 0.0 < row.difference_high_percent
    assert "cannot be told apart" in verdict(found)
    assert "green" not in coloured(found)
    assert "red" not in coloured(found)


def coloured(comparison: Comparison) -> str:
    cells = [cell for column in comparison_table(comparison).columns for cell in column.cells]
    return " ".join(str(cell.style) for cell in cells if isinstance(cell, Text))


def test_pennies_win_nothing() -> None:
    study = compare(growing_lab(120), (RENT, OVERTRAIN, BUY), replications=4)
    rent = (1e6, 2e6, 3e6, 4e6)
    costs = {"rent": rent, "overtrain": [usd - 50.0 for usd in rent], "buy": [usd + 1.0 for usd in rent]}
    found = with_costs(study, costs)
    assert verdict(found) == "overtrain and rent cost the same: there is no difference worth naming."
    assert [row.chance_cheapest for row in found.summary_records()] == pytest.approx([1 / 3] * 3)
    assert "0.01 % or more" in " ".join(printed(found, 120))
    assert "green" not in coloured(found)


def test_a_close_runner_up_is_not_said_to_be_beaten() -> None:
    study = compare(growing_lab(120), (RENT, OVERTRAIN, BUY), replications=4)
    costs = {"rent": (9.0, 9.1, 9.0, 9.1), "overtrain": (4.0, 5.0, 4.0, 5.0), "buy": (5.0, 4.1, 5.0, 4.1)}
    assert verdict(with_costs(study, costs)).endswith(": the two cannot be told apart.")


def test_models_trained_far_beyond_the_law_are_told_of(comparison: Comparison) -> None:
    def trained(tokens_per_parameter: float) -> str:
        releases = [replace(comparison.releases[0], training_tokens_per_parameter=tokens_per_parameter)]
        return " ".join(" ".join(printed(replace(comparison, releases=tuple(releases)), 120)).split())

    assert "training tokens per parameter" not in trained(990.0)
    assert (
        "Up to 7,100 training tokens per parameter: far beyond the runs the loss law was fitted on; "
        "what overtraining saves is likely overstated." in trained(7123.0)
    )


def test_used_is_said_to_be_allocated(comparison: Comparison) -> None:
    lines = printed(comparison, 120)
    assert not any("busy" in found for found in lines)
    assert "GPUs used: GPU-hours with work allocated to them / GPU-hours held or rented." in " ".join(lines)


@pytest.mark.parametrize(
    ("usd", "said"),
    [(1.234e9, "$1.23B"), (-1e7, "−$10.0M"), (999.6, "$1.00k"), (0.05, "$0.0500"), (0.0, "$0"), (math.nan, "–")],
)
def test_money_is_said_as_people_say_it(usd: float, said: str) -> None:
    assert money(usd) == said


@pytest.mark.parametrize(("usd", "said"), [(2.5e12, "$2.5T"), (-2e5, "−$200k"), (0.0, "$0"), (999_999.9, "$1M")])
def test_ticks_have_no_idle_digits(usd: float, said: str) -> None:
    assert money_tick(usd) == said


@pytest.mark.parametrize("width", [40, 60, 120])
def test_all_stages_are_shown_at_any_width(comparison: Comparison, width: int) -> None:
    lines = [found.rstrip() for found in printed(comparison, width, stage_table)]
    assert max(map(len, lines)) <= width
    closing = comparison.by_policy(f"cash_{Account.CLOSING_FLEET.name.lower()}_usd").mean(axis=1)
    for name, usd, left in zip(comparison.policy_names, comparison.stage_usd, closing, strict=True):
        shown = block(lines, name) if name in lines else line(lines, name)
        told = [money(amount) for amount in (*usd.tolist(), float(usd.sum()), abs(float(left)))]
        assert [cell for cell in shown.replace(name, "", 1).split() if cell[:1] in "$−"] == told
    assert closing[comparison.policy_names.index("buy")] < 0.0
