"""The policies at every point of a small grid: what the sliders of a report move over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from simulator.lab.policy import Policy
from simulator.study.comparison import Comparison, SummaryRow
from simulator.study.designs import Listed, grid
from simulator.study.equal_service import EqualService
from simulator.study.experiment import Progress
from simulator.study.sweep import live_at, refusal_said
from simulator.study.varied import GROWTH, declared_value
from simulator.world.scenario import Misplaced, Scenario

MOST_SLIDERS, MOST_POINTS = 4, 500
RENTAL_FALL, LEVEL_SIGMA = "market.rental_fall_per_year", "demand.level_sigma"
_GROWTHS = (0.6, 0.8, 1.0, 1.25, 1.6)
_YEARLY_FACTORS = (1.2, 0.8)
_COMMON_SIGMA = 0.5


@dataclass(frozen=True, slots=True)
class Slider:
    """A field, the values lived, and the value the scenario declares."""

    field: str
    values: tuple[float, ...]
    """Ascending, two or more."""
    declared: float
    """NaN if the scenario declares none."""


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One point: what `compare` says there, or why nothing can be lived."""

    values: tuple[float, ...]
    """In the order of the sliders."""
    rows: tuple[SummaryRow, ...]
    """A row per policy; none where the point is refused."""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class SliderGrid:
    """Every combination of the sliders' values; the last slider moves fastest."""

    sliders: tuple[Slider, ...]
    replications: int
    points: tuple[GridPoint, ...]


def usual_sliders(scenario: Scenario, replications: int) -> tuple[Slider, ...]:
    """Growth of demand, fall of rents, and how uncertain the level of demand is, where worlds differ.

    Growth x 0.6 to 1.6; the yearly factor of rents x 1.2 and 0.8; the uncertainty nothing and twice what is declared,
    or a common value where none is.
    """
    fall, sigma = scenario.market.rental_fall_per_year, scenario.demand.level_sigma
    falls = (round(1.0 - _YEARLY_FACTORS[0] * (1.0 - fall), 6), fall, round(1.0 - _YEARLY_FACTORS[1] * (1.0 - fall), 6))
    found = [Slider(GROWTH, _GROWTHS, 1.0), Slider(RENTAL_FALL, falls, fall)]
    if replications > 1:
        values = (0.0, sigma, 2.0 * sigma) if sigma else (0.0, _COMMON_SIGMA)
        found.append(Slider(LEVEL_SIGMA, values, sigma))
    return tuple(found)


def slider_of(scenario: Scenario, axis: Listed) -> Slider:
    """A field of the scenario and values in any order.

    Raises
    ------
    Misplaced
        If there is no such field, its values are no numbers, or there are fewer than two.
    """
    declared = declared_value(scenario, axis.field)
    values = [number for number in map(_number, axis.values) if math.isfinite(number)]
    if len(values) < len(axis.values):
        raise Misplaced(axis.field, "must be numbers, for a slider to move between", str(axis.values[0])[:40])
    if len(values) < 2:
        raise Misplaced(axis.field, "must be two values or more, for a slider to move between", f"{values[0]:g}")
    is_whole = isinstance(declared, int) and not isinstance(declared, bool)
    if is_whole and any(value != int(value) for value in values):
        raise Misplaced(axis.field, "must be whole numbers", str(axis.values)[:40])
    return Slider(axis.field, tuple(sorted(values)), _number(declared))


def slider_grid(
    scenario: Scenario,
    policies: Sequence[Policy],
    sliders: Sequence[Slider],
    *,
    replications: int,
    seed: int,
    equal_service: EqualService,
    workers: int = 1,
    progress: Progress | None = None,
) -> SliderGrid:
    """Live the policies at every combination, in worlds of the same luck.

    Parameters
    ----------
    scenario, policies, replications, seed, equal_service, workers
        As for `compare`; the first policy is the baseline.
    sliders
        One to four.
    progress
        Told how many points are done, of how many.

    Raises
    ------
    ValueError
        If there are too many sliders or points.
    """
    if not 1 <= len(sliders) <= MOST_SLIDERS:
        raise ValueError(f"sliders: must be 1 to {MOST_SLIDERS} (got {len(sliders)})")
    n_points = math.prod(len(slider.values) for slider in sliders)
    if n_points > MOST_POINTS:
        raise ValueError(f"sliders: must make at most {MOST_POINTS} points (got {n_points:,})")
    fields = [slider.field for slider in sliders]
    whole = {field for field in fields if isinstance(declared_value(scenario, field), int)}
    places = [tuple(map(_number, at)) for at in grid([Listed(slider.field, slider.values) for slider in sliders])]
    changes = [
        [(field, int(value) if field in whole else value) for field, value in zip(fields, at, strict=True)]
        for at in places
    ]
    points = []
    with closing(
        live_at(
            scenario,
            policies,
            changes,
            replications=replications,
            seed=seed,
            equal_service=equal_service,
            workers=workers,
        )
    ) as results:
        for at, lived in zip(places, results, strict=True):
            if isinstance(lived, Comparison):
                points.append(GridPoint(at, tuple(lived.summary_records())))
            else:
                points.append(GridPoint(at, (), refusal_said(lived)))
            if progress is not None:
                progress(len(points), len(places))
    return SliderGrid(tuple(sliders), replications, tuple(points))


def _number(value: object) -> float:
    """NaN of what is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
