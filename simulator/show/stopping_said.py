"""What a stopping rule did, in words."""

from __future__ import annotations

from simulator.show.money import percent
from simulator.study.comparison import worlds_said
from simulator.study.stopping import Precision


def precision_said(rule: Precision) -> str:
    """How many worlds it took, or what is still wider."""
    last, wanted = rule.rounds[-1], percent(rule.precision, _decimals(rule.precision))
    rounds = "1 round" if len(rule.rounds) == 1 else f"{len(rule.rounds)} rounds"
    took = f"{worlds_said(last.replications)} in {rounds}"
    if not last.policy:
        return f"Until {wanted}: stopped after {took}, because nothing is comparable with the baseline."
    if rule.is_met:
        widest = percent(last.widest_percent / 100.0, 2)
        return (
            f"Until {wanted}: took {took}; every difference is known to \u00b1{widest} of the baseline's cost "
            f"(widest: {last.policy})."
        )
    still = ", ".join(f"{name} \u00b1{percent(half / 100.0, 2)}" for name, half in last.wider)
    return f"Until {wanted}: not reached after {took}, the most allowed; still wider: {still}."


def _decimals(share: float) -> int:
    """As many as it takes to say it."""
    return next((n for n in range(4) if abs(100.0 * share - round(100.0 * share, n)) < 1e-9), 4)
