"""Pictures of renting and buying: what is unsure looks so, labels cross no line, dates fit any horizon."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from small_study import BUY, growing_lab

from simulator.lab.altered_forecast import Certain
from simulator.lab.forecast import Trend
from simulator.show.rent_or_buy_plots import heat_map, owned_share, payback, tornado
from simulator.show.rent_or_buy_table import heat_table, tornado_table
from simulator.show.rent_or_buy_words import policy_said
from simulator.show.style import as_dates, date_axis, new_axes
from simulator.study.foresight import Range
from simulator.study.rent_or_buy import rent_or_buy
from simulator.study.rent_or_buy_answers import HeatCell, RentOrBuy
from simulator.study.varied import varied

CELLS = (
    HeatCell(0.5, 0.0, 0.5, Range(-9.0, -12.0, -6.0)),
    HeatCell(0.5, 0.2, 0.5, Range(-1.0, -4.0, 2.0)),
    HeatCell(1.0, 0.0, 0.5, Range(1.0, -2.0, 4.0)),
    HeatCell(1.0, 0.2, 0.5, Range(5.0, 4.0, 6.0)),
)


@pytest.fixture(scope="module")
def found() -> RentOrBuy:
    """A year of a small lab, two worlds; the cells of its map are made up."""
    scenario = varied(growing_lab(), "market.rental_fall_per_year", 0.086)
    lived = rent_or_buy(scenario, BUY, replications=2, growths=(1.0,), falls=(0.0,), cell_replications=2)
    return replace(lived, heat_map=CELLS)


def test_cells_whose_interval_holds_nothing_are_marked(found: RentOrBuy) -> None:
    ax = heat_map(found)
    assert ["?" in text.get_text() for text in ax.texts] == [False, True, True, False]
    assert sum(patch.get_hatch() is not None for patch in ax.patches) == 2
    assert "Hatched, ?: the 95 % interval holds 0" in " ".join(ax.get_xlabel().split())
    table = heat_table(found)
    shown = [["?" in str(cell) for cell in column.cells] for column in list(table.columns)[1:]]
    assert shown == [[False, True], [True, False]]
    assert "?: the 95 % interval holds 0" in str(table.caption)
    sure = replace(found, heat_map=CELLS[::3])
    assert "?" not in str(heat_table(sure).caption)


def test_table_and_picture_run_the_same_way(found: RentOrBuy) -> None:
    ax = heat_map(found)
    bottom, top = ax.get_ylim()
    assert bottom > top  # the first row lies on top
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x 0.5", "x 1"]
    assert [str(cell) for cell in heat_table(found).columns[0].cells] == ["x 0.5", "x 1"]


def test_a_narrow_map_keeps_its_heading_on_a_line(found: RentOrBuy) -> None:
    table = heat_table(replace(found, heat_map=CELLS[:1]))
    assert table.min_width is not None
    assert table.min_width >= len(str(table.title))


def test_the_tornado_says_units_and_how_sure_it_is(found: RentOrBuy) -> None:
    table, width = tornado_table(found), found.tornado_centre_percent.high - found.tornado_centre_percent.mean
    rows = dict(zip(*([str(cell) for cell in list(table.columns)[at].cells] for at in (0, 2)), strict=True))
    assert rows["Growth of demand"] == "x 1"
    assert rows["Fall of rents a year"] == "8.6 %"
    assert rows["Electricity [USD a kWh]"] == "0.0826"
    assert f"± {width:.1f}" in str(table.caption)
    ends = [str(cell) for at in (4, 5) for cell in list(table.columns)[at].cells]
    assert all("±" in end for end in ends)
    ax = tornado(found)
    assert f"± {width:.1f} %" in " ".join(ax.get_xlabel().split())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert "Growth of demand\ntimes the declared" in labels
    assert "Fall of rents a year\nas declared 8.6 %" in labels


def test_recipe_and_forecast_are_said_in_words() -> None:
    assert policy_said(BUY) == (
        "all train models with the levers overtrain, quantize, test time and expect of demand that its trend goes on "
        "for as long as it was seen"
    )
    assert policy_said(replace(BUY, forecast=Certain(base=Trend()))).endswith("expect of demand by certain")


def test_what_is_written_into_the_payback_crosses_no_line(found: RentOrBuy) -> None:
    ax = payback(found)
    legend, figure = ax.get_legend(), ax.figure
    assert legend is not None
    figure.canvas.draw()
    box = legend.get_window_extent().transformed(ax.transData.inverted())
    highest = max(float(np.max(np.asarray(line.get_ydata()))) for line in ax.get_lines())
    assert box.y0 > highest
    assert not ax.texts
    assert "network and installation fetch nothing" in " ".join(ax.get_xlabel().split())


def test_a_caption_explains_what_is_drawn(found: RentOrBuy) -> None:
    plain = replace(found, optimum=replace(found.optimum, refined_share=float("nan")))
    assert "Dotted" not in owned_share(plain).get_xlabel()
    finer = replace(found, optimum=replace(found.optimum, refined_share=0.6))
    assert "Dotted: least of the parabola" in " ".join(owned_share(finer).get_xlabel().split())
    assert "Band: 95 %" in " ".join(owned_share(plain).get_xlabel().split())


@pytest.mark.parametrize("most_ticks", [4, 9])
def test_dates_fit_any_horizon(most_ticks: int) -> None:
    for n_days in (20, 45, 90, 182, 300, 365, 450, 525, 540, 560, 577, 600, 640, 664, 700, 731, 900, 1096, 1826, 7305):
        ax = new_axes()
        dates = as_dates(np.datetime64("2027-01-01") + np.arange(n_days))
        ax.plot(dates, dates)
        date_axis(ax, n_days, most_ticks)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert 2 <= len(ax.get_xticks()) <= most_ticks + 2, n_days
