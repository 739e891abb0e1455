"""The first sheet to read: what each policy costs, how sure that is, where it comes from and what users got."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.lab.accounts import Stage, Use
from simulator.show.stage_table import in_a_line
from simulator.show.statement_lines import EXCHANGE_RATE
from simulator.show.statement_sheets import FIRST_LINE, FIRST_PERIOD, Statement, chart_number
from simulator.show.style import PETROFF
from simulator.show.table import verdict
from simulator.show.workbook_cells import (
    CENTS,
    DAY,
    NOTE,
    PERCENT,
    PLAIN,
    SECTION,
    TEXT,
    WHOLE,
    WRAPPED,
    Book,
    Sheet,
    cell,
    fixed,
    money_number,
    money_width,
)
from simulator.study.comparison import Comparison, SummaryRow

NAME = "Summary"
_WIDEST = 12
"""Columns of the widest table."""
_FIRST_TABLE = 5
"""Its title; headers follow, then the baseline."""
_COST = 1
_YES_OR_NO = "@"
"""As text, on the side of figures."""
_MOST_ON_A_PAGE = 12


@dataclass(frozen=True, slots=True)
class Computed:
    """A cell that a formula makes."""

    formula: str
    value: float


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    number: str
    """How it is shown."""
    of: Callable[[int, int], object]
    """The cell of a policy in a row: a text, a number, a date, or a formula."""


def write_summary(book: Book, comparison: Comparison, statements: Sequence[Statement]) -> None:
    """Costs link to the statements, so that a click leads to where they come from."""
    largest = max(found.largest_usd for found in statements)
    sheet = book.sheet(NAME, [30.0, *[max(money_width(largest), 12.0)] * (_WIDEST - 1)], (0, 1))
    sheet.title(comparison.scenario.title)
    said = (comparison.scenario.question, verdict(comparison), comparison.equal_service.said)
    for row, text in enumerate(said, start=1):
        sheet.made.merge_range(row, 0, row, 9, "")
        sheet.text(row, 0, text, WRAPPED)
        sheet.fit(row, (text,), (150.0,))
    row = _FIRST_TABLE
    for title, columns in _tables(comparison, statements, row, money_number(largest)):
        row = _write(sheet, row, title, columns, comparison.policy_names)
    book.made.define_name("Baseline_cost", f"='{NAME}'!{fixed(_FIRST_TABLE + 2, _COST)}")
    _draw(book, sheet, statements, row)
    if len(statements) <= _MOST_ON_A_PAGE:
        sheet.made.fit_to_pages(1, 1)


def _write(sheet: Sheet, row: int, title: str, columns: Sequence[_Column], policies: Sequence[str]) -> int:
    """One table; gives back the row below it."""
    for place in range(len(columns) + 1):
        sheet.text(row, place, title if place == 0 else "", SECTION)
    figures = [place for place, column in enumerate(columns, start=1) if column.number != PLAIN]
    sheet.headers(row + 1, ["Policy", *(column.header for column in columns)], figures)
    sheet.made.set_row(row + 1, 42)
    for number, policy in enumerate(policies):
        at = row + 2 + number
        sheet.text(at, 0, policy)
        for place, column in enumerate(columns, start=1):
            found, look = column.of(number, at), TEXT.of(column.number)
            if isinstance(found, Computed):
                sheet.formula(at, place, found.formula, found.value, look)
            elif found is not None:
                is_prose = isinstance(found, str) and column.number == PLAIN
                sheet.anything(at, place, found, WRAPPED if is_prose else replace(look, align="right"))
    return row + len(policies) + 3


def _tables(
    comparison: Comparison, statements: Sequence[Statement], first: int, money: str
) -> Sequence[tuple[str, Sequence[_Column]]]:
    rows = comparison.summary_records()

    def stored(header: str, number: str, value: Callable[[SummaryRow], object]) -> _Column:
        return _Column(header, number, lambda policy, _: value(rows[policy]))

    def linked(header: str, line: int) -> _Column:
        def link(policy: int, _: int) -> object:
            found = statements[policy]
            return Computed(found.total_at(line), float(found.total[line, 0]))

        return _Column(header, money, link)

    return (
        ("What it costs, mean over worlds [USD]", _costs(comparison, statements, first + 2, money, stored, linked)),
        ("Where it comes from [USD]", _parts(statements[0], money, stored, linked)),
        ("At which stage of a model's life it falls [USD]", _stages(comparison, money)),
        ("Other measures of the cost [USD]", _measures(comparison, statements, money, stored, linked)),
        ("What users got, and how GPUs were used", _service(stored)),
        (
            "As the printed table says it: the same costs, each world's luck with demand taken out [USD]",
            (
                stored("Cost", money, lambda row: row.controlled_cost_usd),
                stored("low, 95 %", money, lambda row: row.controlled_cost_low_usd),
                stored("high, 95 %", money, lambda row: row.controlled_cost_high_usd),
                stored("vs baseline", PERCENT, lambda row: row.controlled_difference_percent / 100.0),
                stored("low, 95 %", PERCENT, lambda row: row.controlled_difference_low_percent / 100.0),
                stored("high, 95 %", PERCENT, lambda row: row.controlled_difference_high_percent / 100.0),
                stored("Present value", money, lambda row: row.controlled_present_value_usd),
            ),
        ),
    )


_Stored = Callable[[str, str, Callable[[SummaryRow], object]], _Column]
_Linked = Callable[[str, int], _Column]


def _costs(
    comparison: Comparison,
    statements: Sequence[Statement],
    top: int,
    money: str,
    stored: _Stored,
    linked: _Linked,
) -> Sequence[_Column]:
    """`top` is the row of the baseline."""
    line = statements[0].layout.cash
    totals = [float(found.total[line, 0]) for found in statements]
    base = fixed(top, _COST)

    def difference(policy: int, row: int) -> object:
        return Computed(f"{cell(row, _COST)}-{base}", totals[policy] - totals[0]) if policy else None

    def share(policy: int, row: int) -> object:
        value = (totals[policy] - totals[0]) / totals[0] if totals[0] else 0.0
        return Computed(f"IF({base}=0,0,{cell(row, _COST + 3)}/{base})", value) if policy else None

    def against(value: Callable[[SummaryRow], float]) -> Callable[[SummaryRow], object]:
        return lambda row: None if row.policy == comparison.baseline else value(row)

    return (
        linked("Cost", line),
        stored("low, 95 %", money, lambda row: row.cumulative_cost_low_usd),
        stored("high, 95 %", money, lambda row: row.cumulative_cost_high_usd),
        _Column("Paired difference from the baseline", money, difference),
        stored("low, 95 %", money, against(lambda row: row.difference_low_usd)),
        stored("high, 95 %", money, against(lambda row: row.difference_high_usd)),
        _Column("Difference / baseline", PERCENT, share),
        stored("low, 95 %", PERCENT, against(lambda row: row.difference_low_percent / 100.0)),
        stored("high, 95 %", PERCENT, against(lambda row: row.difference_high_percent / 100.0)),
        stored("Chance to be cheapest", PERCENT, lambda row: row.chance_cheapest),
        stored("Mean regret", money, lambda row: row.regret_usd),
    )


def _parts(found: Statement, money: str, stored: _Stored, linked: _Linked) -> Sequence[_Column]:
    layout = found.layout
    return (
        linked("Brought in", layout.opening),
        linked("Money that moved", layout.moved),
        linked("Left at the end", layout.closing),
        linked("Cost, as cash", layout.cash),
        *(linked(use.name.capitalize(), layout.use[use]) for use in Use),
        linked("Cost, by use", layout.economic),
    )


def _stages(comparison: Comparison, money: str) -> Sequence[_Column]:
    def of(stage: int) -> Callable[[int, int], object]:
        return lambda policy, _: float(comparison.stage_usd[policy, stage])

    def whole(policy: int, row: int) -> object:
        first, last = cell(row, 1), cell(row, len(Stage))
        return Computed(f"SUM({first}:{last})", float(comparison.stage_usd[policy].sum()))

    stages = (_Column(in_a_line(stage), money, of(at)) for at, stage in enumerate(Stage))
    return *stages, _Column("Cost, by stage", money, whole)


def _measures(
    comparison: Comparison, statements: Sequence[Statement], money: str, stored: _Stored, linked: _Linked
) -> Sequence[_Column]:
    line, currency = statements[0].layout.cash, comparison.scenario.currency
    totals = [float(found.total[line, 0]) for found in statements]
    in_file = [row.cumulative_cost_usd for row in comparison.summary_records()]

    def check(policy: int, row: int) -> object:
        return Computed(f"ROUND({cell(row, 1)}-{cell(row, 2)},2)", round(totals[policy] - in_file[policy], 2))

    columns = [
        linked("Cost", line),
        stored("Cost in summary.csv", money, lambda row: row.cumulative_cost_usd),
        _Column("Off by, to the cent", CENTS, check),
        stored("Present value", money, lambda row: row.present_value_usd),
        stored("Cost in dollars of the start", money, lambda row: row.real_cost_usd),
        stored("Worst 5 % of worlds", money, lambda row: row.cvar95_usd),
        stored("Most cash within 365 days", money, lambda row: row.peak_cash_usd),
    ]
    if currency is not None and currency.code != "USD":
        per_usd = currency.per_usd

        def converted(policy: int, row: int) -> object:
            return Computed(f"{cell(row, 1)}*{EXCHANGE_RATE}", totals[policy] * per_usd)

        columns.append(_Column(f"Cost [{currency.code}]", money, converted))
    return columns


def _service(stored: _Stored) -> Sequence[_Column]:
    return (
        stored("Comparable", _YES_OR_NO, lambda row: "yes" if row.comparable else "no"),
        stored("Tokens served", "0.00%", lambda row: row.served_share),
        stored("Days late", "0.0", lambda row: row.days_late),
        stored("Quality met in every world", _YES_OR_NO, lambda row: "yes" if row.quality_met else "no"),
        stored("GPU-hours used", PERCENT, lambda row: row.utilization),
        stored("Training / (training + serving)", PERCENT, lambda row: row.training_share),
        stored("USD per million tokens", "0.0000", lambda row: row.usd_per_million_tokens),
        stored("Price of refused tokens [USD], in no cost", CENTS, lambda row: row.unserved_usd),
        stored("Breaks even with the baseline", DAY, lambda row: row.break_even_date),
        stored("Worlds", WHOLE, lambda row: row.replications),
        stored("Why not comparable", PLAIN, lambda row: row.reason),
    )


def _ticks(n_months: int) -> dict[str, object]:
    """Labels that do not run into each other."""
    return {"major_unit": -(-n_months // 12), "major_unit_type": "months"}


def _draw(book: Book, sheet: Sheet, statements: Sequence[Statement], row: int) -> None:
    """Money spent since the start, by policy and month, below the tables."""
    chart = book.made.add_chart({"type": "line"})
    line = statements[0].layout.running
    last = FIRST_PERIOD + statements[0].months.shape[1] - 1
    dashes = ("solid", "dash", "round_dot", "dash_dot", "long_dash", "square_dot")
    for number, found in enumerate(statements):
        name = found.sheets.months
        look = {
            "color": "#222222" if number == 0 else PETROFF[(number - 1) % len(PETROFF)],
            "dash_type": dashes[number % len(dashes)],
            "width": 2.0,
        }
        chart.add_series(
            {
                "name": [sheet.name, _FIRST_TABLE + 2 + number, 0],
                "categories": [name, 2, FIRST_PERIOD, 2, last],
                "values": [name, FIRST_LINE + line, FIRST_PERIOD, FIRST_LINE + line, last],
                "line": look,
            }
        )
    largest = max(float(np.abs(found.months[line]).max()) for found in statements)
    chart.set_title({"name": "Money that moved since the start, mean over worlds", "name_font": {"size": 12}})
    chart.set_x_axis({"date_axis": True, "num_format": "yyyy-mm", "label_position": "low", **_ticks(last)})
    chart.set_y_axis({"num_format": chart_number(largest), "major_gridlines": {"visible": True}})
    chart.set_size({"width": 960, "height": 380})
    told = {"description": "Money that moved since the start by policy, mean over worlds, one line per policy"}
    sheet.made.insert_chart(row, 0, chart, told)
    sheet.text(row - 1, 0, "Each policy's statements, by year and by month, have a sheet of their own.", NOTE)
