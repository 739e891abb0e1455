"""The pictures of a results folder, put into a page: as drawn where that is small, else as pixels of few colours."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from simulator.show.plots import pictures_of
from simulator.study.comparison import Comparison

MOST_BYTES = 1_400_000
"""Of all pictures in a page, so that it can be mailed."""
_COLOURS = 256
_WIDTHS = (1920, 1280, 960)
"""Pixels across, the first that fits."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One picture, as a page holds it."""

    name: str
    title: str
    alt: str
    """What it shows, for who cannot see it."""
    uri: str
    """The whole picture as data."""


def pictures_in(folder: Path, comparison: Comparison) -> list[Shown]:
    """Those of a comparison that the folder has, in the order in which they are looked at."""
    there = [picture for picture in pictures_of(comparison) if (folder / f"{picture.name}.png").is_file()]
    uris: list[str] = []
    for width in _WIDTHS:
        uris = [_smallest(folder / picture.name, width) for picture in there]
        if sum(map(len, uris)) <= MOST_BYTES:
            break
    return [
        Shown(picture.name, picture.title, picture.alt(comparison), uri)
        for picture, uri in zip(there, uris, strict=True)
    ]


def _smallest(stem: Path, width: int) -> str:
    return min(_ways(stem, width), key=len)


def _ways(stem: Path, width: int) -> Iterator[str]:
    drawn = stem.with_suffix(".svg")
    if drawn.is_file() and drawn.stat().st_size < stem.with_suffix(".png").stat().st_size:
        text = " ".join(drawn.read_text(encoding="utf-8").split())
        yield f"data:image/svg+xml,{quote(text, safe=' /:;=,()?!*@+$-._~')}"
    yield f"data:image/png;base64,{b64encode(_few_colours(stem.with_suffix('.png'), width)).decode()}"


def _few_colours(path: Path, width: int) -> bytes:
    """A picture at most so wide, with as many colours as drawings need."""
    from PIL import Image

    with Image.open(path) as opened:
        picture = opened.convert("RGB")
    if picture.width > width:
        picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    made = BytesIO()
    picture.quantize(_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(made, "PNG")
    return made.getvalue()
