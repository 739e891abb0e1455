"""The search for thresholds: ranges, values that are not allowed, policies that are not comparable, and the command."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from conftest import Labspend
from leasing_lab import CAPPED, DISCOUNT, LEASE, RENT, leasing_lab

from simulator.cli import main
from simulator.show.threshold_plot import save_threshold_plot, threshold_curve
from simulator.show.threshold_table import thresholds_table, verdict
from simulator.study.experiment import compare
from simulator.study.threshold_answers import Thresholds
from simulator.study.threshold_tables import save_tables
from simulator.study.thresholds import search_range, thresholds
from simulator.study.varied import varied
from simulator.world.scenario import Misplaced, Scenario


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return leasing_lab(0.1)


@pytest.fixture(scope="module")
def crossed(lab: Scenario) -> Thresholds:
    return thresholds(lab, (RENT, LEASE), search_range(lab, DISCOUNT, 0.1, 0.9), replications=6)


# The range --------------------------------------------------------------------------------------------------------


def test_the_usual_range_is_around_what_is_declared(lab: Scenario) -> None:
    price = search_range(lab, "market.quote.0.on_demand_usd_per_gpu_hour")
    assert (price.low, price.high, price.said) == (1.0, 4.0, "from 0.5 times to 2 times the declared 2")
    # A utilization of 0.5 may be doubled; one of 0.9 may be raised by 1.1 only.
    share = search_range(varied(lab, "serving.utilization", 0.9), "serving.utilization")
    assert (share.low, share.high) == pytest.approx((0.45, 0.99))
    falling = search_range(varied(lab, "market.rental_fall_per_year", -0.2), "market.rental_fall_per_year")
    assert (falling.low, falling.high) == pytest.approx((-0.4, -0.1))
    days = search_range(lab, "horizon_days")
    assert (days.low, days.high, days.scan()) == (50.0, 200.0, [50.0, 88.0, 125.0, 162.0, 200.0])
    assert search_range(lab, "horizon_days", high=120.0).low == 50.0


def test_wide_ranges_are_stepped_through_by_factors(lab: Scenario) -> None:
    assert search_range(lab, "demand.tokens_per_day", 1e8, 1e12).scan() == pytest.approx([1e8, 1e9, 1e10, 1e11, 1e12])


@pytest.mark.parametrize(
    ("field", "low", "high", "says"),
    [
        ("market.rental_fal_per_year", None, None, "did you mean 'market.rental_fall_per_year'"),
        ("title", None, None, "must be a number"),
        ("demand.level_sigma", 2.0, 1.0, "from a lower to a higher value"),
        ("demand.growth_sigma", None, None, "both --from and --to are needed"),
        ("market.quote.0.spot_usd_per_gpu_hour", None, 2.0, "both --from and --to are needed"),
    ],
)
def test_a_range_that_cannot_be_searched_is_refused(
    lab: Scenario, field: str, low: float | None, high: float | None, says: str
) -> None:
    with pytest.raises(Misplaced) as refused:
        search_range(lab, field, low, high)
    assert says in str(refused.value)


# The search -------------------------------------------------------------------------------------------------------


def test_a_trial_is_the_comparison_at_that_value(lab: Scenario, crossed: Thresholds) -> None:
    trial = next(trial for trial in crossed.trials if trial.value == 0.5)
    alone = compare(varied(lab, DISCOUNT, 0.5), (RENT, LEASE), replications=6)
    assert (trial.cost_usd == alone.by_policy("cumulative_cost_usd")).all()
    found = trial.difference_percent("lease", "rent")
    assert (found.mean, found.low, found.high) == pytest.approx(alone.difference_percent(1))
    assert trial.winner == "rent"


def test_workers_find_the_same(lab: Scenario) -> None:
    searched = search_range(lab, "market.rental_fall_per_year", 0.0, 0.9)
    one, two = (thresholds(lab, (RENT, CAPPED), searched, replications=2, workers=n) for n in (1, 2))
    assert repr(one.answers) == repr(two.answers)


def test_none_is_told_with_what_wins_throughout(lab: Scenario) -> None:
    found = thresholds(lab, (RENT, LEASE), search_range(lab, DISCOUNT, 0.1, 0.4), replications=6)
    assert found.thresholds == ()
    said = verdict(found)
    assert said.startswith(f"rent costs least at every {DISCOUNT} from 0.1 to 0.4; lease comes nearest at 0.4, +")
    curve = threshold_curve(found)
    assert not any("|" in text.get_text() for text in curve.texts)


def test_an_end_that_is_never_sure_is_open(lab: Scenario) -> None:
    found = thresholds(lab, (RENT, LEASE), search_range(lab, DISCOUNT, 0.1, 0.67), replications=6)
    (threshold,) = found.thresholds
    assert math.isnan(threshold.high)
    assert threshold.low < threshold.value < 0.67
    assert "beyond the range]" in verdict(found)


def test_values_that_the_scenario_does_not_allow_are_told(lab: Scenario) -> None:
    found = thresholds(lab, (RENT, LEASE), search_range(lab, DISCOUNT, 0.5, 1.5), replications=2)
    assert [value for value, _ in found.failed] == [1.0, 1.25, 1.5]
    assert found.thresholds[0].value == pytest.approx(2 / 3, abs=0.1)
    caption = str(thresholds_table(found).caption)
    assert f"Not possible: {DISCOUNT} = 1: must be less than 1." in caption
    with pytest.raises(Misplaced, match="has no range that can be searched"):
        thresholds(lab, (RENT, LEASE), search_range(lab, DISCOUNT, 2.0, 3.0), replications=1)


def test_a_policy_that_stops_being_comparable_is_no_crossing() -> None:
    # Nine GPUs are enough for 15 at the peak of ten only while demand is below 6e8 tokens a day.
    lab = leasing_lab()
    searched = search_range(lab, "demand.tokens_per_day", 3e8, 9e8)
    dear = replace(RENT, name="dear", procurement=LEASE.procurement)
    found = thresholds(lab, (dear, CAPPED), searched, replications=1)
    (threshold,) = found.thresholds
    assert threshold.value == pytest.approx(9 / 15 * 8.64e8, rel=0.02)
    assert (threshold.cheaper_below, threshold.cheaper_above) == ("capped", "dear")
    assert "above it capped serves" in threshold.reason
    assert "the answer turns from capped to dear: above it capped serves" in verdict(found)
    (crosses,) = [line for line in threshold_curve(found).get_lines() if line.get_marker() == "x"]
    assert list(crosses.get_xdata()) == [trial.value for trial in found.trials if trial.reason("capped")]


# What is shown ----------------------------------------------------------------------------------------------------


def test_the_verdict_and_the_table(crossed: Thresholds) -> None:
    (threshold,) = crossed.thresholds
    said = verdict(crossed)
    assert said.startswith(
        f"lease costs less than rent only if {DISCOUNT} is above {threshold.value:.3g} "
        f"[{threshold.low:.3g}, {threshold.high:.3g}]. Declared: 0.25, where rent wins."
    )
    assert thresholds_table(crossed).row_count == len(crossed.trials)


def test_the_picture_shows_the_curve_and_the_crossing(crossed: Thresholds, tmp_path: Path) -> None:
    ax = threshold_curve(crossed)
    (threshold,) = crossed.thresholds
    curve = ax.get_lines()[0]
    assert list(curve.get_xdata()) == [trial.value for trial in crossed.trials]
    assert list(curve.get_ydata()) == [row.difference_percent for row in crossed.rows]
    assert any(list(line.get_xdata()) == [threshold.value] * 2 for line in ax.get_lines())
    texts = [text.get_text() for text in ax.texts]
    assert any(text.startswith(f"{threshold.value:.3g} [{threshold.low:.3g}") for text in texts)
    assert "declared 0.25" in texts
    assert len(save_threshold_plot(crossed, tmp_path)) == 2


def test_tables_are_written(crossed: Thresholds, tmp_path: Path) -> None:
    save_tables(crossed, tmp_path)
    kept = pd.read_csv(tmp_path / "thresholds.csv")
    assert kept["value"].tolist() == [crossed.thresholds[0].value]
    trials = pd.read_csv(tmp_path / "threshold_trials.csv")
    assert trials["value"].tolist() == [trial.value for trial in crossed.trials]


# The command ------------------------------------------------------------------------------------------------------

FEW = ("--vary", "market.quote.0.on_demand_usd_per_gpu_hour", "--from", "1", "--to", "4", "--set", "horizon_days=130")


def test_the_command_answers_and_keeps_its_files(labspend: Labspend, small_toml: Path, tmp_path: Path) -> None:
    done = labspend("thresholds", small_toml, *FEW, "--out", "found")
    assert done.returncode == 0, done.stderr
    assert "wins along market.quote.0.on_demand_usd_per_gpu_hour" in done.stdout
    assert "Results: found" in done.stdout
    kept = {path.name for path in (tmp_path / "found").iterdir()}
    assert {"thresholds.csv", "threshold_trials.csv", "threshold.png", "threshold.svg", "manifest.json"} <= kept


def test_the_command_answers_in_json(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.threshold_plot.save_threshold_plot", lambda *_: [])
    assert main(["thresholds", str(small_toml), *FEW, "--json", "--out", str(tmp_path / "found")]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["field"] == FEW[1]
    assert len(made["trials"]) >= 5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--vary", "demand.growth_per_yaer"), "did you mean 'demand.growth_per_year'"),
        (("--vary", "start"), "must be a number"),
        (("--vary", "demand.growth_sigma"), "both --from and --to are needed"),
        (("--vary", "demand.growth_per_year", "--from", "3", "--to", "2"), "from a lower to a higher"),
        (("--vary", "demand.growth_per_year", "--from", "nan"), "--from"),
        (("--vary", "demand.growth_per_year", "--to", "inf"), "--to"),
        (("--vary", "demand.growth_per_year", "--tolerance", "1"), "must be a percentage"),
        (("--vary", "demand.growth_per_year", "--policy", "plian"), "did you mean 'plain'"),
    ],
)
def test_bad_input_is_refused(
    small_toml: Path, tmp_path: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["thresholds", str(small_toml), *words, "--out", str(tmp_path / "found")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "found").exists()
