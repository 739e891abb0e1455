"""What stands on the page, as HTML."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.table import Table
from small_study import BUY, CAPPED, OVERTRAIN, RENT, growing_lab

from simulator.show import page
from simulator.show.beside_table import beside_table, beside_verdict
from simulator.show.plots import cumulative_cost
from simulator.show.table import comparison_table, verdict
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.files import load_study
from simulator.study.rankings import break_even_rows
from simulator.study.side_by_side import side_by_side


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(), (RENT, OVERTRAIN, BUY, CAPPED), replications=3)


class Reader(HTMLParser):
    """What a reader sees: cells by row, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.words = ""
        self.tags: list[str] = []
        self.in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.in_cell = False

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.in_cell:
            self.rows[-1][-1] += data


def test_the_table_has_every_figure_of_the_terminals(comparison: Comparison) -> None:
    table = comparison_table(comparison)
    shown = Reader(page.table_html(table))
    for at, column in enumerate(table.columns):
        assert [row[at] for row in shown.rows[1:]] == [str(cell) for cell in column.cells]
        assert shown.rows[0][at] == str(column.header).replace("\n", " ")
    assert str(table.caption).splitlines()[-1] in shown.words
    assert "Not comparable: " in shown.words


def test_what_users_wrote_is_text(small_toml: Path) -> None:
    bad = '<img src=x onerror="alert(1)">'
    table = Table(title=bad, caption=bad)
    table.add_column(bad)
    table.add_row(bad)
    for made in (page.table_html(table), page.heading(bad, bad), page.complaint(bad, bad), page.how_again(bad)):
        assert "img" not in Reader(made).tags
        assert bad in Reader(made).words
    study = load_study(small_toml, ("horizon_days=20", f"policy.0.name={bad!r}"), replications=1)
    found = compare(study.scenario, study.policies, replications=1)
    picture = page.picture(cumulative_cost, found, "Money spent", page.cost_told(found))
    for made in (picture, page.answer(verdict(found), [found], 1), page.break_even(found), page.side("A", found)):
        assert "onerror" not in re.sub(r'alt="[^"]*"', "", made).replace(page.escape(bad), "")
    assert Reader(picture).tags == ["figure", "img", "figcaption"]


def test_the_answer_says_how_many_worlds_it_rests_on(comparison: Comparison) -> None:
    words = verdict(comparison)
    assert "Rests on 3 worlds of 32 so far" in Reader(page.answer(words, [comparison], 32)).words
    whole = Reader(page.answer(words, [comparison], 3)).words
    assert words in whole
    assert "Rests on 3 worlds. Seed 1." in whole


def test_a_picture_has_its_words_beside_it(comparison: Comparison) -> None:
    made = page.picture(cumulative_cost, comparison, "Money spent", "what it shows")
    assert 'alt="what it shows"' in made
    (data,) = re.findall(r'src="data:image/png;base64,([^"]*)"', made)
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert "bands: 50 % and 90 % of worlds" in " ".join(Reader(made).words.split())


def test_break_even_is_told_in_the_mean_and_world_by_world(comparison: Comparison) -> None:
    rows = {row[0]: row[1:] for row in Reader(page.break_even(comparison)).rows[1:]}
    assert list(rows) == list(comparison.policy_names[1:])
    for number, even in enumerate(break_even_rows(comparison), start=1):
        mean, _, share, worlds = rows[even.policy]
        day = comparison.break_even_date(number)
        assert mean == ("" if day is None else day.isoformat())
        assert share == f"{100 * even.share:.0f}\xa0%"
        assert worlds == ("" if even.share == 0.0 else f"{even.break_even_p5} to {even.break_even_p95}")


def test_a_mistake_is_told_without_the_option_it_did_not_come_by() -> None:
    told = Reader(
        page.complaint("This cannot be simulated:", "--set: demand.x: is not a known key\na.toml:3: no")
    ).words
    assert told == "This cannot be simulated:demand.x: is not a known key\na.toml:3: no"


def test_two_scenarios_are_told_by_what_the_answer_of_the_first_costs_in_the_second() -> None:
    found = [compare(growing_lab(days), (RENT, OVERTRAIN), replications=3) for days in (150, 200)]
    rows = side_by_side(*found)
    told = beside_verdict(rows, *found)
    best = min(rows, key=lambda row: row.a_usd)
    assert told.startswith(f"{best.policy} is cheapest in both. {best.policy} costs ")
    assert f" {best.difference_percent:.0f} % more in B than in A [" in told
    shown = Reader(page.table_html(beside_table(rows, found[0]))).rows
    assert [row[0] for row in shown[1:]] == ["rent", "overtrain"]
    same = side_by_side(found[0], found[0])
    assert beside_verdict(same, found[0], found[0]).endswith("costs the same in both.")
