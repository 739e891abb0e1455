"""`labspend backtest`: how good a forecast would have been."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.cli.said import BadInput, print_json, print_rich, results_go_to

if TYPE_CHECKING:
    from simulator.study.backtest import Backtest

_GOOGLE = "google"


@click.command(short_help="Score a forecast from RECORD as known on a day.")
@click.argument("record")
@click.option(
    "--until",
    required=True,
    type=click.DateTime(formats=["%Y-%m-%d"]),
    metavar="DATE",
    help="Last day that the fit may see.",
)
@click.option("--reports", metavar="COLUMN", help="RECORD has a few figures of demand, on dates, in this column.")
@click.option("--prices", metavar="COLUMN", help="RECORD has dated prices, in this column [USD/GPU-hour].")
@click.option("--date", "date_column", default="date", metavar="COLUMN", help="Of reports and prices. [default: date]")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Rows of reports and prices to read. Repeatable.")
@click.option("--time", metavar="COLUMN", help="Of a trace: as in labspend calibrate.")
@click.option("--tokens", metavar="COLUMN", help="Of a trace: as in labspend calibrate.")
@click.option("--worlds", type=click.IntRange(100, 100_000), default=1000, help="To draw. [default: 1,000]")
@click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Which worlds. [default: 1]")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="New or empty folder. [default: out/backtest-RECORD]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the score as JSON, and nothing else.")
def backtest(
    record: str,
    until: datetime,
    reports: str | None,
    prices: str | None,
    date_column: str,
    where: tuple[str, ...],
    time: str | None,
    tokens: str | None,
    worlds: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Fit RECORD up to a day, forecast from there, and say how many of the later values lie in the forecast's bands.

    RECORD is a CSV: a trace of token use as labspend calibrate reads it, a few reported figures (--reports) or prices
    (--prices); or "google", the tokens that Google has reported. What came later is never seen by the fit.

    \b
    Examples:
      labspend backtest google --until 2025-07-31
      labspend backtest tokens.csv --until 2026-06-12
      labspend backtest rents.csv --until 2023-12-31 --prices spot --where gpu=A100 --where region=us-central1
    """
    from simulator.study.csv_rows import TraceError

    if reports is not None and prices is not None:
        raise BadInput("--reports and --prices: a record holds only one of them")
    rows = _where(where)
    if rows and reports is None and prices is None:
        raise BadInput("--where: is for --reports and --prices; a trace has one row per time")
    try:
        found = _scored(record, until.date(), reports, prices, date_column, rows, time, tokens, worlds, seed)
    except TraceError as error:
        told = str(error)
        raise BadInput(f"the record cannot be used.\n{told}" if "\n" in told else told) from None
    with results_go_to(out, f"backtest-{Path(record).stem}") as folder:
        from simulator.show.backtest_plot import save_backtest_plot
        from simulator.study.backtest import save_backtest

        save_backtest(found, folder)
        save_backtest_plot(found, folder)
    if as_json:
        print_json(found.score)
        return
    from simulator.show.backtest_table import backtest_table, backtest_verdict

    print_rich(backtest_table(found))
    click.echo(f"{backtest_verdict(found)}\nResults: {folder}")


def _scored(
    record: str,
    until: date,
    reports: str | None,
    prices: str | None,
    date_column: str,
    where: Mapping[str, str],
    time: str | None,
    tokens: str | None,
    worlds: int,
    seed: int,
) -> Backtest:
    from simulator.study import backtest_fits
    from simulator.study.usage_csv import Columns

    path = Path(record)
    if reports is not None:
        return backtest_fits.reports(path, date_column, reports, where, until, worlds, seed)
    if prices is not None:
        return backtest_fits.prices(path, date_column, prices, where, until, worlds, seed)
    if record == _GOOGLE and not path.exists():
        return backtest_fits.google(until, worlds, seed)
    return backtest_fits.usage(path, until, Columns(time=time, tokens=tokens), worlds, seed)


def _where(said: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in said:
        column, equals, value = text.partition("=")
        if not equals or not column:
            raise BadInput(f"--where: must be COLUMN=VALUE (got {text!r})")
        found[column] = value
    return found
