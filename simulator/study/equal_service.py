"""Whether a policy gives users what the baseline gives them: only then may it be called cheaper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.laws.units import FloatArray


@dataclass(frozen=True, slots=True)
class Service:
    """What every policy gave in every world [policy, replication]."""

    quality_met: FloatArray
    served_share: FloatArray
    days_late: FloatArray


@dataclass(frozen=True, slots=True)
class EqualService:
    """How far service may differ and still be called equal, means over worlds."""

    served_tolerance: float = 0.001
    """Of the share of tokens served, to either side."""
    late_tolerance_days: float = 0.5
    """Days later than the baseline, from which on a policy is called late."""

    @property
    def said(self) -> str:
        """The rule in words."""
        return (
            f"Equal service: quality met in every world, share of tokens served within "
            f"{100.0 * self.served_tolerance:g} points of the baseline's, less than {self.late_tolerance_days:g} days "
            "later."
        )

    def unlike(self, service: Service, policy: int, baseline: str) -> str:
        """Why a policy cannot be compared with the first one, in words; nothing if it can."""
        missed = np.sum(service.quality_met == 0.0, axis=1)
        if missed[policy]:
            return f"misses its quality target in {missed[policy]} of {worlds_said(service.quality_met.shape[1])}"
        if missed[0]:
            return f"{baseline} misses its quality target, so nothing can be called cheaper than it"
        served = service.served_share.mean(axis=1)
        fewer = served[0] - served[policy]
        if abs(fewer) > self.served_tolerance:
            return f"serves {abs(fewer) * 100:.1f} points {'less' if fewer > 0 else 'more'} than {baseline}"
        late = service.days_late.mean(axis=1)
        if late[policy] - late[0] >= self.late_tolerance_days:
            return f"is {late[policy] - late[0]:.3g} days later than {baseline}"
        return ""


USUAL_SERVICE = EqualService()


def worlds_said(number: int) -> str:
    """So many worlds, in words."""
    return "1 world" if number == 1 else f"{number} worlds"
