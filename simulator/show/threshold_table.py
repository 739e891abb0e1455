"""Where the cheapest policy changes, as tables and in words."""

from __future__ import annotations

import math

from rich.table import Table

from simulator.show.money import DASH, percent, signed, signed_percent
from simulator.show.plain_table import plain_table
from simulator.study.comparison import worlds_said
from simulator.study.threshold_answers import Threshold, Thresholds

_NOBODY = "nothing can be called cheaper"


def thresholds_table(found: Thresholds) -> Table:
    """A row per value tried: who wins, and the pair of the curve."""
    policy, against = found.pair
    comparison = found.comparison
    worlds = f"{worlds_said(comparison.replications)}, seed {comparison.seed}"
    lines = [
        f"Tried: {found.low:g} to {found.high:g}, {found.range_said}; thresholds to {percent(found.tolerance, 1)}.",
        f"{worlds}: the same luck at every value; differences paired, of {against}'s cost.",
        "Between two values of the first scan with the same winner no change is looked for.",
    ]
    factors = [row.variance_factor for row in found.rows if row.variance_factor != 1.0]
    if factors:
        lines.append(
            f"Expected costs with control: total demand; variance of the difference x{min(factors):.2g} to "
            f"x{max(factors):.2g}."
        )
    lines += [f"Not possible: {found.field} = {value:g}: {why}." for value, why in found.failed]
    table = plain_table(f"{comparison.scenario.title}: what wins along {found.field}", "\n".join(lines), Table)
    table.add_column(found.field, justify="right", no_wrap=True)
    table.add_column("Cheapest", no_wrap=True)
    table.add_column(f"{policy} vs {against} [95 %]", justify="right", no_wrap=True)
    table.add_column("Not comparable")
    for row in found.rows:
        mark = " (declared)" if row.value == found.declared else ""
        bounds = ""
        if math.isfinite(row.difference_low_percent):
            bounds = f" [{signed(row.difference_low_percent, 1)}, {signed(row.difference_high_percent, 1)}]"
        table.add_row(
            f"{figure(row.value)}{mark}",
            row.winner or DASH,
            f"{signed_percent(row.difference_percent, 1)}{bounds}",
            row.reason,
        )
    return table


def verdict(found: Thresholds) -> str:
    """The thresholds in a sentence each, or what wins throughout."""
    sentences = [_said(threshold) for threshold in found.thresholds]
    if not sentences:
        sentences.append(_throughout(found))
    return " ".join([*sentences, *_at_declared(found)])


def _said(threshold: Threshold) -> str:
    field, below, above = threshold.field, threshold.cheaper_below, threshold.cheaper_above
    at = figure(threshold.value)
    if threshold.reason or not (below and above):
        why = f": {threshold.reason}" if threshold.reason else ""
        return f"At {field} = {at} the answer turns from {below or _NOBODY} to {above or _NOBODY}{why}."
    return f"{above} costs less than {below} only if {field} is above {at}{interval(threshold)}."


def interval(threshold: Threshold) -> str:
    """The bounds of a threshold; open to where neither policy is surely cheaper up to the end of the range."""
    low, high = threshold.low, threshold.high
    if math.isnan(low) and math.isnan(high):
        return ""
    return f" [{'below the range' if math.isnan(low) else figure(low)}, " + (
        "beyond the range]" if math.isnan(high) else f"{figure(high)}]"
    )


def _throughout(found: Thresholds) -> str:
    """What wins everywhere, and what comes nearest to it where."""
    winner = found.trials[0].winner
    span = f"from {figure(found.trials[0].value)} to {figure(found.trials[-1].value)}"
    if not winner:
        return f"Nothing can be called cheaper at any {found.field} {span}."
    policy, against = found.pair
    rival = policy if policy != winner else against
    gaps = [(t.difference_percent(rival, winner), t) for t in found.trials if not t.reason(rival)]
    if rival == winner or not gaps:
        return f"{winner} wins at every {found.field} {span}: nothing else is comparable."
    gap, at = min(gaps, key=lambda pair: pair[0].mean)
    unsure = "; there the two cannot be told apart" if gap.low <= 0.0 else ""
    return (
        f"{winner} costs least at every {found.field} {span}; {rival} comes nearest at {figure(at.value)}, "
        f"{signed_percent(gap.mean, 1)} [{signed(gap.low, 1)}, {signed(gap.high, 1)}]{unsure}."
    )


def _at_declared(found: Thresholds) -> list[str]:
    if not found.thresholds or found.declared is None:
        return []
    trials = [trial for trial in found.trials if trial.value == found.declared]
    return [f"Declared: {figure(found.declared)}, where {trial.winner or _NOBODY} wins." for trial in trials]


def figure(value: float) -> str:
    """A value of a field, three significant digits."""
    return f"{value:.3g}" if abs(value) < 1e3 or abs(value) >= 1e6 else f"{value:.0f}"
