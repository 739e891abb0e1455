"""A sweep as tables and in words."""

from __future__ import annotations

import math
from collections import Counter

from rich.table import Table

from simulator.show.money import DASH, percent, scaled, signed, signed_percent
from simulator.show.plain_table import plain_table
from simulator.study.comparison import worlds_said
from simulator.study.sweep import Sweep, SweepPoint, SweepRow, is_number
from simulator.study.varied import Value

_MOST_ROWS = 60
NOBODY = "nothing can be called cheaper"


def sweep_table(found: Sweep) -> Table:
    """A row per point: its values, who wins there, by how much, and how sure that is."""
    points, comparison = found.answers.points, found.comparison
    lines = [
        f"{worlds_said(found.replications)} at each point, seed {comparison.seed}: the same luck at every point.",
        f"Difference paired, from {comparison.baseline}, of its cost.",
    ]
    if len(points) > _MOST_ROWS:
        lines.append(f"The first {_MOST_ROWS} of {len(points)} points; sweep.csv has them all.")
    lines += [f"Point {point.number}: {point.refused}." for point in points if point.refused]
    table = plain_table(f"{comparison.scenario.title}: what wins where", "\n".join(lines), Table)
    for name in found.answers.fields:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Cheapest", no_wrap=True)
    table.add_column(f"vs {comparison.baseline} [95 %]", justify="right", no_wrap=True)
    table.add_column("Wins", justify="right", no_wrap=True)
    table.add_column("Not comparable", justify="right", no_wrap=True)
    for point in points[:_MOST_ROWS]:
        unlike = sum(not row.comparable for row in point.rows)
        cells = [value_said(value) for value in point.values]
        table.add_row(*cells, *_answer(point, comparison.baseline), str(unlike) if unlike else "")
    return table


def influence_table(found: Sweep) -> Table:
    """How much each field moves each policy's difference from the baseline."""
    has_indices = any(math.isfinite(row.first_order) for row in found.answers.influence)
    said = (
        "Rank correlation: Spearman's, of the value with the difference from the baseline, over all points; 0 is no "
        "order, and a dash is a field that was not varied as a number."
    )
    if has_indices:
        said += (
            "\nOf variance, alone and in all: Sobol's first and total indices, the part of the variance over the "
            "ranges that the field explains; with few points they may fall a little outside 0 to 1."
        )
    table = plain_table("What moves the answer", said, Table)
    table.add_column("Policy", no_wrap=True)
    table.add_column("Field", no_wrap=True)
    table.add_column("Rank correlation", justify="right")
    if has_indices:
        table.add_column("Of variance, alone", justify="right")
        table.add_column("in all", justify="right")
    for row in found.answers.influence:
        indices = [percent(row.first_order), percent(row.total_order)] if has_indices else []
        table.add_row(row.policy, row.field, signed(row.rank_correlation, 2), *indices)
    return table


def verdict(found: Sweep) -> str:
    """Who wins at how many points, and what could not be lived."""
    points = found.answers.points
    lived = [point for point in points if not point.refused]
    if not lived:
        return f"No point can be lived: {points[0].refused}."
    wins = Counter(NOBODY if point.winner is None else point.winner.policy for point in lived)
    told = [
        f"{name} at {count} of {len(lived)} points" if name == NOBODY else f"{name} costs least at {count}"
        for name, count in wins.most_common()
    ]
    sentence = f"{'; '.join(told)}{'' if NOBODY in wins else f' of {len(lived)} points'}."
    unsure = sum(_is_unsure(point) for point in lived)
    if unsure:
        sentence += f" At {unsure} the winner cannot be told from {found.comparison.baseline}."
    refused = len(points) - len(lived)
    return f"{sentence} {refused} of {len(points)} points cannot be lived." if refused else sentence


def value_said(value: Value) -> str:
    """A value as its column shows it."""
    return (f"{value:.4g}" if isinstance(value, float) else str(value)).replace(
        "-", "\u2212" if is_number(value) else "-"
    )


def _is_unsure(point: SweepPoint) -> bool:
    winner = point.winner
    return (
        winner is not None
        and winner is not point.rows[0]
        and winner.difference_low_percent <= 0.0 <= winner.difference_high_percent
    )


def _answer(point: SweepPoint, baseline: str) -> tuple[str, str, str]:
    winner = point.winner
    if winner is None:
        return ("not possible" if point.refused else NOBODY), DASH, DASH
    return winner.policy, difference_said(winner, baseline), percent(winner.chance_cheapest)


def difference_said(row: SweepRow, baseline: str) -> str:
    """The paired difference with its interval; of the baseline its cost."""
    if row.policy == baseline:
        return f"baseline, ${scaled(row.cumulative_cost_usd)}"
    bounds = ""
    if math.isfinite(row.difference_low_percent):
        bounds = f" [{signed(row.difference_low_percent, 1)}, {signed(row.difference_high_percent, 1)}]"
    return f"{signed_percent(row.difference_percent, 1)}{bounds}"
