"""`labspend compare`: every policy in the same worlds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.crew import CLUSTER, SCHEDULER, crew
from simulator.cli.kept import is_done, study_goes_to
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
)

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from simulator.study.comparison import Comparison
    from simulator.study.experiment import Progress
    from simulator.study.files import Study
    from simulator.study.identity import Shard
    from simulator.study.journal import Journal
    from simulator.study.stopping import Precision
    from simulator.study.streaming import Streamed


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
@click.option("--resume", is_flag=True, help="Go on in the folder --out where a run was stopped; start if it is empty.")
@click.option("--shard", metavar="K/N", help="Draw only the K-th of N parts of the worlds; see labspend merge.")
@click.option("--paths", "keeps_paths", is_flag=True, help="Keep every day of every run too, in paths.parquet.")
@WORKERS
@CLUSTER
@SCHEDULER
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
    resume: bool,
    shard: str | None,
    keeps_paths: bool,
    workers: int,
    cluster: str | None,
    scheduler: str | None,
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
      labspend compare my_lab.toml --replications 10000 --out big --resume     # again and again, until it is done
      labspend compare my_lab.toml --replications 10000 --shard 3/10 --out part-3
      labspend compare my_lab.toml --replications 10000 --scheduler tcp://10.0.0.1:8786
      labspend compare my_lab.toml --until 1% --workers 2
    """
    rule = _rule(until, most, shard)
    study = read_study(scenario, overrides, seed, replications, policies)
    streamed = _streamed(study, keeps_paths, _shard(shard), rule)
    if resume and is_done(streamed, out):
        click.echo(f"{out}: is finished.", err=True)
        return
    with study_goes_to(streamed, out, study.path.stem, resume=resume) as (placed, journal):
        shown = sys.stderr.isatty() and not quiet
        with (
            crew(workers, cluster, scheduler) as (executor, n),
            refusals(),
            progress_bar("Comparing", shown=shown) as told,
        ):
            _live_on(placed, journal, workers=n, executor=executor, progress=told)
        if shard is not None:
            _shard_done(placed, journal, quiet=quiet)
            return
        comparison = _finished(placed, journal)
    show_comparison(comparison, placed.folder, rule, as_json=as_json, quiet=quiet)


def show_comparison(
    comparison: Comparison, folder: Path, rule: Precision | None = None, *, as_json: bool, quiet: bool
) -> None:
    """Say what came out, as the options ask for, and where the results are."""
    from simulator.show.stage_table import stage_table
    from simulator.show.stopping_said import precision_said
    from simulator.show.table import comparison_table, verdict
    from simulator.show.why_said import why_said

    if as_json:
        print_json(comparison.summary_records())
        if rule is not None and not quiet:
            click.echo(precision_said(rule), err=True)
    elif quiet:
        click.echo(folder)
    else:
        print_rich(comparison_table(comparison))
        click.echo(verdict(comparison))
        for line in why_said(comparison):
            click.echo(line)
        click.echo()
        print_rich(stage_table(comparison))
        if rule is not None:
            click.echo(precision_said(rule))
        click.echo(f"Results: {folder}")


def _rule(until: float | None, most: int | None, shard: str | None) -> Precision | None:
    from simulator.study.stopping import MOST_REPLICATIONS, Precision

    if until is None:
        if most is not None:
            raise BadInput("--most-replications: is for --until; without it --replications says how many")
        return None
    if shard is not None:
        raise BadInput("--until: not with --shard, which sees only its own worlds; say how many with --replications")
    return Precision(until, MOST_REPLICATIONS if most is None else most)


def _streamed(study: Study, keeps_paths: bool, shard: Shard, rule: Precision | None) -> Streamed:
    from simulator.study.streaming import Streamed

    return Streamed(
        study.scenario,
        study.policies,
        study.seed,
        study.replications,
        Path(),
        shard,
        keeps_paths,
        str(click.get_current_context().obj),
        study.text,
        study.equal_service,
        rule,
    )


def _shard(text: str | None) -> Shard:
    from simulator.study.identity import WHOLE
    from simulator.study.shards import shard_of

    try:
        return WHOLE if text is None else shard_of(text)
    except ValueError as error:
        raise BadInput(f"--shard {error}") from None


def _live_on(
    study: Streamed, journal: Journal, *, workers: int, executor: Executor | None, progress: Progress | None
) -> None:
    from simulator.study.streaming import live_on

    with refusals():
        live_on(study, journal, workers=workers, executor=executor, progress=progress)


def draw(comparison: Comparison, folder: Path) -> None:
    """Write what people look at: pictures, the workbook, and the report that holds them."""
    from simulator.show.plots import save_plots
    from simulator.show.report import write_report
    from simulator.show.workbook import save_workbook

    save_plots(comparison, folder)
    save_workbook(comparison, folder)
    write_report(comparison, folder)


def _finished(study: Streamed, journal: Journal) -> Comparison:
    from simulator.study.streaming import finish

    return finish(study, journal, draw)


def _shard_done(study: Streamed, journal: Journal, *, quiet: bool) -> None:
    from simulator.study.streaming import finish_shard

    finish_shard(journal)
    own = study.own_replications
    told = f"Shard {study.shard}: worlds {own.start} to {own.stop - 1}, in {study.folder}. With all: labspend merge"
    click.echo(study.folder if quiet else told)
