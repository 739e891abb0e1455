"""A plan from its CSV to the results, through the command line; and everything that may be wrong with it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from conftest import Labspend

from simulator.lab.fixed_plan import MOST_ORDERS, FixedPlan
from simulator.lab.refresh import Refresh
from simulator.study.csv_rows import TraceError
from simulator.study.files import ScenarioError, Study, load_study
from simulator.study.meaning import meaning
from simulator.study.plan_csv import read_plan
from simulator.study.restated import parts_said

HEADER = "date,action,accelerator,gpus,term_days,reason"
GOOD = f"""{HEADER}
2026-06-01,cap,,64,,a contract's limit
2026-06-20,buy,H100,16,,"board, June"

2026-07-01,reserve,H100,8,30,
2026-11-02,sell,H100,4,,
"""
MARKET = """
[market]
lead_days = 10

[[market.commitment]]
term_days = 30
discount = 0.1
"""
POLICY = """
[[policy]]
name = "by plan"
procurement = { kind = "fixed_plan", csv = "plan.csv" }
refresh = { look_days = 90 }
"""


@pytest.fixture
def scenario(small_toml: Path) -> Path:
    """The small scenario with a policy that follows plan.csv, which is a good one."""
    text = small_toml.read_text(encoding="utf-8").replace("[[market.quote]]", f"{MARKET}\n[[market.quote]]")
    small_toml.write_text(text + POLICY, encoding="utf-8")
    (small_toml.parent / "plan.csv").write_text(GOOD, encoding="utf-8")
    return small_toml


def plan_of(study: Study) -> FixedPlan:
    plan = study.policies[-1].procurement
    assert isinstance(plan, FixedPlan)
    return plan


def test_a_good_plan_through_the_command_line(scenario: Path, labspend: Labspend, tmp_path: Path) -> None:
    checked = labspend("check", scenario)
    assert checked.returncode == 0, checked.stderr
    assert (
        "by plan follows a plan: 4 orders from plan.csv, 2026-06-01 to 2026-11-02: buys 16 H100, reserves 8 H100, "
        "sells 4 H100, caps on-demand GPUs, from 2026-06-01 on at 64"
    ) in checked.stdout
    assert "by plan retires and replaces GPUs" in checked.stdout
    ran = labspend("compare", scenario, "--out", "results", "--policy", "by plan", "--replications", "1")
    assert ran.returncode == 0, ran.stderr
    orders = pd.read_csv(tmp_path / "results" / "orders.csv")
    told = orders[orders.replication == 0][["date", "gpus", "reason"]].to_numpy().tolist()
    assert told == [
        ["2026-06-20", 16, "board, June"],
        ["2026-07-01", 8, "as planned"],
        ["2026-11-02", 4, "as planned"],
    ]
    assert '"refresh": "Refresh {\\"look_days\\": 90' in (tmp_path / "results" / "manifest.json").read_text()


def test_the_resolved_scenario_needs_no_file(scenario: Path, tmp_path: Path) -> None:
    study = load_study(scenario)
    elsewhere = tmp_path / "elsewhere" / "resolved.toml"
    elsewhere.parent.mkdir()
    elsewhere.write_text(study.text, encoding="utf-8")
    again = load_study(elsewhere)
    assert again == study
    assert [order.gpus for order in plan_of(again).order] == [64, 16, 8, 4]
    assert again.policies[-1].refresh == Refresh(look_days=90)
    assert parts_said(again.policies[-1]) == parts_said(study.policies[-1])


def test_a_file_named_later_is_read_anew(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(f"{HEADER}\n2026-06-02,buy,H100,7,,\n", encoding="utf-8")
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(load_study(scenario).text, encoding="utf-8")
    study = load_study(resolved, [f"policy.2.procurement.csv={tmp_path / 'other.csv'}"])
    assert [order.gpus for order in plan_of(study).order] == [7]


def test_a_policy_that_is_not_compared_may_have_a_plan_for_other_days(scenario: Path) -> None:
    load_study(scenario, ["horizon_days=110"], policies=["plain"])
    with pytest.raises(ScenarioError, match=r"plan\.csv:6: policy\.2\.procurement\.order\.3\.date"):
        load_study(scenario, ["horizon_days=110"])


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("2026-07-01,buy,H100,-3,,", "plan.csv:3: gpus: must be greater than or equal to 0 (got -3)"),
        ("2026-07-01,buy,H100,0,,", "plan.csv:3: gpus: must be greater than 0; only a cap may be 0 (got 0)"),
        ("2026-07-01,buy,H100,1.5,,", "plan.csv:3: gpus: must be a whole number"),
        ("2026-07-01,buy,H100,nan,,", "plan.csv:3: gpus: must be a whole number"),
        ("2026-07-01,buy,H100,1e400,,", "plan.csv:3: gpus: must be a whole number"),
        (f"2026-07-01,buy,H100,{'9' * 18},,", "plan.csv:3: gpus: must be less than or equal to 100000000"),
        (f"2026-07-01,buy,H100,{'9' * 5000},,", "plan.csv:3: gpus: must be a whole number"),
        ("2026-07-01,bye,H100,3,,", "plan.csv:3: action: must be 'buy', 'reserve', 'sell' or 'cap' (got 'bye'); did"),
        (
            "2026-07-01,buy,H10,3,,",
            "order.1.accelerator: is not known; there are H100 (got 'H10'); did you mean",
        ),
        ("2026-07-01,buy,,3,,", "plan.csv:3: accelerator: must name the kind of GPU to buy"),
        ("2026-07-01,cap,H100,3,,", "plan.csv:3: accelerator: must be empty for a cap"),
        ("2026-07-01,reserve,H100,3,,", "plan.csv:3: term_days: must say the length of the lease"),
        ("2026-07-01,reserve,H100,3,31,", "order.1.term_days: must be a term on offer: 30 (got 31)"),
        ("2026-07-01,sell,H100,3,30,", "plan.csv:3: term_days: must be empty: a sell has no term (got 30)"),
        ("2026-05-31,buy,H100,3,,", "order.1.date: must be 2026-06-01 or later, and before 2026-12-18"),
        ("2026-12-18,buy,H100,3,,", "order.1.date: must be 2026-06-01 or later, and before 2026-12-18"),
        ("2026-02-30,buy,H100,3,,", "plan.csv:3: date: must be a date, written like 2026-06-01 (got '2026-02-30')"),
        ("2026-07-01,buy,H100", "plan.csv:3: has 3 cells where the header has 6"),
    ],
    ids=lambda text: text[:40],
)
def test_a_bad_row_is_told_by_file_row_and_column(scenario: Path, row: str, told: str) -> None:
    (scenario.parent / "plan.csv").write_text(f"{HEADER}\n2026-06-02,buy,H100,7,,\n{row}\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        load_study(scenario)
    assert told in str(refused.value)
    assert "plan.csv:3: " in str(refused.value)
    assert len(str(refused.value)) < 400


def test_all_that_is_wrong_is_told_up_to_ten_and_without_a_traceback(scenario: Path, labspend: Labspend) -> None:
    for row, first in (("2026-07-01,bye,H100,3,,", "action"), ("2026-07-01,buy,H200,3,,", "accelerator")):
        (scenario.parent / "plan.csv").write_text("\n".join([HEADER, *[row] * 500]) + "\n", encoding="utf-8")
        told = labspend("check", scenario)
        assert told.returncode == 2
        assert "Traceback" not in told.stderr
        assert told.stderr.count(f"{first}: ") == 10
        assert "more" in told.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no column 'date'"),
        (HEADER, "is empty: it needs a row per order"),
        ("date,action,accelerator\n", "has no column 'gpus'"),
        (HEADER.replace("term_days", "term_day"), "unknown column 'term_day'.* did you mean 'term_days'"),
        (HEADER.replace(",", ";"), "separated by commas, not by semicolons"),
        (f"{HEADER},gpus", "has the column 'gpus' twice"),
        ("date,action,accelerator,gpus\n2026-07-01,buy,H100,\n", "2: gpus: is missing: how many"),
    ],
)
def test_a_file_that_is_no_plan(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "plan.csv").write_text(text, encoding="utf-8")
    with pytest.raises(TraceError, match=told):
        read_plan(tmp_path / "plan.csv")


def test_a_plan_has_at_most_so_many_orders(tmp_path: Path) -> None:
    row = "2026-07-01,buy,H100,1"
    path = tmp_path / "plan.csv"
    path.write_text("\n".join(["date,action,accelerator,gpus", *[row] * MOST_ORDERS]), encoding="utf-8")
    assert len(read_plan(path)) == MOST_ORDERS
    path.write_text("\n".join(["date,action,accelerator,gpus", *[row] * (MOST_ORDERS + 1)]), encoding="utf-8")
    with pytest.raises(TraceError, match=rf"plan\.csv:{MOST_ORDERS + 2}: is one order too many"):
        read_plan(path)


def test_no_file_no_plan(scenario: Path) -> None:
    (scenario.parent / "plan.csv").unlink()
    with pytest.raises(ScenarioError, match="there is no such file"):
        load_study(scenario)
    text = scenario.read_text(encoding="utf-8").replace(', csv = "plan.csv"', "")
    scenario.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match="order: is missing: name a csv, or write out order"):
        load_study(scenario)


def test_what_a_plan_means_without_a_cap_or_a_file(scenario: Path) -> None:
    written = 'order = [{ date = 2026-07-01, action = "buy", accelerator = "H100", gpus = 3 }]'
    text = scenario.read_text(encoding="utf-8").replace('csv = "plan.csv"', written)
    scenario.write_text(text, encoding="utf-8")
    assert "by plan follows a plan: 1 order, 2026-07-01 to 2026-07-01: buys 3 H100\n" in meaning(load_study(scenario))


def test_a_ladder_whose_base_lies_above_its_middle_is_refused(scenario: Path) -> None:
    text = scenario.read_text(encoding="utf-8")
    plan = '{ kind = "fixed_plan", csv = "plan.csv" }'
    ladder = '{ kind = "ladder", owned_quantile = 0.5, term_days = 30 }'
    scenario.write_text(text.replace(plan, ladder), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"procurement\.owned_quantile: must not be above reserved_quantile, 0\.3"):
        load_study(scenario)
    scenario.write_text(text.replace(plan, ladder.replace("0.5", "0.1").replace("30", "31")), encoding="utf-8")
    with pytest.raises(ScenarioError, match="must offer the term of 31 days that is to be reserved, for 'by plan'"):
        load_study(scenario)
