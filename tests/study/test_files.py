"""Scenario files: what is read, and what is said of every mistake."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from conftest import SMALL_SCENARIO
from pydantic import BaseModel

from simulator.lab.altered_forecast import Biased, Certain, Quantile
from simulator.lab.forecast import Forecast, PerfectForesight, Trend
from simulator.lab.policy import PolicyInputs, default_policies
from simulator.lab.seasonal import Seasonal
from simulator.lab.smoothing import DampedTrend, Theta
from simulator.study.complaints import models_in
from simulator.study.files import ScenarioError, StudyInputs, load_scenario, load_study
from simulator.study.meaning import meaning
from simulator.study.sources import packaged_scenarios
from simulator.study.toml_lines import key_lines
from simulator.world.scenario import ByFlop, Scenario

OURS = """\
[[model]]
name = "Ours"
n_parameters = 12e9
n_training_tokens = 6e12
release = 2026-03-01
source = "a test"
"""
STARTER = Path(__file__).resolve().parents[2] / "simulator" / "study" / "starter.toml"


def complaint(path: Path | str, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_study(path, overrides)
    return str(caught.value)


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str], Path]:
    """The small scenario with one piece of text replaced."""

    def write(old: str, new: str) -> Path:
        assert old in SMALL_SCENARIO
        path = tmp_path / "small.toml"
        path.write_text(SMALL_SCENARIO.replace(old, new), encoding="utf-8")
        return path

    return write


# --- what is read ---------------------------------------------------------------------------------------


def test_a_study_holds_scenario_policies_and_numbers(small_toml: Path) -> None:
    study = load_study(small_toml)
    assert study.scenario.title == "Small lab"
    assert study.scenario.start == date(2026, 6, 1)
    assert study.scenario.demand.regime[0].growth_per_year == 2.0
    assert [policy.name for policy in study.policies] == ["plain", "trained longer"]
    assert (study.seed, study.replications, study.path) == (7, 2, small_toml)
    assert load_scenario(small_toml) == study.scenario


def test_without_policies_and_study_the_usual_ones_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text(SMALL_SCENARIO.split("[study]")[0], encoding="utf-8")
    assert load_scenario(path).market.commitment == (), "a scenario alone need not suit any policy"
    study = load_study(path, ["market.commitment=[{term_days=365, discount=0.2}]"])
    assert study.policies == default_policies()
    assert (study.seed, study.replications) == (1, 32)


def test_the_resolved_text_loads_to_an_equal_study(small_toml: Path, tmp_path: Path) -> None:
    study = load_study(small_toml, ["serving.law=flop", "policy.1.recipe.levers=['test_time', 'quantize']"])
    again = tmp_path / "elsewhere" / "resolved.toml"
    again.parent.mkdir()
    again.write_text(study.text, encoding="utf-8")
    assert load_study(again) == study
    assert load_study(again).text == study.text


@pytest.mark.parametrize("name", ["frontier_lab", "known_demand"])
def test_packaged_scenarios_load_by_name_from_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = load_study(name)
    assert load_study(f"scenarios/{name}.toml") == study
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(study.text, encoding="utf-8")
    assert load_study(resolved) == study


def test_a_file_on_disk_comes_before_a_packaged_one(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small_toml.rename(tmp_path / "known_demand.toml")
    assert load_scenario("known_demand").title == "Small lab"


def test_options_come_before_the_file(small_toml: Path) -> None:
    study = load_study(small_toml, seed=3, replications=5, policies=["all-buy", "plain"])
    assert (study.seed, study.replications) == (3, 5)
    assert [policy.name for policy in study.policies] == ["all-buy", "plain"]


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("demand.growth_per_year=4", lambda s: s.demand.growth_per_year == 4.0),
        ("demand.regime.0.growth_per_year = 1.5", lambda s: s.demand.regime[0].growth_per_year == 1.5),
        ("start=2026-05-01", lambda s: s.start == date(2026, 5, 1)),
        ("title=Another lab", lambda s: s.title == "Another lab"),
        ("title='5'", lambda s: s.title == "5"),
        ('title=a"b=c', lambda s: s.title == 'a"b=c'),
        ("title=1\nhorizon_days=3", lambda s: s.horizon_days == 200),
        ("demand.shocks.per_year=2", lambda s: s.demand.shocks.per_year == 2.0),
        ("serving.spare_replicas=0", lambda s: s.serving.law == "roofline" and s.serving.spare_replicas == 0),
        ("serving={law='flop', utilization=0.5}", lambda s: isinstance(s.serving, ByFlop)),
        ("horizon_days=25_000", lambda s: s.horizon_days == 25000),
    ],
)
def test_one_value_can_be_overridden(small_toml: Path, override: str, read: Callable[[Scenario], bool]) -> None:
    assert read(load_scenario(small_toml, [override]))


def test_extends_merges_tables_and_replaces_lists(small_toml: Path, tmp_path: Path) -> None:
    child = tmp_path / "sub" / "child.toml"
    child.parent.mkdir()
    child.write_text(
        'extends = "../small.toml"\ntitle = "Child"\n[demand]\nnoise_sigma = 0.2\nregime = []\n', encoding="utf-8"
    )
    grandchild = tmp_path / "grandchild.toml"
    grandchild.write_text('extends = "sub/child.toml"\n[study]\nseed = 9\n', encoding="utf-8")
    study = load_study(grandchild)
    assert study.scenario.title == "Child"
    assert study.scenario.demand.noise_sigma == 0.2
    assert study.scenario.demand.growth_per_year == 3.0
    assert study.scenario.demand.regime == ()
    assert (study.seed, study.replications) == (9, 2)


def test_a_packaged_scenario_can_be_extended(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "known_demand.toml"\ntitle = "Mine"\n', encoding="utf-8")
    assert load_scenario(path).title == "Mine"
    assert load_scenario(path).demand == load_scenario("known_demand").demand


def test_lines_of_every_kind_of_key_are_found() -> None:
    text = '\n'.join([  # noqa: FLY002  # a line number beside each line
        'a.b = 1',              # 1
        '[t."x y"]',            # 2
        'k = {m = 1, n = [',    # 3
        ' {q = 1},',            # 4
        ' {q = 2}]}',           # 5
        '[[l]]',                # 6
        '[[l]]',                # 7
        '[l.s]',                # 8
        'z = 2',                # 9
        '[[l.inner]]',          # 10
        'z = 3',                # 11
    ])  # fmt: skip
    lines = key_lines(text)
    assert lines["a",] == lines["a", "b"] == 1
    assert lines["t", "x y"] == 2
    assert lines["t", "x y", "k", "m"] == 3
    assert lines["t", "x y", "k", "n", 1, "q"] == 5
    assert lines["l",] == 6
    assert lines["l", 1] == 7
    assert lines["l", 1, "s", "z"] == 9
    assert lines["l", 1, "inner", 0, "z"] == 11


# --- the starter ----------------------------------------------------------------------------------------


def test_the_starter_is_valid_and_its_defaults_are_the_true_ones(tmp_path: Path) -> None:
    plain = load_study(STARTER)
    shown = re.compile(r"^# (\w+ = .*)$", re.MULTILINE)
    settled = [
        line
        for line in shown.findall(STARTER.read_text(encoding="utf-8").split("[demand]")[0])
        if not line.startswith("extends")
    ]
    path = tmp_path / "settled.toml"
    study = [line for line in settled if "_tolerance" in line]
    top = [line for line in settled if not line.startswith("policies") and line not in study]
    starter = STARTER.read_text(encoding="utf-8").replace("[study]\n", "\n".join(["[study]", *study, ""]), 1)
    assert starter.count("\nserved_tolerance") == 1
    path.write_text("\n".join(top) + "\n" + starter, encoding="utf-8")
    assert (len(top), len(study)) == (6, 2)
    assert load_study(path) == plain


def test_the_starter_shows_every_key() -> None:
    text = STARTER.read_text(encoding="utf-8")

    def keys(model: type[BaseModel]) -> set[str]:
        inner = (keys(m) for field in model.model_fields.values() for m in models_in(field.annotation))
        return set(model.model_fields).union(*inner)

    for key in keys(Scenario) | keys(StudyInputs):
        assert re.search(rf"^#? ?{key} = |^#? ?\[\[?([a-z_]+\.)*{key}\]", text, re.MULTILINE), key


@pytest.mark.parametrize("part", ["procurement", "forecast"])
def test_the_starter_shows_every_way_to_get_gpus_and_to_believe_with_its_defaults(tmp_path: Path, part: str) -> None:
    text = STARTER.read_text(encoding="utf-8")
    (tmp_path / "starter.toml").write_text(text, encoding="utf-8")
    plan = "date,action,accelerator,gpus\n2026-07-01,buy,H100,8\n"
    (tmp_path / "plan.csv").write_text(plan, encoding="utf-8")
    tables = [line[line.index("{") : line.rindex("}") + 1] for line in text.splitlines() if '{ kind = "' in line]
    shown = {re.findall(r'"(\w+)"', table)[0]: table for table in tables}
    for model in models_in(PolicyInputs.model_fields[part].annotation):
        kind, path = model.model_fields["kind"].default, tmp_path / "shown.toml"
        table = shown[kind].replace(", order = []", "")  # which the file fills in
        policy = f'[[policy]]\nname = "p"\n{part} = {table}\n'
        path.write_text(f'extends = "starter.toml"\n{policy}', encoding="utf-8")
        read = getattr(load_study(path).policies[0], part)
        for name, field in model.model_fields.items():
            where = text if name in ("review_days", "least_gpus") else shown[kind]  # told once for all rules
            assert re.search(rf"\b{name} = ", where), f"{kind} does not show {name}"
            is_example = field.is_required() or field.default is None or name in ("base", "csv", "order")
            assert is_example or getattr(read, name) == field.default, f"{kind}: {name}"


# --- a forecast of a forecast ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('{ kind = "biased", factor = 10, base = { kind = "perfect_foresight" } }',
         Biased(factor=10, base=PerfectForesight())),
        ('{ kind = "certain", base = { kind = "perfect_foresight", prices = true } }',
         Certain(base=PerfectForesight(prices=True))),
        ('{ kind = "biased", factor = 2 }', Biased(factor=2, base=Trend())),
        ('{ kind = "biased", factor = 2, base = { carry = 2.0 } }', Biased(factor=2, base=Trend(carry=2))),
        ('{ kind = "seasonal", base = { level_weight = 0.3 } }', Seasonal(base=Theta(level_weight=0.3))),
        (('{ kind = "quantile", at = 0.9, base = { kind = "biased", factor = 2, base = { kind = "seasonal", '
         'base = { kind = "damped_trend", damping = 0.9 } } } }'),
         Quantile(at=0.9, base=Biased(factor=2, base=Seasonal(base=DampedTrend(damping=0.9))))),
    ],
)  # fmt: skip
def test_a_forecast_of_a_forecast_is_read_and_written_back(
    changed: Callable[[str, str], Path], tmp_path: Path, written: str, meant: Forecast
) -> None:
    study = load_study(changed('forecast = { kind = "expected" }', f"forecast = {written}"))
    assert study.policies[1].forecast == meant
    again = tmp_path / "again.toml"
    again.write_text(study.text, encoding="utf-8")
    assert load_study(again) == study


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{ kind = "biased", factor = 2, base = { kind = "tend" } }',
         ("forecast.base.kind: must be one of 'last_value', 'trend', 'damped_trend', 'theta', 'expected', "
         "'perfect_foresight', 'seasonal' (got 'tend'); did you mean 'trend'?")),
        ('{ kind = "biased", factor = 2, base = { kind = "certain" } }', "forecast.base.kind: must be one of"),
        ('{ kind = "seasonal", base = { kind = "expected" } }', "'theta' (got 'expected')"),
        ('{ kind = "biased", base = { kind = "trend" } }', "forecast.factor: is missing: mean told / mean of the base"),
        ('{ kind = "quantile", at = 1.5 }', "forecast.at: must be less than 1 (got 1.5)"),
        ('{ kind = "biased", factor = 2, base = "trend" }', "forecast.base: must be a table (got 'trend')"),
        ('{ kind = "quantile", at = 0.9, base = { kind = "biased", factor = 2, base = { kind = "theta", cary = 2 } } }',
         "forecast.base.base.cary: is not a known key of 'theta' (got 2); did you mean 'carry'?"),
        ('{ kind = "perfect_foresight", prices = "yes" }', "forecast.prices: must be true or false (got 'yes')"),
        ('{ kind = "biased", factor = -2 }', "forecast.factor: must be greater than 0 (got -2)"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_forecast_of_a_forecast_is_told_at_its_key(
    changed: Callable[[str, str], Path], written: str, said: str
) -> None:
    told = complaint(changed('forecast = { kind = "expected" }', f"forecast = {written}"))
    assert len(told.splitlines()) == 1, told
    assert ":41: policy.1.forecast." in told
    assert said in told


# --- what is wrong, and where ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("growth_per_year = 3", "grwoth_per_year = 3", 7,
         "demand.grwoth_per_year: is not a known key (got 3); did you mean 'growth_per_year'?"),
        ("horizon_days = 200", "growth_per_year = 3\nhorizon_days = 200", 3,
         "growth_per_year: is not a known key (got 3); did you mean 'demand.growth_per_year'?"),
        ("[roadmap]", "[raodmap]", 20, "raodmap: is not a known key; did you mean 'roadmap'?"),
        ("growth_per_year = 3", 'growth_per_year = "3"', 7,
         "demand.growth_per_year: must be a number, written without quotes (got '3')"),
        ("growth_per_year = 3", "growth_per_year = true", 7,
         "demand.growth_per_year: must be a number, written without quotes (got true)"),
        ("horizon_days = 200", "horizon_days = 200.5", 3, "horizon_days: must be a whole number"),
        ("start = 2026-06-01", "start = 2026", 2, "start: must be a date, written like 2026-06-01 (got 2026)"),
        ("start = 2026-06-01\n", "", 1, "start: is missing: day 0"),
        ("noise_sigma = 0.05", "noise_sigma = nan", 8, "demand.noise_sigma: must be a finite number (got nan)"),
        ("noise_sigma = 0.05", "noise_has = 'mean one'", 8,
         "demand.noise_has: must be 'mean_one' or 'median_one' (got 'mean one'); did you mean 'mean_one'?"),
        ("= 2.89", "= -2.89", 16,
         "market.quote.0.on_demand_usd_per_gpu_hour: must be greater than 0 (got -2.89)"),
        ('accelerator = "H100"', 'accelerator = "H1000"', 15,
         ("market.quote.0.accelerator: is not known; there are A100, A100 40GB, B200, B300, GB200, GB300, H100, H200, "
          "MI300X, MI325X, MI355X, TPU v4, TPU v5e, TPU v5p, TPU v6e, V100 16GB, V100 32GB "
          "(got 'H1000'); did you mean 'H100'?")),
        ("[[market.quote]]", "[market.quote]", 14,
         "market.quote: must be a list of tables, written [[market.quote]]"),
        ("due = 2026-09-15", "due = 2026-05-15", 25,
         "roadmap.release.0.due: must leave 90 training days after the start: 2026-08-30 or later (got 2026-05-15)"),
        ("n_parameters = 10e9", "n_parameters = 10e9\nprecision = 'int16'", 29,
         "opening_model.precision: must be 'bf16', 'fp8', 'int8' or 'int4' (got 'int16'); did you mean 'int8'?"),
        ("[study]", "[serving]\nlaw = 'rooflin'\n[study]", 32,
         "serving.law: must be one of 'roofline', 'flop' (got 'rooflin'); did you mean 'roofline'?"),
        ("[study]", "[serving]\nlaw = 'roofline'\nutilization = 0.3\n[study]", 33,
         "serving.utilization: is not a known key of 'roofline' (got 0.3)"),
        ("seed = 7", "sead = 7", 32, "study.sead: is not a known key (got 7); did you mean 'seed'?"),
        ("replications = 2", "replications = 0", 33, "study.replications: must be greater than or equal to 1 (got 0)"),
        ('"overtrain"', '"overtran"', 40,
         ("policy.1.recipe.levers.0: must be 'overtrain', 'quantize', 'test_time', 'fine_tune', 'data_mixing', "
          "'distil', 'prompting' or 'routing' (got 'overtran'); did you mean 'overtrain'?")),
        ('{ levers = ["overtrain"] }', '{ kind = "fine_tune", base = "Lama 3.1 8B" }', 40,
         "policy.1.recipe.base: is no known model; did you mean 'Llama 3.1 8B'? (got 'Lama 3.1 8B')"),
        ('{ levers = ["overtrain"] }', '{ kind = "fine_tune", base = "Chinchilla" }', 40,
         "policy.1.recipe.base: must have open weights (got 'Chinchilla')"),
        ("[study]", OURS.replace("12e9", "12") + "[study]", 33,
         "model.0.n_parameters: must be greater than or equal to 1000000 (got 12)"),
        ("[study]", 2 * OURS + "[study]", 38,
         "model.1.name: must differ from the other models' names (got 'Ours')"),
        ("[study]", OURS + "n_active_parameters = 13e9\n[study]", 37,
         "model.0.n_active_parameters: must be at most n_parameters, 1.2e+10 (got 1.3e+10)"),
        ('"expected"', '"expectd"', 41, "did you mean 'expected'?"),
        ('name = "trained longer"', 'name = "plain"', 39,
         "policy.1.name: is the name of an earlier policy (got 'plain')"),
        ("replications = 2", "policies = ['plane']", 33, "(got 'plane'); did you mean 'plain'?"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(
    changed: Callable[[str, str], Path], old: str, new: str, line: int, said: str
) -> None:
    path = changed(old, new)
    told = [each for each in complaint(path).splitlines() if said in each]
    assert len(told) == 1, complaint(path)
    assert told[0].startswith(f"{path}:{line}: "), told[0]


def test_all_mistakes_are_told_at_once_in_order_of_line(changed: Callable[[str, str], Path]) -> None:
    path = changed("noise_sigma = 0.05", "noise_sigma = -1\nnoise = 2")
    text = path.read_text(encoding="utf-8").replace("seed = 7", "seed = -7").replace("n_parameters", "n_params")
    path.write_text(text, encoding="utf-8")
    said = complaint(path, "market.lead_days=-3").splitlines()
    starts = [each.partition(": ")[0] for each in said]
    assert starts == ["--set", f"{path}:8", f"{path}:9", f"{path}:28", f"{path}:29", f"{path}:33"]


def test_a_mistake_in_a_base_names_the_base(small_toml: Path, tmp_path: Path) -> None:
    child = tmp_path / "child.toml"
    child.write_text('extends = "small.toml"\n[demand]\nnoise_sgma = 1\n', encoding="utf-8")
    small_toml.write_text(SMALL_SCENARIO.replace("2.89", "-2.89"), encoding="utf-8")
    said = complaint(child).splitlines()
    assert said[0].startswith(f"{child}:3: demand.noise_sgma: is not a known key (got 1)")
    assert said[1].startswith(f"{small_toml}:16: market.quote.0.on_demand_usd_per_gpu_hour: must be greater")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("demand.growht_per_year=4",
         "--set: demand.growht_per_year: is not a known key (got 4); did you mean 'growth_per_year'?"),
        ("dmand.growth_per_year=4", "--set: dmand: is not a known key; did you mean 'demand'?"),
        ("market.quote.0.accelerator=H10", "--set: market.quote.0.accelerator: is not known"),
        ("market.quote.1.accelerator=H100", "--set: market.quote.1.accelerator: market.quote is a list of 1"),
        ("market.quote.accelerator=H100", "(got accelerator)"),
        ("title.x=1", "--set: title.x: title is 'Small lab', not a table"),
        ("title", "--set title: must be written key=value"),
        ("a b=1", "--set a b=1: 'a b' is not a key"),
        ("demand=1", "--set: demand: must be a table (got 1)"),
        ("policy=1", "--set: policy: must be a list of tables, written [[policy]]"),
        ("study=1", "--set: study: must be a table (got 1)"),
        ("horizon_days=10_000_000", "--set: horizon_days: must be less than or equal to 36525 (got 10000000)"),
        ("policy.1.forecast.kind=trendy", "policy.1.forecast.kind: must be one of"),
    ],
)  # fmt: skip
def test_a_mistake_in_an_override_names_the_option(small_toml: Path, override: str, said: str) -> None:
    assert said in complaint(small_toml, override)


def test_an_unknown_policy_names_the_option_and_the_nearest(small_toml: Path) -> None:
    with pytest.raises(ScenarioError, match=r"--policy: .*\(got 'plane'\); did you mean 'plain'\?"):
        load_study(small_toml, policies=["plane"])


def test_an_option_is_named_without_the_key_it_stands_for(small_toml: Path) -> None:
    with pytest.raises(ScenarioError, match=r"^--policy: no policy has this name; there are plain, "):
        load_study(small_toml, policies=["plane"])
    with pytest.raises(ScenarioError, match=r"^--policy: is named twice \(got 'plain'\)$"):
        load_study(small_toml, policies=["plain", "plain"])


def test_a_policy_must_suit_the_market_if_it_is_compared(changed: Callable[[str, str], Path]) -> None:
    offer = "[[market.commitment]]\nterm_days = 1000\ndiscount = 0.2\n"
    table = '[[policy]]\nname = "{}"\nprocurement = {{ kind = "reserve_base" }}\n'
    path = changed("[roadmap]", f"{offer}\n[roadmap]")
    path.write_text(path.read_text() + table.format("leases") + table.format("leases too"), encoding="utf-8")
    (told,) = complaint(path).splitlines()
    assert told.startswith(f"{path}:20: market.commitment: must offer ")
    assert ", for 'leases', 'leases too'" in told
    assert told.endswith("; or name the policies to compare in [study] policies or with --policy")
    assert [policy.name for policy in load_study(path, policies=["plain"]).policies] == ["plain"]
    assert len(load_study(path, ["study.policies=['plain', 'trained longer']"]).policies) == 2


# --- what it means --------------------------------------------------------------------------------------


def test_what_a_trace_and_rental_shocks_mean_is_said(tmp_path: Path, small_toml: Path) -> None:
    rows = ["date,total_tokens", "2026-05-30,1e10", "2026-05-31,2e10", "2026-06-01,3e10"]
    (tmp_path / "tokens.csv").write_text("\n".join(rows), encoding="utf-8")
    plain = meaning(load_study(small_toml))
    assert "as quoted for the first day" in plain
    assert "Recorded" not in plain
    assert "Rental shocks" not in plain
    overrides = ["demand.trace={csv='" + str(tmp_path / "tokens.csv") + "'}", "market.rental_shocks.per_year=1"]
    said = meaning(load_study(small_toml, overrides))
    assert "3 days, 2026-05-30 to 2026-06-01, the same in every world." in said
    assert "After it, growth goes on from the level of its last week" in said
    assert "they raise mean rents, in the long run by about 15%." in said


def test_what_can_wait_is_said(small_toml: Path) -> None:
    assert "can wait" not in meaning(load_study(small_toml))
    assert "30% can wait, to be served within the day." in meaning(load_study(small_toml, ["demand.batch.share=0.3"]))
    overrides = ["demand.batch.share=0.3", "demand.batch.patience_days=7"]
    assert "30% can wait, to be served within 7 days." in meaning(load_study(small_toml, overrides))


def test_the_starter_promises_releases_to_the_end() -> None:
    scenario = load_scenario(STARTER)
    assert max(release.due_day for release in scenario.releases) >= scenario.horizon_days


# --- files that are not scenarios -----------------------------------------------------------------------


def test_syntax_errors_have_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('a = 1\nb = "open\n', encoding="utf-8")
    assert complaint(path).startswith(f"{path}:2:10: is not valid TOML: ")
    path.write_text("a = 1\na = 2\n", encoding="utf-8")
    assert complaint(path).startswith(f"{path}:2:6: is not valid TOML: Cannot overwrite")
    path.write_text("a = [", encoding="utf-8")
    assert complaint(path).startswith(f"{path}:1:")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"a = 1\nb = '\xff'\n", ":2: is not UTF-8 text"),
        (b"\x00\x01\x02", "is not valid TOML"),
        (b"a = " + b"[" * 5000, "is not valid TOML"),
        (b"a = " + b"9" * 5000, "is not valid TOML"),
        (b"#" * 10_000_001, "is larger than 10 MB"),
        (b"", "title: is missing"),
    ],
)
def test_strange_bytes_are_told_clearly(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(raw)
    assert said in complaint(path)


def test_line_ends_and_byte_order_marks_of_other_systems_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL_SCENARIO.replace("\n", "\r\n").encode())
    assert load_scenario(path).title == "Small lab"


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    assert "is a folder" in complaint(tmp_path)
    assert "no_such_thing_at_all: there is no such file. Scenarios that come with" in complaint("no_such_thing_at_all")
    for empty in ("", " "):
        assert complaint(empty).startswith(f"{empty!r}: must be the name of a scenario. Scenarios that come with ")
    said = complaint("knwn_demand")
    assert "there is no such file; did you mean 'known_demand'?" in said
    assert all(name in said for name in packaged_scenarios())


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is unreadable here")
def test_an_unreadable_file_is_told(small_toml: Path) -> None:
    small_toml.chmod(0)
    assert "cannot be read: Permission denied" in complaint(small_toml)


@pytest.mark.parametrize(
    ("extends", "said"),
    [
        ('"child.toml"', "extends: goes in a circle"),
        ('"gone.toml"', "extends: there is no file"),
        ('"/etc/passwd"', "extends: must be the name of a .toml file"),
        ("3", "extends: must be the name of a .toml file"),
    ],
)
def test_extends_is_checked(tmp_path: Path, extends: str, said: str) -> None:
    path = tmp_path / "child.toml"
    path.write_text(f"title = 'x'\nextends = {extends}\n", encoding="utf-8")
    assert complaint(path).startswith(f"{path}:2: {said}")


def test_a_circle_of_two_is_found(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{one}.toml").write_text(f'extends = "{other}.toml"\n', encoding="utf-8")
    assert f"{tmp_path / 'b.toml'}:1: extends: goes in a circle" in complaint(tmp_path / "a.toml")


# --- recorded demand ------------------------------------------------------------------------------------

GOOD_ROWS = ["date,total_tokens,note", "2026-05-30,1e10,", "2026-05-31,2e10,", "2026-06-01,3e10,x"]


@pytest.fixture
def with_trace(tmp_path: Path) -> Callable[[list[str]], Path]:
    """The small scenario with a recorded demand."""

    def write(rows: list[str]) -> Path:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "tokens.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        path = tmp_path / "traced.toml"
        trace = '[demand.trace]\ncsv = "data/tokens.csv"\n'
        path.write_text(SMALL_SCENARIO.replace("[roadmap]", f"{trace}[roadmap]"), encoding="utf-8")
        return path

    return write


def test_a_trace_is_filled_from_its_file(with_trace: Callable[[list[str]], Path], tmp_path: Path) -> None:
    study = load_study(with_trace(GOOD_ROWS))
    trace = study.scenario.demand.trace
    assert trace is not None
    assert (trace.first_day, trace.tokens) == (date(2026, 5, 30), (1e10, 2e10, 3e10))
    (tmp_path / "data" / "tokens.csv").unlink()
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(study.text, encoding="utf-8")
    assert load_study(resolved) == study
    assert "there is no such file" in complaint(resolved, "demand.trace.csv=other.csv")


@pytest.mark.parametrize(
    ("rows", "row", "said"),
    [
        ([*GOOD_ROWS, "2026-06-03,1,"], 5, "date: no day may be left out (got 2026-06-03 after 2026-06-01: 1 missing)"),
        ([*GOOD_ROWS, "2026-06-01,1,"], 5, "date: a day may come once (got 2026-06-01 again)"),
        ([*GOOD_ROWS, "2026-05-01,1,"], 5, "date: days must be in order (got 2026-05-01 after 2026-06-01)"),
        ([*GOOD_ROWS, "2026-06-02,nan,"], 5, "total_tokens: must be a finite number (got nan)"),
        ([*GOOD_ROWS, "2026-06-02,,"], 5, "total_tokens: must be a number (got '')"),
        ([*GOOD_ROWS, "2026-06-02,-1,"], 5, "total_tokens: must not be negative (got -1)"),
        ([*GOOD_ROWS, "02.06.2026,1,"], 5, "date: must be a day like 2026-06-01 (got '02.06.2026')"),
        ([*GOOD_ROWS, "2026-06-02,1"], 5, "has 2 cells where the header has 3"),
        (["date,total_token", "2026-06-02,1"], 1,
         "has no column 'total_tokens'; it has date, total_token; did you mean 'total_token'?"),
        (["total_tokens", "1"], 1, "has no column 'date'; it has total_tokens"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_file_row_and_value(
    with_trace: Callable[[list[str]], Path], tmp_path: Path, rows: list[str], row: int, said: str
) -> None:
    lines = complaint(with_trace(rows)).splitlines()
    assert lines[0].endswith("traced.toml:21: demand.trace.csv: cannot be used:")
    assert lines[1] == f"{tmp_path / 'data' / 'tokens.csv'}:{row}: {said}"


def test_a_trace_without_rows_or_file_is_told(with_trace: Callable[[list[str]], Path]) -> None:
    path = with_trace(GOOD_ROWS[:1])
    assert "tokens.csv: is empty" in complaint(path)
    (path.parent / "data" / "tokens.csv").write_bytes(b"\xff\xfe\x00")
    assert "tokens.csv: is not UTF-8 text" in complaint(path)
    (path.parent / "data" / "tokens.csv").unlink()
    assert "tokens.csv: there is no such file" in complaint(path)


def test_bad_rows_come_together_with_other_mistakes(with_trace: Callable[[list[str]], Path]) -> None:
    path = with_trace([*GOOD_ROWS, "2026-06-02,-1,", "2026-06-03,nan,"])
    said = complaint(path, "market.lead_days=-1")
    assert "must not be negative" in said
    assert "must be a finite number" in said
    assert "--set: market.lead_days" in said


def test_half_a_trace_is_told(small_toml: Path) -> None:
    said = complaint(small_toml, "demand.trace.first_day=2026-05-01")
    assert "demand.trace.tokens: is missing" in said
