"""The what-if page itself, which Streamlit runs from top to bottom whenever something on it moves.

What it says and draws is made elsewhere; here is only where it stands. A run that a move has made stale is ended by
Streamlit at the next thing it is told, which is at latest when the world in hand is lived; so is that of a closed tab.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from simulator.show import page
from simulator.show.beside_table import beside_table, beside_verdict
from simulator.show.knobs import knobs
from simulator.show.plots import cumulative_cost, difference, fleet
from simulator.show.style import cheapest
from simulator.show.table import comparison_table, verdict
from simulator.study.archive import archive
from simulator.study.comparison import Comparison
from simulator.study.desk import desk, in_turn
from simulator.study.files import ScenarioError, Study, load_study
from simulator.study.side_by_side import side_by_side
from simulator.study.store import SUMMARY
from simulator.study.what_if import WhatIf, policies_of, scenarios_beside, worlds_offered, written_settings
from simulator.study.workers import WorkerLost

# What describes these is a comment: Streamlit would show a string.
_LONGEST_SHOWN = 200_000  # letters of TOML on the page; the download has all
_TOML_PIXELS = 420
_LETTERS = ("A", "B")


class _Slot:
    """A place that keeps what an earlier run left in it, greyed by Streamlit, until this run has something to show."""

    def __init__(self, within: Any) -> None:
        self._within = within
        self._place: Any = None

    def html(self, body: str) -> None:
        """Show this, in place of what was shown."""
        if self._place is None:
            self._place = self._within.empty()
        self._place.html(body)


class _Places(NamedTuple):
    """Where answers go; what is below them stays where it is while they come."""

    verdict: _Slot
    progress: Any
    beside: _Slot
    sides: tuple[tuple[_Slot, ...], ...]
    files: Any


def main(given: str, settings: Sequence[str]) -> None:
    """The page, for a scenario and what the command set in it."""
    st.set_page_config(page_title="labspend", layout="wide")
    st.html(page.STYLE)
    with st.sidebar:
        name = st.selectbox("Scenario", scenarios_beside(given), format_func=lambda name: Path(name).stem)
        fixed = tuple(settings) if name == given else ()
    try:
        declared = load_study(name, fixed)
        with st.sidebar:
            asked = _asked(name, fixed, declared)
        st.html(page.heading(declared.scenario.title, declared.scenario.question))
        studies = [question.study() for question in asked]
    except ScenarioError as error:
        st.html(page.complaint("This cannot be simulated:", str(error)))
        return
    places = _places(len(studies))
    waiting = _files(name, studies, places.files)
    try:
        found = _answered(studies, places)
    except WorkerLost as error:
        places.verdict.html(page.complaint("Stopped; move something to try again:", str(error)))
        return
    except ValueError as error:
        told = "; ".join([str(error), *getattr(error, "__notes__", [])])
        places.verdict.html(page.complaint("This cannot be simulated:", told))
        return
    _results(name, studies, found, waiting)


def _asked(name: str, fixed: tuple[str, ...], declared: Study) -> list[WhatIf]:
    """What the sidebar asks: once, or of two scenarios."""
    count = st.session_state.setdefault("resets", 0)
    key = f"{name}/{count}"
    policies = st.multiselect(
        "Policies",
        policies_of(declared),
        [policy.name for policy in declared.policies],
        key=f"{key}/policies",
        help="The first is the baseline, from which the others' differences are measured.",
    )
    worlds = st.select_slider(
        "Worlds", worlds_offered(declared.replications), declared.replications, key=f"{key}/worlds"
    )
    seed = st.number_input(
        "Seed", 0, 2**31 - 1, declared.seed, key=f"{key}/seed", help="The same seed draws the same worlds."
    )
    two = st.toggle("Two scenarios side by side", key=f"{key}/two")
    asked = []
    for letter in _LETTERS[: 1 + two]:
        if two:
            st.subheader(f"Scenario {letter}", divider="gray")
        moved = _moved(declared, f"{key}/{letter}")
        asked.append(WhatIf(name, (*fixed, *moved), tuple(policies), int(worlds), int(seed)))
    st.button("Back to what is declared", on_click=_reset)
    return asked


def _moved(declared: Study, key: str) -> tuple[str, ...]:
    """What the knobs and the box of one scenario set."""
    settings: list[str] = []
    for knob in knobs(declared.scenario):
        position = st.select_slider(
            knob.name, knob.positions, knob.declared, knob.said, key=f"{key}/{knob.name}", help=knob.help
        )
        settings += knob.settings(position)
    text = st.text_area(
        "Anything else",
        key=f"{key}/else",
        placeholder="ownership.resale_spread = 0.2",
        help="Any key of the scenario, one `key = value` a line, as `--set` takes it.",
    )
    return (*settings, *written_settings(text))


def _reset() -> None:
    """Widgets with new names stand where they are declared."""
    st.session_state["resets"] += 1


def _places(count: int) -> _Places:
    """From top to bottom; of one scenario, pictures stand in pairs where there is room."""
    verdict, progress, beside = _Slot(st.container()), st.empty(), _Slot(st.container())
    if count == 1:
        table = st.container()
        pairs = [column for _ in range(2) for column in st.columns(2, gap="medium")]
        sides = [[_Slot(place) for place in (table, *pairs)]]
    else:
        sides = [[_Slot(column.container()) for _ in range(5)] for column in st.columns(count, gap="medium")]
    return _Places(verdict, progress, beside, tuple(map(tuple, sides)), st.container())


def _answered(studies: Sequence[Study], places: _Places) -> tuple[Comparison, ...]:
    """Answers as they come, the last from all worlds."""
    done = [0] * len(studies)
    wanted = studies[0].replications
    bar = places.progress.progress(0.0, "Drawing worlds")

    def progress_of(number: int) -> Any:
        def told(lived: int, _: int) -> None:
            done[number] = lived
            bar.progress(sum(done) / (wanted * len(done)), f"{min(done):,} of {wanted:,} worlds")

        return told

    questions = [desk().answers(study, progress_of(number)) for number, study in enumerate(studies)]
    found: tuple[Comparison, ...] = ()
    with closing(in_turn(questions)) as answers:
        for latest in answers:
            _drawn(found, latest, wanted, places)
            found = latest
    places.progress.empty()
    return found


def _drawn(before: Sequence[Comparison], found: tuple[Comparison, ...], wanted: int, places: _Places) -> None:
    """The words first, then what is new beside what was drawn before."""
    if len(found) == 1:
        places.verdict.html(page.answer(verdict(found[0]), found, wanted))
    else:
        rows = side_by_side(*found)
        places.verdict.html(page.answer(beside_verdict(rows, *found), found, wanted))
        places.beside.html(page.table_html(beside_table(rows, found[0])))
    for number, (comparison, slots) in enumerate(zip(found, places.sides, strict=True)):
        if not before or before[number] is not comparison:
            letter = _LETTERS[number] if len(found) > 1 else ""
            for slot, shown in zip(slots, _shown(comparison, letter), strict=False):
                slot.html(shown)


def _shown(found: Comparison, letter: str) -> Iterator[str]:
    """The table, each picture as soon as it is drawn, and break-even."""
    head = page.side(letter, found) if letter else ""
    yield head + page.table_html(comparison_table(found))
    yield page.picture(cumulative_cost, found, "Money spent", page.cost_told(found))
    if len(found.policies) > 1:
        yield page.picture(difference, found, f"Cost against {found.baseline}", page.difference_told(found))
    policy = found.policy_names[cheapest(found)]
    yield page.picture(fleet, found, f"GPUs of {policy}", page.fleet_told(found, policy))
    if len(found.policies) > 1:
        yield page.break_even(found)


def _files(name: str, studies: Sequence[Study], place: Any) -> list[Any]:
    """What is on screen as TOML; gives back where the results of each can be had once they are whole."""
    waiting = []
    for letter, study in zip(_LETTERS, studies, strict=False):
        which = f" {letter}" if len(studies) > 1 else ""
        with place.expander(f"Scenario{which} as TOML, and its results"):
            stem = _stem(name, letter)
            st.html(page.how_again(stem))
            columns = st.columns(3)
            _download(columns[0], "Scenario (TOML)", study.text.encode(), f"{stem}.toml")
            waiting.append([column.empty() for column in columns[1:]])
            st.container(height=_TOML_PIXELS).code(study.text[:_LONGEST_SHOWN], language="toml")
    return waiting


def _results(name: str, studies: Sequence[Study], found: Sequence[Comparison], waiting: Sequence[Any]) -> None:
    """The results, as `compare` writes them."""
    for letter, study, comparison, (summary, everything) in zip(_LETTERS, studies, found, waiting, strict=False):
        stem = _stem(name, letter)
        packed = _packed(comparison, study.text, f"labspend compare {stem}.toml")
        with zipfile.ZipFile(BytesIO(packed)) as held:
            _download(summary, "Summary (CSV)", held.read(SUMMARY), f"{stem}-summary.csv")
        _download(everything, "All results (ZIP)", packed, f"{stem}-results.zip")


def _download(place: Any, label: str, data: bytes, file: str) -> None:
    place.download_button(label, data, file, on_click="ignore", key=file)


def _stem(name: str, letter: str) -> str:
    return f"{Path(name).stem}-{letter.lower()}"


_packed = lru_cache(maxsize=4)(archive)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
