"""What is on the what-if page as a study: a scenario file, what is set otherwise, and what is asked of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from simulator.lab.policy import default_policies
from simulator.study.files import ScenarioError, Study, load_study
from simulator.study.sources import find_scenario, packaged_scenarios

_WORLDS = (4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A question as the page holds it."""

    scenario: str
    """A file, or the name of one that comes with labspend."""
    settings: tuple[str, ...]
    """As `--set` takes them: key=value, the later ones having the last word."""
    policies: tuple[str, ...]
    """The baseline first."""
    replications: int
    seed: int

    def study(self) -> Study:
        """The study, checked as `labspend check` does.

        Raises
        ------
        ScenarioError
            With every mistake found, one a line.
        """
        if not self.policies:
            raise ScenarioError("policies: choose at least one; the first is the baseline")
        return load_study(
            self.scenario, self.settings, seed=self.seed, replications=self.replications, policies=self.policies
        )


def written_settings(text: str) -> tuple[str, ...]:
    """Settings written one a line; empty lines and comments are none.

    Examples
    --------
    >>> written_settings("demand.level_sigma = 0.3\\n\\n# horizon_days = 30")
    ('demand.level_sigma = 0.3',)
    """
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def policies_of(study: Study) -> tuple[str, ...]:
    """Names that may be chosen: those its file declares, then those of the usual set."""
    declared = [table["name"] for table in tomllib.loads(study.text).get("policy", ())]
    usual = [policy.name for policy in default_policies()]
    return tuple(dict.fromkeys([*declared, *usual]))


def scenarios_beside(given: str) -> tuple[str, ...]:
    """The scenario given, and after it those that come with labspend."""
    first = find_scenario(given).resolve()
    return (given, *(name for name, path in packaged_scenarios().items() if path.resolve() != first))


def worlds_offered(declared: int) -> tuple[int, ...]:
    """Numbers of worlds to choose from; the declared one is among them."""
    return tuple(sorted({*_WORLDS, declared}))
