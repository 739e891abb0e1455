"""`labspend verify`: published claims against the simulator."""

from __future__ import annotations

import click

from simulator.cli.answers import AS_JSON, at_work
from simulator.cli.said import BadInput, print_json, print_rich


@click.command(short_help="Hold published claims against the simulator.")
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@click.option("--fast", is_flag=True, help="Leave out the claims that take seconds each.")
@AS_JSON
def verify(scenarios: tuple[str, ...], fast: bool, as_json: bool) -> None:
    """Hold published claims against the simulator, all or those about each SCENARIO that ships.

    Each row: what a source says, what the simulator says, how near it must come, and whether it does. What follows from
    figures the scenario is given is accounted, not passed; claims that no source supports are illustrative, and what
    the simulator does not reach is unexplained, with the factor. The exit status is 1 if a claim fails.

    \b
    Examples:
      labspend verify
      labspend verify erdil_2024 openai_2024
      labspend verify --fast --json > claims.json
    """
    from simulator.show.verify_table import verdict, verify_table
    from simulator.study.claim_list import NothingClaimed, claims_about
    from simulator.study.claims import verify as ask

    try:
        claims = claims_about(scenarios, fast=fast)
    except NothingClaimed as error:
        raise BadInput(str(error)) from None
    with at_work("Verifying", quiet=False) as progress:
        found = ask(claims, progress)
    if as_json:
        print_json(found.findings)
    else:
        print_rich(verify_table(found))
        click.echo(verdict(found))
    if not found.holds:
        click.get_current_context().exit(1)
