"""Comments go with the values they stand at: into the resolved scenario, over what is extended, not over --set."""

from __future__ import annotations

import tomllib
from pathlib import Path

import tomlkit
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.study.files import load_study
from simulator.study.toml_comments import Comment, comments, with_comments

TEXT = """\
# About the file, apart from all keys.

title = "a # b"  # beside the title
[demand]  # of the table

# Fitted to two
# weeks
tokens_per_day = 5.0  # judgement
list = [
  1,  # of an entry, of no key
]
# after it
[[regime]]
start = 1
# of the second
[[regime]]
start = 2  # late
"""


def test_a_comment_belongs_to_the_key_beside_or_below_it() -> None:
    assert comments(TEXT) == {
        ("title",): Comment((), "beside the title"),
        ("demand",): Comment((), "of the table"),
        ("demand", "tokens_per_day"): Comment(("Fitted to two", "weeks"), "judgement"),
        ("regime", 0): Comment(("after it",)),
        ("regime", 1): Comment(("of the second",)),
        ("regime", 1, "start"): Comment((), "late"),
    }
    assert str(comments(TEXT)["demand", "tokens_per_day"]) == "Fitted to two weeks judgement"


_TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from("abc"), st.one_of(_TEXTS, st.text("\n#\"'[]= ab", max_size=9), st.floats(0, 1))),
    st.dictionaries(st.sampled_from("abcd"), st.tuples(st.lists(_TEXTS, max_size=2), _TEXTS)),
)
def test_values_never_change_and_comments_come_back(
    tables: dict[str, object], said: dict[str, tuple[list[str], str]]
) -> None:
    plain = tomlkit.dumps({**tables, "table": tables})
    held = {
        ("table", key): Comment(tuple(above), beside)
        for key, (above, beside) in said.items()
        for above in [[line.lstrip("#").strip() for line in above]]
        for beside in [beside.lstrip("#").strip()]
    }
    text = with_comments(plain, held)
    assert tomllib.loads(text) == tomllib.loads(plain)
    kept = {key: comment for key, comment in held.items() if key[1] in tables and comment != Comment()}
    assert {key: str(comment) for key, comment in comments(text).items()} == {
        key: str(comment) for key, comment in kept.items()
    }


def test_the_resolved_scenario_has_the_comments_of_the_values_that_hold(small_toml: Path, tmp_path: Path) -> None:
    small = small_toml.read_text(encoding="utf-8")
    small_toml.write_text(small.replace("growth_per_year = 3\n", "growth_per_year = 3  # a guess\n", 1))
    over = tmp_path / "over.toml"
    over.write_text('extends = "small.toml"\n# new figure\nhorizon_days = 90\n', encoding="utf-8")
    text = load_study(over).text
    assert "growth_per_year = 3.0  # a guess\n" in text
    assert "# new figure\nhorizon_days = 90\n" in text
    again = load_study(over, ["demand.growth_per_year=2"])
    assert "growth_per_year = 2.0\n" in again.text, "what --set says is no longer that guess"
    (tmp_path / "resolved.toml").write_text(text, encoding="utf-8")
    assert load_study(tmp_path / "resolved.toml").text == text
