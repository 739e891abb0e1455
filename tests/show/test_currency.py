"""Money shown in another currency: one rate, everywhere it is shown, and nowhere else."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from small_study import BUY, CAPPED, OVERTRAIN, RENT, growing_lab, with_costs

from simulator.lab.explain import explain
from simulator.show.explain_table import explain_table
from simulator.show.foresight_table import forecasts_table
from simulator.show.foresight_table import verdict as foresight_verdict
from simulator.show.money import DOLLARS, Currency, money, money_tick
from simulator.show.plots import cumulative_cost, demand, difference, save_plots, spend_by_account
from simulator.show.table import comparison_table, verdict
from simulator.study.comparison import Comparison
from simulator.study.experiment import compare
from simulator.study.files import load_study
from simulator.study.foresight import foresight
from simulator.study.meaning import meaning
from simulator.study.store import save
from simulator.world.currency import CurrencyInputs
from simulator.world.world import realize

EURO = CurrencyInputs(code="EUR", per_usd=0.8, on=date(2026, 6, 1), source="ECB")
RATE = "1 USD = 0.8 EUR on 2026-06-01, ECB"
POLICIES = (RENT, OVERTRAIN, BUY, CAPPED)


@pytest.fixture(scope="module")
def dollars() -> Comparison:
    return compare(growing_lab(), POLICIES, replications=2)


@pytest.fixture(scope="module")
def euros() -> Comparison:
    return compare(growing_lab().model_copy(update={"currency": EURO}), POLICIES, replications=2)


def printed(table: Table, width: int = 160) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_an_amount_by_hand() -> None:
    euro, franc = Currency.declared(EURO), Currency("CHF", 0.8)
    assert money(1.5e9, euro) == "€1.20B"
    assert money(-250.0, euro) == "−€200"
    assert money(float("nan"), euro) == "–"
    assert money_tick(1.25e6, euro) == "€1M"
    assert money(10.0, franc) == "CHF\u00a08.00", "a sign that is not its own is no sign"
    assert Currency.declared(None) is DOLLARS


def test_the_table_is_in_euros_and_says_at_what_rate(dollars: Comparison, euros: Comparison) -> None:
    text, plain = printed(comparison_table(euros)), printed(comparison_table(dollars))
    for row in dollars.summary_records():
        assert money(row.cumulative_cost_usd) in plain
        assert f"{money(0.8 * row.cumulative_cost_usd).replace('$', '€')} ±" in text
    assert "$" not in text
    assert "€ per M" in text
    assert f"Money is in EUR: {RATE}." in " ".join(text.split())
    assert "USD" not in plain
    assert verdict(euros) == verdict(dollars)


@pytest.mark.parametrize("plot", [cumulative_cost, difference, spend_by_account])
def test_pictures_of_money_say_the_rate(dollars: Comparison, euros: Comparison, plot: object) -> None:
    assert callable(plot)
    assert f" {RATE}." in plot(euros).get_xlabel().replace("\n", " ")
    assert "USD =" not in plot(dollars).get_xlabel()
    assert not [text.get_text() for text in plot(euros).texts if "$" in text.get_text()]


def test_a_picture_without_money_says_no_rate(euros: Comparison) -> None:
    assert "EUR" not in demand(euros).get_xlabel()


@pytest.mark.parametrize("is_wide", [False, True])
def test_ticks_are_round_in_euros(dollars: Comparison, is_wide: bool) -> None:
    odd = EURO.model_copy(update={"per_usd": 0.92137})
    euros = replace(dollars, scenario=dollars.scenario.model_copy(update={"currency": odd}))
    cost = euros.by_policy("cumulative_cost_usd")[0]
    shown = with_costs(euros, {"overtrain": cost / 10.0, "buy": cost / 12.0}) if is_wide else euros
    ax = cumulative_cost(shown)
    assert ax.get_yscale() == ("log" if is_wide else "linear")
    assert ax.get_ylabel().startswith("money spent since the start [EUR")
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    low, high = ax.get_ylim()
    ticks = 0.92137 * np.array([tick for tick in ax.get_yticks() if low <= tick <= high and tick > 0.0])
    assert ticks.size >= 2
    for tick in ticks:
        assert float(f"{tick:.2e}") == pytest.approx(tick, rel=1e-9), "three digits say it exactly"
    assert all(label.get_text()[0] == "€" for label in ax.get_yticklabels())


def test_what_is_drawn_and_stored_stays_in_dollars(dollars: Comparison, euros: Comparison, tmp_path: Path) -> None:
    for left, right in zip(cumulative_cost(dollars).lines, cumulative_cost(euros).lines, strict=True):
        np.testing.assert_array_equal(np.asarray(left.get_ydata()), np.asarray(right.get_ydata()))
    save(dollars, tmp_path / "usd")
    save(euros, tmp_path / "eur")
    for path in (tmp_path / "usd").iterdir():
        if path.name not in ("manifest.json", "scenario.toml", "price_book.csv"):
            assert path.read_bytes() == (tmp_path / "eur" / path.name).read_bytes(), path.name
    row = "exchange rate,EUR,2026-06-01,0.8,0.8,EUR/USD,ECB"
    assert (tmp_path / "eur" / "price_book.csv").read_text().splitlines()[-1] == row
    assert load_study(tmp_path / "eur" / "scenario.toml").scenario == euros.scenario


def test_foresight_and_explain_are_in_euros() -> None:
    scenario = growing_lab(120).model_copy(update={"currency": EURO})
    found = foresight(scenario, [RENT], replications=1, sigmas=())
    table = printed(forecasts_table(found))
    cost = found.forecasts[0].cost_usd.mean
    assert f" {money(0.8 * cost).replace('$', '€')} " in table
    assert f"Money: {RATE}." in table
    assert "€" in foresight_verdict(found)
    assert "$" not in table + foresight_verdict(found)
    seen = explain(realize(scenario, 1, 0), OVERTRAIN, 0)
    assert seen is not None
    why = printed(explain_table(seen, scenario), 250)
    assert money(0.8 * seen.chosen.planned_usd).replace("$", "€") in why
    assert RATE in why


def test_dollar_signs_in_words_are_no_formulas(tmp_path: Path) -> None:
    """A caption with $ twice is not set as mathematics, which would fail on half a formula."""
    source = "a desk that writes $\\frac$ and $x_"
    scenario = growing_lab(40).model_copy(update={"currency": EURO.model_copy(update={"source": source})})
    assert save_plots(compare(scenario, [RENT], replications=1), tmp_path)


def test_brackets_in_words_are_no_markup() -> None:
    source = "our bank [/treasury]"
    scenario = growing_lab(40).model_copy(update={"currency": EURO.model_copy(update={"source": source})})
    seen = explain(realize(scenario, 1, 0), OVERTRAIN, 0)
    assert seen is not None
    assert source in printed(explain_table(seen, scenario), 400)


def test_check_says_what_money_is_shown_in() -> None:
    declared = ('code="EUR"', "per_usd=0.8", "on=2026-06-01", 'source="ECB"')
    study = load_study("known_demand", [f"currency.{key}" for key in declared])
    assert f"Money is shown in EUR: {RATE}." in meaning(study)


@pytest.mark.parametrize(
    ("key", "value"),
    [("code", "euro"), ("code", "eur"), ("per_usd", 0.0), ("per_usd", -1.0), ("per_usd", 1e300), ("source", "")],
)
def test_a_rate_that_is_none_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=key):
        CurrencyInputs.model_validate({**EURO.model_dump(), key: value})


def test_dollars_cost_a_dollar() -> None:
    with pytest.raises(ValidationError, match="must be 1 where the currency is the US dollar"):
        CurrencyInputs.model_validate({**EURO.model_dump(), "code": "USD"})
