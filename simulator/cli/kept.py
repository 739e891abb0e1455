"""Where a study streams to, and what is said of it when it is stopped."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.said import BadInput, Interrupted, results_go_to

if TYPE_CHECKING:
    from simulator.study.journal import Journal
    from simulator.study.streaming import Streamed


def is_done(study: Streamed, out: Path | None) -> bool:
    """Whether the folder holds all results of this very study already."""
    from simulator.study.identity import NotThisStudy
    from simulator.study.streaming import check_finished, is_finished

    if out is None:
        raise BadInput("--resume needs --out DIR, the folder to go on in")
    if not is_finished(out):
        return False
    try:
        check_finished(replace(study, folder=out))
    except NotThisStudy as error:
        raise BadInput(str(error)) from None
    return True


@contextmanager
def study_goes_to(study: Streamed, out: Path | None, name: str, *, resume: bool) -> Iterator[tuple[Streamed, Journal]]:
    """The study in its folder, begun or gone on with; what is on disk is kept, whatever stops it."""
    from simulator.study.identity import NotThisStudy
    from simulator.study.streaming import begin, reopen

    if resume and out is not None and out.is_dir() and any(out.iterdir()):
        placed = replace(study, folder=out)
        try:
            journal = reopen(placed)
        except NotThisStudy as error:
            raise BadInput(str(error)) from None
        with _kept_if_stopped(placed, journal, study.command):
            yield placed, journal
        return
    with results_go_to(out, name) as folder:
        placed = replace(study, folder=folder)
        try:
            journal = begin(placed)
        except ValueError as error:
            raise BadInput(str(error)) from None
        again = study.command if out is not None else shlex.join([*shlex.split(study.command), "--out", str(folder)])
        with _kept_if_stopped(placed, journal, again if resume else f"{again} --resume"):
            yield placed, journal


@contextmanager
def _kept_if_stopped(study: Streamed, journal: Journal, go_on: str) -> Iterator[None]:
    """Let the folder be empty again if nothing is kept, or say how much is, and how to go on."""
    from simulator.study.workers import WorkerLost

    try:
        yield
    except BaseException as stop:
        if journal.n_saved == 0:
            shutil.rmtree(journal.work, ignore_errors=True)
            if isinstance(stop, WorkerLost):
                raise click.ClickException(str(stop)) from None
            raise
        kept = f"{journal.n_saved} of {len(journal.replications)} worlds are kept in {study.folder}."
        if isinstance(stop, KeyboardInterrupt):
            raise Interrupted(f"Interrupted: {kept} To go on:\n  {go_on}") from None
        if isinstance(stop, OSError):
            what = f"{f'{stop.filename}: ' if stop.filename else ''}{stop.strerror or stop}"
            raise click.ClickException(f"{what}\n{kept} To go on:\n  {go_on}") from None
        if isinstance(stop, WorkerLost):
            raise click.ClickException(f"{stop}\n{kept} To go on:\n  {go_on}") from None
        raise
