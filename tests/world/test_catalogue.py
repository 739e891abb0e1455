"""The catalogue as one: what it holds, and what a scenario changes in it."""

from __future__ import annotations

from datetime import date

from simulator.study.files import load_scenario
from simulator.world.catalogue import Catalogue, catalogue_of
from simulator.world.hardware import CATALOGUE, AcceleratorInputs
from simulator.world.models import MODELS, PublishedModelInputs


def chip(name: str) -> AcceleratorInputs:
    return AcceleratorInputs(
        name=name,
        bf16_tflop_per_second=1000,
        memory_gb=96,
        memory_tb_per_second=4,
        power_kw=0.8,
        launch=date(2027, 1, 1),
        source="a test",
    )


def test_rows_of_a_scenario_are_in() -> None:
    model = PublishedModelInputs(
        name="Ours", n_parameters=12e9, n_training_tokens=6e12, release=date(2026, 3, 1), source="a test"
    )
    added = {"accelerator": (chip("X1"), chip("H100")), "model": (model,)}
    known = catalogue_of(load_scenario("known_demand").model_copy(update=added))
    assert [row.name for row in known.hardware] == [*(row.name for row in CATALOGUE), "X1"]
    assert next(row for row in known.hardware if row.name == "H100").source == "a test"
    assert [row.name for row in known.models] == [*(row.name for row in MODELS), "Ours"]
    plain = Catalogue()
    assert (known.prices, known.runs, known.techniques) == (plain.prices, plain.runs, plain.techniques)


def test_techniques_come_from_every_table_of_them_with_a_source() -> None:
    rows = Catalogue().techniques
    assert [row.group for row in rows].count("training for inference") == 6
    assert {row.group for row in rows} == {"training for inference", "quantization", "serving"}
    assert all(len(row.source) > 10 for row in rows)
    spans = {row.name: (row.training_span_oom, row.inference_span_oom) for row in rows}
    # Villalobos & Atkinson 2023, summary table.
    assert spans["overtraining"] == (1.2, 0.7)
    assert spans["repeated sampling, cheap verification"] == (3.0, 6.0)
    assert spans["repeated sampling, expensive verification"] == (1.0, 1.45)
    assert next(row for row in rows if row.name.startswith("SmoothQuant")).highest_speedup == 1.56
