"""The tables of a report, and its advice for the quarter, each number with the place it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from simulator.lab.accounts import Stage
from simulator.show.figures import Figure, Figures
from simulator.show.money import change_decimals
from simulator.study.assumptions import assumptions
from simulator.study.comparison import Comparison, SummaryRow
from simulator.study.csv_cells import read_csv
from simulator.study.price_book import PriceRow
from simulator.study.store import DAILY, ORDERS, PRICE_BOOK, RELEASES, SCENARIO, STAGES, SUMMARY
from simulator.study.this_quarter import OrderSum, Quarter, Spread, Training
from simulator.study.toml_comments import NO_COMMENT, comments

Interval = tuple[Figure, Figure]


@dataclass(frozen=True, slots=True)
class CostLine:
    """What one policy costs."""

    policy: str
    is_baseline: bool
    comparable: bool
    reason: str
    cost: Figure
    cost_interval: Interval
    present_value: Figure
    worst: Figure
    change: Figure
    change_interval: Interval
    wins: Figure
    regret: Figure
    peak_cash: Figure


@dataclass(frozen=True, slots=True)
class ServiceLine:
    """What users got of it, and how well it was used."""

    policy: str
    quality_met: bool
    served: Figure
    days_late: Figure
    training: Figure
    used: Figure
    tokens_price: Figure
    stranded: Figure
    break_even: date | None


@dataclass(frozen=True, slots=True)
class StageLine:
    """At which stage of a model's life the cost of one policy falls."""

    policy: str
    stages: tuple[Figure, ...]
    """In the order of `Stage`."""
    cost: Figure


@dataclass(frozen=True, slots=True)
class OrderWords:
    """An order of the quarter."""

    verb: str
    gpus: Figure
    gpus_range: Interval
    accelerator: str
    term_days: int
    usd: Figure


@dataclass(frozen=True, slots=True)
class TrainingWords:
    """A model to train."""

    release: str
    decided: date
    due: date
    parameters: Figure
    parameters_range: Interval
    tokens: Figure
    tokens_range: Interval
    precision: str


@dataclass(frozen=True, slots=True)
class QuarterWords:
    """What to do this quarter."""

    policy: str
    first: date
    last: date
    orders: tuple[OrderWords, ...]
    trainings: tuple[TrainingWords, ...]
    rented: Figure
    next_decision: date | None


@dataclass(frozen=True, slots=True)
class AssumptionLine:
    """A key of the scenario."""

    key: str
    value: Figure | str
    unit: str
    description: str
    source: str


@dataclass(frozen=True, slots=True)
class PriceLine:
    """A row of the price book."""

    price: str
    item: str
    day: date
    quoted: Figure
    paid: Figure
    unit: str
    source: str


def cost_lines(rows: Sequence[SummaryRow], figures: Figures) -> Iterator[CostLine]:
    """A line per policy, the baseline first."""
    for row in rows:
        at, change = (SUMMARY, row.policy), row.controlled_difference_percent
        decimals = change_decimals(change)
        yield CostLine(
            row.policy,
            row is rows[0],
            row.comparable,
            row.reason,
            figures.money(row.controlled_cost_usd, *at, "controlled_cost_usd"),
            (
                figures.money(row.controlled_cost_low_usd, *at, "controlled_cost_low_usd"),
                figures.money(row.controlled_cost_high_usd, *at, "controlled_cost_high_usd"),
            ),
            figures.money(row.controlled_present_value_usd, *at, "controlled_present_value_usd"),
            figures.money(row.cvar95_usd, *at, "cvar95_usd"),
            figures.change(change, decimals, *at, "controlled_difference_percent"),
            (
                figures.bound(
                    row.controlled_difference_low_percent, decimals, *at, "controlled_difference_low_percent"
                ),
                figures.bound(
                    row.controlled_difference_high_percent, decimals, *at, "controlled_difference_high_percent"
                ),
            ),
            figures.share(row.chance_cheapest, 0, *at, "chance_cheapest"),
            figures.money(row.regret_usd, *at, "regret_usd"),
            figures.money(row.peak_cash_usd, *at, "peak_cash_usd"),
        )


def service_lines(rows: Sequence[SummaryRow], figures: Figures) -> Iterator[ServiceLine]:
    """A line per policy, the baseline first."""
    for row in rows:
        at = (SUMMARY, row.policy)
        yield ServiceLine(
            row.policy,
            row.quality_met,
            figures.share(row.served_share, 1, *at, "served_share"),
            figures.plain(row.days_late, *at, "days_late"),
            figures.share(row.training_share, 0, *at, "training_share"),
            figures.share(row.utilization, 0, *at, "utilization"),
            figures.tokens_price(row.usd_per_million_tokens, *at, "usd_per_million_tokens"),
            figures.money(row.stranded_usd, *at, "stranded_usd"),
            row.break_even_date,
        )


def stage_lines(comparison: Comparison, figures: Figures) -> Iterator[StageLine]:
    """A line per policy, the baseline first."""
    for row, usd in zip(comparison.summary_records(), comparison.controlled_stage_usd.tolist(), strict=True):
        stages = (
            figures.money(cost, STAGES, row.policy, stage.value, "controlled_usd")
            for stage, cost in zip(Stage, usd, strict=True)
        )
        cost = figures.money(row.controlled_cost_usd, SUMMARY, row.policy, "controlled_cost_usd")
        yield StageLine(row.policy, tuple(stages), cost)


def quarter_words(quarter: Quarter, figures: Figures) -> QuarterWords:
    """What to order and train, from the orders and releases of all worlds."""
    return QuarterWords(
        quarter.policy,
        quarter.first,
        quarter.last,
        tuple(_order(order, quarter.policy, figures) for order in quarter.orders),
        tuple(_training(training, quarter.policy, figures) for training in quarter.trainings),
        figures.count(quarter.rented_gpus, DAILY, quarter.policy, "rented_gpus"),
        quarter.next_decision,
    )


_VERBS = {"buy": "buy", "reserve": "lease", "sell": "sell"}


def _order(order: OrderSum, policy: str, figures: Figures) -> OrderWords:
    at = (ORDERS, policy, order.action, order.accelerator, order.term_days)
    return OrderWords(
        _VERBS[order.action],
        figures.count(order.gpus.median, *at, "gpus", "median"),
        (figures.count(order.gpus.low, *at, "gpus", "low"), figures.count(order.gpus.high, *at, "gpus", "high")),
        order.accelerator,
        order.term_days,
        figures.money(order.usd.median, *at, "usd", "median"),
    )


def _training(training: Training, policy: str, figures: Figures) -> TrainingWords:
    at = (RELEASES, policy, training.release)

    def ends(spread: Spread, column: str) -> Interval:
        return figures.scaled(spread.low, *at, column, "low"), figures.scaled(spread.high, *at, column, "high")

    return TrainingWords(
        training.release,
        training.decided,
        training.due,
        figures.scaled(training.n_parameters.median, *at, "n_parameters", "median"),
        ends(training.n_parameters, "n_parameters"),
        figures.scaled(training.n_training_tokens.median, *at, "n_training_tokens", "median"),
        ends(training.n_training_tokens, "n_training_tokens"),
        training.precision,
    )


def assumption_lines(comparison: Comparison, scenario_text: str, figures: Figures) -> list[AssumptionLine]:
    """Every key that is set; who says so is the comment that stands at it in the file, else the source declared."""
    said = {".".join(map(str, key)): comment for key, comment in comments(scenario_text).items()}
    lines = []
    for found in assumptions(comparison):
        comment = str(said.get(found.key, NO_COMMENT))
        value = found.value
        lines.append(
            AssumptionLine(
                found.key,
                figures.declared(value, SCENARIO, found.key) if isinstance(value, float) else str(value),
                found.unit,
                found.description,
                comment or found.source,
            )
        )
    return lines


def price_lines(path: Path, figures: Figures) -> Iterator[PriceLine]:
    """Every price used, as the folder's price book has it."""
    for number, row in enumerate(read_csv(path, PriceRow).itertuples(index=False)):
        at = (PRICE_BOOK, number)
        yield PriceLine(
            row.price,
            row.item,
            row.date.date(),
            figures.declared(row.quoted, *at, "quoted"),
            figures.declared(row.paid, *at, "paid"),
            row.unit,
            row.source,
        )
