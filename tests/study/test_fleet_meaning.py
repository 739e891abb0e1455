"""What `labspend check` says of the lab's own GPUs."""

from __future__ import annotations

from small_lab import plain_scenario

from simulator.study.fleet_meaning import fleet_meaning
from simulator.world.limits import LimitsInputs
from simulator.world.ownership import LeasedInputs, LoanInputs, OwnedInputs


def test_a_lab_as_usual_has_nothing_to_be_told() -> None:
    assert list(fleet_meaning(plain_scenario())) == []


def test_terms_limits_and_what_is_brought_in_are_told() -> None:
    plain = plain_scenario()
    terms = {
        "deposit_share": 0.2,
        "payment_days": 30,
        "loan": LoanInputs(share=0.5, rate_per_year=0.11, years=3),
        "installation_days": 14,
        "failures_per_gpu_year": 0.36525,
        "repair_days": 20.0,
        "idle_draw": 0.3,
    }
    loan = "50% borrowed at 11.0% a year for 3 years"
    told = list(
        fleet_meaning(
            plain.model_copy(
                update={
                    "ownership": plain.ownership.model_copy(update=terms),
                    "opening_fleet": (OwnedInputs(accelerator="Unit", gpus=8, age_days=90, paid_usd_per_gpu=9e3),),
                    "opening_lease": (LeasedInputs(accelerator="Unit", gpus=4, usd_per_gpu_hour=1.8, days_left=60),),
                    "limits": LimitsInputs(budget_usd_per_year=5e6, cash_usd=2e6, income_usd_per_day=1e3, power_kw=48),
                }
            )
        )
    )
    assert told == [
        f"  GPUs are paid: 20% with the order, the rest 30 days after they come, {loan}.",
        "  They serve 14 days after they come.",
        "  Of those owned 2.0% are out for repair; spares are bought for them.",
        "  An idle GPU draws 30% of its rated power, a busy one 75%.",
        "  On day 0 it owns 8 Unit, 90 days old.",
        "  On day 0 it leases 4 Unit for 60 more days at 1.80 an hour.",
        "  It may spend 5,000,000 in each 365 days; orders and rent beyond that are cut.",
        "  It has 2,000,000 in cash and 1,000 a day; orders and rent beyond that are cut.",
        "  Its building has 48 kW, for at most 20 Unit.",
    ]
