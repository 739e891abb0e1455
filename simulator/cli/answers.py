"""What the commands that ask a question share: where answers go, how they are kept, and how they are said."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.cli.said import print_json, print_rich, progress_bar, refusals

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.table import Table

    from simulator.study.comparison import Comparison

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON, and nothing else.")


def out_to(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option --out of a command whose results go to out/NAME-SCENARIO."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help=f"New or empty folder. [default: out/{name}-SCENARIO]",
    )


@contextmanager
def at_work(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """While a question is asked: a bar for a person to look at, and refusals as messages."""
    with refusals(), progress_bar(what, shown=sys.stderr.isatty() and not quiet) as progress:
        yield progress


def keep(comparison: Comparison, folder: Path, *writers: Callable[[Path], object], study_text: str = "") -> None:
    """Results of a comparison in a folder, and what else these write beside them."""
    from simulator.study.store import save

    def written(_: object, aside: Path) -> None:
        for write in writers:
            write(aside)

    save(comparison, folder, command=str(click.get_current_context().obj), study_text=study_text, pictures=written)


def say_tables(tables: Sequence[Table]) -> None:
    """One below the other, with a line between."""
    for table in tables:
        print_rich(table)
        click.echo()


def answer(answers: DataclassInstance, folder: Path, tell: Callable[[], None], *, as_json: bool, quiet: bool) -> None:
    """Say what came out as the options ask for, in words by `tell`, and where it is."""
    if as_json:
        print_json(answers)
    elif quiet:
        click.echo(folder)
    else:
        tell()
        click.echo(f"Results: {folder}")
