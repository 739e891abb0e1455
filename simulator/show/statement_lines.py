"""The lines of a statement: what each shows, and the formula that re-adds it. All statements have the same lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from simulator.lab.accounts import CLOSING, FLOWS, OPENING, Account, Use
from simulator.lab.orders import Tenure
from simulator.laws.units import TOKENS_PER_MILLION_TOKENS, FloatArray
from simulator.show.workbook_cells import CENTS, SECTION, TEXT, TOTAL, WHOLE, Look
from simulator.study.months import ACCOUNT_COLUMNS, HOURS_COLUMNS, USE_COLUMNS

EXCHANGE_RATE = "Exchange_rate"
"""The cell that holds it, where money is shown in another currency too."""
ACCOUNT_LABELS = {
    Account.PURCHASE: "GPUs and clusters bought",
    Account.RESALE: "GPUs sold",
    Account.LOAN: "Loans: repaid less borrowed",
    Account.INTEREST: "Interest",
    Account.RESERVED: "Reserved",
    Account.ON_DEMAND: "On demand",
    Account.SPOT: "Spot",
    Account.API: "Tokens bought from another provider",
    Account.POWER: "Electricity",
    Account.HOSTING: "Hosting",
    Account.MAINTENANCE: "Maintenance",
    Account.DATA: "Training data",
    Account.DEPLOYMENT: "Putting models into service",
    Account.OPENING_FLEET: "Opening: GPUs, at their resale bid",
    Account.OPENING_LEASES: "Opening: leases, against the market",
    Account.OPENING_MODELS: "Opening: models",
    Account.CLOSING_FLEET: "Closing: GPUs, at their resale bid",
    Account.CLOSING_LEASES: "Closing: leases, against the market",
    Account.CLOSING_PREPAID: "Closing: leases paid beyond the end",
    Account.CLOSING_PAYMENTS: "Closing: GPUs not paid yet, less paid ahead",
    Account.CLOSING_LOANS: "Closing: loans still owed",
    Account.CLOSING_MODELS: "Closing: models not used up",
}
_USE_LABELS = {
    Use.TRAINING: "Training",
    Use.RESEARCH: "Research",
    Use.SERVING: "Serving",
    Use.IDLE: "Idle",
    Use.DEPLOYMENT: "Deployment",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line without figures, and the base of those with."""

    label: str
    look: Look = SECTION
    number: str = ""
    """How its figures are shown; as money if it is empty."""

    def formula(self, column: str, before: str, first_row: int) -> str:
        """What makes its figure in a column from others of the sheet; nothing if it comes from elsewhere."""
        return ""

    def total(self, column: str, last: str, first_row: int) -> str:
        """What makes its figure in the column of totals, from that column; `last` is the line's last period."""
        return self.formula(column, "", first_row)

    def values(self, lines: FloatArray) -> FloatArray | None:
        """The same, from the figures of the lines above [line, period]."""
        return None


@dataclass(frozen=True, slots=True)
class Amount(Line):
    """Figures of one column of the monthly table."""

    column: str = ""
    divided_by: float = 1.0


@dataclass(frozen=True, slots=True)
class Sum(Line):
    """The sum of other lines."""

    parts: Sequence[int] = ()

    def formula(self, column: str, before: str, first_row: int) -> str:
        """Adds down the column."""
        rows = [first_row + part for part in self.parts]
        if rows == list(range(rows[0], rows[-1] + 1)):
            return f"SUM({column}{rows[0]}:{column}{rows[-1]})"
        return "+".join(f"{column}{row}" for row in rows)

    def values(self, lines: FloatArray) -> FloatArray | None:
        """Adds in the same order as the formula."""
        return np.add.reduce(lines[list(self.parts)], axis=0)


@dataclass(frozen=True, slots=True)
class Running(Line):
    """Another line, added up since the start."""

    of: int = 0

    def formula(self, column: str, before: str, first_row: int) -> str:
        """What it was before, and what has come since; `before` is empty in the first period."""
        own = f"{column}{first_row + self.of}"
        return f"{before}+{own}" if before else own

    def total(self, column: str, last: str, first_row: int) -> str:
        """What it has come to."""
        return last

    def values(self, lines: FloatArray) -> FloatArray | None:
        """Adds from left to right."""
        return np.array(list(accumulate(lines[self.of].tolist())))


@dataclass(frozen=True, slots=True)
class Ratio(Line):
    """One line over another, nothing where that is nothing."""

    top: int = 0
    bottom: int = 0

    def formula(self, column: str, before: str, first_row: int) -> str:
        """Of the same column."""
        top, bottom = f"{column}{first_row + self.top}", f"{column}{first_row + self.bottom}"
        return f'IF({bottom}=0,"",{top}/{bottom})'

    def values(self, lines: FloatArray) -> FloatArray | None:
        """Of the same period."""
        top, bottom = lines[self.top], lines[self.bottom]
        return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom != 0.0)


@dataclass(frozen=True, slots=True)
class Converted(Line):
    """Another line in the scenario's currency."""

    of: int = 0
    per_usd: float = 1.0

    def formula(self, column: str, before: str, first_row: int) -> str:
        """At the one rate there is."""
        return f"{column}{first_row + self.of}*{EXCHANGE_RATE}"

    def values(self, lines: FloatArray) -> FloatArray | None:
        """The same."""
        return lines[self.of] * self.per_usd


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines in order, and where those stand that others speak of."""

    lines: tuple[Line, ...]
    account: dict[Account, int]
    use: dict[Use, int]
    opening: int
    moved: int
    closing: int
    cash: int
    running: int
    economic: int

    def values(self, amounts: FloatArray) -> FloatArray:
        """All figures, from those of the amounts [line, period]; lines of other kinds are worked out."""
        found = amounts.copy()
        for at, line in enumerate(self.lines):
            made = line.values(found)
            if made is not None:
                found[at] = made
        return found


def layout(code: str, per_usd: float) -> Layout:
    """The lines of every statement; in dollars alone if the currency's code is USD."""
    lines: list[Line] = [Line("Cash by account")]
    account: dict[Account, int] = {}
    sums = []
    for accounts, label in (
        (OPENING, "Brought in at the start"),
        (FLOWS, "Money that moved"),
        (CLOSING, "Left at the end"),
    ):
        first = len(lines)
        for each in accounts:
            account[each] = len(lines)
            lines.append(Amount(ACCOUNT_LABELS[each], TEXT, column=ACCOUNT_COLUMNS[each]))
        sums.append(len(lines))
        lines.append(Sum(label, TOTAL, parts=range(first, len(lines))))
    cash = len(lines)
    lines.append(Sum("Cost, as cash", TOTAL, parts=sums))
    running = len(lines)
    lines += [Running("Money moved since the start", TEXT, of=sums[1]), Line("Economic cost by use, amortised")]
    first = len(lines)
    lines += [Amount(_USE_LABELS[use], TEXT, column=USE_COLUMNS[use]) for use in Use]
    economic = len(lines)
    lines.append(Sum("Cost, by use", TOTAL, parts=range(first, economic)))
    if code != "USD":
        lines += [
            Converted(f"Cost, as cash [{code}]", TEXT, of=cash, per_usd=per_usd),
            Converted(f"Cost, by use [{code}]", TEXT, of=economic, per_usd=per_usd),
        ]
    lines += _memo(len(lines), economic)
    use = {each: first + each for each in Use}
    opening, moved, closing = sums
    return Layout(tuple(lines), account, use, opening, moved, closing, cash, running, economic)


def _memo(at: int, economic: int) -> list[Line]:
    """What the money paid for, and what a unit of it cost."""
    hours = [
        Amount(f"GPU-hours {tenure.value.replace('_', ' ')}", TEXT, WHOLE, column=HOURS_COLUMNS[number])
        for number, tenure in enumerate(Tenure)
    ]
    first = at + 1
    all_hours, served = first + len(hours), first + len(hours) + 2
    per_million = TOKENS_PER_MILLION_TOKENS
    return [
        Line("What it paid for"),
        *hours,
        Sum("GPU-hours held or rented", TOTAL, WHOLE, parts=range(first, all_hours)),
        Amount("Tokens asked [million]", TEXT, WHOLE, column="asked_tokens", divided_by=per_million),
        Amount("Tokens served [million]", TEXT, WHOLE, column="served_tokens", divided_by=per_million),
        Ratio("Cost by use per GPU-hour [USD]", TEXT, CENTS, top=economic, bottom=all_hours),
        Ratio("Cost by use per million tokens served [USD]", TEXT, "0.000", top=economic, bottom=served),
    ]
