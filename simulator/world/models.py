"""Published models: parameters, tokens, and whether their weights may be built upon. Facts, each row with its source.

Release dates are the publication dates of Epoch AI's data on AI models (CC BY 4.0, epoch.ai/data), except those of a
family of which Epoch lists one member. Its token column counts words or data points for some models (Chinchilla
1.05e12, GPT-3 3.74e11) and is not used: tokens are those of the papers and model cards.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches


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


class UnknownModel(ValueError):
    """A name that no model of the catalogue bears."""


_BROWN = "Brown et al. 2020, arXiv 2005.14165"
_HOFFMANN = "Hoffmann et al. 2022, arXiv 2203.15556"
_LLAMA_1 = "Touvron et al. 2023, arXiv 2302.13971; weights not for commercial use"
_LLAMA_2 = "Touvron et al. 2023, arXiv 2307.09288, and model card"
_LLAMA_2_SHAPE = "; parameters counted from its shape: 40 layers, width 5120, feed-forward 13824, vocabulary 32000"
_LLAMA_3 = "Meta, Llama 3 model card (15T+ tokens)"
_LLAMA_3_1 = "Meta, Llama 3.1 model card (15T+ tokens); Grattafiori et al. 2024, arXiv 2407.21783"
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
    PublishedModel("DeepSeek-V3", 671e9, 37e9, 14.8e12, date(2024, 12, 24), True, _V3),
    PublishedModel("DeepSeek-R1", 671e9, 37e9, 14.8e12, date(2025, 1, 20), True, _R1),
)
"""In order of family. FLOP are 6 N D throughout, also where a source counts otherwise (Gopher 5.04e23: Hoffmann et al.
use 5.76e23, Epoch 6.31e23), so that all models are counted alike."""


def model_named(name: str) -> PublishedModel:
    """The model of this name; capitals, spaces, dashes and underscores do not matter."""
    by_key = {_key(model.name): model for model in MODELS}
    found = by_key.get(_key(name))
    if found is not None:
        return found
    near = get_close_matches(_key(name), by_key, n=1, cutoff=0.6)
    hint = f"; did you mean {by_key[near[0]].name!r}?" if near else ""
    raise UnknownModel(f"there is no model {name!r} in the catalogue{hint}")


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " -_")
