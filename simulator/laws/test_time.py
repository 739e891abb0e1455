"""Compute spent on answering instead of training: how many samples buy how much quality.

The name means inference-time ("test-time") compute; nothing here is a unit test. More samples than the source's span
are refused. A coverage fit describes one model on one benchmark.
"""

from dataclasses import dataclass

import numpy as np

from simulator.laws.ranges import at_least, between, positive
from simulator.laws.units import FloatArray, Numbers

SAMPLES_OOM_PER_TRAINING_OOM = 1.45
"""Orders of magnitude of samples worth one order of magnitude of training, expensive verification."""
MAX_GAIN = 10.0
"""Equivalent training compute the samples can add, one order of magnitude, before the trade is used up."""
MAX_SAMPLES = MAX_GAIN**SAMPLES_OOM_PER_TRAINING_OOM
"""28.2 samples: 1.45 orders of magnitude (Villalobos & Atkinson 2023, Epoch, summary table)."""


def gain(samples: Numbers) -> FloatArray:
    """Factor by which `samples` answers per question multiply equivalent training FLOP, m^(1/1.45).

    Villalobos & Atkinson 2023 (Epoch, "Trading off compute in training and inference"): repeated sampling with
    expensive verification spans 1 order of magnitude of training against 1.45 of inference. Range 1 <= m <= 28.2.

    >>> round(float(gain(MAX_SAMPLES)), 9)
    10.0
    """
    return between("samples", samples, 1.0, MAX_SAMPLES) ** (1 / SAMPLES_OOM_PER_TRAINING_OOM)


def samples_for_gain(gain: Numbers) -> FloatArray:
    """Samples that multiply equivalent training FLOP by `gain`, 1 <= gain <= 10."""
    return between("gain", gain, 1.0, MAX_GAIN) ** SAMPLES_OOM_PER_TRAINING_OOM


def generated_tokens(completion_tokens: Numbers, samples: Numbers) -> FloatArray:
    """Tokens to generate so that users get `completion_tokens`: each sample is written in full [tokens].

    The prompt is processed once whatever the number of samples.
    """
    return at_least("samples", samples, 1.0) * np.asarray(completion_tokens, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class CoverageFit:
    """Coefficients of the coverage law c(k) = exp(-a k^-b) for one model on one benchmark."""

    name: str
    a: float
    b: float
    citation: str


_MATH = "Schaeffer et al. 2025, arXiv 2502.17578, appendix tables, MATH (128 problems)"
_JAILBREAK = "Schaeffer et al. 2025, arXiv 2502.17578, appendix tables, best-of-N jailbreaking"
PYTHIA_70M = CoverageFit("Pythia 70M", 8.026, 0.194, _MATH)
PYTHIA_160M = CoverageFit("Pythia 160M", 6.591, 0.280, _MATH)
PYTHIA_410M = CoverageFit("Pythia 410M", 5.524, 0.286, _MATH)
PYTHIA_1B = CoverageFit("Pythia 1B", 5.452, 0.315, _MATH)
PYTHIA_2_8B = CoverageFit("Pythia 2.8B", 4.104, 0.336, _MATH)
PYTHIA_6_9B = CoverageFit("Pythia 6.9B", 4.255, 0.348, _MATH)
PYTHIA_12B = CoverageFit("Pythia 12B", 4.113, 0.370, _MATH)
GPT_4O_JAILBREAK = CoverageFit("GPT-4o", 3.639, 0.395, _JAILBREAK)
CLAUDE_3_5_SONNET_JAILBREAK = CoverageFit("Claude 3.5 Sonnet", 3.436, 0.312, _JAILBREAK)
GEMINI_1_5_PRO_JAILBREAK = CoverageFit("Gemini 1.5 Pro", 6.296, 0.256, _JAILBREAK)
SWE_BENCH_LITE = CoverageFit(
    "SWE-bench Lite",
    1.83885,
    0.209035,
    "two points of Brown et al. 2024, arXiv 2407.21787: 15.9 % with 1 sample, 56 % with 250",
)
COVERAGE_FITS = (
    PYTHIA_70M,
    PYTHIA_160M,
    PYTHIA_410M,
    PYTHIA_1B,
    PYTHIA_2_8B,
    PYTHIA_6_9B,
    PYTHIA_12B,
    GPT_4O_JAILBREAK,
    CLAUDE_3_5_SONNET_JAILBREAK,
    GEMINI_1_5_PRO_JAILBREAK,
    SWE_BENCH_LITE,
)


def coverage(k: Numbers, a: float, b: float) -> FloatArray:
    """Share of problems solved by at least one of `k` samples, exp(-a k^-b) (Brown et al. 2024, arXiv 2407.21787).

    >>> round(float(coverage(100, PYTHIA_12B.a, PYTHIA_12B.b)), 4)
    0.4731
    """
    return np.exp(-a * at_least("k", k, 1.0) ** -b)


def samples_for_coverage(coverage: Numbers, a: float, b: float) -> FloatArray:
    """Samples that reach `coverage`, (a / -ln c)^(1/b), at least 1; infinite for a coverage of 1.

    >>> round(float(samples_for_coverage(0.5, PYTHIA_12B.a, PYTHIA_12B.b)), 1)
    123.1
    """
    c = between("coverage", positive("coverage", coverage), 0.0, 1.0)
    missing = -np.log(c)
    sure = missing <= 0
    k = np.maximum((a / np.where(sure, 1.0, missing)) ** (1 / b), 1.0)
    result: FloatArray = np.where(sure, np.inf, k)[()]
    return result


def coverage_fit_through(k: float, first: float, later: float) -> tuple[float, float]:
    """(a, b) of the coverage law through c(1) = `first` and c(k) = `later`."""
    a = -float(np.log(between("first", first, 1e-300, 1.0)))
    return a, float(np.log(a / -np.log(later)) / np.log(k))


def any_of(k: Numbers, p: Numbers) -> FloatArray:
    """Chance that at least one of `k` independent samples is right when each is with chance `p`, 1 - (1 - p)^k.

    One problem behaves so; a benchmark follows the power law of `coverage` because `p` differs between problems.
    """
    return 1 - (1 - between("p", p, 0.0, 1.0)) ** at_least("k", k, 1.0)


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Unbiased estimate of `any_of` from `correct` right answers among `samples` (Chen et al. 2021, 2107.03374).

    1 - prod_{i=n-c+1}^{n} (1 - k/i).

    >>> round(pass_at_k(100, 5, 10), 6)
    0.416248
    """
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@k needs 0 <= correct <= samples and 1 <= k <= samples, got {correct}, {samples}, {k}")
    if samples - correct < k:
        return 1.0
    return float(1 - np.prod(1 - k / np.arange(samples - correct + 1, samples + 1)))


def majority(k: int, p: Numbers) -> FloatArray:
    """Chance that more than half of `k` (odd) independent samples are right when each is with chance `p`.

    Condorcet's sum over binomial terms; two possible answers, so a lower bound when wrong answers disagree.

    >>> round(float(majority(3, 0.6)), 3)
    0.648
    """
    if k < 1 or k % 2 == 0:
        raise ValueError(f"majority needs an odd number of samples, got {k}")
    right = between("p", p, 0.0, 1.0)
    total = np.zeros_like(right)
    term = 1.0
    for wrong in range((k - 1) // 2 + 1):
        total = total + term * right ** (k - wrong) * (1 - right) ** wrong
        term = term * (k - wrong) / (wrong + 1)
    return total
