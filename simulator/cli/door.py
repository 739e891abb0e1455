"""The door itself: the commands, and how any of them ends."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

import click

from simulator import __version__
from simulator.cli.app import app
from simulator.cli.backtest import backtest
from simulator.cli.calibrate import calibrate
from simulator.cli.catalog import catalog
from simulator.cli.compare import compare
from simulator.cli.explain import explain
from simulator.cli.foresight import foresight
from simulator.cli.hand_check import laws
from simulator.cli.merge import merge
from simulator.cli.rent_or_buy import rent_or_buy
from simulator.cli.report import report
from simulator.cli.said import Interrupted
from simulator.cli.scenario_files import check, new
from simulator.cli.sweep import sweep
from simulator.cli.thresholds import thresholds
from simulator.cli.verify import verify


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a user's mistake is one message and status 2, Ctrl-C is status 130."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = labspend.main(words, prog_name="labspend", standalone_mode=False, obj=shlex.join(["labspend", *words]))
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return Interrupted.exit_code
    except OSError as error:
        click.echo(f"Error: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}", err=True)
        return 1
    return status if isinstance(status, int) else 0


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: labspend new my_lab.toml && labspend compare my_lab.toml",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def labspend() -> None:
    """Simulate what an AI lab's compute costs, and compare the policies that decide it."""


_COMMANDS = (
    compare,
    merge,
    report,
    check,
    new,
    laws,
    explain,
    foresight,
    rent_or_buy,
    thresholds,
    sweep,
    calibrate,
    backtest,
    catalog,
    verify,
    app,
)
for _command in _COMMANDS:
    labspend.add_command(_command)
