"""What makes serving cheaper without changing the model: speculation, prompt caching, experts left unread."""

from dataclasses import dataclass

import numpy as np

from simulator.laws.ranges import at_least, between, not_negative, share
from simulator.laws.units import FloatArray, Numbers

ANTHROPIC_CACHE_READ, ANTHROPIC_CACHE_WRITE = 0.1, 1.25
OPENAI_CACHE_READ = 0.1
"""Price of cached prompt tokens over uncached ones, list prices of 2025 (gpt-4o 0.5, gpt-4.1 0.25, gpt-5 0.1)."""
BATCH_PRICE = 0.5
"""Price of answers that may wait (batch interfaces) over immediate ones, list prices of 2024-25."""
SPECULATION_ACCEPTANCE = 0.8
"""Chance that a drafted token is accepted (Erdil 2025, arXiv 2506.04645)."""


@dataclass(frozen=True, slots=True)
class ReportedSaver:
    """One saver as its source reports it.

    Attributes
    ----------
    method : str
    highest_speedup : float
        Largest speed-up the source claims; 1 where it claims none [1].
    price_factor : float
        List price of the tokens it touches over that of others; 1 where it has no price of its own [1].
    effect, citation : str
    """

    method: str
    highest_speedup: float
    price_factor: float
    effect: str
    citation: str


REPORTED_SAVERS = (
    ReportedSaver("speculative decoding", 3.0, 1.0, "2 to 3x, identical answers", "Leviathan et al. 2023, 2211.17192"),
    ReportedSaver(
        "prompt caching, Anthropic",
        1.0,
        ANTHROPIC_CACHE_READ,
        f"writing to the cache costs {ANTHROPIC_CACHE_WRITE}",
        "list prices of 2025",
    ),
    ReportedSaver("prompt caching, OpenAI", 1.0, OPENAI_CACHE_READ, "gpt-4o 0.5, gpt-4.1 0.25", "list prices of 2025"),
    ReportedSaver("batch interface", 1.0, BATCH_PRICE, "answers that may wait", "list prices of 2024-25"),
)


def tokens_per_verification(acceptance: Numbers, drafted_tokens: Numbers) -> FloatArray:
    """Tokens gained per pass of the large model, (1 - a^(g+1)) / (1 - a) (Leviathan et al. 2023, 2211.17192).

    >>> round(float(tokens_per_verification(0.8, 4)), 4)
    3.3616
    """
    a, g = between("acceptance", acceptance, 0.0, 1.0), not_negative("drafted_tokens", drafted_tokens)
    certain = a == 1
    rest = np.where(certain, 1.0, 1 - a)
    result: FloatArray = np.where(certain, g + 1, (1 - a ** (g + 1)) / rest)[()]
    return result


def speculation_speedup(acceptance: Numbers, drafted_tokens: Numbers, draft_cost_share: Numbers) -> FloatArray:
    """How much faster one answer is written, tokens per verification / (g c + 1); the answers are identical.

    Valid while decoding waits for memory: at the batch where it waits for arithmetic, verifying g tokens costs g
    times as much and nothing is gained.

    Parameters
    ----------
    draft_cost_share : float or array
        Time of one step of the draft model over one of the large model, c [1].

    >>> round(float(speculation_speedup(0.8, 4, 0.05)), 3)
    2.801
    """
    drafting = np.asarray(drafted_tokens, dtype=np.float64) * not_negative("draft_cost_share", draft_cost_share)
    return tokens_per_verification(acceptance, drafted_tokens) / (drafting + 1)


def prompt_cache_factor(cached_share: Numbers, read_cost: Numbers, write_cost: Numbers = 1.0) -> FloatArray:
    """Cost of prompt tokens over their cost without a cache, h read + (1 - h) write [1].

    Parameters
    ----------
    cached_share : float or array
        Share of prompt tokens found in the cache, h [1].
    read_cost, write_cost : float or array
        Cost of a token read from, and written to, the cache over an ordinary one [1].

    >>> round(float(prompt_cache_factor(0.8, ANTHROPIC_CACHE_READ, ANTHROPIC_CACHE_WRITE)), 3)
    0.33
    """
    hit = between("cached_share", cached_share, 0.0, 1.0)
    return hit * not_negative("read_cost", read_cost) + (1 - hit) * not_negative("write_cost", write_cost)


def expert_share_read(batch: Numbers, active_share: Numbers) -> FloatArray:
    """Share of a mixture-of-experts model's weights that one decoding step reads, 1 - (1 - s)^B [1].

    Each of B tokens uses a share s of the weights, chosen independently; 1 for a dense model. At the batches that
    pay, nearly all weights are read: DeepSeek-V3 (37 of 671 billion active) reads 97 % at a batch of 64.

    >>> round(float(expert_share_read(64, 37 / 671)), 2)
    0.97
    """
    return 1 - (1 - share("active_share", active_share)) ** at_least("batch", batch, 1.0)
