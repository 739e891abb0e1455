"""`labspend thresholds`: where along one declared value the cheapest policy changes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from simulator.cli.said import (
    QUIET,
    REPLICATIONS,
    SEED,
    SET,
    WORKERS,
    a_percentage,
    print_json,
    print_rich,
    progress_bar,
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
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="New or empty folder. [default: out/thresholds-SCENARIO]",
)
@WORKERS
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON, and nothing else.")
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
    from simulator.study.store import save
    from simulator.study.threshold_tables import save_tables
    from simulator.study.thresholds import search_range
    from simulator.study.thresholds import thresholds as ask

    command = str(click.get_current_context().obj)
    with refusals():
        searched = search_range(study.scenario, field, low, high)
    with results_go_to(out, f"thresholds-{study.path.stem}") as folder:
        with refusals(), progress_bar("Trying values", shown=sys.stderr.isatty() and not quiet) as progress:
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

        def written(_: object, aside: Path) -> None:
            save_tables(found, aside)
            save_threshold_plot(found, aside)

        save(found.comparison, folder, command=command, study_text=study.text, pictures=written)
    if as_json:
        print_json(found.answers)
    elif quiet:
        click.echo(folder)
    else:
        print_rich(thresholds_table(found))
        click.echo(verdict(found))
        click.echo(f"Results: {folder}")
