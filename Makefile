# Ullage: every command of this repository. `make` alone lists them.
# PORT=8001, PYTHON=/path/to/python3.12 and ARGS='-k name' are taken where they make sense.

VENV := .venv
BIN  := $(VENV)/bin
RUN  := $(VENV)/.installed-run
DEV  := $(VENV)/.installed-dev
TREE := inspector sdk tests manage.py
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help run test check browser bench coverage demo format clean

help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUN)  ## install and start the inspector with its demo runs
	@$(BIN)/ullage-inspector up --demo $(if $(PORT),--port $(PORT))

test: $(DEV)  ## run the tests (on PostgreSQL and Redis too, where their addresses are given)
	@$(BIN)/pytest $(ARGS)

check: $(DEV)  ## lint, formats, types, floors, spelling, dead code
	@$(BIN)/ruff check $(TREE)
	@$(BIN)/ruff format --check $(TREE)
	@$(BIN)/djade --check $$(git ls-files 'templates/*.html')
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/typos
	@$(BIN)/python -m tests.support.dead_code

browser: $(DEV)  ## walk through the pages in Chromium
	@$(BIN)/pytest tests/browser $(ARGS)

bench: $(DEV)  ## measure the numbers in docs/benchmarks.md
	@$(BIN)/pytest tests/bench -s $(ARGS)

coverage: $(DEV)  ## run the tests and show the lines that they do not reach
	@$(BIN)/coverage run -m pytest $(ARGS)
	@$(BIN)/coverage report

demo: $(DEV)  ## record the demo runs again, through the tool loop and the stand-in server
	@$(BIN)/python -m tests.support.demo

format: $(DEV)  ## put code and templates into their one format
	@$(BIN)/ruff check --fix-only --quiet $(TREE)
	@$(BIN)/ruff format $(TREE)
	@$(BIN)/djade $$(git ls-files 'templates/*.html')

clean:  ## remove the environment, caches and build output; your data stays
	rm -rf $(VENV) build dist htmlcov .coverage .*_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(RUN): requirements/run.txt pyproject.toml sdk/pyproject.toml
	@requirements/install.sh run $(VENV)
	@touch $@

$(DEV): requirements/dev.txt pyproject.toml sdk/pyproject.toml
	@requirements/install.sh dev $(VENV)
	@touch $(RUN) $@
