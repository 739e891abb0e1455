"""What a training run does when the GPUs it needs are not held: rent the rest, wait for them, or run on fewer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import floor
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from simulator.laws.units import FloatArray
from simulator.world.inputs import Inputs


class Cluster(NamedTuple):
    """What a run needs of one kind of GPU, and what of it the lab has today."""

    asked_gpus: int
    """To be ready in time."""
    fewest_gpus: int
    """That hold the model at all."""
    free_gpus: float
    """Held, in order, and not training something else."""


class Shortage(Inputs, ABC):
    """A rule for runs that find too few GPUs held. Serving makes room for a run, and rents what it then lacks."""

    @abstractmethod
    def accelerator(self, planned: int, free_flop: FloatArray) -> int:
        """The kind to run on, one for the whole run; `free_flop` is what the GPUs held could do, by kind."""

    @abstractmethod
    def begin(self, cluster: Cluster, waited_days: int) -> int | None:
        """How many GPUs to begin with today, rented where they are not held; None to wait."""

    def patience_left(self, waited_days: int) -> int:
        """Days until it asks again, if no GPUs come before."""
        return 1


class RentMissing(Shortage):
    """Takes what is held of the kind that was planned, and rents the rest at once."""

    kind: Literal["rent"] = "rent"

    def accelerator(self, planned: int, free_flop: FloatArray) -> int:
        """As planned: where GPUs are cheapest to rent."""
        return planned

    def begin(self, cluster: Cluster, waited_days: int) -> int | None:
        """On all that were asked for."""
        return cluster.asked_gpus


class WaitForGpus(Shortage):
    """Waits until enough GPUs of one kind are held and free, and after its patience rents the rest."""

    kind: Literal["wait"] = "wait"
    patience_days: Annotated[int, Field(gt=0, le=3650)] = Field(
        60, description="most days a run waits before it rents what is missing [days]"
    )

    def accelerator(self, planned: int, free_flop: FloatArray) -> int:
        """The kind of which most is free."""
        return _most_free(planned, free_flop)

    def begin(self, cluster: Cluster, waited_days: int) -> int | None:
        """On all that were asked for, as soon as they are there."""
        is_over = waited_days >= self.patience_days
        return cluster.asked_gpus if is_over or cluster.free_gpus >= cluster.asked_gpus else None

    def patience_left(self, waited_days: int) -> int:
        """Days until it rents."""
        return self.patience_days - waited_days


class ShrinkRun(Shortage):
    """Runs on the GPUs that are held and free, if they hold the model, and takes longer; rents only to hold it."""

    kind: Literal["shrink"] = "shrink"

    def accelerator(self, planned: int, free_flop: FloatArray) -> int:
        """The kind of which most is free."""
        return _most_free(planned, free_flop)

    def begin(self, cluster: Cluster, waited_days: int) -> int | None:
        """On what there is, at once; a lab without any GPU rents all that were asked for."""
        if cluster.free_gpus < 1.0:
            return cluster.asked_gpus
        return max(min(floor(cluster.free_gpus), cluster.asked_gpus), cluster.fewest_gpus)


def _most_free(planned: int, free_flop: FloatArray) -> int:
    return int(np.argmax(free_flop)) if free_flop.max() > 0.0 else planned
