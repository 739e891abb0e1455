"""The sliders of a report in a real browser: equal to the grid where it was lived, straight lines between, offline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from browser import browser, needs_browser
from small_study import growing_lab, policy

from simulator.lab.procurement import BuyToForecast, RentOnDemand, ReserveBase
from simulator.show.money import change_decimals, money, signed_percent
from simulator.show.report import write_report
from simulator.show.report_sliders import cheapest_of
from simulator.show.table import verdict
from simulator.study.comparison import Comparison, SummaryRow
from simulator.study.equal_service import USUAL_SERVICE
from simulator.study.experiment import compare
from simulator.study.slider_grid import Slider, SliderGrid, slider_grid
from simulator.study.store import save
from simulator.study.varied import varied_in

FIELDS = ("growth", "market.commitment.0.discount")
SLIDERS = (Slider(FIELDS[0], (0.5, 1.0, 2.0), 1.0), Slider(FIELDS[1], (0.0, 0.3, 0.6, 2.0), 0.187))
POLICIES = (
    policy("rent", RentOnDemand()),
    policy("reserve", ReserveBase()),
    policy("buy", BuyToForecast()),
    policy("capped", RentOnDemand(cap_gpus=9000)),
)
WORLDS = 3
REFUSED = 2.0
"""No discount can be so large: there are no figures at these points."""

Browser = Any


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), POLICIES, replications=WORLDS)


@pytest.fixture(scope="module")
def grid(comparison: Comparison) -> SliderGrid:
    return slider_grid(comparison.scenario, POLICIES, SLIDERS, replications=WORLDS, seed=1, equal_service=USUAL_SERVICE)


@pytest.fixture(scope="module")
def page(comparison: Comparison, grid: SliderGrid, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    needs_browser()
    folder = tmp_path_factory.mktemp("browser")
    save(comparison, folder / "r")
    with browser(folder) as opened:
        opened.set_network_conditions(offline=True, latency=0, throughput=0)
        opened.get(write_report(comparison, folder / "r", grid=grid).as_uri())
        yield opened


def move(page: Browser, *places: float) -> None:
    """Put each slider to a place, in steps of one grid point, as a hand does."""
    for number, place in enumerate(places):
        page.execute_script(
            "const knob = document.getElementById('slider-' + arguments[0]); knob.value = arguments[1];"
            "knob.dispatchEvent(new Event('input'));",
            number,
            20 * place,
        )


def text(page: Browser, name: str) -> str:
    found: str = page.execute_script("return document.getElementById(arguments[0]).textContent", name)
    return found


def rows(page: Browser) -> list[list[str]]:
    found: list[list[str]] = page.execute_script(
        "return [...document.querySelectorAll('#slider-rows tr')].map(row => [...row.cells].map(c => c.textContent))"
    )
    return found


def shown(row: SummaryRow, *, is_baseline: bool) -> tuple[str, str]:
    """What the page must say of a policy's cost and difference."""
    percents = row.controlled_difference_percent
    if is_baseline:
        return money(row.controlled_cost_usd), "baseline"
    change = signed_percent(percents, change_decimals(percents)) if row.comparable else "not comparable"
    return money(row.controlled_cost_usd), change


def test_at_grid_points_it_says_what_compare_says(page: Browser, comparison: Comparison, grid: SliderGrid) -> None:
    winners, said = set(), set()
    for number, point in enumerate(grid.points):
        move(page, *divmod(number, len(SLIDERS[1].values)))
        assert text(page, "where") == "A grid point: these figures were simulated."
        if point.values[1] == REFUSED:
            assert rows(page) == []
            assert text(page, "said").startswith("Nothing can be said: this point cannot be lived: market.commitment")
            continue
        for at, (row, cells) in enumerate(zip(point.rows, rows(page), strict=True)):
            assert cells[0] == row.policy
            assert (cells[1], cells[3]) == shown(row, is_baseline=at == 0)
            low, high = money(row.controlled_cost_low_usd), money(row.controlled_cost_high_usd)
            assert cells[2] == f"{low} to {high}"
        best = cheapest_of(point.rows)
        assert best is not None
        assert [cells[0] for cells in rows(page) if cells[-1] == "cheapest"] == [best.policy]
        there = compare(
            varied_in(comparison.scenario, tuple(zip(FIELDS, point.values, strict=True))), POLICIES, replications=WORLDS
        )
        sentence = text(page, "said").split(" Next is ")[0]
        if "more replications may decide it" in verdict(there):
            assert verdict(there).startswith(sentence.rstrip("."))
        else:
            assert verdict(there).startswith(sentence.removesuffix("."))
        winners.add(best.policy)
        said.add(sentence)
    assert len(winners) > 1, "a slider changes who wins"
    assert len(said) == 9


def test_between_grid_points_figures_lie_on_straight_lines(page: Browser, grid: SliderGrid) -> None:
    move(page, 0.25, 0.5)  # a quarter of the way from 0.5 to 1, half of that from 0 to 0.3
    assert text(page, "where") == "Between grid points: these figures are interpolated, not simulated."
    assert (text(page, "value-0"), text(page, "value-1")) == ("0.625\u00a0×", "0.15")
    costs = {point.values: point.rows for point in grid.points}
    for at, cells in enumerate(rows(page)):
        places = product((0.5, 1.0), (0.0, 0.3))
        corners = {place: costs[place][at].controlled_cost_usd for place in places}
        left, right = ((corners[growth, 0.0] + corners[growth, 0.3]) / 2.0 for growth in (0.5, 1.0))
        assert cells[1] == money(0.75 * left + 0.25 * right)
    move(page, 0.5, 1.0)
    assert text(page, "where").startswith("Between grid points")
    move(page, 1.0, 2.5)
    assert "a grid point next to it cannot be lived: market.commitment.0.discount" in text(page, "said")


def test_a_policy_is_comparable_between_points_only_if_it_is_at_all_of_them(page: Browser, grid: SliderGrid) -> None:
    # 9,000 GPUs serve all only where demand grows half as fast.
    fair = {point.values: point.rows[3].comparable for point in grid.points if point.rows}
    assert (fair[0.5, 0.3], fair[1.0, 0.3], fair[2.0, 0.3]) == (True, False, False)
    for place in (0.0, 0.05, 0.95, 1.0, 1.05, 2.0):
        move(page, place, 1.0)
        around = {(0.5, 1.0, 2.0)[math.floor(place)], (0.5, 1.0, 2.0)[math.ceil(place)]}
        assert (rows(page)[3][3] != "not comparable") == all(fair[growth, 0.3] for growth in around)


def test_keys_and_the_button_move_the_sliders(page: Browser) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    knob = page.find_element(By.ID, "slider-0")
    move(page, 1.0, 1.0)
    assert (text(page, "value-0"), text(page, "value-1")) == ("1\u00a0×", "0.3")
    knob.send_keys(Keys.ARROW_RIGHT)
    assert text(page, "value-0") == "1.05\u00a0×"
    assert knob.get_attribute("aria-valuetext") == "1.05\u00a0×"
    page.find_element(By.ID, "back").click()
    assert text(page, "value-0") == "1\u00a0×"


def test_nothing_is_fetched_and_nothing_complains(page: Browser) -> None:
    fetched = page.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    assert page.get_log("browser") == []
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth"), "no sideways scrolling"
