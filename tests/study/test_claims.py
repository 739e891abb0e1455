"""How claims are judged, and that what they ask is asked of the simulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest

from simulator.study import claims_erdil, shipped
from simulator.study.claim_list import CLAIMS, NothingClaimed, claims_about
from simulator.study.claims import Verdict, accounted, illustrative, judged, published, shown, unexplained, verify
from simulator.study.sources import packaged_scenarios


def says(value: float) -> Callable[[], float]:
    return lambda: value


@pytest.mark.parametrize(
    ("value", "simulated", "within", "verdict"),
    [
        (100.0, 101.0, 0.01, Verdict.PASSED),
        (100.0, 99.0, 0.01, Verdict.PASSED),
        (100.0, 101.01, 0.01, Verdict.FAILED),
        (100.0, 98.99, 0.01, Verdict.FAILED),
        (-33.0, -33.3, 0.01, Verdict.PASSED),
        (-33.0, 33.0, 0.01, Verdict.FAILED),
        ((10.0, 20.0), 15.0, 0.0, Verdict.PASSED),
        ((10.0, 20.0), 20.1, 0.01, Verdict.PASSED),
        ((10.0, 20.0), 20.3, 0.01, Verdict.FAILED),
        (0.0, 0.0, 0.01, Verdict.PASSED),
        (1.0, math.nan, 1e9, Verdict.FAILED),
        (1.0, math.inf, 1e9, Verdict.FAILED),
    ],
)
def test_a_published_claim_passes_within_its_tolerance(
    value: float | tuple[float, float], simulated: float, within: float, verdict: Verdict
) -> None:
    assert judged(published("s", "c", "source", value, says(simulated), within)).verdict is verdict


def test_only_published_claims_pass_even_where_they_agree() -> None:
    others = [
        illustrative("s", "c", "no source", 91.0, says(91.0)),
        unexplained("s", "c", "source", 91.0, says(91.0)),
        shown("s", "c", "why", says(91.0)),
    ]
    found = verify(others)
    assert [row.verdict for row in found.findings] == [Verdict.ILLUSTRATIVE, Verdict.UNEXPLAINED, Verdict.SHOWN]
    assert found.holds
    assert found.n(Verdict.PASSED) == 0


def test_an_account_must_come_out_and_never_counts_as_passed() -> None:
    found = verify([accounted("s", "c", "source", 5.0, says(5.0)), accounted("s", "d", "source", 5.0, says(6.0))])
    assert [row.verdict for row in found.findings] == [Verdict.ACCOUNTED, Verdict.FAILED]
    assert not found.holds
    assert found.n(Verdict.PASSED) == 0


def test_what_is_not_reached_comes_with_its_factor() -> None:
    assert judged(unexplained("s", "c", "source", 2e9, says(1.6e8))).factor == pytest.approx(12.5)
    assert math.isnan(judged(shown("s", "c", "why", says(3.0))).factor)


def test_what_cannot_be_simulated_fails_and_says_why() -> None:
    def refuses() -> float:
        raise ValueError("no GPU is on offer")

    found = verify([published("s", "c", "source", 1.0, refuses), published("s", "d", "source", 1.0, says(1.0))])
    assert [row.verdict for row in found.findings] == [Verdict.FAILED, Verdict.PASSED]
    assert found.findings[0].reason == "no GPU is on offer"
    assert not found.holds


def test_progress_is_told_after_every_claim() -> None:
    told: list[tuple[int, int]] = []
    verify([shown("s", "c", "why", says(1.0))] * 3, lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_claims_are_about_scenarios_that_ship_and_name_a_source() -> None:
    assert {claim.scenario for claim in CLAIMS} <= set(packaged_scenarios())
    assert all(claim.source and claim.claim for claim in CLAIMS)
    told = [(claim.scenario, claim.claim, claim.source) for claim in CLAIMS]
    assert len(told) == len(set(told))


def test_claims_are_found_by_the_name_of_their_scenario() -> None:
    assert {claim.scenario for claim in claims_about(["openai_2024", "scenarios/sharding.toml"])} == {
        "openai_2024",
        "sharding",
    }
    assert len(claims_about([], fast=True)) < len(claims_about([])) == len(CLAIMS)
    with pytest.raises(NothingClaimed, match="did you mean 'erdil_2024'"):
        claims_about(["erdil_2042"])
    with pytest.raises(NothingClaimed, match="nothing is claimed of it"):
        claims_about(["frontier_lab"])


@pytest.fixture
def worse_gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Scenarios whose GPUs serve at a tenth of the utilisation at which they train."""
    true = shipped.load_study
    monkeypatch.setattr(shipped, "load_study", lambda name, extra: true(name, [*extra, "serving.utilization=0.0375"]))
    for remembered in (shipped.study, shipped.lived):
        remembered.cache_clear()
    yield
    for remembered in (shipped.study, shipped.lived):
        remembered.cache_clear()


@pytest.mark.usefixtures("worse_gpus")
def test_a_changed_world_changes_what_is_simulated() -> None:
    """Ten times dearer service: 12.17 times the training, while the share of an even trade stays one half."""
    ratio, share = claims_erdil.CLAIMS[0], claims_erdil.CLAIMS[2]
    assert (judged(ratio).verdict, judged(ratio).simulated) == (Verdict.FAILED, pytest.approx(12.17, rel=1e-3))
    assert (judged(share).verdict, judged(share).simulated) == (Verdict.PASSED, pytest.approx(0.5))
