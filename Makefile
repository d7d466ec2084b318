# `make run`, `make test` and `make docs`. Everything they need goes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
THREADS := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
DENO   := DENO_DIR=$(VENV)/deno DENO_NO_UPDATE_CHECK=1 $(BIN)/deno

DOCS   := $(VENV)/.docs-ready

.PHONY: run test test-all lint docs clean

run: $(STAMP)
	$(BIN)/drgst run --out runs/quickstart --force
	$(BIN)/drgst report runs/quickstart

test: $(STAMP) lint
	$(THREADS) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-all: $(STAMP) lint
	$(THREADS) $(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(DENO) fmt --check --quiet
	$(DENO) lint --quiet
	$(DENO) check --quiet src/drgst/report/assets/*/main.js

docs: $(DOCS)
	$(THREADS) $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "the site: docs/_build/html/index.html"

clean:
	rm -rf $(VENV) docs/_build docs/gallery docs/_made runs/quickstart .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "drgst needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Try: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --disable-pip-version-check -q -e '.[dev]'
	@touch $@

$(DOCS): $(STAMP)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --disable-pip-version-check -q -e '.[docs]'
	@touch $@
