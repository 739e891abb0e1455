"""Recompute the calibration figures of the frontier-lab scenario from the data and compare them.

Sources (see SOURCES.md of the data folder): OpenRouter rankings-daily (CC BY 4.0), ServeGen (Apache-2.0),
GCP list prices from google-cloud-pricing-cost-calculator (Apache-2.0), Epoch AI hardware prices (CC BY 4.0),
wholesale electricity from green-dcc (MIT). The folder is $LABSPEND_DATA, else ../shared/data beside the repo.
"""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simulator.study.calibrate import Calibration, DailyFit, calibrate
from simulator.study.demand_block import mean_one
from simulator.study.files import load_scenario
from simulator.study.usage import load_usage

# --- figures the scenario states ------------------------------------------------------------------------
GROWTH_PER_DAY = 0.01607  # log growth; exp(.) - 1 = 1.62 % a day
LEVEL_DATE = "2026-06-01"
LEVEL_TOKENS = 4.984e12  # weekday-neutral trend (median of the noise) on LEVEL_DATE
WEEKDAY_FACTORS = (1.014, 1.059, 1.090, 1.066, 1.017, 0.870, 0.884)  # Monday first, mean exactly 1
WEEKEND_OVER_WEEKDAY = 0.836
NOISE_SD = 0.072  # n - 8 degrees of freedom
NOISE_AR1 = 0.71  # correlation of successive residuals
NOISE_AR1_CORRECTED = 0.79  # Kendall: r + (1 + 3 r) / n
INNOVATION_SD = 0.051  # NOISE_SD * sqrt(1 - NOISE_AR1**2)

HOURS_M_LARGE = (
    1.103, 1.062, 0.961, 0.896, 0.828, 0.773, 0.764, 0.770, 0.741, 0.827, 1.029, 1.113,
    0.947, 0.949, 0.969, 1.069, 1.120, 1.104, 1.027, 1.063, 1.211, 1.131, 1.249, 1.294,
)  # fmt: skip
HOURS_M_SMALL = (
    0.714, 0.630, 0.777, 0.636, 0.626, 0.510, 0.575, 0.694, 0.900, 1.419, 1.322, 1.283,
    1.130, 1.099, 1.093, 1.124, 1.246, 1.180, 0.996, 1.155, 1.536, 1.320, 1.118, 0.917,
)  # fmt: skip
HOURS = {"m_large": HOURS_M_LARGE, "m_small": HOURS_M_SMALL}
PEAK_HOUR = {"m_large": 1.29, "m_small": 1.54}
PROMPT_OVER_COMPLETION = {"m_large": 6.74, "m_small": 8.12, "deepseek_r1": 0.773}
PROMPT_SHARE_M_LARGE = 0.871

SPOT_OVER_ON_DEMAND = {"H100-80GB": 0.305, "A100-80GB": 0.399}  # medians, both regions
GCP_DISCOUNTS = {"H100-80GB": (0.306, 0.561), "A100-80GB": (0.370, 0.650)}  # one year, three years
H100_SPOT_FLOOR_DATE, H100_SPOT_RISE_DAYS = "2026-01-01", 210
H100_SPOT_RISE = {"us-central1": 2.48, "europe-west4": 2.16}  # last price / price on the floor date
SPOT_WEEKLY_SD = {"H100-80GB": 0.069, "A100-80GB": 0.022}  # weekly log change of spot/on-demand, us-central1
SPOT_DETRENDED_SD = {"H100-80GB": 0.35, "A100-80GB": 0.077}  # log ratio about its linear trend, us-central1

PURCHASE_USD = {  # per GPU: hardware, date and figure in Epoch AI's table
    "A100-80": ("NVIDIA A100 SXM4 80 GB", "2025-03-04", 17_349),
    "H100": ("NVIDIA H100 SXM5 80GB", "2025-01-31", 31_905),
    "H200": ("NVIDIA H200 SXM", "2025-01-31", 39_083),
    "B200": ("NVIDIA B200", "2024-12-17", 47_409),
    "MI300X": ("AMD Instinct MI300X", "2025-02-10", 25_734),
}
RUNPOD_ON_DEMAND = {  # start and mid-record of the same-product rent paths, USD per GPU-hour
    ("NVIDIA H100 SXM5 80GB", "2024-07-27"): 3.99,
    ("NVIDIA H100 SXM5 80GB", "2025-03-03"): 2.99,
    ("NVIDIA H100 PCIe", "2024-07-27"): 3.29,
    ("NVIDIA H100 PCIe", "2025-03-03"): 2.39,
    ("NVIDIA A100 SXM4 80 GB", "2024-07-27"): 1.94,
    ("NVIDIA A100 SXM4 80 GB", "2025-03-03"): 1.89,
}
US_POWER_MONTHLY_SD = 0.30  # robust sd of the monthly log change, median of four US markets


def data_file(name: str) -> Path:
    """Find one data file, or skip the test when the data folder is absent."""
    default = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("LABSPEND_DATA", default)) / name
    if not path.is_file():
        pytest.skip(f"calibration data not found: {name} (set LABSPEND_DATA to the data folder)")
    return path


def load(name: str) -> pd.DataFrame:
    """Read one data file."""
    return pd.read_csv(data_file(name))


@pytest.fixture(scope="module")
def found() -> Calibration:
    """Return the fit of the daily OpenRouter totals."""
    return calibrate(load_usage(data_file("demand_openrouter_daily.csv")), date.fromisoformat(LEVEL_DATE))


@pytest.fixture(scope="module")
def demand(found: Calibration) -> DailyFit:
    """Return the part of it that runs from day to day."""
    assert found.daily is not None
    return found.daily


def test_the_frontier_scenario_states_these_figures() -> None:
    demand = load_scenario("frontier_lab").demand
    assert demand.tokens_per_day == pytest.approx(LEVEL_TOKENS * np.exp(NOISE_SD**2 / 2), rel=2e-3)  # noise of mean one
    assert demand.history_growth_per_year == pytest.approx(np.exp(GROWTH_PER_DAY * 365.25), rel=2e-3)
    assert demand.growth_per_year == demand.history_growth_per_year
    assert demand.weekday_factors == WEEKDAY_FACTORS
    assert (demand.noise_sigma, demand.noise_persistence) == (NOISE_SD, NOISE_AR1)
    assert demand.hour_profile == HOURS_M_LARGE
    assert demand.prompt_share == PROMPT_SHARE_M_LARGE


def test_demand_growth_and_level(found: Calibration, demand: DailyFit) -> None:
    assert found.n_whole_days == 38
    (regime,) = demand.regimes
    assert regime.log_growth_per_day.value == pytest.approx(GROWTH_PER_DAY, abs=5e-6)
    assert np.expm1(regime.log_growth_per_day.value) == pytest.approx(0.0162, abs=5e-5)
    of_noise = np.exp(demand.noise.sd_corrected.value**2 / 2)  # a level is a mean, the published one a median
    assert demand.level.value / of_noise == pytest.approx(LEVEL_TOKENS, rel=2e-4)


def test_weekday_factors(demand: DailyFit) -> None:
    assert sum(WEEKDAY_FACTORS) == pytest.approx(7.0, abs=1e-12)
    assert demand.weekdays is not None
    assert mean_one(demand.weekdays.factors) == WEEKDAY_FACTORS
    assert demand.weekdays.weekend_over_weekday.value == pytest.approx(WEEKEND_OVER_WEEKDAY, abs=5e-4)
    assert demand.weekday_p_value < 1e-6


def test_demand_noise(demand: DailyFit) -> None:
    noise = demand.noise
    assert noise.degrees_of_freedom == 38 - 8
    assert noise.sd == pytest.approx(NOISE_SD, abs=5e-4)
    assert noise.ar1.value == pytest.approx(NOISE_AR1, abs=5e-3)
    assert noise.ar1_corrected.value == pytest.approx(NOISE_AR1_CORRECTED, abs=5e-3)
    assert noise.sd * np.sqrt(1 - noise.ar1.value**2) == pytest.approx(INNOVATION_SD, abs=5e-4)


@pytest.fixture(scope="module", params=PROMPT_OVER_COMPLETION)
def serving(request: pytest.FixtureRequest) -> tuple[str, Calibration]:
    """Return one of the ServeGen traces by name, fitted."""
    return request.param, calibrate(load_usage(data_file(f"demand_servegen_{request.param}_10min.csv")))


def test_hour_profile(serving: tuple[str, Calibration]) -> None:
    trace, found = serving
    if trace not in HOURS:
        return
    assert sum(HOURS[trace]) == pytest.approx(24.0, abs=1e-9)
    assert mean_one(found.hours) == HOURS[trace]
    assert max(hour.value for hour in found.hours) == pytest.approx(PEAK_HOUR[trace], abs=5e-3)


def test_prompt_to_completion(serving: tuple[str, Calibration]) -> None:
    trace, found = serving
    assert found.mix is not None
    assert found.mix.prompt_over_completion.value == pytest.approx(PROMPT_OVER_COMPLETION[trace], rel=1e-3)
    if trace == "m_large":
        assert found.mix.prompt_share.value == pytest.approx(PROMPT_SHARE_M_LARGE, abs=5e-4)


def test_two_weeks_have_no_weekday_pattern_and_say_so(serving: tuple[str, Calibration]) -> None:
    found = serving[1]
    assert found.daily is None or found.daily.weekdays is None
    assert any("weekday" in note for note in found.notes)


def test_an_hour_of_requests_gives_lengths_and_says_what_it_cannot_give() -> None:
    found = calibrate(load_usage(data_file("demand_azure2023_conv_requests.csv")))
    lengths = found.lengths
    assert lengths is not None
    assert lengths.n_requests == 19_366
    # demand_length_quantiles.csv: mean of prompts and of completions
    assert lengths.prompt_tokens.value == pytest.approx(1154.6974, abs=1e-3)
    assert lengths.prompt_tokens.standard_error == pytest.approx(1108.8225 / np.sqrt(19_366), rel=1e-4)
    assert lengths.context_tokens.value == pytest.approx(1154.6974 + 211.1260 / 2, abs=1e-3)
    assert (found.daily, found.hours, found.mean_tokens_per_day) == (None, (), None)
    assert any("not even a level" in note for note in found.notes)
    assert any("no hour profile" in note for note in found.notes)


@pytest.fixture(scope="module")
def gcp() -> pd.DataFrame:
    """Return the GCP price history with short column names."""
    data = load("gpu_gcp_price_history.csv")
    return data.rename(columns=lambda name: name.removesuffix("_usd_per_gpu_hour"))


def spot_path(gcp: pd.DataFrame, gpu: str, region: str) -> pd.DataFrame:
    """Return one product's prices by date, the last row of a day winning, from the first spot price on."""
    rows = gcp[(gcp["gpu"] == gpu) & (gcp["region"] == region) & gcp["spot"].notna()]
    rows = rows.drop_duplicates("date", keep="last")
    return rows.set_index(pd.to_datetime(rows["date"]))


@pytest.mark.parametrize("gpu", SPOT_OVER_ON_DEMAND)
def test_gcp_ratios(gcp: pd.DataFrame, gpu: str) -> None:
    rows = gcp[gcp["gpu"] == gpu]
    assert (rows["spot"] / rows["on_demand"]).median() == pytest.approx(SPOT_OVER_ON_DEMAND[gpu], abs=1e-3)
    discounts = [(1 - rows[term] / rows["on_demand"]).median() for term in ("cud_1y", "cud_3y")]
    assert discounts == pytest.approx(GCP_DISCOUNTS[gpu], abs=1e-3)


@pytest.mark.parametrize("region", H100_SPOT_RISE)
def test_h100_spot_rose_while_the_list_stood_still(gcp: pd.DataFrame, region: str) -> None:
    path = spot_path(gcp, "H100-80GB", region)
    floor = path.loc[:H100_SPOT_FLOOR_DATE].iloc[-1]
    assert path["spot"].iloc[-1] / floor["spot"] == pytest.approx(H100_SPOT_RISE[region], abs=5e-3)
    assert (path.index[-1] - pd.Timestamp(H100_SPOT_FLOOR_DATE)).days == H100_SPOT_RISE_DAYS
    assert path.loc["2024-06-01":, "on_demand"].nunique() == 1


@pytest.mark.parametrize("gpu", SPOT_WEEKLY_SD)
def test_spot_movement(gcp: pd.DataFrame, gpu: str) -> None:
    path = spot_path(gcp, gpu, "us-central1")
    log_ratio = np.log(path["spot"] / path["on_demand"]).resample("7D").last().ffill().to_numpy()
    week = np.arange(len(log_ratio))
    resid = log_ratio - np.polyval(np.polyfit(week, log_ratio, 1), week)
    assert np.diff(log_ratio).std(ddof=1) == pytest.approx(SPOT_WEEKLY_SD[gpu], abs=5e-4)
    assert resid.std(ddof=2) == pytest.approx(SPOT_DETRENDED_SD[gpu], abs=3e-3)
    # Dickey-Fuller: a random walk is not rejected (5 % point about -2.9), so the half-life is a choice
    lagged = np.column_stack([np.ones(len(week) - 1), log_ratio[:-1]])
    beta, rss = np.linalg.lstsq(lagged, np.diff(log_ratio), rcond=None)[:2]
    error = np.sqrt(rss[0] / (len(week) - 3) * np.linalg.inv(lagged.T @ lagged)[1, 1])
    assert beta[1] / error > -2.9


@pytest.mark.parametrize("chip", PURCHASE_USD)
def test_purchase_prices(chip: str) -> None:
    hardware, date, usd = PURCHASE_USD[chip]
    data = load("gpu_epoch_hardware_prices.csv")
    prices = data.loc[(data["hardware"] == hardware) & (data["date"] == date), "purchase_price_usd"]
    assert usd in prices.round().to_list()


def test_runpod_rents() -> None:
    data = load("gpu_epoch_hardware_prices.csv").query("vendor == 'RunPod'")
    for (hardware, when), usd in RUNPOD_ON_DEMAND.items():
        rows = data[(data["hardware"] == hardware) & (data["date"] == when)]
        assert usd in rows["on_demand_usd_per_chip_hour"].to_list()


def test_us_power_volatility() -> None:
    data = load("elec_wholesale_monthly.csv")
    sds = []
    for _, rows in data[data["region"].str.startswith("US-")].groupby("region"):
        change = np.diff(np.log(rows.sort_values("month")["mean_usd_mwh"].to_numpy()))
        sds.append(1.4826 * np.median(np.abs(change - np.median(change))))
    assert len(sds) == 4
    assert np.median(sds) == pytest.approx(US_POWER_MONTHLY_SD, abs=5e-3)
