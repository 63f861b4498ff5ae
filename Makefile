# The usual tasks. A fresh machine needs Python >= 3.11 and nothing else: the first target called makes the virtual environment.

PYTHON ?= python3
MODEL  ?= models/two_masses.net
WORKERS ?= auto
BIN    := .venv/bin
READY  := .venv/.installed
TOOLS  := .venv/.tools
CORE   := .venv/.core
# imports write bytecode, also where the environment forbids it: what pip leaves uncompiled is compiled once only
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run core test lint coverage fuzz bench docs wheel clean

# compiles what this model needs, and keeps it in the user's cache
run: $(READY)
	$(BIN)/netsim run $(MODEL)

# compiles what the models need with every method, and keeps it in the checkout
core: $(CORE)

test: lint
	$(BIN)/python -m pytest -n $(WORKERS)

# which lines of Python the tests run; what numba compiles does not count
coverage: $(TOOLS)
	$(BIN)/python -m pip install --quiet --editable '.[coverage]'
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=term

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# texts changed at random, until SECONDS are over or MOST are tried: a tally, and those that ended in no words in build/fuzz
SECONDS ?= 600
SEED    ?= 1
MOST    ?= 1000000
fuzz: $(TOOLS)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz/fuzz.py --seconds $(SECONDS) --seed $(SEED) --most $(MOST)

bench: $(TOOLS)
	$(BIN)/python benchmarks/run.py

# the site in build/site; the first time it runs every model for the gallery
docs: $(CORE)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/mkdocs build

# with the machine code of the core inside: it runs on a machine without a compiler, and its first run takes no longer
wheel: $(CORE)
	$(BIN)/python -m hatchling build -t wheel

clean:
	rm -rf netsim/core/compiled/built .venv build dist results .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage

# machine code of the core, for the functions that changed
$(CORE): $(TOOLS) $(shell find netsim/core netsim/equations netsim/multibody netsim/simulate -name '*.py')
	$(BIN)/python hatch_build.py
	touch $(CORE)

# what a run needs: installed again whenever the dependencies change; pip would compile every module of every
# package to bytecode, of which a run imports a tenth
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[compile]'
	$(BIN)/python -m compileall -q netsim
	touch $(READY)

# what the tests and the builds need besides
$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $(TOOLS)
