"""`labspend thresholds`: where along one declared value the cheapest policy changes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from simulator.cli.answers import AS_JSON, answer, at_work, keep, out_to
from simulator.cli.said import (
    QUIET,
    REPLICATIONS,
    SEED,
    SET,
    WORKERS,
    a_percentage,
    print_rich,
    read_study,
    refusals,
    results_go_to,
)


@click.command(short_help="Say where the cheapest policy changes as one value of SCENARIO does.")
@click.argument("scenario")
@click.option("--vary", "field", required=True, metavar="KEY", help="The value to vary, as demand.growth_per_year.")
@click.option("--from", "low", type=float, metavar="A", help="Least value. [default: the declared / 2, if allowed]")
@click.option("--to", "high", type=float, metavar="B", help="Largest value. [default: the declared x 2, if allowed]")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="Ask of this one; the first is the baseline.")
@click.option(
    "--tolerance",
    callback=a_percentage(0.001, 20.0),
    default="1%",
    metavar="PERCENT",
    help="How closely to find a threshold, of its value. [default: 1%]",
)
@REPLICATIONS
@SEED
@SET
@out_to("thresholds")
@WORKERS
@AS_JSON
@QUIET
def thresholds(
    scenario: str,
    field: str,
    low: float | None,
    high: float | None,
    policies: tuple[str, ...],
    tolerance: float,
    replications: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say where the cheapest policy changes as one declared value of SCENARIO does, with an interval.

    All policies live in the same worlds at five values from A to B; between two where the winner differs, bisection
    finds where it changes. Policies that won nowhere are left out of the bisection.

    \b
    Examples:
      labspend thresholds frontier_lab --vary demand.growth_per_year --policy all-rent --policy all-buy
      labspend thresholds my_lab.toml --vary market.rental_fall_per_year --from 0 --to 0.5 --replications 100
      labspend thresholds my_lab.toml --vary market.quote.0.on_demand_usd_per_gpu_hour --workers 2 --json
    """
    study = read_study(scenario, overrides, seed, replications, policies)
    from simulator.show.threshold_plot import save_threshold_plot
    from simulator.show.threshold_table import thresholds_table, verdict
    from simulator.study.threshold_tables import save_tables
    from simulator.study.thresholds import search_range
    from simulator.study.thresholds import thresholds as ask

    with refusals():
        searched = search_range(study.scenario, field, low, high)
    with results_go_to(out, f"thresholds-{study.path.stem}") as folder:
        with at_work("Trying values", quiet=quiet) as progress:
            found = ask(
                study.scenario,
                study.policies,
                searched,
                replications=study.replications,
                seed=study.seed,
                equal_service=study.equal_service,
                tolerance=tolerance,
                workers=workers,
                progress=progress,
            )
        keep(
            found.comparison,
            folder,
            partial(save_tables, found),
            partial(save_threshold_plot, found),
            study_text=study.text,
        )

    def tell() -> None:
        print_rich(thresholds_table(found))
        click.echo(verdict(found))

    answer(found.answers, folder, tell, as_json=as_json, quiet=quiet)
