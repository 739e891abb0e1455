"""Published prices, dated: what GPUs, power and floor space were offered at. Facts, one a row, each with its source.

List prices, of one GPU of the kind, in nominal USD. They are no forecast and nothing is fitted to them; whoever quotes
a market can compare with what was asked before. Prices fell and rose again. A day is that on which the price was read,
or the first of the month or year where the source says no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum


class PriceKind(Enum):
    """What is paid for."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    ONE_YEAR = "1-year"
    THREE_YEAR = "3-year"
    PURCHASE = "purchase"
    ELECTRICITY = "electricity"
    HOSTING = "hosting"


class PriceUnit(Enum):
    """What a price is per."""

    GPU_HOUR = "USD/GPU-hour"
    GPU = "USD/GPU"
    KWH = "USD/kWh"
    KW_MONTH = "USD/kW-month"
    OFF_ON_DEMAND = "share off on-demand"


@dataclass(frozen=True, slots=True)
class PublishedPrice:
    """One price; `accelerator` is a name of the catalogue, or empty where the price is of no one kind."""

    kind: PriceKind
    accelerator: str
    vendor: str
    product: str
    day: date
    value: float
    unit: PriceUnit
    source: str


_EPOCH = "Epoch AI hardware prices (CC BY 4.0)"
_ESTIMATE = f"{_EPOCH}, their estimate from cost and from GPUs of like speed"
_FSDL = "The Full Stack, Cloud GPUs table"
_GCP = "Google Cloud list prices as kept by Cyclenerd/google-cloud-pricing-cost-calculator; machine / 8 GPUs"
_GCP_ONE = "Google Cloud list prices as kept by Cyclenerd/google-cloud-pricing-cost-calculator; machine of one GPU"
_2026 = "price lists of June 2026 as kept by sooddvs/gpu-pricing"
_CUT = "AWS price lists after the cut of June 2025, as kept by sooddvs/gpu-pricing"
_INDEX = "SemiAnalysis index, at second hand"
_EIA = "EIA, US industrial average, as in the code of Cottier et al. 2024"
_CBRE = "CBRE asking rents, 250 to 500 kW, primary US markets, as in the trade press"
_COTTIER = "Cottier et al. 2024, arXiv 2405.21015, default of their code"


def _terms(
    accelerator: str, vendor: str, product: str, day: date, rents: tuple[float | None, ...], source: str
) -> Iterator[PublishedPrice]:
    """Rents of one product on one day: on demand, 1 year, 3 years, spot; None where none is offered."""
    kinds = (PriceKind.ON_DEMAND, PriceKind.ONE_YEAR, PriceKind.THREE_YEAR, PriceKind.SPOT)
    for kind, usd in zip(kinds, rents, strict=False):
        if usd is not None:
            yield PublishedPrice(kind, accelerator, vendor, product, day, usd, PriceUnit.GPU_HOUR, source)


def _sale(accelerator: str, product: str, day: date, usd: float, source: str = _EPOCH) -> PublishedPrice:
    return PublishedPrice(PriceKind.PURCHASE, accelerator, "", product, day, usd, PriceUnit.GPU, source)


def _power(year: int, usd: float) -> PublishedPrice:
    return PublishedPrice(PriceKind.ELECTRICITY, "", "", "US industrial", date(year, 1, 1), usd, PriceUnit.KWH, _EIA)


def _floor(year: int, usd: float, product: str = "US colocation", source: str = _CBRE) -> PublishedPrice:
    return PublishedPrice(PriceKind.HOSTING, "", "", product, date(year, 1, 1), usd, PriceUnit.KW_MONTH, source)


def _discounts(vendor: str, one_year: float, three_year: float) -> Iterator[PublishedPrice]:
    day, unit = date(2024, 5, 31), PriceUnit.OFF_ON_DEMAND
    for kind, share in ((PriceKind.ONE_YEAR, one_year), (PriceKind.THREE_YEAR, three_year)):
        yield PublishedPrice(kind, "", vendor, "usual discount", day, share, unit, _COTTIER)


RENTS: tuple[PublishedPrice, ...] = (
    # kind, vendor, product, day, (on demand, 1 year, 3 years, spot), source
    *_terms("V100 16GB", "AWS", "p3", date(2018, 6, 8), (3.06, 1.99, 1.23), _EPOCH),
    *_terms("A100 40GB", "AWS", "p4d.24xlarge / 8", date(2021, 11, 4), (4.10, 2.40, 1.45), _EPOCH),
    *_terms("A100 40GB", "AWS", "p4d.24xlarge / 8", date(2022, 8, 26), (4.0963, None, None, 1.2288), _FSDL),
    *_terms("A100 40GB", "AWS", "p4d.24xlarge / 8", date(2025, 3, 7), (4.0963,), _FSDL),
    *_terms("A100 40GB", "AWS", "p4d.24xlarge / 8", date(2025, 6, 1), (2.745,), _CUT),
    *_terms("A100 40GB", "Google Cloud", "a2-highgpu-8g / 8", date(2022, 8, 4), (3.67,), _EPOCH),
    *_terms("A100 40GB", "Google Cloud", "a2-highgpu-1g", date(2022, 2, 9), (3.559, 2.2421, 1.2457), _GCP_ONE),
    *_terms("A100 40GB", "Google Cloud", "a2-highgpu-1g", date(2026, 7, 30), (3.6734, 2.3142, 1.2857, 1.928), _GCP_ONE),
    *_terms("A100 40GB", "Lambda", "SXM", date(2022, 8, 4), (1.10,), _EPOCH),
    *_terms("A100 40GB", "Lambda", "SXM", date(2024, 7, 11), (1.29,), _EPOCH),
    *_terms("A100", "AWS", "p4de.24xlarge / 8", date(2022, 8, 19), (5.12, 3.00, 1.81), _EPOCH),
    *_terms("A100", "AWS", "p4de.24xlarge / 8", date(2025, 3, 2), (5.12, 3.00, 1.81), _EPOCH),
    *_terms("A100", "AWS", "p4de.24xlarge / 8", date(2025, 6, 1), (3.431,), _CUT),
    *_terms("A100", "AWS", "p4de.24xlarge / 8", date(2026, 6, 1), (3.43, 2.18, 1.46), _2026),
    *_terms("A100", "Azure", "ND96amsr A100 v4 / 8", date(2022, 4, 15), (4.10, 2.62, 1.80), _EPOCH),
    *_terms("A100", "Google Cloud", "a2-ultragpu-1g", date(2026, 7, 30), (5.0688, None, None, 2.7595), _GCP_ONE),
    *_terms("A100", "Datacrunch", "SXM", date(2022, 8, 8), (1.85,), _EPOCH),
    *_terms("A100", "Lambda", "SXM", date(2023, 2, 2), (1.50,), _EPOCH),
    *_terms("A100", "RunPod", "SXM", date(2023, 5, 23), (1.89,), _EPOCH),
    *_terms("A100", "FluidStack", "SXM", date(2023, 10, 31), (2.21,), _EPOCH),
    *_terms("A100", "Oblivus", "SXM", date(2024, 6, 25), (2.25,), _EPOCH),
    *_terms("A100", "Lambda", "PCIe", date(2024, 7, 11), (1.29,), _EPOCH),
    *_terms("A100", "RunPod", "SXM", date(2025, 3, 3), (1.89,), _EPOCH),
    *_terms("A100", "Cudo", "PCIe", date(2025, 3, 3), (1.50,), _EPOCH),
    *_terms("A100", "RunPod", "", date(2026, 6, 1), (1.39,), _2026),
    *_terms("H100", "Latitude", "SXM, 8 GPUs", date(2023, 6, 22), (4.03,), _EPOCH),
    *_terms("H100", "Latitude", "SXM, 1 GPU", date(2023, 6, 22), (4.40,), _EPOCH),
    *_terms("H100", "FluidStack", "SXM", date(2023, 10, 31), (4.76,), _EPOCH),
    *_terms("H100", "Oracle", "BM.GPU.H100.8 / 8", date(2023, 10, 23), (10.00,), _EPOCH),
    *_terms("H100", "Lambda", "PCIe", date(2024, 1, 29), (2.49,), _EPOCH),
    *_terms("H100", "Lambda", "SXM", date(2024, 1, 29), (3.49,), _EPOCH),
    *_terms("H100", "Google Cloud", "a3-highgpu-8g / 8", date(2024, 5, 17), (10.9791, 7.6212, 4.8211, 7.7435), _GCP),
    *_terms("H100", "Oblivus", "SXM", date(2024, 6, 25), (3.45,), _EPOCH),
    *_terms("H100", "RunPod", "SXM", date(2024, 7, 27), (3.99,), _EPOCH),
    *_terms("H100", "Lambda", "SXM, 8 GPUs", date(2024, 9, 1), (2.99,), _EPOCH),
    *_terms("H100", "Lambda", "SXM, 1 GPU", date(2024, 11, 29), (3.29,), _EPOCH),
    *_terms("H100", "Cudo", "SXM", date(2025, 3, 3), (2.45,), _EPOCH),
    *_terms("H100", "RunPod", "SXM", date(2025, 3, 3), (2.99,), _EPOCH),
    *_terms("H100", "Oblivus", "SXM", date(2025, 3, 3), (2.94,), _EPOCH),
    *_terms("H100", "AWS", "p5.48xlarge / 8", date(2025, 3, 17), (12.29,), _EPOCH),
    *_terms("H100", "Google Cloud", "a3-highgpu-8g / 8", date(2025, 3, 17), (11.06, 7.67, 4.86), _EPOCH),
    *_terms("H100", "AWS", "p5.48xlarge / 8", date(2025, 6, 1), (6.88,), _CUT),
    *_terms("H100", "Google Cloud", "a3-highgpu-8g / 8", date(2025, 6, 5), (11.0612, 7.673, 4.858, 2.5499), _GCP),
    *_terms("H100", "market index", "one-year contracts", date(2025, 10, 1), (None, 1.70), _INDEX),
    *_terms("H100", "market index", "one-year contracts", date(2026, 3, 1), (None, 2.35), _INDEX),
    *_terms("H100", "RunPod", "PCIe", date(2026, 6, 1), (2.89, None, None, 1.99), _2026),
    *_terms("H100", "AWS", "p5.48xlarge / 8", date(2026, 6, 1), (6.88, None, 2.97), _2026),
    *_terms("H100", "Google Cloud", "", date(2026, 6, 1), (9.80,), _2026),
    *_terms("H100", "Oracle", "", date(2026, 6, 1), (10.00,), _2026),
    *_terms("H100", "Google Cloud", "a3-highgpu-8g / 8", date(2026, 7, 30), (11.0612, 7.673, 4.858, 6.3262), _GCP),
    *_terms("H200", "AWS", "p5en.48xlarge / 8", date(2025, 3, 17), (10.60,), _EPOCH),
    *_terms("H200", "AWS", "p5en.48xlarge / 8", date(2025, 6, 1), (7.912,), _CUT),
    *_terms("B200", "RunPod", "", date(2026, 6, 1), (5.89,), _2026),
    *_terms("B200", "AWS", "", date(2026, 6, 1), (14.24,), _2026),
    *_terms("TPU v4", "Google Cloud", "us-central2", date(2022, 5, 11), (3.22, 2.03, 1.45), _EPOCH),
    *_terms("TPU v5e", "Google Cloud", "us-central1", date(2025, 3, 3), (1.20, 0.84, 0.54), _EPOCH),
    *_terms("TPU v6e", "Google Cloud", "US east", date(2025, 3, 3), (2.70, 1.89, 1.22), _EPOCH),
)
SALES: tuple[PublishedPrice, ...] = (
    _sale("V100 16GB", "SXM2", date(2017, 7, 1), 11_500),
    _sale("V100 32GB", "SXM2", date(2018, 3, 27), 11_458),
    _sale("A100 40GB", "SXM", date(2020, 7, 1), 15_000),
    _sale("A100 40GB", "SXM", date(2022, 7, 1), 12_500),
    _sale("A100", "SXM", date(2020, 7, 1), 17_500),
    _sale("A100", "DGX A100 / 8", date(2021, 6, 30), 37_500),
    _sale("A100", "DGX A100 / 8", date(2022, 1, 20), 20_875),
    _sale("A100", "8-GPU box / 8", date(2025, 3, 4), 17_348.56),
    _sale("H100", "DGX H100 / 8", date(2022, 9, 29), 44_489.88),
    _sale("H100", "DGX H100 / 8", date(2023, 5, 29), 33_750),
    _sale("H100", "HGX H100 / 8", date(2024, 3, 21), 37_080.50),
    _sale("H100", "HGX H100 / 8", date(2025, 1, 31), 31_904.63),
    _sale("H100", "8-GPU box / 8, lowest", date(2025, 3, 3), 28_750),
    _sale("H100", "8-GPU box / 8, highest", date(2025, 3, 3), 46_875),
    _sale("H100", "PCIe", date(2025, 3, 3), 24_500),
    _sale("H200", "HGX H200 / 8", date(2025, 1, 31), 39_083.38),
    _sale("B200", "DGX B200 / 8", date(2024, 12, 17), 47_409.13),
    _sale("GB200", "NVL72 rack of about 3.2 million / 72", date(2025, 1, 1), 44_444, "at second hand; day not known"),
    _sale("MI300X", "8-GPU box / 8", date(2025, 2, 10), 25_733.71),
    _sale("TPU v4", "not for sale", date(2021, 5, 20), 5_176, _ESTIMATE),
    _sale("TPU v5e", "not for sale", date(2023, 8, 15), 1_781, _ESTIMATE),
    _sale("TPU v5p", "not for sale", date(2023, 12, 6), 3_694, _ESTIMATE),
    _sale("TPU v6e", "not for sale", date(2024, 5, 15), 6_518, _ESTIMATE),
)
UPKEEP: tuple[PublishedPrice, ...] = (
    *(_power(2019 + n, usd) for n, usd in enumerate((0.0681, 0.0667, 0.0718, 0.0832, 0.0806, 0.0771, 0.0826))),
    *(_floor(2022 + n, usd) for n, usd in enumerate((137.86, 163.44, 184.06))),
    _floor(2025, 217.30, "colocation, world, first quarter", "CBRE asking rents, 250 to 500 kW, as in the trade press"),
)
DISCOUNTS: tuple[PublishedPrice, ...] = (
    *_discounts("AWS", 0.41, 0.64),
    *_discounts("Google Cloud", 0.37, 0.56),
    *_discounts("Azure", 0.25, 0.49),
    *_discounts("Lambda", 0.34, 0.56),
)
PRICES = (*RENTS, *SALES, *UPKEEP, *DISCOUNTS)
"""All of them, in the order of kinds of GPU and days."""
