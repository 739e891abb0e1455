"""The one search of all recipes: over tables of candidates, for the cheapest model the levers allow."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simulator.lab.candidates import SAMPLES, Candidates, Row, candidates, reached_flop
from simulator.lab.models import clusters, flop_per_gpu_hour, served_model, unservable
from simulator.lab.plan import Choice, Plan
from simulator.lab.routes import PRETRAIN, Lever
from simulator.laws.precision import Precision
from simulator.laws.units import HOURS_PER_DAY, TRAINING_FLOP_PER_PARAMETER_TOKEN, FloatArray, IntArray, Numbers

_PARABOLA, _EDGE = 3e-3, 0.03
"""How much cheaper than on the coarse table a place may turn out: between columns, and beside what is out of reach."""
_SIZES_TRIED = 24
"""Sizes tried where no model meets the target."""


class _Place(NamedTuple):
    """A promising place of a table, and the least that the best size near it may cost."""

    least_usd: float
    table: Candidates
    kinds: list[int]
    """Of GPU, worth serving on."""
    precision: int
    samples: int
    column: int


class _Refined(NamedTuple):
    """The best size near a place: `shift` steps from a column of a finer row, and what it costs."""

    usd: float
    place: _Place
    row: Row
    column: int
    shift: float


def cheapest(plan: Plan, tables: Sequence[Candidates], levers: Set[Lever]) -> Choice:
    """The cheapest model of these tables over its run and its planned service life.

    Without `overtrain` the size is the one with the least training FLOP, for each precision and number of samples,
    whatever serving will cost. If nothing meets the target in time, the best attainable.
    """
    best: _Refined | None = None
    places = [place for table in tables for place in _promising(plan, table, levers)]
    for place in sorted(places, key=lambda place: place.least_usd):
        if best is not None and place.least_usd > best.usd:
            break
        found = _refined(plan, place, levers)
        best = found if best is None or found.usd < best.usd else best
    if best is not None:
        return _choice(plan, best)
    precisions, samples = _allowed(levers)
    if all(table.bases for table in tables):
        return _best_tuned(plan, tables, levers)
    return best_attainable(plan, plan.scenario.precisions[precisions], SAMPLES[samples])


def best_attainable(plan: Plan, precisions: Sequence[Precision], samples: FloatArray) -> Choice:
    """Nothing meets the target: the best that all the data and time there are can give."""
    scenario, release = plan.scenario, plan.release
    sizes = candidates(scenario, release).sizes
    tried = sizes[np.linspace(0, sizes.size - 1, _SIZES_TRIED).astype(np.int64)]
    most_tokens = scenario.training.max_epochs * scenario.training.unique_tokens
    most_flop = _most_flop(plan)
    models = [
        served_model(scenario, release.name, float(size), float(tokens), precision, float(draws), release)
        for precision in precisions
        for draws in samples[[0, -1]]
        for size, tokens in zip(
            tried, np.minimum(most_tokens, most_flop / (TRAINING_FLOP_PER_PARAMETER_TOKEN * tried)), strict=True
        )
    ]
    servable = [model for model in models if model.tokens_per_gpu_second.any()]
    if not servable:
        raise unservable(scenario, f"a model for {release.name}")
    best = max(servable, key=lambda model: reached_flop(scenario, release, model))
    flop = float(PRETRAIN.flop(best.n_parameters, best.n_training_tokens))
    return plan.choice(best, flop, PRETRAIN, best.n_training_tokens, "target out of reach", quality_met=False)


def _best_tuned(plan: Plan, tables: Sequence[Candidates], levers: Set[Lever]) -> Choice:
    """No base meets the target, and none is trained from scratch: the best that all data and time make of one."""
    scenario, release = plan.scenario, plan.release
    precisions, samples = _allowed(levers)
    tuned = [
        _tuned_on(plan, table, precision, draws, column)
        for table in tables
        for precision in range(len(scenario.precisions))[precisions]
        for draws in range(SAMPLES.size)[samples]
        for column in range(len(table.bases))
    ]
    servable = [choice for choice in tuned if choice.model.tokens_per_gpu_second.any()]
    if not servable:
        raise unservable(scenario, f"a model for {release.name}")
    return max(servable, key=lambda choice: reached_flop(scenario, release, choice.model))


def _tuned_on(plan: Plan, table: Candidates, precision: int, draws: int, column: int) -> Choice:
    """A base trained on until data or time end, and for no less than the scenario says."""
    training, base = plan.scenario.training, table.bases[column]
    in_time = _most_flop(plan) / float(table.route.flop(base.n_active_parameters, 1.0))
    left = training.max_epochs * training.unique_tokens - base.n_training_tokens
    read = max(min(left, in_time), plan.scenario.fine_tuning.min_tokens)
    row = replace(table.around(precision, draws, column), n_training_tokens=np.array([base.n_training_tokens + read]))
    flop = float(table.route.flop(base.n_active_parameters, read))
    model = table.model(row, 0, 0.0)
    return plan.choice(model, flop, table.route, read, "target out of reach", base=base, quality_met=False)


def _allowed(levers: Set[Lever]) -> tuple[slice, slice]:
    """The rows of a table that the levers open: precisions, and samples per answer."""
    precisions = slice(None) if Lever.QUANTIZE in levers else slice(1)
    return precisions, slice(None) if Lever.TEST_TIME in levers else slice(1)


def _promising(plan: Plan, table: Candidates, levers: Set[Lever]) -> list[_Place]:
    """The best size for each precision and number of samples, where it is nearly as cheap as the best of all."""
    precisions, samples = _allowed(levers)
    flop, kinds = table.training_flop[precisions, samples], plan.kinds_worth_trying(table)
    total = plan.total_usd(
        table.route,
        flop,
        table.gpu_hours_per_flop[:, precisions, samples],
        table.n_tokens_read[precisions, samples],
        table.gpu_seconds_per_token[:, precisions, samples],
        kinds,
    )
    wanted = _wanted(table, levers, total, flop)
    best = wanted.argmin(axis=2)
    least, most = _bounds(wanted, total, best, exact=bool(table.bases))
    if not np.isfinite(most.min()):
        return []
    near, n_samples = np.flatnonzero(least <= most.min()), best.shape[1]
    return [
        _Place(float(least[place]), table, kinds, place // n_samples, place % n_samples, int(best.flat[place]))
        for place in map(int, near)
    ]


def _wanted(table: Candidates, levers: Set[Lever], total: FloatArray, flop: FloatArray) -> FloatArray:
    """What is least at the best size: all cost, or the run's FLOP."""
    return total if Lever.OVERTRAIN in levers or table.bases else np.where(np.isfinite(total), flop, np.inf)


def _refined(plan: Plan, place: _Place, levers: Set[Lever]) -> _Refined:
    """The best size between the neighbours of a column: a finer row, and the parabola at its bottom."""
    row = place.table.around(place.precision, place.samples, place.column)
    total = plan.total_usd(
        row.route,
        row.training_flop,
        row.gpu_hours_per_flop,
        row.n_tokens_read,
        row.gpu_seconds_per_token,
        place.kinds,
    )
    wanted = _wanted(place.table, levers, total, row.training_flop)
    best = int(wanted.argmin())
    if not 0 < best < wanted.size - 1:
        return _Refined(float(total[best]), place, row, best, 0.0)
    shift = float(_shift(*wanted[best - 1 : best + 2]))
    usd = _between(total[best - 1], total[best], total[best + 1], shift) if shift else total[best]
    return _Refined(float(usd), place, row, best, shift)


def _choice(plan: Plan, found: _Refined) -> Choice:
    """The model that was found, as it would be trained and served."""
    place, row, table = found.place, found.row, found.place.table
    model = table.model(row, found.column, found.shift)
    if table.bases:
        flop, read = float(row.training_flop[0]), float(row.n_tokens_read[0])
        return plan.choice(model, flop, table.route, read, base=table.bases[place.column])
    flop = float(table.route.flop(model.n_parameters, model.n_training_tokens))
    return plan.choice(model, flop, table.route, model.n_training_tokens, _limit(plan, place))


def _limit(plan: Plan, place: _Place) -> str:
    """What keeps the next smaller size from being trained."""
    smaller = (place.precision, place.samples, max(place.column - 1, 0))
    if not np.isfinite(place.table.training_flop[smaller]):
        return "data"
    return "" if np.isfinite(place.table.gpu_hours_per_flop[(plan.accelerator, *smaller)]) else "time"


def _most_flop(plan: Plan) -> float:
    """FLOP of the largest run that the fastest cluster finishes in time."""
    training = plan.scenario.training
    useful = clusters(training, training.failures_per_gpu_year).useful_gpus[-1]
    per_hour = flop_per_gpu_hour(plan.scenario, plan.scenario.accelerators[plan.accelerator])
    return float(useful) * per_hour * HOURS_PER_DAY * max(plan.release.train_days, 1)


def _bounds(wanted: FloatArray, total: FloatArray, best: IntArray, *, exact: bool) -> tuple[FloatArray, FloatArray]:
    """The least and the most that the best size may cost, for every precision and sample count.

    Between columns the parabola through three neighbours is good to `_PARABOLA`; where the best replica size
    switches, speeds jump, and a place that is up to 2 % cheaper than it looks can be missed. Beside what is out of
    reach costs bend more sharply, and the best size may cost up to `_EDGE` less than the best column.
    """
    wanted, total = wanted.reshape(best.size, -1), total.reshape(best.size, -1)
    rows, column = np.arange(best.size), best.reshape(-1)
    at_best = total[rows, column]
    if exact or best.size == 1:
        return at_best * (1.0 if exact else 1.0 - _EDGE), at_best
    inside = np.minimum(np.maximum(column, 2), wanted.shape[1] - 3)
    before, here, after = (total[rows, inside + step] for step in (-1, 0, 1))
    with np.errstate(invalid="ignore"):
        shift = _shift(*(wanted[rows, inside + step] for step in (-1, 0, 1)))
        between = _between(before, here, after, shift)
    reach = total[rows, inside - 2] + before + after + total[rows, inside + 2]
    smooth = np.isfinite(reach) & (inside == column)
    least = np.where(smooth, between * (1.0 - _PARABOLA), at_best * (1.0 - _EDGE))
    return least, np.where(smooth, np.maximum(between, at_best), at_best)


def _between(before: Numbers, here: Numbers, after: Numbers, shift: Numbers) -> Numbers:
    """The parabola through three neighbours, `shift` steps from the middle."""
    return here + shift * ((after - before) / 2.0 + shift * ((before + after) / 2.0 - here))


def _shift(before: FloatArray, here: FloatArray, after: FloatArray) -> FloatArray:
    """The bottom of parabolas through three neighbours, in steps from the middle; 0 where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        bend = before - 2.0 * here + after
        shift = np.minimum(np.maximum(0.5 * (before - after) / bend, -0.5), 0.5)
    return np.where(np.isfinite(bend) & (bend > 0.0), shift, 0.0)
