"""Where the money went, stage by stage: a row per policy."""

from __future__ import annotations

from rich.text import Text

from simulator.lab.accounts import Account, Stage
from simulator.show.fitting_table import FittingTable
from simulator.show.money import Currency, money
from simulator.show.plain_table import plain_table
from simulator.study.comparison import Comparison

STAGE_WORDS = {
    Stage.DATA_PREPARATION: "Data",
    Stage.TRAINING: "Training",
    Stage.FINE_TUNING: "Fine-\ntuning",
    Stage.RESEARCH: "Research",
    Stage.DEPLOYMENT: "Deploying",
    Stage.SERVING: "Serving",
    Stage.IDLE: "Idle\nGPUs",
    Stage.HARDWARE_LEFT_OVER: "Leases\nleft over",
    Stage.MODELS_LEFT_OVER: "Models\nleft over",
}
STAGE_CAPTION = (
    "Economic cost, estimated as in the table of costs; the stages add up to it. A GPU-hour costs that day's rent, "
    "lease or loss of value, and running it.\n"
    "Left over at the end: leases, as far as they cost more than the market; models, as far as they will serve on (a "
    "credit). What GPUs left are worth is no part of the cost."
)


def in_a_line(stage: Stage) -> str:
    """What a stage is called where there is room."""
    return STAGE_WORDS[stage].replace("-\n", "-").replace("\n", " ")


def stage_table(comparison: Comparison) -> FittingTable:
    """What each policy cost by stage of a model's life; together its cumulative cost."""
    currency = Currency.declared(comparison.scenario.currency)
    table = plain_table("Cost of ownership by stage", Text(STAGE_CAPTION), FittingTable)
    table.spare = {}
    table.add_column("Policy", no_wrap=True)
    for header in (*(STAGE_WORDS[stage] for stage in Stage), "Cost", "GPUs left\nare worth"):
        table.add_column(header, justify="right", no_wrap=True)
    left = comparison.part_of_cost_usd(-comparison.by_policy(f"cash_{Account.CLOSING_FLEET.name.lower()}_usd")) + 0.0
    by_policy = zip(comparison.policy_names, comparison.controlled_stage_usd, left.tolist(), strict=True)
    for name, usd, worth in by_policy:
        table.add_row(name, *(money(amount, currency) for amount in (*usd.tolist(), float(usd.sum()), worth)))
    return table
