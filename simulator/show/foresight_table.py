"""What forecasts are worth, as tables and in a sentence."""

from __future__ import annotations

import math

from rich.table import Table

from simulator.show.money import DASH, Currency, money, percent
from simulator.show.plain_table import plain_table
from simulator.study.comparison import worlds_said
from simulator.study.foresight import NULL, Foresight, Range


def forecasts_table(found: Foresight) -> Table:
    """A row per policy and forecast."""
    comparison = found.comparison
    currency = Currency.declared(comparison.scenario.currency)
    table = plain_table(
        f"{comparison.scenario.title}: every policy with every forecast",
        f"{worlds_said(comparison.replications)}, seed {comparison.seed}. Value: cost with {NULL} less cost with this "
        "forecast, [95 %]; it may be negative.\nRegret: above the cheapest of all options in each world, those of "
        "hindsight included. Share: training of training and serving.\nOptions that serve less or worse than the first "
        "policy have no regret." + (f"\nMoney: {currency.said}." if currency.said else ""),
        Table,
    )
    for header in ("Policy", "Forecast"):
        table.add_column(header, no_wrap=True)
    for header in ("Cost", "Value of forecast", "Regret", "Training share"):
        table.add_column(header, justify="right", no_wrap=True)
    last = ""
    for row in found.forecasts:
        regret = (
            f"{money(row.regret_usd, currency)} ({row.regret_percent:.1f} %)" if math.isfinite(row.regret_usd) else DASH
        )
        table.add_row(
            "" if row.policy == last else row.policy,
            row.forecast,
            money(row.cost_usd.mean, currency),
            _percent(row.value_percent),
            regret if row.comparable else "not comparable",
            percent(row.training_share, 1),
        )
        last = row.policy
    return table


def information_table(found: Foresight) -> Table:
    """A row per policy: what knowing and reacting is worth."""
    table = plain_table(
        "What knowing more is worth [% of cost, 95 %]",
        "Perfect information: the scenario's own mean and spread, against demand known. Stochastic solution: deciding "
        "on the mean alone, against the distribution.\nOption: as it is, against requantizing, retraining early and "
        "reselling when demand leaves its band. In theory: closed form, where there is one.\nPolicies marked * "
        "minimise expected cost in one decision; the others follow rules, and may do worse with more.",
        Table,
    )
    table.add_column("Policy", no_wrap=True)
    for header in ("Perfect information", "in theory", "Stochastic solution", "in theory", "Option to change course"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in found.information:
        table.add_row(
            f"{row.policy}{' *' if row.optimises else ''}",
            _percent(row.perfect_information_percent),
            _theory(row.perfect_information_theory),
            _percent(row.stochastic_solution_percent),
            _theory(row.stochastic_solution_theory),
            _percent(row.option_percent),
        )
    return table


def uncertainty_table(found: Foresight) -> Table:
    """A row per policy and uncertainty of the level of demand."""
    table = plain_table(
        "As demand gets less certain",
        "Sigma: sd of the log of a factor on all demand, drawn once per world. Shares: training of training and "
        "serving;\nunknown: when only the mean of demand is known, of the mean spend and as the mean of the worlds' "
        "own shares.\nIn theory: closed forms of Erdil's trade (Erdil 2024), where they apply.",
        Table,
    )
    table.add_column("Policy", no_wrap=True)
    for header in (
        "Sigma",
        "Share, known",
        "unknown",
        "in theory",
        "mean of worlds",
        "in theory",
        "Perfect information",
        "in theory",
    ):
        table.add_column(header, justify="right", no_wrap=True)
    last, order = "", list(dict.fromkeys(row.policy for row in found.uncertainty))
    for row in sorted(found.uncertainty, key=lambda row: order.index(row.policy)):
        table.add_row(
            "" if row.policy == last else row.policy,
            f"{row.level_sigma:g}",
            percent(row.share_known, 1),
            percent(row.share_unknown, 1),
            _share(row.share_theory),
            percent(row.share_of_worlds, 1),
            _share(row.share_of_worlds_theory),
            _percent(row.perfect_information_percent),
            _theory(row.perfect_information_theory),
        )
        last = row.policy
    return table


def verdict(found: Foresight) -> str:
    """The answer in words: the best pair of policy and forecast, and what foresight would add."""
    usable = [row for row in found.forecasts if row.comparable and row.forecast not in ("expected", "foresight")]
    if not usable:
        return "No option gives the service and quality of the first policy."
    best = min(usable, key=lambda row: row.cost_usd.mean)
    known = next(row for row in found.forecasts if (row.policy, row.forecast) == (best.policy, "foresight"))
    currency = Currency.declared(found.comparison.scenario.currency)
    saved = 100.0 * (1.0 - known.cost_usd.mean / best.cost_usd.mean)
    change = f"{abs(saved):.1f} % {'less' if saved >= 0.0 else 'more'}"
    return (
        f"Of what a lab can really know, {best.policy} with the forecast {best.forecast} costs least, "
        f"{money(best.cost_usd.mean, currency)}; with demand known it would cost {change}. It costs "
        f"{best.regret_percent:.1f} % more than what hindsight would have done in each world."
    )


def _percent(found: Range) -> str:
    if not math.isfinite(found.mean):
        return DASH
    if not math.isfinite(found.low):
        return f"{found.mean:.1f}"
    return f"{found.mean:.1f} [{found.low:.1f}, {found.high:.1f}]"


def _share(value: float) -> str:
    return percent(value, 1) if math.isfinite(value) else DASH


def _theory(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else DASH
