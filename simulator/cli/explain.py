"""`labspend explain`: why a policy trains what it trains."""

from __future__ import annotations

from datetime import datetime

import click

from simulator.cli.said import SEED, SET, BadInput, print_rich, read_study


@click.command(short_help="Say why a policy trains what it trains.")
@click.argument("scenario")
@click.option("--policy", "policy", metavar="NAME", help="Whose decision. [default: the last of the file's]")
@click.option("--date", "date", type=click.DateTime(["%Y-%m-%d"]), help="First day to look. [default: the start]")
@click.option("--replication", type=click.IntRange(min=0), default=0, metavar="K", help="In which world. [default: 0]")
@SEED
@SET
def explain(
    scenario: str,
    policy: str | None,
    date: datetime | None,
    replication: int,
    seed: int | None,
    overrides: tuple[str, ...],
) -> None:
    """Say why a policy trains what it trains: the first release it decides on a date or later, and what else there was.

    \b
    Example:
      labspend explain frontier_lab --policy all-rent --date 2027-01-01
    """
    study = read_study(scenario, overrides, seed, None, () if policy is None else (policy,))
    from simulator.lab.explain import explain as explained
    from simulator.show.explain_table import explain_table
    from simulator.world.world import realize

    asked = study.policies[-1]
    day = 0 if date is None else study.scenario.calendar.day_of(date.date())
    try:
        seen = explained(realize(study.scenario, study.seed, replication), asked, day)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if seen is None:
        raise BadInput(f"{asked.name} decides no release on or after {study.scenario.calendar.date_of(day)}")
    print_rich(explain_table(seen, study.scenario))
