# What to do with a checkout. Each target makes .venv and installs the locked dependencies if needed;
# PYTHON=python3.12 picks the interpreter, PYTEST="-k rings" narrows the tests.

PYTHON ?=
export PYTHON
PYTEST ?=
BENCH ?=

.PHONY: help demo test bench lint format lock clean

help:
	@echo "make demo    capture the wave frame, replay it, and make a picture of the rings"
	@echo "make test    check format, lint and types, and run the tests"
	@echo "make bench   measure replays and the reader (BENCH=--quick for a short run)"
	@echo "make lint    format, lint and types only"
	@echo "make format  bring the files into the house format"
	@echo "make lock    write the lock files anew (needs the network)"
	@echo "make clean   remove .venv, out and what builds leave behind"

demo:
	@.ci/setup.sh run
	@.ci/demo.sh

test:
	@.ci/setup.sh check
	@.ci/check.sh $(PYTEST)

bench:
	@.ci/setup.sh run
	@mkdir -p out
	@.venv/bin/python -m app bench --json out/bench.json $(BENCH)

lint:
	@.ci/setup.sh check
	@.venv/bin/python -m ruff format --check .
	@.venv/bin/python -m ruff check .
	@.venv/bin/python -m mypy

format:
	@.ci/setup.sh check
	@.venv/bin/python -m ruff format .
	@.venv/bin/python -m ruff check --fix .

lock:
	@.ci/lock.sh

clean:
	rm -rf .venv out build ripplescope.egg-info .pytest_cache .mypy_cache .ruff_cache
