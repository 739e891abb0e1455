"""The pictures of decisions and of the world, by their artists; those of money and use are in test_plots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from small_study import BUY, CAPPED, OVERTRAIN, RENT, growing_lab, with_costs

from simulator.lab.forecast import PerfectForesight
from simulator.lab.recipe import Erdil
from simulator.show.forecast_plot import forecasts
from simulator.show.plots import PICTURES, pictures_of
from simulator.show.price_plots import price_paths
from simulator.show.recipe_plots import lever, precision, recipe, training_share
from simulator.show.regret_plot import regret
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.price_bands import price_bands

ERDIL = replace(RENT, name="erdil 3:1", recipe=Erdil(alpha=3.0, beta=1.0))
KNOWING = replace(BUY, name="knowing", forecast=PerfectForesight())


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), (RENT, OVERTRAIN, CAPPED, ERDIL, KNOWING), replications=3)


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_the_list_of_pictures_is_one_a_report_can_go_through(comparison: Comparison) -> None:
    assert len({picture.name for picture in PICTURES}) == len(PICTURES)
    assert pictures_of(comparison) == PICTURES
    for picture in PICTURES:
        alt = picture.alt(comparison)
        assert alt[0].isupper()
        assert alt.endswith(".")
        assert "  " not in alt
        assert picture.title


@pytest.mark.parametrize("plot", [forecasts, regret, training_share])
def test_every_picture_draws_where_it_is_told(comparison: Comparison, plot: Callable[..., Axes]) -> None:
    ax = Figure().add_subplot()
    assert plot(comparison, ax) is ax
    assert "seed 1" in ax.get_xlabel()


@pytest.mark.parametrize("plot", [recipe, price_paths])
def test_no_words_of_a_picture_of_panels_are_cut_off(comparison: Comparison, plot: Callable[..., Figure]) -> None:
    figure = plot(comparison)
    figure.draw_without_rendering()
    words = [*figure.texts, *figure.legends[0].get_texts()]
    for ax in figure.axes:
        words += [ax.yaxis.label, *ax.get_xticklabels(), *(text for text in ax.texts)]
    boxes = [text.get_window_extent() for text in words if text.get_text()]
    assert min(min(box.x0, box.y0) for box in boxes) >= 0.0
    assert max(box.x1 for box in boxes) <= figure.bbox.x1
    assert max(box.y1 for box in boxes) <= figure.bbox.y1


def test_what_was_known_lies_on_what_came(comparison: Comparison) -> None:
    ax = forecasts(comparison, policy="knowing")
    assert "knowing expected it (forecast: perfect_foresight)" in ax.get_title(loc="left")
    assert "replication 0 of seed 1" in ax.get_xlabel()
    lines = {str(line.get_label()): line for line in ax.lines}
    asked = np.asarray(lines["asked"].get_ydata(), dtype=float)
    mean = np.asarray(lines["expected, mean"].get_ydata(), dtype=float)
    weeks = mean[: mean.size // 7 * 7].reshape(-1, 7).mean(axis=1)
    np.testing.assert_allclose(weeks, asked[: weeks.size])


def test_bands_hold_nine_of_ten_by_their_own_spread(comparison: Comparison) -> None:
    """Of a lognormal with the forecast's mean and sd: the edges are mean x exp(-sd^2/2 -+ 1.645 sd)."""
    ax = forecasts(comparison, policy="rent")
    lines = {str(line.get_label()): line for line in ax.lines}
    mean = np.asarray(lines["expected, mean"].get_ydata(), dtype=float)
    band = next(found for found in ax.collections if found.get_label() == "expected, 90 %")
    edges = band.get_paths()[0].vertices  # type: ignore[index]
    first = np.asarray(lines["expected, mean"].get_xdata(), dtype=float)[0]
    low, high = np.unique(edges[edges[:, 0] == first][:, 1])[[0, -1]]  # type: ignore[call-overload, index]
    sd = np.log(high / low) / (2 * 1.6448536)
    assert sd > 0.0
    assert np.sqrt(low * high) * np.exp(sd**2 / 2) == pytest.approx(mean[0])


def test_a_mark_is_the_median_of_worlds(comparison: Comparison) -> None:
    table = comparison.releases_table
    ax = lever(comparison, table, "n_parameters")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["spring", "summer"]
    for name, container in zip(comparison.policy_names, ax.containers, strict=True):
        own = table[table["policy"] == name]
        expected = [np.median(own[own["release"] == release]["n_parameters"]) for release in ("spring", "summer")]
        assert container[0].get_ydata().tolist() == expected  # type: ignore[index]


def test_precisions_are_written_out_with_how_many_worlds_chose_them(comparison: Comparison) -> None:
    table = comparison.releases_table
    table = table.assign(
        precision=["int8" if (row.policy, row.replication) == ("rent", 0) else "bf16" for row in table.itertuples()]
    )
    words = texts(precision(comparison, table))
    assert words.count("bf16\n67\u00a0%") == 2
    assert words.count("bf16") == 2 * 4


def test_shares_stand_beside_erdils(comparison: Comparison) -> None:
    ax = training_share(comparison)
    lines = {str(line.get_label()): float(np.asarray(line.get_ydata())[0]) for line in ax.lines}
    assert lines["a / (a + b), Erdil 1:1: 50\u00a0%"] == 0.5
    assert lines["a / (a + b) of erdil 3:1: 75\u00a0%"] == 0.75
    own = comparison.releases_table.query("policy == 'overtrain' and release == 'spring'")["training_share"]
    assert ax.containers[1][0].get_ydata()[0] == np.median(own)  # type: ignore[index]


def test_regret_by_hand(comparison: Comparison) -> None:
    """Best is rent at 10 in world 0, overtrain at 20 in worlds 1 and 2; capped serves less and is left out."""
    found = with_costs(
        comparison, {"rent": [10, 30, 20.5], "overtrain": [15, 20, 20], "erdil 3:1": [40] * 3, "knowing": [400] * 3}
    )
    ax = regret(found)
    rows = [label.get_text() for label in ax.get_yticklabels()]
    cells = np.array(texts(ax)).reshape(len(rows), -1).tolist()
    assert rows == ["rent", "overtrain", "erdil 3:1", "knowing"]
    assert [label.get_text() for label in ax.get_xticklabels()][:2] == [
        "rent best:\n33\u00a0% of worlds", "overtrain best:\n67\u00a0% of worlds",
    ]  # fmt: skip
    assert cells[0] == ["0.0", "26.2", "21.0", "50.0"]
    assert cells[1] == ["50.0", "0.0", "10.0", "50.0"]
    assert cells[3] == ["3,900", "1,900", "2,300", "3,900"]
    assert "Left out, as quality or service differs: capped." in ax.get_xlabel().replace("\n", " ")


def test_prices_are_medians_in_their_units(comparison: Comparison) -> None:
    panels = price_paths(comparison).axes
    assert [ax.get_title(loc="left") for ax in panels] == ["On demand", "Spot", "Purchase"]
    assert [ax.get_ylabel() for ax in panels] == ["USD per GPU-hour", "USD per GPU-hour", "USD per GPU"]
    bands = price_bands(comparison.scenario, 1, 3)
    for ax, usd in zip(
        panels,
        (bands.on_demand_usd_per_gpu_hour, bands.spot_usd_per_gpu_hour, bands.purchase_usd_per_gpu),
        strict=True,
    ):
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), usd[2, 0])
        assert ax.get_ylim()[0] == 0.0
