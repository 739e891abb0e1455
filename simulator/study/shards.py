"""Shards of a study, lived on machines that know nothing of each other, made whole."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simulator.study.comparison import Comparison
from simulator.study.files import ScenarioError, load_study
from simulator.study.identity import WHOLE, Identity, NotThisStudy, Shard, read_identity
from simulator.study.journal import SCENARIO, STUDY, PartFolder, read_days, read_parts
from simulator.study.part_files import DAYS
from simulator.study.store import UNFINISHED, Pictures
from simulator.study.streaming import SHARD, Streamed, assemble, is_begun

_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class _Found:
    folder: Path
    shard: Shard
    identity: Identity

    @property
    def work(self) -> Path:
        return self.folder / SHARD


def shard_of(text: str) -> Shard:
    """The third of ten from "3/10".

    Raises
    ------
    ValueError
        If it is no such part.
    """
    found = _SHARD.fullmatch(text)
    if not found or int(found[1]) > int(found[2]):
        raise ValueError(f"{text!r}: must be one part of so many, as 3/10")
    return Shard(int(found[1]), int(found[2]))


def merge(folders: Sequence[Path], target: Path, *, command: str = "", pictures: Pictures | None = None) -> Comparison:
    """Make the results of a study from all of its shards: the bytes of a run in one piece.

    Parameters
    ----------
    folders
        Of the shards, in any order.
    target
        An empty folder.
    command, pictures
        As for `store.save`.

    Raises
    ------
    NotThisStudy
        If the shards are not of one study, not all there, or one is there twice.
    """
    shards = _checked([_found(folder) for folder in folders])
    study = _study(shards[0], target, command)
    n_policies, calendar = len(study.policies), study.scenario.calendar
    days, parts = None, []
    for each in shards:
        own = _parts(each, n_policies)
        parts += [part.path for part in own]
        theirs = read_days(own[-1].path / DAYS, n_policies, calendar)
        if days is None:
            days = theirs
        else:
            days.merge(theirs)
    assert days is not None
    work = target / UNFINISHED
    work.mkdir()
    try:
        return assemble(study, parts, days, work, pictures)
    finally:
        shutil.rmtree(work)


def _found(folder: Path) -> _Found:
    if is_begun(folder):
        raise NotThisStudy(f"{folder}: is not finished; go on with it first (--resume)")
    identity = read_identity(folder / SHARD / STUDY)
    try:
        return _Found(folder, shard_of(identity.shard), identity)
    except ValueError as error:
        raise NotThisStudy(f"{folder / SHARD / STUDY}: shard: {error}") from None


def _checked(found: list[_Found]) -> list[_Found]:
    """The shards in order, if they are one study and all there."""
    first = found[0]
    for each in found[1:]:
        different = first.identity.difference(replace(each.identity, shard=first.identity.shard))
        if different:
            raise NotThisStudy(f"{first.folder} and {each.folder} are of two studies: of the first, {different}")
        if each.shard.of != first.shard.of:
            raise NotThisStudy(f"{first.folder} is shard {first.shard}, {each.folder} is {each.shard}")
    by_number: dict[int, _Found] = {}
    for each in found:
        other = by_number.setdefault(each.shard.number, each)
        if other is not each:
            raise NotThisStudy(f"{other.folder} and {each.folder} are both shard {each.shard}")
    missing = [str(Shard(number, first.shard.of)) for number in range(1, first.shard.of + 1) if number not in by_number]
    if missing:
        raise NotThisStudy(f"shards are missing: {', '.join(missing[:10])}{' ...' if len(missing) > 10 else ''}")
    return [by_number[number] for number in sorted(by_number)]


def _study(first: _Found, target: Path, command: str) -> Streamed:
    """The study that the shards are of, from the file that the first has of it."""
    path, identity = first.work / SCENARIO, first.identity
    try:
        study = load_study(path)
    except ScenarioError as error:
        raise NotThisStudy(f"{path}: cannot be read back: {error}") from None
    text = path.read_text(encoding="utf-8")
    made = Streamed(
        study.scenario,
        study.policies,
        study.seed,
        study.replications,
        target,
        keeps_paths=identity.paths,
        command=command,
        study_text=text,
        equal_service=study.equal_service,
    )
    different = replace(identity, shard=str(WHOLE)).difference(made.identity)
    if different:
        raise NotThisStudy(f"{path}: is not the study of its shard: {different}")
    return made


def _parts(found: _Found, n_policies: int) -> list[PartFolder]:
    """Its parts, if they hold all of its replications."""
    parts, own = read_parts(found.work, n_policies), found.shard.replications(found.identity.replications)
    if not parts or (parts[0].replications.start, parts[-1].replications.stop) != (own.start, own.stop):
        raise NotThisStudy(f"{found.work}: does not hold replications {own.start} to {own.stop - 1}")
    return parts
