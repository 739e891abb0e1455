"""Sweeps: every point is the comparison it names, samples fill their ranges, refused points are told; the command."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Labspend
from leasing_lab import DISCOUNT, FEW, LEASE, RENT, leasing_lab
from scipy import stats
from small_study import RENT as RENTED
from small_study import RESERVE, growing_lab

from simulator.cli import main
from simulator.show.sweep_plots import differences, save_sweep_plots, winners
from simulator.show.sweep_table import influence_table, sweep_table, verdict
from simulator.study.designs import Design, Listed, Ranged, grid, latin_hypercube, saltelli
from simulator.study.experiment import compare
from simulator.study.sweep import Sweep, _sobol, sweep, value_of
from simulator.study.sweep_tables import save_tables
from simulator.study.varied import varied, varied_in
from simulator.world.scenario import Misplaced, Scenario

POLICIES = (RENT, FEW, LEASE)
GRID = (Listed(DISCOUNT, (0.1, 0.5, 0.95)), Listed("demand.level_sigma", (0.0, 0.1)))


@pytest.fixture(scope="module")
def lab() -> Scenario:
    return leasing_lab()


@pytest.fixture(scope="module")
def found(lab: Scenario) -> Sweep:
    return sweep(lab, POLICIES, GRID, replications=3)


# Designs ----------------------------------------------------------------------------------------------------------


def test_a_grid_is_every_combination() -> None:
    assert grid([Listed("a", (1, 2)), Listed("b", ("x", "y"))]) == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    with pytest.raises(ValueError, match="at most 10,000"):
        grid([Listed(name, tuple(range(101))) for name in "ab"])


def test_a_latin_hypercube_has_a_point_in_every_slice() -> None:
    points = latin_hypercube([Ranged("a", 0.0, 1.0, False), Ranged("b", 10.0, 20.0, False)], 8, seed=3)
    for column, (low, width) in enumerate(((0.0, 1.0), (10.0, 10.0))):
        slices = sorted(int((float(point[column]) - low) / width * 8) for point in points)
        assert slices == list(range(8))
    assert points == latin_hypercube([Ranged("a", 0.0, 1.0, False), Ranged("b", 10.0, 20.0, False)], 8, seed=3)


def test_whole_fields_take_whole_values() -> None:
    points = latin_hypercube([Ranged("a", 1.0, 9.0, True)], 20, seed=1)
    assert all(isinstance(point[0], int) and 1 <= point[0] <= 9 for point in points)


def test_sobol_indices_of_a_known_function() -> None:
    """f = 4 a + 3 b on the unit square: 16/25 and 9/25 of its variance, and the third field has none."""
    axes = [Ranged(name, 0.0, 1.0, False) for name in "abc"]
    points = np.array(saltelli(axes, 256, seed=2), dtype=float)
    assert points.shape == (256 * 5, 3)
    first, total = _sobol(4 * points[:, 0] + 3 * points[:, 1], 3, 256)
    assert first is not None
    np.testing.assert_allclose(first, [0.64, 0.36, 0.0], atol=0.02)
    np.testing.assert_allclose(total, [0.64, 0.36, 0.0], atol=0.02)
    with pytest.raises(ValueError, match="power of two"):
        saltelli(axes, 12, seed=2)


# Points -----------------------------------------------------------------------------------------------------------


def test_a_point_is_the_comparison_of_its_own_scenario(lab: Scenario, found: Sweep) -> None:
    """To the byte: the same luck at every point."""
    fields = found.answers.fields
    assert len(found.answers.points) == 6
    for point in found.answers.points:
        alone = compare(varied_in(lab, tuple(zip(fields, point.values, strict=True))), POLICIES, replications=3)
        for row, record in zip(point.rows, alone.summary_records(), strict=True):
            for name in row.__dataclass_fields__:
                if name != "wins":
                    assert repr(getattr(row, name)) == repr(getattr(record, name)), name


def test_the_winner_is_the_one_by_hand(found: Sweep) -> None:
    won = {point.values: point.winner.policy for point in found.answers.points if point.winner}
    assert [won[discount, 0.0] for discount in (0.1, 0.5, 0.95)] == ["rent", "lease few", "lease"]
    assert verdict(found).startswith("rent costs least at 2; lease few costs least at 2; lease costs least at 2 of 6")


def test_the_table_is_tidy(found: Sweep, tmp_path: Path) -> None:
    save_tables(found, tmp_path)
    kept = pd.read_csv(tmp_path / "sweep.csv")
    assert len(kept) == 6 * 3
    assert list(kept.columns[:4]) == ["point", DISCOUNT, "demand.level_sigma", "policy"]
    assert kept.groupby("point")["wins"].sum().tolist() == [1] * 6
    assert set(pd.read_csv(tmp_path / "influence.csv")["policy"]) == {"lease few", "lease"}


def test_workers_find_the_same() -> None:
    axes = (Listed("demand.growth_per_year", (1.0, 2.0)), Listed("market.rental_fall_per_year", (0.0, 2.0)))
    seen: list[tuple[int, int]] = []
    one = sweep(growing_lab(60), (RENTED, RESERVE), axes, replications=2, progress=lambda *at: seen.append(at))
    two = sweep(growing_lab(60), (RENTED, RESERVE), axes, replications=2, workers=2)
    assert repr(one.answers) == repr(two.answers)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    refused = [point for point in one.answers.points if point.refused]
    assert [point.values for point in refused] == [(1.0, 2.0), (2.0, 2.0)]
    assert "market.rental_fall_per_year: must be less than 1 (got 2)" in refused[0].refused
    assert len(one.table) == 2 * 2 + 2
    assert "2 of 4 points cannot be lived." in verdict(one)


def test_a_sobol_sweep_finds_what_matters(lab: Scenario) -> None:
    axes = (Ranged(DISCOUNT, 0.0, 0.9, False), Ranged("market.electricity_usd_per_kwh", 0.05, 0.2, False))
    swept = sweep(lab, (RENT, LEASE), axes, design=Design.SOBOL, points=8, replications=1)
    assert len(swept.answers.points) == 8 * 4
    discount, power = swept.answers.influence
    # Renting costs 10, leasing 30 (1 - d), whatever power costs.
    assert discount.rank_correlation == pytest.approx(-1.0)
    assert power.first_order == pytest.approx(0.0, abs=1e-6)
    assert power.total_order == pytest.approx(0.0, abs=1e-6)
    assert discount.total_order > 0.5
    values = [point.rows[1].difference_percent for point in swept.answers.points]
    np.testing.assert_allclose(values, [100 * (3 * (1 - float(p.values[0])) - 1) for p in swept.answers.points])


def test_rank_correlations_are_spearmans(lab: Scenario) -> None:
    axes = (Ranged(DISCOUNT, 0.0, 0.9, False), Ranged("demand.level_sigma", 0.0, 0.5, False))
    swept = sweep(lab, (RENT, LEASE), axes, design=Design.LHS, points=10, replications=2)
    off = [point.rows[1].difference_percent for point in swept.answers.points]
    for at, row in enumerate(swept.answers.influence):
        expected = stats.spearmanr([point.values[at] for point in swept.answers.points], off).statistic
        assert row.rank_correlation == pytest.approx(expected)
        assert np.isnan(row.first_order)


def test_values_are_of_the_fields_own_kind(lab: Scenario) -> None:
    assert value_of(lab, "horizon_days", "90") == 90
    assert isinstance(value_of(lab, "horizon_days", "90"), int)
    assert value_of(lab, DISCOUNT, "0") == 0.0
    assert value_of(lab, "start", "2026-07-01") == "2026-07-01"
    assert varied(lab, "start", value_of(lab, "start", "2026-07-01")).start == date(2026, 7, 1)
    assert value_of(lab, "market.quote.0.spot_usd_per_gpu_hour", "1.5") == 1.5
    with pytest.raises(Misplaced, match="must be a number"):
        value_of(lab, DISCOUNT, "much")
    with pytest.raises(Misplaced, match="finite"):
        value_of(lab, DISCOUNT, "nan")


def test_axes_must_suit_the_design(lab: Scenario) -> None:
    with pytest.raises(ValueError, match="needs the values"):
        sweep(lab, POLICIES, [Ranged(DISCOUNT, 0.0, 1.0, False)])
    with pytest.raises(ValueError, match="needs the range"):
        sweep(lab, POLICIES, [Listed(DISCOUNT, (0.1,))], design=Design.LHS)
    with pytest.raises(ValueError, match="different fields"):
        sweep(lab, POLICIES, [Listed(DISCOUNT, (0.1,)), Listed(DISCOUNT, (0.2,))])


# What is shown ----------------------------------------------------------------------------------------------------


def test_cells_say_who_wins(found: Sweep, tmp_path: Path) -> None:
    ax = winners(found)
    texts = [text.get_text() for text in ax.texts]
    assert [text.split("\n")[0] for text in texts] == ["rent", "lease few", "lease"] * 2
    # At no spread 12 x 0.5 + 1.5 = 7.5 against 10: a quarter below.
    assert texts[1] == "lease few\n25.0\u00a0% below rent"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1", "0.5", "0.95"]
    turns = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert sorted({float(line.get_xdata()[0]) for line in turns}) == [0.5, 1.5]
    assert len(save_sweep_plots(found, tmp_path)) == 2


def test_cells_of_more_fields_count_their_points(lab: Scenario) -> None:
    axes = (*GRID, Listed("market.electricity_usd_per_kwh", (0.1, 0.2)))
    ax = winners(sweep(lab, POLICIES, axes, replications=1))
    assert ax.texts[0].get_text() == "rent\n2 of 2"
    assert "Also varied: market.electricity_usd_per_kwh" in ax.get_xlabel().replace("\n", " ")


def test_one_field_has_a_curve_for_each_policy(lab: Scenario) -> None:
    swept = sweep(lab, POLICIES, GRID[:1], replications=2)
    curves = {str(line.get_label()): line for line in differences(swept).get_lines()}
    for number, name in enumerate(("rent (baseline)", "lease few", "lease")):
        expected = [point.rows[number].difference_percent for point in swept.answers.points]
        assert list(curves[name].get_ydata()) == expected
        assert list(curves[name].get_xdata()) == [0.1, 0.5, 0.95]


def test_dots_of_a_sample_have_the_winners_shape(lab: Scenario) -> None:
    axes = (Ranged(DISCOUNT, 0.0, 0.99, False), Ranged("demand.level_sigma", 0.0, 0.1, False))
    swept = sweep(lab, POLICIES, axes, design=Design.LHS, points=12, replications=1)
    ax = winners(swept)
    legend = ax.get_legend()
    assert legend is not None
    counts = dict.fromkeys(("rent", "lease few", "lease"), 0)
    for point in swept.answers.points:
        assert point.winner is not None
        counts[point.winner.policy] += 1
    assert [text.get_text() for text in legend.get_texts()] == [f"{n} ({c})" for n, c in counts.items() if c]
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 12


def test_tables_have_a_row_per_point(found: Sweep) -> None:
    assert sweep_table(found).row_count == 6
    assert influence_table(found).row_count == 4


# The command ------------------------------------------------------------------------------------------------------

PRICE = "market.quote.0.on_demand_usd_per_gpu_hour"
SHORT = ("--set", "horizon_days=130", "--replications", "1")


def test_the_command_sweeps_and_tells_what_cannot_be(labspend: Labspend, small_toml: Path, tmp_path: Path) -> None:
    words = (f"{PRICE}=1,2", "market.rental_fall_per_year=0:2:2")
    done = labspend("sweep", small_toml, "--vary", words[0], "--vary", words[1], *SHORT, "--out", "found")
    assert done.returncode == 0, done.stderr
    assert "must be less than 1 (got 2" in done.stdout
    assert "2 of 4 points cannot be lived." in done.stdout
    kept = pd.read_csv(tmp_path / "found" / "sweep.csv")
    assert kept[PRICE].tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    assert (tmp_path / "found" / "sweep.png").exists()
    assert (tmp_path / "found" / "manifest.json").exists()


def test_the_command_answers_in_json(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.sweep_plots.save_sweep_plots", lambda *_: [])
    words = ["sweep", str(small_toml), "--vary", f"{PRICE}=1:3", "--design", "lhs", "--points", "3", "--json", *SHORT]
    assert main([*words, "--out", str(tmp_path / "found")]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["design"], made["fields"], len(made["points"])) == ("lhs", [PRICE], 3)
    assert all(len(point["rows"]) == 2 for point in made["points"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("demand.growth_per_yaer=1,2",), "did you mean 'demand.growth_per_year'"),
        (("market.quote.1.on_demand_usd_per_gpu_hour=1",), "holds 1, the first is 0"),
        (("demand.growth_per_year",), "must be written KEY=VALUES"),
        (("demand.growth_per_year=",), "must be written KEY=VALUES"),
        (("demand.growth_per_year=1:2",), "a grid needs a list, or a range with its number of values as 1:2:5"),
        (("demand.growth_per_year=2:1:3",), "from a lower to a higher"),
        (("demand.growth_per_year=1:2:1",), "2 to 200 values"),
        (("demand.growth_per_year=1:2:2.5",), "2 to 200 values"),
        (("demand.growth_per_year=a:b:c",), "must be a range a:b, or a:b:n"),
        (("demand.growth_per_year=1:2:3:4",), "must be a range a:b, or a:b:n"),
        (("demand.growth_per_year=1:inf",), "must be a range a:b, or a:b:n"),
        (("demand.growth_per_year=1,x",), "must be a number"),
        (("demand.growth_per_year=1,1.0",), "must differ"),
        (("demand.growth_per_year=1,2", "--vary", "demand.growth_per_year=3"), "is named twice"),
        (("demand.growth_per_year=1,2", "--design", "lhs"), "needs a range a:b for --design lhs"),
        (("demand.growth_per_year=1:2:3", "--design", "lhs"), "without steps"),
        (("demand.growth_per_year=1,2", "--points", "5"), "is for --design lhs or sobol"),
    ],
)
def test_bad_input_is_refused(
    small_toml: Path, tmp_path: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", str(small_toml), "--vary", *words, "--out", str(tmp_path / "found")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "found").exists()


def test_a_sobol_sample_must_be_a_power_of_two(
    small_toml: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--vary", f"{PRICE}=1:2", "--design", "sobol", "--points", "6", "--out", str(tmp_path / "found")]
    assert main(["sweep", str(small_toml), *words]) != 0
    assert "must be a power of two" in capsys.readouterr().err
    assert not (tmp_path / "found").exists()
