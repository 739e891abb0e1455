"""How the door speaks: mistakes, tables, JSON, and the study that a command names."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.table import Table

    from simulator.study.files import Study
    from simulator.world.scenario import Scenario

_PIPE_WIDTH = 500
"""Columns a table may take where no terminal limits it."""

REPLICATIONS = click.option(
    "--replications", type=click.IntRange(min=1), metavar="N", help="Worlds to draw. [default: the file's, 32]"
)
SEED = click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Which worlds. [default: the file's, 1]")
SET = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override one value of the file, as demand.growth_per_year=4. Repeatable.",
)
WORKERS = click.option("--workers", type=click.IntRange(min=1), default=1, metavar="N", help="Processes. [default: 1]")
QUIET = click.option("--quiet", is_flag=True, help="Print only where the results are.")

SCENARIO_HELP = "A scenario whose own rows and prices count too."


def a_percentage(least: float, most: float) -> Callable[[click.Context, click.Parameter, str | None], float | None]:
    """What reads an option such as 1% or 0.5%: the share it says."""

    def read(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
        if text is None:
            return None
        try:
            number = float(text.removesuffix("%")) if text.endswith("%") else math.nan
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            rule = f"must be a percentage from {least:g}% to {most:g}%, like 1% (got {text[:30]!r})"
            raise click.BadParameter(rule, context, option)
        return number / 100.0

    return read


class BadInput(click.ClickException):
    """A mistake of the user's."""

    exit_code = 2


class Interrupted(click.ClickException):
    """Ctrl-C, with what became of the work."""

    exit_code = 130

    def show(self, file: IO[str] | None = None) -> None:
        """Say it; it is no error."""
        click.echo(self.format_message(), file=file, err=True)


def read_study(
    scenario: str,
    overrides: tuple[str, ...],
    seed: int | None,
    replications: int | None,
    policies: tuple[str, ...],
) -> Study:
    """The study a command names, with what its options say; a user's mistakes become one message."""
    from simulator.study.files import ScenarioError, load_study

    try:
        return load_study(scenario, overrides, seed=seed, replications=replications, policies=policies)
    except ScenarioError as error:
        raise _refused(error) from None


def read_scenario(scenario: str) -> Scenario:
    """The scenario of this name alone, whatever its policies need."""
    from simulator.study.files import ScenarioError, load_scenario

    try:
        return load_scenario(scenario)
    except ScenarioError as error:
        raise _refused(error) from None


def _refused(error: Exception) -> BadInput:
    lines = str(error)
    return BadInput(f"the scenario cannot be used.\n{lines}" if "\n" in lines else lines)


@contextmanager
def results_go_to(out: Path | None, name: str) -> Iterator[Path]:
    """An empty folder for results: `out`, or a new one of this name in the folder out."""
    from simulator.study.results_folder import FolderRefused, Stopped, results_folder

    try:
        with results_folder(out, name) as folder:
            yield folder
    except FolderRefused as error:
        raise BadInput(str(error)) from None
    except Stopped as error:
        raise Interrupted(str(error)) from None


@contextmanager
def refusals() -> Iterator[None]:
    """What a lab refuses becomes one message: the user's mistake where it has a place in the scenario."""
    from simulator.world.scenario import Misplaced

    try:
        yield
    except ValueError as error:
        message = "; ".join([str(error), *getattr(error, "__notes__", [])])
        raise (BadInput if isinstance(error, Misplaced) else click.ClickException)(message) from None


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr, which a person is looking at, with rate and time left; nothing in a pipe."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, rate="")

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, rate=_rate_said(bar.tasks[0].speed))

        yield show


def _rate_said(per_second: float | None) -> str:
    """How fast it goes, in worlds per second, or per minute where that is easier to read."""
    if not per_second:
        return ""
    return f"{per_second:.3g}/s" if per_second >= 1.0 else f"{60.0 * per_second:.2g}/min"


def print_rich(table: Table) -> None:
    """A table as wide as the terminal, or as it needs to be in a pipe."""
    from rich.console import Console

    console = Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
    console.print(table)


def print_json(made: DataclassInstance | Sequence[DataclassInstance]) -> None:
    """Records as JSON on stdout, and nothing else."""
    click.echo(json.dumps(_plain(made), indent=2))


def _plain(value: object) -> object:
    """A record, or a list of them, in JSON's own types; what is not a finite number is null."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | int):
        return value
    item = getattr(value, "item", None)
    return _plain(item()) if item is not None else str(value)
