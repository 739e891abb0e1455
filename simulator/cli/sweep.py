"""`labspend sweep`: every policy at every point of a grid or sample of scenario values."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from simulator.cli.answers import AS_JSON, answer, at_work, keep, out_to, say_tables
from simulator.cli.axes import axes_of
from simulator.cli.said import (
    QUIET,
    REPLICATIONS,
    SEED,
    SET,
    WORKERS,
    BadInput,
    read_study,
    refusals,
    results_go_to,
)


@click.command(short_help="Compare policies over a grid or sample of values of SCENARIO.")
@click.argument("scenario")
@click.option(
    "--vary",
    "varied",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
    help="A list, as KEY=1,2,4; n even steps, KEY=0:0.3:4; or a range for a sample, KEY=0:0.3. Repeatable.",
)
@click.option(
    "--design",
    type=click.Choice(["grid", "lhs", "sobol"]),
    default="grid",
    help="Every combination, a Latin hypercube, or a Sobol sample. [default: grid]",
)
@click.option(
    "--points",
    type=click.IntRange(min=2),
    metavar="N",
    help="Points of a sample; of sobol, a power of two, N x (keys + 2) are lived. [default: 32]",
)
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="Compare this one; the first is the baseline."
)
@REPLICATIONS
@SEED
@SET
@out_to("sweep")
@WORKERS
@AS_JSON
@QUIET
def sweep(
    scenario: str,
    varied: tuple[str, ...],
    design: str,
    points: int | None,
    policies: tuple[str, ...],
    replications: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare policies at every point of a grid or a sample of values of SCENARIO, in worlds of the same luck.

    Any value of the scenario may be varied; one of a list by its number, as market.quote.0.purchase_usd_per_gpu; and
    growth, which is so many times the declared growth of demand in all its regimes. A point that breaks a rule of the
    scenario is told, and the others are lived.

    \b
    Examples:
      labspend sweep frontier_lab --vary demand.level_sigma=0,0.5,1 --vary market.rental_fall_per_year=0:0.4:5
      labspend sweep my.toml --vary demand.growth_per_year=1:8 --vary market.lead_days=0:180 --design lhs --points 40
      labspend sweep my.toml --vary ownership.resale_spread=0:0.5 --vary market.lead_days=0:90 --design sobol
    """
    if points is not None and design == "grid":
        raise BadInput("--points: is for --design lhs or sobol; a grid has as many as its lists make")
    study = read_study(scenario, overrides, seed, replications, policies)
    from simulator.show.sweep_plots import save_sweep_plots
    from simulator.show.sweep_table import influence_table, sweep_table, verdict
    from simulator.study.designs import Design
    from simulator.study.sweep import sweep as ask
    from simulator.study.sweep_tables import save_tables

    with refusals():
        axes = axes_of(study.scenario, "--vary", varied, design)
    with results_go_to(out, f"sweep-{study.path.stem}") as folder:
        with at_work("Sweeping", quiet=quiet) as progress:
            found = ask(
                study.scenario,
                study.policies,
                axes,
                design=Design(design),
                points=points or 32,
                replications=study.replications,
                seed=study.seed,
                equal_service=study.equal_service,
                workers=workers,
                progress=progress,
            )
        keep(
            found.comparison,
            folder,
            partial(save_tables, found),
            partial(save_sweep_plots, found),
            study_text=study.text,
        )

    def tell() -> None:
        say_tables((sweep_table(found), influence_table(found)))
        click.echo(verdict(found))

    answer(found.answers, folder, tell, as_json=as_json, quiet=quiet)
