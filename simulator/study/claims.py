"""Published claims against the simulator: what a claim is, and how it is judged.

A claim names a shipped scenario, what a source says, and a function that asks the simulator. The function runs a
scenario, with overrides where the claim is about another case, or calls a law where the claim is about a law; nothing
on the simulated side is written down. To add claims: write them in a `claims_*.py` of their own subject with the five
makers below, and list its tuple in `claim_list.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from simulator.study.experiment import Progress

EXACT = 1e-9
"""The tolerance of what must be equal but for rounding."""


class Standing(StrEnum):
    """What a claim rests on."""

    PUBLISHED = "published"
    """A source says so, or a closed form of its equations: the simulator must reach it."""
    ACCOUNTED = "accounted"
    """Published, and the scenario is given the very sums or prices it follows from: the books must carry them through,
    which is accounting and no evidence."""
    ILLUSTRATIVE = "illustrative"
    """Often said, and no source supports it: shown, never passed."""
    UNEXPLAINED = "unexplained"
    """Published, and the simulator is known not to reach it: shown with the factor, never tuned away."""
    SHOWN = "shown"
    """A figure of ours that belongs beside the others; nobody has published one."""


class Verdict(StrEnum):
    """What became of a claim; only published ones pass, and accounts may fail beside them."""

    PASSED = "passed"
    FAILED = "FAILED"
    ACCOUNTED = "accounted"
    ILLUSTRATIVE = "illustrative"
    UNEXPLAINED = "unexplained"
    SHOWN = "shown"


_REACHED = {Standing.PUBLISHED: Verdict.PASSED, Standing.ACCOUNTED: Verdict.ACCOUNTED}
"""What must be reached, and what it is called then."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim; `low` and `high` are the bounds of what is published, equal for a single value and nan for none."""

    scenario: str
    claim: str
    source: str
    low: float
    high: float
    tolerance: float
    """Part by which the simulated value may lie outside the bounds."""
    unit: str
    standing: Standing
    simulated: Callable[[], float]
    is_long: bool = False
    """Whether it takes seconds: left out by --fast."""


def published(
    scenario: str,
    claim: str,
    source: str,
    value: float | tuple[float, float],
    simulated: Callable[[], float],
    within: float = 0.005,
    unit: str = "",
    *,
    is_long: bool = False,
) -> Claim:
    """A claim that the simulator must reach, to `within` of it."""
    low, high = value if isinstance(value, tuple) else (value, value)
    return Claim(scenario, claim, source, low, high, within, unit, Standing.PUBLISHED, simulated, is_long)


def accounted(
    scenario: str,
    claim: str,
    source: str,
    value: float,
    simulated: Callable[[], float],
    within: float = 0.005,
    unit: str = "",
) -> Claim:
    """A claim that follows from what the scenario is given; it must come out of the books, and is never passed."""
    return Claim(scenario, claim, source, value, value, within, unit, Standing.ACCOUNTED, simulated)


def illustrative(
    scenario: str,
    claim: str,
    source: str,
    value: float | tuple[float, float],
    simulated: Callable[[], float],
    unit: str = "",
) -> Claim:
    """A claim without a source; `source` says who makes it, or what speaks against it."""
    low, high = value if isinstance(value, tuple) else (value, value)
    return Claim(scenario, claim, source, low, high, 0.0, unit, Standing.ILLUSTRATIVE, simulated)


def unexplained(
    scenario: str, claim: str, source: str, value: float, simulated: Callable[[], float], unit: str = ""
) -> Claim:
    """A published claim that the simulator is known not to reach."""
    return Claim(scenario, claim, source, value, value, 0.0, unit, Standing.UNEXPLAINED, simulated)


def shown(
    scenario: str,
    claim: str,
    why: str,
    simulated: Callable[[], float],
    unit: str = "",
    *,
    is_long: bool = False,
) -> Claim:
    """A figure of ours to be read beside published ones; `why` says what it rests on."""
    nothing = math.nan
    return Claim(scenario, claim, why, nothing, nothing, 0.0, unit, Standing.SHOWN, simulated, is_long)


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with what the simulator says."""

    scenario: str
    claim: str
    source: str
    published_low: float
    published_high: float
    simulated: float
    unit: str
    tolerance: float
    verdict: Verdict
    factor: float
    """Nearest published value / simulated one; nan where nothing is published."""
    reason: str
    """Why nothing could be simulated; empty where it could."""


@dataclass(frozen=True, slots=True)
class Verification:
    """All findings, in the order of the claims."""

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether no claim failed."""
        return self.n(Verdict.FAILED) == 0

    def n(self, verdict: Verdict) -> int:
        """How many claims ended so."""
        return sum(found.verdict is verdict for found in self.findings)


def verify(claims: Sequence[Claim], progress: Progress | None = None) -> Verification:
    """Ask the simulator about every claim; `progress` is called with the claims done and all."""
    findings = []
    for number, claim in enumerate(claims, 1):
        findings.append(judged(claim))
        if progress is not None:
            progress(number, len(claims))
    return Verification(tuple(findings))


def judged(claim: Claim) -> Finding:
    """One claim against the simulator; one that cannot be simulated fails if it had to be reached, with the reason."""
    try:
        simulated, reason = float(claim.simulated()), ""
    except ValueError as error:
        simulated, reason = math.nan, str(error)
    nearest = math.nan if math.isnan(claim.low) else min(max(simulated, claim.low), claim.high)
    return Finding(
        claim.scenario,
        claim.claim,
        claim.source,
        claim.low,
        claim.high,
        simulated,
        claim.unit,
        claim.tolerance,
        _verdict(claim, simulated),
        nearest / simulated if simulated else math.nan,
        reason,
    )


def _verdict(claim: Claim, simulated: float) -> Verdict:
    if claim.standing not in _REACHED:
        return Verdict(claim.standing.value)
    low = claim.low - claim.tolerance * abs(claim.low)
    high = claim.high + claim.tolerance * abs(claim.high)
    return _REACHED[claim.standing] if low <= simulated <= high else Verdict.FAILED
