"""The recipe's choice against the laws, against calculus, and against a search that shares nothing with it."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import Flat, lever_sets, observed, tokens_a_day

from simulator.lab.candidates import candidates, reached_flop
from simulator.lab.models import served_model
from simulator.lab.plan import Choice
from simulator.lab.procurement import RentOnDemand
from simulator.lab.recipe import LeverRecipe
from simulator.lab.routes import MAIN_LEVERS, Lever
from simulator.laws.chip import peak_flop_per_second
from simulator.laws.precision import BF16, quantization_penalty, tokens_for_loss_quantized
from simulator.laws.scaling import compute_optimal, equivalent_flop, loss, optimal_loss
from simulator.laws.test_time import MAX_SAMPLES
from simulator.study.files import load_scenario
from simulator.world.scenario import Scenario
from simulator.world.world import realize

# Properties are tried far beyond what was ever trained.
pytestmark = pytest.mark.filterwarnings("ignore::simulator.laws.ranges.ExtrapolationWarning")

ALL = MAIN_LEVERS
SETS = [frozenset(chosen) for n in range(4) for chosen in combinations(sorted(MAIN_LEVERS), n)]
IDS = ["+".join(sorted(levers)) or "none" for levers in SETS]


def known(**training: object) -> Scenario:
    """Dollars are FLOP, but for prompts and completions that differ under the test-time lever."""
    scenario = load_scenario("known_demand", ["demand.prompt_share=0.8"])
    return scenario.model_copy(update={"training": scenario.training.model_copy(update=training)})


def frontier() -> Scenario:
    """The roofline, failures, discounting, and five kinds of GPU."""
    return load_scenario("frontier_lab", ["horizon_days=400"])


KNOWN, FRONTIER = known(), frontier()
SCENARIOS = pytest.mark.parametrize("scenario", [KNOWN, FRONTIER], ids=["known demand", "frontier"])
LEVELS = pytest.mark.parametrize("tokens_per_day", [1e9, 1e11, 1e12, 1e13])


def choose(scenario: Scenario, levers: frozenset[Lever], tokens_per_day: float) -> Choice:
    observation = _opening_day(scenario)
    return LeverRecipe(levers=levers).choose(observation, scenario.releases[0], Flat(tokens_per_day), RentOnDemand())


@lru_cache(maxsize=8)
def _opening_day(scenario: Scenario) -> object:
    return observed(realize(scenario))


def planned_usd(choice: Choice) -> float:
    return choice.planned_training_usd + choice.planned_serving_usd


def fresh_tokens(n_training_tokens: float, unique_tokens: float) -> float:
    """What tokens read again are worth (Muennighoff et al. 2023): each pass less, R* = 15.387756."""
    if n_training_tokens <= unique_tokens:
        return n_training_tokens
    repetitions = n_training_tokens / unique_tokens - 1
    return unique_tokens * (1 + 15.387756 * (1 - float(np.exp(-repetitions / 15.387756))))


# The target ------------------------------------------------------------------------------------------------------


@SCENARIOS
@LEVELS
@pytest.mark.parametrize("levers", SETS, ids=IDS)
def test_every_set_of_levers_reaches_the_target_exactly(
    scenario: Scenario, levers: frozenset[Lever], tokens_per_day: float
) -> None:
    choice, release = choose(scenario, levers, tokens_per_day), scenario.releases[0]
    assert choice.quality_met
    # Straight from the laws: the loss with its penalty, what samples add, progress and data.
    model, fit = choice.model, scenario.scaling_fit
    worth = fresh_tokens(model.n_training_tokens, scenario.training.unique_tokens)
    worse = quantization_penalty(model.precision.reference_penalty_nats, model.n_parameters, worth)
    by_loss = equivalent_flop(fit, loss(fit, model.n_parameters, worth) + worse)
    reached = by_loss * model.samples ** (1 / 1.45) * release.progress * scenario.roadmap.data_gain
    assert model.n_training_tokens <= scenario.training.max_epochs * scenario.training.unique_tokens
    assert reached == pytest.approx(release.target_flop, rel=1e-6)
    assert reached_flop(scenario, release, model) == pytest.approx(reached, rel=1e-12)
    assert choice.training_flop == pytest.approx(6 * model.n_parameters * model.n_training_tokens, rel=1e-12)


@SCENARIOS
@LEVELS
def test_without_levers_the_model_is_compute_optimal(scenario: Scenario, tokens_per_day: float) -> None:
    choice, release = choose(scenario, frozenset(), tokens_per_day), scenario.releases[0]
    physical = release.target_flop / release.progress
    n, d = compute_optimal(scenario.scaling_fit, physical)
    assert choice.model.n_parameters == pytest.approx(n, rel=1e-2)
    assert choice.model.n_training_tokens == pytest.approx(d, rel=1e-2)
    # The optimum is flat: a size within 1 % costs 1e-4 more.
    # Tokens are read on a parabola between sizes, good to 1e-8.
    assert physical * (1 - 1e-8) <= choice.training_flop <= physical * (1 + 1e-4)
    assert (choice.model.precision, choice.model.samples) == (BF16, 1.0)


@SCENARIOS
@LEVELS
@pytest.mark.parametrize("levers", SETS, ids=IDS)
def test_no_lever_is_used_that_is_not_allowed(
    scenario: Scenario, levers: frozenset[Lever], tokens_per_day: float
) -> None:
    model = choose(scenario, levers, tokens_per_day).model
    assert Lever.QUANTIZE in levers or model.precision is BF16
    assert Lever.TEST_TIME in levers or model.samples == 1.0
    assert 1.0 <= model.samples <= MAX_SAMPLES


def test_samples_pay_where_few_tokens_are_served() -> None:
    few = choose(KNOWN, frozenset({Lever.TEST_TIME}), 1e7)
    # 28.2 samples are worth ten times the training (Villalobos & Atkinson 2023).
    assert few.model.samples == pytest.approx(28.2, abs=0.05)
    assert few.training_flop == pytest.approx(choose(KNOWN, frozenset(), 1e7).training_flop / 10, rel=1e-3)


def test_samples_do_not_pay_where_only_answers_are_served_by_the_mass() -> None:
    # Serving costs m N, and N falls as m^-(beta/(alpha+beta)/1.45): more samples are dearer from the first.
    scenario = KNOWN.model_copy(update={"demand": KNOWN.demand.model_copy(update={"prompt_share": 0.0})})
    assert choose(scenario, frozenset({Lever.TEST_TIME}), 1e15).model.samples == 1.0


def test_samples_for_the_mass_are_those_of_calculus() -> None:
    # Where training is nothing, cost is (0.8 + 0.2 m) m^-e with e = 0.3535 (BESI): least at m = 0.8 e / (0.2 (1 - e)).
    fit = KNOWN.scaling_fit
    e = fit.beta / (fit.alpha + fit.beta) / 1.45
    best = 0.8 * e / (0.2 * (1 - e))
    assert best == pytest.approx(2.19, abs=0.01)
    choice = choose(KNOWN, frozenset({Lever.TEST_TIME}), 1e15)
    one = choose(KNOWN, frozenset(), 1e15)
    gained = (0.8 + 0.2 * best) * best**-e
    assert planned_usd(choice) / planned_usd(one) == pytest.approx(gained, rel=0.002)


# The cost --------------------------------------------------------------------------------------------------------


def test_more_levers_are_never_dearer_where_sizes_are_compute_optimal() -> None:
    for tokens_per_day in np.geomspace(1e8, 1e14, 101):
        cost = {levers: planned_usd(choose(KNOWN, levers, float(tokens_per_day))) for levers in SETS}
        for fewer, more in ((a, b) for a in SETS for b in SETS if a < b):
            assert cost[more] <= cost[fewer] * (1 + 1e-5), f"{tokens_per_day:g}: {set(more)} after {set(fewer)}"


@settings(max_examples=40, deadline=None)
@given(lever_sets(), lever_sets(), tokens_a_day())
def test_more_levers_are_never_dearer(some: frozenset[Lever], others: frozenset[Lever], tokens_per_day: float) -> None:
    for scenario in (KNOWN, FRONTIER):
        fewer, more = (planned_usd(choose(scenario, levers, tokens_per_day)) for levers in (some, some | others))
        # Runs are rounded up to whole GPUs, which moves what failures cost by some 1e-6.
        assert more <= fewer * (1 + 1e-5)


def cheapest_by_search(levers: frozenset[Lever], tokens_per_day: float) -> float:
    """The least cost in KNOWN over 4,000 sizes, every precision and 200 numbers of samples, straight from the laws."""
    (accelerator,), (release,), fit = KNOWN.accelerators, KNOWN.releases, KNOWN.scaling_fit
    usd_per_gpu_second = 2.89 / 3600
    sizes = compute_optimal(fit, release.target_flop)[0] * np.geomspace(0.02, 8.0, 4_000)
    best = np.inf
    for precision in KNOWN.precisions if Lever.QUANTIZE in levers else (BF16,):
        tokens_per_gpu_second = peak_flop_per_second(accelerator.chip, precision) * 0.375 / (2 * sizes)
        for samples in np.geomspace(1.0, MAX_SAMPLES, 200) if Lever.TEST_TIME in levers else (1.0,):
            needed = optimal_loss(fit, release.target_flop / samples ** (1 / 1.45))
            tokens = tokens_for_loss_quantized(fit, sizes, needed, precision.reference_penalty_nats)
            training = 6 * sizes * tokens / (989e12 * 0.375)
            serving = (0.8 + 0.2 * samples) * tokens_per_day * 365 / tokens_per_gpu_second
            best = min(best, float(np.min(training + serving)) * usd_per_gpu_second)
    return best


@pytest.mark.parametrize("tokens_per_day", [1e9, 1e10, 1e11, 1e12, 1e13])
@pytest.mark.parametrize(
    "levers", [levers for levers in SETS if Lever.OVERTRAIN in levers], ids=lambda levers: "+".join(sorted(levers))
)
def test_no_search_finds_anything_cheaper(levers: frozenset[Lever], tokens_per_day: float) -> None:
    found, best = planned_usd(choose(KNOWN, levers, tokens_per_day)), cheapest_by_search(levers, tokens_per_day)
    assert found <= best * 1.002
    # Nor may a plan be cheaper than the laws allow.
    assert found >= best * 0.9995


@LEVELS
@pytest.mark.parametrize("levers", [frozenset({Lever.OVERTRAIN}), ALL], ids=["overtrain", "all"])
def test_no_model_of_the_frontier_is_cheaper_either(levers: frozenset[Lever], tokens_per_day: float) -> None:
    # The roofline has no closed form: try every precision, and sizes and samples finer than the table's, as the lab
    # itself would serve and train them.
    release = FRONTIER.releases[0]
    choice = choose(FRONTIER, levers, tokens_per_day)
    rent = _opening_day(FRONTIER).on_demand_usd_per_gpu_hour
    usd_per_discounted_second = choice.planned_serving_usd / np.min(choice.model.gpu_seconds_per_token * rent)
    usd_per_training_flop = choice.planned_training_usd / choice.training_flop
    physical = release.target_flop / release.progress
    sizes = choice.model.n_parameters * np.geomspace(0.3, 3.0, 121)
    demand = FRONTIER.demand
    prompts = demand.prompt_share * (0.6 + 0.4 * 0.1)  # 40 % of prompt tokens are cached, at a tenth of the cost
    for precision in FRONTIER.precisions if Lever.QUANTIZE in levers else (BF16,):
        speeds = [
            FRONTIER.serving.speed(sizes, sizes, precision, kind.chip, FRONTIER.asked())
            for kind in FRONTIER.accelerators
        ]
        for samples in np.geomspace(1.0, MAX_SAMPLES, 50) if Lever.TEST_TIME in levers else (1.0,):
            needed = optimal_loss(FRONTIER.scaling_fit, physical / samples ** (1 / 1.45))
            tokens = tokens_for_loss_quantized(FRONTIER.scaling_fit, sizes, needed, precision.reference_penalty_nats)
            usd = np.full(sizes.size, np.inf)
            for speed, price in zip(speeds, rent, strict=True):
                with np.errstate(divide="ignore"):
                    seconds = prompts / speed.prefill_tokens_per_gpu_second
                    seconds += (1 - demand.prompt_share) * samples / speed.decode_tokens_per_gpu_second
                usd = np.minimum(usd, seconds / 0.7 * price * usd_per_discounted_second)
            usd += 6 * sizes * tokens * usd_per_training_flop
            fresh = tokens <= FRONTIER.training.unique_tokens
            # Failures cost a larger run a little more than this one's rate: some 1e-3 of the training.
            assert usd[fresh].min(initial=np.inf) >= planned_usd(choice) * (1 - 0.003)


@SCENARIOS
def test_a_chosen_model_is_as_fast_as_the_serving_law_says(scenario: Scenario) -> None:
    for levers in SETS:
        for tokens_per_day in np.geomspace(1e9, 1e13, 9):
            model = choose(scenario, levers, float(tokens_per_day)).model
            exact = served_model(
                scenario, model.name, model.n_parameters, model.n_training_tokens, model.precision, model.samples
            )
            served = np.isfinite(exact.gpu_seconds_per_token) & np.isfinite(model.gpu_seconds_per_token)
            assert served.any()
            np.testing.assert_allclose(
                model.gpu_seconds_per_token[served], exact.gpu_seconds_per_token[served], rtol=1e-3
            )


def test_the_saving_of_overtraining_grows_with_demand() -> None:
    savings, sizes = [], []
    for tokens_per_day in np.geomspace(1e8, 1e14, 25):
        plain, longer = (
            choose(KNOWN, levers, float(tokens_per_day)) for levers in (frozenset(), frozenset({Lever.OVERTRAIN}))
        )
        savings.append(1 - planned_usd(longer) / planned_usd(plain))
        sizes.append(longer.model.n_parameters)
    assert (np.diff(savings) > 0).all()
    assert savings[0] >= 0.0
    # The more is served, the smaller the model, down to the floor that no data gets below.
    assert (np.diff(sizes) < 0).all()
    fit = KNOWN.scaling_fit
    floor = (1 + fit.alpha / fit.beta) ** (-1 / fit.alpha) * 70e9
    assert sizes[-1] > floor


# Where data ends -------------------------------------------------------------------------------------------------


def test_overtraining_ends_where_data_ends() -> None:
    # Unlimited, 1e14 tokens served call for 1.2915e13 trained on (numbers D2); there are 3e12, read once.
    levers, tokens_per_day = frozenset({Lever.OVERTRAIN}), 1e14 / 365
    free = choose(KNOWN, levers, tokens_per_day)
    assert free.model.n_training_tokens == pytest.approx(1.2915e13, rel=5e-3)
    assert free.limit == ""
    ended = choose(known(unique_tokens=3e12, max_epochs=1.0), levers, tokens_per_day)
    assert ended.limit == "data"
    assert ended.quality_met
    assert ended.model.n_training_tokens <= 3e12
    # Cost falls all the way to the limit, so the run uses all the data there is.
    assert ended.model.n_training_tokens == pytest.approx(3e12, rel=0.01)
    assert reached_flop(KNOWN, KNOWN.releases[0], ended.model) == pytest.approx(5.41548e23, rel=1e-6)
    assert planned_usd(ended) > planned_usd(free)


def test_data_that_does_not_bind_is_no_limit() -> None:
    for tokens_per_day in (1e9, 1e10):
        assert (
            choose(known(unique_tokens=1e13, max_epochs=1.0), frozenset({Lever.OVERTRAIN}), tokens_per_day).limit == ""
        )


def test_repeated_data_counts_for_less() -> None:
    # 70B quality needs 1.2894e12 fresh tokens at the compute-optimal size. From 4e11 unique ones more must be read.
    few = known(unique_tokens=4e11, max_epochs=16.0)
    model = choose(few, frozenset(), 1e10).model
    fit = few.scaling_fit
    worth = fresh_tokens(model.n_training_tokens, 4e11)
    assert model.n_training_tokens > worth > 4e11
    assert equivalent_flop(fit, loss(fit, model.n_parameters, worth)) == pytest.approx(5.41548e23, rel=1e-6)


@pytest.mark.parametrize("levers", SETS, ids=IDS)
def test_a_target_out_of_reach_is_reported_and_the_best_attainable_trained(levers: frozenset[Lever]) -> None:
    scarce = known(unique_tokens=1e9, max_epochs=4.0)
    choice, release = choose(scarce, levers, 1e10), scarce.releases[0]
    assert not choice.quality_met
    assert choice.limit == "target out of reach"
    reached = reached_flop(scarce, release, choice.model)
    assert 0.0 < reached < release.target_flop
    # No model in the table that all the data could train would have come closer.
    sizes = candidates(scarce, release).sizes
    samples = MAX_SAMPLES if Lever.TEST_TIME in levers else 1.0
    others = [served_model(scarce, "try", float(size), 4e9, BF16, samples) for size in sizes[::8]]
    assert reached >= max(reached_flop(scarce, release, other) for other in others) * (1 - 0.05)


# The plan --------------------------------------------------------------------------------------------------------


def test_what_is_planned_is_the_forecast_over_the_service_life() -> None:
    choice = choose(FRONTIER, ALL, 3e12)
    life = FRONTIER.releases[0].life_days
    assert choice.planned_tokens == pytest.approx(3e12 * life)


def test_planned_serving_is_discounted_to_the_day_of_the_decision() -> None:
    release = FRONTIER.releases[0]
    choice = choose(FRONTIER, ALL, 3e12)
    observation = _opening_day(FRONTIER)
    days = np.arange(release.due_day, release.due_day + release.life_days)
    discount = 1.08 ** (-(days - observation.day) / 365.25)
    # Rents drift by 8.6 % a year: their mean over the service life, day by day.
    drift = (1 - 0.086) ** ((days + 0.5 - observation.day) / 365.25)
    seconds_usd = np.min(choice.model.gpu_seconds_per_token * observation.on_demand_usd_per_gpu_hour) / 3600
    expected = seconds_usd * drift.mean() * 3e12 * discount.sum()
    assert choice.planned_serving_usd == pytest.approx(expected, rel=1e-4)
