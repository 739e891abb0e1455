"""All claims, by the scenarios they are about. A new subject is one more module in `CLAIMS`."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.study import (
    claims_costs,
    claims_enterprise,
    claims_erdil,
    claims_hardware,
    claims_models,
    claims_openai,
    claims_portfolio,
    claims_prices,
)
from simulator.study.claims import Claim
from simulator.study.complaints import nearest
from simulator.study.sources import packaged_scenarios

CLAIMS: tuple[Claim, ...] = (
    *claims_erdil.CLAIMS,
    *claims_openai.CLAIMS,
    *claims_models.CLAIMS,
    *claims_hardware.CLAIMS,
    *claims_prices.CLAIMS,
    *claims_costs.CLAIMS,
    *claims_enterprise.CLAIMS,
    *claims_portfolio.CLAIMS,
)


class NothingClaimed(ValueError):
    """A name of which nothing is claimed."""


def claims_about(names: Sequence[str], *, fast: bool = False) -> list[Claim]:
    """The claims about these scenarios, or all; the long ones left out if it must be fast.

    Raises
    ------
    NothingClaimed
        For a name that is no scenario with claims, with the nearest one.
    """
    known = list(dict.fromkeys(claim.scenario for claim in CLAIMS))
    asked = {_known(name, known) for name in names}
    return [claim for claim in CLAIMS if claim.scenario in (asked or known) and not (fast and claim.is_long)]


def _known(name: str, known: Sequence[str]) -> str:
    stem = name.removesuffix(".toml").rpartition("/")[2]
    if stem in known:
        return stem
    rule = (
        "nothing is claimed of it" if stem in packaged_scenarios() else "no scenario of this name comes with labspend"
    )
    near = nearest(stem, known)
    hint = f"did you mean {near!r}?" if near else f"there are claims about {', '.join(known)}"
    raise NothingClaimed(f"{name}: {rule}; {hint}")
