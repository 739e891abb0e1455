"""`labspend compare`: every policy in the same worlds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.said import (
    QUIET,
    REPLICATIONS,
    SEED,
    SET,
    WORKERS,
    BadInput,
    a_percentage,
    print_json,
    print_rich,
    progress_bar,
    read_study,
    refusals,
    results_go_to,
)

if TYPE_CHECKING:
    from simulator.study.comparison import Comparison
    from simulator.study.files import Study
    from simulator.study.stopping import Precision


@click.command(short_help="Compare policies in the worlds of SCENARIO.")
@click.argument("scenario")
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="Compare this one; the first is the baseline."
)
@REPLICATIONS
@SEED
@SET
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="New or empty folder. [default: out/SCENARIO]"
)
@WORKERS
@click.option(
    "--until",
    callback=a_percentage(0.001, 100.0),
    metavar="PERCENT",
    help="Add worlds until each paired difference is known to this part of the baseline's cost, as 1%.",
)
@click.option(
    "--most-replications",
    "most",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --until: no more worlds than this. [default: 10,000]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and nothing else.")
@QUIET
def compare(
    scenario: str,
    policies: tuple[str, ...],
    replications: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    out: Path | None,
    workers: int,
    until: float | None,
    most: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare policies in the worlds of SCENARIO, a TOML file or the name of one that comes with labspend.

    \b
    Examples:
      labspend compare frontier_lab
      labspend compare my_lab.toml --policy chinchilla-rent --policy all-buy --replications 100 --workers 2
      labspend compare my_lab.toml --set demand.growth_per_year=4 --json > summary.json
      labspend compare my_lab.toml --until 1% --workers 2
    """
    if most is not None and until is None:
        raise BadInput("--most-replications: is for --until; without it --replications says how many")
    study = read_study(scenario, overrides, seed, replications, policies)
    command = str(click.get_current_context().obj)
    with results_go_to(out, study.path.stem) as folder:
        rule = None if until is None else _rule(until, most)
        comparison = _compared(study, workers, rule, shown=sys.stderr.isatty() and not quiet)
        if rule is not None:
            study = read_study(scenario, overrides, seed, comparison.replications, policies)
        _saved(comparison, folder, command, study.text)
    if as_json:
        print_json(comparison.summary_records())
    elif quiet:
        click.echo(folder)
    else:
        _print_table(comparison)
    if rule is not None and not quiet:
        from simulator.show.stopping_said import precision_said

        click.echo(precision_said(rule), err=as_json)
    if not (as_json or quiet):
        click.echo(f"Results: {folder}")


def _rule(until: float, most: int | None) -> Precision:
    from simulator.study.stopping import MOST_REPLICATIONS, Precision

    return Precision(until, MOST_REPLICATIONS if most is None else most)


def _compared(study: Study, workers: int, rule: Precision | None, shown: bool) -> Comparison:
    from simulator.study.experiment import compare as compare_policies
    from simulator.study.experiment import processes

    rounds = 1 if rule is None else workers  # the same processes for all rounds
    with refusals(), progress_bar("Comparing", shown=shown) as progress, processes(rounds) as executor:
        return compare_policies(
            study.scenario,
            study.policies,
            replications=study.replications if rule is None else rule.first(study.replications),
            seed=study.seed,
            workers=workers,
            executor=executor,
            progress=progress,
            equal_service=study.equal_service,
            more=rule,
        )


def _saved(comparison: Comparison, folder: Path, command: str, study_text: str) -> None:
    from simulator.show.plots import save_plots
    from simulator.study.store import save

    save(comparison, folder, command=command, study_text=study_text, pictures=save_plots)


def _print_table(comparison: Comparison) -> None:
    from simulator.show.table import comparison_table, verdict

    print_rich(comparison_table(comparison))
    click.echo(verdict(comparison))
