"""Renting and buying, in words: the verdict, what limited it, and what tables and pictures say alike."""

from __future__ import annotations

import math

from simulator.lab.forecast import Expected, LastValue, PerfectForesight, Trend
from simulator.lab.policy import Policy
from simulator.lab.recipe import LeverRecipe
from simulator.laws.units import DAYS_PER_YEAR
from simulator.show.money import count_tick, percent, signed, signed_percent
from simulator.study.comparison import TIE, worlds_said
from simulator.study.foresight import Range
from simulator.study.rent_or_buy_answers import BaseRow, RentOrBuy, TornadoRow
from simulator.study.swings import SHARE, TIMES
from simulator.study.tenure_costs import OWNED

CUT = "†"
"""Marks rows whose orders a limit cut."""
CUT_SAID = f"{CUT}: limits cut orders, so it holds fewer GPUs than its share says, or later."
_SMALL_PERCENT = 2.0
_FORECASTS: dict[type, str] = {
    Trend: "that its trend goes on for as long as it was seen",
    LastValue: "that it stays as in the last weeks",
    Expected: "what the scenario declares",
    PerfectForesight: "what will come, known beforehand",
}


def verdict(found: RentOrBuy) -> str:
    """The answer in words."""
    best = found.best
    if best is None or math.isnan(found.optimum.owned_share):
        said = "No owned share gives the service and quality of renting all, so none can be called cheaper."
        return " ".join(filter(None, [said, _limits(found)]))
    parts = [_how_many(found, best), _limits(found), _one_gpu(found), window_said(found), _when_it_turns(found)]
    return " ".join(filter(None, parts))


def no_tornado(found: RentOrBuy) -> str:
    """Why there is nothing to swing."""
    if found.best is not None:
        return f"No input is swung: the best owned share, {percent(found.best.owned_share)}, holds no GPU."
    reasons = "; ".join(f"{row.policy} {row.reason}" for row in found.owned_base if row.owned_share > 0.0)
    return f"No owned share is comparable with renting all, so no input is swung: {reasons}."


def policy_said(policy: Policy) -> str:
    """The recipe and forecast that all share."""
    recipe, forecast = policy.recipe, type(policy.forecast)
    if isinstance(recipe, LeverRecipe):
        levers = ", ".join(sorted(lever.replace("_", " ") for lever in recipe.levers))
        models = f"with the levers {levers}" if levers else "trained compute-optimally"
    else:
        models = f"by the recipe {_class_said(type(recipe))}"
    return f"all train models {models} and expect of demand {_FORECASTS.get(forecast, f'by {_class_said(forecast)}')}"


def _class_said(part: type) -> str:
    """The name of a class, as words."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in part.__name__).strip()


def window_said(found: RentOrBuy) -> str:
    """That a GPU outlives the days simulated; nothing if it does not."""
    days, life = found.comparison.n_days, found.scenario.ownership.useful_life_days
    if days >= life:
        return ""
    return (
        f"The simulation ends after {days / DAYS_PER_YEAR:.1f} of the {_years(life)} that a GPU lives and counts it "
        "then at what it would fetch; what it may gain later is not in the simulated figures."
    )


def _years(days: int) -> str:
    return f"{days / DAYS_PER_YEAR:.1f} years"


def map_marks(found: RentOrBuy) -> str:
    """How sure the cells of the map are, and which of them limits cut."""
    marks = []
    if any(cell.is_open for cell in found.heat_map):
        marks.append("?: the 95 % interval holds 0, these worlds cannot tell.")
    elif not _has_intervals(found) and found.cell_replications == 1:
        marks.append("One world has no interval, so no cell says how sure it is.")
    if any(cell.owns and cell.is_cut for cell in found.heat_map):
        marks.append(CUT_SAID)
    return " ".join(marks)


def _has_intervals(found: RentOrBuy) -> bool:
    return any(math.isfinite(cell.difference_percent.low) for cell in found.heat_map)


def swing_what(row: TornadoRow) -> str:
    """An input with its unit, where its values do not show it."""
    return row.what if row.unit in (SHARE, TIMES) else f"{row.what} [{row.unit}]"


def swing_value(row: TornadoRow, value: float) -> str:
    """A value of that input, with a true minus."""
    if row.unit == SHARE:
        return f"{100.0 * value:.3g} %".replace("-", "−")
    return f"x {value:.3g}" if row.unit == TIMES else f"{value:.3g}".replace("-", "−")


def half_width_said(found: Range) -> str:
    """Half of an interval beside a figure; nothing for a single world."""
    return f" ± {found.high - found.mean:.1f}" if math.isfinite(found.high) else ""


def bounds(found: Range) -> str:
    """The interval beside a signed figure; nothing for a single world."""
    return f" [{_bound(found.low)}, {_bound(found.high)}]" if math.isfinite(found.low) else ""


def _bound(value: float) -> str:
    return signed(value, 1).lstrip("+")


def _how_many(found: RentOrBuy, best: BaseRow) -> str:
    optimum, difference, years = found.optimum, best.difference_percent, _years(found.comparison.n_days)
    said, share = _size(difference), percent(best.owned_share)
    leases = [row for row in found.owned_base if math.isnan(row.owned_share) and row.comparable]
    lease = min(leases, key=lambda row: row.cost_usd.mean, default=None)
    beaten = difference.mean if optimum.owned_share else 0.0
    if best.held_peak_gpus == 0.0:
        text = "Rent: no owned share that is comparable holds a GPU."
    elif optimum.owned_share == 0.0:
        is_tie = abs(difference.mean) <= 100.0 * TIE
        costs = "costs the same" if is_tie else f"costs {said} more"
        text = f"Rent: over {years} the best owned share, {share} of the need, {costs}."
    elif best.cut_to:
        held = f"the best way tried, {best.policy}, holds at most {count_tick(best.held_peak_gpus)} GPUs"
        text = f"Own as far as limits allow: {held} and over {years} is {said} cheaper than renting all."
    else:
        text = (
            f"Own about {share} of the need, the best share tried: over {years} it is {said} cheaper than renting all."
        )
    if difference.low < 0.0 < difference.high:
        text += " These worlds cannot tell it from no difference."
    if math.isfinite(optimum.refined_share):
        text += f" By the parabola through its neighbours the best is about {percent(optimum.refined_share)}."
    if lease is not None and lease.difference_percent.mean < beaten:
        said = f"{signed(lease.difference_percent.mean)} %{bounds(lease.difference_percent)}"
        text += f" A policy of leases ({lease.policy}) costs less still: {said} against renting all."
    return text


def _limits(found: RentOrBuy) -> str:
    """What limits cut, and how many GPUs that left; nothing if they cut none."""
    names = [row.policy for row in found.cut]
    if not names:
        return ""
    held = count_tick(max(row.held_peak_gpus for row in found.cut))
    limits = " or ".join(dict.fromkeys(f"what {row.cut_to}" for row in found.cut))
    few = "they hold no GPU" if held == "0" else f"they hold at most {held} GPUs, fewer than asked for or later"
    return f"Orders of {', '.join(names)} were cut to {limits}: {few}."


def _size(found: Range) -> str:
    """The size of a difference and its interval, of what is saved where it is negative; finer where it is small."""
    low, high = (found.low, found.high) if found.mean >= 0.0 else (-found.high, -found.low)
    decimals = 0 if abs(found.mean) >= _SMALL_PERCENT else 1
    mean, *ends = (signed(value, decimals).lstrip("+") for value in (abs(found.mean), low, high))
    return f"{mean} % [{', '.join(ends)}]" if math.isfinite(low) else f"{mean} %"


def _one_gpu(found: RentOrBuy) -> str:
    kind = found.optimum.accelerator
    owned = next(row for row in found.tenures if (row.accelerator, row.tenure) == (kind, OWNED))
    payback = next(row for row in found.paybacks if (row.accelerator, row.utilization) == (kind, found.utilization))
    least, gpu = owned.break_even_utilization, f"Over its life an owned GPU ({kind})"
    if least < 1.0:
        text = f"{gpu} wins where it is used more than {percent(least)} of its hours;"
    else:
        text = f"{gpu} costs more than a rented one, however much it is used;"
    used = f"one ordered on {found.scenario.start} and used {percent(found.utilization)}"
    if payback.break_even_date is None:
        return f"{text} {used} does not pay for itself within its life."
    return f"{text} {used} has paid for itself by {payback.break_even_date}."


def _when_it_turns(found: RentOrBuy) -> str:
    turn = found.optimum.rental_fall_turns
    if turn.mean >= 0.0:
        fall = percent(turn.mean)
        return f"Owning stops being cheaper where rents fall faster than about {fall} a year{_within(found)}."
    if turn.mean < 0.0:
        return (
            f"Owning is cheaper only where rents rise faster than about {percent(-turn.mean)} a year{_within(found)}."
        )
    row = [cell for cell in found.heat_map if cell.growth_factor == 1.0]
    if len({cell.owns for cell in row}) != 1:
        return ""
    falls = sorted({cell.rental_fall_per_year for cell in row})
    ends = " to ".join(signed_percent(-100.0 * fall) for fall in dict.fromkeys((falls[0], falls[-1])))
    way = "Owning" if row[0].owns else "Renting"
    tried = "every change of rents tried" if len(falls) > 1 else "the one change of rents tried"
    unsure = sum(cell.is_open for cell in row)
    but = f", though {unsure} of {len(row)} cannot tell" if unsure else ""
    return f"{way} is cheaper at {tried} ({ends} a year){but}."


def _within(found: RentOrBuy) -> str:
    """Between which changes of rents the turn lies, by the cells' intervals; nothing where they are as narrow as it."""
    turn = found.optimum.rental_fall_turns
    if not _has_intervals(found):
        return f" ({worlds_said(found.cell_replications)} a cell: no interval)"
    low, high = _change(turn.low), _change(turn.high)
    if low and low == high:
        return ""
    if not low and not high:
        return " (the cells' 95 % intervals allow any change tried)"
    reach = f"between {low} and {high}" if low and high else f"from {low} on" if low else f"up to {high}"
    return f" ({reach}, by the cells' 95 % intervals)"


def _change(fall: float) -> str:
    if not math.isfinite(fall):
        return ""
    return f"a {'fall' if fall >= 0.0 else 'rise'} of {percent(abs(fall))}"
