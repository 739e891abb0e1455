"""`labspend new` and `labspend check`: scenario files written and read."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

import simulator
from simulator.cli.said import SET, BadInput, read_study


@click.command(short_help="Say what is wrong with SCENARIO, or what it means.")
@click.argument("scenario")
@SET
def check(scenario: str, overrides: tuple[str, ...]) -> None:
    """Say what is wrong with SCENARIO, by file and line, or else what it means.

    \b
    Example:
      labspend check my_lab.toml --set horizon_days=730
    """
    study = read_study(scenario, overrides, None, None, ())
    from simulator.study.meaning import meaning

    click.echo(meaning(study))


@click.command(short_help="Write a commented scenario to start from.")
@click.argument("path", type=click.Path(path_type=Path))
def new(path: Path) -> None:
    """Write a commented scenario to start from to PATH.

    \b
    Example:
      labspend new my_lab.toml
    """
    if path.suffix != ".toml":
        raise BadInput(f"{path}: the name of a scenario file ends in .toml; try {path.with_suffix('.toml')}")
    text = (Path(simulator.__file__).parent / "study" / "starter.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise BadInput(f"{path}: is there already, and is not overwritten") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    name = shlex.quote(str(path))
    click.echo(f"Wrote {path}. Next: labspend check {name}, then labspend compare {name}")
