"""What a scenario means, in words: the answer of `labspend check` when nothing is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta

from simulator.lab.fixed_plan import FixedPlan
from simulator.lab.shortage import ShrinkRun, WaitForGpus
from simulator.study.files import Study
from simulator.study.fleet_meaning import fleet_meaning
from simulator.study.market_meaning import TEN_PERCENT, market_meaning
from simulator.world.demand import DemandInputs
from simulator.world.growth import Exponential
from simulator.world.roadmap import LIKELY_SDS, GrowthLuck, releases
from simulator.world.scenario import Scenario


def meaning(study: Study) -> str:
    """Dates, demand, releases, prices and policies of a study, for a person to check."""
    scenario, fleet = study.scenario, list(fleet_meaning(study.scenario))
    end = scenario.calendar.date_of(scenario.horizon_days - 1)
    parts = [
        [scenario.title, *([scenario.question] if scenario.question else [])],
        [
            f"From {scenario.start} to {end}: {scenario.horizon_days:,} days, after {scenario.history_days} metered.",
            *([f"Money is shown in {scenario.currency.code}: {scenario.currency.said}."] if scenario.currency else []),
        ],
        list(_demand(scenario)),
        list(_releases(scenario)),
        list(market_meaning(scenario)),
        *([["The lab's own GPUs [USD]:", *fleet]] if fleet else []),
        _policies(study),
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def _demand(scenario: Scenario) -> Iterator[str]:
    view, calendar = scenario.demand_outlook, scenario.calendar
    week = min(7, scenario.horizon_days)
    yield "Demand, mean of a week [user tokens a day]:"
    for when, day in (("first", 0), ("last", scenario.horizon_days - week)):
        span = slice(calendar.index(day), calendar.index(day) + week)
        expected, sd = float(view.tokens[span].mean()), float(view.log_sd[span].mean())
        low, high = (expected * math.exp(step * sd - sd**2 / 2.0) for step in (-TEN_PERCENT, TEN_PERCENT))
        spread = f"in 8 worlds of 10 from {low:.3g} to {high:.3g}" if sd else "the same in every world"
        yield f"  {when:5}  from {calendar.date_of(day)}  {expected:.3g} expected, {spread}"
    yield from _shape(scenario.demand)
    trace = scenario.demand.trace
    if trace is not None and trace.first_day is not None:
        last = trace.first_day + timedelta(days=len(trace.tokens) - 1)
        source = f" from {trace.csv}" if trace.csv else ""
        yield f"  Recorded{source}: {len(trace.tokens):,} days, {trace.first_day} to {last}, the same in every world."
        yield "  After it, growth goes on from the level of its last week, with weekdays and noise as declared."
    shocks = scenario.demand.shocks
    if shocks.per_year:
        fade = f"fading over {shocks.decay_days:g} days"
        yield f"  Of which shocks: {shocks.per_year:g} a year, {shocks.size:+.0%} at first, {fade}."


def _shape(demand: DemandInputs) -> Iterator[str]:
    """What is out of the ordinary in how demand grows, and who asks."""
    if not isinstance(demand.curve, Exponential):
        yield f"  A {demand.curve.form} curve, towards {demand.curve.ceiling_tokens_per_day:.3g} tokens a day."
    if demand.turns.per_year:
        yield f"  Growth turns {demand.turns.per_year:g} times a year, its yearly log by sd {demand.turns.sigma:g}."
    if demand.jumps.per_year:
        yield f"  The level jumps {demand.jumps.per_year:g} times a year, by {demand.jumps.mean_rise:+.0%} on average."
    if demand.token_price.elasticity:
        fall = demand.token_price.fall_per_year
        yield f"  Tokens get {fall:.0%} cheaper a year; elasticity of demand {demand.token_price.elasticity:g}."
    batch = demand.batch
    if batch.share:
        days = "the day" if batch.patience_days == 1 else f"{batch.patience_days:,} days"
        yield f"  Of which {batch.share:.0%} can wait, to be served within {days}."
    for segment in demand.segment:
        tier = "" if segment.quality_tier == 1.0 else f", quality tier {segment.quality_tier:g}"
        yield (
            f"  Of which {segment.name}: {segment.share:.0%} at the start, x{segment.growth_per_year:g} a year beside "
            f"the rest, {segment.prompt_share:.0%} prompts{tier}."
        )


def _releases(scenario: Scenario) -> Iterator[str]:
    calendar = scenario.calendar
    yield "Releases:" if scenario.releases else "No releases: the opening model serves throughout."
    roadmap = scenario.roadmap
    for release in scenario.releases:
        due, decided = calendar.date_of(release.due_day), calendar.date_of(release.decision_day)
        late = ", after the last day" if release.due_day >= scenario.horizon_days else ""
        yield (
            f"  {release.name}: due {due}{late}, decided {decided}, {release.target_flop:.3g} equivalent FLOP, "
            f"planned to serve {release.life_days:,} days"
        )
    lucks = [GrowthLuck(sds, sds) for sds in map(float, LIKELY_SDS[[0, -1]])]
    low, high = (releases(roadmap, scenario.start, luck) for luck in lucks)
    for worst, best in zip(low[-1:], high[-1:], strict=True):
        if roadmap.target_growth_sigma:
            yield f"  Targets grow by luck: {worst.name} owes from {worst.target_flop:.3g} to {best.target_flop:.3g}."
        if roadmap.progress_sigma:
            yield (
                f"  So does algorithmic progress: for {worst.name} a factor of {worst.progress:.3g} to "
                f"{best.progress:.3g}."
            )
        if roadmap.slip_chance:
            yield f"  A release slips in {roadmap.slip_chance:.0%} of cases, by {roadmap.slip_days:g} days on average."


def _policies(study: Study) -> list[str]:
    names = [policy.name for policy in study.policies]
    names[0] += " (baseline)"
    told = [
        f"  {policy.name} may change course: {', '.join(sorted(policy.replan.actions))}"
        for policy in study.policies
        if policy.replan is not None
    ]
    told += [
        f"  {policy.name} follows a plan: {plan_meaning(policy.procurement)}"
        for policy in study.policies
        if isinstance(policy.procurement, FixedPlan)
    ]
    told += [
        f"  {policy.name} retires and replaces GPUs that cost more than others would"
        for policy in study.policies
        if policy.refresh is not None
    ]
    told += [
        f"  {policy.name}: {_SHORT[type(policy.shortage)]}"
        for policy in study.policies
        if type(policy.shortage) in _SHORT
    ]
    return [f"Policies: {', '.join(names)}", *told, f"Study: seed {study.seed}, replications {study.replications}"]


_SHORT = {
    WaitForGpus: "a run that finds too few GPUs waits for them, and rents when its patience ends",
    ShrinkRun: "a run that finds too few GPUs runs on those there are, for longer",
}
_SAID = {"buy": "buys", "reserve": "reserves", "sell": "sells"}


def plan_meaning(plan: FixedPlan) -> str:
    """What a plan will do, summed by kind of GPU."""
    gpus: dict[tuple[str, str], int] = {}
    for order in plan.order:
        if order.action != "cap":
            what = _SAID[order.action], order.accelerator
            gpus[what] = gpus.get(what, 0) + order.gpus
    done = [f"{verb} {number:,} {kind}" for (verb, kind), number in gpus.items()]
    caps = [order for order in plan.order if order.action == "cap"]
    if caps:
        last = max(caps, key=lambda order: order.date)
        done.append(f"caps on-demand GPUs, from {last.date} on at {last.gpus:,}")
    dates = [order.date for order in plan.order]
    source = f" from {plan.csv}" if plan.csv else ""
    return (
        f"{len(dates):,} order{'' if len(dates) == 1 else 's'}{source}, {min(dates)} to {max(dates)}: {', '.join(done)}"
    )
