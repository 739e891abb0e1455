"""How every table of ours looks: no frame, a rule under the headers, title and caption at the left."""

from __future__ import annotations

from typing import TypeVar

from rich import box
from rich.table import Table
from rich.text import Text

_Kind = TypeVar("_Kind", bound=Table)


def plain_table(title: str, caption: str | Text, kind: type[_Kind]) -> _Kind:
    """An empty table of some kind, dressed; brackets in its words are no markup."""
    return kind(
        title=Text(title, style="bold"),
        caption=Text(caption) if isinstance(caption, str) else caption,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
