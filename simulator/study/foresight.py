"""What a forecast is worth: every policy with every forecast in the same worlds, against hindsight and theory.

Three questions. Which forecast serves a policy, and how far is it from the best that could have been done? What are
perfect information, the spread of the forecast, and the option to change course worth? And how does all that move
as demand gets less certain, beside Erdil's trade, which has a closed form?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from simulator.lab.altered_forecast import Biased, Certain
from simulator.lab.forecast import Expected, Forecast, LastValue, PerfectForesight, Trend
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import Erdil, FineTune, LeverRecipe
from simulator.lab.replan import Replan
from simulator.lab.seasonal import Seasonal
from simulator.lab.smoothing import DampedTrend, Theta
from simulator.laws.exchange import training_share, value_of_information
from simulator.laws.units import FloatArray
from simulator.study.comparison import Comparison, half_width
from simulator.study.equal_service import USUAL_SERVICE, EqualService
from simulator.study.experiment import Progress, compare
from simulator.world.scenario import Scenario

OWN = "own"
"""The forecast a policy came with."""
NULL = "last_value"
"""What forecasts are measured against: tomorrow is like today."""
FORECASTS: tuple[tuple[str, Forecast], ...] = (
    (NULL, LastValue()),
    ("trend", Trend()),
    ("damped_trend", DampedTrend()),
    ("theta", Theta()),
    ("seasonal", Seasonal()),
    ("expected", Expected()),
    ("foresight", PerfectForesight()),
)
_CERTAIN, _REPLAN, _HINDSIGHT = "expected, its mean alone", "own, may change course", "foresight x "
HINDSIGHT_FACTORS = (0.5, 0.8, 1.25, 2.0)
"""Hindsight also tries every policy with true demand taken so many times too high or too low."""
SIGMAS = (0.0, 0.25, 0.5, 1.0)
_NORMALS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
REFERENCE = Policy("erdil 1:1, rent", Erdil(), RentOnDemand(), Expected())
"""Shown beside the policies wherever theory has an answer: half of the spend goes to training."""


@dataclass(frozen=True, slots=True)
class Range:
    """A mean over worlds and its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """One policy with one forecast, over all worlds."""

    policy: str
    forecast: str
    comparable: bool
    reason: str
    """Why it is not comparable with the first policy."""
    cost_usd: Range
    value_percent: Range
    """Cost with the last value for ever, less cost with this forecast, of the former; it may be negative."""
    regret_usd: float
    """Mean cost above the cheapest that hindsight finds in each world; never negative."""
    regret_percent: float
    training_share: float
    """Training over training and serving, of the mean spend."""


@dataclass(frozen=True, slots=True)
class InformationRow:
    """What knowing more, or being able to act later, is worth to one policy [% of cost without it]."""

    policy: str
    optimises: bool
    """Whether it minimises expected cost in one decision, so that information cannot hurt it on average."""
    perfect_information_percent: Range
    """Cost with the scenario's own mean and spread, less cost with demand known."""
    perfect_information_theory: float
    """1 - exp(-s (1 - s) sigma^2 / 2) where it applies; else NaN."""
    stochastic_solution_percent: Range
    """Cost when deciding on the mean alone, less cost when deciding on the distribution."""
    stochastic_solution_theory: float
    """0 where cost is linear in demand, so that only its mean matters; else NaN."""
    option_percent: Range
    """Cost as it is, less cost when the policy may requantize, retrain early and resell."""


@dataclass(frozen=True, slots=True)
class UncertaintyRow:
    """One policy at one uncertainty of the level of demand."""

    policy: str
    level_sigma: float
    share_unknown: float
    """Training over training and serving, of the mean spend, when only the mean of demand is known."""
    share_known: float
    """The same when demand is known."""
    share_theory: float
    """Erdil's a / (a + b), both known and unknown; NaN for other recipes."""
    share_of_worlds: float
    """Mean over worlds of each world's own share, when only the mean of demand is known."""
    share_of_worlds_theory: float
    """E[s / (s + (1 - s) X)] for demand X of mean 1, where the closed form applies; else NaN."""
    perfect_information_percent: Range
    perfect_information_theory: float


@dataclass(frozen=True)
class Answers:
    """The three tables."""

    forecasts: tuple[ForecastRow, ...]
    information: tuple[InformationRow, ...]
    uncertainty: tuple[UncertaintyRow, ...]


@dataclass(frozen=True, eq=False)
class Foresight(Answers):
    """The answers, and the comparison that the first two tables were read from."""

    comparison: Comparison


def foresight(
    scenario: Scenario,
    policies: Sequence[Policy],
    *,
    replications: int = 32,
    seed: int = 1,
    sigmas: Sequence[float] = SIGMAS,
    equal_service: EqualService = USUAL_SERVICE,
    workers: int = 1,
    progress: Progress | None = None,
) -> Foresight:
    """Every policy with every forecast in the same worlds, and again at other uncertainties of demand's level.

    Parameters
    ----------
    scenario, policies
        What to live in, and who; the first policy with its own forecast says what equal service is.
    replications, seed, equal_service, workers, progress
        As for `compare`; progress counts the worlds of all its studies.
    sigmas
        Sds of the log of demand's level, which take the place of the scenario's `demand.level_sigma`.
    """
    asked = [option for policy in policies for option in _options(policy)]
    total, done = replications * (1 + len(sigmas)), 0

    def told(before: int, now: int, _: int) -> None:
        if progress is not None:
            progress(before + now, total)

    live = partial(compare, replications=replications, seed=seed, workers=workers, equal_service=equal_service)
    comparison = live(scenario, asked, progress=partial(told, done))
    sweep: list[UncertaintyRow] = []
    compared = (REFERENCE, *policies)
    for sigma in sigmas:
        done += replications
        demand = scenario.demand.model_copy(update={"level_sigma": sigma})
        unsure = scenario.model_copy(update={"demand": demand})
        pair = [_with(policy, found) for policy in compared for found in (Expected(), PerfectForesight())]
        named = [replace(policy, name=f"{policy.name} {number}") for number, policy in enumerate(pair)]
        found = live(unsure, named, progress=partial(told, done))
        sweep += [_uncertainty(found, number, policy, sigma) for number, policy in enumerate(compared)]
    return Foresight(
        tuple(_forecast_rows(comparison, policies)),
        tuple(_information(comparison, policy) for policy in policies),
        tuple(sweep),
        comparison,
    )


def _options(policy: Policy) -> list[Policy]:
    """A policy with every forecast, with those that hindsight tries, and with the option to change course."""
    found = [_named(policy, OWN), *(_named(_with(policy, forecast), name) for name, forecast in FORECASTS)]
    found.append(_named(_with(policy, Certain(base=Expected())), _CERTAIN))
    found.append(_named(replace(policy, replan=policy.replan or Replan()), _REPLAN))
    for factor in HINDSIGHT_FACTORS:
        known = Biased(base=PerfectForesight(), factor=factor)
        found.append(_named(_with(policy, known), f"{_HINDSIGHT}{factor:g}"))
    return found


def _with(policy: Policy, forecast: Forecast) -> Policy:
    return replace(policy, forecast=forecast)


def _named(policy: Policy, option: str) -> Policy:
    return replace(policy, name=_name(policy.name, option))


def _name(policy: str, option: str) -> str:
    return f"{policy} | {option}"


def _forecast_rows(comparison: Comparison, policies: Sequence[Policy]) -> list[ForecastRow]:
    cost, names = comparison.by_policy("cumulative_cost_usd"), comparison.policy_names
    reasons = [comparison.not_comparable(number) for number in range(len(names))]
    comparable = np.array([not reason for reason in reasons])
    best = cost[comparable].min(axis=0) if comparable.any() else np.full(comparison.replications, np.nan)
    rows = []
    for policy in policies:
        null = names.index(_name(policy.name, NULL))
        for option in (OWN, *(name for name, _ in FORECASTS)):
            number = names.index(_name(policy.name, option))
            regret = float((cost[number] - best).mean()) if comparable[number] else float("nan")
            rows.append(
                ForecastRow(
                    policy.name,
                    option,
                    bool(comparable[number]),
                    reasons[number],
                    _range(cost[number]),
                    _value(comparison, null, number),
                    regret,
                    100.0 * regret / float(best.mean()),
                    _share(comparison, number),
                )
            )
    return rows


def _information(comparison: Comparison, policy: Policy) -> InformationRow:
    def number(option: str) -> int:
        return comparison.policy_names.index(_name(policy.name, option))

    return InformationRow(
        policy.name,
        _optimises(policy),
        _value(comparison, number("expected"), number("foresight")),
        _information_theory(policy, comparison.scenario),
        _value(comparison, number(_CERTAIN), number("expected")),
        0.0 if isinstance(policy.procurement, RentOnDemand) else float("nan"),
        _value(comparison, number(OWN), number(_REPLAN)),
    )


def _uncertainty(comparison: Comparison, number: int, policy: Policy, sigma: float) -> UncertaintyRow:
    unknown, known, recipe = 2 * number, 2 * number + 1, policy.recipe
    information = _information_theory(policy, comparison.scenario)
    share = float(training_share(recipe.alpha, recipe.beta)) if isinstance(recipe, Erdil) else float("nan")
    demand = np.exp(sigma * _NORMALS - sigma**2 / 2.0)
    return UncertaintyRow(
        policy.name,
        sigma,
        _share(comparison, unknown),
        _share(comparison, known),
        share,
        float(comparison.by_policy("training_share")[unknown].mean()),
        float(_WEIGHTS @ (share / (share + (1.0 - share) * demand))) if np.isfinite(information) else float("nan"),
        _value(comparison, unknown, known),
        information,
    )


def _value(comparison: Comparison, without: int, given: int) -> Range:
    """What it saves to have what `given` has, in % of the cost without it."""
    mean, low, high = comparison.difference_percent(given, without)
    return Range(0.0 - mean, 0.0 - high, 0.0 - low)


def _range(values: FloatArray) -> Range:
    mean, off = float(values.mean()), half_width(values)
    return Range(mean, mean - off, mean + off)


def _share(comparison: Comparison, number: int) -> float:
    training, serving = (float(comparison.by_policy(f"{use}_usd")[number].sum()) for use in ("training", "serving"))
    return training / (training + serving) if training + serving else float("nan")


def _optimises(policy: Policy) -> bool:
    return isinstance(policy.recipe, LeverRecipe | FineTune | Erdil) and isinstance(policy.procurement, RentOnDemand)


def _information_theory(policy: Policy, scenario: Scenario) -> float:
    """Closed form for Erdil's trade on rented GPUs, where only the level of demand is uncertain and all is for it."""
    recipe, demand = policy.recipe, scenario.demand
    unsure = (
        demand.growth_sigma,
        *(regime.growth_sigma for regime in demand.regime),
        *(segment.growth_sigma for segment in demand.segment),
        demand.walk_sigma,
        demand.growth_walk_sigma,
        demand.turns.per_year,
        demand.jumps.per_year,
        demand.noise_sigma,
        demand.shocks.per_year,
        demand.trace is not None,
    )
    other_spend = scenario.opening_model is not None or scenario.roadmap.research_multiple > 0.0
    if any(unsure) or other_spend or not (isinstance(recipe, Erdil) and _optimises(policy)):
        return float("nan")
    return 100.0 * float(value_of_information(training_share(recipe.alpha, recipe.beta), demand.level_sigma))
