"""What stands on the what-if page, as HTML: words, tables and pictures; what users wrote is escaped."""

from __future__ import annotations

import base64
import io
import shlex
from collections.abc import Callable, Sequence
from html import escape

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table
from rich.text import Text

from simulator.laws.units import DAYS_PER_YEAR
from simulator.show.money import percent
from simulator.show.plain_table import plain_table
from simulator.show.style import INK, TITLE
from simulator.show.table import difference_percent, verdict
from simulator.study.comparison import Comparison, worlds_said
from simulator.study.rankings import break_even_rows

_DPI = 150
_INCHES = (7.6, 4.9)

STYLE = """<style>
.stMainBlockContainer { padding: 4rem 2.5rem 3rem 2.5rem; }
@media (max-width: 640px) { .stMainBlockContainer { padding: 4rem 1rem 3rem 1rem; } }
.ls-title { font-size: 1.7rem; font-weight: 600; line-height: 1.25; margin: 0; color: #222222; }
.ls-question { color: #55555d; margin: .2rem 0 0 0; font-size: 1.05rem; }
.ls-verdict { border-left: 5px solid #5790fc; background: #f2f5fb; padding: .8rem 1rem; color: #222222; }
.ls-verdict p { margin: 0; font-size: 1.15rem; line-height: 1.4; }
.ls-verdict p.ls-rests { font-size: .92rem; color: #55555d; margin-top: .3rem; }
.ls-wrong { border-left: 5px solid #e42536; background: #fdf1f1; padding: .8rem 1rem; color: #222222; }
.ls-wrong p { margin: 0 0 .4rem 0; font-weight: 600; }
.ls-wrong pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: .9rem; background: none;
  color: #222222; padding: 0; border: 0; }
.ls-wide { overflow-x: auto; }
.ls-picture { margin: 0; }
.ls-picture img { width: 100%; display: block; }
.ls-picture figcaption { color: #55555d; font-size: .82rem; line-height: 1.35; }
.ls-letter { font-size: 1.3rem; font-weight: 600; margin: .4rem 0 0 0; padding: 0; color: #222222; }
.ls-side { margin: .2rem 0 .8rem 0; color: #222222; }
.ls-wide table { border-collapse: collapse; font-size: .92rem; white-space: nowrap; color: #222222; }
.ls-caption { font-weight: 600; margin: 0 0 .3rem 0; color: #222222; }
.ls-wide th { text-align: right; font-weight: 600; vertical-align: bottom; border-bottom: 1px solid #63636b; }
.ls-wide th, .ls-wide td { padding: .28rem .8rem .28rem 0; }
.ls-wide td { text-align: right; border-bottom: 1px solid #dedee3; }
.ls-wide th.ls-left, .ls-wide td.ls-left { text-align: left; }
.ls-notes { margin: .3rem 0; }
.ls-notes p { margin: .15rem 0; color: #55555d; font-size: .84rem; line-height: 1.35; }
</style>"""
"""Dark on light, every contrast above 4.5 to 1."""


def heading(title: str, question: str) -> str:
    """The scenario's title and question."""
    return f'<h1 class="ls-title">{escape(title)}</h1><p class="ls-question">{escape(question)}</p>'


def answer(words: str, comparisons: Sequence[Comparison], wanted: int) -> str:
    """The answer in words, and how many worlds it rests on so far."""
    done = min(found.replications for found in comparisons)
    more = "" if done >= wanted else f" of {wanted:,} so far; the others are being drawn"
    rests = f"Rests on {worlds_said(done)}{more}. Seed {comparisons[0].seed}."
    return (
        f'<div class="ls-verdict" role="status" data-worlds="{done}"><p>{escape(words)}</p>'
        f'<p class="ls-rests">{escape(rests)}</p></div>'
    )


def side(letter: str, comparison: Comparison) -> str:
    """The head of one of two scenarios, with its answer."""
    return f'<h2 class="ls-letter">Scenario {letter}</h2><p class="ls-side">{escape(verdict(comparison))}</p>'


def complaint(what: str, told: str) -> str:
    """What is wrong, a mistake a line, as `labspend check` says it."""
    lines = "\n".join(line.removeprefix("--set: ").removeprefix("--set ") for line in told.splitlines())
    return f'<div class="ls-wrong" role="alert"><p>{escape(what)}</p><pre>{escape(lines)}</pre></div>'


def table_html(table: Table) -> str:
    """A table as a terminal shows it: title above, caption below, figures at the right."""
    columns = table.columns
    sides = [' class="ls-left"' if column.justify == "left" else "" for column in columns]
    head = "".join(
        f'<th scope="col"{side}>{_lines(column.header)}</th>' for side, column in zip(sides, columns, strict=True)
    )
    rows = "".join(
        f"<tr>{''.join(f'<td{side}>{_lines(cell)}</td>' for side, cell in zip(sides, cells, strict=True))}</tr>"
        for cells in zip(*(column.cells for column in columns), strict=True)
    )
    notes = "".join(f"<p>{escape(line)}</p>" for line in _plain(table.caption).splitlines())
    return (
        f'<p class="ls-caption">{_lines(table.title)}</p><div class="ls-wide" tabindex="0"><table aria-label='
        f'"{_lines(table.title)}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        f'<div class="ls-notes">{notes}</div>'
    )


def picture(draw: Callable[[Comparison, Axes], Axes], comparison: Comparison, title: str, told: str) -> str:
    """A picture small enough to stand beside another; what it shows in words is for those who do not see it.

    The title is shorter than that of a slide, and the caption is text below, so both are read where there is little
    room.
    """
    figure = Figure(figsize=_INCHES, layout="constrained")
    ax = draw(comparison, figure.add_subplot())
    caption = ax.get_xlabel()
    ax.set_xlabel("")
    ax.set_title(title, loc="left", fontsize=TITLE, color=INK, parse_math=False)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=_DPI)
    data = base64.b64encode(png.getvalue()).decode()
    return (
        f'<figure class="ls-picture"><img alt="{escape(told)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def break_even(comparison: Comparison) -> str:
    """From when on each policy has spent less than the baseline, having spent more: in the mean and world by world."""
    start, baseline = comparison.scenario.start, comparison.baseline
    caption = f"From then on it has spent less than {baseline}, having spent more; blank where it never does."
    table = plain_table("Break-even", caption, Table)
    table.add_column("Policy")
    for header in ("In the\nmean", "After\nyears", "Part of\nworlds", "5 % to 95 %\nof those worlds"):
        table.add_column(header, justify="right")
    for number, row in enumerate(break_even_rows(comparison), start=1):
        day = comparison.break_even_date(number)
        mean = ("", "") if day is None else (f"{day}", f"{(day - start).days / DAYS_PER_YEAR:.1f}")
        worlds = "" if row.break_even_p50 is None else f"{row.break_even_p5} to {row.break_even_p95}"
        table.add_row(row.policy, *mean, percent(row.share), worlds)
    return table_html(table)


def how_again(stem: str) -> str:
    """How the command line gives the same results."""
    command = f"labspend compare {shlex.quote(f'{stem}.toml')}"
    return (
        '<div class="ls-notes"><p>The whole scenario, every default written out. With it, '
        f"<code>{escape(command)}</code> gives the same results to the byte, and pictures for slides.</p></div>"
    )


def cost_told(comparison: Comparison) -> str:
    """The picture of costs in words."""
    return f"Money spent since the start, a fan over worlds for each policy. {verdict(comparison)}"


def difference_told(comparison: Comparison) -> str:
    """The picture of differences in words."""
    rows = comparison.summary_records()[1:]
    said = ", ".join(f"{row.policy} {difference_percent(row)}" for row in rows)
    return f"Paired difference of cost from {comparison.baseline}: {said}."


def fleet_told(comparison: Comparison, policy: str) -> str:
    """The picture of a fleet in words."""
    return (
        f"GPUs that {policy} holds and rents, by tenure, day by day, mean over {worlds_said(comparison.replications)}."
    )


def _lines(cell: object) -> str:
    return escape(_plain(cell)).replace("\n", "<br>")


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, Text) else "" if cell is None else str(cell)
