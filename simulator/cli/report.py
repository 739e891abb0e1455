"""`labspend report`: the page of a results folder, made again, with sliders."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.answers import at_work
from simulator.cli.axes import axes_of
from simulator.cli.said import QUIET, WORKERS, BadInput, Interrupted, refusals

if TYPE_CHECKING:
    from simulator.study.comparison import Comparison
    from simulator.study.slider_grid import Slider

_MOST_WORLDS = 32


@click.command(short_help="Write the report of the results in FOLDER again, with sliders.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--slide",
    "slid",
    multiple=True,
    metavar="KEY=VALUES",
    help="A slider, as KEY=1,2,4 or KEY=0:0.3:4. Repeatable. [default: growth, fall of rents, uncertainty of demand]",
)
@click.option("--no-sliders", is_flag=True, help="The page alone: nothing is simulated.")
@click.option(
    "--replications",
    type=click.IntRange(min=1),
    metavar="N",
    help="Worlds at each grid point. [default: the folder's, 32 at most]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A new file. [default: FOLDER/report.html, or report-2.html ... beside it]",
)
@WORKERS
@QUIET
def report(
    folder: Path,
    slid: tuple[str, ...],
    no_sliders: bool,
    replications: int | None,
    out: Path | None,
    workers: int,
    quiet: bool,
) -> None:
    """Write the report of the results that labspend compare left in FOLDER, with sliders over what is uncertain.

    The folder's policies are lived at every combination of the sliders' values, in worlds of the same luck; between
    these points the page interpolates. Any value of the scenario may be slid, as in labspend sweep; growth is so many
    times the declared growth of demand. Nothing is written over.

    \b
    Examples:
      labspend report out/frontier_lab --workers 2
      labspend report out/frontier_lab --slide growth=0.6,1,1.6 --slide market.lead_days=30,90,180 --replications 8
      labspend report out/frontier_lab --no-sliders --out mail.html
    """
    from simulator.show.report import write_report
    from simulator.study.reopened import NotResults, reopen
    from simulator.study.slider_grid import slider_grid

    if no_sliders and (slid or replications):
        raise BadInput("--no-sliders: simulates nothing, so neither --slide nor --replications goes with it")
    try:
        found = reopen(folder)
    except NotResults as error:
        raise BadInput(str(error)) from None
    comparison, target = found.comparison, _free_file(folder, out)
    grid = None
    if not no_sliders:
        worlds = replications or min(comparison.replications, _MOST_WORLDS)
        sliders = _sliders(comparison, slid, worlds)
        try:
            with at_work("Living the grid", quiet=quiet) as progress:
                grid = slider_grid(
                    comparison.scenario,
                    comparison.policies,
                    sliders,
                    replications=worlds,
                    seed=comparison.seed,
                    equal_service=comparison.equal_service,
                    workers=workers,
                    progress=progress,
                )
        except KeyboardInterrupt:
            raise Interrupted("Interrupted: nothing was written. The same command gives the same report.") from None
    try:
        write_report(comparison, folder, target, grid=grid, command=found.command, made_by=found.versions)
    except FileExistsError as error:
        raise BadInput(str(error)) from None
    click.echo(target if quiet else f"Report: {target}")


def _sliders(comparison: Comparison, slid: tuple[str, ...], worlds: int) -> list[Slider]:
    from simulator.study.designs import Listed
    from simulator.study.slider_grid import slider_of, usual_sliders

    if not slid:
        return list(usual_sliders(comparison.scenario, worlds))
    with refusals():
        axes = axes_of(comparison.scenario, "--slide", slid, "grid")
        return [slider_of(comparison.scenario, axis) for axis in axes if isinstance(axis, Listed)]


def _free_file(folder: Path, out: Path | None) -> Path:
    """Where the report goes: a file that is not there yet, in a folder that can be written to."""
    target, number = out or folder / "report.html", 2
    while out is None and target.exists():
        target, number = folder / f"report-{number}.html", number + 1
    if target.exists():
        raise BadInput(f"{target}: is there, and nothing is written over; name a new file with --out")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise BadInput(f"{target}: cannot be written: {error.strerror}") from None
    return target
