"""Every declared input of a world, in one frozen object; what follows from it without dice is cached on it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from simulator.laws.fits import SCALING_FITS, ScalingFit
from simulator.laws.load import HourProfile
from simulator.laws.precision import PRECISIONS, Precision
from simulator.laws.training_speed import linked_mfu
from simulator.laws.units import GIGA
from simulator.world.api_fallback import ApiFallback as ApiFallback
from simulator.world.calendar import Calendar
from simulator.world.currency import CurrencyInputs
from simulator.world.demand import DemandInputs, DemandOutlook, outlook
from simulator.world.deployment import DeploymentInputs as DeploymentInputs
from simulator.world.generations import Generation, generations
from simulator.world.hardware import CATALOGUE, Accelerator, AcceleratorInputs
from simulator.world.inputs import (
    Inputs,
    NotNegative,
    Positive,
)
from simulator.world.inputs import Misplaced as Misplaced
from simulator.world.inputs import UnknownName as UnknownName
from simulator.world.limits import LimitsInputs as LimitsInputs
from simulator.world.market import MarketInputs
from simulator.world.models import PublishedModel, PublishedModelInputs, models_with
from simulator.world.names import spelling
from simulator.world.ownership import LeasedInputs as LeasedInputs
from simulator.world.ownership import OwnedInputs as OwnedInputs
from simulator.world.ownership import OwnershipInputs as OwnershipInputs
from simulator.world.price_outlook import PriceOutlook, price_outlook
from simulator.world.prompting import PromptingInputs as PromptingInputs
from simulator.world.quote import Quote
from simulator.world.roadmap import Release, RoadmapInputs, releases
from simulator.world.routing import RoutingInputs as RoutingInputs
from simulator.world.segments import Mix, mix_of
from simulator.world.serving import Asked
from simulator.world.serving import ByFlop as ByFlop
from simulator.world.serving import Roofline as Roofline
from simulator.world.supply import Supply, supply
from simulator.world.training import DataMixingInputs as DataMixingInputs
from simulator.world.training import DistillationInputs as DistillationInputs
from simulator.world.training import FineTuningInputs as FineTuningInputs
from simulator.world.training import TrainingInputs as TrainingInputs

MOST_DAYS = 36_525
"""A century: longer horizons are surely a mistake."""

PrecisionName = Literal["bf16", "fp8", "int8", "int4"]


class ModelInputs(Inputs):
    """A model that is already there on day 0; its training is sunk and not charged."""

    n_parameters: Positive = Field(description="weights [parameters]")
    n_training_tokens: Positive = Field(description="tokens it was trained on [tokens]")
    precision: PrecisionName = Field("bf16", description="precision it is served in")


class Scenario(Inputs):
    """A world to live in: what may happen, what it costs, and what the lab has promised."""

    title: str
    question: str = ""
    start: date = Field(description="day 0")
    horizon_days: Annotated[int, Field(gt=0, le=MOST_DAYS)] = Field(description="days simulated [days]")
    history_days: Annotated[int, Field(ge=0)] = Field(56, description="days metered before the start [days]")
    discount_per_year: Annotated[float, Field(gt=-1)] = Field(0.08, description="for present values and plans")
    inflation_per_year: Annotated[float, Field(ge=-0.5, le=10)] = Field(
        0.0, description="general inflation, for costs in dollars of the start; money simulated is nominal"
    )
    unserved_usd_per_million_tokens: NotNegative = Field(0.0, description="price of a refused token, shown apart")
    demand: DemandInputs
    market: MarketInputs
    roadmap: RoadmapInputs
    training: TrainingInputs = TrainingInputs()
    data_mixing: DataMixingInputs | None = None
    distillation: DistillationInputs | None = None
    fine_tuning: FineTuningInputs = FineTuningInputs()
    prompting: PromptingInputs | None = None
    routing: RoutingInputs | None = None
    deployment: DeploymentInputs = DeploymentInputs()
    serving: Annotated[Roofline | ByFlop, Field(discriminator="law")] = Roofline()
    api_fallback: ApiFallback | None = Field(None, description="another provider, for tokens that GPUs cannot serve")
    ownership: OwnershipInputs = OwnershipInputs()
    currency: CurrencyInputs | None = Field(None, description="what money is shown in; default: US dollars")
    opening_model: ModelInputs | None = None
    opening_fleet: tuple[OwnedInputs, ...] = ()
    opening_lease: tuple[LeasedInputs, ...] = ()
    limits: LimitsInputs = LimitsInputs()
    accelerator: tuple[AcceleratorInputs, ...] = ()
    model: tuple[PublishedModelInputs, ...] = Field((), description="models beside, or instead of, those published")
    quantize_to: tuple[PrecisionName, ...] = Field(
        ("fp8", "int8", "int4"), description="precisions the quantize lever may choose, beside bf16"
    )
    longest_term_days: Annotated[int, Field(gt=0)] = Field(
        730, description="how far past a day any decision may look [days]"
    )

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Scenario) and self._declared == other._declared)

    def __hash__(self) -> int:
        return hash(self._declared)

    @cached_property
    def _declared(self) -> str:
        return self.model_dump_json()

    def __getstate__(self) -> dict[Any, Any]:
        """What is declared travels to other processes; what is cached is worked out there."""
        state = super().__getstate__()
        declared = {name: value for name, value in state["__dict__"].items() if name in type(self).model_fields}
        return {**state, "__dict__": declared}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Scenario:
        """Another scenario with some fields changed, checked anew; nothing cached is carried over."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return Scenario.model_validate({**fields, **(update or {})})

    @model_validator(mode="after")
    def _names_and_dates(self) -> Scenario:
        market, trend = self.market, self.market.new_generations
        known = {found.name for found in CATALOGUE} | {found.name for found in self.accelerator}
        for row, quote in enumerate(market.quote):
            _must_be_known(f"market.quote.{row}.accelerator", quote.accelerator, known)
        if trend is not None:
            _must_be_known("market.new_generations.base", trend.base, {quote.accelerator for quote in market.quote})
            if trend.first <= self.start:
                rule = f"must be later than the start, {self.start}: what there is then is quoted"
                raise Misplaced("market.new_generations.first", rule, str(trend.first))
        quoted = {quote.accelerator for quote in self.quotes}
        for row, held in enumerate(self.opening_fleet):
            _must_be_known(f"opening_fleet.{row}.accelerator", held.accelerator, quoted)
        for row, leased in enumerate(self.opening_lease):
            _must_be_known(f"opening_lease.{row}.accelerator", leased.accelerator, quoted)
        for row, event in enumerate(market.event):
            _must_be_known(f"market.event.{row}.accelerator", event.accelerator or market.quote[0].accelerator, quoted)
        for row, replay in enumerate(market.replay):
            _must_be_known(f"market.replay.{row}.accelerator", replay.accelerator, quoted)
        names = [quote.accelerator for quote in self.quotes]
        for row, name in enumerate(names):
            if name in names[:row]:
                is_declared = row < len(market.quote)
                where = f"market.quote.{row}.accelerator" if is_declared else "market.new_generations.name"
                raise Misplaced(where, "must be quoted once", repr(name))
        for row, held in enumerate(self.opening_fleet):
            if held.age_days >= self.ownership.useful_life_days:
                rule = f"must be less than the useful life of {self.ownership.useful_life_years:g} years"
                raise Misplaced(f"opening_fleet.{row}.age_days", rule, str(held.age_days))
        return self

    @model_validator(mode="after")
    def _models_are_named_once(self) -> Scenario:
        names = [spelling(row.name) for row in self.model]
        for row, name in enumerate(names):
            if name in names[:row]:
                raise Misplaced(
                    f"model.{row}.name", "must differ from the other models' names", repr(self.model[row].name)
                )
        return self

    @model_validator(mode="after")
    def _trace_touches_the_world(self) -> Scenario:
        trace = self.demand.trace
        if trace is not None and trace.first_day is not None:
            first = (trace.first_day - self.start).days
            if first + len(trace.tokens) < -self.history_days or first >= self.horizon_days:
                last = trace.first_day + timedelta(days=len(trace.tokens) - 1)
                rule = f"must hold days between {-self.history_days} before the start and the horizon"
                raise Misplaced("demand.trace", rule, f"{trace.first_day} to {last}")
        return self

    @model_validator(mode="after")
    def _replays_touch_the_world(self) -> Scenario:
        for row, replay in enumerate(self.market.replay):
            if replay.day and not (
                (replay.day[-1] - self.start).days >= -self.history_days
                and (replay.day[0] - self.start).days < self.horizon_days
            ):
                rule = f"must hold days between {self.history_days} before the start and the horizon"
                raise Misplaced(f"market.replay.{row}", rule, f"{replay.day[0]} to {replay.day[-1]}")
        return self

    @model_validator(mode="after")
    def _roadmap_is_possible(self) -> Scenario:
        for row, (inputs, release) in enumerate(zip(self.roadmap.release, self.releases, strict=True)):
            where = f"roadmap.release.{row}.due"
            if release.decision_day < 0:
                first = self.start + timedelta(days=release.train_days)
                raise Misplaced(
                    where,
                    f"must leave {release.train_days} training days after the start: {first} or later",
                    str(inputs.due),
                )
            if release.life_days <= 0:
                after = self.roadmap.release[row + 1]
                rule = f"must be later than {inputs.due}, when {inputs.name} is due: releases go in order of date"
                raise Misplaced(f"roadmap.release.{row + 1}.due", rule, str(after.due))
        names = [inputs.name for inputs in self.roadmap.release]
        for row, name in enumerate(names):
            if name in names[:row]:
                raise Misplaced(f"roadmap.release.{row}.name", "must differ from the other releases' names", repr(name))
        first_due = self.releases[0].due_day if self.releases else self.horizon_days
        if self.opening_model is None and first_due > 0:
            raise Misplaced("opening_model", f"is needed to serve the first {first_due} days", "absent")
        return self

    @cached_property
    def calendar(self) -> Calendar:
        """The days of this world; it looks ahead as far as any release decided in it is planned to serve."""
        ends = [r.due_day + r.life_days for r in self.releases if r.decision_day < self.horizon_days]
        terms = [term.term_days for term in self.market.commitment]
        look_ahead = max([self.longest_term_days, *terms, *(end - self.horizon_days for end in ends)])
        return Calendar(self.start, self.history_days, self.horizon_days, look_ahead)

    @cached_property
    def releases(self) -> tuple[Release, ...]:
        """The roadmap in days."""
        return releases(self.roadmap, self.start)

    def research_flop(self, release: Release) -> float:
        """FLOP of experiments towards a release: a multiple of its compute-optimal run, whatever is then trained."""
        physical = release.target_flop / (release.progress * self.roadmap.data_gain)
        return self.roadmap.research_multiple * physical

    def asked(self, prompting: PromptingInputs | None = None) -> Asked:
        """What a request asks of a server at the start, with longer prompts if there are."""
        mix, context = self.demand.mix_at_start, self.demand.context_tokens
        if prompting is None:
            return Asked(context, mix)
        return Asked(context * float(prompting.context_factor(mix.prompt_share)), prompting.longer(mix))

    def planned_mix(self, release: Release) -> Mix:
        """What a user token asks of a server, on average over the planned life of a release, as declared."""
        view, first = self.demand_outlook.segments, self.calendar.index(release.due_day)
        if view is None:
            return self.demand.mix_at_start
        life = slice(min(first, self.calendar.n_days - 1), first + release.life_days)
        return mix_of(self.demand.segment, view.expected[:, life].mean(axis=1))

    @cached_property
    def _generations(self) -> tuple[Generation, ...]:
        """Kinds of GPU to come, by trend."""
        trend = self.market.new_generations
        if trend is None:
            return ()
        base = next(quote for quote in self.market.quote if quote.accelerator == trend.base)
        return tuple(generations(trend, Generation(base, self._catalogue[base.accelerator]), self.calendar))

    @cached_property
    def quotes(self) -> tuple[Quote, ...]:
        """What is on offer or will be: the market's quotes, then the generations to come by trend."""
        return (*self.market.quote, *(found.quote for found in self._generations))

    @cached_property
    def accelerators(self) -> tuple[Accelerator, ...]:
        """The kinds on offer, in the order of `quotes`."""
        declared = (self._catalogue[quote.accelerator] for quote in self.market.quote)
        return (*declared, *(found.accelerator for found in self._generations))

    @cached_property
    def _catalogue(self) -> dict[str, Accelerator]:
        rows = {found.name: found for found in CATALOGUE}
        rows.update({added.name: added.accelerator() for added in self.accelerator})
        return rows

    def mfu_on(self, accelerator: Accelerator) -> float:
        """Model FLOP utilisation of training on one kind, as far as its network lets."""
        return self._mfu.get(accelerator.name, self.training.mfu)

    @cached_property
    def _mfu(self) -> dict[str, float]:
        """By the name of the kind, where the quote says how fast its network is."""
        training = self.training
        return {
            kind.name: float(
                linked_mfu(
                    training.mfu,
                    kind.chip.bf16_flop_per_second,
                    quote.link_gb_per_second * GIGA,
                    training.tokens_per_gpu_step,
                    training.stage,
                )
            )
            for kind, quote in zip(self.accelerators, self.quotes, strict=True)
            if quote.link_gb_per_second is not None
        }

    @cached_property
    def supply(self) -> Supply:
        """How many GPUs there are to be had."""
        return supply(self.quotes, self.price_outlook.available_day, self.calendar)

    @cached_property
    def models(self) -> tuple[PublishedModel, ...]:
        """The models there are to start from: the catalogue with the scenario's own rows."""
        return models_with(self.model)

    @cached_property
    def demand_outlook(self) -> DemandOutlook:
        """What the scenario itself says of demand."""
        return outlook(self.demand, self.calendar)

    @cached_property
    def price_outlook(self) -> PriceOutlook:
        """What the scenario itself says of prices."""
        return price_outlook(self.market, self.quotes, self.calendar)

    @property
    def days_from_order_to_service(self) -> int:
        """How long GPUs that are bought are expected to take, by the median lead time [days]."""
        return round(self.market.lead_days) + self.ownership.installation_days

    def announcement_days(self, smallest_move: float) -> list[int]:
        """Days within the horizon on which prices change at once, or a new kind of GPU can be had.

        Recorded prices count where they move by `smallest_move` of themselves or more.
        """
        days = {self.calendar.day_of(event.day) for event in self.market.event}
        days |= {int(day) for day in self.price_outlook.available_day}
        days |= {index - self.history_days for index in self.price_outlook.recorded_moves(smallest_move)}
        return sorted(day for day in days if 0 < day < self.horizon_days)

    @cached_property
    def hour_profile(self) -> HourProfile:
        """The shape of a day."""
        return HourProfile(self.demand.hour_profile)

    @cached_property
    def planned_profile(self) -> HourProfile:
        """The same with batch tokens in its troughs: what GPUs are planned for."""
        return self.hour_profile.with_waiting(self.demand.batch.share)

    @cached_property
    def scaling_fit(self) -> ScalingFit:
        """The coefficients of the loss law."""
        return next(fit for fit in SCALING_FITS if fit.name == self.training.scaling_fit)

    @cached_property
    def precisions(self) -> tuple[Precision, ...]:
        """bf16 first, then those the quantize lever may choose."""
        return tuple(found for found in PRECISIONS if found.name == "bf16" or found.name in self.quantize_to)


def _must_be_known(where: str, name: str, known: set[str]) -> None:
    if name not in known:
        raise UnknownName(where, name, tuple(sorted(known)))
