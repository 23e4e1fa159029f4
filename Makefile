# make demo   set up, then train a real model on real tasks (about 20 minutes on 2 cores)
# make test   set up, then lint, types, room contracts and the test suite
# make tiny   set up, then the one-minute run with a model from scratch
# make bench  set up, then every benchmark (under 15 minutes on 2 quiet cores); see benchmarks/README.md

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUN ?= runs/quickstart-$(shell date +%Y%m%d-%H%M%S)

.PHONY: demo tiny bench test setup lint unit clean

setup: $(READY)

$(READY): requirements.txt requirements-nodeps.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 was not found; set PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-nodeps.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

demo: $(READY)
	$(BIN)/burnish train examples/quickstart.toml --run-dir $(RUN)

tiny: $(READY)
	$(BIN)/burnish train examples/tiny.toml

bench: $(READY)
	$(BIN)/python benchmarks/run_all.py $(BENCH)

test: lint unit

lint: $(READY)
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/basedpyright
	$(BIN)/lint-imports

unit: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

clean:
	rm -rf $(VENV)
