"""`labspend sweep`: every policy at every point of a grid or sample of scenario values."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.answers import AS_JSON, answer, at_work, keep, out_to, say_tables
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

if TYPE_CHECKING:
    from simulator.study.designs import Listed, Ranged
    from simulator.study.varied import Value
    from simulator.world.scenario import Scenario

_MOST_VALUES = 200


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

    Any value of the scenario may be varied; one of a list by its number, as market.quote.0.purchase_usd_per_gpu. A
    point that breaks a rule of the scenario is told, and the others are lived.

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
        axes = [_axis(study.scenario, said, design) for said in varied]
    _check_keys([axis.field for axis in axes])
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


def _check_keys(keys: list[str]) -> None:
    for number, key in enumerate(keys):
        if key in keys[:number]:
            raise BadInput(f"--vary {key}: is named twice")


def _axis(scenario: Scenario, said: str, design: str) -> Listed | Ranged:
    """A field and what it takes, from KEY=1,2,4 or KEY=a:b or KEY=a:b:n."""
    from simulator.study.designs import Listed, Ranged
    from simulator.study.sweep import value_of
    from simulator.study.varied import declared_value

    key, equals, text = said.partition("=")
    key = key.strip()
    if not equals or not text.strip():
        raise BadInput(f"--vary {said[:80]}: must be written KEY=VALUES, for example demand.growth_per_year=1,2,4")
    held = declared_value(scenario, key)
    if isinstance(held, str) or ":" not in text:
        values = tuple(value_of(scenario, key, part) for part in text.split(","))
        if design != "grid":
            raise BadInput(f"--vary {key}: needs a range a:b for --design {design} (got {text[:40]!r})")
        return Listed(key, _different(key, values))
    ends = _numbers(key, text)
    whole = isinstance(held, int) and not isinstance(held, bool)
    span = Ranged(key, ends[0], ends[1], whole)
    if design != "grid":
        if len(ends) == 3:
            raise BadInput(f"--vary {key}: needs a range a:b for --design {design}, without steps (got {text[:40]!r})")
        return span
    if len(ends) == 2:
        raise BadInput(
            f"--vary {key}: a grid needs a list, or a range with its number of values as {text[:30]}:5; "
            "or say --design lhs or sobol"
        )
    steps = int(ends[2])
    return Listed(key, _different(key, tuple(span.at(step / (steps - 1)) for step in range(steps))))


def _numbers(key: str, text: str) -> list[float]:
    """Two or three numbers with colons between them: a lower end, a higher end, and how many values."""
    try:
        ends = [float(part) for part in text.split(":")]
    except ValueError:
        ends = []
    if len(ends) not in (2, 3) or not all(map(math.isfinite, ends)):
        raise BadInput(f"--vary {key}: must be a range a:b, or a:b:n for n values, in numbers (got {text[:40]!r})")
    if not ends[0] < ends[1]:
        raise BadInput(f"--vary {key}: must go from a lower to a higher value (got {text[:40]!r})")
    if len(ends) == 3 and not (ends[2] == int(ends[2]) and 2 <= ends[2] <= _MOST_VALUES):
        raise BadInput(f"--vary {key}: a range has 2 to {_MOST_VALUES} values, a whole number (got {ends[2]:g})")
    return ends


def _different(key: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(set(values)) != len(values):
        raise BadInput(f"--vary {key}: values must differ from each other (got {', '.join(map(str, values))[:60]})")
    if len(values) > _MOST_VALUES:
        raise BadInput(f"--vary {key}: must be at most {_MOST_VALUES} values (got {len(values)})")
    return values
