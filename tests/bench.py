"""How fast the simulator is, against yardsticks of the same run: `make bench`. Prints noise, keeps JSON.

Machines are noisy, so nothing here is a test: each round times a bare five-process SimPy loop right before the work it
is the unit of, or two ways to do the same work one after the other; the median and the spread of the ratios are told.
`make bench PARTS="laddered paired"` runs some parts alone.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.pairing import paired
from benchmarks.replication import default_set, hours, laddered
from benchmarks.timing import Figures, bare_timeout_seconds, quartiles
from benchmarks.workers import chunks, study
from benchmarks.yardsticks import naive

PARTS: dict[str, Callable[[], Figures]] = {
    part.__name__: part for part in (laddered, default_set, hours, naive, paired, chunks, study)
}


def main() -> None:
    """Run the parts asked for, or all, and keep what they found."""
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        sys.exit(f"no part is called {', '.join(unknown)}: there are {', '.join(PARTS)}")
    units = [1e6 * bare_timeout_seconds() for _ in range(15)]
    print(f"bare timeout, CPU us: {' / '.join(f'{unit:.2f}' for unit in quartiles(units))} (quartiles)")
    found: Figures = {"python": platform.python_version(), "bare_timeout_us": units}
    for name in wanted:
        found[name] = PARTS[name]()
    kept = Path("out") / "bench.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(found, indent=1))
    print(f"\nkept in {kept}")


if __name__ == "__main__":
    main()
