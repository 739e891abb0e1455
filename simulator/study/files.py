"""Scenario files in, a study out; every mistake in them is told at once, with its file, line, key and value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tomlkit
from pydantic import BaseModel, Field, ValidationError

from simulator.lab.fixed_plan import UnfitPlan
from simulator.lab.policy import Policy, PolicyInputs, default_policies
from simulator.study.complaints import Problem, ScenarioError, misplaced, models_in, nearest, problems, said
from simulator.study.equal_service import EqualService
from simulator.study.filled import fill_records
from simulator.study.sources import Declared, Setting, declared
from simulator.study.toml_comments import with_comments
from simulator.study.toml_lines import KeyPath
from simulator.world.inputs import Inputs, Positive, Share
from simulator.world.scenario import Misplaced, Scenario

__all__ = ["ScenarioError", "Study", "load_scenario", "load_study"]

_MOST_TOLD = 10
_Model = TypeVar("_Model", bound=BaseModel)


class StudyInputs(Inputs):
    """How a scenario is studied unless the command says otherwise: the [study] table."""

    seed: Annotated[int, Field(ge=0)] = Field(1, description="picks the worlds; the same seed gives the same results")
    replications: Annotated[int, Field(ge=1)] = Field(32, description="worlds drawn; every policy lives in each")
    policies: tuple[str, ...] = Field((), description="names of those compared, baseline first; default: all")
    served_tolerance: Share = Field(
        0.001, description="equal service: share of tokens served, this far from the baseline's at most"
    )
    late_tolerance_days: Positive = Field(
        0.5, description="equal service: less than so many days later than the baseline, mean over worlds [days]"
    )

    @property
    def equal_service(self) -> EqualService:
        """The rule by which policies are comparable."""
        return EqualService(self.served_tolerance, self.late_tolerance_days)


@dataclass(frozen=True, slots=True)
class Study:
    """A scenario, the policies to compare in it (the first is the baseline), and how many worlds to draw."""

    scenario: Scenario
    policies: tuple[Policy, ...]
    seed: int
    replications: int
    equal_service: EqualService
    path: Path = field(compare=False)
    text: str = field(compare=False)
    """The whole study as TOML, every default written out, with the files' comments; it loads to an equal study."""


def load_study(
    path: str | Path,
    overrides: Sequence[str] = (),
    *,
    seed: int | None = None,
    replications: int | None = None,
    policies: Sequence[str] = (),
) -> Study:
    """Read a scenario file, or one that comes with labspend, and what to compare in it.

    Parameters
    ----------
    path
        A TOML file, or the name of a scenario that comes with labspend, such as "known_demand".
    overrides
        Values in place of the file's, each `key=value`: "demand.growth_per_year=4".
    seed, replications, policies
        In place of those in the file's [study] table.

    Raises
    ------
    ScenarioError
        With every mistake found, one a line.
    """
    options = []
    if seed is not None:
        options.append(Setting("--seed", ("study", "seed"), seed))
    if replications is not None:
        options.append(Setting("--replications", ("study", "replications"), replications))
    if policies:
        options.append(Setting("--policy", ("study", "policies"), list(policies)))
    return _study(declared(path, overrides, options), is_compared=True)


def load_scenario(path: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """Read a scenario file, or one that comes with labspend; see `load_study`."""
    return _study(declared(path, overrides), is_compared=False).scenario


def _study(found: Declared, *, is_compared: bool) -> Study:
    """What was declared, if nothing is wrong with it; policies must suit the market only if they are compared."""
    wrong: list[Problem] = []
    scenario = _scenario(found, wrong)
    inputs = _validated(StudyInputs, found.tables.get("study", {}), ("study",), wrong)
    policy_inputs = _policy_inputs(found, wrong)
    known = _policies(policy_inputs, wrong) if not wrong else ()
    chosen = _chosen(inputs.policies, known, wrong) if inputs is not None and not wrong else ()
    if is_compared and scenario is not None and not wrong:
        wrong += [*_unsuited(chosen, scenario, found), *_baseless(chosen, scenario, found)]
    if wrong or scenario is None or inputs is None:
        raise found.error(wrong)
    text = with_comments(study_toml(scenario, inputs, policy_inputs), found.comments)
    return Study(scenario, chosen, inputs.seed, inputs.replications, inputs.equal_service, found.path, text)


def _scenario(found: Declared, wrong: list[Problem]) -> Scenario | None:
    tables = {key: value for key, value in found.tables.items() if key not in ("study", "policy")}
    fill_records(found, wrong)
    scenario = _validated(Scenario, tables, (), wrong, also=("study", "policy", "extends"))
    if scenario is not None:
        try:
            scenario.calendar.date_of(scenario.calendar.n_days)
        except OverflowError:
            wrong.append(Problem(("horizon_days",), "must end before the year 9999", str(scenario.horizon_days)))
    return scenario


def _validated(
    model: type[_Model], tables: object, under: KeyPath, wrong: list[Problem], also: tuple[str, ...] = ()
) -> _Model | None:
    if not isinstance(tables, Mapping):
        wrong.append(Problem(under, "must be a table", said(tables)))
        return None
    try:
        # JSON because pydantic is strict about numbers and text there, yet takes lists for tuples and sets.
        return model.model_validate_json(json.dumps(_with_kinds(model, tables), default=str), strict=True)
    except ValidationError as error:
        wrong += problems(error, model, tables, under, also)
    except OverflowError:
        wrong.append(Problem(under, "has a date so far away that growth until then cannot be computed"))
    return None


def _with_kinds(model: type[BaseModel], tables: Mapping[str, Any]) -> dict[str, Any]:
    """A table that may be of several kinds and does not say which is of the default kind; so inside tables too."""
    filled = dict(tables)
    for name, info in model.model_fields.items():
        table, tag = tables.get(name), info.discriminator
        if isinstance(tag, str) and isinstance(table, Mapping):
            settled = {tag: getattr(info.default, tag), **table}
            named = (kind for kind in models_in(info.annotation) if kind.model_fields[tag].default == settled[tag])
            kind = next(named, None)
            filled[name] = settled if kind is None else _with_kinds(kind, settled)
    return filled


def _policy_inputs(found: Declared, wrong: list[Problem]) -> tuple[PolicyInputs, ...]:
    tables = found.tables.get("policy", [])
    if not isinstance(tables, list):
        wrong.append(Problem(("policy",), "must be a list of tables, written [[policy]]"))
        return ()
    read = [_validated(PolicyInputs, table, ("policy", row), wrong) for row, table in enumerate(tables)]
    return tuple(inputs for inputs in read if inputs is not None)


def _policies(inputs: tuple[PolicyInputs, ...], wrong: list[Problem]) -> tuple[Policy, ...]:
    """The policies a file declares, or the usual ones if it declares none."""
    if not inputs:
        return default_policies()
    made: dict[str, Policy] = {}
    for row, declaration in enumerate(inputs):
        try:
            policy = declaration.policy()
        except Misplaced as error:
            wrong.append(misplaced(error, ("policy", row), declaration.model_dump()))
            continue
        except ValueError as error:
            wrong.append(Problem(("policy", row), str(error)))
            continue
        if policy.name in made:
            wrong.append(Problem(("policy", row, "name"), "is the name of an earlier policy", repr(policy.name)))
        made[policy.name] = policy
    return tuple(made.values())


def _chosen(names: tuple[str, ...], known: tuple[Policy, ...], wrong: list[Problem]) -> tuple[Policy, ...]:
    """The named policies in the order named; those of the usual set may always be named."""
    if not names:
        return known
    by_name = {policy.name: policy for policy in (*default_policies(), *known)}
    listed = [policy.name for policy in known]
    listed += [name for name in by_name if name not in listed]
    for row, name in enumerate(names):
        key: KeyPath = ("study", "policies", row)
        if name not in by_name:
            rule = f"no policy has this name; there are {', '.join(listed)}"
            wrong.append(Problem(key, rule, repr(name), nearest(name, listed)))
        elif name in names[:row]:
            wrong.append(Problem(key, "is named twice", repr(name)))
    return tuple(by_name[name] for name in names if name in by_name)


def _unsuited(policies: tuple[Policy, ...], scenario: Scenario, found: Declared) -> list[Problem]:
    """What the policies to compare need of the scenario and do not find, each need once."""
    needs: dict[str, tuple[Misplaced, list[str]]] = {}
    plans: list[Problem] = []
    for policy in policies:
        checks = [getattr(part, "check", None) for part in (policy.procurement, policy.replan)]
        try:
            for check in checks:
                if check is not None:
                    check(scenario)
        except UnfitPlan as error:
            plans += _unfit(policy, error, found)
        except Misplaced as error:
            needs.setdefault(str(error), (error, []))[1].append(repr(policy.name))
    hint = "or name the policies to compare in [study] policies or with --policy"
    return plans + [
        replace(problem, rule=f"{problem.rule}, for {', '.join(names)}", hint=hint)
        for error, names in needs.values()
        for problem in (misplaced(error, (), found.tables),)
    ]


def _unfit(policy: Policy, error: UnfitPlan, found: Declared) -> list[Problem]:
    """The first orders of a plan that the scenario does not allow."""
    row = next(row for row, table in enumerate(found.tables["policy"]) if table["name"] == policy.name)
    plan = found.tables["policy"][row]["procurement"]["order"]
    told = [
        misplaced(misfit, ("policy", row, "procurement", "order", number), plan[number])
        for number, misfit in error.found[:_MOST_TOLD]
    ]
    if len(error.found) > _MOST_TOLD:
        told[-1] = replace(told[-1], hint=f"and {len(error.found) - _MOST_TOLD:,} more orders cannot be placed")
    return told


def _baseless(policies: tuple[Policy, ...], scenario: Scenario, found: Declared) -> list[Problem]:
    """Recipes of the policies to compare that need a model, a run or a table which the scenario does not have."""
    wrong = []
    rows = {table["name"]: row for row, table in enumerate(found.tables.get("policy", ()))}
    for policy in policies:
        check = getattr(policy.recipe, "check", None)
        try:
            if check is not None:
                check(scenario)
        except Misplaced as error:
            wrong.append(misplaced(error, ("policy", rows[policy.name]), found.tables))
    return wrong


def study_toml(scenario: Scenario, study: StudyInputs, policies: tuple[PolicyInputs, ...]) -> str:
    """The whole study as TOML, every default written out; it loads to an equal study."""
    tables = scenario.model_dump(exclude_none=True) | {"study": study.model_dump()}
    if policies:
        tables["policy"] = [inputs.model_dump(exclude_none=True) for inputs in policies]
    return tomlkit.dumps(_in_toml_order(tables))


def _in_toml_order(value: Any) -> Any:
    """Plain values first, then tables, then lists of tables, as TOML must have them; sets sorted."""
    if isinstance(value, Mapping):
        ordered = sorted(value.items(), key=lambda item: _holds_tables(item[1]))
        return {key: _in_toml_order(inner) for key, inner in ordered}
    if isinstance(value, frozenset):
        return sorted(map(_in_toml_order, value))
    if isinstance(value, list | tuple):
        return [_in_toml_order(inner) for inner in value]
    return value.value if isinstance(value, Enum) else value


def _holds_tables(value: object) -> int:
    if isinstance(value, Mapping):
        return 1
    return 2 if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping) else 0
