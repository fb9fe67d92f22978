# Every target does its own set-up: it needs Python 3.11 or newer with venv, nothing else.
PYTHON ?= python3
OLDEST_PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin

# Processes and test workers share compiled modules, also where the environment says not to write them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast test-rest test-sound test-lowest test-clients test-ready-clients clients lint style types imports prose bench docs clean mutants soak sound

demo: $(VENV)/.demo
	@$(BIN)/gemini-live-tui demo

# Unit tests and whole sessions; decoding sentences takes a minute by itself and belongs to the rest.
FAST := tests/session tests/unit
SLOW := tests/unit/local/test_recogniser_accuracy.py
# Tests that listen to real sound run one after the other, and mostly wait; the others run beside each other.
ALONE := tests/audio
# Tests of the modules that call each dependency whose lowest version is to be shown to work.
LOWEST_AUDIO := cancellers capture device_audio devices file_audio wav
LOWEST_CLI := config config_commands sessions_commands talk_sound usage
LOWEST_WIRE := b64 connection credentials handshake key_check key_store websocket websocket_ends websocket_refusals
LOWEST_LOCAL := activity recogniser speech
LOWEST = \
  $(LOWEST_AUDIO:%=tests/unit/audio/test_%.py) \
  $(LOWEST_CLI:%=tests/unit/cli/test_%.py) \
  $(LOWEST_WIRE:%=tests/unit/wire/test_%.py) \
  $(LOWEST_LOCAL:%=tests/unit/local/test_%.py) \
  tests/unit/tools tests/unit/state/test_keys.py tests/unit/conversation/test_llm_extractor.py tests/unit/test_paths.py \
  tests/unit/journal/test_flac.py tests/unit/tui/test_clipboard.py tests/pilot/test_console_slash.py
# The longest files first: no worker is left with one of them at the end.
FIRST := $(SLOW) tests/docs tests/mutants tests/sdk tests/pilot/test_console_actions.py tests/pilot/test_theme_contrast.py \
  tests/agents tests/paraphrases tests/simulation tests/rooms tests/e2e tests/faults tests/snapshots
# By its files: of a folder that follows one of its own files pytest takes no further ones.
PILOT = $(filter-out $(FIRST),$(wildcard tests/pilot/test_*.py))
REST = $(FIRST) $(PILOT) $(filter-out $(FIRST) $(FAST) $(ALONE) tests/pilot,$(patsubst %/,%,$(wildcard tests/*/)))
CLIENTS := adk genai-js livekit pipecat
# In the order given: by itself xdist begins with the files of most tests, and ends with long files of one or two.
BY_FILE := --dist loadfile --no-loadscope-reorder
PARALLEL := -q -n auto --maxprocesses 4 $(BY_FILE)
# Many of the rest wait for processes of their own: with two workers more than processors none of these is idle.
WAITING := -q -n $(shell $(PYTHON) -c 'import os; print(min(6, (os.cpu_count() or 1) + 2))') $(BY_FILE)

# $(call beside,QUIET,SHOWN) runs two commands at once, prints the first's output at the end, and fails if either does.
beside = log=$$(mktemp); $(1) >"$$log" 2>&1 & beside=$$!; trap 'kill $$beside' INT TERM; \
  status=0; $(2) || status=$$?; wait $$beside || status=$$?; cat "$$log"; rm "$$log"; exit $$status

test: $(VENV)/.test
	@$(call beside,$(MAKE) --no-print-directory lint,$(MAKE) --no-print-directory test-fast)
	@$(call beside,$(MAKE) --no-print-directory test-sound,nice -n 19 $(MAKE) --no-print-directory test-rest)

test-fast: $(VENV)/.test
	$(BIN)/python -m pytest $(PARALLEL) $(FAST) $(SLOW:%=--ignore=%) $(PYTEST_ARGS)

test-rest: $(VENV)/.test .venv-sdk/.ready
	$(BIN)/python -m pytest $(WAITING) $(REST) --ignore=tests/sdk/clients $(PYTEST_ARGS)

test-sound: $(VENV)/.test
	$(BIN)/python -m pytest -q $(ALONE) $(PYTEST_ARGS)

# The lower bounds of pyproject.toml, all at once, with the oldest Python.
test-lowest: .venv-lowest/.ready
	.venv-lowest/bin/python -c 'import google.auth.transport.requests, keyring'
	.venv-lowest/bin/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile $(LOWEST) $(PYTEST_ARGS)

# Other projects' clients hold a conversation each with the embedded server. Not part of `test`: they take 1 GB.
# CLIENTS="adk livekit" for some of them.
test-clients: $(VENV)/.test clients
	$(BIN)/python -m pytest -q tests/sdk/clients $(PYTEST_ARGS)

clients: $(CLIENTS:%=.venv-%/.ready)

# Those whose environments are there by now: CI installs them beside the other tests.
test-ready-clients: $(VENV)/.test
	@ready=; for client in $(CLIENTS); do \
	  if [ -e .venv-$$client/.ready ]; then ready=yes; else echo "NOT TESTED: the client $$client is not installed"; fi; done; \
	if [ -n "$$ready" ]; then $(BIN)/python -m pytest -q tests/sdk/clients $(PYTEST_ARGS); fi

# Voice sessions on a sound loop: how often the model interrupts itself, and how soon it falls silent for a person.
sound: $(VENV)/.test
	$(BIN)/python -m tests.audio.sessions --count 30
	$(BIN)/python -m tests.audio.interruptions --count 15

lint: types imports style prose

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports

# Files and folders whose docstrings are checked; empty means all of them.
PROSE :=

prose: $(VENV)/.test
	@$(BIN)/python -m tests.style.prose $(PROSE)

# What takes long: more sentences for the recogniser, 10,000 simulated sessions, hostile servers in all modes,
# panes in many more sessions, every mutation.
SOAKED := tests/unit/local/test_recogniser_accuracy.py tests/session/link/test_engines_killed_at_any_write.py tests/simulation tests/faults tests/pilot/test_panes_hold.py tests/paraphrases \
  tests/session/harness/test_nested_tasks.py tests/session/harness/test_late_spoken_consent.py \
  tests/session/decisions/test_late_consent_in_a_session.py tests/session/link/test_conversations_on_a_failing_disk.py tests/agents
soak: $(VENV)/.test
	SOAK=1 $(BIN)/python -m pytest $(PARALLEL) $(SOAKED) $(PYTEST_ARGS)
	$(BIN)/python -m tests.mutants

bench: $(VENV)/.test .venv-sdk/.ready
	$(BIN)/python -m tests.bench $(BENCH)

# Takes each part out of the session in turn: a test has to notice. MUTANTS="-k reactor" or "--every 10" for some of them.
mutants: $(VENV)/.test
	$(BIN)/python -m tests.mutants $(MUTANTS)

docs: $(VENV)/.test
	$(BIN)/python -m gemini_live_runtime.vocabulary_docs > docs/events.md.new
	mv docs/events.md.new docs/events.md
	$(BIN)/python -m tests.docs.tables
	$(BIN)/python -m tests.docs.api_page
	$(BIN)/python -m tests.docs.architecture_page

clean:
	rm -rf $(VENV) .venv-sdk .venv-lowest $(CLIENTS:%=.venv-%) dist build

$(VENV)/bin/python:
	@echo "Setting up $(VENV), this takes about a minute once"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV) || { rm -f $(VENV)/bin/python; \
	  echo "Python's venv is needed (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	@touch $@

# Most modules of the environments for tests are never imported: compiling them all would take a third of the time.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	@$(PIP) install --no-compile -e '.[test]'
	@touch $@

.venv-lowest/.ready: pyproject.toml | $(VENV)/.test
	$(OLDEST_PYTHON) -m venv --clear --without-pip .venv-lowest
	$(BIN)/python -m tests.packaging.lowest > .venv-lowest/requirements.txt
	$(PIP) --python .venv-lowest/bin/python install --no-compile -r .venv-lowest/requirements.txt -e .
	@touch $@

# Google's own client lives apart: its dependencies must not shape ours, nor ours its.
.venv-sdk/.ready: PACKAGES := 'google-genai>=3,<4' pybase64

.venv-adk/.ready: PACKAGES := 'google-adk>=2.13,<3'
.venv-livekit/.ready: PACKAGES := 'livekit-agents>=1.8,<2' 'livekit-plugins-google>=1.8,<2'
.venv-pipecat/.ready: PACKAGES := 'pipecat-ai[google]>=1.14,<2'
.venv-sdk/.ready .venv-adk/.ready .venv-livekit/.ready .venv-pipecat/.ready: | $(VENV)/bin/python
	$(PYTHON) -m venv --clear --without-pip $(@D)
	$(PIP) --python $(@D)/bin/python install --no-compile $(PACKAGES)
	@touch $@

.venv-genai-js/.ready:
	@command -v npm >/dev/null || { echo "Node.js with npm is needed for Google's JavaScript SDK" >&2; exit 1; }
	mkdir -p $(@D)
	cd $(@D) && npm install --silent --no-fund --no-audit '@google/genai@>=2.32 <4'
	@touch $@
