"""One decision, laid open: what was chosen, what else there was, and what stood in the way."""

from __future__ import annotations

from rich.table import Table

from simulator.lab.explain import Explanation
from simulator.lab.plan import Choice
from simulator.lab.recorded import NOT_PUBLISHED
from simulator.show.money import Currency, money, scaled, signed_percent
from simulator.show.plain_table import plain_table
from simulator.world.scenario import Scenario

_LIMITS = {
    "data": "trade used up: no more data",
    "time": "trade used up: no more time",
    "trade used up": "trade used up",
    "target out of reach": "misses the target",
    NOT_PUBLISHED: "size not published: the model before serves on",
    "": "",
}


def explain_table(seen: Explanation, scenario: Scenario) -> Table:
    """A row per set of levers, cheapest first; the one that was chosen is marked."""
    release = seen.release
    when = scenario.calendar.date_of
    currency = Currency.declared(scenario.currency)
    table = plain_table(
        f"{release.name}: decided {when(seen.day)} by {seen.policy}, due {when(release.due_day)}",
        f"{reason(seen)} Money: {currency.said}." if currency.said else reason(seen),
        Table,
    )
    for header in ("Levers", "Trained", "Limit"):
        table.add_column(header, justify="left", no_wrap=True)
    for header in ("Parameters", "Tokens", "per param.", "Served in", "Samples", "GPUs x days"):
        table.add_column(header, justify="right", no_wrap=True)
    for header in ("Training", "Serving", "Together", "vs chosen"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_row(*_cells("chosen", seen.chosen, seen.chosen, currency), style="bold", end_section=True)
    for option in seen.options:
        levers = ", ".join(sorted(option.levers)) or "none: compute-optimal"
        table.add_row(*_cells(levers, option.choice, seen.chosen, currency))
    return table


def reason(seen: Explanation) -> str:
    """Why, in words."""
    chosen, release = seen.chosen, seen.release
    planned = f"{scaled(chosen.planned_tokens)} tokens planned over {release.life_days} days"
    told = [
        f"Target {release.target_flop:.3g} equivalent FLOP; {planned}.",
        "Costs are planned ones, the service discounted to the day of the decision.",
    ]
    if not chosen.quality_met:
        told.append("Nothing meets the target in time: the best attainable is trained.")
    dearer = [option for option in seen.options if option.choice.planned_usd > chosen.planned_usd * (1 + 1e-9)]
    if dearer:
        worst = max(dearer, key=lambda option: option.choice.planned_usd)
        levers = ", ".join(sorted(worst.levers)) or "no lever"
        more = 100.0 * (worst.choice.planned_usd / chosen.planned_usd - 1.0)
        told.append(f"Rejected: {len(dearer)} dearer sets of levers, up to {signed_percent(more)} with {levers}.")
    if chosen.limit:
        told.append(f"What binds: {_LIMITS[chosen.limit]}.")
    return " ".join(told)


def _cells(name: str, choice: Choice, chosen: Choice, currency: Currency) -> list[str]:
    model = choice.model
    change = 100.0 * (choice.planned_usd / chosen.planned_usd - 1.0)
    return [
        name,
        choice.route,
        _LIMITS[choice.limit],
        scaled(model.n_parameters),
        scaled(model.n_training_tokens),
        f"{model.n_training_tokens / model.n_parameters:.3g}",
        model.precision.name,
        f"{model.samples:.3g}",
        f"{choice.size.gpus:,} x {choice.size.days:.3g}",
        money(choice.planned_training_usd + (choice.data_usd or 0.0), currency),
        money(choice.planned_serving_usd, currency),
        money(choice.planned_usd, currency),
        "" if choice is chosen else signed_percent(change),
    ]
