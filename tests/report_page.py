"""A report as tests read it: every number with where it says it comes from, and what stands between the numbers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd

from simulator.show.figures import as_declared, count
from simulator.show.money import DOLLARS, Currency, money, percent, scaled, signed, signed_percent

_VOID = {"meta", "link", "img", "input", "br"}


@dataclass(eq=False, repr=False)
class Element:
    """A tag with its attributes, the text inside it, and the tags around it."""

    tag: str
    attributes: dict[str, str]
    around: tuple[Element, ...]
    text: str = ""
    bare: str = ""
    """The text that is in no <data> and is not said elsewhere."""

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")


@dataclass(eq=False, repr=False)
class Page(HTMLParser):
    """All elements, in order."""

    html: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.html)
        self.close()
        assert not self._open, f"not closed: {[found.tag for found in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {key: value or "" for key, value in attrs}, tuple(self._open))
        self.elements.append(made)
        if tag not in _VOID:
            self._open.append(made)

    def handle_endtag(self, tag: str) -> None:
        closed = self._open.pop().tag
        assert closed == tag, f"</{tag}> closes <{closed}>"

    def handle_data(self, data: str) -> None:
        checked = any(found.tag == "data" or found.get("data-said") for found in self._open)
        for found in self._open:
            found.text += data
            if not checked:
                found.bare += data

    def all(self, tag: str) -> list[Element]:
        return [found for found in self.elements if found.tag == tag]

    def said(self, what: str) -> list[str]:
        return [found.text for found in self.elements if found.get("data-said") == what]

    def with_id(self, name: str) -> Element:
        (found,) = (each for each in self.elements if each.get("id") == name)
        return found


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def formatted(value: float, shown_as: str, currency: Currency = DOLLARS) -> str:
    """A value in the format that the page names."""
    name, _, digits = shown_as.partition(".")
    decimals = int(digits or 0)
    formats: dict[str, Callable[[], str]] = {
        "money": lambda: money(value, currency),
        "price": lambda: scaled(currency.of(value)),
        "share": lambda: percent(value, decimals),
        "change": lambda: signed_percent(value, decimals),
        "bound": lambda: signed(value, decimals),
        "count": lambda: count(value),
        "scaled": lambda: scaled(value),
        "plain": lambda: f"{value:.3g}",
        "declared": lambda: as_declared(value),
    }
    return formats[name]()


_Place = list[str | int]
_ENDS = {"median": 0.5, "low": 0.1, "high": 0.9}


@dataclass(frozen=True)
class Kept:
    """A results folder, read with pandas and tomllib alone."""

    folder: Path
    replications: int

    def value(self, place: _Place) -> float:
        """What stands at a place of the folder."""
        name, *rest = place
        readers: dict[str | int, Callable[[_Place], float]] = {
            "summary.csv": self._summary,
            "stages.csv": self._stages,
            "orders.csv": self._orders,
            "releases.csv": self._releases,
            "daily.parquet": self._daily,
            "price_book.csv": self._price,
            "scenario.toml": self._scenario,
        }
        return float(readers[name](rest))

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.folder / name, dtype=str, keep_default_na=False)

    def _summary(self, place: _Place) -> float:
        policy, column = place
        rows = self.table("summary.csv")
        return float(rows.loc[rows["policy"] == policy, str(column)].item() or "nan")

    def _stages(self, place: _Place) -> float:
        policy, stage, column = place
        rows = self.table("stages.csv")
        return float(rows.loc[(rows["policy"] == policy) & (rows["stage"] == stage), str(column)].item())

    def _price(self, place: _Place) -> float:
        row, column = place
        return float(self.table("price_book.csv")[column][int(row)])

    def _daily(self, place: _Place) -> float:
        policy, what = place
        assert what == "rented_gpus"
        days = pd.read_parquet(self.folder / "daily.parquet")
        first = days[days["policy"] == policy].iloc[:90]
        return float((first["on_demand_gpus"] + first["spot_gpus"]).mean())

    def _orders(self, place: _Place) -> float:
        policy, action, kind, term, column, end = place
        rows = self.table("orders.csv")
        start = pd.read_parquet(self.folder / "daily.parquet")["date"].min()
        days = (pd.to_datetime(rows["date"]) - start).dt.days
        is_sale = (rows["tenure"] == "owned") & (rows["term_days"] == "0")
        tenure = {"buy": "owned", "sell": "owned", "reserve": "reserved"}[str(action)]
        mine = (rows["policy"] == policy) & (rows["tenure"] == tenure) & (rows["accelerator"] == kind) & (days < 90)
        mine &= is_sale if action == "sell" else ~is_sale
        if action == "reserve":
            mine &= rows["term_days"] == str(term)
        sums = np.zeros(self.replications)
        for _, row in rows[mine].iterrows():
            sums[int(row["replication"])] += abs(float(row[str(column)]))
        return float(np.quantile(sums, _ENDS[str(end)]))

    def _releases(self, place: _Place) -> float:
        policy, release, column, end = place
        rows = self.table("releases.csv")
        mine = rows[(rows["policy"] == policy) & (rows["release"] == release)]
        first = [float(group.iloc[0][str(column)]) for _, group in mine.groupby("replication")]
        return float(np.quantile(first, _ENDS[str(end)]))

    def _scenario(self, place: _Place) -> float:
        """A key of the resolved file; of policies what the page says of their parts is in no table of numbers."""
        (key,) = place
        held: object = tomllib.loads((self.folder / "scenario.toml").read_text(encoding="utf-8"))
        for part in str(key).split("."):
            held = held[int(part)] if isinstance(held, list) else held[part]  # type: ignore[index]
        assert isinstance(held, int | float)
        return float(held)


def places(page: Page) -> list[tuple[_Place, Element]]:
    """Every number that says where it is from."""
    return [(json.loads(found.get("data-source")), found) for found in page.all("data")]
