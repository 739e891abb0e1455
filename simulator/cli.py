"""The door: what `labspend` can be told. What is heavy is imported inside the command that needs it."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from simulator import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.table import Table

    from simulator.study.comparison import Comparison
    from simulator.study.files import Study

_PIPE_WIDTH = 500
"""Columns a table may take where no terminal limits it."""

_SET_HELP = "Override one value of the file, as demand.growth_per_year=4. Repeatable."


class _BadInput(click.ClickException):
    """A mistake of the user's."""

    exit_code = 2


class _Interrupted(click.ClickException):
    """Ctrl-C, with what became of the work."""

    exit_code = 130

    def show(self, file: IO[str] | None = None) -> None:
        """Say it; it is no error."""
        click.echo(self.format_message(), file=file, err=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a user's mistake is one message and status 2, Ctrl-C is status 130."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = labspend.main(words, prog_name="labspend", standalone_mode=False, obj=shlex.join(["labspend", *words]))
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return _Interrupted.exit_code
    except OSError as error:
        click.echo(f"Error: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}", err=True)
        return 1
    return status if isinstance(status, int) else 0


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: labspend new my_lab.toml && labspend compare my_lab.toml",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def labspend() -> None:
    """Simulate what an AI lab's compute costs, and compare the policies that decide it."""


@labspend.command(short_help="Compare policies in the worlds of SCENARIO.")
@click.argument("scenario")
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="Compare this one; the first is the baseline."
)
@click.option(
    "--replications", type=click.IntRange(min=1), metavar="N", help="Worlds to draw. [default: the file's, 32]"
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Which worlds. [default: the file's, 1]")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help=_SET_HELP)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="New or empty folder. [default: out/SCENARIO]"
)
@click.option("--workers", type=click.IntRange(min=1), default=1, metavar="N", help="Processes. [default: 1]")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and nothing else.")
@click.option("--quiet", is_flag=True, help="Print only where the results are.")
def compare(
    scenario: str,
    policies: tuple[str, ...],
    replications: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare policies in the worlds of SCENARIO, a TOML file or the name of one that comes with labspend.

    \b
    Examples:
      labspend compare frontier_lab
      labspend compare my_lab.toml --policy chinchilla-rent --policy all-buy --replications 100 --workers 2
      labspend compare my_lab.toml --set demand.growth_per_year=4 --json > summary.json
    """
    study = _study(scenario, overrides, seed, replications, policies)
    command = str(click.get_current_context().obj)
    with _results_folder(out, study) as folder:
        comparison = _compared(study, workers, shown=sys.stderr.isatty() and not quiet)
        _saved(comparison, folder, command, study.text)
    if as_json:
        _print_json(comparison.summary_records())
    elif quiet:
        click.echo(folder)
    else:
        _print_table(comparison)
        click.echo(f"Results: {folder}")


@labspend.command(short_help="Say what is wrong with SCENARIO, or what it means.")
@click.argument("scenario")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help=_SET_HELP)
def check(scenario: str, overrides: tuple[str, ...]) -> None:
    """Say what is wrong with SCENARIO, by file and line, or else what it means.

    \b
    Example:
      labspend check my_lab.toml --set horizon_days=730
    """
    study = _study(scenario, overrides, None, None, ())
    from simulator.study.meaning import meaning

    click.echo(meaning(study))


@labspend.command(short_help="Write a commented scenario to start from.")
@click.argument("path", type=click.Path(path_type=Path))
def new(path: Path) -> None:
    """Write a commented scenario to start from to PATH.

    \b
    Example:
      labspend new my_lab.toml
    """
    if path.suffix != ".toml":
        raise _BadInput(f"{path}: the name of a scenario file ends in .toml; try {path.with_suffix('.toml')}")
    text = (Path(__file__).parent / "study" / "starter.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _BadInput(f"{path}: is there already, and is not overwritten") from None
    except OSError as error:
        raise _BadInput(f"{path}: cannot be written: {error.strerror}") from None
    name = shlex.quote(str(path))
    click.echo(f"Wrote {path}. Next: labspend check {name}, then labspend compare {name}")


@labspend.command(short_help="Print what the laws say of MODEL on HARDWARE.")
@click.argument("model", required=False)
@click.argument("hardware", required=False)
@click.option(
    "--precision",
    type=click.Choice(["bf16", "fp8", "int8", "int4"]),
    default="bf16",
    help="Number format it is served in. [default: bf16]",
)
@click.option(
    "--fit",
    type=click.Choice(["BESI", "HOFF", "HOFFX", "SARD", "HARM"]),
    default="BESI",
    help="Coefficients of the loss law. [default: BESI]",
)
@click.option(
    "--usd-per-gpu-hour", type=float, metavar="X", help="Price of a GPU-hour. [default: that of frontier_lab]"
)
@click.option(
    "--context", type=float, default=2000.0, metavar="N", help="Tokens a request holds in its cache. [default: 2000]"
)
@click.option(
    "--prompt-share", type=float, default=0.8, metavar="P", help="Prompt tokens / user tokens. [default: 0.8]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON, and nothing else.")
def laws(
    model: str | None,
    hardware: str | None,
    precision: str,
    fit: str,
    usd_per_gpu_hour: float | None,
    context: float,
    prompt_share: float,
    as_json: bool,
) -> None:
    """Print what the laws say of MODEL on HARDWARE: loss, FLOP, memory, speed and cost, to check them by hand.

    MODEL is a published model, or parameters and training tokens as N:D. Without arguments, says which
    models and hardware there are.

    \b
    Examples:
      labspend laws "Llama 3.1 70B" H100 --precision fp8
      labspend laws 70e9:1.4e12 B200 --usd-per-gpu-hour 4.50 --json
    """
    from simulator.show.laws_table import Catalogue, catalogue_table, laws_table
    from simulator.study.hand_check import CannotCheck, Terms, asked

    if model is None:
        _print_json(Catalogue()) if as_json else _print_rich(catalogue_table(Catalogue()))
        return
    if hardware is None:
        raise _BadInput("HARDWARE is missing, such as H100; labspend laws alone says which there are")
    terms = Terms(usd_per_gpu_hour=usd_per_gpu_hour, context_tokens=context, prompt_share=prompt_share)
    try:
        found = asked(model, hardware, precision, fit, terms)
    except CannotCheck as error:
        raise _BadInput(str(error)) from None
    _print_json(found) if as_json else _print_rich(laws_table(found))


@labspend.command(short_help="Say why a policy trains what it trains.")
@click.argument("scenario")
@click.option("--policy", "policy", metavar="NAME", help="Whose decision. [default: the last of the file's]")
@click.option("--date", "date", type=click.DateTime(["%Y-%m-%d"]), help="First day to look. [default: the start]")
@click.option("--replication", type=click.IntRange(min=0), default=0, metavar="K", help="In which world. [default: 0]")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Which worlds. [default: the file's, 1]")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help=_SET_HELP)
def explain(
    scenario: str,
    policy: str | None,
    date: datetime | None,
    replication: int,
    seed: int | None,
    overrides: tuple[str, ...],
) -> None:
    """Say why a policy trains what it trains: the first release it decides on a date or later, and what else there was.

    \b
    Example:
      labspend explain frontier_lab --policy all-rent --date 2027-01-01
    """
    study = _study(scenario, overrides, seed, None, () if policy is None else (policy,))
    from simulator.lab.explain import explain as explained
    from simulator.show.explain_table import explain_table
    from simulator.world.world import realize

    asked = study.policies[-1]
    day = 0 if date is None else study.scenario.calendar.day_of(date.date())
    try:
        seen = explained(realize(study.scenario, study.seed, replication), asked, day)
    except ValueError as error:
        raise _BadInput(str(error)) from None
    if seen is None:
        raise _BadInput(f"{asked.name} decides no release on or after {study.scenario.calendar.date_of(day)}")
    _print_rich(explain_table(seen, study.scenario))


def _study(
    scenario: str,
    overrides: tuple[str, ...],
    seed: int | None,
    replications: int | None,
    policies: tuple[str, ...],
) -> Study:
    from simulator.study.files import ScenarioError, load_study

    try:
        return load_study(scenario, overrides, seed=seed, replications=replications, policies=policies)
    except ScenarioError as error:
        lines = str(error)
        raise _BadInput(f"the scenario cannot be used.\n{lines}" if "\n" in lines else lines) from None


@contextmanager
def _results_folder(out: Path | None, study: Study) -> Iterator[Path]:
    from simulator.study.results_folder import FolderRefused, Stopped, results_folder

    try:
        with results_folder(out, study.path.stem) as folder:
            yield folder
    except FolderRefused as error:
        raise _BadInput(str(error)) from None
    except Stopped as error:
        raise _Interrupted(str(error)) from None


def _compared(study: Study, workers: int, shown: bool) -> Comparison:
    from simulator.study.experiment import compare as compare_policies
    from simulator.world.scenario import Misplaced

    try:
        with _progress(shown) as progress:
            return compare_policies(
                study.scenario,
                study.policies,
                replications=study.replications,
                seed=study.seed,
                workers=workers,
                progress=progress,
            )
    except ValueError as error:
        message = "; ".join([str(error), *getattr(error, "__notes__", [])])
        raise (_BadInput if isinstance(error, Misplaced) else click.ClickException)(message) from None


@contextmanager
def _progress(shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr, which a person is looking at; nothing in a pipe."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Comparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _saved(comparison: Comparison, folder: Path, command: str, study_text: str) -> None:
    from simulator.show.plots import save_plots
    from simulator.study.store import save

    save(comparison, folder, command=command, study_text=study_text, pictures=save_plots)


def _print_table(comparison: Comparison) -> None:
    from simulator.show.table import comparison_table, verdict

    _print_rich(comparison_table(comparison))
    click.echo(verdict(comparison))


def _print_rich(table: Table) -> None:
    from rich.console import Console

    console = Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
    console.print(table)


def _print_json(made: DataclassInstance | Sequence[DataclassInstance]) -> None:
    click.echo(json.dumps(_plain(made), indent=2))


def _plain(value: object) -> object:
    """A record, or a list of them, in JSON's own types; what is not a finite number is null."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
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
