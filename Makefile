# Every target does its own set-up: it needs Python 3.11 or newer with venv, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench docs clean mutants

demo: $(VENV)/.demo
	@$(BIN)/gemini-live-tui demo

# What lives by the clock on the wall has the machine to itself: sound, terminals, processes. The rest shares it.
ALONE := tests/audio tests/docs tests/e2e tests/mutants tests/packaging tests/sdk tests/snapshots

test: $(VENV)/.test .venv-sdk/.ready lint
	$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile $(ALONE:%=--ignore=%) $(PYTEST_ARGS)
	$(BIN)/python -m pytest -q $(ALONE) $(PYTEST_ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test .venv-sdk/.ready
	$(BIN)/python -m tests.bench $(BENCH)

# Takes each part out of the session in turn: a test has to notice. MUTANTS="-k reactor" for some of them.
mutants: $(VENV)/.test
	$(BIN)/python -m tests.mutants $(MUTANTS)

docs: $(VENV)/.test
	$(BIN)/python -m gemini_live_runtime.vocabulary_docs > docs/events.md.new
	mv docs/events.md.new docs/events.md
	$(BIN)/python -m tests.docs.tables

clean:
	rm -rf $(VENV) .venv-sdk dist build

$(VENV)/bin/python:
	@echo "Setting up $(VENV), this takes about a minute once"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV) || { rm -f $(VENV)/bin/python; \
	  echo "Python's venv is needed (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

# Google's own client lives apart: its dependencies must not shape ours, nor ours its.
.venv-sdk/.ready:
	$(PYTHON) -m venv .venv-sdk
	.venv-sdk/bin/python -m pip install --quiet --disable-pip-version-check 'google-genai>=3,<4' pybase64
	@touch $@
