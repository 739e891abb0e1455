"""The what-if page in a real browser: Debian's chromium without a screen, and cut off from every network."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conftest import environment

HOST = "127.0.0.1"
_KEY_SECONDS = 3.0
"""After which a key counts as lost."""
PATIENCE_SECONDS = 120.0
"""A machine that others use at the same time is slow; nothing waits longer than it needs to."""
_Found = TypeVar("_Found")


def needs_browser() -> None:
    """Skip where there is no browser, unless this must not happen."""
    missing = [
        what
        for what, there in (
            ("chromium", _first("chromium", "chromium-browser", "google-chrome")),
            ("chromedriver", _first("chromedriver")),
            ("the Python packages streamlit and selenium", _importable()),
        )
        if not there
    ]
    if missing:
        told = f"the page is not driven in a browser: there is no {' and no '.join(missing)}"
        if os.environ.get("LABSPEND_REQUIRE_BROWSER"):
            pytest.fail(f"{told} (LABSPEND_REQUIRE_BROWSER is set)", pytrace=False)
        pytest.skip(f"{told}; on Debian: apt install chromium chromium-driver")


def _first(*names: str) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


def _importable() -> bool:
    from importlib.util import find_spec

    return find_spec("streamlit") is not None and find_spec("selenium") is not None


def until(what: str, look: Callable[[], _Found], seconds: float = PATIENCE_SECONDS) -> _Found:
    """What `look` gives as soon as that is something; elements that are replaced meanwhile are looked at again."""
    from selenium.common.exceptions import WebDriverException

    end, found = time.monotonic() + seconds, None
    while time.monotonic() < end:
        with contextlib.suppress(WebDriverException, ConnectionError):
            found = look()
            if found:
                return found
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds:g} seconds: {what} (last: {found!r})")


@contextmanager
def served(*words: str | Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`labspend app` in a process group of its own; its process and its address."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "simulator", "app", *map(str, words), "--port", str(port), "--no-browser"]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=log, stderr=log, text=True, start_new_session=True
        )
        try:
            until("a server that answers", lambda: server.poll() is not None or _answers(port))
            assert server.poll() is None, (folder / "server.log").read_text()
            yield server, f"http://{HOST}:{port}"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _answers(port: int) -> bool:
    with socket.create_connection((HOST, port), timeout=1.0):
        return True


@contextmanager
def browser(downloads: Path) -> Iterator[Any]:
    """A browser that finds no host but this one, with a place for what it downloads."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = _first("chromium", "chromium-browser", "google-chrome") or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--window-size=1400,1800",
        f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    driver = webdriver.Chrome(options=options, service=Service(_first("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


class OpenPage:
    """The page in a browser, by what a person sees of it."""

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        driver.get(url)

    def all(self, css: str) -> list[Any]:
        """Elements, in order."""
        return list(self.driver.find_elements("css selector", css))

    def words(self, css: str) -> str:
        """The text of the first; nothing if there is none."""
        return next((str(found.text) for found in self.all(css)), "")

    def download(self, file: Path, at: int) -> None:
        """Press the button at this place until there is the file: a page drawn anew may fold them away, or move one."""

        def pressed() -> bool:
            if not self.all("[data-testid=stExpander] details[open]"):
                self.all("[data-testid=stExpander] summary")[0].click()
            self.all("[data-testid=stDownloadButton] button")[at].click()
            return True

        until(f"the button of {file.name} to be pressed", pressed)
        until(f"the download {file.name}", file.is_file)

    @property
    def verdict(self) -> str:
        """The answer on screen."""
        return self.words(".ls-verdict")

    def whole(self, worlds: int) -> str:
        """Wait for the answer from so many worlds and the end of the run that gave it."""
        until(f"an answer from {worlds} worlds", lambda: self.all(f'.ls-verdict[data-worlds="{worlds}"]'))
        until("the end of a run", lambda: not self.all("[data-stale=true], [data-testid=stProgress]"))
        return self.verdict

    def knob(self, name: str) -> Any:
        """The slider of this name."""

        def look() -> Any:
            for slider in self.all("[data-testid=stSlider]"):
                if slider.find_element("css selector", "label").text == name:
                    return slider.find_element("css selector", "input[type=range], [role=slider]")
            return None

        return until(f"a slider {name}", look)

    def move(self, name: str, steps: int) -> None:
        """Move a slider to the right, as with the keyboard; a key that a page drawn anew has lost is pressed again."""
        from selenium.webdriver.common.keys import Keys

        for _ in range(steps):
            before = self.place(name)

            def moved(before: str = before) -> bool:
                self.knob(name).send_keys(Keys.ARROW_RIGHT)
                end = time.monotonic() + _KEY_SECONDS
                while time.monotonic() < end:
                    if self.place(name) != before:
                        return True
                    time.sleep(0.05)
                return False

            until(f"{name} to move", moved)

    def place(self, name: str) -> str:
        """Where a slider stands."""

        def look() -> str:
            knob = self.knob(name)
            told = (knob.get_attribute(name) for name in ("aria-valuetext", "aria-valuenow", "value"))
            return next((str(each) for each in told if each), "")

        return until(f"the place of {name}", look)
