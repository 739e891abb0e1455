"""Published models: parameters, tokens, and whether their weights may be built upon. Facts, each row with its source.

Release dates are the publication dates of Epoch AI's data on AI models (CC BY 4.0, epoch.ai/data), except those of a
family of which Epoch lists one member. Its token column counts words or data points for some models (Chinchilla
1.05e12, GPT-3 3.74e11) and is not used: tokens are those of the papers and model cards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import Field, model_validator

from simulator.world.inputs import Inputs, Misplaced
from simulator.world.names import joined, named

PARAMETERS, TOKENS = (1e6, 1e15), (1e6, 1e18)
"""What a model may have; anything else is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """One model; `n_active_parameters` are those a token uses, fewer than all in a mixture of experts."""

    name: str
    n_parameters: float
    n_active_parameters: float
    n_training_tokens: float
    release: date
    open_weights: bool
    """Whether anyone may download, change and serve it, also for money (with the conditions of its licence)."""
    source: str


class PublishedModelInputs(Inputs):
    """A model that the scenario adds to the catalogue, or describes anew: fine-tuning may start from it."""

    name: str = Field(min_length=1, description="what it is called; spaces, dashes and capitals do not matter")
    n_parameters: Annotated[float, Field(ge=PARAMETERS[0], le=PARAMETERS[1])] = Field(description="weights")
    n_active_parameters: Annotated[float, Field(ge=PARAMETERS[0], le=PARAMETERS[1])] | None = Field(
        None, description="weights a token uses, fewer in a mixture of experts; default: all"
    )
    n_training_tokens: Annotated[float, Field(ge=TOKENS[0], le=TOKENS[1])] = Field(
        description="tokens it was trained on [tokens]"
    )
    release: date = Field(description="first day it can be built upon")
    open_weights: bool = Field(True, description="whether it may be built upon")
    source: str = Field(description="where the figures were read")

    @model_validator(mode="after")
    def _uses_no_more_than_it_has(self) -> PublishedModelInputs:
        if self.n_active_parameters is not None and self.n_active_parameters > self.n_parameters:
            rule = f"must be at most n_parameters, {self.n_parameters:g}"
            raise Misplaced("n_active_parameters", rule, f"{self.n_active_parameters:g}")
        return self

    def model(self) -> PublishedModel:
        """The catalogue entry of these figures."""
        active = self.n_parameters if self.n_active_parameters is None else self.n_active_parameters
        size = (self.n_parameters, active, self.n_training_tokens)
        return PublishedModel(self.name, *size, self.release, self.open_weights, self.source)


_BROWN = "Brown et al. 2020, arXiv 2005.14165"
_HOFFMANN = "Hoffmann et al. 2022, arXiv 2203.15556"
_LLAMA_1 = "Touvron et al. 2023, arXiv 2302.13971; weights not for commercial use"
_LLAMA_2 = "Touvron et al. 2023, arXiv 2307.09288, and model card"
_LLAMA_2_SHAPE = "; parameters counted from its shape: 40 layers, width 5120, feed-forward 13824, vocabulary 32000"
_LLAMA_3 = "Meta, Llama 3 model card (15T+ tokens)"
_LLAMA_3_1 = "Meta, Llama 3.1 model card (15T+ tokens); Grattafiori et al. 2024, arXiv 2407.21783"
_LLAMA_4 = "Meta, Llama 4 model card"
_BLOOM = "BigScience 2022, arXiv 2211.05100"
_V3 = "DeepSeek-AI 2024, arXiv 2412.19437"
_R1 = "DeepSeek-AI 2025, arXiv 2501.12948; the base is DeepSeek-V3, whose pre-training tokens these are"


def _dense(name: str, n_parameters: float, n_tokens: float, release: date, opened: bool, source: str) -> PublishedModel:
    return PublishedModel(name, n_parameters, n_parameters, n_tokens, release, opened, source)


MODELS: tuple[PublishedModel, ...] = (
    # name, parameters, training tokens, release, open weights, source
    _dense("GPT-3", 175e9, 300e9, date(2020, 5, 28), False, _BROWN),
    _dense("Jurassic-1", 178e9, 300e9, date(2021, 8, 11), False, f"AI21 Labs 2021, as in {_HOFFMANN}, table 1"),
    _dense("Gopher", 280e9, 300e9, date(2021, 12, 8), False, "Rae et al. 2021, arXiv 2112.11446"),
    _dense("MT-NLG", 530e9, 270e9, date(2021, 10, 11), False, "Smith et al. 2022, arXiv 2201.11990"),
    _dense("Chinchilla", 70e9, 1.4e12, date(2022, 3, 29), False, _HOFFMANN),
    _dense("PaLM", 540.35e9, 780e9, date(2022, 4, 4), False, "Chowdhery et al. 2022, arXiv 2204.02311"),
    _dense("BLOOM", 176.247e9, 366e9, date(2022, 7, 11), True, _BLOOM),
    _dense("LLaMA-65B", 65.2e9, 1.4e12, date(2023, 2, 24), False, _LLAMA_1),
    _dense("Llama 2 7B", 6.738e9, 2e12, date(2023, 7, 18), True, _LLAMA_2),
    _dense("Llama 2 13B", 13.016e9, 2e12, date(2023, 7, 18), True, _LLAMA_2 + _LLAMA_2_SHAPE),
    _dense("Llama 2 70B", 68.977e9, 2e12, date(2023, 7, 18), True, _LLAMA_2),
    _dense("Llama 3 8B", 8.030e9, 15e12, date(2024, 4, 18), True, _LLAMA_3),
    _dense("Llama 3 70B", 70.554e9, 15e12, date(2024, 4, 18), True, _LLAMA_3),
    _dense("Llama 3.1 8B", 8.030e9, 15e12, date(2024, 7, 23), True, _LLAMA_3_1),
    _dense("Llama 3.1 70B", 70.554e9, 15e12, date(2024, 7, 23), True, _LLAMA_3_1),
    _dense("Llama 3.1 405B", 405.85e9, 15.6e12, date(2024, 7, 23), True, _LLAMA_3_1),
    PublishedModel("Llama 4 Scout", 109e9, 17e9, 40e12, date(2025, 4, 5), True, f"{_LLAMA_4} (~40T tokens)"),
    PublishedModel("Llama 4 Maverick", 400e9, 17e9, 22e12, date(2025, 4, 5), True, f"{_LLAMA_4} (~22T tokens)"),
    PublishedModel("DeepSeek-V3", 671e9, 37e9, 14.8e12, date(2024, 12, 24), True, _V3),
    PublishedModel("DeepSeek-R1", 671e9, 37e9, 14.8e12, date(2025, 1, 20), True, _R1),
)
"""In order of family. FLOP are 6 N D throughout, also where a source counts otherwise (Gopher 5.04e23: Hoffmann et al.
use 5.76e23, Epoch 6.31e23), so that all models are counted alike."""


def models_with(added: Iterable[PublishedModelInputs]) -> tuple[PublishedModel, ...]:
    """The catalogue with rows of a scenario: one whose name is known already takes the place of that model."""
    return joined(MODELS, [row.model() for row in added])


def model_named(name: str, models: Iterable[PublishedModel] = MODELS) -> PublishedModel:
    """The model of this name; capitals, spaces, dashes and underscores do not matter."""
    return named(name, models, "models")
