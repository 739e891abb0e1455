"""Every policy at every point of a set of scenarios: who wins where, and what moves the answer most."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from dataclasses import fields as fields_of
from datetime import date

import numpy as np
import pandas as pd

from simulator.lab.policy import Policy
from simulator.laws.units import FloatArray
from simulator.study.comparison import TIE, Comparison
from simulator.study.designs import Design, Listed, Point, Ranged, grid, latin_hypercube, saltelli
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.experiment import Progress, processes
from simulator.study.many import try_many
from simulator.study.varied import Value, declared_value, varied_in
from simulator.world.scenario import Misplaced, Scenario

_LEAST_FOR_RANKS = 4


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One policy at one point: the figures that `compare` gives there."""

    policy: str
    cumulative_cost_usd: float
    cumulative_cost_low_usd: float
    cumulative_cost_high_usd: float
    difference_percent: float
    """Paired, from the baseline, of its mean cost."""
    difference_low_percent: float
    difference_high_percent: float
    chance_cheapest: float
    comparable: bool
    reason: str
    """Why it is not comparable."""
    wins: bool
    """Whether its mean cost is the lowest of the comparable ones; of a tie the first named."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One point, with all policies; or why nothing can be lived there."""

    number: int
    values: Point
    """In the order of the fields."""
    rows: tuple[SweepRow, ...]
    refused: str = ""

    @property
    def winner(self) -> SweepRow | None:
        """The row that wins; None if nothing can be called cheaper."""
        return next((row for row in self.rows if row.wins), None)


@dataclass(frozen=True, slots=True)
class InfluenceRow:
    """How much one field moves one policy's difference from the baseline, over all points."""

    policy: str
    field: str
    rank_correlation: float
    """Spearman's: 1 where a larger value always means a larger difference."""
    first_order: float
    """Sobol's index: part of the variance that is due to the field alone; NaN without a Sobol sample."""
    total_order: float
    """The part it has a hand in, with others or alone."""


@dataclass(frozen=True, slots=True)
class SweepAnswers:
    """All tables."""

    fields: tuple[str, ...]
    design: Design
    points: tuple[SweepPoint, ...]
    influence: tuple[InfluenceRow, ...]


@dataclass(frozen=True, eq=False)
class Sweep:
    """The answers, and the comparison in the scenario as declared."""

    answers: SweepAnswers
    replications: int
    comparison: Comparison

    @property
    def table(self) -> pd.DataFrame:
        """A row per point and policy, with a column for each field; a refused point has one row and the reason."""
        named, rows = self.answers.fields, list[dict[str, object]]()
        columns = [column.name for column in fields_of(SweepRow)]
        for point in self.answers.points:
            at = {"point": point.number, **dict(zip(named, point.values, strict=True))}
            if point.refused:
                rows.append({**at, "policy": "", "comparable": False, "reason": point.refused, "wins": False})
            rows += [{**at, **{name: getattr(row, name) for name in columns}} for row in point.rows]
        return pd.DataFrame(rows, columns=["point", *named, *columns])


def sweep(
    scenario: Scenario,
    policies: Sequence[Policy],
    axes: Sequence[Listed | Ranged],
    *,
    design: Design = Design.GRID,
    points: int = 32,
    replications: int = 32,
    seed: int = 1,
    equal_service: EqualService = USUAL_SERVICE,
    workers: int = 1,
    progress: Progress | None = None,
) -> Sweep:
    """Compare the policies at every point: the same worlds' luck at each.

    Parameters
    ----------
    scenario, policies
        What the points are variations of; the first policy is the baseline.
    axes
        The fields, with their values for a grid or their ranges for a sample.
    design, points
        A grid takes every combination; a Latin hypercube so many points; a Sobol sample so many, a power of two,
        times the number of fields and two.
    replications, seed, equal_service, workers, progress
        As for `compare`; `progress` counts points. The seed also lays the sample.

    Raises
    ------
    Misplaced
        If there is no such field. A point that breaks a rule of the scenario is told in its row.
    ValueError
        If the axes do not suit the design.
    """
    fields = tuple(axis.field for axis in axes)
    if not fields or len(set(fields)) != len(fields):
        raise ValueError("axes: must be one or more different fields")
    for name in fields:
        declared_value(scenario, name)
    laid = _laid(axes, design, points, seed)
    changes = [tuple(zip(fields, values, strict=True)) for values in laid]
    found = []
    with closing(
        live_at(
            scenario,
            policies,
            [(), *changes],
            replications=replications,
            seed=seed,
            equal_service=equal_service,
            workers=workers,
        )
    ) as results:
        declared = next(results)
        if not isinstance(declared, Comparison):
            raise declared
        for number, (values, lived) in enumerate(zip(laid, results, strict=True)):
            if isinstance(lived, Comparison):
                found.append(SweepPoint(number, values, sweep_rows(lived)))
            else:
                found.append(SweepPoint(number, values, (), refusal_said(lived)))
            if progress is not None:
                progress(number + 1, len(laid))
    influence = _influence(fields, found, [policy.name for policy in policies[1:]], points, design)
    return Sweep(SweepAnswers(fields, design, tuple(found), tuple(influence)), replications, declared)


def live_at(
    scenario: Scenario,
    policies: Sequence[Policy],
    changes: Sequence[Sequence[tuple[str, Value]]],
    *,
    replications: int,
    seed: int,
    equal_service: EqualService,
    workers: int,
) -> Generator[Comparison | ValueError, None, None]:
    """The comparison in the scenario with each of these sets of values changed, in order; or why there is none."""
    worlds: list[Scenario | Misplaced] = []
    for change in changes:
        try:
            worlds.append(varied_in(scenario, change))
        except Misplaced as error:
            worlds.append(error)
    tasks = [(world, policies) for world in worlds if isinstance(world, Scenario)]
    with (
        processes(workers) as executor,
        closing(
            try_many(
                tasks,
                replications=replications,
                seed=seed,
                executor=executor,
                at_once=workers,
                equal_service=equal_service,
            )
        ) as lived,
    ):
        for world in worlds:
            yield next(lived) if isinstance(world, Scenario) else world


def value_of(scenario: Scenario, field: str, text: str) -> Value:
    """A value written as text, of the kind that the field holds: a number, a truth, a date or a word.

    Raises
    ------
    Misplaced
        If there is no such field, or the text is of another kind.
    """
    held = declared_value(scenario, field)
    word = text.strip()
    if isinstance(held, bool):
        if word not in ("true", "false"):
            raise Misplaced(field, "must be true or false", repr(word[:40]))
        return word == "true"
    if isinstance(held, str):
        return word
    try:
        number = float(word)
    except ValueError:
        if held is None:
            return word
        raise Misplaced(field, "must be a number", repr(word[:40])) from None
    if not np.isfinite(number):
        raise Misplaced(field, "must be a finite number", repr(word[:40]))
    return int(number) if isinstance(held, int) and number == int(number) else number


def sweep_rows(comparison: Comparison) -> tuple[SweepRow, ...]:
    """The rows of one point."""
    records = comparison.summary_records()
    least = min((row.cumulative_cost_usd for row in records if row.comparable), default=float("nan"))
    near = [row.comparable and row.cumulative_cost_usd <= least + TIE * abs(least) for row in records]
    winner = near.index(True) if any(near) else -1
    return tuple(
        SweepRow(
            row.policy,
            row.cumulative_cost_usd,
            row.cumulative_cost_low_usd,
            row.cumulative_cost_high_usd,
            row.difference_percent,
            row.difference_low_percent,
            row.difference_high_percent,
            row.chance_cheapest,
            row.comparable,
            row.reason,
            number == winner,
        )
        for number, row in enumerate(records)
    )


def _laid(axes: Sequence[Listed | Ranged], design: Design, points: int, seed: int) -> list[Point]:
    if design is Design.GRID:
        listed = [axis for axis in axes if isinstance(axis, Listed)]
        if len(listed) != len(axes):
            raise ValueError("axes: a grid needs the values of every field")
        return grid(listed)
    ranged = [axis for axis in axes if isinstance(axis, Ranged)]
    if len(ranged) != len(axes):
        raise ValueError("axes: a sample needs the range of every field")
    lay = latin_hypercube if design is Design.LHS else saltelli
    return lay(ranged, points, seed)


def refusal_said(error: ValueError) -> str:
    """Why a point cannot be lived."""
    return "; ".join([str(error), *getattr(error, "__notes__", [])])


def _influence(
    fields: Sequence[str], found: Sequence[SweepPoint], rivals: Sequence[str], points: int, design: Design
) -> list[InfluenceRow]:
    """Rank correlations of each policy's difference with each numeric field, and Sobol indices if the sample is one."""
    from scipy.stats import spearmanr

    lived = [point for point in found if point.rows]
    rows = []
    for number, policy in enumerate(rivals, start=1):
        off = np.array([point.rows[number].difference_percent if point.rows else np.nan for point in found])
        first, total = _sobol(off, len(fields), points) if design is Design.SOBOL else (None, None)
        for at, field in enumerate(fields):
            values = [point.values[at] for point in lived]
            is_numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            moves = is_numeric and len(set(values)) > 1 and len(lived) >= _LEAST_FOR_RANKS
            there = off[[point.number for point in lived]]
            correlation = float(spearmanr(values, there).statistic) if moves and np.ptp(there) > 0.0 else float("nan")
            rows.append(
                InfluenceRow(
                    policy,
                    field,
                    correlation,
                    float("nan") if first is None else float(first[at]),
                    float("nan") if total is None else float(total[at]),
                )
            )
    return rows


def _sobol(values: FloatArray, fields: int, points: int) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """First and total indices of what came of a `saltelli` sample; None if a point is missing or nothing moves."""
    from scipy.stats import sobol_indices

    if not np.isfinite(values).all() or np.ptp(values) == 0.0:
        return None, None
    blocks = values.reshape(fields + 2, 1, points)
    found = sobol_indices(func={"f_A": blocks[0], "f_B": blocks[1], "f_AB": blocks[2:]}, n=points)
    return np.asarray(found.first_order).ravel(), np.asarray(found.total_order).ravel()


def is_number(value: object) -> bool:
    """Whether a value can stand on an axis."""
    return isinstance(value, int | float) and not isinstance(value, bool | date)
