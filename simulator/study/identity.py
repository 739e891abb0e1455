"""What makes two runs one study: the same scenario, policies, seed, worlds and versions make the same bytes."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from simulator import __version__
from simulator.lab.policy import Policy
from simulator.study.equal_service import EqualService
from simulator.study.files import StudyInputs, study_toml
from simulator.study.restated import parts_said
from simulator.world.scenario import Scenario

_LIBRARIES = ("numpy", "simpy", "pandas", "pyarrow")
_MOST_BYTES = 10_000_000


class NotThisStudy(Exception):
    """A folder holds something else; the message says what differs."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of so many parts of the replications, each in a row; 1 of 1 is all."""

    number: int = 1
    of: int = 1

    def replications(self, of_all: int) -> range:
        """Those that are its own."""
        return range(of_all * (self.number - 1) // self.of, of_all * self.number // self.of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE = Shard()
"""All replications in one piece."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A study in a few words; two runs with the same are the same."""

    seed: int
    replications: int
    policies: tuple[str, ...]
    """Name and parts of each. Of one hand-written in Python the code is not known."""
    scenario: str
    """SHA-256 of the scenario with every default written out."""
    paths: bool
    """Whether every path is kept."""
    shard: str
    equal_service: tuple[str, ...]
    """What counts as equal service."""
    until: str
    """How many worlds are drawn, where differences decide it; the number of replications is then that asked for."""
    versions: tuple[str, ...]

    def difference(self, other: Identity) -> str:
        """What another study does differently, in words; nothing if they are the same."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine != theirs:
                return _WORDS[field.name].format(*_told(mine, theirs))
        return ""


_WORDS = {
    "seed": "it was made with seed {}, this is seed {}",
    "replications": "it is of {} replications, this of {}",
    "policies": "its policies are others: {}, not {}",
    "scenario": "its scenario is another one ({:.8} ..., not {:.8} ...)",
    "paths": "only one of the two keeps every path (--paths)",
    "shard": "it is shard {}, this is {}",
    "equal_service": "its rule of equal service is another one: {}, not {}",
    "until": "it draws {}, this {}",
    "versions": "it was made by {}, this is {}",
}


def _told(mine: Any, theirs: Any) -> tuple[str, str]:
    """Two values that differ, as short as shows it."""
    if isinstance(mine, tuple):
        ours = [item for item in mine if item not in theirs]
        others = [item for item in theirs if item not in mine]
        return ", ".join(ours) or "in another order", ", ".join(others) or "in this order"
    return str(mine), str(theirs)


def identity_of(
    scenario: Scenario,
    policies: tuple[Policy, ...],
    seed: int,
    replications: int,
    shard: Shard,
    keeps_paths: bool,
    equal_service: EqualService,
    until: str,
) -> Identity:
    """The identity of a run."""
    text = study_toml(scenario, StudyInputs(), ())
    return Identity(
        seed,
        replications,
        tuple(" ".join([policy.name, *parts_said(policy).values()]) for policy in policies),
        sha256(text.encode()).hexdigest(),
        keeps_paths,
        str(shard),
        tuple(f"{name} {number!r}" for name, number in asdict(equal_service).items()),
        until,
        tuple(f"{name} {number}" for name, number in versions().items()),
    )


def versions() -> dict[str, str]:
    """Of everything that may move a byte."""
    return {
        "labspend": __version__,
        "python": platform.python_version(),
        **{library: version(library) for library in _LIBRARIES},
    }


def identity_text(identity: Identity) -> str:
    """To write down."""
    return json.dumps(asdict(identity), indent=2, ensure_ascii=False) + "\n"


def read_identity(path: Path) -> Identity:
    """Read back what `identity_text` made.

    Raises
    ------
    NotThisStudy
        If the file is not one.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        return TypeAdapter(Identity).validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        raise NotThisStudy(f"{path.parent}: holds no study that could go on (no {path.name})") from None
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        raise NotThisStudy(f"{path}: is damaged: {f'{where}: ' if where else ''}{wrong['msg']}") from None
    except ValueError as error:
        raise NotThisStudy(f"{path}: cannot be read: {error}") from None
