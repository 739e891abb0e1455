"""The abstract trade of training against inference: Erdil 2024, Villalobos & Atkinson 2023 (both Epoch)."""

import numpy as np
import pytest

from simulator.laws.exchange import (
    best_split,
    later_compute_price,
    next_model_share,
    training_share,
    value_of_information,
    wrong_forecast_cost,
)
from simulator.laws.fits import BESI, HOFF, HOFFX
from simulator.laws.techniques import (
    OVERTRAINING,
    SAMPLING_CHEAP,
    TECHNIQUES,
    TREE_SEARCH,
    overtraining_span_oom,
    pruning_training_factor,
    stacked_oom,
)
from simulator.laws.units import TOKENS_PER_WORD

# alpha, beta, share, T/I: alpha/(alpha+beta) and alpha/beta, Erdil 2024
SHARES = [
    (1, 1, 0.5, 1),
    (2, 1, 2 / 3, 2),
    (1, 2, 1 / 3, 0.5),
    (0.1, 1, 0.1 / 1.1, 0.1),
    (10, 1, 10 / 11, 10),
    (0.7, 1.2, 0.7 / 1.9, 0.7 / 1.2),
    (1.2, 0.7, 1.2 / 1.9, 1.2 / 0.7),
    (1, 1.45, 1 / 2.45, 1 / 1.45),
]


@pytest.mark.parametrize(("alpha", "beta", "share", "ratio"), SHARES)
def test_shares(alpha: float, beta: float, share: float, ratio: float) -> None:
    split = best_split(3.0, 70.0, alpha, beta)
    assert training_share(alpha, beta) == pytest.approx(share, rel=1e-6)
    assert split.training_share == pytest.approx(share, rel=1e-6)
    assert split.training_flop / split.inference_flop == pytest.approx(ratio, rel=1e-6)


# T0, I0, alpha, beta -> T, I, total, computed from T = [T0^a I0^b (a/b)^b]^(1/(a+b)) to six digits
SPLITS = [
    (1, 100, 1, 1, 10, 10, 20),
    (100, 1, 1, 1, 10, 10, 20),
    (1, 100, 1.2, 0.7, 6.65401, 3.88150, 10.5355),
    (1, 100, 0.7, 1.2, 13.0411, 22.3563, 35.3974),
    (1, 100, 2, 1, 5.84804, 2.92402, 8.77205),
    (1, 100, 1, 2, 13.5721, 27.1442, 40.7163),
    (5, 5, 1, 1, 5, 5, 10),
    (1, 1, 3, 1, 1.31607, 0.438691, 1.75477),
]


@pytest.mark.parametrize(("t0", "i0", "a", "b", "t", "i", "total"), SPLITS)
def test_splits(t0: float, i0: float, a: float, b: float, t: float, i: float, total: float) -> None:
    split = best_split(t0, i0, a, b)
    exact = (t0**a * i0**b * (a / b) ** b) ** (1 / (a + b))
    assert split.training_flop == pytest.approx(exact, rel=1e-12)
    assert split.inference_flop == pytest.approx(exact * b / a, rel=1e-12)
    # the printed figures have six digits
    assert split.training_flop == pytest.approx(t, rel=5e-6)
    assert split.inference_flop == pytest.approx(i, rel=5e-6)
    assert split.total_flop == pytest.approx(total, rel=5e-6)
    assert not split.binding


def test_saving_of_the_first_row() -> None:
    """From 1 + 100 to 10 + 10: 80.20 % saved."""
    assert 100 * (1 - best_split(1, 100, 1, 1).total_flop / 101) == pytest.approx(80.20, abs=0.005)


# T0, I0, alpha, beta, u, d -> T, I, total, share, binding: the trade used up, computed from the clamp
CORNERS = [
    (1, 1e4, 1, 1, 1, np.inf, 10, 1000, 1010, 0.00990, True),
    (1, 1e4, 1, 1, 2, np.inf, 100, 100, 200, 0.5, False),
    (1, 1e4, 1, 1, 3, np.inf, 100, 100, 200, 0.5, False),
    (1, 100, 1, 1, 0.5, np.inf, 3.16228, 31.6228, 34.7851, 0.09091, True),
    (1e4, 1, 1, 1, np.inf, 1, 1000, 10, 1010, 0.9901, True),
    (1, 1e4, 0.7, 1.2, 1.2, np.inf, 15.8489, 1995.26, 2011.11, 0.00788, True),
]


@pytest.mark.parametrize(("t0", "i0", "a", "b", "u", "d", "t", "i", "total", "share", "binding"), CORNERS)
def test_corners(
    t0: float, i0: float, a: float, b: float, u: float, d: float,
    t: float, i: float, total: float, share: float, binding: bool,
) -> None:  # fmt: skip
    split = best_split(t0, i0, a, b, most_oom_more=u, most_oom_less=d)
    assert split.training_flop == pytest.approx(t, rel=3e-6)
    assert split.inference_flop == pytest.approx(i, rel=3e-6)
    assert split.total_flop == pytest.approx(total, rel=3e-6)
    assert split.training_share == pytest.approx(share, abs=5e-6)
    assert bool(split.binding) is binding


def test_cheaper_later_compute() -> None:
    """Computed from (1-e^(-dH))/(dH) at 30 % a year; the dollar share of training is unchanged."""
    assert later_compute_price(np.array([1.0, 3.0]), 0.3) == pytest.approx(np.array([0.8411, 0.6140]), abs=5e-5)
    half = best_split(1, 100, 1, 1, inference_price=0.5)
    assert (half.training_flop, half.inference_flop) == (
        pytest.approx(7.07107, rel=1e-6),
        pytest.approx(14.1421, rel=3e-6),
    )
    quarter = best_split(1, 100, 1, 1, inference_price=0.25)
    assert (quarter.training_flop, quarter.inference_flop) == (pytest.approx(5.0), pytest.approx(20.0))
    assert half.training_flop / (half.training_flop + 0.5 * half.inference_flop) == pytest.approx(0.5)


def test_value_of_information() -> None:
    """1 - exp(-theta (1-theta) sigma^2/2) at theta = 0.5."""
    sigmas = np.array([0.25, 0.5, 1.0, np.log(10)])
    assert value_of_information(0.5, sigmas) == pytest.approx(np.array([0.007782, 0.03077, 0.1175, 0.4846]), rel=5e-4)


def test_value_of_information_by_drawing_demand() -> None:
    """Independent route: commit T for the mean of demand, or choose it after seeing demand."""
    demand = np.exp(np.random.default_rng(5).normal(size=400_000))
    committed = best_split(1.0, float(demand.mean()), 1.0, 1.0)
    blind = committed.training_flop + (demand / committed.training_flop).mean()
    informed = best_split(1.0, demand, 1.0, 1.0).total_flop.mean()
    assert 1 - informed / blind == pytest.approx(value_of_information(0.5, 1.0), abs=0.003)


@pytest.mark.parametrize(
    ("share", "ratio", "cost"),
    [(0.5, 2, 1.06066), (0.5, 0.5, 1.06066), (0.5, 10, 1.73925), (0.5, 0.1, 1.73925), (0.5, 100, 5.05),
     (12 / 19, 2, 1.06002), (12 / 19, 10, 1.84773)],
)  # fmt: skip
def test_wrong_forecast(share: float, ratio: float, cost: float) -> None:
    """Computed from (s+(1-s)r)/r^(1-s)."""
    assert wrong_forecast_cost(ratio, share) == pytest.approx(cost, rel=5e-6)


def test_growth() -> None:
    """Epoch, Can AI scaling continue through 2030? (2024): 80 % at 4x a year."""
    assert next_model_share(4.0) == pytest.approx(0.80)


def test_essay_arithmetic_in_tokens_and_in_words() -> None:
    """Erdil 2024 reads 100 billion a day as tokens (ratio 1.217); the post says words (1.622)."""
    training = 3 * 10e12
    tokens_a_year = 1e11 * 365
    assert tokens_a_year / training == pytest.approx(1.217, abs=5e-4)
    assert TOKENS_PER_WORD * tokens_a_year / training == pytest.approx(1.622, abs=5e-4)


def test_overtraining_span_from_the_law() -> None:
    """Villalobos & Atkinson print 1.2 and 0.7 OOM; 1.207-1.222 and 0.80-0.81 follow from Hoffmann's constants."""
    for fit in (HOFF, HOFFX):
        training, inference = overtraining_span_oom(fit)
        assert training == pytest.approx(OVERTRAINING.training_span_oom, abs=0.05)
        assert inference == pytest.approx(OVERTRAINING.inference_span_oom, abs=0.12)
    assert overtraining_span_oom(BESI) == (pytest.approx(0.993, abs=1e-3), pytest.approx(0.675, abs=1e-3))


def test_pruning() -> None:
    """Villalobos & Atkinson 2023: 20 % a round to 10 % density is 10.32 rounds and costs 4.5x, 0.65 OOM (text: 0.7)."""
    assert np.log(0.1) / np.log(0.8) == pytest.approx(10.32, abs=5e-3)
    assert np.log10(pruning_training_factor(0.2, 0.1)) == pytest.approx(0.653, abs=5e-4)


def test_table_of_techniques() -> None:
    """Villalobos & Atkinson 2023, summary table."""
    spans = {t.name: (t.training_span_oom, t.inference_span_oom) for t in TECHNIQUES}
    assert spans["overtraining"] == (1.2, 0.7)
    assert spans[TREE_SEARCH.name] == (1.6, 1.6)
    assert spans[SAMPLING_CHEAP.name] == (3.0, 6.0)
    assert spans["repeated sampling, expensive verification"] == (1.0, 1.45)
    assert spans["iterative magnitude pruning"] == (1.0, 1.0)
    assert len(TECHNIQUES) == 6


@pytest.mark.parametrize(("t0", "i0", "a", "b", "u", "d"), [row[:6] for row in CORNERS])
def test_corners_to_1e_6(t0: float, i0: float, a: float, b: float, u: float, d: float) -> None:
    """Another route: nowhere between the limits is the cost lower, and a limit binds where it is lower beyond it."""
    split = best_split(t0, i0, a, b, most_oom_more=u, most_oom_less=d)
    x = np.linspace(-min(d, 6.0), min(u, 6.0), 2_000_001)
    cost = t0 * 10**x + i0 * 10 ** (-(a / b) * x)
    best = int(np.argmin(cost))
    assert split.total_flop == pytest.approx(cost[best], rel=1e-10)
    assert split.training_flop == pytest.approx(t0 * 10 ** x[best], rel=2e-5)
    beyond = x[best] + np.linspace(-0.5, 0.5, 1001)
    assert split.binding == ((t0 * 10**beyond + i0 * 10 ** (-(a / b) * beyond)).min() < cost[best] * (1 - 1e-9))
    if split.binding:
        limit = u if best else -d
        assert split.training_flop == pytest.approx(t0 * 10**limit, rel=1e-6)
        assert split.inference_flop == pytest.approx(i0 * 10 ** (-(a / b) * limit), rel=1e-6)


def test_the_sides_differ_by_an_order_only_at_extreme_rates() -> None:
    """Erdil 2024: with beta = 1, T and I differ by ten times or more only for alpha <= 0.1 or >= 10."""
    alphas = np.geomspace(0.01, 100, 401)
    split = best_split(1.0, 1.0, alphas, 1.0)
    apart = abs(np.log10(split.training_flop / split.inference_flop)) >= 1 - 1e-9
    assert (apart == ((alphas <= 0.1 * (1 + 1e-9)) | (alphas >= 10 * (1 - 1e-9)))).all()


@pytest.mark.parametrize(("alpha", "beta", "share", "ratio"), SHARES)
def test_shares_of_spend_do_not_depend_on_prices(alpha: float, beta: float, share: float, ratio: float) -> None:
    """Erdil 2024: p_T T / (p_T T + p_I I) = a/(a+b), and T/I = (a/b)(p_I/p_T)."""
    split = best_split(3.0, 70.0, alpha, beta, training_price=5.0, inference_price=0.2)
    spent = 5.0 * split.training_flop
    assert spent / (spent + 0.2 * split.inference_flop) == pytest.approx(share, rel=1e-6)
    assert split.training_flop / split.inference_flop == pytest.approx(ratio * 0.2 / 5.0, rel=1e-6)


def test_a_used_up_trade_comes_from_stacked_techniques() -> None:
    """n techniques of 1.2 OOM each: one binds, as in the last corner above, two do not, and the cap is 3 OOM."""
    one, two, many = (float(stacked_oom(n, 1.2)) for n in (1, 2, 9))
    assert (one, two, many) == (1.2, 2.4, 3.0)
    splits = [best_split(1, 1e4, 0.7, 1.2, most_oom_more=u) for u in (one, two, many)]
    assert [bool(split.binding) for split in splits] == [True, False, False]
