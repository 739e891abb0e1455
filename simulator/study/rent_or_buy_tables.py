"""The answers of a study of renting and buying, as files in its results folder."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from simulator.study.csv_cells import write_csv
from simulator.study.foresight_tables import flat
from simulator.study.rent_or_buy_answers import Answers, BaseRow, HeatCell, TornadoRow
from simulator.study.tenure_costs import PaybackRow, TenureRow

TENURES, PAYBACKS = "tenures.csv", "paybacks.csv"
OWNED_BASE, HEAT_MAP, TORNADO = "owned_base.csv", "heat_map.csv", "tornado.csv"


def save_tables(found: Answers, folder: Path) -> None:
    """Write the five tables as CSV."""
    write_csv(flat(found.tenures, TenureRow), folder / TENURES)
    write_csv(flat(found.paybacks, PaybackRow), folder / PAYBACKS)
    write_csv(flat(found.owned_base, BaseRow), folder / OWNED_BASE)
    write_csv(flat(found.heat_map, HeatCell), folder / HEAT_MAP)
    write_csv(flat(found.tornado, TornadoRow), folder / TORNADO)


def answers(found: Answers) -> Answers:
    """The tables alone, without what they were read from."""
    return Answers(**{field.name: getattr(found, field.name) for field in fields(Answers)})
