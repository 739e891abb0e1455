"""A table for terminals of any width."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_UNLIMITED = 10_000


class FittingTable(Table):
    """A table that gives up whole columns rather than letters, and then stands in blocks, where there is no room."""

    spare: dict[str, int]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = copy(self)
        shown.columns = list(self.columns)
        least = sorted((header for header, spare in self.spare.items() if spare), key=lambda key: -self.spare[key])
        unlimited = options.update(max_width=_UNLIMITED)
        while Measurement.get(console, unlimited, shown).maximum > options.max_width:
            if not least:
                yield from self._blocks(options.max_width)
                return
            shown.columns = [column for column in shown.columns if column.header != least[0]]
            del least[0]
        yield from Table.__rich_console__(shown, console, options)

    def _blocks(self, width: int) -> Iterator[Text]:
        """A block of lines per row, a figure a line."""
        first, *others = self.columns
        headers = [" ".join(str(column.header).split()) for column in others]
        label = max(map(len, headers))
        yield Text(str(self.title), style="bold")
        rows = zip(first.cells, *(column.cells for column in others), strict=True)
        for name, *cells in rows:
            yield Text(f"\n{name}", style="bold")
            for header, cell in zip(headers, cells, strict=True):
                figure = cell if isinstance(cell, Text) else Text(str(cell))
                fits = 1 + label + 2 + len(figure) <= width
                yield Text(f" {header:{label}}  " if fits else f" {header}\n   ") + figure
        yield Text("")
        if isinstance(self.caption, Text):
            yield self.caption
