"""`labspend foresight`: what a forecast is worth."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import click

from simulator.cli.answers import AS_JSON, answer, at_work, keep, out_to, say_tables
from simulator.cli.said import (
    QUIET,
    REPLICATIONS,
    SEED,
    SET,
    WORKERS,
    BadInput,
    read_study,
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
@out_to("foresight")
@WORKERS
@AS_JSON
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

    with results_go_to(out, f"foresight-{study.path.stem}") as folder:
        with at_work("Looking ahead", quiet=quiet) as progress:
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
        keep(found.comparison, folder, partial(save_tables, found), partial(save_foresight_plots, found))

    def tell() -> None:
        say_tables((forecasts_table(found), information_table(found), uncertainty_table(found)))
        click.echo(verdict(found))

    answer(Answers(found.forecasts, found.information, found.uncertainty), folder, tell, as_json=as_json, quiet=quiet)


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
