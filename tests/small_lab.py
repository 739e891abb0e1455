"""Small worlds and plain policies that several tests live in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from simulator.lab.forecast import Forecast
from simulator.lab.models import RunSize, served_model
from simulator.lab.observation import Observation
from simulator.lab.orders import Buy, Order, Reserve
from simulator.lab.plan import Choice
from simulator.lab.procurement import Procurement
from simulator.laws.precision import BF16
from simulator.world.demand import DemandInputs
from simulator.world.hardware import AcceleratorInputs
from simulator.world.market import Commitment, MarketEvent, MarketInputs, Quote
from simulator.world.roadmap import Release, ReleaseInputs, RoadmapInputs
from simulator.world.scenario import ByFlop, ModelInputs, OwnershipInputs, Scenario, TrainingInputs

MONDAY = date(2026, 6, 1)
TOKENS_PER_DAY = 8.64e8
"""10,000 a second: ten GPUs' worth of the opening model, 1,000 tokens a second each."""
HALF_AND_HALF = (0.5,) * 12 + (1.5,) * 12


def plain_scenario() -> Scenario:
    """Three days in round numbers: a GPU of 1e15 FLOP/s, 2 USD an hour, serving and training at half its peak."""
    chip = AcceleratorInputs(
        name="Unit",
        bf16_tflop_per_second=1000,
        memory_gb=1000,
        memory_tb_per_second=10,
        power_kw=1.0,
        server_power_factor=2.0,
        launch=date(2025, 1, 1),
        source="round numbers",
    )
    return Scenario(
        title="three days",
        start=MONDAY,
        horizon_days=3,
        history_days=0,
        discount_per_year=0.0,
        accelerator=(chip,),
        demand=DemandInputs(tokens_per_day=TOKENS_PER_DAY, hour_profile=HALF_AND_HALF, prompt_share=0.5),
        market=MarketInputs(
            quote=(
                Quote(
                    accelerator="Unit",
                    on_demand_usd_per_gpu_hour=2.0,
                    purchase_usd_per_gpu=10_000.0,
                    source="round numbers",
                ),
            ),
            commitment=tuple(Commitment(term_days=days, discount=0.25) for days in (365, 1, 3, 5, 9, 10, 100, 400)),
            event=(MarketEvent(day=MONDAY + timedelta(days=1), on_demand_factor=0.9, note="a cut on day 1"),),
            list_fall_per_year=0.0,
            lead_days=1.0,
            electricity_usd_per_kwh=0.10,
        ),
        roadmap=RoadmapInputs(
            target_flop=1e20,
            train_days=2,
            service_days=3,
            release=(ReleaseInputs(name="next", due=MONDAY + timedelta(days=2)),),
        ),
        training=TrainingInputs(mfu=0.5, failures_per_gpu_year=0.0, checkpoint_minutes=0.0, restart_minutes=0.0),
        serving=ByFlop(utilization=0.5, target_utilization=1.0, cached_prompt_cost=1.0),
        ownership=OwnershipInputs(
            server_overhead=1.5,
            interconnect_share=0.25,
            average_draw=0.75,
            pue=1.2,
            hosting_usd_per_kw_month=182.625,
            maintenance_per_year=0.036525,
            value_fall_oom_per_year=0.36525,
            resale_spread=0.1,
        ),
        opening_model=ModelInputs(n_parameters=2.5e11, n_training_tokens=1e12),
    )


@dataclass(frozen=True)
class FixedRecipe:
    """Trains this model on four GPUs, whatever it sees."""

    n_parameters: float = 1.25e11
    gpus: int = 4
    gpu_hours: float = 144.0

    def choose(
        self, observation: Observation, release: Release, forecast: Forecast, procurement: Procurement
    ) -> Choice:
        flop = self.gpu_hours * 1.8e18
        tokens = flop / (6 * self.n_parameters)
        model = served_model(observation.scenario, release.name, self.n_parameters, tokens, BF16, 1.0)
        planned = np.full(release.life_days, TOKENS_PER_DAY)
        return Choice(model, flop, 0, RunSize(self.gpus, self.gpu_hours), planned, 0.0, 0.0, True, "")


class FixedOrders(Procurement):
    """Places its orders on their days, and rents the rest."""

    on_days: tuple[int, ...] = (0,)
    buys: tuple[int, ...] = ()
    reserves: tuple[int, ...] = ()
    term_days: int = 365
    review_days: int = 1

    def review(self, observation: Observation, forecast: Forecast) -> list[Order]:
        if observation.day not in self.on_days:
            return []
        buys: list[Order] = [Buy(0, gpus, "as planned") for gpus in self.buys]
        return buys + [Reserve(0, gpus, self.term_days, "as planned") for gpus in self.reserves]
