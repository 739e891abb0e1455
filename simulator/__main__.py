"""`python -m simulator` is `labspend`."""

import sys

from simulator.cli import main

if __name__ == "__main__":
    sys.exit(main())
