"""Where a comparison goes: an empty folder, claimed before the work, and removed again if nothing came of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FolderRefused(Exception):
    """Results cannot go there; the message says why."""


class Stopped(Exception):
    """Ctrl-C; the message says what became of the work."""


@contextmanager
def results_folder(out: Path | None, name: str) -> Iterator[Path]:
    """An empty folder to write to: `out`, or a new one named after the study in the folder `out`."""
    folder = _free_folder(Path("out"), name) if out is None else out
    made = [missing for missing in (folder, *folder.parents) if not missing.exists()]
    try:
        _claim(folder, is_new=out is None)
        yield folder
    except BaseException as stop:
        is_saved = folder.is_dir() and any(folder.iterdir())
        for empty in made:
            if empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
        if not isinstance(stop, KeyboardInterrupt):
            raise
        if is_saved:
            raise Stopped(f"Interrupted while saving: what is in {folder} may not be complete.") from None
        raise Stopped("Interrupted: nothing was written. The same command gives the same results.") from None


def _claim(folder: Path, is_new: bool) -> None:
    """Make the folder if need be; refuse it if it cannot be written to or anything is in it."""
    try:
        folder.mkdir(parents=True, exist_ok=not is_new)
        with tempfile.TemporaryFile(dir=folder):
            pass
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise FolderRefused(f"{folder}: results cannot be written here: {error.strerror}") from None
    if not is_empty:
        raise FolderRefused(f"{folder}: is not empty, and nothing is written over; name a new folder with --out")


def _free_folder(parent: Path, name: str) -> Path:
    """out/name, or the first of out/name-2, out/name-3 ... that is not there yet."""
    folder, number = parent / name, 2
    while folder.exists():
        folder, number = parent / f"{name}-{number}", number + 1
    return folder
