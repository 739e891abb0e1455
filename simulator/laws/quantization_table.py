"""What papers and vendors report about quantizing large models: shown to the reader, never used as a loss.

A loss of 1 % of accuracy is not a loss of 1 % of a nat; the two are kept apart.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportedQuantization:
    """One method as its source reports it.

    Attributes
    ----------
    method : str
    weight_memory_factor : float
        Memory of the weights over that of 16 bits [1].
    highest_speedup : float
        Largest speed-up the source claims; 1 where it claims none [1].
    quality : str
        Effect on quality, in the source's words.
    citation : str
    """

    method: str
    weight_memory_factor: float
    highest_speedup: float
    quality: str
    citation: str


REPORTED_QUANTIZATION = (
    ReportedQuantization(
        "LLM.int8()", 0.5, 1.0, "full-precision parity to 175B", "Dettmers et al. 2022, arXiv 2208.07339"
    ),
    ReportedQuantization(
        "SmoothQuant W8A8 int8",
        0.5,
        1.56,
        "negligible loss",
        "Xiao et al. 2022, arXiv 2211.10438, and the project's README",
    ),
    ReportedQuantization(
        "GPTQ 4 bit weights",
        0.25,
        4.5,
        "negligible; speed at a batch of one: 3.25x on A100, 4.5x on A6000",
        "Frantar et al. 2022, arXiv 2210.17323",
    ),
    ReportedQuantization(
        "AWQ 4 bit weights", 0.25, 3.9, "near-lossless; speed on edge devices", "Lin et al. 2023, arXiv 2306.00978"
    ),
    ReportedQuantization("FP8 W8A8", 0.5, 1.6, "minimal", "vLLM documentation, FP8 W8A8"),
    ReportedQuantization("FP8 W8A8, 500,000 evaluations", 0.5, 1.0, "lossless", "Kurtic et al. 2024, arXiv 2411.02355"),
    ReportedQuantization(
        "INT8 W8A8, 500,000 evaluations", 0.5, 1.0, "1 to 3 % lower accuracy", "Kurtic et al. 2024, arXiv 2411.02355"
    ),
    ReportedQuantization(
        "INT4 weights, 500,000 evaluations", 0.25, 1.0, "about as INT8 W8A8", "Kurtic et al. 2024, arXiv 2411.02355"
    ),
)
