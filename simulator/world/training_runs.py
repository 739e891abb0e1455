"""Published training runs: how many GPU-hours a model took, on what. Facts, each row with its source.

GPU-hours are those of the papers and model cards; GPUs that no paper names are those of Epoch AI's data on AI models
(CC BY 4.0). Utilisation is worked out from them, 6 N D / (GPU-hours x dense bf16 peak), and is often lower than what
a paper reports: the hours of a card hold restarts, downtime and later stages.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.laws.scaling import training_flop
from simulator.laws.units import SECONDS_PER_HOUR
from simulator.world.hardware import CATALOGUE
from simulator.world.models import model_named
from simulator.world.names import named


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """One run; `model` and `accelerator` are names of the catalogues."""

    model: str
    gpu_hours: float
    accelerator: str
    """The kind whose peak counts: an H800 multiplies as fast as an H100."""
    gpus: int | None
    mfu_published: tuple[float, float] | None
    """Lowest and highest model FLOP utilisation that the source itself reports."""
    source: str
    from_scratch: bool = True
    """Whether the run reads all the tokens of the model, so that 6 N D is its FLOP."""
    size_published: bool = True
    """Whether the model is in the catalogue of models; if not, only hours are known."""

    @property
    def name(self) -> str:
        """What it is looked up by."""
        return self.model

    @property
    def utilization(self) -> float | None:
        """6 N D over what the GPUs could have done at their dense bf16 peak; none for a run on top of another, or of
        unknown size."""
        if not (self.from_scratch and self.size_published):
            return None
        model = model_named(self.model)
        peak = named(self.accelerator, CATALOGUE, "hardware").chip.bf16_flop_per_second
        flop = float(training_flop(model.n_active_parameters, model.n_training_tokens))
        return flop / (self.gpu_hours * SECONDS_PER_HOUR * peak)


_LLAMA_1 = "Touvron et al. 2023, arXiv 2302.13971, table 15; GPUs: Epoch AI"
_LLAMA_2 = "Touvron et al. 2023, arXiv 2307.09288, and model card"
_LLAMA_3, _LLAMA_4 = "Meta, Llama 3 model card", "Meta, Llama 4 model card"
_LLAMA_3_1 = "Meta, Llama 3.1 model card"
_405B = f"{_LLAMA_3_1}; GPUs and MFU: Grattafiori et al. 2024, arXiv 2407.21783"
_BLOOM = "BigScience 2022, arXiv 2211.05100, and Luccioni et al. 2022, arXiv 2211.02001"
_PALM = "Chowdhery et al. 2022, arXiv 2204.02311 (MFU without and with attention); chips: Epoch AI"
_V3 = "DeepSeek-AI 2024, arXiv 2412.19437; H800; 2.664 million GPU-hours of it pre-training"
_ESTIMATED = "Cottier et al. 2024, arXiv 2405.21015, an estimate; parameters and tokens were not published"
_R1 = "DeepSeek-AI 2025, (198 + 80) hours of 512 H800 and 5,000 GPU-hours of data, on top of DeepSeek-V3"

TRAINING_RUNS: tuple[TrainingRun, ...] = (
    # model, GPU-hours, kind, GPUs, published MFU, source
    TrainingRun("PaLM", 8_404_992, "TPU v4", 6144, (0.457, 0.462), _PALM),
    TrainingRun("BLOOM", 1_082_990, "A100", 384, None, _BLOOM),
    TrainingRun("LLaMA-65B", 1_022_362, "A100", 2048, None, _LLAMA_1),
    TrainingRun("Llama 2 7B", 184_320, "A100", None, None, _LLAMA_2),
    TrainingRun("Llama 2 13B", 368_640, "A100", None, None, _LLAMA_2),
    TrainingRun("Llama 2 70B", 1_720_320, "A100", None, None, _LLAMA_2),
    TrainingRun("Llama 3 8B", 1.3e6, "H100", None, None, _LLAMA_3),
    TrainingRun("Llama 3 70B", 6.4e6, "H100", None, None, _LLAMA_3),
    TrainingRun("Llama 3.1 8B", 1.46e6, "H100", None, None, _LLAMA_3_1),
    TrainingRun("Llama 3.1 70B", 7.0e6, "H100", None, None, _LLAMA_3_1),
    TrainingRun("Llama 3.1 405B", 30.84e6, "H100", 16_384, (0.38, 0.43), _405B),
    TrainingRun("Llama 4 Scout", 5.0e6, "H100", None, None, _LLAMA_4),
    TrainingRun("Llama 4 Maverick", 2.38e6, "H100", None, None, _LLAMA_4),
    TrainingRun("DeepSeek-V3", 2.788e6, "H100", 2048, None, _V3),
    TrainingRun("DeepSeek-R1", (198 + 80) * 512 + 5000, "H100", 512, None, _R1, from_scratch=False),
    TrainingRun("GPT-4", 25_000 * 2280, "A100", 25_000, None, _ESTIMATED, size_published=False),
    TrainingRun("Gemini 1.0 Ultra", 57_000 * 2400, "TPU v4", 57_000, None, _ESTIMATED, size_published=False),
)


def run_named(name: str) -> TrainingRun:
    """The run of this model; capitals, spaces, dashes and underscores do not matter."""
    return named(name, TRAINING_RUNS, "runs")
