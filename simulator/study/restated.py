"""A comparison made in Python, said again as a scenario file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import get_args

from pydantic import BaseModel

from simulator.lab.policy import Policy, PolicyInputs
from simulator.study.comparison import Comparison
from simulator.study.equal_service import EqualService
from simulator.study.files import StudyInputs, study_toml
from simulator.world.scenario import Scenario

_PARTS = tuple(part.name for part in fields(Policy) if part.name != "name")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def study_text_of(comparison: Comparison) -> str:
    """The study as TOML; a policy that is hand-written in Python is told in a comment, which no file can hold."""
    return study_text(
        comparison.scenario, comparison.policies, comparison.seed, comparison.replications, comparison.equal_service
    )


def study_text(
    scenario: Scenario, policies: Sequence[Policy], seed: int, replications: int, equal_service: EqualService
) -> str:
    """The same, before anything is compared."""
    declared = {policy.name: _declared(policy) for policy in policies}
    tables = tuple(inputs for inputs in declared.values() if inputs is not None)
    inputs = StudyInputs(
        seed=seed,
        replications=replications,
        served_tolerance=equal_service.served_tolerance,
        late_tolerance_days=equal_service.late_tolerance_days,
    )
    text = study_toml(scenario, inputs, tables)
    by_hand = [policy for policy in policies if declared[policy.name] is None]
    if not by_hand:
        return text
    told = ["These policies were hand-written in Python, and are not among the tables below:"]
    told += [f"  {policy.name!r}: {', '.join(parts_said(policy).values())}" for policy in by_hand]
    if not tables:
        told.append("So there are no tables of policies: the usual set would be compared.")
    return "".join(f"# {line}\n" for lines in told for line in lines.splitlines()) + text


def parts_said(policy: Policy) -> dict[str, str]:
    """The parts of a policy in words, the same in every process."""
    return {part: _said(getattr(policy, part)) for part in _PARTS if getattr(policy, part) is not None}


def _declared(policy: Policy) -> PolicyInputs | None:
    """The [[policy]] table that declares it, if every part is of a kind that files know."""
    parts = {part: getattr(policy, part) for part in _PARTS}
    known = PolicyInputs.model_fields
    if not policy.name or any(type(made) not in get_args(known[part].annotation) for part, made in parts.items()):
        return None
    return PolicyInputs(name=policy.name, **parts)


def _said(part: object) -> str:
    """The class of a part with its inputs if they are declared, or else its repr without its place in memory."""
    if not isinstance(part, BaseModel):
        return _ADDRESS.sub("", repr(part))
    # Sets come in any order; here they come in one.
    inputs = {
        key: sorted(found) if isinstance(getattr(part, key), frozenset) else found
        for key, found in part.model_dump(mode="json").items()
    }
    return f"{type(part).__qualname__} {json.dumps(inputs)}"
