"""The sheets behind the figures: what the workbook is, assumptions, prices, the fleet, and the orders of one world."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pandas as pd

from simulator.lab.orders import Tenure
from simulator.show.statement_lines import EXCHANGE_RATE
from simulator.show.statement_sheets import Statement
from simulator.show.workbook_cells import (
    CENTS,
    FIGURE,
    LEFT,
    NOTE,
    PERCENT,
    TEXT,
    WHOLE,
    WRAPPED,
    Book,
    cell,
    fixed,
    money_number,
    money_width,
)
from simulator.study.assumptions import assumptions
from simulator.study.comparison import Comparison
from simulator.study.fleet_statement import ACCOUNTS
from simulator.study.identity import versions
from simulator.study.price_book import price_book

ABOUT, ASSUMPTIONS, PRICES, FLEET, ORDERS = "About", "Assumptions", "Price book", "Fleet", "Orders of world 0"
_HELD = {
    ASSUMPTIONS: "Every key of the scenario as it was used, with its unit, what it is, and who says so.",
    PRICES: "Every price that was declared, dated, before and after the negotiated discount.",
    FLEET: "GPU-hours held and used by tenure, and what an hour of either cost.",
    ORDERS: "What each policy ordered in the first world drawn, and why: one story of many.",
}
_NOTES = (
    "Figures are means over worlds. Every policy lives in the same worlds.",
    "Months hold numbers. Years add up months, lines add up to the cost, and the Summary links to it: all by formulas.",
    "Cost = brought in + money that moved + left at the end. Costs are positive; what is sold or left is negative.",
    "Cost by use spreads what is bought over its life. Month by month it differs from cash; in total it is the same.",
    "Money is in US dollars of the day (nominal); taxes are left out. Months are dated by their first day lived.",
    "GPU-hours count one GPU for one hour. Tokens are user tokens, prompt and completion.",
    "Cells show whole dollars where amounts are large; what they hold has all its digits.",
)


def write_about(book: Book, comparison: Comparison, statements: Sequence[Statement]) -> None:
    """What was asked, of which study this is, and what each sheet holds."""
    scenario = comparison.scenario
    last = scenario.start + timedelta(days=scenario.horizon_days - 1)
    sheet = book.sheet(ABOUT, [30.0, 110.0], (0, 0))
    sheet.title(scenario.title)
    facts: list[tuple[str, object]] = [
        ("Question", scenario.question),
        ("First day", scenario.start),
        ("Last day", last),
        ("Worlds drawn", comparison.replications),
        ("Seed", comparison.seed),
        ("Baseline", comparison.baseline),
        ("Made by", ", ".join(f"{name} {number}" for name, number in versions().items())),
    ]
    if scenario.currency is not None and scenario.currency.code != "USD":
        facts += [(f"{scenario.currency.code} per USD", scenario.currency.per_usd), ("Rate", scenario.currency.said)]
        book.made.define_name(EXCHANGE_RATE, f"='{ABOUT}'!{fixed(len(facts) - 1, 1)}")
    row = 1
    for label, found in facts:
        sheet.text(row, 0, label, NOTE)
        sheet.anything(row, 1, found, LEFT)
        row += 1
    row += 1
    sheet.headers(row, ("Sheet", "What it holds"))
    held = [("Summary", "What each policy costs, how sure that is, where it comes from, and what users got.")]
    for each in statements:
        held.append((each.sheets.years, f"{each.policy}: cash by account and cost by use, by calendar year."))
        held.append((each.sheets.months, f"{each.policy}: the same by calendar month."))
    held += _HELD.items()
    for at, (name, told) in enumerate(held, start=row + 1):
        sheet.made.write_url(at, 0, f"internal:'{name}'!A1", book.made.get_default_url_format(), string=name)
        sheet.text(at, 1, told, WRAPPED)
    row += len(held) + 2
    sheet.headers(row, ("Notes", ""))
    for at, note in enumerate(_NOTES, start=row + 1):
        sheet.text(at, 1, note, WRAPPED)


def write_assumptions(book: Book, comparison: Comparison) -> None:
    """A row per key."""
    widths = (52.0, 28.0, 24.0, 62.0, 48.0)
    sheet = book.sheet(ASSUMPTIONS, widths, (1, 1))
    sheet.headers(0, ("Key", "Value", "Unit", "What it is", "Source"))
    row = 0
    for row, found in enumerate(assumptions(comparison), start=1):
        sheet.text(row, 0, found.key)
        sheet.anything(row, 1, found.value, LEFT)
        texts = (found.unit, found.description, found.source)
        for column, text in enumerate(texts, start=2):
            sheet.text(row, column, text, WRAPPED)
        sheet.fit(row, (str(found.value), *texts), widths[1:])
    sheet.made.autofilter(0, 0, row, 4)


def write_prices(book: Book, comparison: Comparison) -> None:
    """A row per price."""
    sheet = book.sheet(PRICES, [34.0, 18.0, 12.0, 14.0, 14.0, 22.0, 70.0], (1, 2))
    sheet.headers(0, ("Price", "Of what", "From", "Quoted", "After the negotiated discount", "Unit", "Source"), (3, 4))
    row = 0
    for row, price in enumerate(price_book(comparison.scenario), start=1):
        sheet.text(row, 0, price.price)
        sheet.text(row, 1, price.item)
        sheet.day(row, 2, price.date)
        sheet.number(row, 3, price.quoted, TEXT.of(FIGURE))
        sheet.number(row, 4, price.paid, TEXT.of(FIGURE))
        sheet.text(row, 5, price.unit)
        sheet.text(row, 6, price.source, WRAPPED)
    sheet.made.autofilter(0, 0, row, 6)


def write_fleet(book: Book, comparison: Comparison, statements: Sequence[Statement]) -> None:
    """A row per policy and tenure; money adds up the accounts of the policy's statement."""
    largest = max(found.largest_usd for found in statements)
    money, width = money_number(largest), money_width(largest)
    sheet = book.sheet(FLEET, [30.0, 14.0, 16.0, 16.0, 11.0, width, 14.0, 14.0, 16.0, width], (1, 2))
    headers = ("Policy", "Tenure", "GPU-hours held or rented", "GPU-hours used", "Used / held", "Cost [USD]")
    per_hour = ("USD per GPU-hour held", "USD per GPU-hour used", "GPU-hours idle", "Idle hours at that price [USD]")
    sheet.headers(0, (*headers, *per_hour), range(2, 10))
    sheet.made.set_row(0, 42)
    by_name = {found.policy: found for found in statements}
    accounts = {tenure.value: ACCOUNTS[tenure] for tenure in Tenure}
    for row, found in enumerate(comparison.fleet_table.itertuples(index=False), start=1):
        own = by_name[found.policy]
        held, used, usd, price, idle = (cell(row, column) for column in (2, 3, 5, 6, 8))
        adds = "+".join(own.total_at(own.layout.account[account]) for account in accounts[found.tenure])
        sheet.text(row, 0, found.policy)
        sheet.text(row, 1, found.tenure.replace("_", " "))
        sheet.number(row, 2, found.gpu_hours_held, TEXT.of(WHOLE))
        sheet.number(row, 3, found.gpu_hours_used, TEXT.of(WHOLE))
        sheet.formula(row, 4, f'IF({held}=0,"",{used}/{held})', found.utilization, TEXT.of(PERCENT))
        sheet.formula(row, 5, adds, found.usd, TEXT.of(money))
        sheet.formula(row, 6, f'IF({held}=0,"",{usd}/{held})', found.usd_per_gpu_hour_held, TEXT.of(CENTS))
        sheet.formula(row, 7, f'IF({used}=0,"",{usd}/{used})', found.usd_per_gpu_hour_used, TEXT.of(CENTS))
        sheet.formula(row, 8, f"MAX({held}-{used},0)", found.idle_gpu_hours, TEXT.of(WHOLE))
        sheet.formula(row, 9, f"IF({idle}=0,0,{idle}*{price})", found.idle_usd, TEXT.of(money))


def write_orders(book: Book, comparison: Comparison) -> None:
    """A row per order of the first world."""
    sheet = book.sheet(ORDERS, [30.0, 12.0, 18.0, 12.0, 11.0, 11.0, 12.0, 12.0, 10.0, 16.0, 60.0, 60.0], (1, 2))
    headers = ("Policy", "Date", "Accelerator", "Tenure", "GPUs asked", "GPUs agreed", "From", "To", "Days")
    sheet.headers(0, (*headers, "Price [USD]", "Reason", "What was seen"), (4, 5, 8, 9))
    orders = comparison.orders_of_first_world()
    money, row = TEXT.of(money_number(float(orders["usd"].abs().max()))), 0
    for row, found in enumerate(orders.itertuples(index=False), start=1):
        sheet.text(row, 0, found.policy)
        sheet.text(row, 2, found.accelerator)
        sheet.text(row, 3, found.tenure)
        for column, number in ((4, found.asked_gpus), (5, found.gpus), (8, found.term_days)):
            sheet.number(row, column, float(number), TEXT.of(WHOLE))
        for column, day in ((1, found.date), (6, found.first_date), (7, found.end_date)):
            if not pd.isna(day):
                sheet.day(row, column, day.date())
        sheet.number(row, 9, found.usd, money)
        sheet.text(row, 10, found.reason)
        sheet.text(row, 11, found.seen)
    if row:
        sheet.made.autofilter(0, 0, row, 11)
    else:
        sheet.text(1, 0, "No policy ordered anything.", NOTE)
