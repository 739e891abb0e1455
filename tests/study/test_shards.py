from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from small_study import RENT, growing_lab
from streamed_study import STUDY, placed

from simulator.study.identity import NotThisStudy, Shard
from simulator.study.shards import merge, shard_of
from simulator.study.streaming import Streamed, begin, finish_shard, live_on


def lived(study: Streamed) -> Path:
    book = begin(study)
    live_on(study, book)
    finish_shard(book)
    return study.folder


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("three")
    return [lived(small(folder / str(number), number)) for number in (1, 2, 3)]


def small(folder: Path, number: int, of: int = 3, **changes: object) -> Streamed:
    return placed(
        folder,
        **{"replications": 3, "policies": (RENT,), "shard": Shard(number, of), **changes},  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("replications", "of"), [(10, 3), (7, 7), (32, 5), (3, 5)])
def test_shards_share_out_every_world_once(replications: int, of: int) -> None:
    parts = [Shard(number, of).replications(replications) for number in range(1, of + 1)]
    assert [world for part in parts for world in part] == list(range(replications))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "-1/3", "a/b", "1/3/5", "1.0/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be one part of so many, as 3/10"):
        shard_of(text)


def test_three_of_ten() -> None:
    assert shard_of("3/10") == Shard(3, 10)


def test_a_shard_with_nothing_to_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shard 1/9: has nothing to do, of 3 replications"):
        begin(small(tmp_path / "empty", 1, of=9))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (lambda three: three[:2], "shards are missing: 3/3"),
        (lambda three: [three[0], *three[:2]], "are both shard 1/3"),
        (lambda three: [*three, three[0].parent], r"holds no study that could go on"),
    ],
)
def test_shards_that_do_not_make_a_whole_are_refused(
    three: list[Path], tmp_path: Path, chosen: Callable[[list[Path]], Sequence[Path]], said: str
) -> None:
    with pytest.raises(NotThisStudy, match=said):
        merge(chosen(three), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 4}, "of the first, it was made with seed 3, this is seed 4"),
        ({"scenario": growing_lab(80)}, "its scenario is another one"),
        ({"shard": Shard(3, 4), "replications": 4}, "of 3 replications, this of 4"),
    ],
)
def test_shards_of_two_studies_are_refused(
    three: list[Path], tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    other = lived(small(tmp_path / "other", **{"number": 3, **changes}))  # type: ignore[arg-type]
    with pytest.raises(NotThisStudy, match=said):
        merge([*three[:2], other], tmp_path)


def test_shards_of_another_number_are_refused(three: list[Path], tmp_path: Path) -> None:
    other = lived(small(tmp_path / "other", 2, of=2))
    with pytest.raises(NotThisStudy, match=r"is shard 1/3, .* is 2/2"):
        merge([three[0], other], tmp_path)


def test_an_unfinished_shard_is_told(three: list[Path], tmp_path: Path) -> None:
    begin(small(tmp_path / "begun", 3))
    with pytest.raises(NotThisStudy, match=r"begun: is not finished; go on with it first \(--resume\)"):
        merge([*three[:2], tmp_path / "begun"], tmp_path)


def test_a_shard_that_lost_a_part_is_told(three: list[Path], tmp_path: Path) -> None:
    shutil.copytree(three[2], tmp_path / "lost")
    (part,) = (tmp_path / "lost" / "shard").glob("part-*")
    shutil.rmtree(part)
    with pytest.raises(NotThisStudy, match="does not hold replications 2 to 2"):
        merge([*three[:2], tmp_path / "lost"], tmp_path)


def test_a_scenario_that_was_changed_since_is_told(three: list[Path], tmp_path: Path) -> None:
    shutil.copytree(three[0], tmp_path / "changed")
    path = tmp_path / "changed" / "shard" / "scenario.toml"
    path.write_text(path.read_text().replace("horizon_days = 90", "horizon_days = 91"))
    with pytest.raises(NotThisStudy, match="is not the study of its shard: its scenario is another one"):
        merge([tmp_path / "changed", *three[1:]], tmp_path)


def test_replacing_the_study_changes_nothing_else() -> None:
    assert replace(STUDY, seed=9).identity.difference(STUDY.identity) == "it was made with seed 9, this is seed 3"
