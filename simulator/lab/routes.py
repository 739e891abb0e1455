"""Ways to turn FLOP into quality: training on the web's text, on a better mix, on a teacher's answers, on a base; and
better prompts."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np

from simulator.laws.fine_tuning import TrainingMethod
from simulator.laws.scaling import compute_optimal, training_flop
from simulator.laws.units import (
    FORWARD_FLOP_PER_PARAMETER_TOKEN,
    TRAINING_FLOP_PER_PARAMETER_TOKEN,
    FloatArray,
    Numbers,
)
from simulator.world.prompting import PromptingInputs
from simulator.world.roadmap import Release
from simulator.world.scenario import Misplaced, Scenario


class Lever(StrEnum):
    """What a recipe may use beside compute-optimal training."""

    OVERTRAIN = "overtrain"
    QUANTIZE = "quantize"
    TEST_TIME = "test_time"
    FINE_TUNE = "fine_tune"
    DATA_MIXING = "data_mixing"
    DISTIL = "distil"
    PROMPTING = "prompting"
    ROUTING = "routing"


MAIN_LEVERS = frozenset({Lever.OVERTRAIN, Lever.QUANTIZE, Lever.TEST_TIME})
"""Those that need no further assumption; the others need a table of the scenario, or a base to build on."""


@dataclass(frozen=True, slots=True)
class Route:
    """One way to train: what a token and a FLOP are worth on it, and what it costs beside 6 N D."""

    name: str
    quality_gain: float = 1.0
    """Equivalent FLOP, as a factor."""
    token_worth: float = 1.0
    """Fresh tokens of ordinary text that one training token is worth."""
    flop_per_token: float = 0.0
    """FLOP for each training token beside the student's own: a teacher's forward pass."""
    search_share: float = 0.0
    """Experiments beside the run / the run's own FLOP."""
    teacher_flop: float = 0.0
    """The teacher's own run [FLOP]."""
    fixed_usd: float = 0.0
    """Paid once per release [USD]."""
    prompting: PromptingInputs | None = None
    """What is put before users' prompts; its gain is part of `quality_gain`."""
    method: TrainingMethod | None = None
    """What training holds in memory and computes; by default as the scenario trains from scratch."""

    @property
    def rollout_usd(self) -> float:
        """Paid for prompts when the model goes into service [USD]."""
        return 0.0 if self.prompting is None else self.prompting.usd_per_release

    def flop(self, n_parameters: Numbers, n_training_tokens: Numbers) -> FloatArray:
        """All FLOP a model on this route takes, teacher and experiments included."""
        own = TRAINING_FLOP_PER_PARAMETER_TOKEN if self.method is None else self.method.flop_per_parameter_token
        per_token = own * np.asarray(n_parameters) + self.flop_per_token
        return per_token * n_training_tokens * (1.0 + self.search_share) + self.teacher_flop


PRETRAIN = Route("pre-train")


@lru_cache(maxsize=256)
def routes(scenario: Scenario, release: Release, levers: Set[Lever]) -> tuple[Route, ...]:
    """The ways that the levers open, plain pre-training first."""
    found = [PRETRAIN]
    if Lever.DATA_MIXING in levers:
        found += [mixed(scenario, route) for route in found]
    if Lever.DISTIL in levers:
        found += [_distilled(scenario, release, route) for route in found]
    return _with_prompts(scenario, levers, found)


@lru_cache(maxsize=256)
def tuning_routes(scenario: Scenario, levers: Set[Lever]) -> tuple[Route, ...]:
    """The ways to train a base on, without better prompts first."""
    tuned = Route("fine-tune", method=scenario.fine_tuning.trained_by(scenario.training.stage))
    return _with_prompts(scenario, levers, [tuned])


def _with_prompts(scenario: Scenario, levers: Set[Lever], found: list[Route]) -> tuple[Route, ...]:
    """The same ways, and each once more behind better prompts."""
    if Lever.PROMPTING not in levers:
        return tuple(found)
    prompting = scenario.prompting
    if prompting is None:
        raise Misplaced("prompting", "must be described for the prompting lever to be used", "absent")
    better = [
        replace(
            each, name=f"{each.name}, prompted", quality_gain=each.quality_gain * prompting.gain, prompting=prompting
        )
        for each in found
    ]
    return (*found, *better)


def physical_flop(scenario: Scenario, release: Release) -> float:
    """FLOP of a compute-optimal bf16 run that meets a release's target on its decision day."""
    return release.target_flop / (release.progress * scenario.roadmap.data_gain)


def mixed(scenario: Scenario, route: Route) -> Route:
    """On a mix of data that was searched for with small models."""
    mixing = scenario.data_mixing
    if mixing is None:
        raise Misplaced("data_mixing", "must be described for the data_mixing lever to be used", "absent")
    return Route(
        f"{route.name}, mixed data",
        quality_gain=mixing.gain,
        search_share=mixing.search_share,
        fixed_usd=mixing.usd_per_release,
    )


def _distilled(scenario: Scenario, release: Release, route: Route) -> Route:
    """On the answers of a compute-optimal teacher trained for the same release."""
    distillation = scenario.distillation
    if distillation is None:
        raise Misplaced("distillation", "must be described for the distil lever to be used", "absent")
    size, tokens = compute_optimal(scenario.scaling_fit, physical_flop(scenario, release) / route.quality_gain)
    return Route(
        f"distil, {route.name} teacher".replace("pre-train teacher", "plain teacher"),
        route.quality_gain,
        distillation.token_worth,
        FORWARD_FLOP_PER_PARAMETER_TOKEN * float(size),
        route.search_share,
        float(training_flop(size, tokens)),
        route.fixed_usd,
    )
