"""How training FLOP become GPU-hours, where data ends, and what other ways to a better model are worth."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simulator.laws.fine_tuning import TrainingMethod, full, lora, qlora
from simulator.laws.training_speed import ZERO_1, ZERO_2, ZERO_3, ZERO_NONE, ZeroStage
from simulator.laws.units import TOKENS_PER_MILLION_TOKENS, FloatArray, Numbers
from simulator.world.inputs import Inputs, NotNegative, Positive, PositiveShare, Usd

FitName = Literal["HOFF", "HOFFX", "SARD", "HARM", "BESI"]
_STAGES = {"none": ZERO_NONE, "stage_1": ZERO_1, "stage_2": ZERO_2, "stage_3": ZERO_3}


class TrainingInputs(Inputs):
    """How training FLOP become GPU-hours, and where data ends."""

    scaling_fit: FitName = Field("BESI", description="coefficients of the loss law")
    mfu: PositiveShare = Field(0.375, description="model FLOP utilisation (Cottier et al.: 0.30-0.47)")
    failures_per_gpu_year: NotNegative = Field(0.173, description="Llama 3 405B: 419 in 54 days on 16,384 GPUs")
    failures_sigma: NotNegative = Field(0.0, description="sd of the log of that rate, drawn per replication")
    checkpoint_minutes: NotNegative = Field(1.0, description="time one checkpoint takes [minutes]")
    restart_minutes: NotNegative = Field(10.0, description="time lost by one failure besides redone work [minutes]")
    unique_tokens: Positive = Field(40e12, description="tokens of fresh data there are [tokens]")
    max_epochs: Annotated[float, Field(ge=1)] = Field(16.0, description="most times data may be repeated")
    data_usd_per_million_tokens: Usd = Field(0.0, description="price of unique training tokens")
    sharding: Literal["none", "stage_1", "stage_2", "stage_3"] = Field(
        "stage_3",
        description="what data-parallel GPUs share out (ZeRO): nothing, optimizer, gradients too, weights too",
    )
    tokens_per_gpu_step: Annotated[float, Field(ge=1, le=1e12)] = Field(
        4096.0, description="tokens each GPU reads between exchanges of weights or gradients [tokens]"
    )

    @property
    def stage(self) -> ZeroStage:
        """What data-parallel GPUs repeat and share out."""
        return _STAGES[self.sharding]

    @property
    def method(self) -> TrainingMethod:
        """What training from scratch holds in memory and computes."""
        return full(self.stage)

    def data_usd(self, n_tokens_read: Numbers) -> Numbers:
        """Price of reading so many tokens: only unique ones are bought [USD]."""
        if self.data_usd_per_million_tokens == 0.0:
            return 0.0
        unique = np.minimum(n_tokens_read, self.unique_tokens)
        usd: FloatArray = unique * (self.data_usd_per_million_tokens / TOKENS_PER_MILLION_TOKENS)
        return usd


class DataMixingInputs(Inputs):
    """What searching for a better mix of training data gains and costs. An assumption: no source measures both."""

    gain: Annotated[float, Field(ge=1)] = Field(description="equivalent FLOP gained, as a factor")
    search_share: NotNegative = Field(0.05, description="FLOP of small runs that search / FLOP of the run itself")
    usd_per_release: Usd = Field(0.0, description="cost of collecting and cleaning, each release [USD]")


class DistillationInputs(Inputs):
    """Training a model on the answers of a compute-optimal teacher. An assumption: no clean cost figure was found."""

    token_worth: Annotated[float, Field(ge=1)] = Field(
        description="tokens of ordinary text that one of the teacher's tokens is worth"
    )


class FineTuningInputs(Inputs):
    """Training on from an open-weight model."""

    min_tokens: Positive = Field(1e9, description="least tokens a fine-tuned model is trained on [tokens]")
    method: Literal["full", "lora", "qlora"] = Field(
        "full", description="what is trained: all weights, adapters, or adapters beside weights in 4 bits"
    )
    adapter_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.002, description="weights of the adapters / those of the model; 0.2 % is usual (Dettmers et al. 2023)"
    )

    def trained_by(self, stage: ZeroStage) -> TrainingMethod:
        """What fine-tuning holds in memory and computes."""
        match self.method:
            case "full":
                return full(stage)
            case "lora":
                return lora(self.adapter_share, stage)
            case "qlora":
                return qlora(self.adapter_share, stage)
