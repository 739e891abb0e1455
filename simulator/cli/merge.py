"""`labspend merge`: the shards of a study, made whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.compare import draw, show_comparison
from simulator.cli.said import QUIET, BadInput, results_go_to

if TYPE_CHECKING:
    from simulator.study.comparison import Comparison


@click.command(short_help="Make one study of the shards in FOLDERs.")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="New or empty folder. [default: out/merged]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and nothing else.")
@QUIET
def merge(folders: tuple[Path, ...], out: Path | None, as_json: bool, quiet: bool) -> None:
    """Make one study of the shards in FOLDERs, each from `labspend compare --shard`.

    The results are those of one run of all worlds, to the byte. The shards stay as they are.

    \b
    Examples:
      labspend compare my_lab.toml --replications 1000 --shard 1/2 --out part-1
      labspend compare my_lab.toml --replications 1000 --shard 2/2 --out part-2
      labspend merge part-1 part-2 --out whole
    """
    with results_go_to(out, "merged") as folder:
        comparison = _merged(folders, folder, str(click.get_current_context().obj))
    show_comparison(comparison, folder, as_json=as_json, quiet=quiet)


def _merged(folders: tuple[Path, ...], target: Path, command: str) -> Comparison:
    from simulator.study.identity import NotThisStudy
    from simulator.study.shards import merge as merge_shards

    try:
        return merge_shards(folders, target, command=command, pictures=draw)
    except NotThisStudy as error:
        raise BadInput(str(error)) from None
