"""`labspend rent-or-buy`: rent or buy, how many, and when the answer changes."""

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
    print_rich,
    read_study,
    results_go_to,
)

_MOST_GROWTH, _MOST_RISE, _MOST_POINTS = 100.0, 9.0, 20


@click.command("rent-or-buy", short_help="Say whether to rent or buy GPUs in SCENARIO.")
@click.argument("scenario")
@click.option("--policy", metavar="NAME", help="Whose recipe and forecast all share. [default: the last of the file's]")
@REPLICATIONS
@SEED
@click.option(
    "--growth", default="0.6,0.8,1,1.25,1.6", metavar="LIST", help="Times growth. [default: 0.6,0.8,1,1.25,1.6]"
)
@click.option("--fall", metavar="LIST", help="Yearly falls of rents, as 0,0.2. [default: around the file's]")
@click.option(
    "--cell-replications",
    type=click.IntRange(min=1),
    default=8,
    metavar="N",
    help="Worlds per cell of the map and end of a bar. [default: 8]",
)
@click.option(
    "--utilization",
    type=click.FloatRange(min=0.0, max=1.0, min_open=True),
    metavar="SHARE",
    help="Hours one GPU is used, for its payback. [default: by the hour profile]",
)
@SET
@out_to("rent-or-buy")
@WORKERS
@AS_JSON
@QUIET
def rent_or_buy(
    scenario: str,
    policy: str | None,
    replications: int | None,
    seed: int | None,
    growth: str,
    fall: str | None,
    cell_replications: int,
    utilization: float | None,
    overrides: tuple[str, ...],
    out: Path | None,
    workers: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say whether to rent or buy GPUs in SCENARIO, how many, when it pays, and what would change the answer.

    \b
    Examples:
      labspend rent-or-buy frontier_lab --workers 2
      labspend rent-or-buy my_lab.toml --policy all-rent --fall 0,0.2,0.4 --utilization 0.6
      labspend rent-or-buy my_lab.toml --set market.lead_days=180 --json
    """
    growths = _numbers("--growth", growth, 0.0, _MOST_GROWTH)
    falls = None if fall is None else _numbers("--fall", fall, -_MOST_RISE, 1.0)
    study = read_study(scenario, overrides, seed, replications, () if policy is None else (policy,))
    from simulator.show.rent_or_buy_plots import save_rent_or_buy_plots
    from simulator.show.rent_or_buy_table import base_table, heat_table, tenures_table, tornado_table
    from simulator.show.rent_or_buy_words import no_tornado, verdict
    from simulator.study.rent_or_buy import rent_or_buy as ask
    from simulator.study.rent_or_buy_tables import answers, save_tables

    with results_go_to(out, f"rent-or-buy-{study.path.stem}") as folder:
        with at_work("Renting and buying", quiet=quiet) as progress:
            found = ask(
                study.scenario,
                study.policies[-1],
                replications=study.replications,
                seed=study.seed,
                equal_service=study.equal_service,
                growths=growths,
                falls=falls,
                cell_replications=cell_replications,
                utilization=utilization,
                workers=workers,
                progress=progress,
            )
        keep(found.comparison, folder, partial(save_tables, found), partial(save_rent_or_buy_plots, found))

    def tell() -> None:
        say_tables((tenures_table(found), base_table(found), heat_table(found)))
        if found.tornado:
            print_rich(tornado_table(found))
        else:
            click.echo(no_tornado(found))
        click.echo()
        click.echo(verdict(found))

    answer(answers(found), folder, tell, as_json=as_json, quiet=quiet)


def _numbers(option: str, text: str, above: float, most: float) -> tuple[float, ...]:
    """Different numbers from a list like 0,0.5,1, in order."""
    try:
        found = sorted(float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{option}: must be numbers with commas between them, like 0.5,1 (got {text[:60]!r})") from None
    for number in found:
        if not (math.isfinite(number) and above < number < most):
            raise BadInput(f"{option}: must lie between {above:g} and {most:g}, both excluded (got {number:g})")
    if len(set(found)) != len(found):
        raise BadInput(f"{option}: must differ from each other (got {text[:60]})")
    if len(found) > _MOST_POINTS:
        raise BadInput(f"{option}: must be at most {_MOST_POINTS} numbers (got {len(found)})")
    return tuple(found)
