"""`labspend app` before it serves anything: what is missing, taken or wrong is one message."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from simulator.cli import main
from simulator.show import page_server


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["app", *words, "--no-browser"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def test_without_streamlit_it_says_what_to_install(
    small_toml: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "streamlit", None)
    told = said(capsys, str(small_toml))
    assert told == "Error: Streamlit is not installed: pip install 'labspend[app]'\n"


def test_a_port_that_is_taken_is_told(small_toml: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("streamlit")
    with socket.socket() as taken:
        taken.bind((page_server.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = said(capsys, str(small_toml), "--port", str(port))
    assert told.startswith(f"Error: port {port} cannot be used")
    assert told.endswith("name another with --port\n")


def test_a_scenario_with_mistakes_is_not_served(small_toml: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'horizon_days'?" in said(capsys, str(small_toml), "--set", "horizon_day=3")


def test_it_is_served_to_this_machine_alone_and_to_no_statistics() -> None:
    flags = page_server._flags(8600)
    given = dict(zip(flags[::2], flags[1::2], strict=True))
    assert given["--server.address"] == "127.0.0.1"
    assert given["--browser.gatherUsageStats"] == "false"
    assert given["--server.fileWatcherType"] == "none"
    assert given["--client.showErrorDetails"] == "none"
