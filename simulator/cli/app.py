"""`labspend app`: a page to play with a scenario."""

from __future__ import annotations

import click

from simulator.cli.said import SET, BadInput, read_study


@click.command(short_help="Open a page to play with SCENARIO.")
@click.argument("scenario", default="frontier_lab")
@SET
@click.option(
    "--port", type=click.IntRange(1, 65_535), default=8501, metavar="N", help="Where it listens. [default: 8501]"
)
@click.option("--no-browser", is_flag=True, help="Only say where the page is.")
def app(scenario: str, overrides: tuple[str, ...], port: int, no_browser: bool) -> None:
    """Open a page to play with SCENARIO (default: frontier_lab): sliders, policies, and what then costs least.

    It is for this machine alone (127.0.0.1), sends nothing anywhere and needs no network. Ctrl-C ends it.

    \b
    Examples:
      labspend app frontier_lab
      labspend app my_lab.toml --port 8600 --no-browser
    """
    read_study(scenario, overrides, None, None, ())  # a mistake is told here, before anything is started
    from simulator.show.page_server import HOST, NoPage, check, serve

    try:
        check(port)
    except NoPage as error:
        raise BadInput(str(error)) from None
    click.echo(f"The page is at http://{HOST}:{port} and stops with Ctrl-C.")
    serve(scenario, overrides, port=port, opens_browser=not no_browser)
