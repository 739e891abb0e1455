"""Serves the what-if page to this machine alone, and to nobody's statistics."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

HOST = "127.0.0.1"
_START_SECONDS = 30.0
_PAGE = Path(__file__).with_name("app.py")


class NoPage(Exception):
    """The page cannot be served; the message says why."""


def check(port: int) -> None:
    """See that the page can be served.

    Raises
    ------
    NoPage
        If Streamlit is not installed, or the port is taken.
    """
    if find_spec("streamlit") is None:
        raise NoPage("Streamlit is not installed: pip install 'labspend[app]'")
    with socket.socket() as tried:
        if os.name == "posix":
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as error:
            raise NoPage(f"port {port} cannot be used ({error.strerror}): name another with --port") from None


def serve(scenario: str, settings: Sequence[str], *, port: int, opens_browser: bool) -> None:
    """Serve the page until Ctrl-C or SIGTERM.

    Parameters
    ----------
    scenario, settings
        A scenario file and what is set in it, as the command line has them.
    port
        On 127.0.0.1, which other machines cannot reach.
    opens_browser
        Whether to open the page once it is there.
    """
    os.environ["STREAMLIT_LOGGER_HIDE_WELCOME_MESSAGE"] = "true"  # older ones refuse the flag, and say their address
    from streamlit.web import cli

    from simulator.study.desk import desk

    desk()  # in this thread, where workers learn which program they are part of, and before anybody waits
    if opens_browser:
        threading.Thread(target=_open, args=(port,), daemon=True).start()
    # Streamlit catches Ctrl-C by itself once it has started; before, its command makes Abort of it.
    with contextlib.suppress(KeyboardInterrupt, click.Abort):
        cli.main(["run", str(_PAGE), *_flags(port), "--", scenario, *settings], standalone_mode=False)


def _flags(port: int) -> list[str]:
    """What Streamlit does otherwise: listen to all the world, count users, watch files, show tracebacks."""
    options = {
        "server.address": HOST,
        "server.port": str(port),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.serverAddress": HOST,
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "runner.magicEnabled": "false",
        "theme.base": "light",
        "theme.primaryColor": "#2f62c9",
        "logger.level": "error",
    }
    return [word for name, value in options.items() for word in (f"--{name}", value)]


def _open(port: int) -> None:
    """Wait until somebody answers, then let the user's browser look."""
    url, until = f"http://{HOST}:{port}", time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1.0):
            webbrowser.open(url)
            return
        time.sleep(0.1)
    sys.stderr.write(f"The page did not come up in time: open {url} by hand.\n")
