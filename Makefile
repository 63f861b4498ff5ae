# The usual tasks. A fresh machine needs Python >= 3.11 and nothing else: the first target called makes the virtual environment.

PYTHON ?= python3
MODEL  ?= models/two_masses.net
WORKERS ?= auto
BIN    := .venv/bin
READY  := .venv/.installed

.PHONY: run test lint coverage bench docs clean

run: $(READY)
	$(BIN)/netsim run $(MODEL)

test: lint
	$(BIN)/python -m pytest -n $(WORKERS)

# which lines of Python the tests run; what numba compiles does not count
coverage: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[coverage]'
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=term

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/run.py

docs: $(READY)
	mkdir -p docs
	$(BIN)/netsim list --markdown > docs/components.md.new
	mv docs/components.md.new docs/components.md

clean:
	rm -rf .venv build dist results .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage

# installed again whenever the dependencies change
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $(READY)
