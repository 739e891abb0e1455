"""`labspend foresight`: what a forecast is worth."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import click

from simulator.cli.said import (
    QUIET,
    REPLICATIONS,
    SEED,
    SET,
    WORKERS,
    BadInput,
    print_json,
    print_rich,
    progress_bar,
    read_study,
    refusals,
    results_go_to,
)

_MOST_SIGMA = 3.0


@click.command(short_help="Say what forecasts are worth in SCENARIO.")
@click.argument("scenario")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="Ask of this one. [default: the file's]")
@REPLICATIONS
@SEED
@click.option(
    "--sigmas", default="0,0.25,0.5,1", metavar="LIST", help="Sds of the log of demand. [default: 0,0.25,0.5,1]"
)
@SET
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="New or empty folder. [default: out/foresight-SCENARIO]",
)
@WORKERS
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON, and nothing else.")
@QUIET
def foresight(
    scenario: str,
    policies: tuple[str, ...],
    replications: int | None,
    seed: int | None,
    sigmas: str,
    overrides: tuple[str, ...],
    out: Path | None,
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what forecasts are worth in SCENARIO: every policy with every forecast, against hindsight and theory.

    \b
    Examples:
      labspend foresight frontier_lab --policy all-rent --policy all-buy
      labspend foresight known_demand --set demand.level_sigma=1 --replications 200
    """
    spread = _sigmas(sigmas)
    study = read_study(scenario, overrides, seed, replications, policies)
    from simulator.show.foresight_plots import save_foresight_plots
    from simulator.show.foresight_table import forecasts_table, information_table, uncertainty_table, verdict
    from simulator.study.foresight import Answers
    from simulator.study.foresight import foresight as ask
    from simulator.study.foresight_tables import save_tables
    from simulator.study.store import save

    command = str(click.get_current_context().obj)
    with results_go_to(out, f"foresight-{study.path.stem}") as folder:
        with refusals(), progress_bar("Looking ahead", shown=sys.stderr.isatty() and not quiet) as progress:
            found = ask(
                study.scenario,
                study.policies,
                replications=study.replications,
                seed=study.seed,
                equal_service=study.equal_service,
                sigmas=spread,
                workers=workers,
                progress=progress,
            )

        def written(_: object, aside: Path) -> None:
            save_tables(found, aside)
            save_foresight_plots(found, aside)

        save(found.comparison, folder, command=command, pictures=written)
    if as_json:
        print_json(Answers(found.forecasts, found.information, found.uncertainty))
    elif quiet:
        click.echo(folder)
    else:
        for table in (forecasts_table(found), information_table(found), uncertainty_table(found)):
            print_rich(table)
            click.echo()
        click.echo(verdict(found))
        click.echo(f"Results: {folder}")


def _sigmas(text: str) -> tuple[float, ...]:
    """Numbers from a list like 0,0.5,1."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"--sigmas: must be numbers with commas between them, like 0,0.5,1 (got {text!r})") from None
    for sigma in found:
        if not (math.isfinite(sigma) and 0.0 <= sigma <= _MOST_SIGMA):
            raise BadInput(f"--sigmas: must lie between 0 and {_MOST_SIGMA:g} (got {sigma:g})")
    if len(set(found)) != len(found):
        raise BadInput(f"--sigmas: must differ from each other (got {text})")
    return found
