"""Renting and buying where limits cut orders, and what a short window leaves at its end: a flat lab by hand.

1,000 GPUs are needed at all hours. One rents for 4.00 USD an hour; bought it costs 20,000 in its cluster, comes on
day 1, draws 2 kW x 1.2 = 2.4 kW of the building's power, and sold it fetches 13,500 x 10^(-0.001 x days of age).
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from small_lab import TOKENS_PER_DAY, FixedRecipe, plain_scenario

from simulator.cli import main
from simulator.lab.forecast import Expected
from simulator.lab.policy import Policy
from simulator.lab.procurement import RentOnDemand
from simulator.show.rent_or_buy_plots import owned_share, save_rent_or_buy_plots
from simulator.show.rent_or_buy_table import base_table, heat_table, tenures_table
from simulator.show.rent_or_buy_words import no_tornado, verdict
from simulator.study.rent_or_buy import rent_or_buy
from simulator.study.rent_or_buy_answers import RentOrBuy
from simulator.study.rent_or_buy_tables import save_tables
from simulator.world.limits import LimitsInputs
from simulator.world.market import Commitment

DAYS = 400
LEASE = Commitment(term_days=1000, discount=0.25)


def flat(limits: LimitsInputs, rent_usd: float = 4.0) -> RentOrBuy:
    """One world of it, and one cell."""
    plain = plain_scenario()
    quote = plain.market.quote[0].model_copy(update={"on_demand_usd_per_gpu_hour": rent_usd})
    scenario = plain.model_copy(
        update={
            "horizon_days": DAYS,
            "limits": limits,
            "market": plain.market.model_copy(update={"quote": (quote,), "event": (), "commitment": (LEASE,)}),
            "demand": plain.demand.model_copy(
                update={"tokens_per_day": 100 * TOKENS_PER_DAY, "hour_profile": (1.0,) * 24}
            ),
            "roadmap": plain.roadmap.model_copy(update={"release": ()}),
        }
    )
    policy = Policy("flat", FixedRecipe(), RentOnDemand(), Expected())
    return rent_or_buy(scenario, policy, replications=1, growths=(1.0,), falls=(0.0,), cell_replications=1)


@pytest.fixture(scope="module")
def dim() -> RentOrBuy:
    """There is power for 600 GPUs."""
    return flat(LimitsInputs(power_kw=600 * 2.4))


@pytest.fixture(scope="module")
def dark() -> RentOrBuy:
    """There is power for none."""
    return flat(LimitsInputs(power_kw=2.3))


@pytest.fixture(scope="module")
def alone(dim: RentOrBuy) -> RentOrBuy:
    """As if no owned share served as many as renting does."""
    first, *shares, lease = dim.owned_base
    short = [
        replace(row, comparable=False, reason=f"serves {number}.5 points less than rent all")
        for number, row in enumerate(shares)
    ]
    none = replace(dim.optimum, owned_share=math.nan, best_own_share=math.nan, refined_share=math.nan)
    return replace(dim, owned_base=(first, *short, lease), tornado=(), optimum=none)


def test_a_budget_for_users_is_not_spent_on_gpus() -> None:
    """17.6 million pay for renting 1,000 GPUs at 2.00 all year: whoever would own serves as many, and owns less."""
    found = flat(LimitsInputs(budget_usd_per_year=17_600_000.0), rent_usd=2.0)
    assert all(row.comparable for row in found.owned_base)
    assert {row.cut_to for row in found.owned_base[1:7]} == {"the budget allows"}


def test_rows_whose_orders_were_cut_say_so(dim: RentOrBuy) -> None:
    assert [row.held_peak_gpus for row in dim.owned_base[:7]] == [0, 250, 500, 600, 600, 600, 600]
    assert [row.cut_share for row in dim.owned_base] == [0, 0, 0, 1, 1, 1, 1, 0]
    assert [row.cut_to for row in dim.cut] == ["the building has power for"] * 4
    names = list(base_table(dim).columns[0].cells)
    assert [str(name) for name in names][3:5] == ["own 75 % * †", "own 100 % †"]
    ticks = [label.get_text() for label in owned_share(dim).get_xticklabels()]
    assert [tick.endswith("GPUs †") for tick in ticks] == [False] * 3 + [True] * 4


def test_no_larger_share_is_preferred_that_holds_the_same(dim: RentOrBuy) -> None:
    assert dim.optimum.owned_share == dim.optimum.best_own_share == 0.75
    (cell,) = dim.heat_map
    assert (cell.owned_share, cell.is_cut) == (0.75, True)
    assert "(own 75\u00a0% †)" in str(next(iter(heat_table(dim).columns[1].cells)))
    said = verdict(dim)
    assert said.startswith("Own as far as limits allow: the best way tried, own 75 %, holds at most 600 GPUs and over")
    cut = "Orders of own 75 %, own 100 %, own 125 %, own 150 % were cut to what the building has power for: "
    assert f"{cut}they hold at most 600 GPUs, fewer than asked for or later." in said


def test_where_nothing_can_be_owned_the_answer_is_to_rent(dark: RentOrBuy, tmp_path: Path) -> None:
    assert dark.optimum.owned_share == 0.0
    assert verdict(dark).startswith("Rent: no owned share that is comparable holds a GPU.")
    assert "power for: they hold no GPU." in verdict(dark)
    assert dark.tornado == ()
    assert no_tornado(dark) == "No input is swung: the best owned share, 25\u00a0%, holds no GPU."
    assert {path.stem for path in save_rent_or_buy_plots(dark, tmp_path)} == {"owned_share", "payback", "heat_map"}


def test_a_picture_of_one_share_says_why_it_is_alone(alone: RentOrBuy, tmp_path: Path) -> None:
    assert [row.comparable for row in alone.owned_base] == [True] + [False] * 6 + [True]
    ax = owned_share(alone)
    low, high = ax.get_ylim()
    assert low < alone.owned_base[-1].difference_percent.mean < high
    assert low < 0.0 < high
    (said,) = (text.get_text() for text in ax.texts if text.get_text().startswith("Not comparable"))
    assert said.split("\n")[1:] == [f"{row.policy} {row.reason}" for row in alone.owned_base[1:7]]
    for absent in ("Band", "Ring", "otted"):
        assert absent not in ax.get_xlabel()
    assert len(save_rent_or_buy_plots(alone, tmp_path)) == 6
    assert no_tornado(alone).startswith("No owned share is comparable with renting all, so no input is swung: own 25 %")


def test_ticks_of_a_flat_curve_differ(dark: RentOrBuy) -> None:
    ax = owned_share(dark)
    low, high = ax.get_ylim()
    assert high - low > 1.0
    ticks = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(ticks)) == len(ticks)
    assert "Band" not in ax.get_xlabel()


def test_what_is_left_at_the_end_is_told(dim: RentOrBuy, tmp_path: Path) -> None:
    half = dim.owned_base[2]
    assert half.opening_usd == 0.0
    # Valued on day 399, at an age of 398 days.
    assert half.closing_usd == pytest.approx(-500 * 13_500 * 10**-0.398, rel=1e-9)
    lease = dim.owned_base[-1]
    # Leased for 1,000 days at 3.00; sublet it would bring 3.00 less a tenth: 0.30 an hour too dear for the days left.
    left = lease.closing_usd / (lease.held_end_gpus * 24 * 0.30)
    assert left == pytest.approx(1000 - DAYS, abs=1.0)
    save_tables(dim, tmp_path)
    table = pd.read_csv(tmp_path / "owned_base.csv")
    assert table["closing_usd"].tolist() == [row.closing_usd for row in dim.owned_base]
    assert [str(cell) for cell in base_table(dim).columns[2].cells][2] == "−$2.70M"


def test_a_window_shorter_than_a_life_is_told(dim: RentOrBuy) -> None:
    said = "The simulation ends after 1.1 of the"
    assert said in verdict(dim)
    assert said in str(tenures_table(dim).caption)


def test_the_command_says_why_there_is_no_tornado(
    small_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.show.rent_or_buy_plots.save_rent_or_buy_plots", lambda *_: [])
    few = ("--replications", "1", "--cell-replications", "1", "--growth", "1", "--fall", "0")
    words = ["rent-or-buy", str(small_toml), *few, "--set", "limits.power_kw=0.001", "--out", str(tmp_path / "found")]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "What moves it" not in said
    assert "No input is swung: the best owned share, " in said
    assert "were cut to what the building has power for: they hold no GPU." in said
