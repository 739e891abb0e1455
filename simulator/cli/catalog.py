"""`labspend catalog`: what there is to look up, each row with its source."""

from __future__ import annotations

import click

from simulator.cli.said import SCENARIO_HELP, print_json, print_rich, read_scenario


@click.command(short_help="List hardware, models, prices and techniques, with sources.")
@click.argument("section", required=False, type=click.Choice(["hardware", "models", "runs", "prices", "techniques"]))
@click.option("--scenario", metavar="FILE", help=SCENARIO_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON, and nothing else.")
def catalog(section: str | None, scenario: str | None, as_json: bool) -> None:
    """List what labspend knows, each row with its source: SECTION, or how many rows each section has.

    A scenario adds rows, or describes known ones anew, in its [[accelerator]] and [[model]] tables.

    \b
    Examples:
      labspend catalog hardware
      labspend catalog models --scenario my_lab.toml
      labspend catalog prices --json > prices.json
    """
    from simulator.show.catalogue_tables import SECTION_TABLES, overview_table
    from simulator.world.catalogue import Catalogue, catalogue_of

    known = Catalogue() if scenario is None else catalogue_of(read_scenario(scenario))
    if as_json:
        print_json(known if section is None else getattr(known, section))
    else:
        print_rich(overview_table(known) if section is None else SECTION_TABLES[section](known))
