"""Published training runs: utilisation worked out again from hours, sizes and tokens told elsewhere."""

from __future__ import annotations

import pytest

from simulator.world.training_runs import TRAINING_RUNS, TrainingRun

# model, GPU-hours, 6ND / (GPU-hours x dense bf16 peak), computed from model cards and papers; Llama 4 by hand:
# 6 x 17e9 x 40e12 / (5e6 x 3600 x 989e12) and 6 x 17e9 x 22e12 / (2.38e6 x 3600 x 989e12).
TABLE = {
    "LLaMA-65B": (1_022_362, 0.477),
    "Llama 2 7B": (184_320, 0.391),
    "Llama 2 13B": (368_640, 0.377),
    "Llama 2 70B": (1_720_320, 0.428),
    "Llama 3 8B": (1.3e6, 0.156),
    "Llama 3 70B": (6.4e6, 0.279),
    "Llama 3.1 8B": (1.46e6, 0.139),
    "Llama 3.1 70B": (7.0e6, 0.255),
    "Llama 3.1 405B": (30.84e6, 0.346),
    "Llama 4 Scout": (5.0e6, 0.2292),
    "Llama 4 Maverick": (2.38e6, 0.2648),
    "BLOOM": (1_082_990, 0.318),
    "PaLM": (8_404_992, 0.304),
    "DeepSeek-V3": (2.788e6, 0.331),
    "DeepSeek-R1": (147_336, None),
    "GPT-4": (5.70e7, None),
    "Gemini 1.0 Ultra": (1.368e8, None),
}
BY_MODEL = {run.model: run for run in TRAINING_RUNS}


def test_every_run_is_there_once() -> None:
    assert set(BY_MODEL) == set(TABLE)
    assert len(TRAINING_RUNS) == len(TABLE)


@pytest.mark.parametrize("run", TRAINING_RUNS, ids=lambda run: run.model)
def test_utilization_follows_from_the_hours(run: TrainingRun) -> None:
    hours, utilization = TABLE[run.model]
    assert run.gpu_hours == hours
    assert len(run.source) > 20
    if utilization is None:
        assert run.utilization is None
    else:
        assert run.utilization == pytest.approx(utilization, abs=6e-4)


def test_totals_are_those_of_the_sources() -> None:
    """Model cards: 7.7, 39.3 and 7.38 million hours; papers: 5.576e6 USD for V3, 294,672 for R1, at 2 USD an hour."""
    for family, total in (("Llama 3 ", 7.7e6), ("Llama 3.1 ", 39.3e6), ("Llama 4 ", 7.38e6)):
        assert sum(run.gpu_hours for run in TRAINING_RUNS if run.model.startswith(family)) == pytest.approx(total)
    assert 2.0 * BY_MODEL["DeepSeek-V3"].gpu_hours == pytest.approx(5.576e6)
    assert 2.0 * BY_MODEL["DeepSeek-R1"].gpu_hours == 294_672


def test_hours_of_bloom_are_its_days() -> None:
    """118 days 5 hours 41 minutes on 384 GPUs are 1.0896e6 GPU-hours; the paper prints 1,082,990."""
    assert pytest.approx(BY_MODEL["BLOOM"].gpu_hours, rel=0.01) == (118 * 24 + 5 + 41 / 60) * 384


def test_what_is_reported_is_more_than_what_the_hours_leave() -> None:
    """The hours of a card hold downtime and later stages, so 6ND over them is below the MFU of the run itself."""
    for name in ("PaLM", "Llama 3.1 405B"):
        run = BY_MODEL[name]
        assert run.mfu_published is not None
        assert run.utilization is not None
        assert run.utilization < run.mfu_published[0] <= run.mfu_published[1] < 1.0
