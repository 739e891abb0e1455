"""The catalogue of published models: facts that are told elsewhere too, and names that are forgiven."""

from __future__ import annotations

import csv
import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from pydantic import ValidationError

from simulator.world.inputs import Misplaced
from simulator.world.models import MODELS, PublishedModel, PublishedModelInputs, model_named, models_with
from simulator.world.names import NotInCatalogue

EPOCH_NAMES = {
    "GPT-3": "GPT-3 175B (davinci)",
    "Jurassic-1": "Jurassic-1-Jumbo",
    "Gopher": "Gopher (280B)",
    "MT-NLG": "Megatron-Turing NLG 530B",
    "Chinchilla": "Chinchilla",
    "LLaMA-65B": "LLaMA-65B",
    "BLOOM": "BLOOM-176B",
    "PaLM": "PaLM (540B)",
    "Llama 2 7B": "Llama 2-7B",
    "Llama 2 70B": "Llama 2-70B",
    "Llama 3 70B": "Llama 3-70B",
    "Llama 3.1 405B": "Llama 3.1-405B",
    "Llama 4 Scout": "Llama 4 Scout",
    "Llama 4 Maverick": "Llama 4 Maverick",
    "DeepSeek-V3": "DeepSeek-V3",
    "DeepSeek-R1": "DeepSeek-R1",
}


def epoch_rows() -> dict[str, dict[str, str]]:
    """Epoch AI's data on AI models (CC BY 4.0), or skip where it is not at hand."""
    default = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("LABSPEND_DATA", default)) / "models_epoch_training.csv"
    if not path.is_file():
        pytest.skip("data not found: models_epoch_training.csv (set LABSPEND_DATA to the data folder)")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def test_dates_and_sizes_are_those_of_epoch() -> None:
    """Epoch rounds the sizes of Llama; the dates are theirs exactly."""
    rows = epoch_rows()
    for ours, theirs in EPOCH_NAMES.items():
        model, row = model_named(ours), rows[theirs]
        assert str(model.release) == row["publication_date"], ours
        assert model.n_parameters == pytest.approx(float(row["parameters"]), rel=0.04), ours
        opened = row["accessibility"].startswith("Open weights") and "non-commercial" not in row["accessibility"]
        assert model.open_weights is opened, ours


def test_flop_are_near_those_of_epoch() -> None:
    """Within 26 %: Epoch counts attention, repeated tokens and later training that 6 N D leaves out."""
    rows = epoch_rows()
    for ours, theirs in EPOCH_NAMES.items():
        model = model_named(ours)
        flop = 6 * model.n_active_parameters * model.n_training_tokens
        assert flop == pytest.approx(float(rows[theirs]["training_compute_flop"]), rel=0.26), ours


def test_a_family_is_released_on_one_day() -> None:
    for family, size in (("Llama 2 ", 3), ("Llama 3 ", 2), ("Llama 3.1 ", 3), ("Llama 4 ", 2)):
        days = [model.release for model in MODELS if model.name.startswith(family)]
        assert (len(days), len(set(days))) == (size, 1)


def test_every_row_is_sourced_and_named_once() -> None:
    assert len({model.name.casefold() for model in MODELS}) == len(MODELS) == 20
    assert all(len(model.source) > 20 for model in MODELS)
    assert all(0 < model.n_active_parameters <= model.n_parameters for model in MODELS)


def test_the_open_ones() -> None:
    assert [model.name for model in MODELS if model.open_weights] == [
        "BLOOM",
        "Llama 2 7B",
        "Llama 2 13B",
        "Llama 2 70B",
        "Llama 3 8B",
        "Llama 3 70B",
        "Llama 3.1 8B",
        "Llama 3.1 70B",
        "Llama 3.1 405B",
        "Llama 4 Scout",
        "Llama 4 Maverick",
        "DeepSeek-V3",
        "DeepSeek-R1",
    ]


def test_parameters_of_llama_2_13b_follow_from_its_shape() -> None:
    """40 layers of width 5120, feed-forward 13,824, vocabulary 32,000 in and out, a norm before each block and last."""
    layer = 4 * 5120**2 + 3 * 5120 * 13_824 + 2 * 5120
    assert 2 * 32_000 * 5120 + 40 * layer + 5120 == 13_015_864_320
    assert model_named("Llama 2 13B").n_parameters == pytest.approx(13_015_864_320, abs=1e6)


@pytest.mark.parametrize("name", ["Llama 3.1 70B", "llama-3.1-70b", "LLAMA_3.1_70B", "llama3.1 70b"])
def test_a_name_is_found_however_it_is_spelt(name: str) -> None:
    assert model_named(name).name == "Llama 3.1 70B"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Lama 3.1 405B", "'Lama 3.1 405B' among the models of the catalogue; did you mean 'Llama 3.1 405B'?"),
        ("chincila", "'chincila' among the models of the catalogue; did you mean 'Chinchilla'?"),
        ("Claude", "'Claude' among the models of the catalogue; labspend catalog models lists them"),
        ("", "'' among the models of the catalogue; labspend catalog models lists them"),
    ],
)
def test_a_misspelt_name_gets_its_nearest(name: str, said: str) -> None:
    with pytest.raises(NotInCatalogue) as caught:
        model_named(name)
    assert str(caught.value) == f"there is no {said}"


def own(**changes: object) -> PublishedModelInputs:
    row = {"name": "Ours 12B", "n_parameters": 12e9, "n_training_tokens": 6e12, "release": "2026-03-01", "source": "x"}
    return PublishedModelInputs.model_validate(row | changes)


def test_a_row_of_the_users_own_comes_last_and_is_dense_unless_it_says_otherwise() -> None:
    models = models_with([own()])
    assert models[:-1] == MODELS
    assert model_named("ours-12b", models) == models[-1]
    assert (models[-1].n_active_parameters, models[-1].open_weights) == (12e9, True)
    assert own(n_active_parameters=2e9).model().n_active_parameters == 2e9


def test_a_known_name_is_described_anew_in_its_place() -> None:
    models = models_with([own(name="llama 3.1 8b", n_training_tokens=16e12)])
    assert len(models) == len(MODELS)
    assert model_named("Llama 3.1 8B", models).n_training_tokens == 16e12
    assert [m.name.casefold() for m in models] == [m.name.casefold() for m in MODELS]


def test_a_model_does_not_use_more_than_it_has() -> None:
    with pytest.raises(ValidationError) as caught:
        own(n_active_parameters=13e9)
    (detail,) = caught.value.errors()
    cause = detail["ctx"]["error"]
    assert isinstance(cause, Misplaced)
    assert str(cause) == "n_active_parameters: must be at most n_parameters, 1.2e+10 (got 1.3e+10)"


@pytest.mark.parametrize(
    "changes", [{"n_parameters": 12}, {"n_parameters": 1e300}, {"n_training_tokens": 6e3}, {"name": ""}]
)
def test_a_row_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        own(**changes)


def test_a_row_cannot_be_changed() -> None:
    model: PublishedModel = model_named("Chinchilla")
    with pytest.raises(FrozenInstanceError):
        model.n_parameters = 1.0  # type: ignore[misc]
