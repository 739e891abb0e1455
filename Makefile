# Either of `make demo` and `make test` may come first: each makes what it needs in .venv.
# Another Python: make demo PYTHON=/path/to/python3.12

SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: demo test verify expected lint types bench help

RUN   := .venv/bin/python
BASE  := .venv/.installed
DEV   := .venv/.installed-dev
PIP   := $(RUN) -m pip --disable-pip-version-check install --quiet
TESTS := test verify expected lint types bench
# With `make -j demo test` the demo waits for the one installation that both need.
NEEDS := $(if $(filter $(TESTS),$(MAKECMDGOALS)),$(DEV),$(BASE))

help:
	@echo "make demo    compare the policies of scenarios/frontier_lab.toml"
	@echo "make test    lint, types and tests; also each alone: make lint, make types"
	@echo "make verify  published claims against the simulator, and the large studies that ship"
	@echo "make expected  write scenarios/NAME.expected.csv anew (make expected NAMES=\"known_demand sharding\")"
	@echo "make bench   time the engine against yardsticks of the same run (make bench PARTS=\"laddered naive\")"

demo: $(NEEDS)
	@$(RUN) -m simulator compare scenarios/frontier_lab.toml

test: $(DEV)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m pytest -n auto -m "not verify"

verify: $(DEV)
	@$(RUN) -m simulator verify
	@$(RUN) -m pytest -m verify

expected: $(DEV)
	@$(RUN) tests/expected.py $(NAMES)

lint: $(DEV)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

types: $(DEV)
	@$(RUN) -m mypy

bench: $(DEV)
	@$(RUN) tests/bench.py $(PARTS)

# A usable .venv is kept; a broken or too old one is made anew.
$(BASE): pyproject.toml
	@python='$(PYTHON)'; \
	if [ -z "$$python" ]; then \
	  for name in python3 python3.13 python3.12 python3.11; do \
	    if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	  done; \
	elif ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  echo "labspend needs Python 3.11 or newer, which '$$python' is not." >&2; exit 1; \
	fi; \
	if [ -z "$$python" ]; then \
	  echo "labspend needs Python 3.11 or newer: install it, or name one with 'make demo PYTHON=/path/to/python3.11'." >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "$$python has no venv module: install it (on Debian and Ubuntu: apt install python3-venv) and try again." >&2; exit 1; \
	fi; \
	if ! $(RUN) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  echo "making .venv with $$("$$python" --version) ..." >&2; \
	  "$$python" -m venv --clear .venv || exit 1; \
	fi; \
	echo "installing labspend into .venv ..." >&2; \
	$(PIP) -e . && touch $@

$(DEV): $(BASE)
	@echo "installing the test tools into .venv ..." >&2
	@$(PIP) -e '.[dev]' && touch $@
