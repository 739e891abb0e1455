"""A study that streams into its folder: memory does not grow, and what is killed goes on where it was."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from simulator.lab.policy import Policy
from simulator.study.comparison import Comparison
from simulator.study.daily import DayTally
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.experiment import Progress, check_study, live_parts
from simulator.study.files import ScenarioError, load_study
from simulator.study.identity import WHOLE, Identity, NotThisStudy, Shard, identity_of, read_identity
from simulator.study.journal import STUDY, Journal
from simulator.study.part_files import LISTS, PATHS, join_list, join_paths, join_runs
from simulator.study.restated import study_text
from simulator.study.runs import Runs
from simulator.study.stopping import Precision
from simulator.study.store import MANIFEST, REPLICATIONS, SCENARIO, UNFINISHED, Pictures, move_up, write_answers
from simulator.study.streamed import RunsInFolder, RunsInParts, StreamedComparison
from simulator.study.workers import processes
from simulator.world.scenario import Scenario

SHARD = "shard"
"""Folder of the parts of a finished shard."""
_FILES = "files"


@dataclass(frozen=True, slots=True)
class Streamed:
    """A study to run into a folder."""

    scenario: Scenario
    policies: tuple[Policy, ...]
    seed: int
    replications: int
    folder: Path
    """Empty, or one in which the same study was begun."""
    shard: Shard = WHOLE
    keeps_paths: bool = False
    command: str = ""
    """For the manifest."""
    study_text: str = ""
    """The study as TOML; by default it is made from the rest."""
    equal_service: EqualService = USUAL_SERVICE
    until: Precision | None = None
    """Adds replications, in rounds; those asked for are then the first."""

    @property
    def identity(self) -> Identity:
        """What a folder must hold to go on with it; however many replications a stopping rule has reached."""
        return identity_of(
            self.scenario,
            self.policies,
            self.seed,
            self.replications,
            self.shard,
            self.keeps_paths,
            self.equal_service,
            "a fixed number of worlds" if self.until is None else self.until.said,
        )

    @property
    def text(self) -> str:
        """The study as TOML."""
        return self.study_text or study_text(
            self.scenario, self.policies, self.seed, self.replications, self.equal_service
        )

    @property
    def own_replications(self) -> range:
        """Those of its shard."""
        return self.shard.replications(self.replications)


def begin(study: Streamed) -> Journal:
    """Start a study in its folder, which must be there and empty.

    Raises
    ------
    ValueError
        If it cannot be compared, its shard is empty, or a shard would have to know when all others are enough.
    """
    check_study(study.policies, study.replications, 1, None)
    if study.until is not None and study.shard != WHOLE:
        raise ValueError("a shard knows only its own worlds, so it cannot tell when there are enough: say how many")
    if not study.own_replications:
        raise ValueError(f"shard {study.shard}: has nothing to do, of {study.replications} replications")
    journal = _journal(study)
    journal.begin(study.identity, study.text)
    return journal


def reopen(study: Streamed) -> Journal:
    """Go on with a study in its folder.

    Raises
    ------
    NotThisStudy
        If the folder holds no study that was begun, or another one; the message says which, and what differs.
    """
    if is_finished(study.folder):
        raise NotThisStudy(f"{study.folder}: is finished; there is nothing to go on with")
    journal = _journal(study)
    journal.reopen(study.identity)
    return journal


def is_finished(folder: Path) -> bool:
    """Whether a folder holds all results of a study, or of a shard."""
    return (folder / MANIFEST).is_file() or (folder / SHARD / STUDY).is_file()


def check_finished(study: Streamed) -> None:
    """See that the finished results in the study's folder are its own.

    Raises
    ------
    NotThisStudy
        If they are another study's, or a stopping rule wants more worlds than it has.
    """
    if (study.folder / SHARD / STUDY).is_file():
        different = read_identity(study.folder / SHARD / STUDY).difference(study.identity)
    else:
        same = study.shard == WHOLE and _text_in(study) == study.text
        different = "" if same and (study.folder / PATHS).is_file() == study.keeps_paths else "see its scenario.toml"
    if different:
        raise NotThisStudy(f"{study.folder}: holds the results of another study: {different}")
    if study.until is not None:
        _check_enough(study, study.until)


def _text_in(study: Streamed) -> str:
    """The study in its finished folder as TOML; whatever number of replications a stopping rule has reached."""
    path = study.folder / SCENARIO
    if study.until is None:
        return path.read_bytes().decode(errors="replace")
    try:
        return load_study(path, replications=study.replications).text
    except ScenarioError:
        return ""


def _check_enough(study: Streamed, rule: Precision) -> None:
    n = load_study(study.folder / SCENARIO).replications
    runs = RunsInFolder(study.scenario, study.policies, study.seed, n, study.folder, equal_service=study.equal_service)
    if rule(runs) > n:
        raise NotThisStudy(f"{study.folder}: is finished with {n} worlds, and {rule.said} needs more: name another DIR")


def is_begun(folder: Path) -> bool:
    """Whether a folder holds a study that could go on."""
    return (folder / UNFINISHED / STUDY).is_file()


def live_on(
    study: Streamed,
    journal: Journal,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    chunk_size: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Live the replications that are not on disk yet; whatever stops this, those on disk stay there.

    A study that was stopped goes through the rounds of its stopping rule again, so it ends with as many.
    """
    live = partial(_live_rest, study, journal, workers=workers, chunk_size=chunk_size, progress=progress)
    if study.until is None:
        live(executor=executor)
        return
    wanted = study.until.first(study.replications)
    with nullcontext(executor) if executor is not None else processes(workers) as lasting:  # the same for all rounds
        while True:
            journal.aim(wanted)
            live(executor=lasting)
            done, wanted = wanted, study.until(_so_far(study, journal))
            if wanted <= done:
                return


def _so_far(study: Streamed, journal: Journal) -> Runs:
    """The runs that a round ends with, of which no part goes beyond it."""
    parts = [part.path for part in journal.parts if part.replications.stop <= journal.replications.stop]
    n = len(journal.replications)
    return RunsInParts(study.scenario, study.policies, study.seed, n, parts, equal_service=study.equal_service)


def _live_rest(
    study: Streamed,
    journal: Journal,
    *,
    workers: int,
    executor: Executor | None,
    chunk_size: int | None,
    progress: Progress | None,
) -> None:
    n_done, n_all = min(journal.n_saved, len(journal.replications)), len(journal.replications)
    if progress is not None:
        progress(n_done, n_all)
    if not journal.rest:
        return
    parts = live_parts(
        study.scenario,
        study.policies,
        study.seed,
        journal.rest,
        workers=workers,
        executor=executor,
        chunk_size=chunk_size,
        keeps_paths=study.keeps_paths,
    )
    with closing(parts) as finished:
        for part in finished:
            n_done += part.n_done
            journal.take(part)
            if progress is not None:
                progress(n_done, n_all)


def finish(study: Streamed, journal: Journal, pictures: Pictures | None = None) -> Comparison:
    """Make the results of what was lived, move them up, and let the parts go."""
    reached = study if study.until is None else _reached(study, journal)
    made = assemble(reached, [part.path for part in journal.parts], journal.days, journal.work, pictures)
    shutil.rmtree(journal.work)
    return made


def finish_shard(journal: Journal) -> Path:
    """Keep the parts of a shard for the merge."""
    return journal.work.rename(journal.work.parent / SHARD)


def assemble(
    study: Streamed, parts: Sequence[Path], days: DayTally, work: Path, pictures: Pictures | None
) -> Comparison:
    """The results of all parts, written to a folder in `work` and moved up to the study's when all is there."""
    aside = work / _FILES
    aside.mkdir()
    names = [policy.name for policy in study.policies]
    for name, _, row_type in LISTS:
        join_list(parts, name, row_type, aside / name)
    join_runs(parts, names, 0, aside / REPLICATIONS)
    comparison = StreamedComparison(
        study.scenario,
        study.policies,
        study.seed,
        study.replications,
        *((), (), (), (), ()),
        days.sums(),
        aside,
        equal_service=study.equal_service,
    )
    if study.keeps_paths:
        join_paths(parts, comparison.dates, aside / PATHS)
    write_answers(comparison, aside, command=study.command, study_text=study.text, pictures=pictures)
    move_up(aside, study.folder)
    return replace(comparison, folder=study.folder)


def _reached(study: Streamed, journal: Journal) -> Streamed:
    """The study as it would have been, had as many replications been asked for as its stopping rule has reached."""
    n = len(journal.replications)
    text = load_study(journal.work / SCENARIO, replications=n).text if study.study_text else ""
    return replace(study, replications=n, study_text=text)


def _journal(study: Streamed) -> Journal:
    work = study.folder / UNFINISHED
    own = study.own_replications if study.until is None else range(study.until.most)
    return Journal(work, own, len(study.policies), study.scenario.calendar)
