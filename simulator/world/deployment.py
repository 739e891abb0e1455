"""What putting a model into service costs."""

from __future__ import annotations

from pydantic import Field

from simulator.world.inputs import Inputs, Usd


class DeploymentInputs(Inputs):
    """Staging, evaluation and rollout of a model, each time one goes into service."""

    usd_per_release: Usd = Field(0.0, description="paid on the day a trained model goes into service, reruns too [USD]")
