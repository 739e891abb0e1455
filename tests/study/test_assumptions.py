from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from small_study import BUY, RENT, growing_lab

from simulator.lab.policy import default_policies
from simulator.study.assumptions import Assumption, assumptions
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.files import load_study
from simulator.study.restated import study_text_of


def resolved_keys(table: Any, under: str = "") -> Iterator[str]:
    """Every key of a TOML file that holds a value and no table."""
    if isinstance(table, dict):
        for key, value in table.items():
            yield from resolved_keys(value, f"{under}.{key}" if under else key)
    elif isinstance(table, list) and table and isinstance(table[0], dict):
        for number, entry in enumerate(table):
            yield from resolved_keys(entry, f"{under}.{number}")
    else:
        yield under


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    scenario = load_study("frontier_lab", ["horizon_days=2"]).scenario
    return compare(scenario, default_policies(), replications=1)


@pytest.fixture(scope="module")
def rows(comparison: Comparison) -> dict[str, Assumption]:
    found = list(assumptions(comparison))
    by_key = {row.key: row for row in found}
    assert len(by_key) == len(found)
    return by_key


def test_every_key_of_the_resolved_scenario_is_told(comparison: Comparison, rows: dict[str, Assumption]) -> None:
    text = study_text_of(comparison)
    keys = set(resolved_keys(tomllib.loads(text))) - {"study.policies"}
    for number, policy in enumerate(comparison.policies):
        own = f"policy.{number}."
        keys = {key.replace(own, f"policy.{policy.name}.") for key in keys if key != f"{own}name"}
    assert set(rows) == keys


def test_values_are_numbers_dates_or_texts(rows: dict[str, Assumption]) -> None:
    assert rows["start"].value == date(2026, 6, 1)
    assert rows["demand.regime.0.growth_per_year"].value == 5.0
    assert rows["quantize_to"].value == "fp8, int8, int4"
    assert rows["market.event"].value == "none"
    assert rows["policy.all-buy.recipe.levers"].value == "overtrain, quantize, test_time"


def test_units_are_those_declared_or_of_the_name(rows: dict[str, Assumption]) -> None:
    assert rows["market.quote.1.on_demand_usd_per_gpu_hour"].unit == "USD/GPU-hour"
    assert rows["market.quote.1.spot_usd_per_gpu_hour"].unit == "USD per GPU hour"
    assert rows["market.lead_days"].unit == "days"
    assert rows["market.quote.0.accelerator"].unit == "", "[[accelerator]] is a table"
    assert rows["demand.prompt_share"].unit == ""


def test_sources_are_told_where_they_are_known(rows: dict[str, Assumption]) -> None:
    assert rows["market.quote.1.purchase_usd_per_gpu"].source.startswith("RunPod list 2026-06; Cottier")
    assert rows["market.electricity_usd_per_kwh"].source == "EIA, US industrial average 2025"
    assert rows["market.electricity_noise_sigma"].source == "labspend's usual value", "the source is of the price"
    assert rows["demand.growth_per_year"].source == ""


def test_a_long_list_is_told_by_its_ends() -> None:
    lab = growing_lab(20)
    trace = {"tokens": [float(n) for n in range(1, 301)], "first_day": lab.start}
    demand = lab.demand.model_dump() | {"trace": trace}
    scenario = type(lab).model_validate(lab.model_dump() | {"demand": demand})
    found = {row.key: row for row in assumptions(compare(scenario, (RENT, BUY), replications=1))}
    assert found["demand.trace.tokens"].value == "300 values from 1 to 300; see scenario.toml"
