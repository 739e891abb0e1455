from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from small_study import BUY, CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab, with_costs

from simulator.show import plots
from simulator.show.money import money
from simulator.show.plots import (
    PICTURES,
    cost_by_stage,
    cumulative_cost,
    demand,
    difference,
    fleet,
    pictures_of,
    save_figures,
    save_plots,
    spend_by_account,
    spend_by_use,
)
from simulator.show.style import apart, as_dates, policy_look
from simulator.show.table import verdict
from simulator.show.use_plots import UNSERVED
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare

Plot = Callable[[Comparison], Axes]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), (RENT, OVERTRAIN, BUY, CAPPED), replications=4)


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("plot", [cumulative_cost, difference, spend_by_account, fleet, demand, cost_by_stage])
def test_every_picture_has_title_and_provenance(comparison: Comparison, plot: Plot) -> None:
    ax = plot(comparison)
    assert ax.get_title(loc="left")
    assert "4 replications, seed 1" in ax.get_xlabel()


@pytest.mark.parametrize("plot", [cumulative_cost, difference, spend_by_account, fleet, demand, cost_by_stage])
def test_every_picture_draws_where_it_is_told(comparison: Comparison, plot: Callable[..., Axes]) -> None:
    ax = Figure().add_subplot()
    assert plot(comparison, ax) is ax


def test_cumulative_cost_has_a_fan_and_a_ring_per_policy(comparison: Comparison) -> None:
    ax = cumulative_cost(comparison)
    lines = {str(line.get_label()): line for line in ax.lines if not str(line.get_label()).startswith("_")}
    assert list(lines) == ["rent", "overtrain", "buy", "capped"]
    for number, line in enumerate(lines.values()):
        median = comparison.days.cumulative_cash_quantiles_usd[2, number]
        assert np.allclose(np.asarray(line.get_ydata(), dtype=float), median)
    assert len([found for found in ax.collections if isinstance(found, PolyCollection)]) == 2 * 4
    rings = [float(np.asarray(line.get_ydata())[0]) for line in ax.lines if line.get_marker() == "o"]
    cost = np.median(comparison.by_policy("cumulative_cost_usd"), axis=1)
    assert rings == pytest.approx(cost)
    # The figure beside a name is the cost that the verdict ranks by, not the money spent so far.
    assert {text.get_text() for text in ax.texts} == {
        f"{name}  {money(float(usd))}" for name, usd in zip(comparison.policy_names, cost, strict=True)
    }
    assert ax.get_xlim() == tuple(as_dates(comparison.dates[[0, -1]]))
    assert ax.get_title(loc="left").replace("\n", " ") == verdict(comparison).rstrip(".")


def test_labels_at_line_ends_do_not_touch(comparison: Comparison) -> None:
    ax = cumulative_cost(comparison)
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(text) for text in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == 4
    for below, above in pairwise(boxes):
        assert below.y1 <= above.y0 + 1.0
    assert max(box.x1 for box in boxes) <= figure.bbox.x1


def test_spend_stacks_up_to_what_was_spent(comparison: Comparison) -> None:
    ax = spend_by_account(comparison, policy="buy")
    bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    spent = comparison.by_policy("cost_before_inventory_usd")[2].mean()
    assert sum(bar.get_height() for bar in bars) == pytest.approx(spent, rel=1e-5)
    assert ax.get_ylabel() == "USD per month"
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][-1] == "GPUs bought, less resale"


def test_cost_by_use_stacks_up_to_the_cost() -> None:
    known = compare(growing_lab(), (RENT, BUY), replications=2)
    ax = spend_by_use(known, policy="buy")
    bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    cost = known.by_policy("cumulative_cost_usd")[1].mean()
    assert sum(bar.get_height() for bar in bars) == pytest.approx(cost, rel=1e-5)
    assert ax.get_title(loc="left") == "buy: economic cost by use"


def test_need_that_is_not_met_is_hatched(comparison: Comparison) -> None:
    def area(policy: str) -> list[PolyCollection]:
        found = [part for part in fleet(comparison, policy=policy).collections if isinstance(part, PolyCollection)]
        return [part for part in found if part.get_label() == UNSERVED]

    (lacking,) = area("capped")
    need = (comparison.days.used_gpus + comparison.days.unserved_gpus)[3, : 300 // 7 * 7].reshape(-1, 7).mean(
        axis=1
    ) / 4
    assert lacking.get_hatch()
    assert float(lacking.get_paths()[0].vertices[:, 1].max()) == pytest.approx(need.max())  # type: ignore[index, union-attr]
    assert not area("rent")


def test_diamonds_stand_on_break_even_dates(comparison: Comparison) -> None:
    ax = cumulative_cost(comparison)
    dates = [comparison.break_even_date(number) for number in range(1, 4)]
    expected = [day for day in dates if day is not None]
    found = [float(np.asarray(line.get_xdata())[0]) for line in ax.lines if line.get_marker() == "D"]
    assert expected
    assert found == as_dates(np.array(expected, dtype="datetime64[D]")).tolist()
    assert all(str(day) in ax.get_xlabel() for day in expected)


def test_fleet_stacks_the_gpus_of_every_tenure(comparison: Comparison) -> None:
    ax = fleet(comparison, policy="buy")
    parts = [part for part in ax.collections if isinstance(part, PolyCollection)]
    assert [part.get_label() for part in parts] == ["owned", "reserved", "on-demand", "spot"]
    top = max(float(part.get_paths()[0].vertices[:, 1].max()) for part in parts)  # type: ignore[index, union-attr]
    gpus = comparison.days.gpus[2].sum(axis=0) / 4
    assert top == pytest.approx(gpus[: 300 // 7 * 7].reshape(-1, 7).mean(axis=1).max(), rel=1e-6)


def test_unserved_demand_is_marked(comparison: Comparison) -> None:
    ax = demand(comparison)
    assert ax.get_title(loc="left") == "Demand, and what capped leaves unserved"
    unserved = 100.0 * (1.0 - comparison.by_policy("served_share")[3].mean())
    labels = [str(found.get_label()) for found in ax.collections]
    assert f"unserved by capped, {unserved:.1f}\u00a0% of all tokens" in labels
    everyone = demand(compare(growing_lab(120), (RENT, OVERTRAIN), replications=2))
    assert everyone.get_title(loc="left") == "Demand: every policy serves what is asked"


def test_difference_shows_mean_and_interval(comparison: Comparison) -> None:
    ax = difference(comparison)
    rows = comparison.summary_records()[1:]
    assert [label.get_text() for label in ax.get_yticklabels()] == [row.policy for row in rows]
    assert texts(ax)[2].endswith("not comparable")
    assert "not comparable" not in texts(ax)[0]
    for row, container in zip(rows, ax.containers, strict=True):
        dot, _, (bar,) = container
        assert dot.get_xdata()[0] == row.difference_percent
        interval = [row.difference_low_percent, row.difference_high_percent]
        assert bar.get_segments()[0][:, 0] == pytest.approx(interval)


def test_pictures_are_written_and_stable(tmp_path: Path) -> None:
    found = compare(growing_lab(), (RENT, CAPPED), replications=2)
    one = save_plots(found, tmp_path)
    names = [picture.name for picture in PICTURES]
    assert [path.name for path in one] == [f"{name}.{kind}" for name in names for kind in ("png", "svg")]
    assert min(path.stat().st_size for path in one) > 10_000
    again = tmp_path / "again"
    again.mkdir()
    for path in save_figures([(picture.name, picture.draw(found)) for picture in PICTURES[::3]], again):
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_a_very_short_study_of_one_policy_can_be_drawn(tmp_path: Path) -> None:
    written = save_plots(compare(growing_lab(20), (RENT,), replications=1), tmp_path)
    assert all(path.is_file() for path in written)
    lacking = {"difference", "regret", "recipe", "training_share"}  # one policy, and no release decided yet
    assert {path.stem for path in written} == {picture.name for picture in PICTURES} - lacking


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("days", [1, 2, 9])
def test_a_study_of_days_shows_all_it_has(days: int) -> None:
    short = compare(growing_lab(days), (RENT, RESERVE), replications=2)
    for picture in pictures_of(short):
        picture.draw(short).draw_without_rendering()
    ax = cumulative_cost(short)
    rings = [float(np.asarray(line.get_ydata())[0]) for line in ax.lines if line.get_marker() == "o"]
    low, high = ax.get_ylim()
    assert low <= min(rings) < max(rings) < high
    for plot in (fleet, demand):
        areas = [part for part in plot(short).collections if isinstance(part, PolyCollection)]
        assert max(np.ptp(area.get_paths()[0].vertices[:, 0]) for area in areas) == days  # type: ignore[index, union-attr]


def far_apart(comparison: Comparison) -> Comparison:
    cost = comparison.by_policy("cumulative_cost_usd")[0]
    return with_costs(comparison, {"overtrain": cost / 10.0, "buy": cost / 12.0})


def test_policies_far_apart_are_drawn_on_a_log_axis(comparison: Comparison) -> None:
    ax = cumulative_cost(far_apart(comparison))
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "money spent since the start [USD, log scale]"
    assert 0.0 < ax.get_ylim()[0] <= comparison.days.cumulative_cash_quantiles_usd[0, :, 15].min()
    assert cumulative_cost(comparison).get_yscale() == "linear"
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    ticks = [label.get_text() for label in ax.get_yticklabels()]
    assert all(tick.startswith("$") for tick in ticks)
    boxes = sorted((Text.get_window_extent(text) for text in ax.texts), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1.0 for below, above in pairwise(boxes))


def test_differences_far_apart_are_ratios_and_name_the_cheapest(comparison: Comparison) -> None:
    ax = difference(far_apart(comparison))
    assert ax.get_xscale() == "log"
    dots = [float(np.asarray(container[0].get_xdata())[0]) for container in ax.containers]
    assert dots[:2] == pytest.approx([1 / 10, 1 / 12])
    assert texts(ax)[0].endswith("(−90\u00a0%); 1.20 [1.20, 1.20] x buy")
    assert texts(ax)[1].endswith("(−92\u00a0%)")
    formatter = ax.xaxis.get_major_formatter()
    assert [formatter(ratio, 0) for ratio in (0.001, 0.05, 1.0, 5.0)] == [
        "−99.9\u00a0%", "−95\u00a0%", "0\u00a0%", "+400\u00a0%",
    ]  # fmt: skip


def test_pyplot_stays_out() -> None:
    assert plots.__name__ in sys.modules
    assert "matplotlib.pyplot" not in sys.modules


def test_policies_differ_by_more_than_colour() -> None:
    looks = [policy_look(number) for number in range(13)]
    assert len({(look.colour, look.dash) for look in looks}) == 13


def test_crowded_labels_stay_in_order_and_below_the_top() -> None:
    placed = apart([0.98, 0.99, 1.0, 0.2], 0.05)
    assert placed.max() <= 1.0
    assert np.all(np.diff(np.sort(placed)) >= 0.05 - 1e-12)
    assert placed.argsort().tolist() == [3, 0, 1, 2]


def test_bars_of_stages_reach_as_far_as_the_cost_goes(comparison: Comparison) -> None:
    ax = cost_by_stage(comparison)
    bars = [found for found in ax.patches if isinstance(found, Rectangle)]
    for number, usd in enumerate(comparison.stage_usd):
        own = [bar for bar in bars if abs(bar.get_y() + bar.get_height() / 2 - number) < 0.01]
        assert sum(bar.get_width() for bar in own) == pytest.approx(usd.sum())
        assert max(bar.get_x() + bar.get_width() for bar in own) == pytest.approx(usd[usd > 0.0].sum())
    assert texts(ax) == [money(float(usd)) for usd in comparison.stage_usd.sum(axis=1)]


def test_where_costs_are_far_apart_each_bar_is_a_whole(comparison: Comparison) -> None:
    rows = tuple(
        replace(
            row,
            stage_usd=row.stage_usd * 100.0,
            summary=replace(row.summary, cumulative_cost_usd=row.summary.cumulative_cost_usd * 100.0),
        )
        if row.policy == "rent"
        else row
        for row in comparison.rows
    )
    apart = replace(comparison, rows=rows)
    ax = cost_by_stage(apart)
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)]
    left_over = apart.stage_usd.clip(max=0.0).sum(axis=1) / apart.stage_usd.sum(axis=1)
    assert max(ends) == pytest.approx(1.0 - left_over.min())
