"""What a GPU-hour costs each way, and when a GPU bought today has paid for itself: declared prices, no simulation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from simulator.lab.procurement import loan_factor
from simulator.laws.finance import annuity, break_even_utilization
from simulator.laws.units import DAYS_PER_YEAR, HOURS_PER_DAY, HOURS_PER_YEAR, FloatArray
from simulator.world.scenario import Scenario
from simulator.world.world import expected_rent

OWNED, ON_DEMAND, SPOT = "owned", "on demand", "spot"


@dataclass(frozen=True, slots=True)
class TenureRow:
    """One way to have a GPU of one kind, at the prices of the start. NaN where a figure has no meaning."""

    accelerator: str
    tenure: str
    term_days: int
    """Useful life if owned, length of the lease if reserved; 0 by the hour."""
    usd_per_gpu_hour: float
    """Nominal: per hour it works if owned, per hour held if reserved, per hour used if rented."""
    capital_usd_per_gpu_hour: float
    """Loss of value over the useful life, the price all-in less what the last sale fetches, and interest of a loan."""
    power_usd_per_gpu_hour: float
    hosting_usd_per_gpu_hour: float
    maintenance_usd_per_gpu_hour: float
    cost_of_capital_usd_per_gpu_hour: float
    """Interest at the scenario's discount rate on what the GPU ties up; not in the nominal figure."""
    rent_usd_per_gpu_hour: float
    """On demand, mean over the term by the stated drift; today's where there is no term."""
    break_even_today: float
    """Share of hours used above which it is cheaper than on demand at today's rent."""
    break_even_utilization: float
    """The same at the mean rent over the term."""
    break_even_with_capital: float
    """The same, the cost of capital counted in."""


@dataclass(frozen=True, slots=True)
class PaybackRow:
    """One GPU ordered at the start, used for a share of its hours, against renting those hours on demand."""

    accelerator: str
    utilization: float
    paid_usd: float
    """The GPU with its part of server and network."""
    arrives: date
    """In service, installed."""
    break_even_date: date | None
    """First day on which all that was paid for it is no more than the rent would have been; None within its life."""
    break_even_days: float
    """Days in service until then; NaN if never."""
    resale_break_even_date: date | None
    """First day on which it could be sold and have cost no more."""
    saved_usd: float
    """Rent less the cost of owning, over its useful life, its last sale counted in."""


@dataclass(frozen=True, slots=True, eq=False)
class OneGpu:
    """Cumulative money of one GPU in service for 1, 2 ... days, nominal; arrays by day [USD]."""

    row: PaybackRow
    owned_usd: FloatArray
    """Price, then running costs."""
    net_usd: FloatArray
    """The same, were it sold the morning after."""
    rented_usd: FloatArray


@dataclass(frozen=True, slots=True)
class _Quoted:
    """One kind at the start, as declared [USD]."""

    name: str
    on_demand_usd: float
    spot_usd: float
    purchase_usd: float
    all_in_usd: float
    power_usd_per_hour: float
    hosting_usd_per_hour: float
    maintenance_usd_per_hour: float


def tenure_rows(scenario: Scenario) -> list[TenureRow]:
    """A row for each way to have each kind that is on offer at the start."""
    rows: list[TenureRow] = []
    for quoted in _quotes(scenario):
        if np.isfinite(quoted.purchase_usd):
            rows.append(_owned(scenario, quoted))
        for term, discount in sorted({(c.term_days, c.discount) for c in scenario.market.commitment}):
            usd = quoted.on_demand_usd * (1.0 - discount)
            rows.append(_row(scenario, quoted, f"reserved {term} days", term, usd))
        rows.append(_row(scenario, quoted, ON_DEMAND, 0, quoted.on_demand_usd))
        if np.isfinite(quoted.spot_usd):
            rows.append(_row(scenario, quoted, SPOT, 0, quoted.spot_usd))
    return rows


def kinds_for_sale(scenario: Scenario) -> list[str]:
    """The kinds that can be bought at the start."""
    return [quoted.name for quoted in _quotes(scenario) if np.isfinite(quoted.purchase_usd)]


def one_gpu(scenario: Scenario, accelerator: str, utilization: float) -> OneGpu:
    """A GPU ordered at the start at that day's price, from its median day of service to the end of its useful life.

    Rent drifts as stated from the start on, and so do tariff and list price; no dated event is foreseen. Power, hosting
    and upkeep are paid used or not, as the books do; `utilization` is of the hours it is not out for repair. The price
    counts as paid at once: deposits, terms and loans move cash, and are left out here.
    """
    quoted = next(found for found in _quotes(scenario) if found.name == accelerator)
    market, own, lead = scenario.market, scenario.ownership, scenario.days_from_order_to_service
    served = np.arange(float(own.useful_life_days))  # days since delivery
    years = (lead + served) / DAYS_PER_YEAR
    rent = quoted.on_demand_usd * (1.0 - market.rental_fall_per_year) ** years
    power = quoted.power_usd_per_hour * market.electricity_growth_per_year**years
    running = HOURS_PER_DAY * (power + quoted.hosting_usd_per_hour + quoted.maintenance_usd_per_hour)
    owned = quoted.all_in_usd + np.cumsum(running)
    rented = utilization * own.working_share * HOURS_PER_DAY * np.cumsum(rent)
    net = owned - _bid(scenario, quoted, served + 1)
    arrives = scenario.start + timedelta(days=lead)
    paid_back, with_resale = _first(owned <= rented), _first(net <= rented)
    row = PaybackRow(
        accelerator,
        utilization,
        quoted.all_in_usd,
        arrives,
        None if paid_back is None else arrives + timedelta(days=paid_back),
        float("nan") if paid_back is None else paid_back + 1.0,
        None if with_resale is None else arrives + timedelta(days=with_resale + 1),
        float(rented[-1] - net[-1]),
    )
    return OneGpu(row, owned, net, rented)


def planned_utilization(scenario: Scenario) -> float:
    """Share of hours used of a fleet that owns the mean need: the hours above it are rented, those below it idle."""
    return float(scenario.planned_profile.served_share(1.0))


def _quotes(scenario: Scenario) -> list[_Quoted]:
    """Kinds on offer at the start, at that day's declared prices."""
    view, own, today = scenario.price_outlook, scenario.ownership, scenario.calendar.index(0)
    usd_per_kwh = float(view.electricity_usd_per_kwh[today])
    found = []
    for kind, accelerator in enumerate(scenario.accelerators):
        if view.available_day[kind] > 0:
            continue
        all_in = float(view.purchase_usd_per_gpu[kind, today]) * own.all_in_factor
        kw = accelerator.server_power_kw / HOURS_PER_DAY
        found.append(
            _Quoted(
                accelerator.name,
                float(view.on_demand_usd_per_gpu_hour[kind, today]),
                float(view.spot_usd_per_gpu_hour[kind, today]),
                float(view.purchase_usd_per_gpu[kind, today]),
                all_in,
                kw * own.kwh_per_rated_kw_day * usd_per_kwh,
                kw * own.hosting_usd_per_kw_day,
                own.upkeep_usd_per_day(all_in / own.all_in_factor) / HOURS_PER_DAY,
            )
        )
    return found


def _owned(scenario: Scenario, quoted: _Quoted) -> TenureRow:
    own, rate = scenario.ownership, scenario.discount_per_year
    years = own.useful_life_years
    sold = float(_bid(scenario, quoted, np.array([years * DAYS_PER_YEAR]))[0])
    working_hours = HOURS_PER_YEAR * own.working_share

    def capital(at: float) -> float:
        lost = quoted.all_in_usd * loan_factor(own, at) - sold / (1.0 + at) ** years
        return lost * float(annuity(at, years)) / working_hours

    running = (quoted.power_usd_per_hour, quoted.hosting_usd_per_hour, quoted.maintenance_usd_per_hour)
    power, hosting, maintenance = (usd / own.working_share for usd in running)
    parts = (capital(0.0), power, hosting, maintenance)
    return _row(scenario, quoted, OWNED, own.useful_life_days, sum(parts), parts, capital(rate) - parts[0])


def _row(
    scenario: Scenario,
    quoted: _Quoted,
    tenure: str,
    term_days: int,
    usd_per_hour: float,
    parts: tuple[float, float, float, float] = (float("nan"),) * 4,
    cost_of_capital: float = float("nan"),
) -> TenureRow:
    rent = quoted.on_demand_usd * expected_rent(scenario, 0, term_days)

    def share_of(hourly_usd: float, rented_usd: float) -> float:
        return float(break_even_utilization(hourly_usd, rented_usd)) if term_days else float("nan")

    return TenureRow(
        quoted.name,
        tenure,
        term_days,
        usd_per_hour,
        *parts,
        cost_of_capital,
        rent,
        share_of(usd_per_hour, quoted.on_demand_usd),
        share_of(usd_per_hour, rent),
        share_of(usd_per_hour + cost_of_capital, rent) if cost_of_capital >= 0.0 else float("nan"),
    )


def _bid(scenario: Scenario, quoted: _Quoted, age_days: FloatArray) -> FloatArray:
    """What one GPU bought at the start fetches at some ages, never above the list price of that day [USD]."""
    own, market = scenario.ownership, scenario.market
    years = age_days / DAYS_PER_YEAR
    used = 10.0 ** (-own.value_fall_oom_per_year * years)
    new = (1.0 - market.list_fall_per_year) ** (years + scenario.days_from_order_to_service / DAYS_PER_YEAR)
    worth: FloatArray = quoted.purchase_usd * np.minimum(used, new) * own.server_overhead * (1.0 - own.resale_spread)
    return worth


def _first(holds: npt.NDArray[np.bool_]) -> int | None:
    found = np.flatnonzero(holds)
    return int(found[0]) if found.size else None
