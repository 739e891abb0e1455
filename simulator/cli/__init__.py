"""The door: what `labspend` can be told. What is heavy is imported inside the command that needs it."""

from simulator.cli.door import labspend as labspend
from simulator.cli.door import main as main
