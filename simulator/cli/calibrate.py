"""`labspend calibrate`: a [demand] table from a trace of token use."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import click

from simulator.cli.said import BadInput, print_json, print_rich, results_go_to

_DATE = click.DateTime(formats=["%Y-%m-%d"])


@click.command(short_help="Fit a [demand] table to TRACE, a CSV of token use.")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--time", metavar="COLUMN", help="Date, time or seconds of a row. [default: date, t_seconds, timestamp]")
@click.option("--tokens", metavar="COLUMN", help="All tokens of a row. [default: total_tokens, tokens]")
@click.option("--prompt", metavar="COLUMN", help="Prompt tokens. [default: prompt_tokens, input_tokens and the like]")
@click.option(
    "--completion", metavar="COLUMN", help="Completion tokens. [default: completion_tokens, output_tokens ...]"
)
@click.option(
    "--unit", type=click.Choice(["tokens", "words"]), default="tokens", help="What is counted. [default: tokens]"
)
@click.option("--first-day", type=_DATE, metavar="DATE", help="Date of second 0, where rows count seconds.")
@click.option("--from", "since", type=_DATE, metavar="DATE", help="First day to use. [default: all]")
@click.option("--to", "until", type=_DATE, metavar="DATE", help="Last day to use. [default: all]")
@click.option("--start", type=_DATE, metavar="DATE", help="Day the block begins. [default: the day after the trace]")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="New or empty folder. [default: out/calibrate-TRACE]"
)
@click.option("--toml", "as_toml", is_flag=True, help="Print the TOML block, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="Print the fit as JSON, and nothing else.")
def calibrate(
    trace: Path,
    time: str | None,
    tokens: str | None,
    prompt: str | None,
    completion: str | None,
    unit: str,
    first_day: datetime | None,
    since: datetime | None,
    until: datetime | None,
    start: datetime | None,
    out: Path | None,
    as_toml: bool,
    as_json: bool,
) -> None:
    """Fit a [demand] table to TRACE, a CSV with a row per day, per hour or 10 minutes, or per request.

    Prints the fit with its errors and the TOML block, and draws the trace on the band that the fit simulates.

    \b
    Examples:
      labspend calibrate tokens.csv
      labspend calibrate usage.csv --from 2026-01-01 --start 2026-06-01 --out fitted
      labspend calibrate requests.csv --time sent_at --prompt n_in --completion n_out --toml
    """
    if as_toml and as_json:
        raise BadInput("--toml and --json: only one of them can be alone on the output")
    from simulator.show.calibration_table import calibration_table
    from simulator.study.calibrate import LEAST_DAYS
    from simulator.study.calibrate import calibrate as fit
    from simulator.study.csv_rows import TraceError
    from simulator.study.fit_lines import Report, fit_lines, save_fit
    from simulator.study.trace_band import trace_band
    from simulator.study.usage import load_usage
    from simulator.study.usage_csv import Columns, Unit

    columns = Columns(time, tokens, prompt, completion, Unit[unit.upper()])
    try:
        usage = load_usage(trace, columns, first_day=_day(first_day), since=_day(since), until=_day(until))
        found = fit(usage, _day(start))
    except TraceError as error:
        told = str(error)
        raise BadInput(f"the trace cannot be used.\n{told}" if "\n" in told else told) from None
    with results_go_to(out, f"calibrate-{trace.stem}") as folder:
        band = None if found.daily is None else trace_band(found, found.daily)
        text = save_fit(found, band, folder)
        if found.daily is not None and band is not None:
            from simulator.show.calibration_plot import save_trace_plot

            save_trace_plot(found, found.daily, band, folder)
    lines = fit_lines(found, band)
    if as_json:
        print_json(Report(found, lines, text))
    elif as_toml:
        click.echo(text, nl=False)
    else:
        print_rich(calibration_table(found, lines))
        click.echo(f"\n{text}")
        if band is None:
            click.echo(f"No picture: it takes {LEAST_DAYS} whole days.")
        click.echo(f"Results: {folder}")


def _day(when: datetime | None) -> date | None:
    return None if when is None else when.date()
