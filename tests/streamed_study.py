"""A study of a few seconds to stream, stop, resume and split, and the bytes it must end with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from small_study import BUY, RENT, RESERVE, growing_lab

from simulator.study.comparison import Comparison
from simulator.study.equal_service import EqualService
from simulator.study.experiment import compare
from simulator.study.store import save
from simulator.study.streaming import Streamed, begin, finish, live_on, reopen

WORLDS = 7
STUDY = Streamed(
    growing_lab(90),
    (RENT, RESERVE, BUY),
    seed=3,
    replications=WORLDS,
    folder=Path(),
    command="x",
    equal_service=EqualService(0.02, 3.0),
)


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a results folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_memory(folder: Path) -> dict[str, bytes]:
    """What the study makes when it is compared in memory, in this process, and saved."""
    save(compared(WORLDS), folder, command=STUDY.command)
    return files(folder)


def compared(worlds: int) -> Comparison:
    """The study of so many worlds in memory."""
    return compare(
        STUDY.scenario, STUDY.policies, replications=worlds, seed=STUDY.seed, equal_service=STUDY.equal_service
    )


def placed(folder: Path, **changes: object) -> Streamed:
    """The study in an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return replace(STUDY, folder=folder, **changes)  # type: ignore[arg-type]


def stopped(study: Streamed, after: int, chunk_size: int | None = None) -> None:
    """Live the study until so many worlds are done, and give up; on disk is what had been written by then."""

    class Enough(Exception):
        pass

    def give_up(done: int, _: int) -> None:
        if done >= after:
            raise Enough

    journal = reopen(study) if any(study.folder.iterdir()) else begin(study)
    try:
        live_on(study, journal, chunk_size=chunk_size, progress=give_up)
    except Enough:
        return


def gone_on(study: Streamed) -> dict[str, bytes]:
    """Resume the study, finish it, and read its files."""
    journal = reopen(study)
    live_on(study, journal)
    finish(study, journal)
    return files(study.folder)
