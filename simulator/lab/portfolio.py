"""Several models that share the traffic: easy questions routed to a small one, or a fixed set of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field, model_validator

from simulator.lab.forecast import Forecast
from simulator.lab.models import Member, fewest_gpus, must_be_served, run_size, served_model, together
from simulator.lab.observation import Observation
from simulator.lab.plan import Choice, Plan
from simulator.lab.procurement import Procurement
from simulator.laws.precision import BF16
from simulator.laws.scaling import optimal_tokens
from simulator.world.inputs import Inputs, PositiveShare
from simulator.world.models import PARAMETERS, TOKENS
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, PrecisionName, RoutingInputs, Scenario

_ROUNDING = 1e-9
_BILLION = 1e9


def routed(plan: Plan, best: Callable[[Plan], Choice]) -> Choice:
    """A small model for what is easy and a large one for the rest, each the best for its share of the tokens.

    Each is chosen on the kind of GPU that is cheapest for it; both are then priced on one kind, the cheapest for them.
    Both are trained in one run, on GPUs enough to finish both in time.
    """
    scenario, release, routing = plan.scenario, plan.release, described(plan.scenario)
    eased = replace(release, target_flop=release.target_flop * routing.easy_quality)
    large = best(plan.for_part(release, routing.large_share))
    small = best(plan.for_part(eased, routing.small_share))
    members = [
        Member(large.model, routing.large_share, 1.0),
        Member(small.model, routing.small_share, routing.easy_quality),
    ]
    if routing.router_parameters is not None:
        # It reads and writes nothing: no samples. What it was trained on does not matter.
        router = served_model(scenario, "router", routing.router_parameters, 1.0, BF16, 0.0, release)
        members.append(Member(router, 1.0, 0.0))
    return shared(plan, (large, small), members, "routed ")


def described(scenario: Scenario) -> RoutingInputs:
    """What the scenario says of routing.

    Raises
    ------
    Misplaced
        If it says nothing.
    """
    if scenario.routing is None:
        raise Misplaced("routing", "must be described for the routing lever to be used", "absent")
    return scenario.routing


def shared(plan: Plan, parts: Sequence[Choice], members: Sequence[Member], how: str) -> Choice:
    """What several choices come to together, as one run and one service; who needs most memory to train sets that.

    Each reads, and pays for, training data of its own.
    """
    model, kind = together(plan.release.name, members), plan.scenario.accelerators[plan.accelerator]
    lead = max(parts, key=lambda part: float(fewest_gpus(plan.scenario, kind, part.n_held_parameters, part.method)))
    flop = sum(part.training_flop for part in parts)
    size = run_size(plan.scenario, kind, flop, lead.n_held_parameters, plan.release.train_days, lead.method)
    sizes = " + ".join(f"{part.model.n_parameters / _BILLION:.3g}B" for part in parts)
    ways = dict.fromkeys(part.route for part in parts)
    return Choice(
        model,
        flop,
        plan.accelerator,
        size,
        plan.tokens_by_day,
        plan.training_usd_per_gpu_hour * size.gpu_hours,
        plan.service_usd(model),
        all(part.quality_met for part in parts),
        next((part.limit for part in parts if part.limit), ""),
        f"{how}{sizes}, {' and '.join(ways)}",
        sum(part.data_usd or 0.0 for part in parts),
        plan.log_sd_by_day,
        sum(part.tuned_share * part.training_flop for part in parts) / flop,
        sum(part.rollout_usd for part in parts),
        lead.method,
        lead.n_held_parameters,
    )


class PortfolioModel(Inputs):
    """One model of a fixed portfolio."""

    n_parameters: Annotated[float, Field(ge=PARAMETERS[0], le=PARAMETERS[1])] = Field(description="weights")
    n_training_tokens: Annotated[float, Field(ge=TOKENS[0], le=TOKENS[1])] | None = Field(
        None, description="tokens it is trained on [tokens]; default: compute-optimal for its size"
    )
    share: PositiveShare = Field(description="part of user tokens it serves; all together are 1")
    quality: PositiveShare = Field(
        1.0, description="equivalent FLOP its part of the traffic needs / the release's target"
    )
    precision: PrecisionName = Field("bf16", description="precision it is served in")


class Portfolio(Inputs):
    """Trains the same set of models for every release, each for its share of the traffic."""

    kind: Literal["portfolio"] = "portfolio"
    model: tuple[PortfolioModel, ...] = Field(min_length=1, description="the models")

    @model_validator(mode="after")
    def _shares_are_a_whole(self) -> Portfolio:
        shares = sum(each.share for each in self.model)
        if abs(shares - 1.0) > _ROUNDING:
            raise Misplaced("model.0.share", "and those of all other models must sum to 1", f"sum {shares:.6g}")
        return self

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        """All of them in one run."""
        plan = Plan.of(observation, release, forecast, procurement)
        parts, members = [], []
        for each in self.model:
            part = plan.for_part(replace(release, target_flop=release.target_flop * each.quality), each.share)
            tokens = each.n_training_tokens
            if tokens is None:
                tokens = float(optimal_tokens(plan.scenario.scaling_fit, each.n_parameters))
            parts.append(part.as_told(each.n_parameters, tokens, each.precision, f"{each.n_parameters:.3g} parameters"))
            members.append(Member(parts[-1].model, each.share, each.quality))
        choice = shared(plan, parts, members, "")
        must_be_served(plan.scenario, choice.model, "all models of a portfolio")
        return choice
