"""The answer as one page that can be mailed: a file without outside parts, from the tables of a results folder."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup, escape
from rich.text import Text

from simulator.lab.accounts import Stage
from simulator.show.figures import Figures
from simulator.show.money import Currency
from simulator.show.report_pictures import pictures_in
from simulator.show.report_sliders import slider_page
from simulator.show.report_tables import (
    assumption_lines,
    cost_lines,
    price_lines,
    quarter_words,
    service_lines,
    stage_lines,
)
from simulator.show.stage_table import STAGE_CAPTION, in_a_line
from simulator.show.style import cheapest
from simulator.show.table import comparison_table, verdict
from simulator.show.why_said import why_said
from simulator.study.comparison import Comparison, worlds_said
from simulator.study.identity import versions
from simulator.study.reopened import MADE_FROM
from simulator.study.slider_grid import SliderGrid
from simulator.study.store import PRICE_BOOK, SCENARIO, sha256_of
from simulator.study.this_quarter import NINETY_DAYS, first_quarter

REPORT = "report.html"
MOST_BYTES = 2_000_000
_FILES = Path(__file__).parent / "report_files"
_LINK = re.compile(r"https?://[^\s<>\"']+")


def write_report(
    comparison: Comparison,
    folder: Path,
    target: Path | None = None,
    *,
    grid: SliderGrid | None = None,
    command: str = "",
    made_by: Mapping[str, str] | None = None,
) -> Path:
    """Write the report of a comparison whose tables, scenario and pictures are in a folder.

    Parameters
    ----------
    comparison
        What the folder holds.
    folder
        Results, as `save` writes them; the manifest need not be there yet.
    target
        The file to write; default: report.html in the folder.
    grid
        What sliders move over; default: no sliders.
    command
        What was typed to make the results, if it is to be told.
    made_by
        Versions that made the results; default: those that run now.

    Raises
    ------
    FileExistsError
        If the file is there: nothing is written over.
    """
    target = folder / REPORT if target is None else target
    if target.exists():
        raise FileExistsError(f"{target}: is there, and nothing is written over")
    page = report_html(comparison, folder, grid, command, made_by or versions())
    aside = target.with_name(f".{target.name}.unfinished")
    try:
        aside.write_bytes(page.encode())
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
    return target


def report_html(
    comparison: Comparison, folder: Path, grid: SliderGrid | None, command: str, made_by: Mapping[str, str]
) -> str:
    """The page as text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    shelf = Environment(
        loader=FileSystemLoader(_FILES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shelf.filters["linked"] = linked
    style, script = (_FILES / name for name in ("report.css", "report.js"))
    looks, moves = (path.read_text(encoding="utf-8") for path in (style, script))
    figures = Figures(Currency.declared(comparison.scenario.currency))
    rows, best = comparison.summary_records(), cheapest(comparison)
    says_something = rows[best].comparable
    scenario_text = (folder / SCENARIO).read_text(encoding="utf-8")
    return shelf.get_template("report.html.jinja").render(
        policy_of_content=_content_policy(looks, moves),
        style=Markup(looks),
        script=Markup(moves),
        scenario=comparison.scenario,
        last_day=comparison.scenario.calendar.date_of(comparison.n_days - 1),
        verdict=verdict(comparison),
        whys=why_said(comparison),
        best=rows[best].policy if says_something else "",
        quarter=quarter_words(first_quarter(comparison, best), figures) if says_something else None,
        quarter_days=min(NINETY_DAYS, comparison.n_days),
        worlds=worlds_said(comparison.replications),
        is_one_world=comparison.replications == 1,
        baseline=comparison.baseline,
        currency=figures.currency,
        costs=cost_lines(rows, figures),
        services=service_lines(rows, figures),
        stages=[in_a_line(stage) for stage in Stage],
        stage_lines=stage_lines(comparison, figures),
        stage_caption=STAGE_CAPTION,
        notes=_notes(comparison),
        sliders=None if grid is None else slider_page(grid, comparison.policy_names, figures),
        pictures=pictures_in(folder, comparison),
        assumptions=assumption_lines(comparison, scenario_text, figures),
        prices=price_lines(folder / PRICE_BOOK, figures),
        replications=comparison.replications,
        scenario_text=scenario_text,
        seed=comparison.seed,
        command=command,
        versions=made_by,
        lived_by=versions() if grid is not None and versions() != made_by else {},
        hashes=[(name, sha256_of(folder / name)) for name in MADE_FROM],
    )


def linked(text: str) -> Markup:
    """A text whose web addresses can be followed; everything else in it is only text."""
    parts: list[Markup] = []
    at = 0
    for found in _LINK.finditer(text):
        address = found[0].rstrip(".,;:)")
        parts.append(escape(text[at : found.start()]))
        parts.append(Markup('<a href="{0}" rel="noreferrer noopener">{0}</a>').format(address))
        at = found.start() + len(address)
    return Markup("").join([*parts, escape(text[at:])])


def _content_policy(*inline: str) -> str:
    """What the page may load: itself, pictures in it, and these very texts as style and script."""
    style, script = (f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in inline)
    own = f"img-src data:; style-src {style}; script-src {script}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _notes(comparison: Comparison) -> Sequence[str]:
    """What stands under the table in the terminal."""
    said = comparison_table(comparison).caption
    return said.plain.splitlines() if isinstance(said, Text) else []
