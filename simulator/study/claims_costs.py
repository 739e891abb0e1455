"""Claims about what frontier models cost to train: rented by the hour, bought, and worn out by one run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from simulator.lab.accounts import Account, Use
from simulator.lab.fixed_plan import FixedPlan
from simulator.lab.given import Given
from simulator.lab.lab import Run
from simulator.lab.recorded import Recorded
from simulator.study.claims import Claim, accounted, published, shown, unexplained
from simulator.study.shipped import lived, paid, policy, release, spent, study, with_recipe

NAME = "frontier_costs"
_A100, _TPU, _H100 = range(3)
_DEEPSEEK = "DeepSeek-AI 2024 (arXiv 2412.19437)"
_COTTIER = "Cottier et al. 2024 (arXiv 2405.21015)"
_INDEX = "AI Index 2024"
_AZURE_80GB = f"market.quote.{_A100}.on_demand_usd_per_gpu_hour=1.80"
"""Azure ND96amsr, A100 of 80 GB, three years, 2022-04-15 (Epoch hardware prices)."""
_GOOGLE_H100 = f"market.quote.{_H100}.on_demand_usd_per_gpu_hour=4.86"
"""Google Cloud, three years, 2025-03 (Epoch hardware prices): the first such list of an H100 on record."""
_LAMBDA_H100 = f"market.quote.{_H100}.on_demand_usd_per_gpu_hour=3.49"


def _repeated(run: str, *overrides: str) -> Run:
    return lived(NAME, with_recipe(NAME, "bloom", Recorded(run=run)), *overrides)


def _rented_usd(run: str, *overrides: str) -> float:
    """The run's GPU-hours at the rent of the day, as the books charge them [USD]."""
    return spent(_repeated(run, *overrides), Use.TRAINING)


def _clusters(server_overhead: float, *own: str) -> tuple[str, ...]:
    """Cottier's cluster: server and network age alike, and nothing is lost on a sale."""
    whole = f"ownership.server_overhead={server_overhead / (1.0 - 0.19)!r}"
    return (
        whole,
        "ownership.interconnect_share=0",
        "ownership.resale_spread=0",
        "ownership.hosting_usd_per_kw_month=0",
        "ownership.pue=1.1",
        *own,
    )


_AS_A100 = _clusters(1.66, "market.electricity_usd_per_kwh=0.0832")
_AS_TPU = _clusters(1.64, "ownership.average_draw=0.43", "market.electricity_usd_per_kwh=0.0806")
_AS_H100 = _clusters(1.64, "market.electricity_usd_per_kwh=0.0771")


def _bought_usd(kind: int, gpus: int, *overrides: str) -> float:
    """What the cluster of a run cost, ordered on one day at list price [USD]."""
    found = study(NAME, *overrides).scenario
    order = {"date": found.start, "action": "buy", "accelerator": found.accelerators[kind].name, "gpus": gpus}
    plan = FixedPlan.model_validate({"order": [order]})
    return paid(lived(NAME, replace(policy(NAME, "bloom"), procurement=plan), *overrides), Account.PURCHASE)


def _worn_usd(run: str, kind: int, gpus: int, age_days: int, *overrides: str) -> float:
    """Loss of value and power of the run's own GPUs while it lasts [USD]."""
    quote = study(NAME).scenario.quotes[kind]
    fleet = (
        f'opening_fleet=[{{ accelerator = "{quote.accelerator}", gpus = {gpus}, age_days = {age_days}, '
        f"paid_usd_per_gpu = {quote.purchase_usd_per_gpu!r} }}]"
    )
    return _rented_usd(run, fleet, *overrides)


def _reckoned_hours(model: str, kind: str) -> float:
    """GPU-hours of 6 N D at the median utilisation."""
    recipe = Given(model=model, train_on=kind)
    return release(lived(NAME, with_recipe(NAME, "bloom", recipe))).choice.size.gpu_hours


_TWO_YEARS = 730
"""Age of the GPUs and TPUs when the run began: A100 2020-05 and TPU v4 2021-05, runs of mid 2022 and mid 2023."""
_OF_H100S = 594
"""From the launch of the H100, 2022-09-20, to 78 days before the release of Llama 3.1."""
_CLOUD = f"{_COTTIER}, cloud prices"
_BOUGHT = f"{_COTTIER}, acquisition"
_WORN = f"{_COTTIER}, amortised with energy; the age is taken from dates of launch and release"
_CARD = "published GPU-hours; 0.375 is the median of 0.30 to 0.47 (Cottier et al. 2024), a quarter either way"
_RENTED = (
    ("DeepSeek-V3, 2 USD an hour", f"{_DEEPSEEK}: 5.576 million", 5.576e6, "DeepSeek-V3", (), 1e-6),
    ("DeepSeek-R1 on top of V3, 2 USD an hour", "DeepSeek-AI 2025: 294,000", 294e3, "DeepSeek-R1", (), 0.005),
    ("GPT-4, Azure's three-year price", f"{_CLOUD}; {_INDEX}: 78.4 million", 78.56e6, "GPT-4", (), 0.02),
    ("Gemini Ultra, Google's three-year price", _CLOUD, 198.9e6, "Gemini 1.0 Ultra", (), 0.01),
    ("PaLM, Google's three-year price", f"{_INDEX}: 12.4 million", 12.4e6, "PaLM", (), 0.02),
    ("BLOOM, Azure's three-year price", _CLOUD, 1.984e6, "BLOOM", (_AZURE_80GB,), 0.02),
    ("Llama 2 70B, Azure's three-year price", _CLOUD, 3.154e6, "Llama 2 70B", (_AZURE_80GB,), 0.02),
)
_MISSED = (
    ("GPT-4, more than 100 million as claimed", "said by its makers; what it counts is not known", 100e6, "GPT-4", ()),
    ("Gemini Ultra, as AI Index has it", f"{_INDEX}: 191 million; Cottier: 198.9", 191e6, "Gemini 1.0 Ultra", ()),
    ("PaLM, as Cottier et al. have it", _CLOUD, 13.95e6, "PaLM", ()),
    (
        "Llama 3.1 405B, Google's three-year price of 2025",
        f"{_CLOUD}; its price is not printed, and works out at 5.51 an hour",
        169.8e6,
        "Llama 3.1 405B",
        (_GOOGLE_H100,),
    ),
)
_CLUSTERS = (
    ("GPT-4's 25,000 A100", 778.1e6, _A100, 25_000, _AS_A100, 0.02),
    ("Gemini Ultra's 57,000 TPU v4", 597.9e6, _TPU, 57_000, _AS_TPU, 0.01),
)

CLAIMS: tuple[Claim, ...] = (
    *(
        accounted(NAME, f"rented: {what}", source, usd, partial(_rented_usd, run, *at), within, "USD")
        for what, source, usd, run, at, within in _RENTED
    ),
    *(
        unexplained(NAME, f"rented: {what}", source, usd, partial(_rented_usd, run, *at), "USD")
        for what, source, usd, run, at in _MISSED
    ),
    shown(
        NAME,
        "rented: Llama 3.1 405B, a specialist's list",
        "Lambda, 3.49 USD an hour, 2024-07-11 (Epoch hardware prices)",
        partial(_rented_usd, "Llama 3.1 405B", _LAMBDA_H100),
        "USD",
    ),
    *(
        accounted(NAME, f"bought: {what}", _BOUGHT, usd, partial(_bought_usd, kind, gpus, *how), within, "USD")
        for what, usd, kind, gpus, how, within in _CLUSTERS
    ),
    unexplained(
        NAME,
        "bought: Llama 3.1's 16,384 H100",
        f"{_BOUGHT}; here 25,000 USD a GPU, the lower end",
        896.0e6,
        partial(_bought_usd, _H100, 16_384, *_AS_H100),
        "USD",
    ),
    unexplained(
        NAME,
        "worn out by GPT-4",
        _WORN,
        40.70e6,
        partial(_worn_usd, "GPT-4", _A100, 25_000, _TWO_YEARS, *_AS_A100),
        "USD",
    ),
    published(
        NAME,
        "worn out by Gemini Ultra",
        _WORN,
        28.31e6,
        partial(_worn_usd, "Gemini 1.0 Ultra", _TPU, 57_000, _TWO_YEARS, *_AS_TPU),
        0.05,
        "USD",
    ),
    unexplained(
        NAME,
        "worn out by Llama 3.1 405B",
        _WORN,
        51.04e6,
        partial(_worn_usd, "Llama 3.1 405B", _H100, 16_384, _OF_H100S, *_AS_H100),
        "USD",
    ),
    *(
        published(
            NAME,
            f"GPU-hours of {model} from 6 N D at an MFU of 0.375",
            _CARD,
            hours,
            partial(_reckoned_hours, model, kind),
            0.25,
            "h",
        )
        for model, kind, hours in (
            ("PaLM", "TPU v4", 8_404_992.0),
            ("BLOOM", "A100", 1_082_990.0),
            ("Llama 2 70B", "A100", 1_720_320.0),
            ("Llama 3.1 405B", "H100", 30.84e6),
        )
    ),
    unexplained(
        NAME,
        "GPU-hours of LLaMA-65B from 6 N D at an MFU of 0.375",
        "arXiv 2302.13971, table 15: its MFU was 0.477",
        1_022_362.0,
        partial(_reckoned_hours, "LLaMA-65B", "A100"),
        "h",
    ),
)
