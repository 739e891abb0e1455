"""Published claims beside what the simulator says, as a table and in a sentence."""

from __future__ import annotations

import math

from rich.table import Table
from rich.text import Text

from simulator.show.money import DASH
from simulator.show.plain_table import plain_table
from simulator.study.claims import EXACT, Finding, Verdict, Verification

_CAPTION = """\
passed, FAILED: a source, or a closed form of its equations, against a simulated lab, or a law where it is about one.
accounted: the scenario is given the sums or prices it follows from; the books must carry them, which proves no theory.
illustrative: often said, and no source supports it; never counted as passed.
unexplained: published, and not reached; x is published / simulated. Nothing is tuned to hide it.
shown: a figure of ours that belongs beside them; nobody has published it."""
_HELD = (Verdict.PASSED, Verdict.FAILED, Verdict.ACCOUNTED)
_STYLES = {
    Verdict.PASSED: "green",
    Verdict.FAILED: "bold red",
    Verdict.ACCOUNTED: "cyan",
    Verdict.ILLUSTRATIVE: "dim",
    Verdict.UNEXPLAINED: "yellow",
    Verdict.SHOWN: "dim",
}


def verify_table(found: Verification) -> Table:
    """A row per claim, those of one scenario together."""
    table = plain_table("Published claims against the simulator", _CAPTION, Table)
    table.add_column("Claim", overflow="fold")
    table.add_column("Source", overflow="fold")
    for name in ("Published", "Simulated", "Within"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    last = ""
    for row in found.findings:
        if row.scenario != last:
            last = row.scenario
            table.add_row(Text(last, style="bold"))
        table.add_row(*map(Text, (f"  {row.claim}", row.source)), *map(Text, _figures(row)), _verdict(row))
    return table


def verdict(found: Verification) -> str:
    """How many claims ended how, and which failed."""
    counts = ", ".join(f"{found.n(each)} {each.value}" for each in Verdict if found.n(each))
    failed = [
        f"{row.scenario}: {row.claim}{f' ({row.reason})' if row.reason else ''}"
        for row in found.findings
        if row.verdict is Verdict.FAILED
    ]
    return "\n".join([f"{len(found.findings)} claims: {counts}.", *(f"FAILED {line}" for line in failed)])


def _figures(row: Finding) -> tuple[str, str, str]:
    low, high = row.published_low, row.published_high
    published = DASH if math.isnan(low) else _figure(low) if low == high else f"{_figure(low)} to {_figure(high)}"
    within = row.tolerance if row.verdict in _HELD else math.nan
    return (
        published if math.isnan(low) else f"{published} {row.unit}".strip(),
        f"{_figure(row.simulated)} {row.unit}".strip(),
        DASH if math.isnan(within) else "exact" if within <= EXACT else f"{100.0 * within:.3g} %",
    )


def _figure(value: float) -> str:
    """Five significant digits, with commas where the number is short enough to be read so."""
    if math.isnan(value):
        return DASH
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.5g}"


def _verdict(row: Finding) -> Text:
    said = row.verdict.value
    if row.verdict is Verdict.UNEXPLAINED and math.isfinite(row.factor):
        said = f"{said}, x {row.factor:.2g}"
    return Text(said, style=_STYLES[row.verdict])
