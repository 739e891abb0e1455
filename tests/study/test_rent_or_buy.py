"""Renting and buying: published costs, paybacks by brute force, what the tables and pictures say, and the command."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import Labspend
from small_lab import MONDAY, plain_scenario
from small_study import BUY, growing_lab
from strategies import observed

from simulator.cli import main
from simulator.lab.procurement import owned_usd_per_gpu_hour
from simulator.show.rent_or_buy_plots import heat_map, owned_share, payback, save_rent_or_buy_plots, tornado
from simulator.show.rent_or_buy_table import base_table, heat_table, tenures_table, tornado_table
from simulator.show.rent_or_buy_words import verdict
from simulator.study.files import load_scenario, load_study
from simulator.study.foresight import Range
from simulator.study.rent_or_buy import RENT, falls_around, rent_or_buy, turning_fall
from simulator.study.rent_or_buy_answers import HeatCell, RentOrBuy
from simulator.study.rent_or_buy_tables import answers, save_tables
from simulator.study.swings import swings
from simulator.study.tenure_costs import OWNED, TenureRow, kinds_for_sale, one_gpu, tenure_rows
from simulator.study.varied import varied
from simulator.world.scenario import Misplaced, OwnershipInputs, Scenario
from simulator.world.world import realize


def owned_row(scenario: Scenario, kind: str = "H100") -> TenureRow:
    (row,) = (row for row in tenure_rows(scenario) if (row.accelerator, row.tenure) == (kind, OWNED))
    return row


@pytest.fixture(scope="module")
def frontier() -> Scenario:
    return load_scenario("frontier_lab", ["horizon_days=10"])


@pytest.fixture(scope="module")
def found() -> RentOrBuy:
    """Two uncertain years of a small lab, few worlds."""
    return rent_or_buy(growing_lab(700), BUY, replications=3, growths=(0.8, 1.0), falls=(0.0, 0.5), cell_replications=2)


# What an hour costs, and when a GPU has paid for itself -----------------------------------------------------------


@pytest.mark.parametrize(("years", "usd"), [(5.0, 1.575), (4.0, 1.864), (6.0, 1.382)])
def test_an_owned_h100_costs_what_was_published(frontier: Scenario, years: float, usd: float) -> None:
    # Numbers H5: capital 1.155 + power 0.0987 + colocation 0.3213 in five years, and nothing back at the end.
    scenario = varied(frontier, "ownership.useful_life_years", years)
    row = owned_row(varied(scenario, "ownership.resale_spread", 1 - 1e-12))
    assert row.usd_per_gpu_hour == pytest.approx(usd, rel=0.01)
    assert row.power_usd_per_gpu_hour == pytest.approx(0.0987, rel=0.02)
    assert row.hosting_usd_per_gpu_hour == pytest.approx(0.3213, rel=0.01)


@pytest.mark.parametrize(("rent", "share"), [(2.5, 0.704), (3.0, 0.587), (6.88, 0.256)])
def test_break_even_use_is_the_published_one(frontier: Scenario, rent: float, share: float) -> None:
    # Numbers H7: 1.76 USD an owned hour; here the price of the GPU is set so that it costs that.
    scenario = varied(frontier, "ownership.resale_spread", 1 - 1e-12)
    scenario = varied(scenario, "market.quote.1.on_demand_usd_per_gpu_hour", rent)
    running = owned_row(scenario).usd_per_gpu_hour - owned_row(scenario).capital_usd_per_gpu_hour
    scenario = varied(scenario, "market.quote.1.purchase_usd_per_gpu", (1.76 - running) * 5 * 8766 / (1.64 / 0.81))
    assert owned_row(scenario).break_even_today == pytest.approx(share, abs=5e-4)
    assert owned_row(scenario).break_even_utilization > share  # rents fall meanwhile


def test_with_the_cost_of_capital_it_is_the_price_policies_plan_with(frontier: Scenario) -> None:
    planned = owned_usd_per_gpu_hour(observed(realize(frontier)))
    for number, kind in enumerate(kinds_for_sale(frontier)):
        row = owned_row(frontier, kind)
        both = row.usd_per_gpu_hour + row.cost_of_capital_usd_per_gpu_hour
        assert both == pytest.approx(planned[number], rel=0.01)  # the plan's price has the day's noise, none at day 0
        assert row.cost_of_capital_usd_per_gpu_hour > 0.0


@pytest.mark.parametrize(
    "own",
    [
        {"failures_per_gpu_year": 5.0, "repair_days": 20.0, "repair_share": 0.02},
        {"loan": {"share": 0.8, "rate_per_year": 0.11, "years": 3.0}},
    ],
    ids=["repairs", "loan"],
)
@pytest.mark.parametrize("discount", [0.0, 0.08])
def test_repairs_and_loans_cost_here_what_policies_plan_with(own: dict[str, object], discount: float) -> None:
    plain = plain_scenario()
    ownership = OwnershipInputs.model_validate({**plain.ownership.model_dump(), **own})
    scenario = plain.model_copy(update={"ownership": ownership, "discount_per_year": discount})
    row = owned_row(scenario, "Unit")
    (planned,) = owned_usd_per_gpu_hour(observed(realize(scenario)))
    assert row.usd_per_gpu_hour + row.cost_of_capital_usd_per_gpu_hour == pytest.approx(planned, rel=1e-9)


def test_a_payback_counts_installation_and_repairs() -> None:
    plain = plain_scenario()
    broken = {"installation_days": 30, "failures_per_gpu_year": 5.0, "repair_days": 14.61}  # a fifth of the time
    ownership = OwnershipInputs.model_validate({**plain.ownership.model_dump(), **broken})
    found = one_gpu(plain.model_copy(update={"ownership": ownership}), "Unit", 1.0)
    assert found.row.arrives == MONDAY + timedelta(days=1 + 30)
    assert found.rented_usd[0] == pytest.approx(24 * 0.8 * 2.0)


def test_a_lease_is_worth_signing_above_its_price_over_the_mean_rent(frontier: Scenario) -> None:
    by_term = {row.term_days: row for row in tenure_rows(frontier) if row.accelerator == "H100" and row.term_days}
    assert by_term[365].usd_per_gpu_hour == pytest.approx(2.35, abs=5e-3)  # the contract it was quoted from
    # Rents that fall 8.6 % a year: the mean of 0.914^t over three years, by a sum over days.
    mean = np.mean(0.914 ** (np.arange(0.5, 1095) / 365.25))
    assert by_term[1095].break_even_utilization == pytest.approx(0.5 / mean, rel=1e-5)
    assert by_term[1095].break_even_today == pytest.approx(0.5)


@pytest.mark.parametrize("utilization", [1.0, 0.8])
def test_a_payback_is_found_by_counting_days(frontier: Scenario, utilization: float) -> None:
    scenario = varied(frontier, "market.electricity_growth_per_year", 1.1)
    row = one_gpu(scenario, "B200", utilization).row
    spent, saved, day = 37_100 * 1.64 / 0.81, 0.0, 90  # the median lead
    while True:
        years = day / 365.25
        kw = 1.0 * 10.2 / 8 / 0.7
        spent += 24 * kw * (0.75 * 1.25 * 0.0826 * 1.1**years + 184.06 / 730.5)
        saved += 24 * utilization * 5.89 * 0.914**years
        if spent <= saved:
            break
        day += 1
    assert row.break_even_date == scenario.start + timedelta(days=day)
    assert row.break_even_days == day - 90 + 1


def test_what_a_used_gpu_fetches_is_capped_by_the_price_of_a_new_one(frontier: Scenario) -> None:
    # List prices that halve every year are below 10^(-0.14 t) from the start: after five years 1/32 is left, not 1/5.
    scenario = varied(varied(frontier, "market.list_fall_per_year", 0.5), "market.lead_days", 0)
    kept = 25_000 * 1.64 * 0.9 / 32
    assert owned_row(scenario).capital_usd_per_gpu_hour == pytest.approx((25_000 * 1.64 / 0.81 - kept) / 43_830)


def test_only_what_is_on_offer_at_the_start_has_a_price(frontier: Scenario) -> None:
    assert kinds_for_sale(frontier) == ["A100", "H100", "H200", "B200", "MI300X"]
    assert {row.accelerator for row in tenure_rows(frontier)} == set(kinds_for_sale(frontier))


# The owned base, the map, the tornado -----------------------------------------------------------------------------


def test_rows_are_read_from_the_runs_they_name(found: RentOrBuy) -> None:
    cost = found.comparison.by_policy("cumulative_cost_usd")
    for row, usd in zip(found.owned_base, cost, strict=True):
        assert row.cost_usd.mean == pytest.approx(usd.mean())
        assert row.difference_percent.mean == pytest.approx(100 * (usd.mean() / cost[0].mean() - 1), abs=1e-9)
    assert [row.owned_share for row in found.owned_base][:7] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
    assert math.isnan(found.owned_base[7].owned_share)
    assert sum(row.chance_cheapest for row in found.owned_base if row.comparable) == pytest.approx(1.0)
    owned = [row.held_peak_gpus for row in found.owned_base[:7]]
    assert owned == sorted(owned)
    best = min(found.owned_base[:7], key=lambda row: row.cost_usd.mean)
    assert best.owned_share == found.optimum.owned_share


def test_a_cell_is_the_study_of_its_own_scenario(found: RentOrBuy) -> None:
    cell = next(c for c in found.heat_map if (c.growth_factor, c.rental_fall_per_year) == (1.0, 0.5))
    alone = rent_or_buy(
        varied(growing_lab(700), "market.rental_fall_per_year", 0.5),
        BUY,
        replications=2,
        growths=(1.0,),
        falls=(0.5,),
        cell_replications=2,
    )
    best = next(row for row in alone.owned_base if row.owned_share == cell.owned_share)
    assert best.difference_percent == cell.difference_percent
    assert alone.optimum.best_own_share == cell.owned_share
    # As declared and alone in the world of the tornado, the same share costs the same.
    assert alone.tornado_centre_percent == cell.difference_percent


def test_any_number_of_processes_finds_the_same(found: RentOrBuy) -> None:
    settings = {"replications": 3, "growths": (0.8, 1.0), "falls": (0.0, 0.5), "cell_replications": 2}
    seen: list[tuple[int, int]] = []
    again = rent_or_buy(growing_lab(700), BUY, **settings, workers=2, progress=lambda *at: seen.append(at))
    assert repr(answers(again)) == repr(answers(found))
    assert seen == sorted(seen)
    assert seen[-1] == (3 + 2 * (4 + 1 + 14),) * 2


def test_the_tornado_swings_one_input_at_a_time(found: RentOrBuy) -> None:
    scenario = found.scenario
    for swing in swings(scenario)[1:]:
        assert varied(swing.at_low, swing.field, swing.declared) == scenario
        assert varied(swing.at_high, swing.field, swing.declared) == scenario
        assert swing.low < swing.high
    by_field = {row.field: row for row in found.tornado}
    assert len(by_field) == 7
    # Dearer power and a faster loss of value speak against owning, whatever else is true; and so do cheaper rents.
    for field in (
        "market.electricity_usd_per_kwh",
        "ownership.value_fall_oom_per_year",
        "ownership.resale_spread",
        "market.rental_fall_per_year",
    ):
        assert by_field[field].at_low_percent.mean < found.tornado_centre_percent.mean
        assert by_field[field].at_high_percent.mean > found.tornado_centre_percent.mean
    widths = [row.width_percent for row in found.tornado]
    assert widths == sorted(widths, reverse=True)


def test_swings_of_what_is_not_declared_go_up_from_nothing(frontier: Scenario) -> None:
    scenario = varied(varied(frontier, "market.lead_days", 0), "ownership.resale_spread", 0.0)
    by_field = {swing.field: swing for swing in swings(scenario)}
    assert (by_field["market.lead_days"].low, by_field["market.lead_days"].high) == (0.0, 90.0)
    assert (by_field["ownership.resale_spread"].low, by_field["ownership.resale_spread"].high) == (0.0, 0.3)


@pytest.mark.parametrize("fall", [0.086, 0.0, -0.3, 0.9995])
def test_falls_around_the_declared_are_ones_a_market_may_have(frontier: Scenario, fall: float) -> None:
    falls = falls_around(varied(frontier, "market.rental_fall_per_year", fall))
    assert fall in falls
    assert list(falls) == sorted(set(falls))
    assert all(varied(frontier, "market.rental_fall_per_year", f) for f in falls)


def cells(*values: tuple[float, float, float]) -> list[HeatCell]:
    return [HeatCell(growth, fall, 0.5, Range(mean, mean, mean)) for growth, fall, mean in values]


def test_the_turn_is_read_between_cells_of_declared_growth() -> None:
    row = cells((1.0, 0.0, -10.0), (1.0, 0.2, -5.0), (1.0, 0.4, 15.0), (2.0, 0.0, 5.0))
    assert turning_fall(row, 0.1).mean == pytest.approx(0.25)  # a quarter of the way from 0.2 to 0.4
    assert math.isnan(turning_fall(row[:2], 0.1).mean)
    assert math.isnan(turning_fall(cells((2.0, 0.0, -1.0), (2.0, 0.2, 1.0)), 0.1).mean)
    twice = cells((1.0, -0.2, 1.0), (1.0, 0.0, -1.0), (1.0, 0.2, -1.0), (1.0, 0.4, 1.0))
    assert turning_fall(twice, -0.2).mean == pytest.approx(0.3)  # where owning becomes cheaper, at -0.1, is not asked


def test_the_turn_lies_between_those_of_the_bounds() -> None:
    wide = [HeatCell(1.0, fall, 0.5, Range(mean, mean - 4.0, mean + 4.0)) for fall, mean in ((0.0, -10.0), (0.4, 10.0))]
    # Means rise by 50 a unit of fall: 0 is reached at 0.2, by the upper bound 4 / 50 sooner, by the lower 4 / 50 later.
    turn = turning_fall(wide, 0.0)
    assert (turn.low, turn.mean, turn.high) == pytest.approx((0.12, 0.2, 0.28))
    unsure = [HeatCell(1.0, fall, 0.5, Range(mean, -9.0, 9.0)) for fall, mean in ((0.0, -1.0), (0.4, 1.0))]
    assert str(turning_fall(unsure, 0.0)) == str(Range(0.2, math.nan, math.nan))


def test_nothing_is_cheaper_where_service_is_not_equal() -> None:
    # So few GPUs can be rented that whoever owns serves far more.
    scarce = varied(growing_lab(300), "market.quote.0.on_demand_limit_gpus", 300)
    found = rent_or_buy(scarce, BUY, replications=1, growths=(1.0,), falls=(0.0,), cell_replications=1)
    assert all("points more than rent all" in row.reason for row in found.owned_base[1:])
    assert math.isnan(found.optimum.best_own_share)
    assert (found.optimum.owned_share, found.tornado) == (0.0, ())
    assert [text.get_text() for text in heat_map(found).texts] == ["n/c"]
    assert verdict(found).startswith("No owned share gives the service")


def test_a_lab_that_can_buy_nothing_is_told() -> None:
    lab = growing_lab(300)
    quote = lab.market.quote[0].model_copy(update={"purchase_usd_per_gpu": None})
    rented = lab.model_copy(update={"market": lab.market.model_copy(update={"quote": (quote,)})})
    with pytest.raises(Misplaced, match="must hold a kind with a purchase_usd_per_gpu at the start"):
        rent_or_buy(rented, BUY, replications=1)


# What is shown ----------------------------------------------------------------------------------------------------


def test_tables_are_written_and_read_back(found: RentOrBuy, tmp_path: Path) -> None:
    save_tables(found, tmp_path)
    base = pd.read_csv(tmp_path / "owned_base.csv")
    np.testing.assert_allclose(base["cost_usd"], [row.cost_usd.mean for row in found.owned_base])
    np.testing.assert_allclose(base["difference_low_percent"], [row.difference_percent.low for row in found.owned_base])
    cells = pd.read_csv(tmp_path / "heat_map.csv")
    assert cells["growth_factor"].tolist() == [0.8, 0.8, 1.0, 1.0]
    tenures = pd.read_csv(tmp_path / "tenures.csv")["tenure"]
    assert tenures.tolist() == ["owned", "reserved 365 days", "on demand", "spot"]
    dates = pd.read_csv(tmp_path / "paybacks.csv")["break_even_date"].tolist()
    assert dates == [str(row.break_even_date) for row in found.paybacks]
    assert pd.read_csv(tmp_path / "tornado.csv").shape[0] == 7


def test_pictures_show_the_figures(found: RentOrBuy, tmp_path: Path) -> None:
    (line, *_) = owned_share(found).get_lines()
    np.testing.assert_allclose(line.get_ydata(), [row.difference_percent.mean for row in found.owned_base[:7]])
    texts = [text.get_text() for text in heat_map(found).texts]
    for text, cell in zip(texts, found.heat_map, strict=True):
        assert text.replace("\u2212", "-").startswith(f"{cell.difference_percent.mean:+.0f}")
        assert text.endswith("rent" if cell.difference_percent.mean >= 0 else f"{100 * cell.owned_share:.0f}\u00a0%")
    labels = [label.get_text() for label in tornado(found).get_yticklabels()]
    assert [label.split("\n")[0].split(" [")[0] for label in labels] == [row.what for row in found.tornado][::-1]
    legend = payback(found).get_legend()
    assert legend is not None
    marked = [text.get_text() for text in legend.get_texts()]
    row = next(row for row in found.paybacks if row.utilization == found.utilization)
    assert f"paid back {row.break_even_date}" in marked
    assert len(save_rent_or_buy_plots(found, tmp_path)) == 8


def test_tables_say_all_rows(found: RentOrBuy) -> None:
    assert tenures_table(found).row_count == 1
    assert base_table(found).row_count == 8
    assert heat_table(found).row_count == 2
    assert tornado_table(found).row_count == 7


def test_the_verdict_says_how_many_and_when_it_turns(found: RentOrBuy) -> None:
    optimum = found.optimum
    none = math.nan

    def turning(mean: float, low: float, high: float) -> str:
        return verdict(replace(found, optimum=replace(optimum, rental_fall_turns=Range(mean, low, high))))

    stops = "Owning stops being cheaper where rents fall faster than about 35\u00a0% a year"
    bounds = "between a fall of 20\u00a0% and a fall of 40\u00a0%, by the cells' 95 % intervals"
    assert f"{stops} ({bounds})." in turning(0.35, 0.2, 0.4)
    assert f"{stops} (from a fall of 20\u00a0% on, by the cells' 95 % intervals)." in turning(0.35, 0.2, none)
    assert f"{stops} (the cells' 95 % intervals allow any change tried)." in turning(0.35, none, none)
    assert f"{stops}." in turning(0.35, 0.35, 0.35)
    rises = "Owning is cheaper only where rents rise faster than about 20\u00a0% a year (up to a fall of 1\u00a0%,"
    assert rises in turning(-0.2, none, 0.01)
    never = replace(found, optimum=replace(optimum, rental_fall_turns=Range(none, none, none)))
    two, one = cells((1.0, 0.0, -3.0), (1.0, 0.5, -1.0)), cells((1.0, 0.1, 3.0))
    said = verdict(replace(never, heat_map=tuple(two)))
    assert said.endswith("Owning is cheaper at every change of rents tried (0\u00a0% to \u221250\u00a0% a year).")
    unsure = replace(two[1], difference_percent=Range(-1.0, -3.0, 1.0))
    assert verdict(replace(never, heat_map=(two[0], unsure))).endswith("a year), though 1 of 2 cannot tell.")
    said = verdict(replace(never, heat_map=tuple(one)))
    assert said.endswith("Renting is cheaper at the one change of rents tried (\u221210\u00a0% a year).")
    renting = replace(found, optimum=replace(optimum, owned_share=0.0))
    assert verdict(renting).startswith("Rent: over 1.9 years the best owned share, 25\u00a0% of the need, costs")
    known = replace(found, optimum=replace(optimum, owned_share=0.75, best_own_share=0.75, refined_share=0.81))
    assert verdict(known).startswith("Own about 75\u00a0% of the need, the best share tried: over 1.9 years it is")
    assert "By the parabola through its neighbours the best is about 81\u00a0%." in verdict(known)
    late = tuple(replace(row, break_even_date=None) for row in found.paybacks)
    assert "does not pay for itself within its life" in verdict(replace(found, paybacks=late))


# The command ------------------------------------------------------------------------------------------------------

FEW = ("--replications", "2", "--cell-replications", "1", "--growth", "1", "--fall", "0,0.4")


def test_the_command_answers_and_keeps_its_files(labspend: Labspend, small_toml: Path, tmp_path: Path) -> None:
    done = labspend("rent-or-buy", small_toml, *FEW, "--policy", "plain", "--out", "found")
    assert done.returncode == 0, done.stderr
    for said in ("What moves it", "How many to own", "H100", RENT, "Results: found"):
        assert said in done.stdout
    kept = {path.name for path in (tmp_path / "found").iterdir()}
    assert {"tenures.csv", "paybacks.csv", "owned_base.csv", "heat_map.csv", "tornado.csv", "manifest.json"} <= kept
    for picture in ("owned_share", "payback", "heat_map", "tornado"):
        assert {f"{picture}.png", f"{picture}.svg"} <= kept
    again = load_study(tmp_path / "found" / "scenario.toml")
    assert [policy.name for policy in again.policies][:2] == [RENT, "own 25 %"]


def test_the_command_answers_in_json(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.rent_or_buy_plots.save_rent_or_buy_plots", lambda *_: [])
    words = ["rent-or-buy", str(small_toml), *FEW, "--json", "--out", str(tmp_path / "found")]
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    assert len(made["owned_base"]) == 7
    assert {"optimum", "tenures", "paybacks", "heat_map", "tornado"} < set(made)
    assert main(words) == 2
    assert "nothing is written over" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--growth", "1,x"), "--growth: must be numbers with commas between them"),
        (("--growth", "0,1"), "--growth: must lie between 0 and 100"),
        (("--growth", "nan"), "--growth: must lie between"),
        (("--growth", ""), "--growth: must be numbers"),
        (("--fall", "0,1"), "--fall: must lie between -9 and 1"),
        (("--fall", "0.1,0.1"), "--fall: must differ"),
        (("--fall", ",".join(f"0.{n:03}" for n in range(30))), "--fall: must be at most 20 numbers (got 30)"),
        (("--policy", "plian"), "did you mean 'plain'?"),
        (("--utilization", "0"), "--utilization"),
    ],
)
def test_bad_input_is_refused(
    small_toml: Path, tmp_path: Path, words: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rent-or-buy", str(small_toml), *words, "--out", str(tmp_path / "found")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "found").exists()
