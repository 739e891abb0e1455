"""`labspend laws`: what the laws say of one model on one kind of hardware."""

from __future__ import annotations

import click

from simulator.cli.said import SCENARIO_HELP, BadInput, print_json, print_rich, read_scenario


@click.command(short_help="Print what the laws say of MODEL on HARDWARE.")
@click.argument("model", required=False)
@click.argument("hardware", required=False)
@click.option(
    "--precision",
    type=click.Choice(["bf16", "fp8", "int8", "int4"]),
    default="bf16",
    help="Number format it is served in. [default: bf16]",
)
@click.option(
    "--fit",
    type=click.Choice(["BESI", "HOFF", "HOFFX", "SARD", "HARM"]),
    default="BESI",
    help="Coefficients of the loss law. [default: BESI]",
)
@click.option(
    "--usd-per-gpu-hour", type=float, metavar="X", help="Price of a GPU-hour. [default: that of frontier_lab]"
)
@click.option(
    "--context", type=float, default=2000.0, metavar="N", help="Tokens a request holds in its cache. [default: 2000]"
)
@click.option(
    "--prompt-share", type=float, default=0.8, metavar="P", help="Prompt tokens / user tokens. [default: 0.8]"
)
@click.option("--scenario", metavar="FILE", help=SCENARIO_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON, and nothing else.")
def laws(
    model: str | None,
    hardware: str | None,
    precision: str,
    fit: str,
    usd_per_gpu_hour: float | None,
    context: float,
    prompt_share: float,
    scenario: str | None,
    as_json: bool,
) -> None:
    """Print what the laws say of MODEL on HARDWARE: loss, FLOP, memory, speed and cost, to check them by hand.

    MODEL is a published model, or parameters and training tokens as N:D. Without arguments, lists the
    models and hardware of the catalogue.

    \b
    Examples:
      labspend laws "Llama 3.1 70B" H100 --precision fp8
      labspend laws 70e9:1.4e12 B200 --usd-per-gpu-hour 4.50 --json
    """
    if model is None:
        _listed(scenario, as_json)
        return
    if hardware is None:
        raise BadInput("HARDWARE is missing, such as H100; labspend catalog hardware lists them")
    from simulator.show.laws_table import laws_table
    from simulator.study.hand_check import CannotCheck, Terms, asked

    own = None if scenario is None else read_scenario(scenario)
    terms = Terms(usd_per_gpu_hour=usd_per_gpu_hour, context_tokens=context, prompt_share=prompt_share, scenario=own)
    try:
        found = asked(model, hardware, precision, fit, terms)
    except CannotCheck as error:
        raise BadInput(str(error)) from None
    print_json(found) if as_json else print_rich(laws_table(found))


def _listed(scenario: str | None, as_json: bool) -> None:
    """The part of the catalogue that can be asked about."""
    from simulator.show.catalogue_tables import hardware_table, models_table
    from simulator.world.catalogue import Catalogue, catalogue_of

    known = Catalogue() if scenario is None else catalogue_of(read_scenario(scenario))
    if as_json:
        print_json(known)
        return
    for table in (models_table(known), hardware_table(known)):
        print_rich(table)
