"""What providers have said of their tokens: facts, dated, each with its source. Nothing is fitted to them here.

Days are those of the announcement, good to about a month. Google's count is of all its surfaces, prompts, hidden
reasoning and multimodal tokens among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class TokenReport:
    """Tokens of one provider, as it stated them."""

    provider: str
    day: date
    tokens_per_month: float
    source: str


_MARKETS = "valuethemarkets.com: Google's token processing, a deep dive into 3.2 quadrillion monthly transactions"
_CALL = "smithstephen.com, on the earnings call of the second quarter of 2025"
_OCTOBER = "the-decoder.com: Google boasts 1.3 quadrillion tokens each month"
_MAY = "emeraldforce.com: Google processes over 3.2 quadrillion tokens monthly"

GOOGLE: tuple[TokenReport, ...] = (
    TokenReport("Google", date(2024, 4, 30), 9.7e12, _MARKETS),
    TokenReport("Google", date(2025, 5, 20), 4.8e14, _MARKETS),
    TokenReport("Google", date(2025, 7, 23), 9.8e14, _CALL),
    TokenReport("Google", date(2025, 10, 9), 1.3e15, _OCTOBER),
    TokenReport("Google", date(2026, 5, 20), 3.2e15, _MAY),
)
