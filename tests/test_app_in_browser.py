"""`labspend app` as a person has it: a server on this machine, a browser without a network, and Ctrl-C."""

from __future__ import annotations

import io
import os
import signal
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import HOST, OpenPage, browser, needs_browser, served, until
from conftest import SMALL_SCENARIO, Labspend

WORLDS = 6
LOOKED_AT = {".png", ".svg", ".xlsx", ".html"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenPage, Path]]:
    """The page of a small lab, and the folder it is served from and downloads go to."""
    needs_browser()
    folder = tmp_path_factory.mktemp("page")
    text = SMALL_SCENARIO.replace("replications = 2", f"replications = {WORLDS}")
    (folder / "small.toml").write_text(text, encoding="utf-8")
    with (
        served("small.toml", "--set", "horizon_days=150", folder=folder) as (_, url),
        browser(folder) as driver,
    ):
        yield OpenPage(driver, url), folder


def test_it_loads_without_errors_or_a_network_and_a_slider_changes_the_verdict(page: tuple[OpenPage, Path]) -> None:
    shown, _ = page
    first = shown.whole(WORLDS)
    assert first.startswith("trained longer costs ")
    pictures = shown.all("figure img")
    assert len(pictures) == 3
    assert all(picture.get_property("naturalWidth") > 500 and picture.get_attribute("alt") for picture in pictures)
    shown.move("Growth of demand", 3)
    moved = until("another verdict", lambda: shown.verdict if shown.verdict not in ("", first) else "")
    assert "costs" in moved
    loaded = shown.driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded
    assert [name for name in loaded if not name.startswith((f"http://{HOST}:", "data:", "blob:"))] == []
    assert [line for line in shown.driver.get_log("browser") if line["level"] == "SEVERE"] == []


def test_what_is_downloaded_is_what_the_command_line_writes(
    page: tuple[OpenPage, Path], labspend: Labspend, tmp_path: Path
) -> None:
    shown, folder = page
    before = shown.whole(WORLDS)
    shown.move("Lead time", 2)
    shown.move("Volatility of demand", 1)
    until("another verdict", lambda: shown.verdict != before)
    shown.whole(WORLDS)
    for at, name in enumerate(("small-a.toml", "small-a-summary.csv", "small-a-results.zip")):
        shown.download(folder / name, at)
    (tmp_path / "small-a.toml").write_bytes((folder / "small-a.toml").read_bytes())
    done = labspend("compare", "small-a.toml", "--out", "again", "--quiet")
    assert done.returncode == 0, done.stderr
    again = tmp_path / "again"
    assert (folder / "small-a-summary.csv").read_bytes() == (again / "summary.csv").read_bytes()
    with zipfile.ZipFile(io.BytesIO((folder / "small-a-results.zip").read_bytes())) as held:
        assert set(held.namelist()) == {path.name for path in again.iterdir() if path.suffix not in LOOKED_AT}
        for name in set(held.namelist()) - {"manifest.json"}:
            assert held.read(name) == (again / name).read_bytes(), name
    scenario = (again / "scenario.toml").read_text(encoding="utf-8")
    assert scenario.encode() == (folder / "small-a.toml").read_bytes()
    assert "horizon_days = 150\n" in scenario
    assert "lead_days = 112.5\n" in scenario


def test_a_mistake_is_told_on_the_page(page: tuple[OpenPage, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    shown, _ = page
    box = until("a box", lambda: shown.all("textarea"))[0]
    box.send_keys("market.lead_dayz = 3", Keys.CONTROL, Keys.ENTER)
    told = until("a complaint", lambda: shown.words(".ls-wrong"))
    assert "did you mean 'lead_days'?" in told
    assert not shown.all("[data-testid=stException]")


def test_a_closed_tab_stops_the_work_and_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    needs_browser()
    if not Path("/proc/self/stat").is_file():
        pytest.skip("processes are told by /proc, which this system lacks")
    endless = SMALL_SCENARIO.replace("replications = 2", "replications = 1_000_000")  # hours of work
    (tmp_path / "endless.toml").write_text(endless, encoding="utf-8")
    with served("endless.toml", folder=tmp_path) as (server, url), browser(tmp_path) as driver:
        shown = OpenPage(driver, url)
        until("a first answer", lambda: shown.all('.ls-verdict[data-worlds="4"]'))
        group = members(server.pid)
        assert len(group) > 1
        assert not is_idle(server.pid)
        driver.get("about:blank")
        until("workers that rest", lambda: is_idle(server.pid))
        OpenPage(driver, url)
        until("workers at work again", lambda: not is_idle(server.pid))
        os.killpg(server.pid, signal.SIGINT)  # as a terminal does: to all of them
        until("the end of the server", lambda: server.poll() is not None)
        assert server.returncode == 0
        until("the end of its workers", lambda: not members(server.pid))
    assert "Traceback" not in (tmp_path / "server.log").read_text()


def members(group: int) -> dict[int, int]:
    """Processes of a group that live, and the clock ticks each has used."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[2]) == group and fields[0] != "Z":
            found[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    return found


def is_idle(group: int) -> bool:
    """Whether the workers use next to nothing of a second: a hundred ticks are a second."""
    before = members(group)
    time.sleep(1.0)
    return sum(members(group).values()) - sum(before.values()) <= 5
