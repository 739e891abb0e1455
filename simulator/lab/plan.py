"""What a decision about a release weighs, and the choice it ends in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from simulator.lab.candidates import Candidates, reached_flop
from simulator.lab.forecast import Forecast
from simulator.lab.models import (
    RunSize,
    ServedModel,
    fewest_gpus,
    must_be_served,
    run_size,
    served_model,
    work_flop_per_gpu_hour,
)
from simulator.lab.observation import Observation
from simulator.lab.procurement import PlanningPrice, Procurement
from simulator.lab.routes import PRETRAIN, Route, physical_flop
from simulator.laws.finance import discount_factors
from simulator.laws.fine_tuning import TrainingMethod
from simulator.laws.precision import PRECISIONS
from simulator.laws.scaling import compute_optimal
from simulator.laws.units import SECONDS_PER_HOUR, BoolArray, FloatArray, Numbers
from simulator.world.models import PublishedModel
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, PrecisionName, Scenario

_ROUNDING = 1e-9
"""Part of the target that rounding may take."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to train, the run that makes it, and what was planned with it."""

    model: ServedModel
    training_flop: float
    accelerator: int
    size: RunSize
    planned_tokens_by_day: FloatArray
    """Tokens it was expected to serve on each day of its planned life."""
    planned_training_usd: float
    planned_serving_usd: float
    quality_met: bool
    limit: str
    """What ended the trade before cost did: "data", "time", "target out of reach", or nothing."""
    route: str = "pre-train"
    """How it is trained; the base's name for a fine-tuned model."""
    data_usd: float | None = None
    """Paid for training data on the first day of the run; by default the price of the model's tokens [USD]."""
    planned_log_sd_by_day: FloatArray | None = None
    """Standard deviation of the log of those tokens, as forecast; by default none was."""
    tuned_share: float = 0.0
    """Part of the run's FLOP that trains on from a base; what is left trains from scratch."""
    rollout_usd: float = 0.0
    """Paid for its prompts when it goes into service, beside what every deployment costs [USD]."""
    method: TrainingMethod | None = None
    """What its training holds in memory; by default as the scenario trains from scratch."""
    n_total_parameters: float | None = None
    """Weights that training holds, in a mixture of experts more than a token uses; by default those of the model."""
    hours_factor: float = 1.0
    """GPU-hours of its run / those that its FLOP take at the scenario's MFU: of a run whose hours are known."""

    @property
    def flop_at_our_mfu(self) -> float:
        """FLOP that take the run's GPU-hours at the scenario's MFU: its own, but of a run whose hours are known."""
        return self.training_flop * self.hours_factor

    @property
    def n_held_parameters(self) -> float:
        """Weights that training holds."""
        return self.model.n_parameters if self.n_total_parameters is None else self.n_total_parameters

    @property
    def planned_tokens(self) -> float:
        """Tokens it was expected to serve in its planned life [tokens]."""
        return float(self.planned_tokens_by_day.sum())

    @property
    def planned_usd(self) -> float:
        """Training, data, prompts and planned service together, the service discounted [USD]."""
        return self.planned_training_usd + (self.data_usd or 0.0) + self.planned_serving_usd + self.rollout_usd


@dataclass(frozen=True, slots=True)
class Plan:
    """One release, planning prices, and the tokens it is expected to serve."""

    scenario: Scenario
    release: Release
    prices: PlanningPrice
    tokens_by_day: FloatArray
    log_sd_by_day: FloatArray
    discounted_tokens: float
    accelerator: int
    training_usd_per_gpu_hour: float

    @staticmethod
    def of(observation: Observation, release: Release, forecast: Forecast, procurement: Procurement) -> Plan:
        """Today's plan for a release; its run goes to the kind of GPU with the cheapest FLOP that can hold it."""
        scenario = observation.scenario
        days = release.due_day + np.arange(release.life_days)
        tokens, log_sd = forecast.ahead(observation, days)
        prices = procurement.planning_price(observation, release, forecast)
        usd_per_flop = prices.training_usd_per_gpu_hour / work_flop_per_gpu_hour(scenario)
        able = np.where(_can_hold(scenario, release), usd_per_flop, np.inf)
        cheapest = int(np.argmin(able if np.isfinite(able).any() else usd_per_flop))
        if not np.isfinite(usd_per_flop[cheapest]):
            rule = f"must offer a GPU to train {release.name} on from {scenario.calendar.date_of(observation.day)}"
            raise Misplaced("market.quote", rule, ", ".join(kind.name for kind in scenario.accelerators))
        return Plan(
            scenario,
            release,
            prices,
            tokens,
            log_sd,
            float(tokens.dot(_discounts(scenario.discount_per_year, release.due_day - observation.day, tokens.size))),
            cheapest,
            float(prices.training_usd_per_gpu_hour[cheapest]),
        )

    def for_part(self, release: Release, share: float) -> Plan:
        """The same for a part of the tokens, which may owe less than all do."""
        return replace(self, release=release, discounted_tokens=self.discounted_tokens * share)

    def on(self, accelerator: int) -> Plan:
        """The same with the run on this kind of GPU.

        Raises
        ------
        Misplaced
            If it is not on sale yet.
        """
        usd, name = float(self.prices.training_usd_per_gpu_hour[accelerator]), self.release.name
        if not np.isfinite(usd):
            kinds = self.scenario.accelerators
            rule = f"must offer the {kinds[accelerator].name} when {name} is decided"
            raise Misplaced("market.quote", rule, ", ".join(kind.name for kind in kinds))
        return replace(self, accelerator=accelerator, training_usd_per_gpu_hour=usd)

    def training_usd(self, training_flop: FloatArray, gpu_hours_per_flop: FloatArray) -> FloatArray:
        """Cost of runs on the chosen kind of GPU; `gpu_hours_per_flop` is by accelerator too [USD]."""
        return training_flop * (self.training_usd_per_gpu_hour * gpu_hours_per_flop[self.accelerator])

    def data_usd(self, route: Route, n_tokens_read: Numbers) -> Numbers:
        """Price of the unique tokens read, and of the mix [USD]."""
        return self.scenario.training.data_usd(n_tokens_read) + route.fixed_usd

    def kinds_worth_trying(self, table: Candidates) -> list[int]:
        """The kinds of GPU that are cheapest for at least some model of a table, at today's planning prices."""
        usd = self.prices.serving_usd_per_gpu_hour
        beaten = (usd * table.slowest_ratio.T <= usd[:, None]).sum(axis=1) > 1  # each ties with itself
        tried = [int(kind) for kind in np.flatnonzero(~beaten & np.isfinite(usd))]
        return tried or [int(np.argmin(usd))]

    def serving_usd(self, gpu_seconds_per_token: FloatArray, kinds: Sequence[int]) -> FloatArray:
        """Discounted cost of the planned service, on the cheapest of these kinds for each model [USD]."""
        usd_per_second = self.prices.serving_usd_per_gpu_hour * (self.discounted_tokens / SECONDS_PER_HOUR)
        cost = gpu_seconds_per_token[kinds[0]] * usd_per_second[kinds[0]]
        for kind in kinds[1:]:
            np.minimum(cost, gpu_seconds_per_token[kind] * usd_per_second[kind], out=cost)
        return cost

    def service_usd(self, model: ServedModel) -> float:
        """Discounted cost of the planned service of one model, on the kind that serves it cheapest [USD]."""
        usd_per_token = np.min(model.gpu_seconds_per_token * self.prices.serving_usd_per_gpu_hour) / SECONDS_PER_HOUR
        return float(usd_per_token) * self.discounted_tokens

    def is_met_by(self, model: ServedModel) -> bool:
        """Whether a model is good enough for the release."""
        return reached_flop(self.scenario, self.release, model) >= self.release.target_flop * (1.0 - _ROUNDING)

    def as_told(self, n_parameters: float, n_training_tokens: float, precision: PrecisionName, said: str) -> Choice:
        """One dense model, `said` in errors, trained from scratch on so many tokens, good enough or not.

        Raises
        ------
        Misplaced
            If no kind of GPU can serve it.
        """
        served_in = next(kind for kind in PRECISIONS if kind.name == precision)
        size, tokens, name = n_parameters, n_training_tokens, self.release.name
        model = served_model(self.scenario, name, size, tokens, served_in, 1.0, self.release)
        must_be_served(self.scenario, model, said)
        met = self.is_met_by(model)
        limit = "" if met else "target out of reach"
        return self.choice(model, float(PRETRAIN.flop(size, tokens)), PRETRAIN, tokens, limit, quality_met=met)

    def total_usd(
        self,
        route: Route,
        training_flop: FloatArray,
        gpu_hours_per_flop: FloatArray,
        n_tokens_read: FloatArray,
        gpu_seconds_per_token: FloatArray,
        kinds: Sequence[int],
    ) -> FloatArray:
        """Training, data and planned service of many models [USD]."""
        total = self.training_usd(training_flop, gpu_hours_per_flop)
        total += self.data_usd(route, n_tokens_read)
        total += self.serving_usd(gpu_seconds_per_token, kinds)
        if route.rollout_usd:
            total += route.rollout_usd
        return total

    def choice(
        self,
        model: ServedModel,
        training_flop: float,
        route: Route,
        n_tokens_read: float,
        limit: str = "",
        *,
        base: PublishedModel | None = None,
        quality_met: bool = True,
    ) -> Choice:
        """The model as it would be trained and served."""
        kind = self.scenario.accelerators[self.accelerator]
        held = model.n_parameters if base is None else base.n_parameters
        size = run_size(self.scenario, kind, training_flop, held, self.release.train_days, route.method)
        return Choice(
            model,
            training_flop,
            self.accelerator,
            size,
            self.tokens_by_day,
            self.training_usd_per_gpu_hour * size.gpu_hours,
            self.service_usd(model),
            quality_met,
            limit,
            f"{route.name} {base.name}" if base else route.name,
            float(self.data_usd(route, n_tokens_read)),
            self.log_sd_by_day,
            1.0 if base else 0.0,
            route.rollout_usd,
            route.method,
            held,
        )


@lru_cache(maxsize=256)
def _can_hold(scenario: Scenario, release: Release) -> BoolArray:
    """Whether the training state of the compute-optimal model fits on any number of GPUs of each kind [accelerator]."""
    size = float(compute_optimal(scenario.scaling_fit, physical_flop(scenario, release))[0])
    return np.isfinite([float(fewest_gpus(scenario, kind, size, None)) for kind in scenario.accelerators])


@lru_cache(maxsize=256)
def _discounts(rate_per_year: float, first_day: int, n_days: int) -> FloatArray:
    return discount_factors(np.arange(first_day, first_day + n_days, dtype=np.float64), rate_per_year)
