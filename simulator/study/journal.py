"""What has been lived, on disk while a study runs, so that a run that is killed goes on where it was.

`FOLDER/.unfinished` holds the study's identity and parts, each the rows of some replications in a row. A part is
written aside, brought to disk and renamed, so it is there whole or not at all; the last one also holds the days of all
replications up to its end. Nothing in it is ever changed.
"""

from __future__ import annotations

import os
import re
import shutil
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from simulator.study.daily import DayTally
from simulator.study.frames import SCALARS
from simulator.study.identity import Identity, NotThisStudy, identity_text, read_identity
from simulator.study.part import Part
from simulator.study.part_files import DAYS, SCALARS_FILE, write_part
from simulator.world.calendar import Calendar

STUDY, SCENARIO = "study.json", "scenario.toml"
SAVE_SECONDS = 1.0
"""Parts are written no more often than this: what a killed run loses, beside the chunk in work."""

_PART = re.compile(r"part-(\d{9})-(\d{9})")
_MOST_DAYS_BYTES = 1 << 32
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class PartFolder:
    """The rows of some replications, on disk."""

    path: Path
    replications: range


class Journal:
    """The replications of a run that are on disk; those to come are appended in order."""

    def __init__(self, work: Path, replications: range, n_policies: int, calendar: Calendar) -> None:
        self.work, self.replications = work, replications
        self.n_policies, self.calendar = n_policies, calendar
        self.parts: list[PartFolder] = []
        self.days = DayTally(n_policies, calendar)
        """Of all replications so far, those held back among them."""
        self._held: Part | None = None
        self._saved_at = time.monotonic()

    @property
    def n_saved(self) -> int:
        """Replications that are on disk."""
        return sum(len(part.replications) for part in self.parts)

    @property
    def rest(self) -> range:
        """Replications that are not."""
        return self.replications[self.n_saved :]

    def aim(self, replications: int) -> None:
        """Be done after so many replications in all."""
        self.replications = range(self.replications.start, self.replications.start + replications)

    def begin(self, identity: Identity, study_text: str) -> None:
        """Make the folder, and write down whose it is."""
        self.work.mkdir()
        write_down(self.work / SCENARIO, study_text.encode())
        write_down(self.work / STUDY, identity_text(identity).encode())

    def reopen(self, identity: Identity) -> None:
        """Go on with what is there.

        Raises
        ------
        NotThisStudy
            If it is of another study, or damaged.
        """
        different = read_identity(self.work / STUDY).difference(identity)
        if different:
            raise NotThisStudy(f"{self.work.parent}: holds another study: {different}")
        for path in self.work.iterdir():
            if path.is_dir() and not _PART.fullmatch(path.name):
                shutil.rmtree(path)
        self.parts = read_parts(self.work, self.n_policies)
        if [part.replications.start for part in self.parts[:1]] not in ([], [self.replications.start]):
            raise NotThisStudy(f"{self.parts[0].path}: does not begin with replication {self.replications.start}")
        if self.n_saved > len(self.replications):
            raise NotThisStudy(f"{self.work}: holds more replications than the study has")
        if self.parts:
            self.days = read_days(self.parts[-1].path / DAYS, self.n_policies, self.calendar)

    def take(self, part: Part) -> None:
        """Append the next replications; they are on disk a second later at most, or when the run ends."""
        self.days.merge(part.days)
        if self._held is None:
            self._held = part
        else:
            self._held.lists.extend(part.lists)
            self._held.n_done += part.n_done
        is_last = self.n_saved + self._held.n_done == len(self.replications)
        if is_last or time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self._save(self._held)

    def _save(self, part: Part) -> None:
        found = self.rest[: part.n_done]
        path = self.work / f"part-{found.start:09}-{found.stop:09}"
        aside = path.with_suffix(".tmp")
        aside.mkdir()
        try:
            write_part(part, aside)
            with (aside / DAYS).open("wb") as file:
                np.savez(file, **self.days.arrays())  # type: ignore[arg-type]
            for written in aside.iterdir():
                to_disk(written)
            to_disk(aside)
            aside.rename(path)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        to_disk(self.work)
        self.parts.append(PartFolder(path, found))
        self._held, self._saved_at = None, time.monotonic()
        for before in self.parts[-2:-1]:
            (before.path / DAYS).unlink(missing_ok=True)


def read_parts(work: Path, n_policies: int) -> list[PartFolder]:
    """The parts in a folder, in order.

    Raises
    ------
    NotThisStudy
        If one is missing, or not whole.
    """
    found = []
    for path in sorted(work.iterdir()):
        name = _PART.fullmatch(path.name)
        if name:
            found.append(PartFolder(path, range(int(name[1]), int(name[2]))))
    for part, after in pairwise(found):
        if part.replications.stop != after.replications.start:
            raise NotThisStudy(
                f"{work}: replications {part.replications.stop} to {after.replications.start - 1} are missing"
            )
    for part in found:
        table = readable(part.path / SCALARS_FILE, lambda path: np.load(path, mmap_mode="r", allow_pickle=False))
        if table.shape != (n_policies * len(part.replications), len(SCALARS)) or table.dtype != np.float64:
            raise NotThisStudy(f"{part.path / SCALARS_FILE}: does not hold the runs its folder is named for")
    return found


def read_days(path: Path, n_policies: int, calendar: Calendar) -> DayTally:
    """The days of all replications up to the end of a part."""

    def read(path: Path) -> DayTally:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MOST_DAYS_BYTES:
                raise ValueError("too large")
        with np.load(path, allow_pickle=False) as found:
            return DayTally.of(n_policies, calendar, found)

    return readable(path, read)


def readable(path: Path, read: Callable[[Path], _Made]) -> _Made:
    """What is read from a file that may be missing or damaged, which is told in words."""
    try:
        return read(path)
    except FileNotFoundError:
        raise NotThisStudy(f"{path}: is missing") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise NotThisStudy(f"{path}: is damaged: {error}") from None


def write_down(path: Path, content: bytes) -> None:
    """Write a file aside, bring it to disk and give it its name: it is there whole or not at all."""
    aside = path.with_name(f"{path.name}.tmp")
    aside.write_bytes(content)
    to_disk(aside)
    aside.replace(path)
    to_disk(path.parent)


def to_disk(path: Path) -> None:
    """Have the system bring a file, or what a folder lists, to disk now."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
