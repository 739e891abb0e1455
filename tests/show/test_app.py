"""The page itself, run as Streamlit runs it, without a browser."""

from __future__ import annotations

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import simulator.show

if not os.environ.get("LABSPEND_REQUIRE_BROWSER"):
    pytest.importorskip("streamlit")

PAGE = Path(simulator.show.__file__).with_name("app.py").resolve()


class Words(HTMLParser):
    """The text of some HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found = ""
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.found += data


def opened(monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    from streamlit.testing.v1 import AppTest

    monkeypatch.setattr(sys, "argv", ["app.py", *words])
    return AppTest.from_file(str(PAGE), default_timeout=120)


def bodies(page: Any) -> list[str]:
    return [found.proto.body for found in page.get("html")]


def answer(page: Any) -> str:
    (found,) = (body for body in bodies(page) if "ls-verdict" in body and "<style>" not in body)
    return Words(found).found


def wrong(page: Any) -> str:
    assert not page.exception
    (found,) = (body for body in bodies(page) if "ls-wrong" in body and "<style>" not in body)
    return Words(found).found


def slider(page: Any, name: str, which: int = 0) -> Any:
    return [found for found in page.select_slider if found.label == name][which]


def test_what_moves_changes_the_answer_and_the_scenario(small_toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, str(small_toml), "horizon_days=150").run()
    assert not page.exception
    first = answer(page)
    assert first.startswith("trained longer costs ")
    assert "Rests on 2 worlds. Seed 7." in first
    assert "growth_per_year = 3.0\n" in page.code[0].value
    assert "horizon_days = 150\n" in page.code[0].value
    slider(page, "Growth of demand").set_value(2.0).run()
    assert not page.exception
    assert answer(page) != first
    assert "growth_per_year = 6.0\n" in page.code[0].value
    (reset,) = page.button
    reset.click().run()
    assert answer(page) == first


def test_mistakes_are_told_on_the_page_and_mended_there(small_toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, str(small_toml), "horizon_days=40").run()
    box = page.text_area[0]
    box.set_value("demand.noise_sigma = -1\nmarket.lead_dayz = 3").run()
    told = wrong(page)
    assert "demand.noise_sigma: must be greater than or equal to 0 (got -1)" in told
    assert "did you mean 'lead_days'?" in told
    page.text_area[0].set_value("nonsense").run()
    assert "must be written key=value" in wrong(page)
    page.text_area[0].set_value("").run()
    page.multiselect[0].set_value([]).run()
    assert "choose at least one" in wrong(page)
    page.multiselect[0].set_value(["all-reserve", "plain"]).run()
    assert "market.commitment" in wrong(page)  # no leases are on offer there
    page.multiselect[0].set_value(["trained longer"]).run()
    assert "it is the only policy" in answer(page)


def test_a_file_that_is_broken_meanwhile_is_told_too(small_toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, str(small_toml), "horizon_days=40").run()
    small_toml.write_text(small_toml.read_text(encoding="utf-8").replace("[demand]", "[demand"), encoding="utf-8")
    page.run()
    assert "small.toml:5" in wrong(page)
    assert "is not valid TOML" in wrong(page)


def test_two_scenarios_have_knobs_of_their_own(small_toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, str(small_toml), "horizon_days=150").run()
    page.toggle[0].set_value(True).run()
    assert not page.exception
    assert "costs the same in both" in answer(page)
    slider(page, "Growth of demand", 1).set_value(2.0).run()
    assert not page.exception
    assert "more in B than in A" in answer(page)
    assert "growth_per_year = 3.0\n" in page.code[0].value
    assert "growth_per_year = 6.0\n" in page.code[1].value
    assert sum("Scenario A</h2>" in body or "Scenario B</h2>" in body for body in bodies(page)) == 2
