"""The report: every number is in the store, nothing is loaded from outside, all of it can be read by anyone."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image
from report_page import Kept, Page, formatted, page_of, places
from small_study import BUY, CAPPED, OVERTRAIN, RENT, RESERVE, growing_lab

from simulator.cli.compare import draw
from simulator.lab.accounts import Stage
from simulator.show import report
from simulator.show.money import Currency
from simulator.show.plots import PICTURES
from simulator.show.report import MOST_BYTES, linked, write_report
from simulator.show.report_pictures import pictures_in
from simulator.show.table import comparison_table, verdict
from simulator.show.why_said import why_said
from simulator.study.comparison import Comparison
from simulator.study.equal_service import USUAL_SERVICE
from simulator.study.experiment import compare
from simulator.study.slider_grid import Slider, SliderGrid, slider_grid
from simulator.study.store import save
from simulator.world.currency import CurrencyInputs

POLICIES = (RENT, OVERTRAIN, RESERVE, BUY, CAPPED)
WORLDS = 4
SLIDERS = (Slider("growth", (0.8, 1.0, 1.25), 1.0), Slider("market.rental_fall_per_year", (0.0, 0.5), 0.0))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(growing_lab(200), POLICIES, replications=WORLDS)


@pytest.fixture(scope="module")
def grid(comparison: Comparison) -> SliderGrid:
    return slider_grid(
        comparison.scenario, comparison.policies, SLIDERS, replications=2, seed=1, equal_service=USUAL_SERVICE
    )


@pytest.fixture(scope="module")
def folder(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report") / "results"
    save(comparison, made, command="labspend compare x", pictures=draw)
    return made


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return page_of(folder / "report.html")


@pytest.fixture(scope="module")
def slid(comparison: Comparison, folder: Path, grid: SliderGrid, tmp_path_factory: pytest.TempPathFactory) -> Page:
    target = tmp_path_factory.mktemp("slid") / "slid.html"
    write_report(comparison, folder, target, grid=grid, command="labspend compare x")
    return page_of(target)


# Numbers ----------------------------------------------------------------------------------------------------------


def test_every_number_is_in_the_store(page: Page, folder: Path) -> None:
    kept = Kept(folder, WORLDS)
    checked = {str(place[0]): 0 for place, _ in places(page)}
    for place, shown in places(page):
        if place[0] == "scenario.toml" and str(place[1]).startswith("policy."):
            continue  # parts of policies are checked below: the file has no row for what it does not declare
        value = float(shown.get("value"))
        assert value == pytest.approx(kept.value(place), rel=1e-12, nan_ok=True), place
        assert shown.text == formatted(value, shown.get("data-format")).replace("nan", "–"), place
        checked[str(place[0])] += 1
    assert all(checked[name] >= 1 for name in ("orders.csv", "releases.csv", "daily.parquet")), checked
    assert checked["summary.csv"] >= 15 * len(POLICIES)
    assert checked["stages.csv"] == len(Stage) * len(POLICIES)
    assert checked["scenario.toml"] > 80


def test_no_number_of_the_answer_and_its_tables_goes_unchecked(page: Page) -> None:
    names = [policy.name for policy in POLICIES]
    rest = [found.bare for found in page.elements if found.get("class") in ("do", "verdict")]
    rest += [found.bare for found in page.all("td") if "policies" in [each.get("id") for each in found.around]]
    assert len(rest) > 50
    for text in rest:
        bare = re.sub(r"\d{4}-\d\d-\d\d|H100|bf16|fp8|int8|int4|for 365 days", "", text)
        for name in names:
            bare = bare.replace(name, "")
        assert not re.search(r"\d", bare), text


def test_what_is_said_in_words_is_what_the_store_says(page: Page, comparison: Comparison, folder: Path) -> None:
    assert page.said("verdict") == [verdict(comparison)]
    rows = Kept(folder, WORLDS).table("summary.csv").to_dict("records")
    rivals = [row for row in rows[1:] if row["comparable"] == "True"]
    best = min(rivals, key=lambda row: float(row["controlled_cost_usd"]))
    low, high, change = (float(best[f"controlled_difference_{end}percent"]) for end in ("low_", "high_", ""))
    digits = 1 if abs(change) < 10 else 0
    for number in (change, low, high):
        assert f"{abs(number):.{digits}f}" in page.said("verdict")[0]
    caption = comparison_table(comparison).caption
    assert "\n".join(page.said("note")) == str(caption)
    assert page.said("why") == list(why_said(comparison)) != []
    assert page.said("scenario") == [(folder / "scenario.toml").read_text(encoding="utf-8")]


def test_every_row_of_assumptions_and_prices_is_there(page: Page, folder: Path) -> None:
    kept = Kept(folder, WORLDS)
    cells = [found.text for found in page.all("td")]
    assert {"USD/GPU-hour", "a test", "2026-04-01"} <= set(cells)
    rows = [place for place, _ in places(page) if place[0] == "price_book.csv"]
    assert len(rows) == 2 * len(kept.table("price_book.csv"))
    keys = {found.text for found in page.all("code")}
    assert {"demand.growth_per_year", "market.quote.0.purchase_usd_per_gpu", "policy.buy.procurement.kind"} <= keys


def test_parts_of_policies_are_those_compared(page: Page, comparison: Comparison) -> None:
    for place, shown in places(page):
        if place[0] == "scenario.toml" and str(place[1]).startswith("policy."):
            _, name, part, key = str(place[1]).split(".")
            policy = next(each for each in comparison.policies if each.name == name)
            assert float(shown.get("value")) == getattr(getattr(policy, part), key)


def test_the_grid_is_in_the_page_as_it_was_lived(slid: Page, grid: SliderGrid) -> None:
    data = json.loads(slid.with_id("grid").text)
    assert data["policies"] == [policy.name for policy in POLICIES]
    for point, rows in zip(grid.points, data["points"], strict=True):
        for row, numbers in zip(point.rows, rows, strict=True):
            assert numbers[0] == row.controlled_cost_usd
            assert numbers[3] == row.controlled_difference_percent
            assert numbers[6] == int(row.comparable)
    shown = [(place, found) for place, found in places(slid) if place[0] == "grid"]
    assert len(shown) >= len(grid.points)
    for (_, number, policy, column), found in shown:
        row = next(row for row in grid.points[int(number)].rows if row.policy == policy)
        assert float(found.get("value")) == getattr(row, str(column))
        assert row.controlled_cost_usd == min(
            each.controlled_cost_usd for each in grid.points[int(number)].rows if each.comparable
        )


def test_money_is_shown_in_the_currency_declared(tmp_path: Path) -> None:
    euros = CurrencyInputs(code="EUR", per_usd=0.5, on=growing_lab().start, source="a test")
    comparison = compare(growing_lab(60).model_copy(update={"currency": euros}), (RENT, BUY), replications=1)
    save(comparison, tmp_path / "r", pictures=write_report)
    page = page_of(tmp_path / "r" / "report.html")
    shown = [found for place, found in places(page) if found.get("data-format") == "money"]
    assert len(shown) > 8
    for found in shown:
        assert found.text == formatted(float(found.get("value")), "money", Currency("EUR", 0.5))
        assert "€" in found.text or found.text == "–"
    assert "One world gives no interval." in page.with_id("answer").text or "in the one world" in page.html


# One file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["page", "slid"])
def test_nothing_is_loaded_from_outside(name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(name)
    ids = {found.get("id") for found in page.elements}
    for found in page.elements:
        assert not [key for key in found.attributes if key.startswith("on") or key == "style"], found
        assert not found.get("srcset")
        if source := found.get("src"):
            assert found.tag == "img"
            assert source.startswith("data:image/")
        if goal := found.get("href"):
            assert (goal.startswith("#") and goal[1:] in ids) or (found.tag, goal) == ("link", "data:,"), goal
    for style in page.all("style"):
        assert "@import" not in style.text
        assert "url(" not in style.text


@pytest.mark.parametrize("name", ["page", "slid"])
def test_the_content_policy_allows_what_is_in_the_file_and_no_more(name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(name)
    (policy,) = (found.get("content") for found in page.all("meta") if found.get("http-equiv"))
    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert "unsafe" not in policy
    scripts = [found.text for found in page.all("script") if not found.get("type")]
    assert len(scripts) == (1 if name == "slid" else 0)
    for inline in (*scripts, *(found.text for found in page.all("style"))):
        assert f"'sha256-{b64encode(sha256(inline.encode()).digest()).decode()}'" in policy


def test_pictures_are_pictures(page: Page, folder: Path, comparison: Comparison) -> None:
    shown = pictures_in(folder, comparison)
    assert [found.text for found in page.all("figcaption")] == [found.title for found in shown]
    assert len(page.all("img")) == len(PICTURES)
    for found in page.all("img"):
        kind, data = found.get("src").split(",", 1)
        if kind == "data:image/png;base64":
            with Image.open(BytesIO(b64decode(data, validate=True))) as picture:
                assert picture.width == 1920
        else:
            assert kind == "data:image/svg+xml"


def test_many_pictures_are_made_smaller(folder: Path, comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sum(len(found.uri) for found in pictures_in(folder, comparison))
    monkeypatch.setattr("simulator.show.report_pictures.MOST_BYTES", whole - 1)
    assert sum(len(found.uri) for found in pictures_in(folder, comparison)) < whole


def test_it_can_be_mailed(tmp_path: Path) -> None:
    from simulator.cli import main

    assert main(["compare", "frontier_lab", "--replications", "1", "--out", str(tmp_path / "r"), "--quiet"]) == 0
    assert (tmp_path / "r" / "report.html").stat().st_size < MOST_BYTES == 2_000_000
    page = page_of(tmp_path / "r" / "report.html")
    notes = [found.text for found in page.all("td")]
    assert "RunPod list 2026-06; Cottier et al. 2024, all-in 50,617" in notes
    assert "assumption: the router's counts include cached prompts; sweep it" in notes, "comments of the file are notes"


def test_what_users_write_is_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    lab = growing_lab(40)
    quote = lab.market.quote[0].model_copy(update={"source": f"{evil} see https://example.org/a?b=1&c=2, javascript:x"})
    lab = lab.model_copy(
        update={"title": evil, "question": f'"{evil}', "market": lab.market.model_copy(update={"quote": (quote,)})}
    )
    comparison = compare(lab, (RENT, replace(BUY, name=evil)), replications=1)
    save(comparison, tmp_path / "r")
    grid = slider_grid(lab, comparison.policies, SLIDERS[:1], replications=1, seed=1, equal_service=USUAL_SERVICE)
    page = page_of(write_report(comparison, tmp_path / "r", grid=grid, command=evil))
    assert len(page.all("script")) == 2
    assert page.all("h1")[0].text == evil
    assert json.loads(page.with_id("grid").text)["policies"][1] == evil
    links = {found.get("href") for found in page.all("a") if not found.get("href").startswith("#")}
    assert links == {"https://example.org/a?b=1&c=2"}


def test_links_are_followed_and_all_else_is_text() -> None:
    assert str(linked("<b> (https://a.org/x), ftp://b")) == (
        '&lt;b&gt; (<a href="https://a.org/x" rel="noreferrer noopener">https://a.org/x</a>), ftp://b'
    )


# For everyone -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["page", "slid"])
def test_it_is_accessible(name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(name)
    levels = [int(found.tag[1]) for found in page.elements if re.fullmatch("h[1-6]", found.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= level + 1 for level, later in pairwise(levels))
    assert page.all("html")[0].get("lang") == "en"
    assert all(len(found.get("alt").split()) > 5 for found in page.all("img"))
    assert all(found.get("scope") in ("col", "row") for found in page.all("th"))
    for table in page.all("table"):
        assert [found for found in page.all("caption") if table in found.around and found.text.strip()]
        assert [found for found in page.all("th") if table in found.around and found.get("scope") == "row"] or name
    labels = {found.get("for") for found in page.all("label")}
    assert {found.get("id") for found in page.all("input")} == labels
    scrolled = [found for found in page.elements if "scroll" in found.get("class") or found.get("class") == "tall"]
    assert scrolled
    assert all(found.get("tabindex") == "0" and found.get("aria-label") for found in scrolled)
    ids = [found.get("id") for found in page.elements if found.get("id")]
    assert len(ids) == len(set(ids))
    assert all(found.get("aria-labelledby") in ids for found in page.all("section"))


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, of two colours such as #1a2b3c."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_letters_stand_out_in_light_and_dark(page: Page) -> None:
    assert contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.005), "the known example"
    themes = re.findall(r"--page: (#\w{6}).*?--mark: (#\w{6})", page.all("style")[0].text, re.DOTALL)
    assert len(themes) == 2
    blocks = re.findall(r":root \{(.*?)\}", page.all("style")[0].text, re.DOTALL)[:2]
    for block in blocks:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", block))
        for ink in ("ink", "muted", "accent", "good", "bad"):
            for ground in ("page", "card", "mark"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_without_a_script_the_page_still_says_all(slid: Page, grid: SliderGrid) -> None:
    assert "hidden" in slid.with_id("sliders").attributes
    assert "every grid point" in slid.all("noscript")[0].text
    (table,) = (found for found in slid.all("table") if found.text.strip().startswith("The cheapest comparable policy"))
    assert len([found for found in slid.all("tr") if table in found.around]) == 1 + len(grid.points)
    assert "interpolated along straight lines, not simulated" in slid.with_id("what-if").text
    assert "2 worlds each, the first of those of the table above" in slid.with_id("what-if").text


# Words ------------------------------------------------------------------------------------------------------------


def answer(page: Page) -> str:
    return " ".join(page.with_id("answer").text.split())


def test_the_quarter_is_that_of_the_cheapest(page: Page, comparison: Comparison) -> None:
    best = min((row for row in comparison.summary_records() if row.comparable), key=lambda row: row.controlled_cost_usd)
    assert f"As {best.policy} does from 2026-01-01 to 2026-03-31" in answer(page)
    assert re.search(r"Do this quarter: .*rent [\d,]+ GPUs by the hour on average; train a model of", answer(page))


def test_nothing_is_recommended_where_nothing_keeps_the_promise(tmp_path: Path) -> None:
    lived = compare(growing_lab(60), (RENT, BUY), replications=1)
    missed = tuple(replace(row, summary=replace(row.summary, quality_met=False)) for row in lived.rows)
    comparison = replace(lived, rows=missed)
    save(comparison, tmp_path / "r", pictures=write_report)
    assert "nothing can be recommended" in answer(page_of(tmp_path / "r" / "report.html"))


def test_a_policy_that_orders_nothing_and_a_quarter_without_a_decision(tmp_path: Path) -> None:
    lab = growing_lab(300)
    late = tuple(release for release in lab.roadmap.release if release.name == "summer")
    lab = lab.model_copy(update={"roadmap": lab.roadmap.model_copy(update={"release": late})})
    comparison = compare(lab, (RENT,), replications=2)
    save(comparison, tmp_path / "r", pictures=write_report)
    said = answer(page_of(tmp_path / "r" / "report.html"))
    assert re.search(r"Do this quarter: order no GPUs, rent [\d,]+ GPUs by the hour on average; no model", said)
    assert "no model is to be begun before 2026-06-02." in said


# Files ------------------------------------------------------------------------------------------------------------


def test_equal_studies_make_equal_pages(comparison: Comparison, folder: Path, tmp_path: Path) -> None:
    again = write_report(comparison, folder, tmp_path / "again.html")
    assert again.read_bytes() == (folder / "report.html").read_bytes()


def test_nothing_is_written_over_and_nothing_half_written(
    comparison: Comparison, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("mine")
    with pytest.raises(FileExistsError, match="nothing is written over"):
        write_report(comparison, folder, mine)
    assert mine.read_text() == "mine"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report(comparison, folder, tmp_path / "other.html")
    assert list(tmp_path.iterdir()) == [mine]


def test_the_files_of_the_page_are_shipped() -> None:
    names = {path.name for path in report._FILES.iterdir()}
    assert names == {"report.html.jinja", "report.css", "report.js"}
