"""A results folder as one file to download; equal studies make equal bytes."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

from simulator.study.comparison import Comparison
from simulator.study.store import save

_NO_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip can hold: when it was made is no part of a result."""


def archive(comparison: Comparison, study_text: str, command: str) -> bytes:
    """The data of a results folder, without pictures and workbook, as a zip of the bytes that `compare` writes.

    Parameters
    ----------
    comparison
        What to write.
    study_text
        The study as TOML.
    command
        What gives the same results, for the manifest.
    """
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as made, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        folder = Path(made) / "results"
        save(comparison, folder, command=command, study_text=study_text)
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(path.name, _NO_DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            into.writestr(entry, path.read_bytes())
    return packed.getvalue()
